"""Chapter 22, after 2019: a pairing, modularity, a spread over the right axis, products, an order, seven controls."""

from itertools import permutations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import relu

from course_grading.answers import row, words
from course_grading.exercise import Function, Plain, either

# 22.1 -----------------------------------------------------------------------------------------------------------------


def codes_and_factors(generator: torch.Generator) -> list[list[Tensor]]:
    """Codes in which one latent is the best for two factors, with dead latents, spare ones and turned signs."""
    return [_code(generator, spare, shift) for spare, shift in ((0, 0.0), (1, 5.0), (2, -3.0), (3, 0.0))]


def _code(generator: torch.Generator, spare: int, shift: float) -> list[Tensor]:
    """Three factors, of which the third latent knows two: the first best, and it is needed for the second."""
    noise = torch.randn(90, 8, generator=generator, dtype=torch.float64)
    noise = torch.linalg.qr(noise - noise.mean(0))[0] * 90**0.5  # correlations are exact
    factors = noise[:, :3] + 1
    mixed = -0.75 * noise[:, 0] + 0.66 * noise[:, 1]
    latents = [0.6 * noise[:, 0] - 0.8 * noise[:, 3], -0.9 * noise[:, 2] + 0.4 * noise[:, 4], mixed]
    latents[0] = latents[0] / (1 + 9 * spare)  # a narrow latent is no dead one
    latents += [torch.zeros(90, dtype=torch.float64), noise[:, 5], noise[:, 6] + 0.1 * noise[:, 1]][:spare]
    return [torch.stack(latents, 1) + shift, factors]


def best_match(codes: Tensor, factors: Tensor) -> Tensor:
    table = _table(codes, factors)
    count = factors.shape[1]
    orders = permutations(range(codes.shape[1]), count)
    return max(torch.stack([table[latent, k] for k, latent in enumerate(order)]).mean() for order in orders)


def _table(codes: Tensor, factors: Tensor, signed: bool = False) -> Tensor:
    """The correlations of latents (D) with factors (F), 0 for those that never change."""
    parts = [values - values.mean(0) for values in (codes, factors)]
    norms = [part.norm(dim=0) for part in parts]
    moved = norms[0] > 1e-9
    table = parts[0].T @ parts[1] / (norms[0].where(moved, 1).unsqueeze(1) * norms[1])
    table = table * moved.unsqueeze(1)
    return table if signed else table.abs()


def _greedy(codes, factors):
    table, found = _table(codes, factors).clone(), []
    for _ in range(factors.shape[1]):
        latent, factor = divmod(int(table.argmax()), table.shape[1])
        found.append(table[latent, factor].clone())
        table[latent], table[:, factor] = -1, -1
    return torch.stack(found).mean()


def _ranks(values: Tensor) -> Tensor:
    """Of each column; a latent that never changes stays one."""
    ranks = torch.argsort(values, dim=0, stable=True).argsort(0).double()
    return ranks.where(values.amax(0) > values.amin(0), 0)


def _best_of(table: Tensor, choose=max) -> Tensor:
    orders = permutations(range(len(table)), table.shape[1])
    return choose(torch.stack([table[latent, k] for k, latent in enumerate(order)]).mean() for order in orders)


MATCH_MISTAKES = {
    "each factor took its best latent, so that one latent may stand for two factors: in a pairing it stands for one.":
        lambda z, y: _table(z, y).amax(0).mean(),
    "each latent took its best factor, so that a factor may have several: it is factors that are given their latents.":
        lambda z, y: _table(z, y).amax(1).mean(),
    "the largest correlation was taken first, then the largest of the rest. That need not be the best pairing: try a "
    "latent that is the best for two factors.": _greedy,
    "the correlations kept their signs: a latent that falls while the factor rises knows it as well.":
        lambda z, y: _best_of(_table(z, y, signed=True)),
    "latent k was paired with factor k: which latent stands for which factor is not given.":
        lambda z, y: _table(z, y)[: y.shape[1]].diagonal().mean(),
    "the sum was divided by the number of latents: the mean is over factors.":
        lambda z, y: best_match(z, y) * y.shape[1] / z.shape[1] if z.shape[1] > y.shape[1] else best_match(z, y) * 1.0,
    "this is the worst of all pairings.": lambda z, y: _best_of(_table(z, y), min),
    "these are correlations of ranks: Pearson's, of the values, are asked for.":
        lambda z, y: best_match(_ranks(z), _ranks(y)),
    "these are squared correlations.": lambda z, y: _best_of(_table(z, y).square()),
    "the sum over factors, not their mean.": lambda z, y: best_match(z, y) * y.shape[1],
}  # fmt: skip


