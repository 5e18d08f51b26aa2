"""Verdicts: how each claim fares against the results. They are computed whenever they are asked for, and not kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from statistics import fmean

from course_replication.claims import Claim, Number
from course_replication.inference import p_larger, prediction_interval
from course_replication.plans import Plans, deviations_of, parts_of, planned, runs_of

VERDICTS = ("match", "direction", "fail", "not run", "out of reach")
FEWEST = 5  # seeds for a match
CONTROL = "control/"  # a run calls a metric of an untrained encoder "control/untrained/mig/…"
Samples = Mapping[str, Mapping[int, float]]  # metric → seed → value


@dataclass(frozen=True)
class Compared:
    """A printed number beside ours.

    printed, unit : as in the paper. ours : our mean; values : by seed.
    low, high : where the printed number has to lie: the prediction interval, or ours ± the tolerance.
    control : the mean of the control that comes nearest to ours, None where nothing is trained.
    agrees : whether it counts towards a match; `why` not.
    """

    what: str
    printed: str
    unit: str | None
    ours: float
    values: tuple[float, ...]
    low: float
    high: float
    control: float | None
    agrees: bool
    why: str = ""


@dataclass(frozen=True)
class Ordered:
    """A step "a > b" of an order.

    means : ours of both; values : by seed, one of a constant; controls : for each, as in `Compared`.
    p : where the step is a test of seeds.
    """

    first: str
    second: str
    means: tuple[float, float]
    holds: bool
    p: float | None = None
    values: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    controls: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True)
class Verdict:
    """How a claim fares at one scale.

    verdict : one of `VERDICTS`; `why`, in words, what kept it from a match.
    n, seeds, missing : seeds that each number rests on (the fewest), all seeds seen, and runs that are not done.
    numbers, orders, holds : what was compared, whatever the verdict. deviations : from the paper's settings.
    trained : whether any of it is a training at that scale.
    """

    claim: Claim
    verdict: str
    scale: str
    why: str = ""
    n: int = 0
    seeds: tuple[int, ...] = ()
    missing: int = 0
    numbers: tuple[Compared, ...] = ()
    orders: tuple[Ordered, ...] = ()
    holds: tuple[tuple[str, bool], ...] = ()
    deviations: tuple[str, ...] = ()
    trained: bool = False


def verdict_of(claim: Claim, results: Mapping[str, dict], scale: str = "full", plans: Plans | None = None) -> Verdict:
    """The verdict on a claim from the results (by run) of its runs at that scale, and of no other runs.

    What needs no training is compared to the printed precision or the claim's tolerance; trained runs by the 95 %
    prediction interval and one-sided 95 % tests.
    """
    if claim.kind == "out-of-reach":
        return Verdict(claim, "out of reach", scale, claim.reason)
    runs, parts = runs_of(claim, scale, plans), parts_of(claim, scale, plans)
    missing = sum(run.id not in results for run in runs)
    deviations = tuple(dict.fromkeys(note for part in parts for note in deviations_of(claim, part)))
    samples = gathered(claim, results, scale, plans)
    lacking = _lacking(claim, samples) if runs else "it"
    parts_elsewhere = planned(claim) if plans is None else claim.id in plans
    sized = any(part.scale != "exact" for part in parts)
    if lacking:
        why = f"{missing} of {len(runs)} runs are missing" if missing else f"nothing measures {lacking} yet"
        why = why if runs or not parts_elsewhere else f"no runs are planned at scale {scale}"
        return Verdict(claim, "not run", scale, why, missing=missing, deviations=deviations, trained=sized)
    trained = claim.kind == "trained"
    numbers = tuple(_compared(number, samples, trained) for number in _asked(claim))
    orders = tuple(step for chain in claim.expects.order for step in _steps(chain, samples, trained))
    holds = tuple((name, all(samples[name].values())) for name in claim.expects.holds)
    verdict, why = _judged(claim, numbers, orders, holds)
    used = [samples[name] for name in _metrics(claim)]
    seeds = tuple(sorted({seed for sample in used for seed in sample}))
    n = min(map(len, used))
    return Verdict(claim, verdict, scale, why, n, seeds, missing, numbers, orders, holds, deviations, sized)


def best_verdict(claim: Claim, results: Mapping[str, dict], plans: Plans | None = None) -> Verdict:
    """The verdict of the full runs where they have one, or where only they are planned; else that of the small ones."""
    full = verdict_of(claim, results, "full", plans)
    if full.verdict != "not run" or (full.missing and not runs_of(claim, "small", plans)):
        return full
    return verdict_of(claim, results, "small", plans)


def gathered(claim: Claim, results: Mapping[str, dict], scale: str, plans: Plans | None = None) -> Samples:
    """What the claim's runs at that scale have measured, by metric as the claim calls it, and by seed."""
    samples: dict[str, dict[int, float]] = {}
    for part in parts_of(claim, scale, plans):
        for run in part.runs():
            for name, value in results[run.id]["metrics"].items() if run.id in results else ():
                samples.setdefault(_renamed(part.name, name), {})[run.seed] = value
    return samples


