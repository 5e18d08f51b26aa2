"""`check`, `hint` and `report` in a student's own notebook: words and points, never a traceback."""

import secrets

from course_grading.calling import describe, say

_passed: dict[str, bool] = {}  # by the last answer
_solved: set[str] = set()  # by any answer
_hints: dict[str, int] = {}


def check(exercise: str, answer) -> None:
    """Say whether `answer` solves the exercise, for how many points, and if not, what is wrong with it.

    It is called on fresh random inputs each time. Nothing is raised, whatever the answer is.
    """
    from course_grading.exercise import LocalAnswer, Verdict
    from course_grading.registry import find

    try:
        task = find(exercise)
    except ValueError as error:
        say(error)
        return
    try:
        verdict = task.judge(LocalAnswer(answer), secrets.randbits(31))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of an answer whose class raises when it is looked at, SystemExit even
        verdict = Verdict(False, f"the answer cannot be looked at ({describe(error)}).")
    _passed[task.id] = verdict.passed
    if verdict.passed:
        _solved.add(task.id)
    points = task.points if verdict.passed else 0
    say(f"{task.id} {'✓' if verdict.passed else '✗'} {points} of {task.points} points: {verdict.message}")


def hint(exercise: str) -> None:
    """Print the exercise's hint; called again, the stronger one."""
    from course_grading.registry import find

    try:
        task = find(exercise)
    except ValueError as error:
        say(error)
        return
    place = min(_hints.get(task.id, 0), len(task.hints) - 1)
    _hints[task.id] = place + 1
    say(f"{task.id}, hint {place + 1} of {len(task.hints)}: {task.hints[place]}")


def report() -> None:
    """Print the points by objective, of the chapters whose exercises were checked since the notebook's kernel began.

    An exercise counts with the answer that was checked last, as a handed-in notebook's does.
    """
    from course_grading.registry import exercises_of

    if not _passed:
        say("Nothing was checked yet.")
    for chapter in sorted({exercise[:2] for exercise in _passed}):
        tasks = exercises_of(chapter)
        for objective in dict.fromkeys(task.objective for task in tasks):
            mine = [task for task in tasks if task.objective == objective]
            got = sum(task.points for task in mine if _passed.get(task.id))
            say(f"{got:3} of {sum(task.points for task in mine):2}  {objective}")
        got = sum(task.points for task in tasks if _passed.get(task.id))
        say(f"{got:3} of {sum(task.points for task in tasks):2}  in all, chapter {chapter}")
    undone = [exercise for exercise in sorted(_solved) if not _passed[exercise]]
    if undone:
        say(f"The last answer counts. {', '.join(undone)} had a right one before: check it again.")
