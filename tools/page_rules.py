"""What is asked of every page of the built book, opened in a browser.

Each function takes a playwright Page that `browser.opened` has loaded and returns one sentence for each fault; an empty
list is a pass.
"""

from pathlib import Path

from axe_playwright_python.base import AXE_SCRIPT

import browser
import notebook_rules

# WCAG 2.1, levels A and AA. Contrast is measured by contrast.js: on a chapter axe-core's own rule takes thirty times as
# long, is undecided about text that something else partly covers, and does not see formulas. With preload it would ask
# for files again.
AXE_OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    "rules": {"color-contrast": {"enabled": False}},
    "resultTypes": ["violations"],
    "preload": False,
}
# What lies within a formula, and the colours of code, are four of five elements of a chapter and none of axe-core's
# matter: while it looks they are plain text.
AXE = """async options => {
  const parts = [...document.querySelectorAll('mjx-container, .highlight pre')];
  const plain = parts.map(part => [part, [...part.childNodes]]);
  for (const [part] of plain) part.replaceChildren(part.textContent);
  try {
    return (await axe.run(options)).violations.flatMap(
      rule => rule.nodes.map(node => `${rule.id}: ${rule.help}: ${node.html.slice(0, 80)}`)
    );
  } finally {
    for (const [part, within] of plain) part.replaceChildren(...within);
  }
}"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
# A formula that MathJax did not find stays as text; one that it cannot read becomes a message, or a red command.
FORMULAS = r"""() => {
  const found = [];
  for (const place of document.querySelectorAll('.math'))
    if (!place.querySelector('mjx-container')) found.push(`not rendered: ${place.textContent.trim().slice(0, 80)}`);
  for (const sign of document.querySelectorAll('mjx-merror, mjx-container [style*="color: red"]')) {
    const source = sign.closest('mjx-container').textContent || sign.dataset.mjxError;
    found.push(`MathJax cannot read a formula: ${source.slice(0, 80)}`);
  }
  const other = 'code, pre, script, style, noscript, textarea, mjx-container, .math';
  const raw = /\$\$|\\[[(]|\\[a-zA-Z]{2,}/;
  if (raw.test(document.title)) found.push(`raw TeX in the title: ${document.title}`);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode())
    if (raw.test(text.data) && !text.parentElement.closest(other))
      found.push(`raw TeX in the text: ${text.data.trim().slice(0, 80)}`);
  return found;
}"""
# The outermost element is named; what scrolls within a box of its own is no fault.
TOO_WIDE = """() => {
  const page = document.documentElement, width = page.clientWidth, found = [];
  if (page.scrollWidth > width) found.push(`the page scrolls sideways: it is ${page.scrollWidth} px wide`);
  const wide = element => element.getBoundingClientRect().right > width + 1;
  const scrolls = element => element !== document.body && getComputedStyle(element).overflowX !== 'visible';
  const boxed = element => element && element !== page && (scrolls(element) || boxed(element.parentElement));
  for (const element of document.querySelectorAll('article *'))
    if (wide(element) && !wide(element.parentElement) && element.checkVisibility() && !boxed(element.parentElement)) {
      const name = [element.tagName.toLowerCase(), ...element.classList].join('.');
      const right = Math.round(element.getBoundingClientRect().right);
      found.push(`${name} ends at ${right} px: “${element.textContent.trim().slice(0, 40)}”`);
    }
  return found;
}"""
READABLE = """() => [...(document.querySelector('article') ?? document.body).querySelectorAll(
  'h1, h2, h3, h4, p, li, pre, table, img, mjx-container'
)].filter(element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  && (element.textContent.trim() || element.matches('img, mjx-container, :has(img, mjx-container)')))"""
# The theme prints the page's title in another place: an h1 is there as long as any h1 with its words is.
GONE = """elements => {
  const there = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && element.getBoundingClientRect().height > 0;
  const words = element => element.textContent.replace(/#$/, '').trim();
  const titles = [...document.querySelectorAll('h1')].filter(there).map(words);
  return elements.filter(element => !there(element) && !(element.matches('h1') && titles.includes(words(element))))
    .map(element => `${element.tagName.toLowerCase()} is not printed: “${words(element).slice(0, 40)}”`);
}"""
# The button that leads back to the top is there only after scrolling up.
SCROLL = """async () => {
  const noticed = () => new Promise(done => {
    addEventListener('scroll', done, { once: true });
    setTimeout(done, 100);
  });
  for (const share of [0.6, 0.5]) {
    window.scrollTo({ top: share * document.body.scrollHeight, behavior: 'instant' });
    await noticed();
  }
}"""
# A scripted click goes the way of a reader's, except that nothing can lie above it: hence the look at what is on top.
DETAILS = """() => {
  const found = [], opened = [];
  for (const details of document.querySelectorAll('article details')) {
    const summary = details.querySelector(':scope > summary');
    if (!summary) { found.push(`no summary: “${details.textContent.trim().slice(0, 40)}”`); continue; }
    const name = `“${summary.textContent.trim().slice(0, 40)}”`;
    const before = details.open;
    summary.click();
    if (details.open === before) found.push(`${name} does not respond to a click`);
    details.open = true;
    opened.push([details, summary, name]);
  }
  for (const [details, summary, name] of opened) {  // all are open: the page is laid out once, not once for each
    if (!summary.checkVisibility()) continue;  // in a tab that is not the chosen one
    summary.scrollIntoView({ block: 'center', behavior: 'instant' });
    const box = summary.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + Math.min(10, box.width / 2), box.top + box.height / 2);
    if (!summary.contains(top)) found.push(`${name} lies below ${top && top.tagName}`);
    if (summary.tabIndex < 0) found.push(`${name} cannot be reached with the keyboard`);
    const answer = [...details.children].filter(child => child !== summary && child.checkVisibility());
    const bare = [...details.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!bare && !answer.some(child => child.innerText.trim() || child.querySelector('img')))
      found.push(`${name} opens and shows nothing`);
  }
  return found;
}"""
PICTURES = "() => [...document.images].map(image => [image.currentSrc || image.src, image.alt, image.naturalWidth])"
LINKS = """() => ({
  links: [...document.querySelectorAll('a[href], area[href]')].map(link => link.getAttribute('href')),
  places: [...document.querySelectorAll('[id], a[name]')].map(element => element.id || element.name),
})"""


def formula_faults(page) -> list[str]:
    """Formulas that are shown as TeX, or as an error."""
    return page.evaluate(FORMULAS)


def accessibility_faults(page) -> list[str]:
    """What axe-core finds: pictures, sliders, buttons and links without a name, wrong roles, languages and the like."""
    page.evaluate(AXE_SCRIPT)
    return page.evaluate(AXE, AXE_OPTIONS)


def picture_faults(page) -> list[str]:
    """Pictures that did not load, or that nobody described.

    axe-core takes an empty alt text for decoration and a file's name for a description; the book has neither.
    """
    found = []
    for source, words, width in page.evaluate(PICTURES):
        name = source.rsplit("/", 1)[-1][:40] if not source.startswith("data:") else "a picture within the page"
        if not width:
            found.append(f"{name}: not loaded")
        if notebook_rules.PATH_LIKE.search(words.strip()):
            found.append(f"{name}: the alt text {words!r} does not describe it")
    return found


def details_faults(page) -> list[str]:
    """Answers that do not open, or show nothing when open. Afterwards all are open, so that other rules see their text.

    Each is opened by a script; the page's first also by a real key and a real click, which take a tenth of a second.
    """
    found = []
    first = page.locator("article details > summary:visible").first
    if first.count():
        first.focus()
        for what in ("Enter", "a click"):
            before = first.evaluate("summary => summary.parentElement.open")
            if what == "Enter":
                page.keyboard.press("Enter")
            else:
                first.scroll_into_view_if_needed()
                box = first.bounding_box()
                page.mouse.click(box["x"] + min(10, box["width"] / 2), box["y"] + box["height"] / 2)
            if first.evaluate("summary => summary.parentElement.open") == before:
                found.append(f"the first answer does not respond to {what}")
    return found + page.evaluate(DETAILS)


def _picture_at(page, slider, picture, key: str) -> bytes:
    """What the reader sees after a key has moved the slider."""
    slider.focus()
    page.keyboard.press(key)
    picture.evaluate("picture => picture.decode?.().catch(() => {})")  # a new picture takes a moment
    return picture.screenshot()


def frames_faults(page) -> list[str]:
    """Views of class `frames`: a slider, and a picture that is another one when the slider moves."""
    found = []
    for number, view in enumerate(page.locator(".frames").all(), 1):
        sliders, pictures = view.locator("input[type=range]").all(), view.locator("img:visible, canvas:visible")
        if not sliders or not pictures.count():
            found.append(f"view {number}: no slider, or no picture")
            continue
        for slider in sliders:
            # Three places, for the first and the last picture of a full turn are the same.
            seen = {_picture_at(page, slider, pictures.first, key) for key in ("Home", "ArrowRight", "End")}
            if len(seen) == 1:
                found.append(f"view {number}: the picture does not change when the slider moves")
    return found


def print_faults(page) -> list[str]:
    """Text that is on the screen and not on paper."""
    readable = page.evaluate_handle(READABLE)
    found = [] if readable.evaluate("elements => elements.length") else ["there is nothing to read"]
    page.emulate_media(media="print")
    found += page.evaluate(GONE, readable)
    page.emulate_media(media="screen")
    return found


def width_faults(page) -> list[str]:
    """What makes the page scroll sideways in the present window, or is cut off at its edge."""
    return page.evaluate(TOO_WIDE)


def contrast_faults(page) -> list[str]:
    """Text in the present window and theme that is too pale: below 4.5, or 3 where it is large (WCAG 2, level AA)."""
    page.evaluate(SCROLL)
    return page.evaluate(CONTRAST)


# Answers are opened first, so that the other rules see their text.
ONCE = (details_faults, accessibility_faults, frames_faults, formula_faults, picture_faults, print_faults)
AT_EACH_WIDTH = (width_faults, contrast_faults)


def inspect(page, once=ONCE, at_each_width=AT_EACH_WIDTH) -> dict[str, list[str]]:
    """The faults of a page by the name of the rule; the window is left narrow.

    once : the rules that do not depend on the window. Fewer of both will do where a page is inspected again in another
        theme.
    """
    found = {rule.__name__: rule(page) for rule in once} | {rule.__name__: [] for rule in at_each_width}
    for width in (browser.WIDE, browser.NARROW):
        page.set_viewport_size({"width": width, "height": browser.HEIGHT})
        for rule in at_each_width:
            found[rule.__name__] += [f"at {width} px, {fault}" for fault in rule(page)]
    return found


def links(page) -> tuple[list[str], set[str]]:
    """Where the page's links lead, as they are written, and the names of the places in it that a link can name."""
    found = page.evaluate(LINKS)
    return found["links"], set(found["places"])
