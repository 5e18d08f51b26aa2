"""`course score`: the scores of a representation that lies in a file, each beside what shuffled rows get."""

import argparse
import inspect
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas
import torch

from course_lib.metrics._evaluate import SCORES
from course_lib.metrics.samples import as_samples, generator

TWINS = {name: score.from_samples for name, score in SCORES.items() if hasattr(score, "from_samples")}


def add_to(commands) -> None:
    """Add the subcommand `score` to argparse's `commands`."""
    parser = commands.add_parser("score", help="score a representation in a file", description=__doc__)
    parser.add_argument("file", type=Path, help=".npz with latents (n, D) and integer factors (n, F), or .csv")
    parser.add_argument("--latents", type=_names, help="the columns of a .csv that are latents (those named z0, z1, …)")
    parser.add_argument("--factors", type=_names, help="the factors that count, by name (all columns that are left)")
    parser.add_argument("--scores", type=_names, default=list(TWINS), help=f"among {', '.join(TWINS)} (all of them)")
    parser.add_argument("--seed", type=int, default=0, help="of the test points and of the shuffled rows (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the scores and return the exit status: 2 when the file or an argument is not as it should be."""
    try:
        unknown = next((name for name in arguments.scores if name not in TWINS), None)
        if unknown is not None:
            raise ValueError(f"scores: got {unknown!r}; allowed are {', '.join(TWINS)}.")
        latents, factors = read(arguments.file, arguments.latents, arguments.factors)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = measure(latents, factors, arguments.scores, arguments.seed)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print(message, file=sys.stderr)
    print(json.dumps(found, indent=1, allow_nan=False) if arguments.json else table(found))
    return 0


def read(path: Path, latents: list[str] | None, factors: list[str] | None) -> tuple[np.ndarray, pandas.DataFrame]:
    """Latents (n, D) and factors (n, F), the latter with their names, from a .npz or a .csv; see `add_to`.

    No pickle is loaded. Raises ValueError, in one sentence that names the path, for a file that does not fit.
    """
    if path.suffix not in (".npz", ".csv"):
        raise ValueError(f"file: got {path}; allowed are .npz and .csv.")
    if not path.is_file():
        raise ValueError(f"file: {path} is not there.")
    try:
        values, frame = (_read_npz if path.suffix == ".npz" else _read_csv)(path, latents)
    except Exception as error:  # zip, NumPy and pandas each raise their own kinds for a file that is damaged
        raise ValueError(f"file: {path} cannot be read: {' '.join(str(error).split())}") from error
    missing = [name for name in factors or () if name not in frame]
    if missing:
        raise ValueError(f"factors: got {missing[0]!r}; {path} has {', '.join(frame)}.")
    return values, frame if factors is None else frame[factors]


def measure(latents, factors: pandas.DataFrame, scores: list[str], seed: int) -> dict:
    """n, D, the factors' names, and for each score its values, and what it is when the latents' rows are shuffled."""
    samples = as_samples(latents, factors)
    shuffled = samples.latents[torch.randperm(len(samples.latents), generator=generator(seed)).numpy()]
    found = {"n": len(samples.latents), "latents": samples.latents.shape[1], "factors": list(samples.names)}
    found["seed"], found["scores"] = seed, {}
    for name in scores:
        options = {"names": samples.names, "seed": seed}
        options = {key: value for key, value in options.items() if key in inspect.signature(TWINS[name]).parameters}
        score, control = (TWINS[name](rows, samples.factors, **options) for rows in (samples.latents, shuffled))
        found["scores"][name] = {
            "score": _finite(float(score)),
            "shuffled": _finite(float(control)),
            "values": {key: _finite(value) for key, value in score.values.items()},
        }
    return found


def table(found: dict) -> str:
    """What `measure` found, for people."""
    lines = [f"{found['n']:,} rows, {found['latents']} latents, factors {', '.join(found['factors'])}"]
    lines += [f"{'score':<28}{'value':>9}{'shuffled':>10}{'n':>9}"]
    for name, entry in found["scores"].items():
        value, control = ("inf" if entry[key] is None else f"{entry[key]:.3f}" for key in ("score", "shuffled"))
        lines.append(f"{name:<28}{value:>9}{control:>10}{found['n']:>9,}")
    return "\n".join(lines)


def _read_npz(path: Path, latents: list[str] | None) -> tuple[np.ndarray, pandas.DataFrame]:
    if latents is not None:
        raise ValueError("--latents chooses columns of a .csv; a .npz has them in its array `latents`.")
    with np.load(path, allow_pickle=False) as file:
        lacking = {"latents", "factors"} - set(file)
        if lacking:
            raise ValueError(f"it lacks the array {', '.join(sorted(lacking))}.")
        values, factors = file["latents"], file["factors"]
        names = [str(name) for name in file["names"]] if "names" in file else None
    names = [f"factor {place}" for place in range(factors.shape[-1])] if names is None else names
    return values, pandas.DataFrame(factors, columns=names)


def _read_csv(path: Path, latents: list[str] | None) -> tuple[np.ndarray, pandas.DataFrame]:
    frame = pandas.read_csv(path)
    chosen = [name for name in frame if name[:1] == "z" and name[1:].isdigit()] if latents is None else latents
    missing = [name for name in chosen if name not in frame]
    if missing or not chosen:
        raise ValueError(f"no column {', '.join(missing) or 'z0'} among {', '.join(frame)}.")
    return frame[chosen].to_numpy(), frame.drop(columns=chosen)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _finite(value: float) -> float | None:
    """JSON has no infinity: what is infinite becomes null."""
    return value if np.isfinite(value) else None
