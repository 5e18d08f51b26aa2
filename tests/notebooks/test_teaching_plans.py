"""The plans for a class: minutes that add up to what the timings say, the core path, a question in every chapter."""

import re

import pytest

import notebook_io
import teaching_plans
from course_grading import registry


def test_the_page_is_up_to_date():
    assert teaching_plans.PAGE.read_text(encoding="utf-8") == teaching_plans.page(), "run `make reference`"


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def minutes(cell: str) -> int:
    return 0 if cell in ("–", "") else int(cell.removesuffix(" min"))


def test_the_plans_add_up_to_the_timings():
    """Each row by the page of timings, sums by the rows, and the words below by the sums."""
    timings = rows((notebook_io.ROOT / "book" / "timings.md").read_text(encoding="utf-8"))
    core, work = ({row[0][1:3]: minutes(row[place]) for row in timings if row[0][1:3].isdigit()} for place in (1, 3))
    plans = teaching_plans.PAGE.read_text(encoding="utf-8").split("\n## ")[1:-1]
    assert len(plans) == 2
    for plan in plans:
        _, *each, total = rows(plan)
        for row in each:
            assert minutes(row[2]) == sum(core.get(found, 0) for found in re.findall(r"\[(\d\d)\]", row[1]))
            assert len(row) == 5 or minutes(row[6]) == sum(work.get(n, 0) for n in re.findall(r"of (\d\d)", row[5]))
            assert minutes(row[4]) <= 85  # of 90, so that there is time to talk
        columns = range(2, len(total), 2)
        assert [minutes(total[place]) for place in columns] == [sum(minutes(row[p]) for row in each) for p in columns]
        said = [int(found) for found in re.findall(r"\d+", plan.split("In all ")[1].split(": ")[0])]
        assert said[1] == 90 * len(each) and [said[0], *said[2:]] == [minutes(total[place]) for place in columns]
        hours = sum(said[place] for place in (0, 1, *range(3, len(said)))) / 60
        assert f"{hours:.1f} hours" in plan


def test_the_plans_follow_the_core_path_and_ask_in_every_chapter():
    found = teaching_plans.load()
    for plan in found["plans"]:
        read = [number for each in plan["sessions"] for number in (*each.get("read", []), *each.get("here", []))]
        assert read == sorted(read) and {name[:2] for name in teaching_plans.CORE} <= {*read}
        assert {*read} <= {*found["chapters"]}
    assert {f"{place:02}" for place in (*range(1, 11), *range(14, 21))} <= {*found["chapters"]}


def test_a_plan_with_a_chapter_that_there_is_not_is_refused(tmp_path):
    text = teaching_plans.FILE.read_text(encoding="utf-8").replace('read: ["03"]', 'read: ["77"]')
    (tmp_path / "plans.yml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"plans.yml: got .*77"):
        teaching_plans.load(tmp_path / "plans.yml")


def test_the_graded_example_is_what_the_checks_say():
    """The messages that the page quotes, and rows whose points add up to at most what is possible."""
    text = (notebook_io.ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^- (01\.\d): “(?:\d of \d right\. )?(.+)”$", text, re.MULTILINE)
    assert [task for task, _ in quoted] == ["01.4", "01.5"]
    for task, message in quoted:
        assert message in [wrong.message for wrong in registry.find(task).wrong]
    table = {
        line.split()[0]: [*map(float, line.split()[1:])]
        for line in re.findall(r"^(?:[ab]\w+\.ipynb|poss).+", text, re.M)
    }
    possible = table["possible"]
    assert possible[:6] == [task.points for task in registry.exercises_of("01")]
    assert len(table) == 3 and all(sum(row[:-1]) == row[-1] <= possible[-1] for row in table.values())
