"""Chapter 13, scale: an exponent and its interval, seeds drawn whole, bins, the price of a bend, a gap of nothing."""

import math
from fractions import Fraction

import numpy as np
import torch
from scipy.stats import linregress
from scipy.stats import t as student
from torch import Tensor

from course_grading.answers import tensor, words
from course_grading.exercise import Function, Plain, either

# 13.1 -----------------------------------------------------------------------------------------------------------------


def curves(generator: torch.Generator) -> list[list[Tensor]]:
    """Sizes and scores: of six points, of three, in no order, of scores far from 1."""
    cases = []
    for count, power, level in ((6, 0.3, 0.02), (3, -0.8, 5.0), (12, 1.1, 1e-4), (5, -0.1, 300.0)):
        sizes = 10 ** (1 + 4 * torch.rand(count, generator=generator, dtype=torch.float64))
        noise = 0.3 * torch.randn(count, generator=generator, dtype=torch.float64)
        cases.append([sizes, level * sizes**power * noise.exp()])
    return cases


def exponent_with_interval(sizes: Tensor, scores: Tensor) -> Tensor:
    """By SciPy's regression."""
    line = linregress(sizes.log().numpy(), scores.log().numpy())
    far = student.ppf(0.975, len(sizes) - 2) * line.stderr
    return torch.tensor([line.slope, line.slope - far, line.slope + far])


def _interval(sizes, scores, lost=2, freedom=None, quantile=None, x=None, y=None, root=True, share=None, far=1.0):
    """The three numbers, with one thing done otherwise."""
    x = sizes.log() if x is None else x(sizes)
    y = scores.log() if y is None else y(scores)
    centred = x - x.mean()
    slope = (centred * (y - y.mean())).sum() / centred.square().sum()
    missed = (y - y.mean() - slope * centred).square().sum()
    variance = missed / (len(x) - lost) / (centred.square().sum() if share is None else share(x))
    level = (
        student.ppf(0.975, len(x) - (lost if freedom is None else freedom)) if quantile is None else quantile(len(x))
    )
    half = far * level * (variance.sqrt() if root else variance)
    return torch.stack([slope, slope - half, slope + half])


INTERVAL_MISTAKES = {
    "1.96 is the normal law's: with K − 2 degrees of freedom the quantile is that of Student's t.":
        lambda s, y: _interval(s, y, quantile=lambda n: 1.959963984540054),
    "K − 1 degrees of freedom: two numbers were fitted, the slope and the height, so K − 2 are left.":
        lambda s, y: _interval(s, y, lost=1),
    "the squares were divided by K: with K − 2 degrees of freedom they are divided by that.":
        lambda s, y: _interval(s, y, lost=0, freedom=2),
    "the quantile of .95 leaves 5 % on each side: for 95 % in all it is that of .975.":
        lambda s, y: _interval(s, y, quantile=lambda n: student.ppf(0.95, n - 2)),
    "the scores' logarithm is missing: that is a line through the scores themselves.":
        lambda s, y: _interval(s, y, y=lambda each: each),
    "the sizes' logarithm is missing: that is an exponential law.": lambda s, y: _interval(s, y, x=lambda each: each),
    "the two logarithms have different bases: any base will do, but the same for both.":
        either(lambda s, y: _interval(s, y, x=torch.log10), lambda s, y: _interval(s, y, y=torch.log10)),
    "a root is missing: that is the variance of the exponent, and not its standard error.":
        lambda s, y: _interval(s, y, root=False),
    "this is how far points stray from the line: the exponent's error is that over the root of Σ(x − x̄)².":
        lambda s, y: _interval(s, y, share=lambda x: torch.ones((), dtype=x.dtype)),
    "sizes and scores have changed places: how the logarithm of the score changes with that of the size is asked.":
        lambda s, y: _interval(y, s),
    "one standard error on each side: that holds two of three, not 95 of 100.":
        lambda s, y: _interval(s, y, quantile=lambda n: 1.0),
    "a quantile of 2 is not t's: with few points it is far more.": lambda s, y: _interval(s, y, quantile=lambda n: 2.0),
    "Student's t has K − 2 degrees of freedom here, and not K or K − 1.": either(
        lambda s, y: _interval(s, y, freedom=0),
        lambda s, y: _interval(s, y, freedom=1),
        lambda s, y: _interval(s, y, lost=0),
    ),
    "the exponent comes first, then the lower end, then the upper one.": either(
        lambda s, y: _interval(s, y)[[1, 0, 2]], lambda s, y: _interval(s, y)[[1, 2, 0]]
    ),
    "low and high have changed places.": lambda s, y: _interval(s, y)[[0, 2, 1]],
}  # fmt: skip


