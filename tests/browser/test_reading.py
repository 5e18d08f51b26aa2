"""The book as it is read: lines on a desk, tables and figures on a telephone, and predictions that are kept."""

import pytest

import browser as chromium
import notebook_io

CHAPTERS = [f"chapters/{path.stem}.html" for path in notebook_io.chapters()]
WITH_TABLES = ["book/frameworks.html", "book/metrics.html", "book/scorecard.html"]
# The line's length in characters, on average: the width of a paragraph by the mean width of its letters.
LINE = """() => {
  const brush = document.createElement('canvas').getContext('2d');
  const all = [...document.querySelectorAll('article section > p')];
  const plain = all.filter(p => !p.querySelector('mjx-container, code'));
  const lengths = plain.filter(p => p.innerText.length > 200).map(p => {
    brush.font = getComputedStyle(p).font;
    return p.clientWidth * p.innerText.length / brush.measureText(p.innerText).width;
  });
  return lengths.reduce((sum, length) => sum + length) / lengths.length;
}"""
SIZES = """() => ['h1', 'h2', 'h3'].map(h => document.querySelector(`article ${h}`))
  .map(h => h && getComputedStyle(h).fontSize)"""
# A word on two lines has two boxes, unless it ends a line at a hyphen.
BROKEN_WORDS = """() => {
  const found = [], range = document.createRange();
  const walker = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    if (!text.parentElement.closest('td, th') || !text.parentElement.checkVisibility()) continue;
    for (const word of text.data.matchAll(/[\\p{L}\\p{N}.]{2,}/gu)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const tops = [...range.getClientRects()].filter(box => box.width > 0).map(box => Math.round(box.top));
      if (new Set(tops).size > 1) found.push(word[0]);
    }
  }
  return found;
}"""
WITHOUT_CUE = """() => [...document.querySelectorAll(
    'article :is(.text_html, pre, figure, .pst-scrollable-table-container, mjx-container)')]
  .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1
    && getComputedStyle(box).overflowX !== 'visible')
  .filter(box => ![box.previousElementSibling, box.nextElementSibling].some(
    cue => cue && cue.matches('.scroll-cue') && cue.checkVisibility()))
  .map(box => box.outerHTML.slice(0, 80))"""
# Letters of a plot are drawn with 10 points at 120 pixels an inch: at half size they have 8 pixels.
SMALL_FIGURES = """() => [...document.querySelectorAll('article .cell_output figure img')]
  .filter(image => image.checkVisibility())
  .filter(image => image.getBoundingClientRect().width < Math.min(0.6 * image.naturalWidth, 600))
  .map(image => image.alt.slice(0, 60))"""


@pytest.fixture(scope="module")
def context(browser, html):
    with chromium.reader(browser, html.as_uri() + "/") as context:
        yield context


def narrow(page):
    page.set_viewport_size({"width": chromium.NARROW, "height": chromium.HEIGHT})
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_on_a_desk_and_on_a_telephone(context, name):
    with chromium.opened(context, name) as (page, faults):
        assert 68 <= page.evaluate(LINE) <= 77
        first, second, third = (size and float(size.removesuffix("px")) for size in page.evaluate(SIZES))
        assert first > second and (third is None or second > third)
        numbers = page.locator("figure > figcaption strong:first-child").all_inner_texts()
        numbers = [number.strip() for number in numbers]
        assert numbers == [f"Figure {name[9:11]}.{count}." for count in range(1, len(numbers) + 1)] and numbers
        assert page.locator("a.first-use[href*='glossary']").count() >= 5
        assert page.locator("#exercises a.exercises[download]").count() == 1
        narrow(page)
        assert page.evaluate(BROKEN_WORDS) == [] and page.evaluate(SMALL_FIGURES) == []
        assert page.evaluate(WITHOUT_CUE) == [] and faults == []


@pytest.mark.parametrize("name", WITH_TABLES)
def test_tables_on_a_telephone(context, name):
    with chromium.opened(context, name) as (page, _):
        narrow(page)
        assert page.evaluate(BROKEN_WORDS) == [] and page.evaluate(WITHOUT_CUE) == []


