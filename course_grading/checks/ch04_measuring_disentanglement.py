"""Chapter 4, measuring disentanglement: two scores and their edges, what scores miss, a code that fools one.

References go entry by entry, where an answer is expected to use a tensor's operations. That the scores of 04.3 and the
table of 04.6 are what the library gives is tested.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from course_grading.answers import number, tensor, words
from course_grading.calling import Outcome
from course_grading.exercise import BLANK, Answer, Exercise, Function, Unfit, Verdict, as_in_the_grader, either
from course_lib.data import XYSquares
from course_lib.metrics import Score, mig

# 04.1 -----------------------------------------------------------------------------------------------------------------


def matrices(generator: torch.Generator) -> list[list[Tensor]]:
    """Information of latents (rows) on factors, in nats: typical, one latent, square, rows dead, ties, all dead."""
    shapes = ((5, 4), (1, 3), (4, 4), (3, 2))
    cases = [[torch.rand(shape, generator=generator, dtype=torch.float64) + 0.05] for shape in shapes]
    dead = torch.rand(5, 3, generator=generator, dtype=torch.float64) + 0.05
    dead[1] = dead[4] = 0
    tied = torch.tensor([[1.0, 1.0, 0.5], [2.0, 2.0, 2.0], [0.0, 1.0, 0.25]], dtype=torch.float64)
    nothing = torch.zeros(2, 3, dtype=torch.float64)
    perfect = torch.eye(4, dtype=torch.float64)[:, torch.randperm(4, generator=generator)] * 2.08
    return [*cases, [dead], [perfect], [tied], [nothing], [cases[0][0].float()]]


def modularity_of(information: Tensor) -> Tensor:
    found = []
    for row in information.tolist():
        best = max(row)
        others = sum(value**2 for value in row) - best**2
        if best > 0:
            found.append(1 - others / (best**2 * (len(row) - 1)))
    return torch.tensor(sum(found) / max(len(found), 1), dtype=information.dtype)


def _modularity(i: Tensor, *, power=2, of=None, template=None) -> Tensor:
    """Each row's score with a part replaced: the power, what stands beside the best below the fraction, the best."""
    best = i.amax(1)
    others = (i**power).sum(1) - best**power
    template = best**power if template is None else template
    found = 1 - others / (template * (i.shape[1] - 1 if of is None else of))
    return torch.where(best > 0, found, torch.zeros_like(found))


def _entropy(i: Tensor) -> Tensor:
    share = i / i.sum(1, keepdim=True)
    return 1 + torch.xlogy(share, share).sum(1) / math.log(i.shape[1])


def _living(rows: Tensor, i: Tensor) -> Tensor:
    """The mean over rows that are not all 0; 0 if there are none."""
    alive = i.amax(1) > 0
    return torch.where(alive, rows, 0).sum() / alive.sum().clamp(min=1)


