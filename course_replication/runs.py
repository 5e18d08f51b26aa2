"""A run: one measurement or training, fully configured and seeded with an integer, and its result."""

import pkgutil
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from course_replication.lines import SCALES, identity
from course_replication.store import RESULTS, Store

if TYPE_CHECKING:  # cards are made of runs, and need no torch
    import torch

DEVICES = ("auto", "cpu", "cuda")
MEASUREMENTS = "course_replication.measurements"


@dataclass(frozen=True)
class Run:
    """What is measured, and with which settings and seed: the same run is the same result.

    measurement : "module.function" of `course_replication.measurements`, or "any.module:function"; the function
        takes a `Context` and the settings and returns a flat dict from metrics to numbers or answers (True, False).
    settings : what JSON can hold.
    scale : of `SCALES`.
    device : "cpu" for what is measured there, on one thread, wherever it is asked for; "auto" for a training.
    """

    measurement: str
    settings: dict = field(default_factory=dict, hash=False)
    seed: int = 0
    scale: str = "exact"
    device: str = field(default="cpu", compare=False)

    def __post_init__(self):
        if self.scale not in SCALES:
            raise ValueError(f"scale: got {self.scale!r}; expected one of {', '.join(SCALES)}.")
        if type(self.seed) is not int or not 0 <= self.seed < 2**63:
            raise ValueError(f"seed: got {self.seed!r}; expected an integer from 0 to {2**63 - 1}.")

    @property
    def config(self) -> dict:
        return {"measurement": self.measurement, "settings": self.settings, "scale": self.scale}

    @property
    def config_hash(self) -> str:
        """12 hexadecimal digits that change with anything in the configuration but the seed."""
        return identity(**self.config, seed=self.seed)[0]

    @property
    def id(self) -> str:
        return identity(**self.config, seed=self.seed)[1]


@dataclass(frozen=True)
class Context:
    """What a measurement gets beside its settings.

    seed : of all that is random in it. device : where to compute.
    scratch : the path of a folder, not made yet, for checkpoints; it is removed once the result is stored.
    known : the results that are stored already, by run, so that what combines trainings need not repeat them.
    """

    seed: int
    device: "torch.device"
    scratch: Path
    known: Mapping[str, dict] = field(default_factory=dict)

    @property
    def generator(self) -> "torch.Generator":
        """A new generator with the seed, on the CPU."""
        import torch

        return torch.Generator().manual_seed(self.seed)


def attempt(store: Store, run: Run, device: str = "auto", asked: Collection[str] = (), *, dirty: bool = False) -> bool:
    """Run here what is not stored yet, unless another process is at it; whether a result has been added.

    asked, dirty : as in `keep`, which also says what it raises.
    """
    with store.claimed(run.id) as mine:
        if not mine or not is_missing(store.results(), run, asked):
            return False
        check_committed(store, dirty)
        return keep(store, execute(run, device, store.scratch(run.id), known_to(run, store)), asked, dirty=dirty)


def is_missing(results: Mapping[str, dict], run: Run, asked: Collection[str] = ()) -> bool:
    """Whether the run has no result among these, one that lacks some of the metrics asked of it, or one that does not
    count where another would: while code is changed, what it has made is not made again."""
    if run.id not in results:
        return True
    return bool(lacks(results[run.id], asked)) or not counts(results[run.id]) and counts({"commit": commit()})


def known_to(run: Run, store: Store) -> dict[str, dict]:
    """The results that a run may build on: all that are stored, or, of a run that has one itself, those that this very
    code has made, since what other code has made may lack the same metrics."""
    results = store.results()
    return {name: each for name, each in results.items() if made_here(each)} if run.id in results else results


def keep(store: Store, result: dict, asked: Collection[str] = (), *, dirty: bool = False) -> bool:
    """Store the result of a run that this process has claimed, and remove its partial work; whether it was added.

    asked : metrics for which a stored result that lacks them is replaced, if the new one has some of them. A ValueError
    names those that it has not, or says what is wrong with the result. One that does not count is replaced by one that
    does. dirty : as in `check_committed`.
    """
    check_committed(store, dirty, result["commit"])
    stored = store.results().get(result["id"])
    lacking = lacks(result, asked) if stored else []
    better = stored and (len(lacking) < len(asked) or counts(result) and not counts(stored))
    added = store.replace(result) if better else store.add(result)
    scratch = store.scratch(result["id"])
    shutil.rmtree(scratch, ignore_errors=True)
    _note_of_seconds(scratch).unlink(missing_ok=True)
    if lacking:
        raise ValueError(f"metrics: {result['measurement']} does not return {', '.join(lacking)}, as a claim asks.")
    return added


def lacks(result: dict, asked: Collection[str]) -> list[str]:
    """Those of the metrics that the result does not have."""
    return sorted({*asked} - result["metrics"].keys())


