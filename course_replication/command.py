"""`python -m course_lib replicate`: run what claims are still missing, or list how they fare."""

import argparse
import re
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path

from course_replication.executors import PLACES

LISTED = {
    "fail": 0,
    "inconclusive": 1,
    "direction": 2,
    "match": 3,
    "not run": 4,
    "out of reach": 5,
}  # verdict → its place in a list
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}  # seconds


def add_to(commands) -> None:
    """Add the subcommand `replicate` to argparse's `commands`."""
    parser = commands.add_parser("replicate", help="hold the papers' claims against ours", description=__doc__)
    parser.add_argument("claims", nargs="*", metavar="claim", help="such as distances/table-4.2; otherwise all")
    parser.add_argument("--list", action="store_true", help="only list claims, runs and verdicts")
    parser.add_argument("--scale", choices=("small", "full"), default="small", help="of trainings (%(default)s)")
    parser.add_argument("--budget", type=seconds, metavar="TIME", help="such as 90s, 10m or 2h; otherwise no limit")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="of trainings (%(default)s)")
    parser.add_argument("--store", type=Path, help="a file of results; otherwise the course's own")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time (%(default)s)")
    parser.add_argument("--on", choices=PLACES, default="local", help="processes here, or a cluster (%(default)s)")
    parser.add_argument("--slurm", action="append", default=[], metavar="KEY=VALUE", help="such as partition=gpu")
    parser.add_argument("--address", help="of a Ray cluster; otherwise Ray is started here")
    parser.add_argument("--dirty", action="store_true", help="let code that is not committed add to the course's own")
    parser.set_defaults(run=run)


def seconds(text: str) -> float:
    """Seconds from "90", "90s", "10m" or "1.5h"; an argparse error says what is allowed."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if parts is None:
        raise argparse.ArgumentTypeError(f"got {text!r}; allowed are times such as 90s, 10m or 2h")
    return float(parts[1]) * UNITS[parts[2]]


def run(arguments: argparse.Namespace) -> int:
    """List or run, and return the exit status: 0 when that worked, whatever the verdicts, and where nothing but data
    files is missing; 1 if a run failed; 2 for arguments that make no sense, and for faults of the store."""
    from course_replication.claims import claims_named, load_claims
    from course_replication.executors import executor_on
    from course_replication.plans import lacking, queue
    from course_replication.store import RESULTS, Store
    from course_replication.workers import run_missing

    try:
        claims = claims_named(arguments.claims) if arguments.claims else load_claims()
        store = Store(arguments.store or RESULTS)
        if faults := store.faults(cut_off=arguments.list):
            raise ValueError("\n".join(faults))
        if arguments.list:
            print(listing(claims, store.results(), arguments.scale))
            return 0
        executor = executor_on(
            arguments.on, store, workers=arguments.workers, slurm=arguments.slurm, address=arguments.address
        )
        asked = lacking(claims, store.results(), arguments.scale)
        outcome = run_missing(
            queue(claims, arguments.scale),
            store,
            budget=arguments.budget,
            device=arguments.device,
            workers=arguments.workers,
            asked=asked,
            dirty=arguments.dirty,
            executor=executor,
        )
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; finished runs are stored, and the same command goes on from there.", file=sys.stderr)
        return 130
    results = store.results()
    for name in asked.keys() - lacking(claims, results, arguments.scale).keys():
        outcome.failed.pop(name, None)  # another part of the claim has returned what it lacks
    for name, error in outcome.failed.items():
        print(f"{name}: {error}", file=sys.stderr)
    print(listing(claims, results, arguments.scale))
    print("\n" + report(outcome))
    return 1 if outcome.failed else 0


def report(outcome) -> str:
    """What came of the runs, in one sentence, after each file, and the GPU, that some need and that is not there."""
    needs: dict[str, list[str]] = {}
    for name, message in outcome.unavailable.items():
        needs.setdefault(message.partition(": ")[2], []).append(name.split("/")[0])
    files = []
    for message, runs in needs.items():
        which = f"{len(runs)} {'run needs' if len(runs) == 1 else 'runs need'} a file"
        files.append(f"{which} ({', '.join(dict.fromkeys(runs))}): {message}\n")
    if outcome.withheld:
        which = f"{len(outcome.withheld)} {'run needs' if len(outcome.withheld) == 1 else 'runs need'} a GPU"
        files.append(f"{which}, and torch finds none: --device cpu runs them all the same, for hours each.\n")
    spent = "; the budget is spent, and the same command goes on" if outcome.out_of_time else ""
    added = f"{len(outcome.done)} run{'s' * (len(outcome.done) != 1)} added"
    rest = f"{len(outcome.failed)} failed, {len(outcome.unavailable)} need a file, {len(outcome.left)} to be run"
    return "\n".join([*files, f"{added}, {rest}{spent}."])


def listing(claims, results: dict[str, dict], scale: str) -> str:
    """A line for each claim: the verdict, the runs that are done of those planned, and what differs.

    By paper; in each, what failed comes first and what is not run comes last, otherwise in the paper's order.
    """
    from course_replication.verdicts import VERDICTS, verdict_of

    heading = f"Trainings at scale {scale}. Beside the verdict: runs done of runs planned."
    if scale == "small":
        heading += " In brackets: those of trainings at scale full."
    lines, counts = [heading], Counter()
    width = max(len(claim.id) for claim in claims)
    for paper, group in groupby(claims, key=lambda claim: claim.paper):
        verdicts = sorted((verdict_of(claim, results, scale) for claim in group), key=lambda each: LISTED[each.verdict])
        found = Counter(each.verdict for each in verdicts)
        lines += ["", f"{paper}: {_counted(found)}", *(_line(each, width, results, scale) for each in verdicts)]
        counts += found
    return "\n".join([*lines, "", ", ".join(f"{counts[name]} {name}" for name in VERDICTS)])


def _counted(counts: Counter) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in LISTED if counts[name])


def _line(verdict, width: int, results: dict[str, dict], scale: str) -> str:
    from course_replication.plans import parts_of, runs_of

    planned, claim = len(runs_of(verdict.claim, scale)), verdict.claim
    why = " ".join(verdict.why.split())
    why = f"  ({why if len(why) <= 90 else why[:88] + ' …'})" if why else ""
    done = f"{planned - verdict.missing}/{planned}" if planned else "–"
    full = ""
    if scale == "small" and any(part.scale == "full" for part in parts_of(claim, "full")):
        runs = runs_of(claim, "full")
        full = f"  [full {sum(run.id in results for run in runs)}/{len(runs)}]"
    return f"  {verdict.verdict:12} {done:>7}  {claim.id:{width}}  {claim.title}{full}{why}"
