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
from scorecard_evidence import distinct, runs_of, sides

HEADLINE = "Matches among the claims tested, by evidence and scale:"  # begins a line of the README
TESTED = ("match", "direction", "fail", "inconclusive")  # verdicts that rest on results


@dataclass(frozen=True)
class Step:
    """A step of an order that was tested over seeds. firm : whether it is shown after Holm's correction over all.

    again : whether another claim before it has the very same step, of the same runs and answers: it is not counted.
    """

    verdict: Verdict
    step: Ordered
    firm: bool
    again: bool = False


def steps_of(verdicts: Iterable[Verdict]) -> list[Step]:
    """Every step that was tested over seeds, of whatever claim; the correction is over these, each once."""
    found = [(verdict, step) for verdict in verdicts for step in verdict.orders if step.p is not None]
    first: dict[tuple, int] = {}  # what is compared → where it comes first
    same = [first.setdefault(_compared(verdict, step), place) for place, (verdict, step) in enumerate(found)]
    firm = dict(zip(first.values(), holm([found[place][1].p for place in first.values()]), strict=True))
    return [Step(*found[place], firm[once], once != place) for place, once in enumerate(same)]


def _compared(verdict: Verdict, step: Ordered) -> tuple:
    """Both sides; of a claim that nothing is planned for, the step itself."""
    both = sides(verdict, step)
    return both if any(len(side) > 2 for side in both if isinstance(side, tuple)) else (verdict.claim.id, step)


def once(steps: Iterable[Step]) -> list[Step]:
    """Without those that another claim has as well."""
    return [each for each in steps if not each.again]


def firmness(steps: Sequence[Step], among: int | None = None) -> str:
    """How many of the steps hold, and how many still do without any one seed, or after Holm's correction, each once.

    among : how many steps Holm's correction is over, where that is more than these.
    """
    if not steps:
        return "No step of an order was tested over seeds."
    again, steps = sum(each.again for each in steps), once(steps)
    holding = [each for each in steps if each.step.holds]
    stable, firm = sum(each.step.stable for each in holding), sum(each.firm for each in holding)
    where = "all of them" if among in (None, len(steps)) else f"all {among} steps of all papers"
    return (
        f"{len(steps)} steps of orders were tested over seeds, each by itself at 95 %: {len(holding)} hold. Of these, "
        f"{stable} hold as well without any one of the seeds, and {firm} after Holm's correction over {where}."
        + (f" What several claims ask of the same runs counts once: {again} more say it again." if again else "")
    )


def shaky(steps: Iterable[Step]) -> list[Step]:
    """Steps that hold, but not without some seed, or not after Holm's correction."""
    return [each for each in once(steps) if each.step.holds and not (each.step.stable and each.firm)]


def shared(verdicts: Sequence[Verdict]) -> str:
    """How many matches and fails there are by evidence, where those count once that rest on the same answers."""
    said = []
    for word, words in (("match", "matches"), ("fail", "fails")):
        found = those(verdicts, word)
        own = Counter(each.kind for each in distinct(found))
        kinds = Counter(each.kind for each in found)
        parts = ", ".join(f"{own[kind]} of {kinds[kind]} {kind}s" for kind in KINDS if kinds[kind])
        sets = len({runs_of(each) for each in found})
        said += [f"{len(found)} {words}, of which {own.total()} distinct ({parts}), from {sets} sets of runs"]
    if not tested(verdicts):
        return ""
    return (
        f"Claims may rest on the same evidence: {'; '.join(said)}. A verdict is distinct unless all its answers are "
        "those that another claim with that verdict has from the same runs."
    )


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
    return f"{HEADLINE} {'; '.join(rows)}. {at_size(mine)}"


def at_size(verdicts: Iterable[Verdict]) -> str:
    """How many claims rest on trainings at the paper's size, and what came of them: also, and above all, if none do."""
    full = [each for each in tested(verdicts) if each.scale == "full"]
    return f"Trained at the paper's size: {len(full)}{f' ({in_words(full)})' if full else ''}."


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