def _by_assignment(codes, factors):
    from scipy.optimize import linear_sum_assignment

    table = _table(codes, factors).numpy()
    return torch.tensor(table[linear_sum_assignment(-table)].sum() / factors.shape[1])


def _by_numpy(codes, factors):
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.nan_to_num(np.abs(np.corrcoef(codes.numpy().T, factors.numpy().T)))
    table = torch.from_numpy(both[: codes.shape[1], codes.shape[1] :])
    table[codes.std(0) < 1e-9] = 0
    return _best_of(table)


# 22.2 -----------------------------------------------------------------------------------------------------------------


def share_tables(generator: torch.Generator) -> list[list[Tensor]]:
    """Shares of information, with latents that know nothing; one that knows one factor, one that knows all alike."""
    tables = []
    for latents, factors, dead in ((5, 3, 1), (4, 4, 0), (6, 2, 3), (2, 5, 1)):
        table = torch.rand(latents, factors, generator=generator, dtype=torch.float64) ** 3
        table[:dead] = 0
        tables.append([table[torch.randperm(latents, generator=generator)]])
    return [*tables, [torch.eye(3, dtype=torch.float64)], [torch.zeros(3, 2, dtype=torch.float64)]]


def modularity(shares: Tensor) -> Tensor:
    found = [max(row) / sum(row) for row in shares.tolist() if sum(row) > 0]
    even = 1 / shares.shape[1]
    mean = sum(found) / len(found) if found else even
    return torch.tensor((mean - even) / (1 - even), dtype=torch.float64)


def _stretched(ratios: Tensor, factors: int) -> Tensor:
    return (ratios.mean() - 1 / factors) / (1 - 1 / factors) if len(ratios) else torch.zeros((), dtype=torch.float64)


def _stretched_from(ratios: Tensor, even: float) -> Tensor:
    return (ratios.mean() - even) / (1 - even) if len(ratios) else torch.zeros((), dtype=torch.float64)


def _ratios(shares: Tensor) -> Tensor:
    used = shares[shares.sum(1) > 0]
    return used.amax(1) / used.sum(1)


MODULARITY_MISTAKES = {
    "latents that know nothing were counted as 0: they are left out, as they were never used.":
        lambda n: _stretched((n.amax(1) / n.sum(1).clamp(min=1e-12)), n.shape[1]),
    "latents that know nothing were counted as if they knew all factors alike: they are left out.":
        lambda n: _stretched(torch.where(n.sum(1) > 0, n.amax(1) / n.sum(1), 1 / n.shape[1]), n.shape[1]),
    "not stretched: 1/F, which knowing all factors alike gets, is to be 0.":
        lambda n: _ratios(n).mean() if n.sum() > 0 else torch.zeros((), dtype=torch.float64),
    "this is along columns, the largest share in a factor: that is compactness.":
        lambda n: _stretched(_ratios(n.T), n.shape[0]),
    "stretched from 1/D, the number of latents: a latent that knows all factors alike has 1/F.":
        lambda n: _stretched_from(_ratios(n), 1 / n.shape[0]),
    "the largest share was not divided by what the latent knows in all.":
        lambda n: _stretched(n[n.sum(1) > 0].amax(1), n.shape[1]),
    "sums were divided, not averaged as ratios: a latent that knows much then counts more.":
        lambda n: _stretched((n.amax(1).sum() / n.sum()).reshape(1) if n.sum() > 0 else n[:0, 0], n.shape[1]),
}  # fmt: skip

# 22.3 -----------------------------------------------------------------------------------------------------------------

FLOOR = 1e-6


def wide_and_narrow(generator: torch.Generator) -> list[list[Tensor]]:
    """Batches of codes whose latents are wide, narrow or dead, and lie anywhere."""
    cases = []
    for size, latents, apart in ((20, 4, 0.1), (7, 7, 0.0), (50, 3, 2.0), (5, 1, 0.5)):
        spread = torch.tensor([0.2, 1.5, 0.6, 0.0, 3.0, 0.9, 0.05])[:latents]  # where it is 0, √Var has no slope
        codes = spread * torch.randn(size, latents, generator=generator) + apart * torch.arange(latents)
        cases.append([codes.requires_grad_()])
    return cases


