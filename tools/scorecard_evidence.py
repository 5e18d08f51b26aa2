"""Which claims rest on the same evidence: the same runs, and of these the same answers, whatever a claim calls them."""

from collections.abc import Iterable, Sequence
from functools import cache
from statistics import fmean, stdev

from course_replication import Ordered, Verdict
from course_replication.claims import Claim, constant
from course_replication.parts import Part
from course_replication.plans import parts_of

DIGITS = 9  # to which a sample is another one in other units: capacity by the step at which it is reached
Answer = tuple  # hashable: what is measured, and the runs that measure it


def answers(verdict: Verdict) -> frozenset[Answer]:
    """What the verdict compares; of a claim that nothing is planned for, itself."""
    found = [answer(verdict, number.what, number.values) for number in verdict.numbers]
    found += [each for step in verdict.orders for each in sides(verdict, step) if isinstance(each, tuple)]
    found += [answer(verdict, name) for name, _ in verdict.holds]
    return frozenset(found) or frozenset([(verdict.claim.id,)])


def sides(verdict: Verdict, step: Ordered) -> tuple[Answer | float, Answer | float]:
    """Both sides of a step: answers, or numbers."""
    both = zip((step.first, step.second), step.values, strict=True)
    known = [(name, values, constant(name)) for name, values in both]
    first, second = (answer(verdict, name, values) if value is None else value for name, values, value in known)
    return first, second


def answer(verdict: Verdict, metric: str, values: Sequence[float] = ()) -> Answer:
    """The metric as its runs call it, or, drawn over seeds, its sample up to the unit, and the runs."""
    fitting = [(part.own_name(metric), part) for part in _parts(verdict.claim, verdict.scale)]
    fitting = [(name, part) for name, part in fitting if name]
    best = max((len(part.name) for _, part in fitting), default=0)
    own = [(name, _runs(part)) for name, part in fitting if len(part.name) == best]
    if not own:
        return (verdict.claim.id, metric)
    runs = tuple(sorted({run for _, runs in own for run in runs}))
    if len(values) > 1 and stdev(values) > 0 and fmean(values):
        return (*runs, *(round(value / abs(fmean(values)), DIGITS) for value in values))
    return (*runs, own[0][0])


def runs_of(verdict: Verdict) -> frozenset[str]:
    """All runs behind the verdict; of a claim that nothing is planned for, itself."""
    return frozenset(run for part in _parts(verdict.claim, verdict.scale) for run in _runs(part)) or frozenset(
        [verdict.claim.id]
    )


def distinct(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Those whose answers are not all another one's: of several with the same answers the first."""
    found = [(verdict, answers(verdict)) for verdict in verdicts]
    kept = []
    for place, (verdict, own) in enumerate(found):
        larger = any(own < other for _, other in found)
        if not larger and not any(own == other for _, other in found[:place]):
            kept.append(verdict)
    return kept


@cache
def _parts(claim: Claim, scale: str) -> tuple[Part, ...]:
    return parts_of(claim, "full" if scale == "exact" else scale)


def _runs(part: Part) -> list[str]:
    return [run.id for run in part.runs()]
