"""What the scorecard counts: claims by kind of evidence, scale and verdict, and how firm the steps of orders are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from course_replication import Ordered, Verdict
from course_replication.cards import PAPER_NAMES, badge_of
from course_replication.claims import PAPERS
from course_replication.inference import holm
from course_replication.runs import SCALES
from course_replication.verdicts import KINDS, VERDICTS

HEADLINE = "Matches among the claims tested, by evidence and scale:"  # begins a line of the README
TESTED = ("match", "direction", "fail", "inconclusive")  # verdicts that rest on results


@dataclass(frozen=True)
class Step:
    """A step of an order that was tested over seeds. firm : whether it is shown after Holm's correction over all."""

    verdict: Verdict
    step: Ordered
    firm: bool


def steps_of(verdicts: Iterable[Verdict]) -> list[Step]:
    """Every step that was tested over seeds, of whatever claim; the correction is over exactly these."""
    found = [(verdict, step) for verdict in verdicts for step in verdict.orders if step.p is not None]
    firm = holm([step.p for _, step in found])
    return [Step(verdict, step, each) for (verdict, step), each in zip(found, firm, strict=True)]


def firmness(steps: Sequence[Step], among: int | None = None) -> str:
    """How many of the steps hold, and how many still do without any one seed, or after Holm's correction.

    among : how many steps Holm's correction is over, where that is more than these.
    """
    if not steps:
        return "No step of an order was tested over seeds."
    holding = [each for each in steps if each.step.holds]
    stable, firm = sum(each.step.stable for each in holding), sum(each.firm for each in holding)
    where = "all of them" if among in (None, len(steps)) else f"all {among} steps of all papers"
    return (
        f"{len(steps)} steps of orders were tested over seeds, each by itself at 95 %: {len(holding)} hold. Of these, "
        f"{stable} hold as well without any one of the seeds, and {firm} after Holm's correction over {where}."
    )


def shaky(steps: Iterable[Step]) -> list[Step]:
    """Steps that hold, but not without some seed, or not after Holm's correction."""
    return [each for each in steps if each.step.holds and not (each.step.stable and each.firm)]


def tested(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [each for each in verdicts if each.verdict in TESTED]


def those(verdicts: Iterable[Verdict], verdict: str, kind: str | None = None) -> list[Verdict]:
    """The claims with that verdict (and kind of evidence), the most important first."""
    found = [each for each in verdicts if each.verdict == verdict and kind in (None, each.kind)]
    return sorted(found, key=lambda each: each.claim.importance)


def in_words(verdicts: Sequence[Verdict]) -> str:
    """Such as "2 match · number · exact, 1 fail · order · small, 3 not run"."""
    counted = Counter(map(badge_of, sorted(verdicts, key=place)))
    return ", ".join(f"{count} {badge}" for badge, count in counted.items()) or "none"


def place(verdict: Verdict) -> tuple[int, ...]:
    """Sorts claims: tested ones first, numbers before orders before constructions, and by verdict and scale."""
    at = VERDICTS.index(verdict.verdict)
    if verdict.verdict not in TESTED:
        return (1, at, 0, 0)
    return (0, KINDS.index(verdict.kind), at, SCALES.index(verdict.scale))


def by_paper(verdicts: Iterable[Verdict]) -> dict[str, Counter]:
    """Name of the paper → how many claims have which kind, verdict and scale, "" where nothing was measured.

    Of the five papers, whatever else is among the verdicts.
    """
    found = {PAPER_NAMES[paper]: Counter() for paper in PAPERS}
    for each in (each for each in verdicts if each.claim.paper in PAPERS):
        scale = each.scale if each.verdict in TESTED else ""
        found[PAPER_NAMES[each.claim.paper]][each.kind, each.verdict, scale] += 1
    return found


def counts(verdicts: Sequence[Verdict]) -> list[tuple[str, str, tuple[int, ...]]]:
    """A row for each kind and scale that there is: both, and the number of claims by verdict."""
    found = Counter((each.kind, each.scale, each.verdict) for each in verdicts)
    rows = [(kind, scale, tuple(found[kind, scale, word] for word in VERDICTS)) for kind in KINDS for scale in SCALES]
    return [row for row in rows if any(row[2])]


def headline(verdicts: Iterable[Verdict]) -> str:
    """The counts of the five papers in one line, as the README has it: matches among what was tested."""
    mine = tested(each for each in verdicts if each.claim.paper in PAPERS)
    rows = [f"{kind} · {scale} {row[VERDICTS.index('match')]} of {sum(row)}" for kind, scale, row in counts(mine)]
    full = sum(each.scale == "full" for each in mine)
    return f"{HEADLINE} {'; '.join(rows)}. Trained at the paper's size: {full}."


def counts_html(verdicts: Sequence[Verdict], caption: str, page: str) -> str:
    """The counts as a table; each leads to the claims that it counts on that page, whose filter reads its address.

    There is no row of sums: a theorem that our code satisfies and an experiment that was repeated do not add up.
    """
    rows, header = counts(verdicts), ("evidence", *VERDICTS, "all")
    body = []
    for kind, scale, numbers in rows:
        cells = [_cell(count, kind, scale, word, page) for word, count in zip(VERDICTS, numbers, strict=True)]
        body.append((f"{kind} · {scale}", *cells, str(sum(numbers))))
    lines = [
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in body
    ]
    head = "".join(f'<th scope="col">{word}</th>' for word in header)
    return (
        '<div class="claim-numbers claim-counts" style="overflow-x: auto"><table>'
        f"<caption>{escape(caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def _cell(count: int, kind: str, scale: str, verdict: str, page: str) -> str:
    if not count:
        return "0"
    words = f"{count} {verdict} · {kind} · {scale}"
    query = f"kind={kind}&amp;scale={scale}&amp;verdict={verdict.replace(' ', '-')}"
    return f'<a href="{page}.html?{query}#filter" aria-label="{words}">{count}</a>'