def _renamed(template: str, name: str) -> str:
    """A control's name stays in front: "control/untrained/mig" → "control/untrained/dsprites/mig"."""
    if not name.startswith(CONTROL):
        return template.format(name)
    _, control, rest = name.split("/", 2)
    return f"{CONTROL}{control}/{template.format(rest)}"


def _asked(claim: Claim) -> tuple[Number, ...]:
    """The numbers that are compared; with another kind of match they are settings."""
    return claim.numbers if claim.expects.match == "value" else ()


def _metrics(claim: Claim) -> list[str]:
    """All metrics that the claim speaks of."""
    chains = [part for chain in claim.expects.order for part in chain.split(" > ") if _constant(part) is None]
    return [*(number.what for number in _asked(claim)), *chains, *claim.expects.holds]


def _lacking(claim: Claim, samples: Samples) -> str:
    """The first metric without enough seeds: one; of trainings two, or five where nothing but numbers counts."""
    fewest = 1 if claim.kind != "trained" else FEWEST if _asked(claim) and not claim.expects.order else 2
    return next((name for name in _metrics(claim) if len(samples.get(name, ())) < fewest), "")


def _constant(part: str) -> float | None:
    try:
        return float(part)
    except ValueError:
        return None


def _compared(number: Number, samples: Samples, trained: bool) -> Compared:
    values = tuple(float(value) for _, value in sorted(samples[number.what].items()))
    ours = fmean(values)
    if not trained:
        off = abs(Decimal(repr(ours)) - Decimal(number.value))  # in decimals: .55 is half a digit from .5, not more
        agrees = off <= Decimal(repr(number.tolerance))
        low, high = ours - number.tolerance, ours + number.tolerance
        why = "" if agrees else f"{number.what} is {ours:.6g} in place of {number.value}"
        return Compared(number.what, number.value, number.unit, ours, values, low, high, None, agrees, why)
    low, high = prediction_interval(values, number.of or 1)
    control = _nearest_control(number.what, ours, samples)
    why = _objection(number, len(values), low, high, ours, control)
    return Compared(number.what, number.value, number.unit, ours, values, low, high, control, not why, why)


def _objection(number: Number, n: int, low: float, high: float, ours: float, control: float | None) -> str:
    """What keeps a number of seeds from counting as a match; nothing if it does."""
    if not low <= float(number.value) <= high:
        return f"{number.what} is {number.value} in the paper, outside {low:.4g} to {high:.4g}"
    if n < FEWEST:
        return f"{number.what} has {n} of the {FEWEST} seeds that a match needs"
    if control is None:
        return f"{number.what} has no control"
    if not high - low < abs(ours - control):
        return f"{number.what}: the interval is as wide as the gap to the control, {abs(ours - control):.4g}"
    return ""


def _nearest_control(what: str, ours: float, samples: Samples) -> float | None:
    means = [
        fmean(sample.values())
        for name, sample in samples.items()
        if name.startswith(CONTROL) and name.split("/", 2)[2] == what
    ]
    return min(means, key=lambda mean: abs(mean - ours), default=None)


def _steps(chain: str, samples: Samples, trained: bool) -> list[Ordered]:
    """The steps of "a > b > c": by value, or by a one-sided 95 % test over seeds."""
    found = []
    for names in pairwise(chain.split(" > ")):
        first, second = ([*samples[name].values()] if _constant(name) is None else [_constant(name)] for name in names)
        means = (fmean(first), fmean(second))
        p = p_larger(first, second) if trained else None
        holds = p <= 0.05 if trained else means[0] > means[1]
        controls = tuple(_nearest_control(name, mean, samples) for name, mean in zip(names, means, strict=True))
        found.append(Ordered(*names, means, holds, p, (tuple(first), tuple(second)), controls))
    return found


def _judged(claim: Claim, numbers, orders, holds) -> tuple[str, str]:
    reasons = [number.why for number in numbers if not number.agrees]
    broken = [
        f"{step.first} > {step.second} does not hold ({step.means[0]:.4g}, {step.means[1]:.4g}"
        + (")" if step.p is None else f", p = {step.p:.2g})")
        for step in orders
        if not step.holds
    ]
    broken += [f"{name} does not hold" for name, answer in holds if not answer]
    why = "; ".join([*broken, *reasons])
    if not why:
        return "match", ""
    return "direction" if orders and not broken else "fail", why