def _by_a_matrix(sizes, scores):
    design = torch.stack([torch.ones_like(sizes), sizes.log2()], 1)
    found = torch.linalg.lstsq(design, scores.log2().unsqueeze(1)).solution[:, 0]
    missed = (design @ found - scores.log2()).square().sum() / (len(sizes) - 2)
    error = (missed * torch.linalg.inv(design.T @ design)[1, 1]).sqrt()
    return found[1] + error * torch.tensor([0, -1, 1]) * student.ppf(0.975, len(sizes) - 2)


def _by_covariances(sizes, scores):
    table = np.cov(np.log(sizes.numpy()), np.log(scores.numpy()))
    slope = table[0, 1] / table[0, 0]
    error = math.sqrt((table[1, 1] - slope * table[0, 1]) / table[0, 0] / (len(sizes) - 2))
    return torch.tensor([slope, *student.interval(0.95, len(sizes) - 2, slope, error)])


INTERVAL_RIGHT = (_interval, _by_a_matrix, _by_covariances)

# 13.2 -----------------------------------------------------------------------------------------------------------------


def resamples(generator: torch.Generator) -> list[list[Tensor]]:
    """Sizes, scores of seeds that differ in height and in slope, and which seeds are drawn."""
    cases = []
    for seeds, count, draws in ((5, 6, 20), (2, 3, 7), (8, 4, 12)):
        sizes = 10 ** (4 * torch.rand(count, generator=generator, dtype=torch.float64))
        tilt = torch.rand(seeds, 1, generator=generator, dtype=torch.float64) - 0.3
        height = torch.rand(seeds, 1, generator=generator, dtype=torch.float64) + 0.05
        noise = torch.rand(seeds, count, generator=generator, dtype=torch.float64) + 0.5
        kept = torch.randint(seeds, (draws, seeds), generator=generator)
        kept[0], kept[1, :] = torch.arange(seeds), 0
        cases.append([sizes, height * sizes**tilt * noise, kept])
    return cases


def _slope(x: Tensor, y: Tensor) -> Tensor:
    """Slopes of lines (..., K) over (..., K)."""
    x = x - x.mean(-1, keepdim=True)
    return (x * y).sum(-1) / x.square().sum(-1)


def resampled_exponents(sizes: Tensor, scores: Tensor, kept: Tensor) -> Tensor:
    found = []
    for rows in kept.tolist():
        mean = [math.fsum(column) / len(rows) for column in scores[rows].T.tolist()]
        found.append(linregress(np.log(sizes.numpy()), np.log(mean)).slope)
    return torch.tensor(found)


RESAMPLED_MISTAKES = {
    "logarithms were averaged, or the seeds' own exponents, which comes to the same: the mean of the scores comes "
    "first, its logarithm then.":
        either(
            lambda s, y, k: _slope(s.log(), y.log()[k].mean(1)),
            lambda s, y, k: _slope(s.log(), y.log())[k].mean(1),
        ),
    "a seed that was drawn twice counts twice: here each counts once.":
        lambda s, y, k: _slope(s.log(), torch.stack([y[row.unique()].mean(0) for row in k]).log()),
    "the median of the seeds was taken: the mean is asked for.":
        lambda s, y, k: _slope(s.log(), y[k].median(1).values.log()),
    "the scores' logarithm is missing.": lambda s, y, k: _slope(s.log(), y[k].mean(1)),
    "the sizes' logarithm is missing.": lambda s, y, k: _slope(s, y[k].mean(1).log()),
    "the two logarithms have different bases.": lambda s, y, k: _slope(s.log10(), y[k].mean(1).log()),
    "all draws gave the exponent of all seeds: `kept` says which seeds each draw has.":
        lambda s, y, k: _slope(s.log(), y.mean(0).log()).expand(len(k)),
    "only the first seed of each draw was looked at.": lambda s, y, k: _slope(s.log(), y[k[:, 0]].log()),
    "sizes and scores have changed places: the slope of log scores over log sizes is asked for.":
        lambda s, y, k: _slope(y[k].mean(1).log(), s.log().expand(len(k), -1) - s.log().mean()),
    "expected one exponent for each draw, (B,), and not their mean.":
        lambda s, y, k: _slope(s.log(), y[k].mean(1).log()).mean(),
}  # fmt: skip


