"""Chapter 21, choice of factors, and noise: the gap of parts, photographs everywhere, noise by index, shares, labels.

Gaps come from sorted logarithms, expected distances from counting pixels of three kinds, shares from the covariance's
eigenvectors: nothing here shares code with the solutions.
"""

import math

import numpy as np
import torch
from torch import Tensor

from course_grading.answers import words
from course_grading.exercise import Function

# 21.1 -----------------------------------------------------------------------------------------------------------------


def part_sizes(generator: torch.Generator) -> list[list[Tensor]]:
    """Numbers of values of parts: three in no order, then with ties; two, five, equal ones."""
    unlike = torch.stack([2 + torch.randperm(11, generator=generator)[:3] for _ in range(20)]).double()
    ties = torch.tensor([[3, 7, 7], [2, 5, 11], [11, 5, 2], [4, 4, 9], [6, 6, 6]], dtype=torch.float64)
    cases = [unlike, ties, torch.randint(2, 30, (12, 2), generator=generator).double()]
    return [[each] for each in (*cases, torch.randint(2, 6, (12, 5), generator=generator).double(), ties[4:])]


def gap_of_parts(sizes: Tensor) -> Tensor:
    nats = sizes.log().sort(dim=1, descending=True).values
    return (nats[:, 0] - nats[:, 1]) / sizes.prod(1).log()


def _unlike_gap(sizes):
    """To the largest part of another size."""
    nats = sizes.log()
    best = nats.amax(1, keepdim=True)
    second = nats.where(nats < best, 0).amax(1)
    return (best[:, 0] - second) / nats.sum(1)


def _two_largest(sizes):
    return sizes.sort(dim=1, descending=True).values[:, :2].unbind(1)


GAP_MISTAKES = {
    "the largest less the smallest: the MIG takes off what the second-best latent knows.":
        lambda s: (s.amax(1) / s.amin(1)).log() / s.prod(1).log(),
    "two largest parts of one size are a tie, and their gap is 0: the second-best may know as much as the best.":
        _unlike_gap,
    "divided by the entropy of the largest part: the factor's own is the logarithm of the product of all.":
        lambda s: gap_of_parts(s) * s.prod(1).log() / s.amax(1).log(),
    "divided by the logarithm of the sum: the factor has as many values as the product of its parts'.":
        lambda s: gap_of_parts(s) * s.prod(1).log() / s.sum(1).log(),
    "the gap is in nats still: divide by the factor's entropy.": lambda s: gap_of_parts(s) * s.prod(1).log(),
    "numbers of values were subtracted: a latent knows the logarithm of them.":
        lambda s: (_two_largest(s)[0] - _two_largest(s)[1]) / s.prod(1),
    "the first column less the second: parts stand in any order.":
        lambda s: (s[:, 0] / s[:, 1]).log() / s.prod(1).log(),
    "the first two columns were compared: parts stand in any order, and the two largest may stand anywhere.":
        lambda s: (s[:, 0] / s[:, 1]).log().abs() / s.prod(1).log(),
    "this is what the best latent knows; the second-best's has to be taken off.":
        lambda s: s.amax(1).log() / s.prod(1).log(),
    "what all others know was taken off: only the second-best counts.":
        lambda s: (2 * s.amax(1).log() - s.prod(1).log()) / s.prod(1).log(),
    "divided by the entropy of the two largest parts: that of the factor has all parts in it.":
        lambda s: gap_of_parts(s) * s.prod(1).log() / _two_largest(s)[0].mul(_two_largest(s)[1]).log(),
    "divided by the number of parts: the MIG divides a gap by the factor's entropy.":
        lambda s: gap_of_parts(s) * s.prod(1).log() / s.shape[1],
}  # fmt: skip


def _gap_by_topk(sizes):
    first, second = sizes.log2().topk(2, dim=1).values.unbind(1)
    return (first - second) / sizes.log2().sum(1)


def _gap_in_loops(sizes):
    found = []
    for row in sizes.tolist():
        *_, second, first = sorted(row)
        found.append(math.log(first / second) / math.log(math.prod(row)))
    return torch.tensor(found, dtype=torch.float64)