MODULARITY_MISTAKES = {
    "the columns were read: a latent is a row, and modularity asks of each latent how many factors it carries.":
        lambda i: _living(_modularity(i.T), i.T),
    "the information is not squared: it is a ratio of squares, in both parts.":
        lambda i: _living(_modularity(i, power=1), i),
    "divided by F: a latent's best factor is not among the others, so there are F − 1 of them.":
        lambda i: _living(_modularity(i, of=i.shape[1]), i),
    "F − 1 is missing: with three other factors as strong, it must end at 0.":
        lambda i: _living(_modularity(i, of=1), i),
    "not divided by the square of the largest: a latent that knows little would pass for modular.":
        lambda i: _living(_modularity(i, template=torch.ones_like(i[:, 0])), i),
    "the best factor is still in the sum: only the others count against a latent.":
        lambda i: _living(1 - (i**2).sum(1) / (i.amax(1)**2 * (i.shape[1] - 1)), i),
    "this is the deviation itself; modularity is 1 minus it.": lambda i: _living(1 - _modularity(i), i),
    "right wherever all latents know something. A dead latent has a row of zeros, where 0 / 0 is not a number, and "
    "takes the mean with it: leave it out.":
        lambda i: (1 - ((i**2).sum(1) - i.amax(1)**2) / (i.amax(1)**2 * (i.shape[1] - 1))).mean(),
    "a dead latent counts as 0: two of them would take a perfect code from 1 to ⅔. Leave them out of the mean.":
        lambda i: _modularity(i).mean(),
    "a dead latent counts as perfectly modular: a model would be paid for switching latents off. Leave them out.":
        lambda i: torch.where(i.amax(1) > 0, _modularity(i), 1).mean(),
    "right but for a code in which nothing is alive: the mean of no latents is not a number. It counts 0.":
        lambda i: _modularity(i)[i.amax(1) > 0].mean(),
    "only the second largest was looked at: all other factors count.":
        lambda i: _living(1 - (i.topk(2, 1)[0][:, 1] / i.amax(1))**2, i),
    "latents that know more count for more: here all living latents count alike.":
        lambda i: (_modularity(i) * i.amax(1)).sum() / i.amax(1).sum().clamp(min=1e-30),
    "this is DCI's way to read a row, 1 minus an entropy; modularity uses squares.": lambda i: _living(_entropy(i), i),
    "one number for each latent: expected the mean over those that are alive.": _modularity,
}  # fmt: skip


def _by_masking_the_best(i):
    alive = i[i.any(1)]
    best = one_hot(alive.argmax(1), i.shape[1]).bool()
    share = alive / alive[best].unsqueeze(1)
    deviation = share.masked_fill(best, 0).square().sum(1) / (i.shape[1] - 1)
    return torch.cat([1 - deviation, i.new_zeros(0 if len(alive) else 1)]).mean()


def _by_lists(i):
    rows = [np.sort(row / row.max()) for row in i.numpy() if row.max() > 0]
    scores = [1 - np.mean(row[:-1] ** 2) for row in rows]
    return torch.tensor(np.mean(scores or [0.0]), dtype=i.dtype)


MODULARITY_RIGHT = (
    _by_masking_the_best,
    lambda i: (1 - ((i / i.amax(1, keepdim=True)) ** 2).sum(1).sub(1) / (i.shape[1] - 1)).nanmean().nan_to_num(0),
    _by_lists,
)

# 04.2 -----------------------------------------------------------------------------------------------------------------

GROUPS, MEMBERS = 40, 8  # groups of images that share a factor, and images in each
SPREADS = (  # of each latent over all images, and the least share of it that latents keep within a group
    ((1.0, 0.0, 0.2, 0.02, 3.0, 0.0, 1e-4), 0.05),  # two dead latents and two collapsed ones
    ((0.5, 1.0, 2.0), 0.05),
    ((40.0, 1.0, 0.5, 0.0, 1.1), 0.05),  # one on a large scale
    ((0.03, 0.02, 0.0, 0.025), 0.05),  # all on a small one
    ((0.03, 0.0005, 0.02, 0.01), 0.05),
    ((0.0, 3.0, 0.0, 2.0), 0.05),
    ((2.0, 0.05, 0.049, 0.055, 0.0), 0.05),  # at the limit, just below it and just above
    ((0.5, 0.024, 0.026, 0.028, 0.018), 0.05),
    ((1.0, 0.0, 2.0), 4.0),  # within a group everything varies more than over all images
)


def groups(generator: torch.Generator) -> list[list[Tensor]]:
    """Latents of groups, and each latent's spread over all images; later latents keep less of it within a group."""
    cases = []
    for spread, least in SPREADS:
        spread = torch.tensor(spread, dtype=torch.float64)
        share = torch.rand(GROUPS, 1, len(spread), generator=generator, dtype=torch.float64) + least
        share = share * torch.linspace(1, 0.4, len(spread), dtype=torch.float64)
        noise = torch.randn(GROUPS, MEMBERS, len(spread), generator=generator, dtype=torch.float64)
        cases.append([0.3 + spread * share * noise, spread])
    cases[1] = [part.float() for part in cases[1]]
    return cases


