"""The page of plans for a class, from book/teaching_plans.yml: `make reference`. Minutes are those that chapters and
exercises say themselves, so that a plan adds up whatever becomes of them."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

import concept_test
import notebook_io
import study_time
from course_grading import registry
from course_list import core_path, titles
from course_map import linked
from solutions_page import escaped

FILE = notebook_io.ROOT / "book" / "teaching_plans.yml"
PAGE = notebook_io.ROOT / "book" / "teaching_plans.md"
HEAD = """<!-- Made from teaching_plans.yml, the chapters and the exercises by `make reference`: change those. -->
# Plans for a class

For [instructors](instructors.md): two plans with what is read, done and handed in, and then, chapter by chapter, a
question to ask, and what to expect. Minutes of reading are those of the *core* sections, as [the timings](timings.md)
have them; minutes of exercises are what the exercises say. **No class has followed these plans yet**: what is expected
below comes from the wrong options of the quizzes, and from the mistakes that the checks know by name.
"""
ASKED = """## What to ask, and what to expect

A question for a show of hands before anything is explained, the answer that tempts, and mistakes that the checks of the
exercises name; [the page of solutions](exercises_solutions.md) has all of those.
"""
SAID = re.compile(r"\*\*Time\*\* [^:]+: (\d+) minutes to read its \*core\* sections")
CORE = core_path()
SESSION = {"title", "read", "here", "test", "exercises", "home", "class"}


class Minutes(NamedTuple):
    """Of a session: reading before it, what is fixed in class (reading, exercises, test), and at home afterwards."""

    before: int
    fixed: int
    home: int


def load(path: Path = FILE) -> dict:
    """The plans and the chapters' questions. Raises ValueError for keys, chapters or exercises that there are not."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    numbers = {name[:2] for name in titles()}
    for plan in found["plans"]:
        for session in plan["sessions"]:
            named = {*session.get("read", []), *session.get("here", []), *(each[:2] for each in _tasks(session))}
            if not {*session} <= SESSION or not named <= numbers:
                raise ValueError(f"{path.name}: got {session}; allowed are {sorted(SESSION)}, chapters and exercises.")
    return found


def _tasks(session: dict) -> list[str]:
    return [*session.get("exercises", []), *session.get("home", [])]


@cache
def _core(number: str) -> int:
    """Minutes for a chapter's core sections, which its first cell says (`study_time`); 0 while it is to come."""
    for path in notebook_io.chapters():
        if path.stem.startswith(number):
            return int(SAID.search(path.read_text(encoding="utf-8"))[1])
    return 0


def _work(task: str) -> int:
    """Minutes of an exercise, "02.1", or of all of a chapter's in fives, "02"; 0 while they are to come."""
    if "." in task:
        return registry.find(task).minutes
    return study_time.in_fives(study_time.exercises(task)) if task in registry.known() else 0


def minutes(session: dict) -> Minutes:
    test = concept_test.minutes() if "test" in session else 0
    here = sum(map(_core, session.get("here", []))) + sum(map(_work, session.get("exercises", []))) + test
    return Minutes(sum(map(_core, session.get("read", []))), here, sum(map(_work, session.get("home", []))))


def chapter(number: str) -> str:
    """A chapter by its number, linked, in bold where it is on the core path."""
    name = next(name for name in titles() if name.startswith(number))
    link = linked(name, words=number)
    return f"**{link}**" if name in CORE else link


def _in_class(session: dict) -> str:
    """What is fixed in class: what is read there, the exercises, the test."""
    parts, tasks = [f"read {chapter(number)}" for number in session.get("here", [])], session.get("exercises", [])
    parts += [f"exercise{'s' * (len(tasks) > 1)} {', '.join(tasks)}"] if tasks else []
    parts += [f"form {session['test']} of [the test](concept_test.md)"] if "test" in session else []
    return "; ".join(parts)


def table(plan: dict) -> str:
    """A row for each session, and the sums; a column that holds nothing is left out."""
    each = [minutes(session) for session in plan["sessions"]]
    before, fixed, home = (sum(column) for column in zip(*each, strict=True))
    lines = [("", "read before", "min", "fixed in class", "min", "hand in", "min"), ("---",) * 7]
    for place, (session, time) in enumerate(zip(plan["sessions"], each, strict=True), 1):
        read, work = map(chapter, session.get("read", [])), (f"exercises of {task}" for task in session.get("home", []))
        shown = [minutes or "–" for minutes in time]
        lines.append((place, " · ".join(read), shown[0], _in_class(session), shown[1], ", ".join(work), shown[2]))
    lines.append(("all", "", before, "", fixed, "", home))
    rows = ["| " + " | ".join(map(str, line if home else line[:-2])) + " |" for line in lines]
    meeting = plan["meeting"] * len(each)
    total = f"{before} minutes of reading before class, {meeting} in class, of which {fixed} are fixed by the table "
    total += "and the others are for the discussion" + (f", and {home} of exercises at home" if home else "")
    return "\n".join(rows) + f"\n\nIn all {total}: {(before + meeting + home) / 60:.1f} hours."


def sessions(plan: dict) -> str:
    """What is done in each, as a list."""
    lines = []
    for place, each in enumerate(plan["sessions"], 1):
        end = "" if each["title"].endswith("?") else "."
        lines.append(f"{place}. **{each['title']}{end}** {each['class']}")
    return "\n".join(lines)


def asked(number: str, entry: dict) -> str:
    """What to ask in a chapter and what to expect, with mistakes from its checks."""
    name = next(name for name in titles() if name.startswith(number))
    lines = [f"{chapter(number)} {titles()[name]}", f": *{entry['ask']}*"]
    lines.append(f"  {entry['expect']}")
    for task, place in entry["mistakes"]:
        wrong = registry.find(task).wrong
        if place >= len(wrong):
            raise ValueError(f"{FILE.name}: got mistake {place} of {task}; allowed are 0 to {len(wrong) - 1}.")
        lines.append(f"  {task}: {escaped(wrong[place].message)}")
    return "\n\n".join(["\n".join(lines[:2]), *lines[2:]])


def page() -> str:
    found, parts = load(), [HEAD.strip()]
    for plan in found["plans"]:
        parts += [f"## {plan['name']}", plan["about"], table(plan), sessions(plan)]
    return "\n\n".join([*parts, ASKED.strip(), *(asked(*each) for each in found["chapters"].items())]) + "\n"