def _gap_by_maxima(sizes):
    best, place = sizes.max(1)
    others = sizes.scatter(1, place.unsqueeze(1), 1)
    return (best / others.max(1).values).log() / sizes.log().sum(1)


# 21.2 -----------------------------------------------------------------------------------------------------------------

PIXELS = 400


def sprite_pairs(generator: torch.Generator) -> list[list]:
    """Areas of two sprites and the pixels in exactly one; visibilities of 0 and of 1 among them."""
    cases = []
    for count in (12, 5):
        area, other = (30 + 100 * torch.rand(2, count, generator=generator, dtype=torch.float64)).round()
        shared = (torch.minimum(area, other) * torch.rand(count, generator=generator, dtype=torch.float64)).round()
        visibility = 0.1 + 0.8 * torch.rand(count, generator=generator, dtype=torch.float64)
        visibility[:2] = torch.tensor([0.0, 1.0])
        mean = 0.2 + 0.6 * torch.rand(count, generator=generator, dtype=torch.float64)
        variance = 0.02 + 0.08 * torch.rand(count, generator=generator, dtype=torch.float64)
        cases.append([area, other, area + other - 2 * shared, visibility, mean, variance, PIXELS])
    edge = [each[:1] for each in cases[0][:6]]
    return [*cases, [*edge, 900]]


def photographs_everywhere(area, other, either, visibility, mean, variance, pixels):
    """Pixel by pixel: both sprites, one of them, neither."""
    white, black = 1 - visibility * (1 - mean), visibility * mean
    noise = 2 * visibility**2 * variance
    both = (area + other - either) / 2
    return both * noise + either * ((white - black) ** 2 + noise) + (pixels - both - either) * noise


def _sum(contrast, floor):
    return lambda a, b, u, r, m, v, n: contrast(r, m) * u + floor(a, b, u, r, v, n)


def _right_floor(a, b, u, r, v, n):
    return 2 * r**2 * v * n


def _right_contrast(r, m):
    return (1 - r) ** 2


def _behind(a, b, u, r, m, v, n):
    """The chapter's first formula."""
    return (1 - r * m) ** 2 * u + r**2 * v * (2 * n - a - b)


def _in_place(a, b, u, r, m, v, n):
    """The chapter's second formula."""
    return (1 - r * (1 - m)) ** 2 * u + r**2 * v * (a + b)


PHOTOGRAPH_MISTAKES = {
    "the variance was counted once: two photographs meet in every pixel, each with its own.":
        _sum(_right_contrast, lambda a, b, u, r, v, n: r**2 * v * n),
    "fading by r multiplies the variance by r².": _sum(_right_contrast, lambda a, b, u, r, v, n: 2 * r * v * n),
    "the variance of the photographs is faded too: it is r² σ².":
        _sum(_right_contrast, lambda a, b, u, r, v, n: 2 * v * n),
    "the difference of the two means, 1 − r, is squared as a whole: that is not 1 − r².":
        _sum(lambda r, m: 1 - r**2, _right_floor),
    "the difference of the two means has to be squared.": _sum(lambda r, m: 1 - r, _right_floor),
    "the sprite is no longer white where the background shows: it is a photograph too, and its mean is 1 − r(1 − m).":
        _sum(lambda r, m: (1 - r * m) ** 2, _right_floor),
    "the background is no longer black: its mean is r m.": _sum(lambda r, m: (1 - r * (1 - m)) ** 2, _right_floor),
    "the pixels in exactly one sprite have noise as well: both photographs' variances, beside the contrast.":
        _sum(_right_contrast, lambda a, b, u, r, v, n: 2 * r**2 * v * (n - u)),
    "within both sprites there are two photographs as well: their difference is not 0.":
        _sum(_right_contrast, lambda a, b, u, r, v, n: r**2 * v * (2 * n - a - b + u)),
    "this is the floor behind the sprites alone: inside them photographs differ too.":
        _sum(_right_contrast, lambda a, b, u, r, v, n: r**2 * v * (2 * n - a - b)),
    "this is the floor inside the sprites alone: behind them photographs differ too.":
        _sum(_right_contrast, lambda a, b, u, r, v, n: r**2 * v * (a + b)),
    "this is the mean over pixels: expected the sum.":
        lambda a, b, u, r, m, v, n: ((1 - r) ** 2 * u + 2 * r**2 * v * n) / n,
    "the standard deviation's place was taken by the variance's: it is not to be squared again.":
        _sum(_right_contrast, lambda a, b, u, r, v, n: 2 * r**2 * v**2 * n),
    "this is the chapter's formula for photographs behind the sprite: here it shows one as well.": _behind,
    "this is the chapter's formula for photographs in place of the sprite: here there is one behind it as well.":
        _in_place,
    "the chapter's two formulas were added: floors add up, contrasts do not, as each pixel is counted once.":
        lambda *law: _behind(*law) + _in_place(*law),
    "this is what the sprites contribute: the noise of the photographs comes on top.":
        lambda a, b, u, r, m, v, n: (1 - r) ** 2 * u,
    "this is the noise alone: where just one sprite is, the means differ as well.":
        lambda a, b, u, r, m, v, n: 2 * r**2 * v * n,
    "the same photographs for both images: those of a pair are drawn independently.":
        lambda a, b, u, r, m, v, n: ((1 - r) ** 2 + 2 * r**2 * v) * u,
}  # fmt: skip


