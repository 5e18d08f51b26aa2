"""Exercise 04.4: a code that MIG calls all but perfect and that a linear model cannot read."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from course_grading.compare import shape_of
from course_grading.exercise import BLANK, Answer, Exercise, Verdict, Wrong
from course_grading.wire import Other
from course_lib.data import XYSquares
from course_lib.metrics import Score, mig

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
SHAPE = f"A tensor ({IMAGES}, D) is wanted, one row for each image, with D from 1 to {MOST}."


@dataclass(frozen=True, kw_only=True)
class Construction(Exercise):
    """An exercise whose answer is a function from the factors of all images to a code with two properties."""

    praise: str = "right: MIG is fooled, and a linear model is lost."

    def judge(self, answer: Answer, seed: int) -> Verdict:
        space = XYSquares(2, 2, squares=2, image_size=16).space
        factors = space.factors(torch.randperm(len(space), generator=torch.Generator().manual_seed(seed)))
        calls = [answer.call([factors], None, seed + place) for place in (0, 1)]
        if calls[0].blank:
            return Verdict(False, BLANK)
        for call in calls:
            found = f"on factors ({IMAGES}, 4): {call.error}." if call.error else _unusable(call.value)
            if found is not None:
                return Verdict(False, found)
        first, second = (call.value for call in calls)
        if first.shape != second.shape or not torch.equal(first, second):
            return Verdict(False, LOTS)
        found = diagnosis(first.double().numpy(), factors.numpy())
        return Verdict(found is None, found or self.praise)


def diagnosis(latents: np.ndarray, factors: np.ndarray) -> str | None:
    """Which of the two properties the code (n, D) lacks, and why; None if it has both."""
    score = mig.from_samples(latents, factors)
    if float(score) < NEARLY:
        return f"{_lost(score, latents, factors)} (MIG {float(score):.2f}; at least {NEARLY} is wanted.)"
    read = explained(latents, factors).max()
    return f"{READ} (R² {read:.2f}; at most {USELESS} is wanted.)" if read > USELESS else None


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


def _unusable(code) -> str | None:
    if code is None:
        return f"the function returned nothing; is there a `return`? {SHAPE}"
    if not isinstance(code, Tensor):
        return f"got a {code.type_name if isinstance(code, Other) else type(code).__name__}. {SHAPE}"
    if code.ndim != 2 or len(code) != IMAGES or not 1 <= code.shape[1] <= MOST:
        return f"got the shape {shape_of(code.shape)}. {SHAPE}"
    if code.is_complex() or not code.double().isfinite().all():
        return "the code holds NaN, infinite or complex numbers."
    if code.double().abs().max() > 1e100:
        return "the code holds numbers beyond 1e100."
    return None


_ORDER = torch.tensor([3.0, 6, 1, 4, 7, 0, 5, 2])
_TURN = torch.block_diag(*[0.5**0.5 * torch.tensor([[1.0, -1], [1, 1]])] * 2)

WRONG = (
    Wrong(lambda y: y / 8, READ),
    Wrong(lambda y: -((y.double() + 3) ** 1.5), READ),
    Wrong(lambda y: y.double().exp(), CROWDED),
    Wrong(lambda y: (y.double() - 3.4) ** 2, CROWDED),
    Wrong(lambda y: y.float() @ _TURN, MIXTURE),
    Wrong(lambda y: torch.cat([_ORDER[y], _ORDER[y]], 1), TWICE),
    Wrong(lambda y: (y.double() - 3.5).abs(), LOST),
    Wrong(lambda y: _ORDER[y[:, :3]], LOST),
    Wrong(lambda y: torch.rand(y.shape, generator=torch.Generator().manual_seed(0)), LOST),
    Wrong(lambda y: 0.0 * y, CONSTANT),
    Wrong(lambda y: torch.rand(y.shape), LOTS),
    Wrong(lambda y: _ORDER[y].sum(1), SHAPE),
)
