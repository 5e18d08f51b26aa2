"""What a verdict compares: a printed number beside ours, a step of an order, and what a training has learnt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from statistics import fmean, stdev

from course_replication.claims import Number, constant
from course_replication.inference import p_larger, prediction_interval
from course_replication.parts import Part
from course_replication.runs import Run

FEWEST = 5  # seeds of what is trained
LEARNT = 0.5  # the largest share of the pixels' variance that a reconstruction may leave
LEVEL = 0.05  # of one-sided tests
SURE = 3  # standard errors
CONTROL = "control/"  # a run calls a metric of an untrained encoder "control/untrained/mig/…"
TRAINED = ("framework", "methods")  # one of them is a setting of whatever trains
LEFT = ("left", "reconstruction")  # the share that a training leaves: of a sample of images, or of all
Sample = Mapping[int, float]  # seed → value
Samples = Mapping[str, Sample]  # metric → its sample


@dataclass(frozen=True)
class Compared:
    """A printed number beside ours.

    printed, unit : as in the paper. ours : our mean; values : by seed.
    low, high : where the printed number has to lie: the prediction interval, or ours ± the tolerance.
    control : the mean of the control that comes nearest to ours, None where nothing is trained.
    agrees : whether it counts towards a match; `why` not. near : whether it is within the tolerance nevertheless, and
        off by more than sampling explains. open : whether nothing speaks against it but that our seeds cannot tell.
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
    near: bool = False
    open: bool = False


@dataclass(frozen=True)
class Ordered:
    """A step "a > b" of an order.

    means : ours of both; values : by seed, one of a constant; controls : for each, as in `Compared`.
    holds, reversed : whether a > b is shown, or b > a: by a one-sided test over seeds; by value where nothing is
        drawn, and then a tie is no order.
    p : of that test of a > b; None where no seed differs from another, on either side.
    below : whether the difference is shown to be smaller than the claim's margin.
    controlled : whether some control has both sides; what needs no training needs none. blind : whether those that do
        are the same on both, so that they could not but fail: what tells the sides apart begins with training.
    passing : the controls of which the same is shown. stable : whether it is shown without any one of the seeds, too.
    """

    first: str
    second: str
    means: tuple[float, float]
    holds: bool
    p: float | None = None
    values: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    controls: tuple[float | None, float | None] = (None, None)
    reversed: bool = False
    below: bool = False
    controlled: bool = True
    blind: bool = False
    passing: tuple[str, ...] = ()
    stable: bool = True


@dataclass(frozen=True)
class Learnt:
    """The share of the pixels' variance that an arm leaves, and its untrained twin; means, None if they are unknown."""

    arm: str
    left: float | None
    untrained: float | None

    @property
    def holds(self) -> bool:
        return self.left is not None and self.left <= LEARNT


def named(metric: str) -> str:
    """A metric as a reader sees it: "mse/position_x/mean" → "mse · position x · mean"."""
    return metric.replace("/", " · ").replace("_", " ")


def step_named(first: str, second: str) -> str:
    """A step of an order, what its sides begin with told once: "mig: ada-gvae > beta-vae"."""
    sides = [side.split("/") for side in (first, second)]
    shared = 0
    while shared < min(map(len, sides)) - 1 and sides[0][shared] == sides[1][shared]:
        shared += 1
    measure = f"{named('/'.join(sides[0][:shared]))}: " if shared else ""
    return measure + " > ".join(named("/".join(side[shared:])) for side in sides)


def renamed(template: str, name: str) -> str:
    """A control's name stays in front: "control/untrained/mig" → "control/untrained/dsprites/mig"."""
    if not name.startswith(CONTROL):
        return template.format(name)
    _, control, rest = name.split("/", 2)
    return f"{CONTROL}{control}/{template.format(rest)}"


def compared(number: Number, samples: Samples, trained: bool) -> Compared:
    values = tuple(float(value) for _, value in sorted(samples[number.what].items()))
    ours, printed, name = fmean(values), (number.what, number.value, number.unit), named(number.what)
    if not trained:
        off = abs(Decimal(repr(ours)) - Decimal(number.value))  # in decimals: .55 is half a digit from .5, not more
        near, errors = off <= Decimal(repr(number.tolerance)), _errors(number, values, float(off))
        why = f"{name} is {ours:.6g} in place of {number.value}"
        why += f", by {errors:.0f} standard errors of our sample" if near and errors > SURE else ""
        agrees, ends = near and errors <= SURE, (ours - number.tolerance, ours + number.tolerance)
        return Compared(*printed, ours, values, *ends, None, agrees, "" if agrees else why, near and not agrees)
    low, high = prediction_interval(values, number.of or 1) if len(values) > 1 else (ours, ours)
    control = _nearest(number.what, ours, samples)
    half = _half_a_digit(number)
    outside = not low - half <= float(number.value) <= high + half
    if len(values) < FEWEST:
        why = f"{name} has {len(values)} of the {FEWEST} seeds that a number needs"
    elif outside:
        why = f"{name} is {number.value} in the paper, outside {low:.4g} to {high:.4g} by more than rounding"
    elif control is None:
        why = f"{name} has no control"
    elif abs(control - float(number.value)) <= half:
        why = f"{name}: the control, {control:.4g}, would be printed as {number.value} as well"
    elif not high - low < abs(ours - control):
        why = f"{name}: the interval is as wide as the gap to the control, {abs(ours - control):.4g}"
    else:
        why = ""
    still_open = bool(why) and (len(values) < FEWEST or not outside)
    return Compared(*printed, ours, values, low, high, control, not why, why, open=still_open)


