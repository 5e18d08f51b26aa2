"""A prediction that is written down before the training that it is about: which factors will be found by which loss.

It stands here, beside the papers' claims, since it is a claim: the reader's own, with a run that tests it and a rule
that decides. `course_lib` trains and measures, and knows of no claims.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from numbers import Real
from pathlib import Path

from course_lib.arguments import check_instance, check_integers, check_numbers, check_widths
from course_lib.storage import check_path, replace_file

SETTINGS = dict(latents=6, hidden=(32, 32), beta=4.0, steps=1000, batch_size=64, learning_rate=0.003, seeds=5)
SEAL = "sha256"
OUTCOMES = ".outcomes.json"  # how the names of files end in which trainings of predictions are stored


@dataclass(frozen=True)
class Prediction:
    """How likely it is that a training finds a factor, for each loss and factor, before anything is trained.

    data : the dataset, as its `repr` writes it.
    confidence : loss → factor → the probability, 0 to 1, that one run finds the factor (`FOUND` says what that means).
    order : the factors, from the one that is found best over all losses to the one that is found worst.
    settings : of the training; those of `SETTINGS` where nothing else is said.
    reasons : why, in the predictor's words.

    `seal` writes it to a file with a SHA-256 of all this, once; `read_prediction` reads such a file and says if it was
    altered. A hash cannot prove *when* a file was written; who wants that sends the hash to somebody else first.

    Raises ValueError for what is no prediction. Chapter 23.
    """

    data: str
    confidence: Mapping[str, Mapping[str, float]]
    order: Sequence[str]
    settings: Mapping = field(default_factory=dict)
    reasons: str = ""

    def __post_init__(self):
        check_instance(str, "repr(data), a string", data=self.data)
        check_instance(str, "a string", reasons=self.reasons)
        check_instance(Mapping, "loss → factor → probability", confidence=self.confidence)
        object.__setattr__(self, "confidence", {loss: _row(loss, row) for loss, row in self.confidence.items()})
        check_instance((list, tuple), "the names of the factors", order=self.order)
        object.__setattr__(self, "order", tuple(self.order))
        if not self.confidence or any({*row} != {*self.order} for row in self.confidence.values()):
            raise ValueError(
                f"confidence: each loss needs a probability for each of the factors in order, {self.order}."
            )
        if len({*self.order}) != len(self.order):
            raise ValueError(f"order: got {self.order}; allowed is each factor once.")
        object.__setattr__(self, "settings", _checked_settings(self.settings))

    @property
    def content(self) -> dict:
        """All that is predicted, as JSON has it."""
        return json.loads(json.dumps(asdict(self)))

    @property
    def hash(self) -> str:
        """SHA-256 of the content, in hexadecimal digits: the same for the same prediction, wherever it is written."""
        return seal_of(self.content)

    def record(self) -> dict:
        """The content with its seal: what `seal` writes."""
        return self.content | {SEAL: self.hash}

    def seal(self, path: str | Path) -> str:
        """Write the prediction to a new file and return its hash. The same prediction may be sealed again.

        Raises FileExistsError where `path` holds a different one, or its folder has outcomes of the same data, after
        which nothing is foretold; ValueError where `path` holds something else, or an altered one.
        """
        path = Path(check_path(path))
        if path.exists():
            before = read_sealed(path)[SEAL]
            if before != self.hash:
                raise FileExistsError(
                    f"path: {path.name} holds another prediction ({before[:8]}…), and what is sealed stays. A second "
                    "prediction takes a file of its own."
                )
            return self.hash
        seen = outcomes_of(self.data, path.parent)
        if seen is not None:
            raise FileExistsError(
                f"path: {seen.name}, in the same folder, has trainings of these data, and what is written after them "
                "is no prediction. Predict for other data."
            )
        write_sealed(path, self.content)
        return self.hash


def read_prediction(path: str | Path) -> Prediction:
    """The prediction that was sealed in the file; a ValueError that names the file if it was altered since."""
    record = read_sealed(path)
    try:
        return Prediction(**{name: value for name, value in record.items() if name != SEAL})
    except TypeError as error:
        raise ValueError(f"path: {Path(path).name} holds no prediction ({error}).") from error


def seal_of(content: Mapping) -> str:
    """SHA-256 of what JSON makes of the content with sorted keys and no spaces; a seal within is left out."""
    bare = {name: value for name, value in content.items() if name != SEAL}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def outcomes_of(data: str, folder: Path) -> Path | None:
    """A file of outcomes in the folder that are of these data, if there is one."""
    for path in sorted(folder.glob(f"*{OUTCOMES}")):
        with suppress(ValueError, OSError):  # a damaged file says nothing
            if read_sealed(path).get("data") == data:
                return path
    return None


def write_sealed(path: Path, content: Mapping) -> None:
    """The content and its seal as JSON, all of the file or nothing."""
    with replace_file(path) as file:
        file.write(json.dumps({**content, SEAL: seal_of(content)}, indent=1, ensure_ascii=False).encode())


def read_sealed(path: str | Path) -> dict:
    """What `write_sealed` wrote; a ValueError that names the file where the seal does not fit."""
    path = Path(check_path(path))
    try:
        record = json.loads(path.read_bytes())
        fits = record[SEAL] == seal_of(record)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"path: {path.name} is no sealed file, or it is damaged.") from error
    if not fits:
        raise ValueError(f"path: {path.name} was altered after it was sealed: its content no longer has its hash.")
    return record


def _row(loss: str, row: Mapping[str, float]) -> dict[str, float]:
    check_instance(Mapping, "factor → probability", **{f"confidence[{loss!r}]": row})
    for factor, value in row.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:
            raise ValueError(f"confidence[{loss!r}][{factor!r}]: got {value!r}; allowed is a probability, 0 to 1.")
    return {factor: float(value) for factor, value in row.items()}


def _checked_settings(settings: Mapping) -> dict:
    check_instance(Mapping, f"some of {', '.join(SETTINGS)}", settings=settings)
    unknown = [name for name in settings if name not in SETTINGS]
    if unknown:
        raise ValueError(f"settings: got {unknown[0]!r}; allowed are {', '.join(SETTINGS)}.")
    full = SETTINGS | dict(settings)
    counts = ("latents", "steps", "batch_size", "seeds")
    full |= zip(counts, check_integers(1, **{name: full[name] for name in counts}), strict=True)
    (full["beta"],) = check_numbers(0, beta=full["beta"])
    (full["learning_rate"],) = check_numbers(0, above=True, learning_rate=full["learning_rate"])
    return full | {"hidden": tuple(check_widths(full["hidden"]))}
