"""The scorecard's filter in a browser: with the mouse, with the keyboard, by a link, and without JavaScript."""

import pytest

import browser as chromium
import notebook_io
import scorecard_pages
from course_replication import Verdict
from course_replication.claims import Claim, Expectation
from scorecard_claims import badge, folded

SCRIPT = notebook_io.ROOT / "book" / "static" / "claims.js"
KINDS = {"match": "number", "fail": "order", "inconclusive": "order", "not run": "construction"}


def verdict(word: str, scale: str, chapter: str) -> Verdict:
    expects = Expectation("direction", None, ("a > b",))
    claim = Claim(
        f"isa/{word.replace(' ', '-')}-{scale}", "isa", "Table 1", f"A {word}", "It is so.", "exact", expects, chapter,
        scale, 1, evidence=KINDS[word],
    )  # fmt: skip
    return Verdict(claim, word, scale)


VERDICTS = [
    verdict("match", "exact", "15_xysquares"), verdict("match", "small", "15_xysquares"),
    verdict("fail", "small", "18_triplets"), verdict("inconclusive", "exact", "15_xysquares"),
    verdict("not run", "full", "18_triplets"),
]  # fmt: skip


def html(part: str) -> str:
    """A part of a claim as the built book has it: its anchor and paragraphs as HTML."""
    if not part.startswith("("):
        return part if part.startswith("<") else f"<p>{part}</p>"
    label, text = part.split(")=\n")
    return f'<p id="{label[1:].replace("/", "-")}">{text}</p>'


def section(title: str, verdicts) -> str:
    claims = "\n".join(html(part) for each in verdicts for part in folded(each, ""))
    return f'<section id="{title}"><h2>{title}</h2>{claims}</section>'


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The address of a folder with a page of five claims in two sections, and one of the same claims in a list."""
    folder = tmp_path_factory.mktemp("claims")
    (folder / "claims.js").write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "book").mkdir()
    head = "<!doctype html><html lang=en><meta charset=utf-8><title>Claims</title><article>"
    form = f"<section><h1>Claims</h1>{scorecard_pages.filter_form(VERDICTS)}"
    lines = "".join(f"<li><p>{badge(each, filtered=True)} {each.claim.title}</p></li>" for each in VERDICTS)
    for name, body in (
        ("page", section("first", VERDICTS[:3]) + section("second", VERDICTS[3:])),
        ("list", f"<section><ul>{lines}</ul></section>"),
    ):
        (folder / "book" / f"{name}.html").write_text(f"{head}{form}{body}</section></article>", encoding="utf-8")
    return folder.as_uri() + "/"


@pytest.fixture
def opened(browser, home):
    """opened(address): a page at that address, to be used in a `with` statement."""
    with chromium.reader(browser, home) as context:
        yield lambda address="page.html": chromium.opened(context, f"book/{address}")


def shown(page) -> list[str]:
    """The titles of the claims that can be seen."""
    return page.locator(".claim-title:visible").all_inner_texts()


def said(page) -> str:
    return page.locator(".claim-filter output").inner_text()


ALL = [each.claim.title for each in VERDICTS]


def test_everything_is_shown_at_first(opened):
    with opened() as (page, faults):
        assert shown(page) == ALL and said(page) == "5 of 5 claims are shown." and faults == []
        assert page.get_by_label("verdict").input_value() == "" and not page.locator("details[open]").count()


def test_with_the_mouse(opened):
    with opened() as (page, _):
        page.get_by_label("verdict").select_option("match")
        assert shown(page) == ["A match", "A match"] and said(page) == "2 of 5 claims are shown."
        assert page.locator("#first").is_visible() and not page.locator("#second").is_visible()
        page.get_by_label("scale").select_option("small")
        assert said(page) == "1 of 5 claims are shown."
        page.get_by_label("chapter").select_option("18")
        assert shown(page) == [] and said(page) == "0 of 5 claims are shown."
        page.get_by_role("button", name="Show all").click()
        page.wait_for_function("document.querySelector('output').textContent.startsWith('5 ')")
        assert shown(page) == ALL and page.locator("#second").is_visible()


def test_with_the_keyboard(opened):
    with opened() as (page, _):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "verdict"
        page.keyboard.type("fail")
        assert shown(page) == ["A fail"]
        page.keyboard.press("Home")
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        assert page.get_by_label("kind").input_value() == "number" and shown(page) == ["A match", "A match"]
        for name in ("scale", "chapter"):
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.name") == name
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('output').textContent.startsWith('5 ')")
        assert shown(page) == ALL


def test_opening_and_closing_all_that_is_shown(opened):
    with opened() as (page, _):
        page.get_by_label("kind").select_option("order")
        page.get_by_role("button", name="Open those shown").click()
        page.get_by_role("button", name="Close all").wait_for()
        assert page.locator("details.claim[open] .claim-title").all_inner_texts() == ["A fail", "A inconclusive"]
        page.get_by_role("button", name="Close all").click()
        assert not page.locator("details.claim[open]").count()


def test_the_number_shown_is_told_politely(opened):
    with opened() as (page, _):
        assert page.locator(".claim-filter output").get_attribute("aria-live") == "polite"
        assert page.locator(".claim-filter label").count() == page.locator(".claim-filter select").count() == 4


def test_a_link_opens_its_claim(opened):
    with opened("page.html#isa-fail-small") as (page, _):
        assert page.locator("details.claim[open] .claim-title").all_inner_texts() == ["A fail"]
        assert page.locator("summary", has_text="A fail").evaluate("each => each.getBoundingClientRect().top") >= 0


def test_a_link_to_a_claim_that_is_filtered_out_shows_it(opened):
    with opened("page.html?verdict=match#isa-inconclusive-exact") as (page, _):
        assert shown(page) == ["A match", "A match", "A inconclusive"] and said(page) == "3 of 5 claims are shown."
        page.evaluate("location.hash = 'isa-fail-small'")
        page.wait_for_function("document.querySelector('output').textContent.startsWith('4 ')")
        assert shown(page) == ["A match", "A match", "A fail", "A inconclusive"]
        assert page.locator("details.claim[open] .claim-title").all_inner_texts() == ["A fail", "A inconclusive"]


def test_a_link_to_a_section_that_is_filtered_out_shows_all(opened):
    with opened("page.html?verdict=match#second") as (page, _):
        page.wait_for_function("document.querySelector('output').textContent.startsWith('5 ')")
        assert shown(page) == ALL


def test_the_address_can_ask(opened):
    with opened("page.html?verdict=not-run&kind=construction&scale=full&chapter=nonsense") as (page, _):
        assert shown(page) == ["A not run"] and page.get_by_label("chapter").input_value() == ""


def test_claims_in_a_list(opened):
    with opened("list.html?verdict=match") as (page, faults):
        assert page.locator("li:visible").count() == 2 and said(page) == "2 of 5 claims are shown." and faults == []
        assert not page.locator(".claim-unfold").is_visible()


def test_without_javascript(browser, home):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{home}book/page.html?verdict=match#isa-fail-small")
    assert shown(page) == ALL and not page.locator(".claim-filter").is_visible()
    assert page.get_by_text("It is so.").nth(2).is_visible() and not page.get_by_text("It is so.").nth(0).is_visible()
    context.close()
