"""Chapter 3, β-VAE and capacity: water in a spectrum, looks, a β to carry over, a capacity, entry prices, a table."""

import math

import torch
from torch import Tensor

from course_grading.answers import words
from course_grading.exercise import Function, either

# 03.1 -----------------------------------------------------------------------------------------------------------------


def spectra(generator: torch.Generator) -> list[list]:
    """Variances of worlds and a price: some under water, all, none, a single one, one in which λ lies in (β/2, β)."""
    cases = []
    for worlds, count, beta in ((3, 6, 2.0), (2, 4, 9.0), (2, 5, 0.05), (1, 1, 1.0), (4, 3, 30.0)):
        variances = 10 ** (2 * torch.rand(worlds, count, generator=generator, dtype=torch.float64) - 1)
        variances[0, 0] = 0.75 * beta
        cases.append([variances, beta])
    return cases


def under_water(variances: Tensor, beta: float) -> Tensor:
    """By bisection of the water level until the slope of ½ ln(λ/level) is that of the price."""
    rows = []
    for world in variances.tolist():
        low, high = 0.0, 1e6
        for _ in range(200):
            middle = (low + high) / 2  # a level's distortion rises by 1 where its rate falls by 1/(2·level)
            low, high = (middle, high) if 2 * middle < beta else (low, middle)
        rate = sum(0.5 * (math.log(value) - math.log(low)) for value in world if value > low)
        rows.append([rate, sum(min(value, low) for value in world)])
    return torch.tensor(rows, dtype=torch.float64)


def _water(level=0.5, gain=0.5, log=torch.log, lost=True):
    """Rate and distortion with another level (a multiple of β), factor, logarithm, or without what is lost."""

    def answer(variances, beta):
        height = level * beta
        sent = variances > height
        rate = gain * torch.where(sent, log(variances / height), 0.0)
        rest = torch.where(sent, height, variances if lost else torch.zeros_like(variances))
        return torch.stack([rate.sum(1), rest.sum(1)], 1)

    return answer


WATER_MISTAKES = {
    "the water stands at β/2, not at β: with squared errors a direction is sent as soon as λ > β/2.": _water(level=1.0),
    "the ½ in front of the logarithm is missing: every rate is twice too large.": _water(gain=1.0),
    "the rates are in bits: expected nats, with the natural logarithm.": _water(log=torch.log2),
    "what is under water is not free of error: a direction that is not sent leaves all of its variance.":
        _water(lost=False),
    "a direction under water has a negative rate here: it is not sent, and costs 0.":
        lambda v, b: torch.stack([(0.5 * (2 * v / b).log()).sum(1), v.clamp(max=b / 2).sum(1)], 1),
    "every direction was given an error of β/2: one whose variance is smaller leaves just its variance.":
        lambda v, b: torch.stack([(0.5 * (2 * v / b).log()).clamp(min=0).sum(1), torch.full_like(v, b / 2).sum(1)], 1),
    "what is sent is not free of error: it is sent down to the water level and no further.":
        lambda v, b: torch.stack(
            [(0.5 * (2 * v / b).log()).clamp(min=0).sum(1), torch.where(v > b / 2, 0.0, v).sum(1)], 1
        ),
    "rate and distortion have changed places: the rate comes first.":
        lambda v, b: under_water(v, b).flip(1),
    "averaged over directions: both are sums.": lambda v, b: under_water(v, b) / v.shape[1],
}  # fmt: skip


def _water_by_a_loop(variances, beta):
    found = torch.zeros(len(variances), 2, dtype=torch.float64)
    for row, world in enumerate(variances):
        for value in world:
            found[row, 0] += max(0.0, 0.5 * math.log(2 * value / beta))
            found[row, 1] += min(float(value), beta / 2)
    return found


WATER_RIGHT = (
    _water(),
    _water_by_a_loop,
    lambda v, b: torch.stack(
        [0.5 * torch.relu((2 * v / b).log()).sum(1), torch.minimum(v, torch.tensor(b / 2)).sum(1)], 1
    ),
)

# 03.2 -----------------------------------------------------------------------------------------------------------------


