"""The scorecard, book/scorecard.md and the pages below it, and the README's line of counts, from the claims and the
stored results: `make scorecard`.

`--check` writes nothing, and says what is not as it should be: `make book` refuses such a page. Pictures are compared
by the digest of what they show, which stands in each file, so that nothing has to be drawn.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import notebook_io
import scorecard_counts
import scorecard_figures
import scorecard_pages
import scorecard_runs
from course_replication import Claim, Store, Verdict, best_verdict, load_claims
from course_replication.claims import PAPERS
from scorecard_figures import Picture

BOOK = notebook_io.ROOT / "book"
README = "README.md"  # beside the book
PICTURES = Path("static") / "scorecard"


def pages(claims: Sequence[Claim], results: Mapping[str, dict]) -> dict[str, str]:
    """Name of each page of the book → its text."""
    verdicts = verdicts_of(claims, results)
    found = {
        "scorecard.md": scorecard_pages.overview(verdicts),
        "scorecard_chapters.md": scorecard_pages.by_chapter(verdicts),
        "runs.md": scorecard_runs.page(results, verdicts),
    }
    steps = scorecard_counts.steps_of(each for each in verdicts if each.claim.paper in PAPERS)
    for paper, group in scorecard_pages.papers(verdicts).items():
        runs = scorecard_runs.in_all(group, results)
        found[scorecard_pages.page_of(paper)] = scorecard_pages.of_paper(
            paper, group, scorecard_runs.links, runs, steps
        )
    return found


def readme(claims: Sequence[Claim], results: Mapping[str, dict], text: str) -> str:
    """The README with the line of counts that the results give; text : as it is."""
    line = scorecard_counts.headline(verdicts_of(claims, results))
    return re.sub(rf"^{re.escape(scorecard_counts.HEADLINE)}.*$", lambda _: line, text, flags=re.MULTILINE)


def pictures(claims: Sequence[Claim], results: Mapping[str, dict]) -> list[Picture]:
    verdicts = verdicts_of(claims, results)
    drawn = map(scorecard_figures.picture_of, verdicts)
    return [scorecard_figures.counts(scorecard_counts.by_paper(verdicts)), *filter(None, drawn)]


def verdicts_of(claims: Sequence[Claim], results: Mapping[str, dict]) -> list[Verdict]:
    return [best_verdict(claim, results) for claim in claims]


def write(claims: Sequence[Claim], results: Mapping[str, dict], book: Path) -> list[Path]:
    """Write what has changed, remove pictures that are no longer shown, and return the paths of both."""
    import scorecard_drawing  # here: it takes a second, and checking does not need it

    folder = book / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {book / name: text.encode() for name, text in pages(claims, results).items()}
    wanted |= {folder / f"{each.name}.svg": scorecard_drawing.svg(each) for each in pictures(claims, results)}
    front = book.parent / README
    if front.exists():
        wanted[front] = readme(claims, results, front.read_text(encoding="utf-8")).encode()
    changed = [path for path, content in wanted.items() if not path.exists() or path.read_bytes() != content]
    for path in changed:
        path.write_bytes(wanted[path])
    left_over = [path for path in sorted(folder.iterdir()) if path not in wanted]
    for path in left_over:
        path.unlink()
    return changed + left_over


def faults(claims: Sequence[Claim], results: Mapping[str, dict], book: Path) -> list[str]:
    """What on the disk is not what claims and results say, one sentence each."""
    found = []
    for name, text in pages(claims, results).items():
        path = book / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"book/{name} is not what the claims and the stored results say.")
    front = book.parent / README
    said = front.read_text(encoding="utf-8") if front.exists() else ""
    if said != readme(claims, results, said):
        found.append(f"{README} does not count what the stored results say.")
    wanted = {f"{each.name}.svg": each.digest for each in pictures(claims, results)}
    folder = book / PICTURES
    for name, digest in wanted.items():
        if not (folder / name).exists() or f"data {digest}" not in (folder / name).read_text(encoding="utf-8"):
            found.append(f"book/{PICTURES}/{name} does not show what the stored results say.")
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    return found + [f"book/{PICTURES}/{name} is shown nowhere." for name in sorted(there - wanted.keys())]


def main(arguments: Sequence[str] = ()) -> int:
    claims, results = load_claims(), Store().results()
    if "--check" in arguments:
        found = faults(claims, results, BOOK)
        print("\n".join([*found, "Run `make scorecard`."] if found else ["The scorecard says what the results say."]))
        return 1 if found else 0
    for path in write(claims, results, BOOK):
        print(path.relative_to(notebook_io.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
