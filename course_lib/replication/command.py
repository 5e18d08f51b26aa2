"""`python -m course_lib replicate`: run what claims are still missing, or list how they fare."""

import argparse
import re
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}  # seconds


def add_to(commands) -> None:
    """Add the subcommand `replicate` to argparse's `commands`."""
    parser = commands.add_parser("replicate", help="hold the papers' claims against ours", description=__doc__)
    parser.add_argument("claims", nargs="*", metavar="claim", help="such as distances/table-4.2; otherwise all")
    parser.add_argument("--list", action="store_true", help="only list claims, runs and verdicts")
    parser.add_argument("--scale", choices=("quick", "full"), default="quick", help="of trainings (%(default)s)")
    parser.add_argument("--budget", type=seconds, metavar="TIME", help="such as 90s, 10m or 2h; otherwise no limit")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="of trainings (%(default)s)")
    parser.add_argument("--store", type=Path, help="a file of results; otherwise the course's own")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (%(default)s)")
    parser.set_defaults(run=run)


def seconds(text: str) -> float:
    """Seconds from "90", "90s", "10m" or "1.5h"; an argparse error says what is allowed."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if parts is None:
        raise argparse.ArgumentTypeError(f"got {text!r}; allowed are times such as 90s, 10m or 2h")
    return float(parts[1]) * UNITS[parts[2]]


def run(arguments: argparse.Namespace) -> int:
    """List or run, and return the exit status: 0 when that worked, whatever the verdicts; 1 if a run failed; 2 for
    arguments that make no sense."""
    from course_lib.replication.plans import queue
    from course_lib.replication.store import RESULTS, Store
    from course_lib.replication.workers import run_missing

    try:
        claims, store = _chosen(arguments.claims), Store(arguments.store or RESULTS)
        if arguments.list:
            print(listing(claims, store.results(), arguments.scale))
            return 0
        outcome = run_missing(
            queue(claims, arguments.scale),
            store,
            budget=arguments.budget,
            device=arguments.device,
            workers=arguments.workers,
        )
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; finished runs are stored, and the same command goes on from there.", file=sys.stderr)
        return 130
    for name, error in outcome.failed.items():
        print(f"{name}: {error}", file=sys.stderr)
    print(listing(claims, store.results(), arguments.scale))
    spent = "; the budget is spent, and the same command goes on" if outcome.out_of_time else ""
    print(f"\n{len(outcome.done)} runs added, {len(outcome.failed)} failed, {len(outcome.left)} to be run{spent}.")
    return 1 if outcome.failed else 0


def _chosen(names: list[str]) -> list:
    from course_lib.replication.claims import load_claims

    claims = {claim.id: claim for claim in load_claims()}
    for name in names:
        if name not in claims:
            near = [known for known in claims if name in known][:5]
            raise ValueError(f"claim: got {name!r}; allowed are ids such as {', '.join(near or [*claims][:3])}.")
    return [claim for claim in claims.values() if not names or claim.id in names]


def listing(claims, results: dict[str, dict], scale: str) -> str:
    """A line for each claim, by paper: the verdict, the runs that are done of those planned, and what differs."""
    from course_lib.replication.plans import runs_of
    from course_lib.replication.verdicts import VERDICTS, verdict_of

    lines, counts = [f"Trainings at scale {scale}."], Counter()
    for paper, group in groupby(claims, key=lambda claim: claim.paper):
        lines += ["", paper]
        for claim in group:
            verdict = verdict_of(claim, results, scale)
            planned = len(runs_of(claim, scale))
            lines.append(_line(verdict, planned))
            counts[verdict.verdict] += 1
    return "\n".join([*lines, "", ", ".join(f"{counts[name]} {name}" for name in VERDICTS)])


def _line(verdict, planned: int) -> str:
    why = " ".join(verdict.why.split())
    why = f"  {why}" if len(why) <= 90 else f"  {why[:88]} …"
    done = f"{planned - verdict.missing}/{planned}"
    return f"  {verdict.verdict:12} {done:>5}  {verdict.claim.id:40} {verdict.claim.title}{why if why.strip() else ''}"