def looks_at_things(generator: torch.Generator) -> list[list]:
    """Looks (B, n) with a weight and a noise variance: several, one, many, precise and rough ones."""
    cases = []
    for things, looks, weight, noise in ((4, 3, 1.5, 0.5), (2, 1, 0.7, 2.0), (3, 40, -2.0, 0.1), (5, 2, 0.2, 3.0)):
        z = torch.randn(things, 1, generator=generator, dtype=torch.float64)
        blur = noise**0.5 * torch.randn(things, looks, generator=generator, dtype=torch.float64)
        cases.append([weight * z + blur, weight, noise])
    return cases


def after_looks(looks: Tensor, weight: float, noise: float) -> Tensor:
    """Bayes' rule, one look after the other."""
    mean, variance = torch.zeros(len(looks), dtype=torch.float64), 1.0
    for look in looks.T:
        gain = variance * weight / (weight**2 * variance + noise)
        mean, variance = mean + gain * (look - weight * mean), variance * noise / (weight**2 * variance + noise)
    return torch.stack([mean, torch.full_like(mean, variance)], 1)


def _seen(times=lambda n: n, prior=1.0, variance=lambda precision: 1 / precision, evidence=lambda x: x.sum(1)):
    def answer(looks, weight, noise):
        precision = torch.full((len(looks),), prior + times(looks.shape[1]) * weight**2 / noise, dtype=torch.float64)
        return torch.stack([weight * evidence(looks) / noise / precision, variance(precision)], 1)

    return answer


LOOKS_MISTAKES = {
    "the looks were averaged and then counted as one: n looks are n times as sure.":
        _seen(times=lambda n: 1, evidence=lambda x: x.mean(1)),
    "the prior is missing: before any look the precision is 1.": _seen(prior=0.0),
    "the prior was counted once for each look: there is one z, and one prior.":
        lambda x, w, s: _seen(prior=float(x.shape[1]))(x, w, s),
    "the second column is a precision: the variance is 1 over it.": _seen(variance=lambda precision: precision),
    "the second column is a standard deviation: expected the variance.":
        _seen(variance=lambda precision: precision**-0.5),
    "the noise variance was squared: `noise` is a variance already.":
        lambda x, w, s: _seen()(x, w, s**2),
    "a root was taken of the noise variance: `noise` is s² already.":
        lambda x, w, s: _seen()(x, w, s**0.5),
    "the mean is what the looks say without the prior: it pulls the mean towards 0.":
        lambda x, w, s: torch.stack([x.mean(1) / w, _seen()(x, w, s)[:, 1]], 1),
    "only one look was used: all of them count.": lambda x, w, s: _seen()(x[:, :1], w, s),
    "n stands where 1/n belongs: more looks make the variance smaller, as a smaller β does.":
        _seen(times=lambda n: 1 / n, evidence=lambda x: x.mean(1) / x.shape[1]),
    "the precision counts n looks and the mean only their average: the evidence in the mean is the sum of the looks.":
        _seen(evidence=lambda x: x.mean(1)),
    "the sign of the weight was lost: with a negative weight the looks say the opposite of z.":
        lambda x, w, s: _seen()(x, abs(w), s),
    "the columns are exchanged: the mean comes first.": lambda x, w, s: _seen()(x, w, s).flip(1),
    "the mean is that of w·z: divide by the weight.":
        lambda x, w, s: _seen()(x, w, s) * torch.tensor([w, 1.0], dtype=torch.float64),
}  # fmt: skip

LOOKS_RIGHT = (
    _seen(),
    # the mean of n looks is one look with an n-th of the noise
    lambda x, w, s: _seen(times=lambda n: 1, evidence=lambda x: x.mean(1))(x, w, s / x.shape[1]),
    lambda x, w, s: torch.stack(
        [
            w * x.sum(1) / (s + x.shape[1] * w**2),
            torch.full((len(x),), s / (s + x.shape[1] * w**2), dtype=torch.float64),
        ],
        1,
    ),
)

# 03.3 -----------------------------------------------------------------------------------------------------------------


def papers(generator: torch.Generator) -> list[list[Tensor]]:
    """β of sums, values and latents of theirs, values and latents of ours: smaller, larger and equal sizes."""

    def among(*sizes):
        return torch.tensor(sizes, dtype=torch.float64)[torch.randint(len(sizes), (7,), generator=generator)]

    beta = 10 ** (3 * torch.rand(7, generator=generator, dtype=torch.float64) - 1)
    theirs, ours = among(4096, 12288, 1024), among(256, 144, 768)
    return [
        [beta, theirs, among(10, 32), ours, among(6, 7, 25)],
        [beta, ours, among(10, 32), theirs, among(6, 7, 25)],
        [beta[:1], theirs[:1], among(5, 10)[:1], theirs[:1], among(6, 12)[:1]],
    ]