def _everywhere_at_once(area, other, either, visibility, mean, variance, pixels):
    return (1 - visibility).square() * either + 2 * pixels * visibility.square() * variance


def _everywhere_by_moments(area, other, either, visibility, mean, variance, pixels):
    """E(X − Y)² as E X² + E Y² − 2 E X E Y, for each of the three kinds of pixels."""
    means = torch.stack([1 - visibility + visibility * mean, visibility * mean])
    squares = means**2 + visibility**2 * variance
    both = (area + other - either) / 2
    counts = {(0, 0): both, (0, 1): either, (1, 1): pixels - both - either}
    return sum(n * (squares[i] + squares[j] - 2 * means[i] * means[j]) for (i, j), n in counts.items())


def _everywhere_in_loops(area, other, either, visibility, mean, variance, pixels):
    rows = zip(*(each.tolist() for each in (either, visibility, variance)), strict=True)
    return torch.tensor([(1 - r) ** 2 * u + 2 * r * r * v * pixels for u, r, v in rows], dtype=torch.float64)


# 21.3 -----------------------------------------------------------------------------------------------------------------


def sprites_with_indices(generator: torch.Generator) -> list[list]:
    """Grey sprites with black pixels and their indices, in no order, one of them twice; seeds other than any index."""
    cases = []
    for count, width in ((6, 40), (1, 9), (3, 20)):
        sprites = torch.randint(256, (count, width), generator=generator, dtype=torch.uint8)
        sprites[:, ::3] = 0
        index = 100 + torch.randperm(700_000, generator=generator)[:count]
        index[-1] = index[0]
        cases.append([sprites, index, int(torch.randint(1, 90, (), generator=generator))])
    return cases


def noisy_sprites(sprites: Tensor, index: Tensor, seed: int) -> Tensor:
    return sprites.maximum(_noise(sprites, [[seed, each] for each in index.tolist()]))


def _noise(sprites, seeds):
    """Noise from a generator for each image: its seed."""
    drawn = [np.random.default_rng(seed).integers(0, 256, sprites.shape[1], dtype=np.uint8) for seed in seeds]
    return torch.from_numpy(np.stack(drawn))


def _by_seeds(seeds_of):
    return lambda sprites, index, seed: sprites.maximum(_noise(sprites, seeds_of(index.tolist(), seed)))


def one_generator(sprites: Tensor, index: Tensor, seed: int) -> Tensor:
    """The planted fault."""
    noise = np.random.default_rng(seed).integers(0, 256, tuple(sprites.shape), dtype=np.uint8)
    return sprites.maximum(torch.from_numpy(noise))


def _right_noise(sprites, index, seed):
    return _noise(sprites, [[seed, each] for each in index.tolist()])


def _wide_noise(sprites, index, seed):
    """Drawn as int64 and only then made bytes."""
    drawn = [np.random.default_rng([seed, each]).integers(0, 256, sprites.shape[1]) for each in index.tolist()]
    return torch.from_numpy(np.stack(drawn)).byte()