def least_varying(latents: Tensor, spread: Tensor) -> Tensor:
    scale = spread.tolist()
    limit = 0.05 * min(1.0, max(scale))
    kept = [place for place, value in enumerate(scale) if value > 0 and value >= limit]
    found = []
    for group in latents.double().numpy():
        ratios = {place: float(group[:, place].var()) / scale[place] ** 2 for place in kept}
        found.append(min(ratios, key=ratios.get))
    return torch.tensor(found)


def _kept(spread: Tensor, share: float = 0.05, largest=Tensor.max) -> Tensor:
    return (spread > 0) & (spread >= share * largest(spread).clamp(max=1))


def _vote(kept=_kept, ratio=lambda latents, spread: latents.var(1) / spread**2, without=torch.inf):
    """The vote with a part replaced: who has one, what is compared, what those get who have none."""
    return lambda latents, spread: torch.where(kept(spread), ratio(latents, spread), without).argmin(1)


VOTE_MISTAKES = {
    "dead latents still win the vote. Their ratio is 0 / 0, which is not a number, and argmin puts that first. A 0 in "
    "its place, or something small below the fraction, does not help: 0 is the smallest ratio there can be.":
        lambda z, s: (z.var(1) / s**2).argmin(1),
    "dead latents are out, but a collapsed one, with a spread below the limit, still votes.": _vote(lambda s: s > 0),
    "the limit is relative to the largest spread alone: one latent on a large scale throws the others out. Take the "
    "smaller of that spread and 1.":
        _vote(lambda s: (s > 0) & (s >= 0.05 * s.max())),
    "the limit is absolute: of a code on a small scale nothing is left to vote. Where the largest spread is below 1, "
    "it takes the place of the 1.":
        _vote(lambda s: s >= 0.05),
    'a latent with exactly the spread of the limit has a vote: "at least" is >=.':
        _vote(lambda s: (s > 0) & (s > 0.05 * s.max().clamp(max=1))),
    "the limit is another than 0.05 times the smaller of 1 and the largest spread.":
        either(
            *(_vote(lambda s, share=share: _kept(s, share)) for share in (0.01, 0.04, 0.06, 0.1, 0.15)),
            *(_vote(lambda s, usual=usual: _kept(s, largest=usual)) for usual in (Tensor.mean, Tensor.median)),
        ),
    "those without a vote got the ratio 1, which wins where all others vary more: it has to be larger than any.":
        _vote(without=1.0),
    "the variances are not divided by anything: the latent on the smallest scale wins.":
        _vote(ratio=lambda z, s: z.var(1)),
    "divided by the spread: a variance is measured against the spread squared.":
        _vote(ratio=lambda z, s: z.var(1) / s),
    "this is the latent that varies most; the shared factor's varies least.":
        _vote(ratio=lambda z, s: -z.var(1) / s**2),
    "the place was counted among the latents that are left: give the place among all of them.":
        lambda z, s: (z[:, :, _kept(s)].var(1) / s[_kept(s)] ** 2).argmin(1),
    "the variance was taken over the groups: the images of one group are axis 1.":
        _vote(ratio=lambda z, s: z.var(0) / s**2),
    "the spread was measured again on these groups: use the one that is given, of all images.":
        _vote(ratio=lambda z, s: z.var(1) / z.flatten(0, 1).var(0)),
}  # fmt: skip


def _by_choosing(z, s):
    (places,) = torch.where(_kept(s))
    return places[(z[:, :, places].std(1) / s[places]).min(1).indices]


def _by_groups(z, s):
    voters = _kept(s).numpy()
    scaled = z.numpy()[:, :, voters] / s.numpy()[voters]
    return torch.tensor([int(np.flatnonzero(voters)[group.var(0).argmin()]) for group in scaled])


VOTE_RIGHT = (
    _by_choosing,
    lambda z, s: (z.var(1, correction=0) / s.square()).masked_fill(~_kept(s), 1e30).argmin(1),
    _by_groups,
)

# 04.3 -----------------------------------------------------------------------------------------------------------------

