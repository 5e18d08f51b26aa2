"""The explorers' scripts compute what course_lib does: stored cases of both, and the numbers that chapters print."""

import json
import math
import re
import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

import explorer_cases
import explorer_pages
import notebook_io

HERE = Path(__file__).parent
LOADS = re.compile(r"\bfetch\(|\bimport\b|https?://(?!www\.w3\.org/2000/svg)|XMLHttpRequest|url\(")
CHAPTERS = {"05": "cloud", "15": "adversary", "16": "kernel", "19": "triplet"}


def stored_cases():
    return json.loads(explorer_cases.CASES.read_text(encoding="utf-8"))


def test_the_stored_cases_are_those_of_the_library():
    fresh = json.loads(json.dumps(explorer_cases.cases()))
    assert explorer_cases.differences(stored_cases(), fresh) == []


def test_a_case_that_has_changed_is_named():
    case = {"call": "f", "with": [1, [2.0]], "gives": {"a": 0.5, "b": True}}
    assert explorer_cases.differences(case, case) == []
    for other in ({**case, "gives": {"a": 0.50001, "b": True}}, {**case, "gives": {"a": 0.5, "b": False}},
                  {**case, "with": [1, [2.0, 3.0]]}, {"call": "f"}):  # fmt: skip
        (fault,) = explorer_cases.differences(other, case)
        assert fault.startswith("cases")


def test_the_scripts_under_node():
    node, _ = compute_driver_executable()  # playwright, which the tests need anyway, brings its own
    command = [node, "--test", "--test-reporter=tap", HERE / "explorers.test.js"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)[1]) > len(stored_cases())


def test_the_scripts_are_small_and_load_nothing():
    files = sorted(explorer_pages.FOLDER.iterdir())
    assert sum(file.stat().st_size for file in files) < 100_000
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not LOADS.search(text), file.name


def explorer_cell(number):
    (path,) = notebook_io.ROOT.glob(f"chapters/{number}_*.ipynb")
    cells = [cell for cell in notebook_io.read(path).cells if explorer_pages.PLACE.search(cell.source)]
    (cell,) = cells
    assert cell.cell_type == "markdown" and explorer_pages.PLACE.findall(cell.source) == [CHAPTERS[number]]
    return cell.source


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_cell_asks_falls_back_and_answers(number):
    before, within, after = re.split(r"<div class.*?>|</div>", explorer_cell(number))
    assert "?" in before and "without it" in within.lower() and after.strip().startswith("You should have found")


def test_what_chapter_15_says_of_its_explorer():
    text = explorer_cell("15")
    constant = {"comb": [], "frame": []}
    for kind, spacings in constant.items():
        for spacing in range(1, 9):
            row = explorer_cases.shape_images(kind, 8, spacing).view(8, 8, -1)[:, 0]
            if len(explorer_cases.torch.cdist(row, row).round(decimals=6)[0, 1:].unique()) == 1:
                spacings.append(spacing)
    assert constant == {"comb": [5, 7, 8], "frame": [8]}
    prices = [explorer_cases.starting_price(explorer_cases.shape_images("comb", 8, spacing)) for spacing in (5, 8)]
    assert [f"{price:.1f}" in text for price in prices] == [True, True]


def test_what_chapter_16_says_of_its_explorer():
    text = explorer_cell("16")

    def found(*kernel):
        return explorer_cases.follow(explorer_cases.row_distances(explorer_cases.kernel_of(*kernel)))

    tent, box = found("drawn", 63, explorer_cases.TENT), found("box", 31)
    assert (
        f"{tent['rank']:.3f}"[1:] in text and f"{tent['linear']:.3f}"[1:] in text and f"{box['rank']:.2f}"[1:] in text
    )
    spike, ring = found("drawn", 31, [1] + [0] * 8), found("drawn", 31, [0] * 8 + [1])
    assert f"{spike['rank']:.2f}"[1:] in text and f"−{-ring['rank']:.2f}".replace("0.", ".") in text


def test_what_chapter_05_says_of_its_explorer():
    text = explorer_cell("05")
    assert f"{explorer_cases.box_correlation(1, 45):.3f}"[1:] in text and f"{math.log(400):.2f}" in text
