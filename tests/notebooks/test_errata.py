"""The errata: each line of the table has its section, with a place, a check that runs and links that lead somewhere."""

import re

import pytest

import notebook_io
import notebook_rules
from course_replication import load_claims

PAGE = notebook_io.ROOT / "book" / "errata.ipynb"
NOTEBOOK = notebook_io.read(PAGE)
KINDS = {"misprint", "wrong", "unsaid", "contradicts itself"}
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
NUMBER = re.compile(r"-?\d*\.?\d+")
ROWS = ROW.findall(re.sub(r"</?span.*?>", "", NOTEBOOK.cells[0].source))  # spans only keep words whole
PARTS = ("Where", "Printed", "Right", "What it changes", "Measured")


def sections() -> dict[str, tuple[str, list]]:
    """Number of an entry → its text and the code cells below it."""
    found, current = {}, None
    for cell in NOTEBOOK.cells:
        heading = re.match(r"### (\d+)\. ", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            current = found.setdefault(heading[1], (cell.source, []))
        elif cell.cell_type == "markdown":
            current = None
        elif current:
            current[1].append(cell)
    return found


SECTIONS = sections()


def numbers(text: str) -> set[float]:
    return {float(number) for number in NUMBER.findall(text)}


def measured(text: str) -> str:
    return re.search(r"^\*\*Measured\.\*\* (.+)$", text, re.MULTILINE)[1]


def unfounded(said: str, printed: str) -> set[float]:
    """The numbers of a sentence that no output prints."""
    return numbers(said) - numbers(printed)


def test_the_table_and_the_sections_are_the_same_entries():
    assert [row[0] for row in ROWS] == [str(number) for number in range(1, len(ROWS) + 1)]
    assert list(SECTIONS) == [row[0] for row in ROWS]
    assert 15 <= len(ROWS) <= 30


@pytest.mark.parametrize("number, paper, place, line, kind, consequence", ROWS)
def test_an_entry_says_where_what_and_how_it_shows(number, paper, place, line, kind, consequence):
    text, cells = SECTIONS[number]
    assert kind in KINDS
    assert re.search(r"Section|Eq\.|Eqs|Table|Figure|Appendix|Slide|Proof", place), place
    assert f"**Where.** {place}. *{kind.capitalize()}.*" in text
    assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE) == [*PARTS]
    assert cells and any(re.search(r"^ *assert ", cell.source, re.MULTILINE) for cell in cells)


@pytest.mark.parametrize("number", SECTIONS)
def test_the_numbers_of_the_prose_are_those_of_the_outputs(number):
    text, cells = SECTIONS[number]
    printed = " ".join(output.text for cell in cells for output in cell.outputs if output.output_type == "stream")
    said = measured(text)
    assert numbers(said), "no number is said"
    assert not unfounded(said, printed), f"{said}\n{printed}"


def test_a_number_that_no_output_prints_is_found():
    assert unfounded("It is .25 here.", "0.25 and 0.5") == set()
    assert unfounded("It is .26 here.", "0.25 and 0.5") == {0.26}


def test_links_lead_to_claims_and_to_chapters():
    known = {claim.id for claim in load_claims()}
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGE.parent.glob("scorecard*.md"))
    for text, _ in SECTIONS.values():
        claims = re.findall(r"\[the scorecard\]\(#(.+?)\)", text)
        assert len(claims) == 1 and claims[0] in known and f"({claims[0]})=" in pages, claims
        for link in re.findall(r"\]\((\.\..+?)\)", text):
            assert (PAGE.parent / link).resolve().is_file(), link


def test_the_stored_page_keeps_the_rules():
    assert not [fault for rule in notebook_rules.RULES for fault in rule(NOTEBOOK)]