FAULTS = {  # score (of the fault in the task) → what happens, and why the other answer is wrong
    "BetaVAE": (
        "stays",
        "noise stands still for no factor, so the last factor is still the only one under which nothing stands still.",
    ),
    "modularity": (
        "falls",
        "the noise is a latent too, and alive: the little it seems to know is spread over all factors. It counts like "
        "any other.",
    ),
    "MIG": (
        "falls",
        "a sum tells something of each of its terms, so there is a second latent that knows them, and the gap closes.",
    ),
    "FactorVAE": (
        "stays",
        "with a factor fixed its own latent does not vary at all. A sum still does, with the other term: no votes.",
    ),
    "FactorVAE scaled": (
        "stays",
        "each variance is divided by the latent's own over all images; scales do not matter.",
    ),
    "distance": (
        "falls",
        "the step from 6 to 7 is now longer than the way from 0 to 6, and this score ranks distances.",
    ),
    "linearity": ("stays", "equal or not, all steps of a factor lie along one line, and this score asks no more."),
    "DCI-C": (
        "falls",
        "the predictor can use either copy, so the column of each of the two factors is shared between latents.",
    ),
}
BLIND = {score: right for score, (right, _) in FAULTS.items()}
BLIND_MISTAKES = {f"{score}: {why}": "stays" if right == "falls" else "falls" for score, (right, why) in FAULTS.items()}

# 04.4 -----------------------------------------------------------------------------------------------------------------

NEARLY, USELESS = 0.95, 0.2  # at least this MIG, and at most this share of each factor's variance
KNOWN, MIXED = 0.9, 0.05  # shares of a factor's entropy: that a latent has it; that it has anything of it
IMAGES, MOST = 4096, 64  # images of the grid, and latents that a code may have

READ = (
    "MIG is high enough, but a linear model still reads the code. Whatever keeps the order of the values, or turns it "
    "round, is still a good code: stretching is not enough."
)
TWICE = "Two latents know the same factor: then there is no gap."
MIXTURE = "Every image has a code of its own, but no single latent knows a factor: they are mixed."
CROWDED = "A latent knows its factor, but its values crowd into few of the 20 bins, all of equal width: space them."
LOST = "For one factor no latent knows all of its values: were some merged, or left out, or drowned in noise?"
CONSTANT = "The code is constant."
LOTS = "Two calls with the same factors gave different codes: a code must not be drawn by lot."
ROWS = f"one row for each image, n from 1 to {MOST}"


@dataclass(frozen=True, kw_only=True)
class Construction(Exercise):
    """An exercise whose answer is a function from the factors of all images to a code with two properties."""

    @as_in_the_grader
    def judge(self, answer: Answer, seed: int) -> Verdict:
        space = XYSquares(2, 2, squares=2, image_size=16).space
        factors = space.factors(torch.randperm(len(space), generator=torch.Generator().manual_seed(seed)))
        calls = [answer.call([factors], None, seed + place) for place in (0, 1)]
        if calls[0].blank:
            return Verdict(False, BLANK)
        try:
            first, second = map(_code, calls)
            found = code_fault(first.numpy(), factors.numpy()) if torch.equal(first, second) else LOTS
        except Unfit as unfit:
            found = str(unfit)
        return Verdict(found is None, found or self.praise)


def _code(call: Outcome) -> Tensor:
    """The code that a call gave, in float64."""
    if call.error is not None:
        raise Unfit(f"on factors ({IMAGES}, 4): {call.error}.")
    if call.value is None:
        raise Unfit("the function returned nothing: is there a `return`?")
    code = tensor(call.value, (IMAGES, None), ROWS).double()
    if not 1 <= code.shape[1] <= MOST:
        raise Unfit(f"got the shape {tuple(code.shape)}; expected a tensor of shape ({IMAGES}, n): {ROWS}.")
    if not code.abs().max() <= 1e100:
        raise Unfit("the code holds numbers beyond 1e100.")
    return code