def spread_penalty(latents: Tensor) -> Tensor:
    deviations = latents - latents.sum(0) / len(latents)
    variances = deviations.square().sum(0) / (len(latents) - 1)
    return torch.where(variances + FLOOR < 1, 1 - (variances + FLOOR).sqrt(), 0.0).sum()


def _hinge(spread: Tensor) -> Tensor:
    return relu(1 - spread).sum()


PENALTY_MISTAKES = {
    "the spread is still that of each image's latents among each other, `dim=1`: expected that of each latent over the "
    "batch.":
        lambda z: _hinge((z.var(1, correction=1 if z.shape[1] > 1 else 0) + FLOOR).sqrt()),
    "the mean over latents was taken; expected the sum.": lambda z: relu(1 - (z.var(0) + FLOOR).sqrt()).mean(),
    "the variance stands where its root was: below 1 it is smaller than the deviation.":
        lambda z: _hinge(z.var(0) + FLOOR),
    "what is missing was squared: it is paid as it is.":
        lambda z: relu(1 - (z.var(0) + FLOOR).sqrt()).square().sum(),
    "nothing stops at 0: a latent that is wide enough must not pay for a narrow one.":
        lambda z: (1 - (z.var(0) + FLOOR).sqrt()).sum(),
    "the variance divides by B; `torch.var` divides by B − 1.":
        lambda z: _hinge((z.var(0, correction=0) + FLOOR).sqrt()),
    "the 10⁻⁶ is missing under the root: for a latent that never changes it has an infinite slope.":
        either(lambda z: _hinge(z.var(0).sqrt()), lambda z: _hinge(z.var(0).sqrt() + FLOOR)),
    "this is one spread, of all numbers of the batch together: each latent has its own.":
        lambda z: _hinge((z.var() + FLOOR).sqrt()),
    "the mean square was taken without taking the mean off: where a latent lies must not count.":
        lambda z: _hinge((z.square().sum(0) / (len(z) - 1) + FLOOR).sqrt()),
}  # fmt: skip

# 22.4 -----------------------------------------------------------------------------------------------------------------


def edges(generator: torch.Generator) -> list[list[Tensor]]:
    """The images of the first row and the first column of scenes that are products; all pixels are above 0."""
    cases = []
    for rows, columns, pixels in ((4, 3, 10), (2, 5, 6), (3, 3, 1), (1, 4, 3)):
        down, across = (0.2 + torch.rand(n, pixels, generator=generator, dtype=torch.float64) for n in (rows, columns))
        cases.append([down[:1] * across, down * across[:1]])
    return cases


def products(row: Tensor, column: Tensor) -> Tensor:
    return (row.log().unsqueeze(0) + column.log().unsqueeze(1) - row[0].log()).exp()


PRODUCT_MISTAKES = {
    "that is the rule of sums, row + column − corner. In a product what the two share is divided by.":
        lambda row, column: row.unsqueeze(0) + column.unsqueeze(1) - row[0],
    "the corner's parts are in both images, and so are in their product twice: divide by the corner once.":
        lambda row, column: row.unsqueeze(0) * column.unsqueeze(1),
    "the axes are exchanged: entry [i, j] has the column's i and the row's j.":
        lambda row, column: products(row, column).transpose(0, 1),
    "divided by the corner twice.": lambda row, column: products(row, column) / row[0],
    "divided by the mean of the pixels of the corner: each pixel has a corner value of its own.":
        lambda row, column: row.unsqueeze(0) * column.unsqueeze(1) / row[0].mean(),
    "this is the geometric mean of the two images: it mixes what each has, and combines nothing.":
        lambda row, column: (row.unsqueeze(0) * column.unsqueeze(1)).sqrt(),
    "the last image was taken for the corner: row and column meet at their first.":
        lambda row, column: row.unsqueeze(0) * column.unsqueeze(1) / row[-1],
}  # fmt: skip


def _one_by_one(row, column):
    return torch.stack([torch.stack([first * second / row[0] for second in row]) for first in column])


# 22.5 -----------------------------------------------------------------------------------------------------------------

VALUES = 8