def _dim_noise(sprites, index, seed):
    """255 was taken for an upper end that is included."""
    generators = [np.random.default_rng([seed, each]) for each in index.tolist()]
    drawn = [draw.integers(0, 255, sprites.shape[1], dtype=np.uint8) for draw in generators]
    return torch.from_numpy(np.stack(drawn))


def _old_noise(sprites, index, seed):
    generators = [np.random.RandomState([seed, each]) for each in index.tolist()]
    drawn = [draw.randint(0, 256, sprites.shape[1], dtype=np.uint8) for draw in generators]
    return torch.from_numpy(np.stack(drawn))


NOISE_MISTAKES = {
    "the planted fault is still there: one generator for the whole batch, so that an image's noise depends on what is "
    "asked for before it.":
        one_generator,
    "every image has the same noise: its index belongs into the seed.": _by_seeds(lambda i, s: [s] * len(i)),
    "seed + index: image 5 of seed 0 has the noise of image 4 of seed 1. Keep the two apart, [seed, index].":
        _by_seeds(lambda i, s: [s + each for each in i]),
    "seed times index: other pairs have the same product. Keep the two apart, [seed, index].":
        _by_seeds(lambda i, s: [s * each for each in i]),
    "the seed is ignored: another seed must give other noise.": _by_seeds(lambda i, s: i),
    "the two numbers are exchanged: [seed, index] is asked for.": _by_seeds(lambda i, s: [[each, s] for each in i]),
    "the place in the batch was taken for the index.": _by_seeds(lambda i, s: [[s, each] for each in range(len(i))]),
    "sprite and noise were added, and bytes wrap around at 256: take the larger of the two.":
        lambda sprites, index, seed: sprites + _right_noise(sprites, index, seed),
    "the smaller of the two was taken: white sprites vanish in the noise.":
        lambda sprites, index, seed: sprites.minimum(_right_noise(sprites, index, seed)),
    "only the noise is left: take the larger of sprite and noise.": _right_noise,
    "sprite and noise were added and cut off at 255: take the larger of the two.":
        lambda sprites, index, seed: (sprites.int() + _right_noise(sprites, index, seed)).clamp(max=255).byte(),
    "the noise was drawn without dtype=np.uint8, which gives other numbers.":
        lambda sprites, index, seed: sprites.maximum(_wide_noise(sprites, index, seed)),
    "the noise was drawn up to 254: `integers(0, 256, …)` leaves its upper end out by itself.":
        lambda sprites, index, seed: sprites.maximum(_dim_noise(sprites, index, seed)),
    "NumPy's old generator gives other numbers: `np.random.default_rng([seed, index])` is asked for.":
        lambda sprites, index, seed: sprites.maximum(_old_noise(sprites, index, seed)),
    "only black pixels have noise here: expected the larger of the two where the sprite is grey, too.":
        lambda sprites, index, seed: torch.where(sprites == 0, _right_noise(sprites, index, seed), sprites),
    "these are the sprites without any noise.": lambda sprites, index, seed: sprites,
    "all have the noise of the first image: each has its own index.":
        lambda sprites, index, seed: sprites.maximum(_right_noise(sprites, index[:1].expand_as(index), seed)),
}  # fmt: skip


def _noise_into_rows(sprites, index, seed):
    found = sprites.clone()
    for row, each in zip(found, index, strict=True):
        noise = np.random.default_rng([seed, int(each)]).integers(0, 256, len(row), dtype=np.uint8)
        row[:] = torch.maximum(row, torch.from_numpy(noise))
    return found


def _noise_in_numpy(sprites, index, seed):
    generators = [np.random.default_rng((seed, each)) for each in index.numpy()]
    noise = np.array([draw.integers(256, size=sprites.shape[1], dtype="uint8") for draw in generators])
    return torch.tensor(np.maximum(sprites.numpy(), noise))


def _noise_by_where(sprites, index, seed):
    noise = _right_noise(sprites, index, seed)
    return torch.where(noise > sprites, noise, sprites)


# 21.4 -----------------------------------------------------------------------------------------------------------------


