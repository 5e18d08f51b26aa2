"""`course` at the command line, or `python -m course_lib`: grade exercises, replicate claims, score representations."""

import os
import sys

if __name__ == "__main__" and os.path.realpath(sys.path[0]) == os.path.realpath(os.curdir):
    del sys.path[0]  # `python -m` looks for modules in the current folder first, which may hold what students sent in

import argparse  # noqa: E402, I001
import pkgutil  # noqa: E402

# The module of each verb, by name: the library knows that the others exist and imports none of them unless it is asked.
VERBS = {
    "grade": "course_grading.command",
    "replicate": "course_replication.command",
    "score": "course_lib.metrics.command",
}


def parser(modules) -> argparse.ArgumentParser:
    """The parser; each of `modules` has a function `add_to`, which adds one verb, whose `run` takes the arguments."""
    found = argparse.ArgumentParser(prog="course", description=__doc__.split("\n")[0])
    verbs = found.add_subparsers(title="verbs", metavar="verb")
    for module in modules:
        module.add_to(verbs)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run a verb and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    asked = [name for name in VERBS if name in arguments[:1]] or VERBS  # one verb's module is imported alone
    found = parser(pkgutil.resolve_name(VERBS[name]) for name in asked)
    chosen = found.parse_args(arguments)
    if not hasattr(chosen, "run"):
        found.print_help()
        return 0
    return chosen.run(chosen)


if __name__ == "__main__":
    sys.exit(main())