def _by_counts(sizes, scores, kept):
    counts = torch.stack([(kept == seed).sum(1) for seed in range(len(scores))], 1).double()
    return _slope(sizes.log2(), (counts @ scores).log2())  # sums have the slope of means


RESAMPLED_RIGHT = (
    lambda s, y, k: _slope(s.log(), y[k].mean(1).log()),
    _by_counts,
    lambda s, y, k: torch.from_numpy(np.polyfit(np.log10(s.numpy()), np.log10(y.numpy()[k.numpy()].mean(1)).T, 1)[0]),
)

# 13.3 -----------------------------------------------------------------------------------------------------------------

UNIT = 16 * 2.0**-23


def codes_to_bin(generator: torch.Generator) -> list[list]:
    """Codes with values that rounding moves about the edges of bins, dead columns that wiggle, and scales from 10⁻⁶."""
    angle = 2 * math.pi * torch.arange(40, dtype=torch.float64) / 40
    waves = torch.stack([angle.sin(), angle.cos(), 1e-6 * (3 * angle).sin(), 50 + 20 * angle.sin()], 1)
    grid = torch.stack([(torch.arange(40) % 11).double() / 10, torch.arange(40).double() // 8 - 2], 1)
    wiggle = 1 + 1e-7 * torch.rand(40, 1, generator=generator, dtype=torch.float64)
    still = torch.full((40, 1), -0.3, dtype=torch.float64)
    small = 1e-3 * torch.randn(40, 2, generator=generator, dtype=torch.float64)
    order = torch.randperm(40, generator=generator)
    codes = torch.cat([waves, grid, wiggle, still, small], 1)[order]
    jitter = 1 + 1e-7 * (2 * torch.rand(codes.shape, generator=generator, dtype=torch.float64) - 1)
    return [[codes, 20], [codes * jitter, 20], [-3 * codes * jitter, 7], [codes[:, 4:5], 10]]


def binned(latents: Tensor, bins: int) -> Tensor:
    """In exact arithmetic, value by value."""
    columns = []
    for column in latents.T.tolist():
        unit = UNIT * max(map(abs, column))
        whole = [round(value / unit) if unit else 0 for value in column]
        low, high = min(whole), max(whole)
        share = [Fraction(value - low, high - low) if high > low else Fraction(0) for value in whole]
        columns.append([min(int(each * bins), bins - 1) for each in share])
    return torch.tensor(columns).T.contiguous()


def _snapped(latents, bins, unit=None, to_whole=torch.round, last=True, place=None):
    """The bins, with one thing done otherwise."""
    unit = UNIT * latents.abs().amax(0) if unit is None else unit(latents)
    whole = to_whole(latents / unit).long()
    low, width = whole.amin(0), whole.amax(0) - whole.amin(0)
    place = (whole - low) * bins // width.clamp(min=1) if place is None else place(whole - low, width, bins)
    return place.clamp(max=bins - 1) if last else place


def _planted(latents, bins):
    low, high = latents.amin(0), latents.amax(0)
    width = torch.where(high > low, high - low, 1.0)
    return ((latents - low) / width * bins).long().clamp(max=bins - 1)


BINNED_MISTAKES = {
    "the planted fault is still there: values that differ by rounding alone fall into two bins.": _planted,
    "the unit is the same for all columns: it goes with the largest magnitude of each.":
        either(
            lambda z, b: _snapped(z, b, unit=lambda each: torch.full_like(each[0], UNIT)),
            lambda z, b: _snapped(z, b, unit=lambda each: UNIT * each.abs().max().expand(each.shape[1])),
        ),
    "the unit goes with the largest magnitude, and not with the range or the largest value.":
        either(
            lambda z, b: _snapped(z, b, unit=lambda each: UNIT * (each.amax(0) - each.amin(0)).clamp(min=1e-30)),
            lambda z, b: _snapped(z, b, unit=lambda each: UNIT * each.amax(0).abs()),
        ),
    "cut off in place of rounded: −10⁻¹⁶ must become 0, and .99999999 must become 1.":
        lambda z, b: _snapped(z, b, to_whole=torch.floor),
    "the unit is that of double precision: codes come from networks, whose numbers have 24 binary digits.":
        lambda z, b: _snapped(z, b, unit=lambda each: 16 * 2.0**-52 * each.abs().amax(0)),
    "the largest value has a bin of its own: it belongs to the last one, bins − 1.":
        lambda z, b: _snapped(z, b, last=False),
    "rounded to the nearest edge: a bin begins at its lower edge.":
        lambda z, b: _snapped(z, b, place=lambda w, width, bins: (2 * w * bins + width) // (2 * width.clamp(min=1))),
    "these are bins for the values from −1 to 1: a column's bins run from its smallest to its largest value.":
        lambda z, b: ((z + 1) / 2 * b).long().clamp(0, b - 1),
    "one bin too few: equal widths, `bins` of them.":
        lambda z, b: _snapped(z, b, place=lambda w, width, bins: w * (bins - 1) // width.clamp(min=1)),
    "numbered from 1: the first bin is 0.": lambda z, b: _snapped(z, b) + 1,
    "the bins count down: the smallest values belong to bin 0.": lambda z, b: b - 1 - _snapped(z, b),
}  # fmt: skip


def _by_edges(latents, bins):
    """Counts the lower edges that are not above a value."""
    whole = (latents / (UNIT * latents.abs().amax(0))).round()
    low, width = whole.amin(0), whole.amax(0) - whole.amin(0)
    steps = torch.arange(1, bins, dtype=latents.dtype).view(-1, 1, 1)
    return ((whole - low) * bins >= steps * width).logical_and(width > 0).sum(0)


BINNED_RIGHT = (
    _snapped,
    _by_edges,
    lambda z, b: torch.stack([binned(column.unsqueeze(1), b)[:, 0] for column in z.T], 1),
)

# 13.4 -----------------------------------------------------------------------------------------------------------------


def bends(generator: torch.Generator) -> list[list[Tensor]]:
    """Bends, scatters, and sizes: equally spaced in their logarithm, unequally, three of them, many."""
    cases = []
    for count in (6, 5, 3, 12):
        sizes = torch.logspace(0, 2, count, dtype=torch.float64) * 3
        if count != 6:
            step = 0.6 * torch.rand(count, generator=generator, dtype=torch.float64) - 0.3
            step[0] -= 0.7  # so that the spacing is never even by chance
            sizes = ((torch.arange(count) + step) * 7 / count).exp()
        bend = 0.02 + 0.05 * torch.rand(6, generator=generator, dtype=torch.float64)
        scatter = 0.3 + 0.6 * torch.rand(6, generator=generator, dtype=torch.float64)
        cases.append([-bend if count == 5 else bend, scatter, sizes])
    return cases


def seeds_for_a_bend(bend: Tensor, scatter: Tensor, sizes: Tensor) -> Tensor:
    """From the covariance of all three coefficients."""
    x = sizes.log().numpy()
    design = np.stack([np.ones_like(x), x - x.mean(), (x - x.mean()) ** 2], 1)
    share = np.linalg.pinv(design)[2] @ np.linalg.pinv(design)[2]
    needed = [max(math.ceil(16 * s**2 * share / b**2), 1) for b, s in zip(bend.tolist(), scatter.tolist(), strict=True)]
    return torch.tensor(needed)


def _needed(bend, scatter, sizes, half=True, errors=2, square=None, up=torch.ceil, log=torch.log, power=2, least=1):
    """The seeds, with one thing done otherwise."""
    x = log(sizes)
    x = x - x.mean()
    q = x.square() - x.square().mean()
    q = q - x * (x * q).sum() / x.square().sum()
    square = q.square().sum() if square is None else square(x, q)
    coefficient = bend / 2 if half else bend
    return up(errors**2 * scatter**power / square / coefficient**2).long().clamp(min=least)


BEND_MISTAKES = {
    "a quarter of what is needed: either the coefficient of x² was taken for the bend, of which it is half, or one "
    "standard error for two.":
        either(lambda b, s, z: _needed(b, s, z, half=False), lambda b, s, z: _needed(b, s, z, errors=1)),
    "1.96 in place of two standard errors.": lambda b, s, z: _needed(b, s, z, errors=1.96),
    "rounded down or to the nearest: with fewer seeds than needed it is not two standard errors yet.":
        either(lambda b, s, z: _needed(b, s, z, up=torch.floor), lambda b, s, z: _needed(b, s, z, up=torch.round)),
    "the logarithm to the base 10: the bend is one per natural logarithm.":
        lambda b, s, z: _needed(b, s, z, log=torch.log10),
    "the logarithm to the base 2: the bend is one per natural logarithm.":
        lambda b, s, z: _needed(b, s, z, log=torch.log2),
    "the squares were averaged: the error of a coefficient has their sum.":
        lambda b, s, z: _needed(b, s, z, square=lambda x, q: q.square().mean()),
    "the logarithm of the sizes is missing.": lambda b, s, z: _needed(b, s, z, log=lambda each: each),
    "this is the standard error of the slope, and not of the bend.":
        lambda b, s, z: _needed(b, s, z, square=lambda x, q: x.square().sum()),
    "x² was not freed of its mean: the height of the curve is fitted too, and takes that part.":
        lambda b, s, z: _needed(b, s, z, square=lambda x, q: (x**4).sum()),
    "x² was not freed of its slope: where sizes are spaced unequally it has a part along x, which the slope takes.":
        lambda b, s, z: _needed(b, s, z, square=lambda x, q: (x.square() - x.square().mean()).square().sum())
        if len(z) != 6 else _needed(b, s, z),
    "the scatter is not squared: seeds average variances.": lambda b, s, z: _needed(b, s, z, power=1),
    "one too many: the smallest number that is enough is asked for.": lambda b, s, z: _needed(b, s, z) + 1,
}  # fmt: skip


def _one_by_one(bend, scatter, sizes):
    x = sizes.log()
    design = torch.stack([torch.ones_like(x), x - x.mean(), (x - x.mean()).square()], 1)
    share = torch.linalg.inv(design.T @ design)[2, 2]
    return (16 * scatter.square() * share / bend.square()).ceil().to(torch.int64)


def _by_trying(bend, scatter, sizes):
    x = sizes.log() - sizes.log().mean()
    basis, _ = torch.linalg.qr(torch.stack([torch.ones_like(x), x], 1))
    rest = x.square() - basis @ (basis.T @ x.square())
    seeds = torch.arange(1, 200_000, dtype=torch.float64).unsqueeze(1)
    enough = bend.abs() / 2 >= 2 * scatter / (seeds * rest.square().sum()).sqrt()
    return enough.long().argmax(0) + 1


BEND_RIGHT = (_needed, _one_by_one, _by_trying)

# 13.5 -----------------------------------------------------------------------------------------------------------------

SIZES = (5, 4, 3)
GRID = torch.cartesian_prod(*(torch.arange(size) for size in SIZES))  # (60, 3)
KNOWN, GAP, ALIKE = 0.999, 0.01, 0.99


def gap_fault(codes) -> str | None:
    """Whether codes of 60 images know all factors, have no gap, and no two columns that are the same but for scale."""
    codes = tensor(codes, (60, None), "60 images, D columns").double()
    if not 2 <= codes.shape[1] <= 12:
        return f"got {codes.shape[1]} columns; expected 2 to 12."
    centred = codes - codes.mean(0)
    if (centred.abs().amax(0) <= 1e-9 * codes.abs().amax(0)).any():
        return "a column is constant: it says nothing. Leave it out."
    for place, size in enumerate(SIZES):
        share = _explained(centred, GRID[:, place].double())
        if not share > KNOWN:
            return (
                f"a linear probe reads factor {place}, of {size} values, with an R² of {share:.3f}; expected more "
                f"than {KNOWN}. Is it in the code?"
            )
    unit = centred / centred.norm(dim=0)
    alike = (unit.T @ unit).square() - torch.eye(codes.shape[1])
    if alike.max() > ALIKE:
        return (
            f"two columns have a squared correlation of {alike.max():.3f}, more than {ALIKE}: a column and its copy "
            "would do, but copies are not allowed here."
        )
    gaps = _gaps(codes)
    worst = int(gaps.argmax())
    if not gaps[worst] < GAP:
        return (
            f"the gap of factor {worst} is {gaps[worst]:.3f} of its entropy; expected less than {GAP}. Which other "
            "column says as much about it?"
        )
    return None


def _explained(centred: Tensor, factor: Tensor) -> float:
    factor = factor - factor.mean()
    found = torch.linalg.pinv(centred) @ factor
    return 1 - float((centred @ found - factor).square().sum() / factor.square().sum())


def _gaps(codes: Tensor) -> Tensor:
    places = binned(codes, 20)
    gaps = []
    for factor in GRID.T:
        joint = [_entropy(place * 5 + factor) for place in places.T]
        own = _entropy(factor)
        found = torch.stack([_entropy(place) + own - both for place, both in zip(places.T, joint, strict=True)])
        best, second = found.topk(2).values
        gaps.append((best - second) / own)
    return torch.stack(gaps)


def _entropy(values: Tensor) -> Tensor:
    shares = values.unique(return_counts=True)[1].double() / len(values)
    return -(shares * shares.log()).sum()


PAIRED = torch.stack([each for factor in GRID.double().T for each in (factor, factor.square())], 1)
GAP_MISTAKES = {
    "copies are not allowed here.": either(GRID.double().repeat(1, 2), torch.cat([GRID.double(), 1 - 2.0 * GRID], 1)),
    "is 1.000 of its entropy; expected less than 0.01. Which other column says as much about it?": GRID.double(),
    "a linear probe reads factor 2, of 3 values": PAIRED[:, :4],
    "a linear probe reads factor 0, of 5 values":
        torch.randn(60, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64),
    "the gap of factor 1 is": torch.cat([PAIRED[:, :2], PAIRED[:, 2:3], PAIRED[:, 4:]], 1),
    "a column is constant": torch.cat([PAIRED, torch.ones(60, 1)], 1),
    "got 13 columns; expected 2 to 12.": PAIRED.repeat(1, 3)[:, :13],
    "expected a tensor of shape (60, n)": PAIRED[:30],
    "some of the numbers are NaN or infinite.": PAIRED / 0,
}  # fmt: skip

# 13.6 -----------------------------------------------------------------------------------------------------------------

SCALE_JUDGED = {
    "start": "shown", "left": "shown", "nothing": "not shown", "law": "not shown", "table": "not shown",
    "width": "not shown", "probe": "shown",
}  # fmt: skip
SCALE_MISTAKES = {
    "start: eight seeds against their own untrained networks, and the interval leaves 0 out.": "not shown",
    "left: every one of eight seeds agrees, over five widths, by a factor of ten.": "not shown",
    "nothing: an interval that contains 0 also contains half the MIG. Not shown is not disproved.": "shown",
    "law: a curve that has stopped rising has an R² of .92 as well, and what was held out was not predicted.": "shown",
    "table: eight of 120 orders do as well, and without one encoder five of 24.": "shown",
    "width: one code has twice the columns of the other, and neither has its untrained twin beside it.": "shown",
    "probe: this is what was measured, on images set aside, for five seeds, and nothing more is said.": "not shown",
}

EXERCISES = {
    "13.1": Function(
        reference=exponent_with_interval, cases=curves, mistakes=INTERVAL_MISTAKES, also_right=INTERVAL_RIGHT
    ),
    "13.2": Function(
        reference=resampled_exponents, cases=resamples, mistakes=RESAMPLED_MISTAKES, also_right=RESAMPLED_RIGHT
    ),
    "13.3": Function(
        reference=binned, cases=codes_to_bin, mistakes=BINNED_MISTAKES, also_right=BINNED_RIGHT,
        praise="right: what rounding moves stays in its bin.",
    ),
    "13.4": Function(reference=seeds_for_a_bend, cases=bends, mistakes=BEND_MISTAKES, also_right=BEND_RIGHT),
    "13.5": Plain(
        fault=gap_fault,
        mistakes=GAP_MISTAKES,
        also_right=(PAIRED, PAIRED.float().numpy(), PAIRED.tolist(), 3 - 2 * PAIRED.flip(1)),
        praise="right: everything is known, and nothing stands out.",
    ),
    "13.6": words(SCALE_JUDGED, ("shown", "not shown"), SCALE_MISTAKES),
}  # fmt: skip
