"""The built book as a reader meets it, in a real browser that has no network.

Each page is opened as a file in the light theme and then switched to the dark one, each time in a wide and in a narrow
window. What needs a web server (search, explorers, what a page keeps) is opened from one by the tests that ask for it.
"""

import collections
import re

import pytest

import browser as chromium
import page_rules
import site_rules

RULES = ("load_faults", *(rule.__name__ for rule in (*page_rules.ONCE, *page_rules.AT_EACH_WIDTH)))
NOT_FOR_PAPER = ("genindex.html", "search.html")  # made by Sphinx: one searches them, nobody prints them
TALLEST = {1280: 20_000, 400: 30_000}  # width of the window → what a reader scrolls through at most, in CSS pixels
# Asked again of every page in the dark theme; the others do not depend on it. To open each page anew would set every
# formula of the book a second time.
AGAIN = dict(once=(page_rules.picture_faults,), at_each_width=(page_rules.contrast_faults,))
# The reader's own switch, which goes round three states.
DARKEN = """() => {
  const root = document.documentElement, button = document.querySelector('.theme-switch-button');
  for (let clicks = 0; button && root.dataset.mode !== 'dark' && clicks < 3; clicks++) button.click();
  return root.dataset.theme;
}"""


@pytest.fixture(scope="module")
def homes(html):
    """Where the book is, and the theme it is read in there."""
    with chromium.served(html) as address:
        yield {html.as_uri() + "/": "light", address: "dark"}


@pytest.fixture(scope="module")
def visits(browser, html):
    """(faults by rule, links and places by page) of every page, found on the disk rather than in a list."""
    faults, links = collections.defaultdict(list), {}

    def note(name, theme, found):
        for rule, sentences in found.items():
            faults[rule] += [f"{theme}, {name}: {sentence}" for sentence in sentences]

    with chromium.reader(browser, html.as_uri() + "/") as context:
        for name in site_rules.pages(html):
            with chromium.opened(context, name) as (page, loading):
                found = page_rules.inspect(page)
                if name in NOT_FOR_PAPER:
                    del found["print_faults"]
                note(name, "light", found)
                assert page.evaluate(DARKEN) == "dark", name
                note(name, "dark", page_rules.inspect(page, **AGAIN))
                links[name] = page_rules.links(page)
                note(name, "loading", {"load_faults": loading})
    return faults, links


def test_every_page_was_opened(visits, html):
    opened = set(visits[1])
    assert {"book/index.html", "search.html"} < opened and "index.html" not in opened
    assert opened == set(site_rules.pages(html))


@pytest.mark.parametrize("rule", RULES)
def test_pages(visits, rule):
    assert not visits[0][rule], "\n".join(visits[0][rule])


def test_links(visits, html):
    assert site_rules.link_faults(visits[1], html) == []


def test_nothing_is_loaded_from_elsewhere(html):
    assert site_rules.outside_faults(html) == []


def test_no_long_page_is_taller_than_one_scrolls(browser, html):
    """The scorecard, the runs and the errata with all that is folded closed, on a desk and on a telephone."""
    names = [name for name in site_rules.pages(html) if re.fullmatch(r"book/(scorecard.*|errata.*|runs)\.html", name)]
    with chromium.reader(browser, html.as_uri() + "/") as context:
        heights = {width: {} for width in TALLEST}
        for name in names:
            with chromium.opened(context, name) as (page, _):
                for width in TALLEST:
                    page.set_viewport_size({"width": width, "height": chromium.HEIGHT})
                    heights[width][name] = page.evaluate("document.documentElement.scrollHeight")
    assert len(names) == 10
    for width, tallest in TALLEST.items():
        assert max(heights[width].values()) < tallest, heights[width]


def test_a_link_to_an_erratum_opens_it(browser, html):
    with chromium.reader(browser, html.as_uri() + "/") as context:
        with chromium.opened(context, "book/errata.html#T2") as (page, _):
            assert page.locator("details:has(> #T2)[open]").count() == 1
            page.locator("article summary", has_text="All entries in one table").click()
            page.locator("article table a[href='#F3']").click()
            page.locator("details:has(> #F3)[open]").wait_for()
            box = page.locator("h3", has_text="F3.").bounding_box()
            assert 0 < box["y"] < chromium.HEIGHT / 2


def test_a_link_from_another_page_opens_its_claim(browser, html):
    with chromium.reader(browser, html.as_uri() + "/") as context:
        with chromium.opened(context, "book/errata.html#T1") as (page, _):
            link = page.locator("details:has(> #T1) a[href*='scorecard_distances.html#']").first
            link.click()
            page.wait_for_url("**/scorecard_distances.html#*")
            page.locator("details.claim[open]").wait_for()
            assert page.locator("details.claim[open]").count() == 1


def test_the_front_door_leads_into_the_book(browser, homes):
    for home, theme in homes.items():
        with chromium.reader(browser, home, theme) as context:
            page = context.new_page()
            page.goto(home + "index.html")
            page.wait_for_url("**/book/index.html")


def test_the_search_finds_a_page_by_a_word_of_it(browser, html, homes):
    """From a web server; as a file the browser does not let the page read the others."""
    address = next(home for home in homes if home.startswith("http"))
    chapter = next(name for name in site_rules.pages(html) if name.startswith("chapters/"))
    with chromium.reader(browser, address) as context:
        with chromium.opened(context, chapter) as (page, _):
            word = max(re.findall(r"\b[a-z]+\b", page.locator("article p").first.inner_text()), key=len)
        with chromium.opened(context, f"search.html?q={word}") as (page, faults):
            page.locator("#search-results .search-summary").wait_for()
            page.locator(f"#search-results li a[href*='{chapter}']").first.wait_for()
            assert faults == []
