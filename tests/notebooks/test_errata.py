"""The errata: each line of the table has its section, with a place, a check that runs and can fail, and links that lead
somewhere."""

import contextlib
import io
import re

import pytest

import notebook_io
import notebook_rules
from course_replication import Store, load_claims
from course_replication.claims import claims_named
from course_replication.plans import parts_of

PAGE = notebook_io.ROOT / "book" / "errata.ipynb"
NOTEBOOK = notebook_io.read(PAGE)
GRADES = {"wrong", "wrong: a misprint", "wrong: contradicts itself", "unsaid", "loose", "right"}
ROW = re.compile(r"^\| (\w\d+) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \| \[(\d\d)\]\((.+?)\) \|$", re.MULTILINE)
NUMBER = re.compile(r"-?\d*\.?\d+")
ROWS = ROW.findall(re.sub(r"</?(?:span|a)\b.*?>", "", NOTEBOOK.cells[0].source))  # spans only keep words whole
PARTS = ("Where", "Printed", "Right", "What it changes", "Measured")
PAPERS = {"thesis": "T", "FactorVAE": "F", "slides": "S", "ISA-VAE": "I", "review": "R"}


def sections() -> dict[str, tuple[str, list]]:
    """Number of an entry → its text and the code cells below it."""
    found, current = {}, None
    for cell in NOTEBOOK.cells:
        heading = re.match(r"### (\w\d+)\. ", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            current = found.setdefault(heading[1], (cell.source, []))
        elif cell.cell_type == "markdown":
            current = None
        elif current:
            current[1].append(cell)
    return found


SECTIONS = sections()
CELLS = {cell.id: cell.source for _, cells in SECTIONS.values() for cell in cells}

# By the id of an entry's cell: something that is so, and a change that makes it otherwise. Those whose cells take
# seconds, or only divide what is printed, are left out.
FLIPS = {
    "self": ("(steps > 0).double())", "steps.double())"),
    "merged": ("factors.sum(1, keepdim=True), (0, 3)", "factors, (0, 0)"),
    "traversals": ("others % 2", "0 * others"),
    "turn": ("rotate(degrees)", "rotate(0)"),
    "sigma": ("AdaGVAE", "AdaMLVAE"),
    "product": ("variance=variance", 'variance="harmonic"'),
    "allf": ("60_000, generator()", "60_000, generator(), k=(1, 5)"),
    "k": ("[0.0, 1.0, 10.0]", "[0.0, 10.0, 10.0]"),
    "schedule": ("weight, 1.0)", "1.0, 1.0)"),
    "constants": ("1 / D", "1 / 2"),
    "ties": ("double() / 7", "double() / 8"),
    "mig": ("10 * torch.randn", "0 * torch.randn"),
    "hardsoft": ("(None, 10.0)", "(None, None)"),
    "ends": ("39, 9, 20", "38, 9, 20"),
    "signs": ("printed = -", "printed = "),
    "line": ("along**2", "along"),
    "radius": ("kernel[1:-1, 1:-1]", "kernel[9:-9, 9:-9]"),
    "averages": ('"background", 1.0', '"background", 0.1'),
    "turned": ("(0, 40)", "(0, 45)"),
    "chance": ("votes[0].argmax", "votes[1].argmax"),
    "penalty": ("(1, -1)", "(-1, -1)"),
    "gan": ("-share.log()", "-torch.log1p(-share)"),
    "error": ("from_table(factors,", "from_table(0 * factors,"),
    "codes-entropy": ("math.log(10)", "0.0"),
    "one-gradient": ("posterior, name, N)", 'posterior, {"mws": "mss"}.get(name, name), N)'),
    "duplicates": ("[0, 1, 2, 2]", "[0, 1, 2, 1]"),
    "argmin": ("[1.0, 50.0]", "[50.0, 1.0]"),
    "dip": ("np.diag([2.0, 1.0, 0.5])", "np.triu(np.ones((3, 3)))"),
    "house": ("right, -np.outer(v, v)", "right, -2 * np.outer(v, v)"),
    "entropy": ("[0.97, 0.01, 0.01, 0.01]", "[0.25, 0.25, 0.25, 0.25]"),
    "trembling": ("common + 0.1", "0.1"),
    "ignorance": ("factors.double()", "torch.rand(factors.shape)"),
    "shares": ("share > 50", "share > 20"),
    "multiplier": ("beta=beta).model.terms(moments, beta)", "beta=1 / beta).model.terms(moments, 1 / beta)"),
    "which-diagonal": ("[3.0, 1.0]", "[2.0, 2.0]"),
    "joint-law": ("Entangler.uniform(2)(z)", "turned"),
    "bent": ("[[1, 1], [-1, 1]]", "[[1, 1], [1, 1]]"),
    "transient": ("steps=steps", "steps=10"),
    "scale": ("(1.0, 2.0)", "(2.0, 1.0)"),
    "little": ("*exponents)", "8.0, 8.0)"),
    "unlike": ("(2,), outer, inner)", "(2,), outer, outer)"),
    "invariant": ("2.1, 2.2)", "2.0, 2.0)"),
    "conditional": ("np.diag(1 / np.diag(precision))", "np.linalg.inv(precision)"),
    "constant": ("(a, 0)", "(a + b, 0)"),
    "review-mig": ("factor[:, :1]]", "torch.rand(20_000, 1)]"),
    "clip": ('("mig", "parameters")', '("parameters", "parameters")'),
    "gains": ('("vit-b-16", "vit-l-14")', '("rn50", "rn50x16")'),
    "fields": ("tangents=np.stack(planes)", "tangents=None"),
    "controls": ('table["azimuth"][0] - table["type"][0]', 'table["type"][0] - table["azimuth"][0]'),
    "shades": ("(0, 1)", "(0, 0)"),
    "lists": ('apart": five', 'apart": four'),
    "half": ("success > 0.5", "success > 0.6"),
    "runs": ("% each and", "% 10 and"),
    "votes": ("votes, 0.9", "votes, 0.9 if votes == 800 else 0.99"),
}
UNFLIPPED = {"random", "std", "sprites"}


def numbers(text: str) -> set[float]:
    return {float(number) for number in NUMBER.findall(text)}


def measured(text: str) -> str:
    return re.search(r"^\*\*Measured\.\*\* (.+)$", text, re.MULTILINE)[1]


def unfounded(said: str, printed: str) -> set[float]:
    """The numbers of a sentence that no output prints."""
    return numbers(said) - numbers(printed)


def run(source: str) -> None:
    """A cell, after the page's imports and nothing else."""
    namespace = {}
    imports = next(cell.source for cell in NOTEBOOK.cells if cell.id == "imports")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(imports, namespace)
        exec(source, namespace)


def test_the_table_and_the_sections_are_the_same_entries():
    letters = [PAPERS[paper] for _, paper, *_ in ROWS]
    assert letters == sorted(letters, key=[*PAPERS.values()].index)
    assert [row[0] for row in ROWS] == [f"{x}{letters[: place + 1].count(x)}" for place, x in enumerate(letters)]
    assert list(SECTIONS) == [row[0] for row in ROWS]
    for number, (text, _) in SECTIONS.items():
        assert text.startswith(f"### {number}. ")
        assert f'| <a href="#{number}">{number}</a> |' in NOTEBOOK.cells[0].source


@pytest.mark.parametrize("number, line, grade", [(row[0], row[3], row[4]) for row in ROWS])
def test_an_entry_and_its_check_are_folded_below_one_line(number, line, grade):
    """What is seen first is the find, as in the table; a link to the entry leads inside, so that it opens."""
    text, cells = SECTIONS[number]
    head = f'<details><summary><b>{grade.capitalize()}</b> · {line}</summary><span id="{number}"></span>'
    assert text.split("\n\n")[1] == head and text.endswith("\n\n</details>") and text.count("<details>") == 1
    assert all(cell.metadata["tags"][0] == "hide-cell" for cell in cells)


@pytest.mark.parametrize("number, paper, place, line, grade, consequence, chapter, link", ROWS)
def test_an_entry_says_where_what_and_how_it_shows(number, paper, place, line, grade, consequence, chapter, link):
    text, cells = SECTIONS[number]
    assert grade in GRADES
    assert re.search(r"Section|Eq\.|Eqs|Table|Figure|Appendix|Slide|Proof", place), place
    assert f"**Where.** {place}. *{grade.capitalize()}.*" in text
    assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE) == [*PARTS]
    assert cells and any(re.search(r"^ *assert ", cell.source, re.MULTILINE) for cell in cells)
    assert f"[chapter {chapter}]({link})" in text, "the table's chapter is not in the entry"


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