def code_fault(latents: np.ndarray, factors: np.ndarray) -> str | None:
    """Which of the two properties the code (n, D) lacks, and why; None if it has both."""
    _, exponents = np.frexp(np.ptp(latents, axis=0))
    latents = np.ldexp(latents, -exponents)  # the same code, to the last digit, with ranges whose squares are numbers
    score = mig.from_samples(latents, factors)
    if not float(score) >= NEARLY:
        return f"{_lost(score, latents, factors)} (MIG {float(score):.2f}; expected is at least {NEARLY}.)"
    read = explained(latents, factors).max()
    return None if read <= USELESS else f"{READ} (R² {read:.2f}; expected is at most {USELESS}.)"


def explained(latents: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """R² of a linear regression of each factor on all latents and a constant: (F,)."""
    spread = np.where(np.ptp(latents, axis=0) > 0, latents.std(0), 1)
    inputs = np.column_stack([(latents - latents.mean(0)) / spread, np.ones(len(latents))])
    rest = factors - inputs @ np.linalg.lstsq(inputs, factors, rcond=None)[0]
    return 1 - rest.var(0) / factors.var(0)


def _lost(score: Score, latents: np.ndarray, factors: np.ndarray) -> str:
    """Why the gap of some factor is small: it is there twice, or mixed with others, not there, or outside the bins."""
    if np.ptp(latents, axis=0).max() == 0:
        return CONSTANT
    worst = min((name for name in score.values if name != "mig"), key=score.values.get)
    second, best = np.sort([0, *score.matrix[worst]])[-2:] / np.log(8)
    if second > KNOWN:
        return TWICE
    place = list(score.matrix.columns).index(worst)
    pairs = np.column_stack([latents[:, score.matrix[worst].argmax()], factors[:, place]])
    values = len(np.unique(pairs[:, 0]))
    if values == len(np.unique(pairs, axis=0)) <= 64:  # each value of the latent stands for one of the factor
        return CROWDED
    bijective = len(np.unique(latents.round(9), axis=0)) == len(latents)
    return MIXTURE if bijective and best > MIXED else LOST


_ORDER = torch.tensor([3.0, 6, 1, 4, 7, 0, 5, 2])
_TURN = torch.block_diag(*[0.5**0.5 * torch.tensor([[1.0, -1], [1, 1]])] * 2)

CODE_MISTAKES = {
    READ:
        either(
            lambda y: y / 8,
            lambda y: -((y.double() + 3) ** 1.5),
            lambda y: y.double() * 1e-200,
            lambda y: y.double() * 5e-324,
        ),
    CROWDED: either(lambda y: y.double().exp(), lambda y: (y.double() - 3.4) ** 2),
    MIXTURE: lambda y: y.float() @ _TURN,
    TWICE: lambda y: torch.cat([_ORDER[y], _ORDER[y]], 1),
    LOST:
        either(
            lambda y: (y.double() - 3.5).abs(),
            lambda y: _ORDER[y[:, :3]],
            lambda y: torch.rand(y.shape, generator=torch.Generator().manual_seed(0)),
        ),
    CONSTANT: lambda y: 0.0 * y,
    LOTS: lambda y: torch.rand(y.shape),
    f"expected a tensor of shape ({IMAGES}, n): {ROWS}.":
        either(lambda y: _ORDER[y].sum(1), lambda y: _ORDER[y].repeat(1, MOST), lambda y: _ORDER[y][:, :0]),
}  # fmt: skip

CODE_RIGHT = (
    lambda y: torch.tensor([3, 7, 1, 5, 0, 4, 2, 6])[y],
    lambda y: torch.tensor([4.0, 1, 6, 3, 0, 7, 2, 5], requires_grad=True)[y],
    lambda y: (_ORDER[y].double() - 3) * torch.tensor([1e-200, -1e90, 1.0, 5e-324], dtype=torch.float64),
    lambda y: torch.cat([0 * y, _ORDER[y], torch.ones_like(y)], 1),
)

# 04.5 -----------------------------------------------------------------------------------------------------------------

ENOUGH = 19 * 39 / (2 * 0.01 * math.log(40))
ENOUGH_MISTAKES = {
    "the 2 under the fraction was forgotten.": 2 * ENOUGH,
    "the 2 was counted twice.": ENOUGH / 2,
    "the −1s are missing: it is (b − 1)(f − 1), 19 · 39.": 20 * 40 / (0.02 * math.log(40)),
    "the entropy is in bits, the excess in nats: use the natural logarithm.": 19 * 39 / (0.02 * math.log2(40)),
    "the excess was made 0.01 nats; expected a hundredth of the factor's entropy.": 19 * 39 / 0.02,
    "this is for a tenth of the entropy, not a hundredth.": 19 * 39 / (0.2 * math.log(40)),
    "this is for all of the entropy: at so few images noise knows the factor.": 19 * 39 / (2 * math.log(40)),
    "this is for a factor of 8 values: orientation has 40.": 19 * 7 / (0.02 * math.log(8)),
    "this is for a factor of 20 values: orientation has 40.": 19 * 19 / (0.02 * math.log(20)),
    "divided by the number of values: the entropy of 40 equal chances is their logarithm.": 19 * 39 / (0.02 * 40),
}

# 04.6 -----------------------------------------------------------------------------------------------------------------

SUSPECTS = ("missing", "turned", "untrained", "twice", "merged", "reordered")
CULPRITS = dict(zip("ABCDEF", ("twice", "turned", "reordered", "untrained", "missing", "merged"), strict=True))
CULPRITS_MISTAKES = {
    "A: its distance is perfect, so the order is there. Which score has fallen to 0, and what does a gap of 0 mean?":
        "reordered",
    "A: nothing is missing, FactorVAE would see it. A gap of 0 with perfect rows: what is that?": "missing",
    "A: its latents serve one factor each, as modularity and DCI-D say; two merged ones would not.": "merged",
    "B: an untrained network has no FactorVAE score of 1. What leaves that at 1, and MIG near .2?": "untrained",
    "B: duplicates leave no gap at all, and modularity at 1. Both do not fit.": "twice",
    "B: a merged code has a FactorVAE score below 1, since two factors share a latent.": "merged",
    "C: a rotation leaves distance at 1 and lowers MIG; here it is the other way round.": "turned",
    "C: FactorVAE and MIG would see a missing factor. Only one score has fallen: what does it ask?": "missing",
    "C: MIG is 1, so there is a gap.": "twice",
    "D: a rotated code has all factors, in order: distance 1. Here everything is low but one score.": "turned",
    "D: reordered values leave everything but distance where it was.": "reordered",
    "D: a missing factor leaves BetaVAE and modularity at 1.": "missing",
    "E: merged factors are still there, so distance would be 1; and modularity would not be.": "merged",
    "E: distance has fallen, and so have FactorVAE, to (F − 1)/F, and MIG. One cause for all?": "reordered",
    "E: a duplicated code has all factors, so FactorVAE would be 1.": "twice",
    "F: a missing factor makes the geometric mean of distance 0.": "missing",
    "F: a rotation lowers DCI-C as much as DCI-D. Here the columns are perfect and a row is not.": "turned",
    "F: duplicates lower the columns, DCI-C, and leave the rows.": "twice",
}  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "04.1": Function(
        reference=modularity_of, cases=matrices, mistakes=MODULARITY_MISTAKES, also_right=MODULARITY_RIGHT
    ),
    "04.2": Function(reference=least_varying, cases=groups, mistakes=VOTE_MISTAKES, also_right=VOTE_RIGHT),
    "04.3": words(
        BLIND,
        ("falls", "stays"),
        BLIND_MISTAKES,
        praise="right. Now run the next cell and see how far each of them falls.",
    ),
    "04.4": Construction(
        mistakes=CODE_MISTAKES, also_right=CODE_RIGHT, praise="right: MIG is fooled, and a linear model is lost."
    ),
    "04.5": number(
        ENOUGH, ENOUGH_MISTAKES, relative=0.01, praise="right: about 10,000, which is what the literature takes."
    ),
    "04.6": words(CULPRITS, SUSPECTS, CULPRITS_MISTAKES, praise="right: every fault has its pattern."),
}
