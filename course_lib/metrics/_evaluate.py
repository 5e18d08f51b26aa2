"""Many scores at once, on one table of encodings."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import pandas
import torch

from course_lib.arguments import check_integers
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
from course_lib.metrics.confidence import affordable, half_sample_interval
from course_lib.metrics.encodings import as_table, finite_latents
from course_lib.metrics.samples import Samples, as_samples, generator
from course_lib.metrics.score import Score, with_twin

SCORES = {
    score.__name__: score
    for score in (
        beta_vae_score, factor_vae_score, mig, dci, sap, modularity, irs, gaussian_total_correlation,
        wasserstein_correlation, mutual_information, distance_correlation, linearity_ratio, axis_alignment_ratio,
        axis_orientation_ratio, downstream_logistic, downstream_trees, infomec, dci_es,
    )
}  # fmt: skip
# what the book's tables show
DEFAULT_SCORES = (
    "beta_vae_score", "factor_vae_score", "mig", "dci", "sap", "modularity", "irs", "gaussian_total_correlation",
    "distance_correlation", "linearity_ratio", "axis_alignment_ratio",
)  # fmt: skip
TWINS = {name: score.from_samples for name, score in SCORES.items() if hasattr(score, "from_samples")}
GRID = ("distance_correlation", "linearity_ratio", "axis_alignment_ratio", "axis_orientation_ratio")
# those that take milliseconds, so that a hundred halves of the rows take seconds
INTERVALS = (
    "mig", "modularity", "irs", "gaussian_total_correlation", "wasserstein_correlation", "mutual_information",
)  # fmt: skip
TRAVERSALS = "no interval: the score is of whole traversals, and half of the rows have none."
COSTLY = "no interval: each half would train classifiers anew, which is done only where it is asked for."
UNASKED = "no interval: none was asked for."


class Evaluation(dict):
    """Scores by name: name → `Score`, in the order in which they were asked for.

    Those of a table (`evaluate.from_samples`) come with more; without one these are empty:

    controls : name → the `Score` of the same table with the rows of the latents shuffled.
    intervals : name → `Interval`, for the scores that have one.
    notes : name → why a score has no interval, or why it could not be computed and is missing.
    """

    def __init__(self, scores=(), controls=(), intervals=(), notes=()):
        super().__init__(scores)
        self.controls, self.intervals, self.notes = dict(controls), dict(intervals), dict(notes)

    def beside_controls(self) -> pandas.DataFrame:
        """One row for each score: "value", "shuffled", and the interval, "low" and "high" (NaN without one)."""
        rows = {
            name: (float(score), float(self.controls.get(name, "nan")), *self.intervals.get(name, (None,) * 3)[:2])
            for name, score in self.items()
        }
        return pandas.DataFrame.from_dict(rows, "index", float, ["value", "shuffled", "low", "high"])

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


def from_samples(
    latents,
    factors,
    scores: Iterable[str] | None = None,
    names=None,
    seed: int = 0,
    *,
    intervals: Iterable[str] | None = None,
    halves: int | None = None,
) -> Evaluation:
    """Run scores on latents (n, D) and integer factors (n, F), each beside its control and, where it can, an interval.

    scores : names among those that have a twin on arrays. None takes all, and leaves out those that this table is not
        made for, such as the three distance scores where it holds no whole traversals: `notes` says why.
    names : of the factors, as in `as_samples`.
    seed : of the test points, of the shuffled rows and of the halves.
    intervals : names of the scores that get an interval (`half_sample_interval`: over rows, not over trainings). None
        takes those that cost milliseconds; an empty list none.
    halves : how many halves of the rows an interval is made from, from 2. None: 100, and fewer from 20,000 rows.

    The control is the score after the rows of the latents are shuffled, by `torch.randperm` with `seed`: what it gets
    is no knowledge of the factors. Raises ValueError for a name that is no such score, and for a score that was named
    and that the table is not made for.
    """
    chosen = _among(TWINS, TWINS if scores is None else scores, "scores")
    chance = _among(
        [name for name in TWINS if name not in GRID], INTERVALS if intervals is None else intervals, "intervals"
    )
    samples, found = as_samples(latents, factors, names), Evaluation()
    (halves,) = check_integers(2, halves=affordable(len(samples.latents)) if halves is None else halves)
    raw = finite_latents(latents, None, "latents")  # in their own precision, which says what rounding is
    order = torch.randperm(len(raw), generator=generator(seed))
    for name in chosen:
        twin = _with_options(TWINS[name], names=samples.names, seed=seed)
        try:
            found[name], control = twin(raw, samples.factors), twin(raw[order], samples.factors)
        except ValueError as error:
            if scores is not None:
                raise
            found.pop(name, None)
            found.notes[name] = str(error)
            continue
        found.controls[name] = control
        if name in chance:
            _add_interval(found, name, samples, halves, seed)
        else:
            found.notes[name] = TRAVERSALS if name in GRID else COSTLY if intervals is None else UNASKED
    return found


def _add_interval(found: Evaluation, name: str, samples: Samples, halves: int, seed: int) -> None:
    """Enter the interval of a score, or why there is none."""
    options = {"explicitness": False} if name == "modularity" else {}
    twin = _with_options(TWINS[name], seed=seed, **options)
    try:
        found.intervals[name] = half_sample_interval(twin, samples, halves, seed)
    except ValueError as error:
        found.notes[name] = str(error)


def _with_options(twin: Callable[..., Score], **options) -> Callable[..., Score]:
    """`twin` with those of the options that it takes."""
    return partial(twin, **{key: value for key, value in options.items() if key in inspect.signature(twin).parameters})


def _among(allowed: Iterable[str], names: Iterable[str] | str, argument: str) -> list[str]:
    """`names` as a list, or a ValueError naming the first that is not among the allowed ones, or comes twice."""
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in allowed:
            raise ValueError(f"{argument}: got {name!r}; allowed are {', '.join(allowed)}.")
    return list(dict.fromkeys(names))


@with_twin(from_samples)
def evaluate(
    encode, data=None, scores: Iterable[str | Callable] | Mapping[str, Callable] | None = None, seed: int = 0
) -> Evaluation:
    """Run `scores` on one table of encodings, which encodes each image at most once: name → `Score`.

    encode : images uint8 (B, C, H, W) → latents (B, D), or `Encodings`, which bring their own data.
    scores : names or functions of this package; or a mapping of names of your own to functions that are called as
        score(table, seed=seed), for example {"mig_100": partial(mig, bins=100)}. None takes `DEFAULT_SCORES`, those of
        the book's tables.

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
