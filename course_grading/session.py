"""`check`, `hint` and `report` in a student's own notebook: words and points, never a traceback."""

import secrets
from contextlib import suppress
from dataclasses import dataclass, replace

from course_grading.calling import describe, say


@dataclass
class Earned:
    """An exercise's points: for the first answer, None while nothing was written; for the last; for the best."""

    first: int | None = None
    last: int = 0
    best: int = 0

    def add(self, points: int, blank: bool) -> None:
        self.last, self.best = points, max(points, self.best)
        if self.first is None and not blank:
            self.first = points


_earned: dict[str, Earned] = {}
_hints: dict[str, int] = {}
_committed: dict[tuple, tuple] = {}  # exercise and seed → the first commitment, and the verdict on it


def check(exercise: str, answer) -> None:
    """Say whether `answer` solves the exercise, for how many points, and if not, what is wrong with it.

    It is called on fresh random inputs each time. Nothing is raised, whatever the answer is. The first answer is kept
    beside the last.
    """
    from course_grading.exercise import BLANK, Verdict
    from course_grading.registry import find

    try:
        task = find(exercise)
    except ValueError as error:
        say(error)
        return
    try:
        verdict = _judged(task, answer)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of an answer whose class raises when it is looked at, SystemExit even
        verdict = Verdict(False, f"the answer cannot be looked at ({describe(error)}).")
    points, earned = verdict.points(task.points), _earned.setdefault(task.id, Earned())
    earned.add(points, blank=verdict.message == BLANK)
    before = "" if earned.first in (None, points) else f" (first answer: {earned.first})"
    say(f"{task.id} {'✓' if verdict.passed else '✗'} {points} of {task.points} points{before}: {verdict.message}")


def _judged(task, answer):
    """The verdict; where an answer commits itself and another did so before on the same draw, that one's verdict."""
    from course_grading.exercise import LocalAnswer, Unfit

    asked, seed, commitment = LocalAnswer(answer), None, None
    if getattr(task, "commitment", None):
        with suppress(Unfit, TypeError, ValueError):  # it is no whole answer yet: the verdict says what is missing
            seed, commitment = task.commitment(asked.value().value)
    before, verdict = _committed.get((task.id, seed), (commitment, None))
    if before != commitment:
        return replace(
            verdict,
            message=f"your first answer about seed {seed} stands, as what came of it has been told. "
            "For another try take another seed.",
        )
    verdict = task.judge(asked, secrets.randbits(31))
    if commitment is not None:
        _committed.setdefault((task.id, seed), (commitment, verdict))
    return verdict


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

    An exercise counts with the answer that was checked last, as a handed-in notebook's does. What the first answers
    earned stands below: a prediction is one only before its answer is known.
    """
    from course_grading.registry import exercises_of

    if not _earned:
        say("Nothing was checked yet.")
    for chapter in sorted({exercise[:2] for exercise in _earned}):
        tasks = exercises_of(chapter)
        for objective in dict.fromkeys(task.objective for task in tasks):
            _say_sum([task for task in tasks if task.objective == objective], objective)
        _say_sum(tasks, f"in all, chapter {chapter}")
        _say_sum(tasks, f"with the first answers{_changed(tasks)}", first=True)
    fallen = [exercise for exercise, earned in sorted(_earned.items()) if earned.last < earned.best]
    if fallen:
        say(f"The last answer counts. {', '.join(fallen)} had a better one before: check it again.")


def _say_sum(tasks, words: str, first: bool = False) -> None:
    earned = [_earned.get(task.id, Earned()) for task in tasks]
    got = sum((each.first or 0) if first else each.last for each in earned)
    say(f"{got:3} of {sum(task.points for task in tasks):2}  {words}")


def _changed(tasks) -> str:
    """The exercises whose last answer earned something else than the first."""
    earned = [(task.id, _earned.get(task.id, Earned())) for task in tasks]
    changed = [f"{id} {each.first}, then {each.last}" for id, each in earned if each.first not in (None, each.last)]
    return f" ({'; '.join(changed)})" if changed else ""