def carried(beta, values, latents, our_values, our_latents):
    """From the weights of one value's error and of one nat in either loss."""
    of_the_picture = values, our_values / our_values  # what an error of 1 in every value counts: in their loss, in ours
    nat = beta, 1 / our_latents  # what a nat costs: in their loss, and in ours with β = 1
    return (nat[0] / of_the_picture[0]) / (nat[1] / of_the_picture[1])


CARRY_MISTAKES = {
    "this is the β for means on *their* images with *their* latents: yours divide the KL by another number.":
        lambda b, v, d, ov, od: b * d / v,
    "this treats a value of your images as worth one of theirs: where a block of theirs became one value of yours, the "
    "error of the picture is their number of values, not yours.":
        lambda b, v, d, ov, od: b * od / ov,
    "only the image size was translated: yours is a loss of means, so the latents come in too.":
        lambda b, v, d, ov, od: b * ov / v,
    "only sums against means: β stays the same only if both losses add up.": lambda b, v, d, ov, od: b,
    "the quotient is upside down: with more values in their sum a nat was cheaper, not dearer.":
        lambda b, v, d, ov, od: b * v / od,
    "the number of latents of theirs does not matter: their KL is a sum.":
        lambda b, v, d, ov, od: b * od / (v * d),
    "the size went in upside down: with fewer values in the sum of errors a nat has to cost less.":
        lambda b, v, d, ov, od: b * v * od / ov**2,
    "the sides were compared: it is the numbers of values that count.":
        lambda b, v, d, ov, od: b * (ov / v) ** 0.5 * od / ov,
    "the image size went in twice: a mean over values has no size of its own.":
        lambda b, v, d, ov, od: b * od * ov / v**2,
}  # fmt: skip
CARRY_RIGHT = (
    lambda b, v, d, ov, od: b * od / v,
    lambda b, v, d, ov, od: (b * ov / v) * od / ov,  # first the size, then the reduction
    lambda b, v, d, ov, od: torch.from_numpy(b.numpy() * (od / v).numpy()),
)

# 03.4 -----------------------------------------------------------------------------------------------------------------


def trainings(generator: torch.Generator) -> list[list]:
    """Decoded and real images with posteriors, after the ramp, at its start, at its end and on the way."""
    cases = []
    for images, latents, side, index, gamma, spread in (
        (6, 3, 4, 250, 20.0, 2.0),
        (4, 2, 5, 0, 5.0, 2.0),
        (3, 4, 3, 100, 50.0, 0.5),
        (5, 2, 4, 40, 8.0, 2.0),
    ):
        decoded, pixels = (torch.randn(images, 1, side, side, generator=generator) for _ in range(2))
        mean = spread * torch.randn(images, latents, generator=generator)
        if index == 250:  # of two images' divergences one lies below the capacity and one above
            mean[:2] = torch.tensor([[0.0], [3.0]])
        log_variance = torch.randn(images, latents, generator=generator) - 1
        parts = [decoded.requires_grad_(), pixels, mean.requires_grad_(), log_variance.requires_grad_()]
        cases.append([*parts, index, 100, 6.0, gamma])
    return cases


def capacity_loss(decoded, images, mean, log_variance, index, steps, capacity, gamma):
    error = (decoded.double() - images.double()).pow(2).sum() / len(images)
    normal = torch.distributions.Normal(mean.double(), log_variance.double().exp().sqrt())
    nats = torch.distributions.kl_divergence(normal, torch.distributions.Normal(0.0, 1.0)).sum() / len(images)
    target = capacity if index > steps else capacity * index / steps
    return (error + gamma * torch.sqrt((nats - target) ** 2)).to(decoded.dtype)


def _annealed(
    error="sum", inside=False, clamp=True, penalty=torch.abs, weigh=lambda gamma, part: gamma * part, nats="sum"
):
    def answer(decoded, images, mean, log_variance, index, steps, capacity, gamma):
        errors = (decoded - images).square().flatten(1)
        errors = errors.sum(1).mean() if error == "sum" else errors.mean()
        each = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance)
        each = each.sum(1) if nats == "sum" else each.mean(1)
        target = capacity * (min(1.0, index / steps) if clamp else index / steps)
        part = penalty(each - target).mean() if inside else penalty(each.mean() - target)
        return errors + weigh(gamma, part)

    return answer