# How many formulas stand there, each time that the page is free while they are set.
COUNTED = """window.counts = new Set();
const look = setInterval(() => counts.add(document.querySelectorAll('mjx-container').length), 0);"""


def test_formulas_are_set_in_parts(browser, html):
    with chromium.reader(browser, html.as_uri() + "/") as reader:
        reader.add_init_script(COUNTED)
        with chromium.opened(reader, "chapters/03_beta_vae_and_capacity.html") as (page, faults):
            page.wait_for_timeout(100)
            counts = page.evaluate("[...counts]")
            assert max(counts) > 80 and any(0 < count < max(counts) for count in counts) and faults == []
            assert page.locator(".math:not(:has(mjx-container))").count() == 0


def test_the_measures_can_fail(context, browser, tmp_path):
    body = "<table><td style='width: 20px; display: block; word-break: break-all'>AnnealedVAE</td></table>"
    body += "<pre style='overflow: auto; width: 50px'>much longer than fifty pixels</pre>"
    (tmp_path / "page.html").write_text(f"<!doctype html><article>{body}</article>")
    with chromium.reader(browser, tmp_path.as_uri() + "/") as reader, chromium.opened(reader, "page.html") as (page, _):
        assert page.evaluate(BROKEN_WORDS) == ["AnnealedVAE"] and len(page.evaluate(WITHOUT_CUE)) == 1


@pytest.mark.parametrize("chosen", ["a", "b"])
def test_a_prediction_is_committed_then_revealed_and_kept(browser, html, chosen):
    """By the keyboard alone. In chapter 18 (b) is right."""
    with chromium.served(html) as home, chromium.reader(browser, home) as context:
        with chromium.opened(context, "chapters/18_triplets.html") as (page, _):
            box = page.locator("blockquote.prediction")
            assert not box.locator("details").is_visible() and box.locator(".right, .wrong").count() == 0
            box.locator("button", has_text=f"({chosen})").focus()
            page.keyboard.press("Enter")
            box.locator("button", has_text="(c)").click(force=True)  # too late
            assert box.locator("[aria-pressed=true]").inner_text().startswith(f"({chosen})")
            assert box.locator(".right, .wrong").count() == 0
            box.locator("summary").focus()
            page.keyboard.press("Enter")
            box.locator(".right").wait_for()
            assert box.locator(".right").inner_text().startswith("(b)")
            assert box.locator(".wrong").count() == (chosen != "b")
            assert ("right." in box.locator(".said").inner_text()) == (chosen == "b")
            looks = "each => getComputedStyle(each).borderTopStyle + getComputedStyle(each, '::after').content"
            shown = box.locator("button").evaluate_all(f"all => all.map({looks})")
            assert len(set(shown)) == 2 + (chosen != "b")
            chromium.reload_until(page, "blockquote.prediction [aria-pressed=true]")
            assert page.locator("blockquote.prediction [aria-pressed=true]").inner_text().startswith(f"({chosen})")


def test_a_quiz_keeps_the_first_answer(browser, html):
    with chromium.served(html) as home, chromium.reader(browser, home) as context:
        with chromium.opened(context, "chapters/18_triplets.html") as (page, _):
            options = page.locator("#quiz > details")
            options.nth(1).locator("summary").click()
            options.nth(0).locator("summary").click()
            page.locator("#quiz .right").first.wait_for()
            assert page.locator("#quiz .first").count() == 1 and "first" in options.nth(1).get_attribute("class")
            assert "wrong" in options.nth(1).get_attribute("class")
            chromium.reload_until(page, "#quiz > details.first")
            assert "first" in page.locator("#quiz > details").nth(1).get_attribute("class")


def test_predictions_without_javascript(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{html.as_uri()}/chapters/18_triplets.html")
    box = page.locator("blockquote.prediction")
    assert box.locator("li").count() == 4 and box.locator("button").count() == 0
    box.locator("summary").click()
    assert box.get_by_text("Near a quarter: the distances").is_visible()
    context.close()