def order_fault(order) -> dict[str, str | None]:
    """Whether an order of eight values hides them from a straight line, and parts all neighbours: two parts."""
    order = torch.tensor(row(order, VALUES, "order"), dtype=torch.float64)
    if not torch.equal(order.sort().values, torch.arange(VALUES, dtype=torch.float64)):
        fault = "each of 0 to 7 has to occur once: a renumbering loses no value and invents none."
        return {"straight line": fault, "neighbours": fault}
    slope = ((torch.arange(VALUES) - 3.5) * (order - 3.5)).sum().item()
    near = int(((order[1:] - order[:-1]).abs() == 1).sum())
    line = f"straight line: the correlation with 0 to 7 is {slope / 42:.2f}; expected 0."
    pairs = f"neighbours: {near} of the 7 pairs of neighbours are neighbours still."
    return {"straight line": line if slope else None, "neighbours": pairs if near else None}


ORDER = [0, 5, 7, 2, 4, 6, 1, 3]
ORDER_MISTAKES = {
    "each of 0 to 7 has to occur once": either([0] * VALUES, [1, 2, 3, 4, 5, 6, 7, 8]),
    "the correlation with 0 to 7 is 1.00": [*range(VALUES)],
    "the correlation with 0 to 7 is -1.00": [*range(VALUES)][::-1],
    "the correlation with 0 to 7 is 0.67": [0, 2, 4, 6, 1, 3, 5, 7],
    "1 of the 7 pairs of neighbours are neighbours still.": [0, 3, 7, 6, 4, 2, 5, 1],
    "expected": [0, 2, 4, 6],
}

# 22.6 -----------------------------------------------------------------------------------------------------------------

CONTROLS = {
    "components": "same code after PCA",
    "pattern": "same pattern along one factor",
    "corner": "same number held out anywhere",
    "linear": "explicitness",
    "sums": "ordinary decoder, same latents",
    "rounding": "same network without rounding",
    "uncorrelated": "full support",
}
WORDS = (*CONTROLS.values(),)
CONTROLS_MISTAKES = {
    "components: decorrelating alone may have brought the gain.": "same network without rounding",
    "pattern: any pattern may have harmed, whatever it followed.": "full support",
    "corner: the decoder may simply have had too few images.": "ordinary decoder, same latents",
    "linear: DCI does not ask how large a reader it takes.": "same code after PCA",
    "sums: the perfect latents alone may have done it.": "same number held out anywhere",
    "rounding: small networks with a strong decay may be modular without it.": "explicitness",
    "uncorrelated: on correlated data a code without correlation is not the factors.": "same pattern along one factor",
}

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "22.1": Function(
        reference=best_match, cases=codes_and_factors, mistakes=MATCH_MISTAKES,
        also_right=(_by_assignment, _by_numpy, lambda z, y: _best_of(_table(z, y))),
    ),
    "22.2": Function(
        reference=modularity, cases=share_tables, mistakes=MODULARITY_MISTAKES,
        also_right=(
            lambda n: _stretched(_ratios(n), n.shape[1]),
            lambda n: _stretched((n / n.sum(1, keepdim=True)).amax(1)[n.sum(1) > 0], n.shape[1]),
            lambda n: modularity(torch.stack([each for each in n if each.any()])) if n.any() else n.sum(),
        ),
    ),
    "22.3": Function(
        reference=spread_penalty, cases=wide_and_narrow, mistakes=PENALTY_MISTAKES,
        also_right=(
            lambda z: _hinge((z.var(0) + FLOOR).sqrt()),
            lambda z: torch.stack([relu(1 - (latent.var() + FLOOR).sqrt()) for latent in z.T]).sum(),
            lambda z: (1 - (torch.var(z, dim=0) + FLOOR).sqrt()).clamp(min=0).sum(),
        ),
    ),
    "22.4": Function(
        reference=products, cases=edges, mistakes=PRODUCT_MISTAKES,
        also_right=(
            _one_by_one,
            lambda row, column: row * column.unsqueeze(1) / row[0],
            lambda row, column: torch.einsum("jp,ip->ijp", row, column / column[0]),
        ),
    ),
    "22.5": Plain(
        fault=order_fault, mistakes=ORDER_MISTAKES,
        also_right=(torch.tensor(ORDER), np.array(ORDER), ORDER[::-1], tuple(ORDER)),
        praise="right: each value is where it was, for a table, and nowhere, for a line.",
    ),
    "22.6": words(
        CONTROLS, WORDS, CONTROLS_MISTAKES,
        praise="right: each control is what would have come out the same if the claim were wrong.",
    ),
}  # fmt: skip
