"""`python -m course_lib`: what the course does at the command line. Alone, it lists the subcommands."""

import os
import sys

if __name__ == "__main__" and os.path.realpath(sys.path[0]) == os.path.realpath(os.curdir):
    del sys.path[0]  # `python -m` looks for modules in the current folder first, which may hold what students sent in

import argparse  # noqa: E402, I001


def parser(commands) -> argparse.ArgumentParser:
    """The parser; each of `commands` is a function that adds one subcommand, whose `run` takes the arguments."""
    found = argparse.ArgumentParser(prog="python -m course_lib", description=__doc__.split("\n")[0])
    subcommands = found.add_subparsers(title="subcommands", metavar="subcommand")
    for add in commands:
        add(subcommands)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand and return its exit status."""
    from course_lib.grading import command as grading
    from course_lib.replication import command as replication

    found = parser([grading.add_to, replication.add_to])
    chosen = found.parse_args(arguments)
    if not hasattr(chosen, "run"):
        found.print_help()
        return 0
    return chosen.run(chosen)


if __name__ == "__main__":
    sys.exit(main())
