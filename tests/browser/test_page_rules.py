"""The rules for pages in a browser can fail: each planted fault is named, and its sound neighbour passes."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

import browser as chromium
import notebook_io
import page_rules

VENDOR = notebook_io.ROOT / "book" / "static" / "vendor"
MATHJAX = '<script defer src="vendor/mathjax/tex-chtml.js"></script>'
PICTURE = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='40' height='40'/%3E"
FRAMES = """<figure class="frames"><canvas width="40" height="40"></canvas>
<label>x <input type="range" max="3"></label></figure>
<script>document.querySelector('input').oninput = event => {{
  const brush = document.querySelector('canvas').getContext('2d');
  brush.clearRect(0, 0, 40, 40);
  brush.fillRect({place}, 0, 9, 9);
}}</script>"""
MOVES, STANDS_STILL = FRAMES.format(place="9 * event.target.value"), FRAMES.format(place="9")
UNNAMED = MOVES.replace("<label>", "<p>").replace("</label>", "</p>")
ANSWER = "<details><summary>(a) Yes.</summary><p>No.</p></details>"
STUBBORN = "<script>document.querySelector('summary').onclick = event => event.preventDefault()</script>"


@pytest.fixture(scope="module")
def context(browser, tmp_path_factory):
    """A reader of one folder, which also holds the vendored MathJax."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "vendor").symlink_to(VENDOR, target_is_directory=True)
    with chromium.reader(browser, folder.as_uri() + "/") as context:
        context.folder = folder
        yield context


@pytest.fixture
def open_page(context):
    """open_page(body): a page with that article, to be used in a `with` statement."""

    def open_page(body, head=""):
        text = f"<!doctype html><html lang=en><meta charset=utf-8><title>Page</title>{head}<article>{body}</article>"
        (context.folder / "page.html").write_text(text, encoding="utf-8")
        return chromium.opened(context, "page.html")

    return open_page


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("<script>console.error('planted')</script>", "console error: planted"),
        ("<script>console.warn('planted')</script>", "console warning: planted"),
        ("<script>throw Error('planted')</script>", "uncaught error: planted"),
        ("<script>const a = 1</script><script>const a = 2</script>", "already been declared"),
        ("<script src='https://example.org/a.js'></script>", "asks elsewhere: https://example.org/a.js"),
        ("<img src='http://192.0.2.1/a.png'>", "asks elsewhere: http://192.0.2.1/a.png"),
        ("<script>new WebSocket('wss://example.org/')</script>", "asks elsewhere: wss://example.org/"),
        ("<link rel=stylesheet href='missing.css'>", "failed request"),
    ],
)
def test_loading(open_page, body, named):
    with open_page(body) as (page, faults):
        page.wait_for_timeout(100)
        assert any(named in fault for fault in faults), faults


def test_a_missing_file_on_a_server_is_found(browser, tmp_path):
    (tmp_path / "page.html").write_text("<!doctype html><link rel=icon href='data:,'><script src='gone.js'></script>")
    with chromium.served(tmp_path) as home, chromium.reader(browser, home) as context:
        with chromium.opened(context, "page.html") as (_, faults):
            assert any("gone.js (status 404)" in fault for fault in faults), faults


