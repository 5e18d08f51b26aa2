"""A run: one measurement or training, fully configured and seeded with an integer, and its result."""

import hashlib
import json
import pkgutil
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path

import torch

import course_lib
import course_replication
from course_lib.arguments import check_choice, check_seed
from course_replication.store import Store

SCALES = ("quick", "full")
DEVICES = ("auto", "cpu", "cuda")
MEASUREMENTS = "course_replication.measurements"


@dataclass(frozen=True)
class Run:
    """What is measured, and with which settings and seed: the same run is the same result.

    measurement : "module.function" of `course_replication.measurements`, or "any.module:function"; the function
        takes a `Context` and the settings and returns a flat dict from metrics to numbers or answers (True, False).
    settings : what JSON can hold.
    scale : "quick" for what was made smaller, and "full".
    device : "cpu" for what is measured there, on one thread, wherever it is asked for; "auto" for a training.
    """

    measurement: str
    settings: dict = field(default_factory=dict, hash=False)
    seed: int = 0
    scale: str = "full"
    device: str = field(default="cpu", compare=False)

    def __post_init__(self):
        check_choice(SCALES, scale=self.scale)
        check_seed(self.seed)

    @property
    def config(self) -> dict:
        return {"measurement": self.measurement, "settings": self.settings, "scale": self.scale}

    @property
    def config_hash(self) -> str:
        """12 hexadecimal digits that change with anything in the configuration but the seed."""
        text = json.dumps(self.config, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def id(self) -> str:
        return f"{self.measurement}/{self.scale}/{self.config_hash}/{self.seed}"


@dataclass(frozen=True)
class Context:
    """What a measurement gets beside its settings.

    seed : of all that is random in it. device : where to compute.
    scratch : the path of a folder, not made yet, for checkpoints; it is removed once the result is stored.
    known : the results that are stored already, by run, so that what combines trainings need not repeat them.
    """

    seed: int
    device: torch.device
    scratch: Path
    known: Mapping[str, dict] = field(default_factory=dict)

    @property
    def generator(self) -> torch.Generator:
        """A new generator with the seed, on the CPU."""
        return torch.Generator().manual_seed(self.seed)


def attempt(store: Store, run: Run, device: str = "auto") -> bool:
    """Run what is not stored yet, unless another process is at it; whether a result has been added."""
    with store.claimed(run.id) as mine:
        if not mine or run.id in (known := store.results()):
            return False
        scratch = store.scratch(run.id)
        added = store.add(execute(run, device, scratch, known))
        shutil.rmtree(scratch, ignore_errors=True)
        return added


def execute(
    run: Run, device: str = "auto", scratch: Path = Path("partial"), known: Mapping[str, dict] | None = None
) -> dict:
    """The result of a run, with what it takes to repeat it. Raises what the measurement raises."""
    chosen = chosen_device(device if run.device == "auto" else run.device)
    threads = torch.get_num_threads()
    torch.set_num_threads(1 if run.device == "cpu" else threads)  # sums depend on how many threads share them
    started = time.perf_counter()
    try:
        context = Context(run.seed, chosen, scratch, known or {})
        metrics = measurement_of(run.measurement)(context, **run.settings)
        seconds = time.perf_counter() - started
        where = device_record(chosen)
    finally:
        torch.set_num_threads(threads)
    return {
        "id": run.id,
        **run.config,
        "config_hash": run.config_hash,
        "seed": run.seed,
        "metrics": {name: _plain(value) for name, value in metrics.items()},
        "seconds": round(seconds, 2),
        "device": where,
        "versions": versions(),
        "commit": commit(),
    }


def measurement_of(name: str) -> Callable:
    return pkgutil.resolve_name(name if ":" in name else f"{MEASUREMENTS}.{name}")


def chosen_device(device: str) -> torch.device:
    """ "auto" is the GPU where there is one."""
    check_choice(DEVICES, device=device)
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: got 'cuda'; allowed are 'auto' and 'cpu', as there is no GPU that torch can use.")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def lacks_gpu(run: Run, device: str) -> bool:
    """Whether a run is a training for a GPU of which there is none, and nobody has said that the CPU may do it."""
    return run.device == device == "auto" and not torch.cuda.is_available()


def device_record(device: torch.device) -> dict:
    """What the last digits of a result depend on."""
    if device.type == "cuda":
        return {"type": "cuda", "name": torch.cuda.get_device_name(device)}
    return {
        "type": "cpu",
        "name": f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}",
        "threads": torch.get_num_threads(),
    }


@cache
def versions() -> dict[str, str]:
    return {"course_lib": course_lib.__version__} | {name: version(name) for name in ("torch", "numpy", "scipy")}


@cache
def commit() -> str | None:
    """The commit of the checkout that the library lies in, "+" added if its files differ; None outside of one."""
    library, here = (Path(package.__file__).parent for package in (course_lib, course_replication))
    try:
        tracked = _git(here, "ls-files", "--", "__init__.py")
        changed = _git(here, "status", "--porcelain", "--", library, here, ":!artefacts")
        return _git(here, "rev-parse", "HEAD") + ("+" if changed else "") if tracked else None
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *arguments: str | Path) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _plain(value) -> bool | int | float:
    """A number or an answer as Python's own type, so that JSON returns it bit for bit."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool | int | float):
        raise ValueError(f"metrics: got {value!r}; allowed are numbers, True and False.")
    return value