def test_each_entry_has_a_flip_or_is_named():
    assert FLIPS.keys() | UNFLIPPED == CELLS.keys() and not FLIPS.keys() & UNFLIPPED


@pytest.mark.parametrize("name", FLIPS)
def test_a_check_fails_where_its_statement_is_made_false(name):
    so, otherwise = FLIPS[name]
    assert so in CELLS[name]
    with pytest.raises(AssertionError):
        run(CELLS[name].replace(so, otherwise))


def test_a_check_runs_by_itself():
    run(CELLS["house"])


def test_links_lead_to_claims_and_to_chapters():
    known = {claim.id for claim in load_claims()}
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGE.parent.glob("scorecard*.md"))
    for text, _ in SECTIONS.values():
        claims = re.findall(r"\[the scorecard\]\(#(.+?)\)", text)
        assert len(claims) == 1 and claims[0] in known and f"({claims[0]})=" in pages, claims
        for link in re.findall(r"\]\((\.\..+?)\)", text):
            assert (PAGE.parent / link).resolve().is_file(), link


def test_what_an_entry_says_of_table_1_is_what_a_stored_run_counts():
    assert "alone make 1,300 at fifty each, with the VAE counted once" in SECTIONS["I7"][0]
    (claim,) = claims_named(["isa/section-4"])
    (run,) = [run for part in parts_of(claim, "small") for run in part.runs()]
    assert Store().results()[run.id]["metrics"]["experiments/one-vae"] == 1300


def test_the_stored_page_keeps_the_rules():
    assert not [fault for rule in notebook_rules.RULES for fault in rule(NOTEBOOK)]