ANNEALED_MISTAKES = {
    "both faults are still there: the error is a mean over pixels, and C goes on rising after the last step.":
        _annealed(error="mean", clamp=False),
    "the error is still a mean over pixels, beside a KL in nats per image: sum over the pixels of each image.":
        _annealed(error="mean"),
    "C still rises after the last step of the ramp: it stays at its end.": _annealed(clamp=False),
    "the absolute value was taken for each image: the KL is averaged over the batch first.": _annealed(inside=True),
    "the deviation may be negative here: below the target the KL is rewarded for shrinking. Take its absolute value.":
        _annealed(penalty=lambda gap: gap),
    "only a KL above the target is punished: |KL − C| holds it from both sides.": _annealed(penalty=torch.relu),
    "the deviation was squared: the penalty is its absolute value.": _annealed(penalty=torch.square),
    "the KL is a mean over latents: C counts the nats of the whole code.": _annealed(nats="mean"),
    "γ is missing.": _annealed(weigh=lambda gamma, part: part),
    "log_variance was read as the logarithm of the standard deviation: its exp() is σ² already.":
        lambda d, x, m, v, *rest: _annealed()(d, x, m, 2 * v, *rest),
    "the batch was summed: error and KL are means over the images.":
        lambda d, x, m, v, *rest: _summed(d, x, m, v, *rest),
    "there is no ramp: C is its end from the first step on.":
        lambda d, x, m, v, index, steps, *rest: _annealed()(d, x, m, v, steps, steps, *rest),
    "the error has a ½ that the task does not have: squared errors are summed as they are.":
        lambda d, x, m, v, *rest: _annealed()(d, x, m, v, *rest) - (d - x).square().sum() / len(d) / 2,
}  # fmt: skip


def _summed(decoded, images, mean, log_variance, index, steps, capacity, gamma):
    nats = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum()
    return (decoded - images).square().sum() + gamma * (nats - capacity * min(1.0, index / steps)).abs()


def _annealed_elsewhere(decoded, images, mean, log_variance, index, steps, capacity, gamma):
    nats = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(dim=1)
    target = torch.clamp(torch.tensor(capacity * index / steps), 0, capacity)
    error = torch.nn.functional.mse_loss(decoded, images, reduction="sum") / decoded.shape[0]
    return error + gamma * torch.abs(nats.mean() - target)


ANNEALED_RIGHT = (
    _annealed(),
    _annealed_elsewhere,
    _annealed(penalty=lambda gap: torch.maximum(gap, -gap)),
)

# 03.5 -----------------------------------------------------------------------------------------------------------------


def worlds(generator: torch.Generator) -> list[list[Tensor]]:
    """Grids of two or three factors, each image once, in a random order; factors add, but for some noise."""
    cases = []
    for sizes, pixels, scales in (((4, 3), 6, (3, 1)), ((2, 5, 3), 8, (1, 4, 2)), ((6, 2), 3, (1, 3))):
        factors = torch.cartesian_prod(*(torch.arange(size) for size in sizes))
        images = sum(
            scales[place] * torch.randn(size, pixels, generator=generator, dtype=torch.float64)[factors[:, place]]
            for place, size in enumerate(sizes)
        )
        images = images + 0.5 * torch.randn(images.shape, generator=generator, dtype=torch.float64) + 3
        shuffled = torch.randperm(len(images), generator=generator)
        cases.append([images[shuffled], factors[shuffled]])
    return cases


def entry_prices(images: Tensor, factors: Tensor) -> Tensor:
    """From the products of the mean images, which have the same eigenvalues as their covariance."""
    found = []
    for values in factors.T:
        means = torch.stack([images[values == value].mean(0) for value in values.unique()])
        means = means - means.mean(0)
        found.append(2 * torch.linalg.eigvalsh(means @ means.T / len(means))[-1])
    return torch.stack(found)


def _entry(
    of=lambda covariance: torch.linalg.eigvalsh(covariance)[..., -1], times=2.0, correction=0, means=True, centred=True
):
    def answer(images, factors):
        found = []
        for values in factors.T:
            rows = [images[values == value] for value in values.unique()]
            points = torch.stack([row.mean(0) for row in rows]) if means else rows[0]
            covariance = torch.cov(points.T, correction=correction) if centred else points.T @ points / len(points)
            found.append(times * of(covariance))
        return torch.stack(found)

    return answer