def _errors(number: Number, values: Sequence[float], off: float) -> float:
    """By how many standard errors of our sample a number is off, beyond the rounding of print; 0 if none was drawn."""
    half = _half_a_digit(number)
    if len(values) < 2 or number.tolerance <= half or not (spread := stdev(values)):
        return 0.0
    return max(off - half, 0.0) / (spread / len(values) ** 0.5)


def _half_a_digit(number: Number) -> float:
    """By how much rounding may have moved what is printed."""
    return 0.5 * 10.0 ** Decimal(number.value).as_tuple().exponent


def steps_of(chain: str, samples: Samples, trained: bool, margin: float | None = None) -> list[Ordered]:
    """The steps of "a > b > c": by one-sided tests; by value where nothing is trained and all seeds agree."""
    return [_step(names, samples, trained, margin) for names in pairwise(chain.split(" > "))]


def _step(names: tuple[str, str], samples: Samples, trained: bool, margin: float | None) -> Ordered:
    sides = tuple(_side(name, samples) for name in names)
    values = tuple(tuple(float(value) for value in side.values()) for side in sides)
    means = tuple(map(fmean, values))
    varied = any(len(set(side)) > 1 for side in values)
    if not trained and not varied:
        return Ordered(*names, means, means[0] > means[1], None, values, reversed=means[0] <= means[1])
    holds, turned = _shown(*sides), _shown(*sides[::-1])
    moved = {seed: value + (margin or 0.0) for seed, value in sides[1].items()}
    ways = slice(None, None, 1 if holds else -1)  # what is shown, in that order
    controls = [_controls(name, samples) for name in names]
    common = set.intersection(*(set(found) for found in controls if found)) if any(controls) else set()
    pairs = [*zip(sides, controls, strict=True)]
    twins = {name: [own[name] if own else side for side, own in pairs] for name in common}
    passing = [name for name, both in twins.items() if _shown(*both[ways])]
    seeds = set().union(*(side for side in sides if len(side) > 1))
    return Ordered(
        *names,
        means,
        holds,
        p_larger(*values) if varied else None,
        values,
        tuple(_nearest(name, mean, samples) for name, mean in zip(names, means, strict=True)),
        turned,
        margin is not None and not holds and _shown(moved, sides[0]),
        bool(common) or not trained,
        bool(common) and all(both[0] == both[1] for both in twins.values()),
        tuple(sorted(passing)) if holds or turned else (),
        not (holds or turned) or all(_shown(*sides[ways], without=seed) for seed in seeds),
    )


def _side(name: str, samples: Samples) -> Sample:
    """The sample of that metric; of a number its one value."""
    value = constant(name)
    return samples[name] if value is None else {-1: value}


def _shown(first: Sample, second: Sample, without: int | None = None) -> bool:
    """Whether the first is shown to be larger, if need be without one seed; not where a side has no other."""
    sides = [[value for seed, value in side.items() if seed != without] for side in (first, second)]
    return all(sides) and p_larger(*sides) <= LEVEL


def _controls(name: str, samples: Samples) -> dict[str, Sample]:
    """Control → its sample of that metric; none for a number, nor for what has no network: it is its own control."""
    parts = [key.split("/", 2) for key in samples if key.startswith(CONTROL) and key.endswith(f"/{name}")]
    return {control: samples[f"{CONTROL}{control}/{what}"] for _, control, what in parts if what == name}


def _nearest(name: str, ours: float, samples: Samples) -> float | None:
    """The mean of the control that comes nearest to ours."""
    means = [fmean(sample.values()) for sample in _controls(name, samples).values()]
    return min(means, key=lambda mean: abs(mean - ours), default=None)


def learnt_by(parts: Sequence[Part], results: Mapping[str, dict]) -> tuple[Learnt, ...]:
    """What each training of the parts leaves of the pixels' variance, those that a part compares included."""
    found = {}
    for part in sorted(parts, key=lambda part: "trainings" in part.settings):
        for place, settings in enumerate(part.trainings, 1):
            if any(name in settings for name in TRAINED):
                single = "study.scores" if "methods" in settings else "training.scores"
                measurement = single if "trainings" in part.settings else part.measurement
                runs = [Run(measurement, settings, seed, part.scale) for seed in range(part.seeds)]
                name = part.name.replace("{}", "").strip("/") or settings.get("framework", "the study")
                name += f", training {place}" if len(part.trainings) > 1 else ""
                found.setdefault(runs[0], (name, [results[run.id]["metrics"] for run in runs if run.id in results]))
    return tuple(Learnt(name, _mean("", runs), _mean(f"{CONTROL}untrained/", runs)) for name, runs in found.values())


def _mean(prefix: str, runs: Sequence[Mapping[str, float]]) -> float | None:
    """The mean of the share that is left, as the first of `LEFT` that the runs have; of several shares, the largest."""
    for name in LEFT:
        shares = ([run[key] for key in run if f"{key}/".startswith(f"{prefix}{name}/")] for run in runs)
        values = [max(each) for each in shares if each]
        if values:
            return fmean(values)
    return None
