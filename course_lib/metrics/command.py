"""`course score`: the scores of a representation that lies in a file, each beside what shuffled rows get."""

import argparse
import json
import sys
import warnings
from pathlib import Path

from course_lib.metrics._evaluate import TWINS, from_samples
from course_lib.metrics.files import read_table
from course_lib.metrics.report import SUFFIXES, summary, write_report


def add_to(commands) -> None:
    """Add the subcommand `score` to argparse's `commands`."""
    parser = commands.add_parser("score", help="score a representation in a file", description=__doc__)
    parser.add_argument("file", type=Path, help=".npz with latents (n, D) and integer factors (n, F), or .csv")
    parser.add_argument("--latents", type=_names, help="the columns of a .csv that are latents (those named z0, z1, …)")
    parser.add_argument("--factors", type=_names, help="the factors that count, by name (all columns that are left)")
    parser.add_argument("--scores", type=_names, help=f"among {', '.join(TWINS)} (all that the table is made for)")
    parser.add_argument("--seed", type=int, default=0, help="of test points, shuffled rows and halves (%(default)s)")
    parser.add_argument("--halves", type=int, help="of the rows, for intervals; 0: none (100, fewer from 20,000 rows)")
    parser.add_argument("--intervals", type=_names, help="the scores that get one (those that take no training)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a report, FILE.html or FILE.json")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the scores and return the exit status: 2 when the file or an argument is not as it should be."""
    try:
        if arguments.report is not None and arguments.report.suffix not in SUFFIXES:
            raise ValueError(f"report: got {arguments.report}; allowed are names in {' and '.join(SUFFIXES)}.")
        found = measure(arguments)
        if arguments.report is not None:
            write_report(arguments.report, found)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    for message in found["warnings"]:
        print(message, file=sys.stderr)
    print(json.dumps(found, indent=1, allow_nan=False) if arguments.json else table(found))
    return 0


def measure(arguments: argparse.Namespace) -> dict:
    """What is printed and reported: see `report.summary`."""
    latents, factors = read_table(arguments.file, arguments.latents, arguments.factors)
    options = {"intervals": arguments.intervals, "halves": arguments.halves}
    if arguments.halves == 0:
        options = {"intervals": ()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluation = from_samples(latents, factors, arguments.scores, seed=arguments.seed, **options)
    said = list(dict.fromkeys(str(warning.message) for warning in caught))
    return summary(evaluation, latents, factors, arguments.seed, said, arguments.file.name)


def table(found: dict) -> str:
    """What `measure` found, for people."""
    lines = [f"{found['n']:,} rows, {found['latents']} latents, factors {', '.join(found['factors'])}"]
    lines += [f"{'score':<28}{'value':>9}{'shuffled':>10}{'95 % interval':>18}{'n':>9}"]
    for name, entry in found["scores"].items():
        value, control = ("inf" if entry[key] is None else f"{entry[key]:.3f}" for key in ("score", "shuffled"))
        interval = " to ".join(f"{end:.3f}" for end in entry["interval"] or ())
        lines.append(f"{name:<28}{value:>9}{control:>10}{interval:>18}{found['n']:>9,}")
    lines += [f"{name}: {why}" for name, why in found["left_out"].items()]
    return "\n".join(lines)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]
