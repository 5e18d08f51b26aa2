"""The concept test in a browser: by the keyboard alone, kept and erased, by a link, and without JavaScript."""

import re

import pytest

import browser as chromium
import concept_test
import notebook_io

STATIC = notebook_io.ROOT / "book" / "static"
KNOWN = concept_test.objectives()
FIELDS = "fieldset:visible"
REVEALED = "details:visible, label.right, label.wrong, table:visible"


def html() -> str:
    """The page as the built book has it: Markdown's headings as sections, its paragraphs left out."""
    parts = re.split(r"^## (.+)\n", concept_test.page(), flags=re.MULTILINE)
    text = parts[0].split("\n\n")[-2]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        place = concept_test.make_id(title)
        body, *script = body.split("<script", 1)
        text += f'<section id="{place}"><h2>{title}</h2>{body}</section>' + "".join(f"<script{s}" for s in script)
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>Test</title><article>{text}</article></html>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that holds the page as a file."""
    folder = tmp_path_factory.mktemp("concept")
    (folder / "book").mkdir()
    for kind in ("js", "css"):
        (folder / f"concept_test.{kind}").write_bytes((STATIC / f"concept_test.{kind}").read_bytes())
    (folder / "book" / "page.html").write_text(html(), encoding="utf-8")
    return folder


@pytest.fixture
def opened(browser, folder):
    """opened(place): the page in a browser of its own, to be used in a `with` statement."""
    with chromium.reader(browser, folder.as_uri() + "/") as context:
        yield lambda place="": chromium.opened(context, f"book/page.html{place}")


@pytest.fixture
def keeping(browser, folder):
    """As `opened`, from a web server: see `browser.reload_until`."""
    with chromium.served(folder) as home, chromium.reader(browser, home) as context:
        yield lambda place="": chromium.opened(context, f"book/page.html{place}")


def answer(page, form: str, wrong: set[int], left: frozenset[int] = frozenset()) -> None:
    """Answer a form by the keyboard: right, but for the questions that are to be wrong or left open."""
    for number, each in enumerate(KNOWN, 1):
        letters = [*each.items[form].options]
        right = letters.index(each.items[form].right)
        if number in left:
            continue
        page.locator(f"input[name={form}{number}]").first.focus()
        page.keyboard.press("Space")
        for _ in range((right + (number in wrong)) % 4):
            page.keyboard.press("ArrowDown")


def submit(page) -> None:
    page.locator("button[type=submit]:visible").focus()
    page.keyboard.press("Enter")


def said(page) -> str:
    return page.locator(".concept-tools .said").inner_text()


def column(page, form: str) -> list[str]:
    return page.locator(f"tbody td:nth-of-type({2 + 'AB'.index(form)})").all_inner_texts()


def test_nothing_is_shown_before_all_is_answered(opened):
    with opened() as (page, faults):
        assert page.locator(FIELDS).count() == 23 and page.locator(REVEALED).count() == 0
        answer(page, "A", wrong={2}, left=frozenset({3, 17}))
        submit(page)
        form = page.locator("form[data-form=A]")
        assert form.locator(".said").inner_text() == "Still open: A3, A17. Nothing is shown before."
        assert page.evaluate("document.activeElement.name") == "A3" and page.locator(REVEALED).count() == 0
        form.locator(".give-up").focus()
        page.keyboard.press("Enter")
        assert said(page) == "Form A: 20 of 23 right."
        marks = column(page, "A")
        assert [marks[1], marks[2], marks[16]] == ["✗ wrong", "– open", "– open"] and marks.count("✓ right") == 20
        assert page.locator("thead th:visible").all_inner_texts() == ["No.", "asks for", "A"]
        assert form.locator("label.right").count() == 23 and form.locator("label.wrong").count() == 1
        assert form.locator("input:enabled").count() == 0 and not form.locator("button").first.is_visible()
        form.locator("#A2 summary").focus()
        page.keyboard.press("Enter")
        assert page.locator("#A2 li").first.is_visible() and faults == []


def test_both_forms_give_a_gain_that_is_kept_and_erased(keeping):
    with keeping() as (page, faults):
        answer(page, "A", wrong={1, 4, 5, 9, 20})
        submit(page)
        page.get_by_role("button", name="Form B").press("Enter")
        assert page.locator(FIELDS).count() == 23 and page.locator("label.right:visible").count() == 0
        answer(page, "B", wrong={4})
        submit(page)
        expected = "Form A: 18 of 23 right. Form B: 22 of 23 right. Gain from A to B: +4. "
        expected += "That is 80 % of the 5 that were not right before."
        assert said(page) == expected
        assert [mark.startswith("✗") for mark in column(page, "B")] == [number == 4 for number in range(1, 24)]
        row = page.locator("tr[data-question='4']")
        assert (
            row.locator("a")
            .get_attribute("href")
            .endswith("04_measuring_disentanglement.html#what-is-each-score-blind-to")
        )
        chromium.reload_until(page, "td.right")
        assert said(page) == expected
        erase = page.locator(".erase")
        erase.press("Enter")
        assert erase.inner_text().startswith("Really") and said(page) == expected
        erase.press("Enter")
        assert said(page) == "All answers are erased." and page.locator(REVEALED).count() == 0
        assert (
            "course" not in page.evaluate("JSON.stringify(localStorage)") and page.locator("input:checked").count() == 0
        )
        page.reload()
        assert said(page) == "" and page.locator("input:checked").count() == 0 and faults == []


def test_answers_of_a_form_that_is_not_finished_are_kept(keeping):
    with keeping() as (page, _):
        page.locator("input[name=A7]").nth(2).check()
        chromium.reload_until(page, "input[name=A7]:checked")
        assert page.locator("input[name=A7]:checked").get_attribute("value") == "c"
        assert page.locator(REVEALED).count() == 0


def test_a_link_to_a_question_shows_its_form(opened):
    with opened("#B3") as (page, _):
        assert page.locator("#B3").is_visible() and not page.locator("#A1").is_visible()
        page.evaluate("location.hash = '#form-a-before-the-course'")
        page.locator("#A1").wait_for()
        assert not page.locator("#B3").is_visible()


def test_questions_are_named_groups_of_named_choices(opened):
    with opened() as (page, _):
        group = page.get_by_role("group", name=re.compile("^A2 For one image the ELBO"))
        assert group.get_by_role("radio").count() == 4
        group.get_by_role("radio", name="(b) 6").check()
        assert page.locator("[role=status]:visible, .said[role=status]").count() >= 2


def test_what_is_stored_by_somebody_else_does_no_harm(opened):
    with opened() as (page, faults):
        page.evaluate("localStorage.setItem('course/concept_test/A', 'no JSON')")
        page.reload()
        assert page.locator(FIELDS).count() == 23 and said(page) == "" and faults == []


def test_without_javascript(browser, folder):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(folder.as_uri() + "/book/page.html")
    assert page.locator(FIELDS).count() == 46 and page.locator("button:visible").count() == 0
    assert page.locator("details:visible").count() == 46 and page.locator("details[open]").count() == 0
    page.locator("#B2 summary").click()
    assert page.get_by_text("ELBO plus gap: −70 − 15 + 5.").is_visible()
    assert page.locator("tbody tr:visible").count() == 23
    context.close()