def images_with_pairs(generator: torch.Generator) -> list[list[Tensor]]:
    """Images with a large mean and unequal variances in mixed directions, and pairs of them.

    In the last case variances fall slowly, so that pairs may have more in a later direction than in an earlier one.
    """
    cases = []
    for count, size, drawn, fall in ((40, 6, 25, 2.0), (15, 3, 8, 2.0), (30, 12, 8, 1.05)):
        mixing = torch.linalg.qr(torch.randn(size, size, generator=generator, dtype=torch.float64)).Q
        spread = fall ** -torch.arange(size, dtype=torch.float64)
        images = torch.randn(count, size, generator=generator, dtype=torch.float64) * spread @ mixing
        images = images + 3 * torch.rand(size, generator=generator, dtype=torch.float64)
        first = torch.randint(count, (drawn,), generator=generator)
        second = (first + torch.randint(1, count, (drawn,), generator=generator)) % count
        cases.append([images, first, second])
    return cases


def shares_of_directions(images: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """From the covariance's eigenvectors."""
    axes = torch.linalg.eigh(torch.cov(images.T)).eigenvectors.flip(1)
    return _shares(axes, images, first, second)


def _shares(axes, images, first, second):
    """axes : (P, P), a direction in each column."""
    energy = ((images[first] - images[second]) @ axes).square().sum(0)
    return energy.cumsum(0) / energy.sum()


def _axes_of(rows):
    return torch.linalg.svd(rows, full_matrices=False).Vh.T


def _pair_by_pair(images, first, second):
    energy = ((images[first] - images[second]) @ _axes_of(images - images.mean(0))).square()
    return (energy.cumsum(1) / energy.sum(1, keepdim=True)).mean(0)


def _unsquared(images, first, second):
    size = ((images[first] - images[second]) @ _axes_of(images - images.mean(0))).abs().sum(0)
    return size.cumsum(0) / size.sum()


def _sorted_shares(images, first, second):
    energy = ((images[first] - images[second]) @ _axes_of(images - images.mean(0))).square().sum(0)
    return energy.sort(descending=True).values.cumsum(0) / energy.sum()


def _of_data(images, first, second):
    variance = torch.linalg.svdvals(images - images.mean(0)).square()
    return variance.cumsum(0) / variance.sum()


SHARE_MISTAKES = {
    "the images were not centred: the first direction is then that of the mean image, along which pairs hardly differ.":
        lambda x, i, j: _shares(_axes_of(x), x, i, j),
    "directions of the smallest variance first: they are to be opened from the largest down.":
        lambda x, i, j: _shares(_axes_of(x - x.mean(0)).flip(1), x, i, j),
    "these are shares of the data's variance, whatever the pairs: project the pairs' differences.": _of_data,
    "directions of the differences themselves: a network opens those of the data.":
        lambda x, i, j: _shares(_axes_of(x[i] - x[j]), x, i, j),
    "these are directions of the images that occur in the pairs: expected those of all images.":
        lambda x, i, j: _shares(_axes_of(torch.cat([x[i], x[j]]) - torch.cat([x[i], x[j]]).mean(0)), x, i, j),
    "a share for each pair, and then their mean: large differences count for more. Add up first, then divide.":
        _pair_by_pair,
    "absolute values in place of squares: distances are squared, and only squares add up over directions.": _unsquared,
    "each direction by itself: the share in the first k is the sum of k of them.":
        lambda x, i, j: shares_of_directions(x, i, j).diff(prepend=x.new_zeros(1)),
    "not divided by the whole: the last share must be 1.":
        lambda x, i, j: shares_of_directions(x, i, j) * (x[i] - x[j]).square().sum(),
    "pixels were taken for directions: rotate the differences into the principal ones first.":
        lambda x, i, j: _shares(torch.eye(x.shape[1], dtype=x.dtype), x, i, j),
    "the rows of Vh are the directions: the differences were multiplied with its columns.":
        lambda x, i, j: _shares(_axes_of(x - x.mean(0)).T, x, i, j),
    "the shares were sorted: directions stand in the order of the data's variances, whatever the pairs have in them.":
        lambda x, i, j: _sorted_shares(x, i, j),
    "pixels were divided by their deviations: the directions of standardised images are others.":
        lambda x, i, j: _shares(_axes_of((x - x.mean(0)) / x.std(0)), x, i, j),
    "the mean of each image was taken off: centre over the images, pixel by pixel.":
        lambda x, i, j: _shares(_axes_of(x - x.mean(1, keepdim=True)), x, i, j),
}  # fmt: skip


def _shares_by_svd(images, first, second):
    axes = torch.linalg.svd(images - images.mean(0)).Vh
    energy = (axes @ (images[first] - images[second]).T).square().sum(1)
    return energy.cumsum(0) / energy.sum()


def _shares_in_numpy(images, first, second):
    centred = images.numpy() - images.numpy().mean(0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    energy = ((centred[first.numpy()] - centred[second.numpy()]) @ axes[:, values.argsort()[::-1]]) ** 2
    return torch.from_numpy(energy.sum(0).cumsum() / energy.sum())


def _shares_one_by_one(images, first, second):
    axes = _axes_of(images - images.mean(0))
    difference = images[first] - images[second]
    parts = [(difference @ axes[:, :k]).square().sum() for k in range(1, axes.shape[1] + 1)]
    return torch.stack(parts) / difference.square().sum()


# 21.5 -----------------------------------------------------------------------------------------------------------------

MOVES = {
    "shuffled": "rank",
    "backwards": "neither",
    "from one": "neither",
    "doubled": "neither",
    "swapped": "rank",
    "around": "rank",
    "merged": "both",
    "added": "both",
}
MOVE_MISTAKES = {
    "shuffled: names are all that changes for the MIG, which asks whether two values are equal, and not which.": "both",
    "shuffled: how far apart two values are is another number now.": "neither",
    "shuffled: the other way round: new names keep what is equal, and change what is near.": "MIG",
    "backwards: |i − j| is the same when both are counted from the other end.": "rank",
    "backwards: equal values stay equal, and |i − j| stays what it is.": "both",
    "from one: one more on both sides of a difference is gone.": "both",
    "from one: a difference does not know where counting begins.": "rank",
    "doubled: all steps are twice as large, and ranks do not ask how large.": "rank",
    "doubled: equal values stay equal, and the order of differences stays what it is.": "both",
    "swapped: a name for a name, for the MIG; only distances know neighbours.": "both",
    "swapped: each of the two has other neighbours now.": "neither",
    "swapped: the other way round: two names change nothing that is equal, and neighbours.": "MIG",
    "around: which values are equal has not changed, so the MIG has not.": "both",
    "around: the first and the last value were far apart, and are neighbours now.": "neither",
    "around: the other way round: it is the distance that changes, and no value.": "MIG",
    "merged: the MIG's gap of a factor in parts is another one, as the chapter's first prediction has it.": "rank",
    "merged: the steps of the merged factor order the pairs in another way, too.": "MIG",
    "merged: the chapter's first table has two MIGs of one code, and its ranks two for one set of colours.": "neither",
    "added: the gap of a factor that the code does not hold is 0, and the mean falls.": "rank",
    "added: the mean of the ranks has one more factor in it, which the code does not follow.": "MIG",
    "added: both are means over factors, and there is one more of these.": "neither",
}

EXERCISES = {
    "21.1": Function(
        reference=gap_of_parts, cases=part_sizes, mistakes=GAP_MISTAKES,
        also_right=(_gap_by_topk, _gap_in_loops, _gap_by_maxima),
    ),
    "21.2": Function(
        reference=photographs_everywhere, cases=sprite_pairs, mistakes=PHOTOGRAPH_MISTAKES,
        also_right=(_everywhere_at_once, _everywhere_by_moments, _everywhere_in_loops),
        praise="right: at full visibility nothing of the factors is left, not even on average.",
    ),
    "21.3": Function(
        reference=noisy_sprites, cases=sprites_with_indices, mistakes=NOISE_MISTAKES,
        also_right=(_noise_into_rows, _noise_in_numpy, _noise_by_where),
    ),
    "21.4": Function(
        reference=shares_of_directions, cases=images_with_pairs, mistakes=SHARE_MISTAKES,
        also_right=(_shares_by_svd, _shares_in_numpy, _shares_one_by_one),
    ),
    "21.5": words(MOVES, ("MIG", "rank", "both", "neither"), MOVE_MISTAKES, praise="right, all eight."),
}  # fmt: skip
