"""Many scores at once, on one table of encodings."""

from collections.abc import Callable, Iterable, Mapping

import pandas

from course_lib.metrics._axis_alignment_ratio import axis_alignment_ratio, axis_orientation_ratio
from course_lib.metrics._beta_vae_score import beta_vae_score
from course_lib.metrics._dci import dci
from course_lib.metrics._dci_es import dci_es
from course_lib.metrics._distance_correlation import distance_correlation
from course_lib.metrics._downstream import downstream_logistic, downstream_trees
from course_lib.metrics._factor_vae_score import factor_vae_score
from course_lib.metrics._gaussian_total_correlation import gaussian_total_correlation
from course_lib.metrics._infomec import infomec
from course_lib.metrics._irs import irs
from course_lib.metrics._linearity_ratio import linearity_ratio
from course_lib.metrics._mig import mig
from course_lib.metrics._modularity import modularity
from course_lib.metrics._mutual_information import mutual_information
from course_lib.metrics._sap import sap
from course_lib.metrics._wasserstein_correlation import wasserstein_correlation
from course_lib.metrics.encodings import as_table
from course_lib.metrics.score import Score

SCORES = {
    score.__name__: score
    for score in (
        beta_vae_score, factor_vae_score, mig, dci, sap, modularity, irs, gaussian_total_correlation,
        wasserstein_correlation, mutual_information, distance_correlation, linearity_ratio, axis_alignment_ratio,
        axis_orientation_ratio, downstream_logistic, downstream_trees, infomec, dci_es,
    )
}  # fmt: skip
# what the book's tables show; the others are derived from these, or cost as much as all of them
DEFAULT_SCORES = (
    "beta_vae_score", "factor_vae_score", "mig", "dci", "sap", "modularity", "irs", "gaussian_total_correlation",
    "distance_correlation", "linearity_ratio", "axis_alignment_ratio",
)  # fmt: skip


class Evaluation(dict):
    """Scores by name: name → `Score`, in the order in which they were asked for."""

    def to_frame(self) -> pandas.DataFrame:
        """All named values, one a row: the columns "score", "value" (which one), "number", and "headline"."""
        rows = [
            (name, key, number, key == next(iter(score.values)))
            for name, score in self.items()
            for key, number in score.values.items()
        ]
        return pandas.DataFrame(rows, columns=["score", "value", "number", "headline"])

    def headlines(self) -> pandas.Series:
        """The headline of each score."""
        return pandas.Series({name: float(score) for name, score in self.items()}, name="headline", dtype=float)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))


def evaluate(
    encode, data=None, scores: Iterable[str | Callable] | Mapping[str, Callable] | None = None, seed: int = 0
) -> Evaluation:
    """Run `scores` on one table of encodings, which encodes each image at most once: name → `Score`.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    scores : names or functions of this package; or a mapping of names of your own to functions that are called as
        score(table, seed=seed), for example {"mig_100": partial(mig, bins=100)}. None takes the scores of the book's
        tables: all but those that are derived from them and the two downstream measures.

    Raises ValueError for a name that is no score.
    """
    table = as_table(encode, data)
    if isinstance(scores, str):
        scores = [scores]
    if scores is not None and not isinstance(scores, Iterable):
        raise ValueError(f"scores: got {scores!r}; allowed is a list of names and functions, or a mapping of them.")
    if not isinstance(scores, Mapping):
        named = list(map(_name_score, DEFAULT_SCORES if scores is None else scores))
        scores = dict(named)
        if len(scores) < len(named):
            raise ValueError(f"scores: got two of the same name among {', '.join(name for name, _ in named)}.")
    scores = {name: _name_score(score)[1] for name, score in scores.items()}
    found = Evaluation({name: score(table, seed=seed) for name, score in scores.items()})
    for name, score in found.items():
        if not isinstance(score, Score):
            raise ValueError(f"scores: {name} returned {score!r}; allowed are functions that return a Score.")
    return found


def _name_score(score: str | Callable[..., Score]) -> tuple[str, Callable[..., Score]]:
    name = score if isinstance(score, str) else getattr(score, "__name__", repr(score))
    if not callable(score) and not (isinstance(score, str) and score in SCORES):
        raise ValueError(f"scores: got {score!r}; allowed are {', '.join(SCORES)}, and functions.")
    return name, SCORES[score] if isinstance(score, str) else score