def execute(
    run: Run, device: str = "auto", scratch: Path | None = None, known: Mapping[str, dict] | None = None
) -> dict:
    """The result of a run, with what it takes to repeat it. Raises what the measurement raises.

    scratch : of `Context`. Its seconds are then those of all parts of an interrupted run, each up to its last
        checkpoint.
    """
    import torch

    chosen = chosen_device(device if run.device == "auto" else run.device)
    threads = torch.get_num_threads()
    torch.set_num_threads(1 if run.device == "cpu" else threads)  # sums depend on how many threads share them
    earlier = _worked_before(scratch) if scratch else 0.0
    started, code = time.perf_counter(), commit()
    try:
        context = Context(run.seed, chosen, scratch or Path("partial"), known or {})
        metrics = measurement_of(run.measurement)(context, **run.settings)
        seconds = earlier + time.perf_counter() - started
        where = device_record(chosen)
    finally:
        torch.set_num_threads(threads)
        if scratch and not scratch.exists():  # nothing to go on from
            _note_of_seconds(scratch).unlink(missing_ok=True)
    return {
        "id": run.id,
        **run.config,
        "config_hash": run.config_hash,
        "seed": run.seed,
        "metrics": {name: _plain(value) for name, value in metrics.items()},
        "seconds": round(seconds, 2),
        "device": where,
        "versions": versions(),
        "commit": code,
    }


def _note_of_seconds(scratch: Path) -> Path:
    """A file that is as old as the part of a run that is at work, and says how many seconds the parts before took."""
    return scratch.with_name(f"{scratch.name}.seconds")


def _worked_before(scratch: Path) -> float:
    """The seconds that earlier parts of a run took, each up to its last checkpoint; notes that a new part begins."""
    from course_lib.storage import replace_file

    note, seconds = _note_of_seconds(scratch), 0.0
    if note.exists():
        kept = max((file.stat().st_mtime for file in scratch.rglob("*") if file.is_file()), default=0.0)
        seconds = float(note.read_text()) + max(kept - note.stat().st_mtime, 0.0)
    note.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(note) as file:
        file.write(f"{seconds:.2f}".encode())
    return seconds


def measurement_of(name: str) -> Callable:
    return pkgutil.resolve_name(name if ":" in name else f"{MEASUREMENTS}.{name}")


def check_scale(scale: str) -> None:
    """Raise a ValueError unless it is a scale at which claims are judged; what is exact counts at either."""
    if scale not in SCALES[1:]:
        raise ValueError(f"scale: got {scale!r}; expected one of {', '.join(SCALES[1:])}.")


def chosen_device(device: str) -> "torch.device":
    """ "auto" is the GPU where there is one."""
    import torch

    if device not in DEVICES:
        raise ValueError(f"device: got {device!r}; expected one of {', '.join(DEVICES)}.")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: got 'cuda'; allowed are 'auto' and 'cpu', as there is no GPU that torch can use.")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def lacks_gpu(run: Run, device: str) -> bool:
    """Whether a run is a training for a GPU of which there is none, and nobody has said that the CPU may do it."""
    if not run.device == device == "auto":
        return False
    import torch

    return not torch.cuda.is_available()


def device_record(device: "torch.device") -> dict:
    """What the last digits of a result depend on."""
    import torch

    if device.type == "cuda":
        return {"type": "cuda", "name": torch.cuda.get_device_name(device)}
    return {
        "type": "cpu",
        "name": f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
        "threads": torch.get_num_threads(),
    }


@cache
def versions() -> dict[str, str]:
    import course_lib

    return {"course_lib": course_lib.__version__} | {name: version(name) for name in ("torch", "numpy", "scipy")}


@cache
def commit() -> str | None:
    """The commit of the checkout that the library lies in, "+" added if its files differ; None outside of one."""
    import course_lib

    library, here = Path(course_lib.__file__).parent, Path(__file__).parent
    try:
        tracked = _git(here, "ls-files", "--", "__init__.py")
        changed = _git(here, "status", "--porcelain", "--", library, here, f":!artefacts/{RESULTS.name}")
        return _git(here, "rev-parse", "HEAD") + ("+" if changed else "") if tracked else None
    except (OSError, subprocess.CalledProcessError):
        return None


def counts(result: Mapping) -> bool:
    """Whether committed code has made the result."""
    return not str(result.get("commit")).endswith("+")


def made_here(result: Mapping) -> bool:
    """Whether the very code at hand has made the result, as far as a commit can tell."""
    return commit() is not None and counts(result) and result.get("commit") == commit()


def check_committed(store: Store, dirty: bool = False, code: str | None = None) -> None:
    """Raise a ValueError where code that is not committed would add to the results that the course comes with, unless
    `dirty`: then it may, and their commit says so by a "+". code : the commit, otherwise that of the code at hand."""
    if store.path == Store().path and not dirty and not counts({"commit": code or commit()}):
        raise ValueError(
            "code: course_lib or course_replication differs from the last commit, and only committed code adds to the "
            "course's results; commit, name another --store, or add --dirty for results whose commit says so by a +."
        )


def _git(folder: Path, *arguments: str | Path) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _plain(value) -> bool | int | float:
    """A number or an answer as Python's own type, so that JSON returns it bit for bit."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool | int | float):
        raise ValueError(f"metrics: got {value!r}; allowed are numbers, True and False.")
    return value