WRONG = [
    (page_rules.formula_faults, r'<span class="math">\(x\)</span>', "not rendered"),
    (page_rules.formula_faults, MATHJAX + r'<span class="math">\(\frac{1}\)</span>', "cannot read"),
    (page_rules.formula_faults, MATHJAX + r'<span class="math">\(\nosuchcommand\)</span>', "cannot read"),
    (page_rules.formula_faults, r"<p>where \mathbb stands for</p>", "raw TeX in the text"),
    (page_rules.formula_faults, "<p>so that $$x$$ holds</p>", "raw TeX in the text"),
    (page_rules.formula_faults, r"<script>document.title = 'The \\beta-VAE'</script>", "raw TeX in the title"),
    (page_rules.accessibility_faults, UNNAMED, "label: "),
    (page_rules.accessibility_faults, f'<img src="{PICTURE}">', "image-alt: "),
    (page_rules.accessibility_faults, "<button></button>", "button-name: "),
    (page_rules.accessibility_faults, "<div role=list><p>A</p></div><ul><p>A</p></ul>", "list: "),
    (page_rules.picture_faults, "<img alt='A heart that turns.' src='gone.png'>", "not loaded"),
    (page_rules.picture_faults, f'<img src="{PICTURE}">', "does not describe"),
    (page_rules.picture_faults, f'<img alt="../_images/ab.png" src="{PICTURE}">', "does not describe"),
    (page_rules.details_faults, ANSWER + STUBBORN, "does not respond to a click"),
    (page_rules.details_faults, ANSWER + STUBBORN, "does not respond to Enter"),
    (page_rules.details_faults, "<details><summary>(a) Yes.</summary></details>", "shows nothing"),
    (page_rules.details_faults, ANSWER.replace("<p>", "<p hidden>"), "shows nothing"),
    (page_rules.details_faults, "<details>An answer.</details>", "no summary"),
    (page_rules.details_faults, ANSWER.replace("<summary", "<summary tabindex=-1"), "keyboard"),
    (page_rules.details_faults, ANSWER + "<b style='position:fixed;inset:0'></b>", "lies below"),
    (page_rules.frames_faults, STANDS_STILL, "does not change"),
    (page_rules.frames_faults, "<figure class=frames><input type=range></figure>", "no picture"),
    (page_rules.print_faults, "<p>A</p><style>@media print { p { display: none } }</style>", "p is not printed"),
    (
        page_rules.print_faults,
        "<h1>A</h1><style>@media print { article { display: none } }</style>",
        "h1 is not printed",
    ),
    (page_rules.print_faults, "", "nothing to read"),
    (page_rules.width_faults, "<table style='width: 2000px'><td>A</td></table>", "scrolls sideways"),
    (
        page_rules.width_faults,
        "<pre style='width: 2000px'>A</pre><style>body { overflow: hidden }</style>",
        "pre ends at",
    ),
    (page_rules.contrast_faults, "<p style='color: #777'>Words</p>", "#777777 on #ffffff is 4.48"),
    (page_rules.contrast_faults, "<p style='font-size: 30px; color: #959595'>Words</p>", "less than 3"),
    (page_rules.contrast_faults, "<p style='opacity: 0.5; color: #444'>Words</p>", "less than 4.5"),
    (page_rules.contrast_faults, "<p style='background: #000; color: #444'><b>Words</b></p>", "on #000000"),
    (page_rules.contrast_faults, "<p style='background: #0008; color: #777'>Words</p>", "on #777777"),
    (page_rules.contrast_faults, MATHJAX + r'<span class="math" style="color: #ccc">\(x\)</span>', "formula"),
]
RIGHT = [
    (page_rules.formula_faults, MATHJAX + r'<span class="math">\(\frac{1}{x}\)</span><code>\frac $$</code>'),
    (page_rules.accessibility_faults, MOVES + f'<img alt="A heart that turns." src="{PICTURE}">'),
    (page_rules.picture_faults, f'<img alt="A heart that turns." src="{PICTURE}">'),
    (page_rules.details_faults, ANSWER + "<details open><summary>(b)</summary>Bare words.</details>"),
    (page_rules.frames_faults, MOVES),
    (page_rules.print_faults, "<h1>A</h1><p>B</p>"),
    (page_rules.width_faults, "<div style='overflow-x: auto'><table style='width: 2000px'><td>A</td></table></div>"),
    (
        page_rules.contrast_faults,
        "<p style='color: #767676'>Words</p><p style='font-size: 30px; color: #949494'>Two</p>",
    ),
    (
        page_rules.contrast_faults,
        "<p style='color: #fff; display: none'>Words</p><div style='background: #000; color: #fff'>Two</div>",
    ),
]


@pytest.mark.parametrize(("rule", "body", "named"), WRONG, ids=lambda value: getattr(value, "__name__", None))
def test_a_fault_is_named(open_page, rule, body, named):
    with open_page(body) as (page, _):
        found = rule(page)
        assert any(named in fault for fault in found), found


@pytest.mark.parametrize(("rule", "body"), RIGHT, ids=lambda value: getattr(value, "__name__", None))
def test_a_sound_page_passes(open_page, rule, body):
    with open_page(body) as (page, faults):
        assert rule(page) == [] and faults == []


def test_every_rule_is_planted_and_passed():
    rules = {*page_rules.ONCE, *page_rules.AT_EACH_WIDTH}
    assert {rule for rule, *_ in WRONG} == {rule for rule, *_ in RIGHT} == rules


CONTRASTS = [case[1] for case in WRONG + RIGHT if case[0] is page_rules.contrast_faults and MATHJAX not in case[1]]


@pytest.mark.parametrize("body", CONTRASTS)
def test_contrast_is_judged_as_axe_core_judges_it(open_page, body):
    with open_page(body) as (page, _):
        page.evaluate(AXE_SCRIPT)
        judged = page.evaluate("axe.run({runOnly: ['color-contrast']})")
        undecided = judged["incomplete"]  # text in the colour of its ground, of which axe-core asks a person
        assert judged["passes"] + judged["violations"] + undecided
        assert bool(judged["violations"] + undecided) == bool(page_rules.contrast_faults(page))


def test_inspecting_looks_at_both_widths_and_at_opened_answers(open_page):
    body = "<details><summary>(a)</summary><p style='color: #aaa'>No.</p></details><p style='width: 600px'>A</p>"
    with open_page(body) as (page, _):
        found = page_rules.inspect(page)
        assert all(fault.startswith("at 390 px") for fault in found["width_faults"]) and found["width_faults"]
        assert len(found["contrast_faults"]) == 2 and not found["details_faults"]


def test_links_and_places_are_read(open_page):
    with open_page("<a href='#b'>A</a><p id='b'></p>") as (page, _):
        assert page_rules.links(page) == (["#b"], {"b"})


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_without_a_browser(do_without, monkeypatch, ci, outcome):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(chromium.MissingBrowser, match="install the package chromium") as missing:
        with chromium.chromium():
            pass
    with pytest.raises(outcome, match="chromium"):
        do_without(missing.value)