ENTRY_MISTAKES = {
    "this is λ: a step pays below a price of 2λ.": _entry(times=1.0),
    "this is the variance over all directions, the rule of distances: expected the first direction alone.":
        _entry(of=torch.trace),
    "the covariance was divided by one less than the number of values: these are all the values there are.":
        _entry(correction=1),
    "the mean images were not centred: what all of them share is not a difference between them.": _entry(centred=False),
    "the images of one value were taken, and what varies among them are the *other* factors.": _entry(means=False),
    "this is the smallest eigenvalue: eigvalsh sorts them from small to large.":
        _entry(of=lambda covariance: torch.linalg.eigvalsh(covariance)[0]),
    "the largest variance of a single pixel was taken: a direction may combine many pixels.":
        _entry(of=lambda covariance: covariance.diagonal().max()),
    "the prices are sorted: they belong in the order of the factors.":
        lambda images, factors: entry_prices(images, factors).sort().values,
    "this is the first direction of all images together: each factor has mean images of its own.":
        lambda images, factors: _entry()(images, torch.arange(len(images))[:, None]).repeat(factors.shape[1]),
    "a singular value stands for the eigenvalue: λ is a variance, the square of a deviation.":
        _entry(of=lambda covariance: torch.linalg.eigvalsh(covariance)[-1].sqrt()),
}  # fmt: skip

ENTRY_RIGHT = (
    _entry(),
    lambda images, factors: torch.stack([
        2 * torch.linalg.svdvals(means - means.mean(0))[0] ** 2 / len(means)
        for means in ([torch.stack([images[v == k].mean(0) for k in v.unique()]) for v in factors.T])
    ]),
    _entry(of=lambda covariance: torch.linalg.matrix_norm(covariance, 2)),
)  # fmt: skip

# 03.6 -----------------------------------------------------------------------------------------------------------------

ROWS = {
    "A": "codes", "B": "collapsed", "C": "codes", "D": "untrained", "E": "collapsed", "F": "unknown", "G": "unknown",
    "H": "codes",
}  # fmt: skip
WORDS = ("codes", "collapsed", "untrained", "unknown")
ROWS_MISTAKES = {
    "A: a MIG of .03 is low, and yet .12 of the variance is left: it has a code, which is not disentangled.":
        either("collapsed", "untrained", "unknown"),
    "B: independent latents at 0.01 nats are latents that say nothing: all variance is left.":
        either("codes", "untrained", "unknown"),
    "C: β = 250 looks like collapse, but β has a meaning only beside loss and size: .35 are left.":
        either("collapsed", "untrained", "unknown"),
    "D: it leaves more than the mean image does: a trained decoder would at least draw the mean image.":
        either("collapsed", "codes", "unknown"),
    "E: a tenth of a nat and .98 left: the score of .41 is that of a code which hardly exists.":
        either("codes", "unknown"),
    "F: neither what is left nor the KL is given. A total correlation of 0 fits both a perfect code and none.":
        either("codes", "collapsed"),
    "G: an overlap of .9 fits wide posteriors that still sort images, and posteriors that equal the prior.":
        either("codes", "collapsed"),
    "H: 21 nats and .30 left are a code, whatever AnnealedVAE's target was.": either("collapsed", "unknown"),
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "03.1": Function(reference=under_water, cases=spectra, mistakes=WATER_MISTAKES, also_right=WATER_RIGHT),
    "03.2": Function(reference=after_looks, cases=looks_at_things, mistakes=LOOKS_MISTAKES, also_right=LOOKS_RIGHT),
    "03.3": Function(reference=carried, cases=papers, mistakes=CARRY_MISTAKES, also_right=CARRY_RIGHT),
    "03.4": Function(reference=capacity_loss, cases=trainings, mistakes=ANNEALED_MISTAKES, also_right=ANNEALED_RIGHT),
    "03.5": Function(reference=entry_prices, cases=worlds, mistakes=ENTRY_MISTAKES, also_right=ENTRY_RIGHT),
    "03.6": words(ROWS, WORDS, ROWS_MISTAKES, praise="right: first what is left, then what the scores say."),
}
