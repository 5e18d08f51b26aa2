"""The explorers as a reader moves them, by keyboard and pointer, in both themes; and what stands there without scripts.

Each stands alone in a page of its own, so that no book has to be built; one test looks for them in the built chapters.
"""

import base64
import re

import numpy as np
import pytest
import torch

import browser as chromium
import explorer_cases
import explorer_pages
import notebook_io
import page_rules
from course_lib import distances, metrics
from course_lib.data import XYSquares
from course_lib.frameworks import AdaTripletVAE, Step
from course_lib.losses import shared_latents
from course_lib.models import mlp_vae

NAMES = ("adversary", "kernel", "cloud", "triplet", "sphere", "score")
GROUND = {"light": ("#FBFAF7", "#22272E"), "dark": ("#14181E", "#CED6DD")}
FALLBACK = "It needs JavaScript."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explorers")
    (folder / "explore").symlink_to(explorer_pages.FOLDER, target_is_directory=True)
    for theme, (ground, ink) in GROUND.items():
        for name in NAMES:
            scripts = "".join(
                f"<script defer src=explore/{each}.js></script>" for each in explorer_pages.scripts([name])
            )
            body = f"<p>{name}</p><div class='explorer' data-explorer='{name}'><p>{FALLBACK}</p></div>"
            look = f"*{{box-sizing:border-box}}body{{background:{ground};color:{ink};font:16px/1.5 sans-serif}}"
            (folder / f"{name}-{theme}.html").write_text(
                f"<!doctype html><html lang=en data-theme={theme}><meta charset=utf-8><title>Explorer</title>{scripts}"
                f"<link rel=stylesheet href=explore/explore.css><style>{look}</style><article>{body}</article>"
            )
    return folder


@pytest.fixture(scope="module")
def context(browser, folder):
    with chromium.reader(browser, folder.as_uri() + "/") as context:
        yield context


@pytest.fixture
def explorer(context):
    """explorer(name): its page, to be used in a `with` statement."""
    return lambda name: chromium.opened(context, f"{name}-light.html")


def press(page, control, key, times=1):
    """Move what has this name by the keyboard; return the sentence that follows."""
    before = page.locator(".readout").inner_text()
    control.focus()
    for _ in range(times):
        page.keyboard.press(key)
    page.wait_for_function("before => document.querySelector('.readout').textContent !== before", arg=before)
    page.wait_for_timeout(300)  # the last sentence comes a quarter of a second after the first
    return page.locator(".readout").inner_text()


def numbers(words):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", words.replace("−", "-"))]


def test_the_adversary_by_keyboard(explorer):
    with explorer("adversary") as (page, faults):
        said = page.locator(".readout").inner_text()
        for spacing in (5, 8):
            if spacing == 8:
                said = press(page, page.get_by_role("slider", name="Spacing"), "ArrowRight", 3)
            data = XYSquares(spacing, squares=1)
            places = data.space.index([[2, 3], [3, 3]])
            apart = distances.perceived_distance(data)(places[:1], places[1:]).item() * 64**2
            price = explorer_cases.starting_price(explorer_cases.shape_images("square", 8, spacing))
            assert f"places 2 and 3 the images differ in {apart:.0f} pixels" in said and f"is {price:.1f};" in said
            assert ("an adversary" in said) == (spacing == 8)
        said = press(page, page.get_by_role("slider", name="Size"), "ArrowRight")
        assert "largest spacing for 9 px is 7 px" in said and "it leaks" in said
        assert page.get_by_role("slider", name="Spacing").input_value() == "7"
        assert faults == []


def test_the_kernel_by_keyboard_and_pointer(explorer):
    with explorer("kernel") as (page, faults):
        said = press(page, page.get_by_role("slider", name="Radius"), "ArrowRight", 2)
        found = explorer_cases.follow(explorer_cases.row_distances(explorer_cases.kernel_of("box", 6)))
        assert f"A box of radius 6: rank correlation {found['rank']:.3f}, linear {found['linear']:.3f}" in said
        said = press(page, page.get_by_role("button", name="Height at 8 eighths"), "ArrowDown", 20)
        heights = [1.0] * 8 + [0.0]
        kernel = explorer_cases.kernel_of("drawn", 6, heights)
        found = explorer_cases.follow(explorer_cases.row_distances(kernel))
        assert f"Your kernel of radius 6: rank correlation {found['rank']:.3f}, linear {found['linear']:.3f}" in said
        box = page.get_by_role("button", name="Height at 0 eighths").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + 500, steps=5)
        page.mouse.up()
        page.get_by_role("button", name="Height at 0 eighths of the radius, 0 per cent").wait_for()
        assert faults == []


def test_the_cloud_by_keyboard(explorer):
    with explorer("cloud") as (page, faults):
        said = press(page, page.get_by_role("slider", name="Turned by"), "ArrowRight", 4)
        points = page.evaluate("Explore.cloud.turned(Explore.cloud.sources('gaussian', 3), 34)")
        turn = torch.deg2rad(torch.tensor(34.0).double())
        variance = torch.stack([3 * turn.cos() ** 2 + turn.sin() ** 2 / 3, 3 * turn.sin() ** 2 + turn.cos() ** 2 / 3])
        score = float(metrics.gaussian_total_correlation.from_samples(torch.tensor(points)))
        assert f"is {variance.log().sum() / 2:.3f} nats" in said and f"says {score:.3f} from 400" in said
        *_, batch, mss, mws = numbers(said)
        assert abs(mws - batch - torch.tensor(400.0).log()) < 2e-3 and mss < batch
        said = press(page, page.get_by_role("radio", name="Gaussian"), "ArrowRight")
        assert said.startswith("A box") and f"is {explorer_cases.box_correlation(3, 34):.3f} nats" in said
        assert faults == []


def test_the_triplet_by_keyboard(explorer):
    with explorer("triplet") as (page, faults):
        negative = page.get_by_role("button", name="negative")
        press(page, negative, "ArrowDown", 4)
        said = press(page, negative, "Shift+ArrowRight")
        assert "negative, 2.50 and -0.20" in negative.get_attribute("aria-label")
        codes = [torch.tensor([[*code, 0, 0, 0, 0, 0]]) for code in ((-1.0, -1.0), (2.5, -0.2))]
        model = mlp_vae(XYSquares(2, 2, squares=1, image_size=16), 7)
        framework = AdaTripletVAE(model, shared_weight=0.5, strength=0.5)
        anchor, far = map(explorer_cases.Means, codes)
        step = Step(torch.tensor(0), 1, torch.Generator())
        distance = framework.negative_distance(anchor, far, step).item()
        differences = (codes[0] - codes[1]).abs()
        assert shared_latents(differences, 0.5)[0, :2].tolist() == [False, True]
        assert f"τ = {differences.max() / 2:.2f}. Latent 1 counts as shared" in said
        assert f"to the negative {distance:.2f}; loss {5 + 2.5 - distance:.2f}." in said
        assert "Settled" in press(page, page.get_by_role("slider", name="Margin"), "Home")
        said = press(page, page.get_by_role("button", name="Put back"), "Enter")
        assert "differ by 3.00 and 1.20" in said and faults == []


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_sphere_walks_to_its_end(explorer, motion):
    with explorer("sphere") as (page, faults):
        page.emulate_media(reduced_motion=motion)
        page.get_by_role("slider", name="Angle between").focus()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="Walk").press("Enter")
        if motion == "reduce":  # at once
            assert page.get_by_role("slider", name="Walked").input_value() == "180"
        page.get_by_text("the arrow is turned by").wait_for()
        said = page.locator(".readout").inner_text()
        assert "area is 1.484" in said and said.count("85.0°") == 3  # 85°, of a triangle with two right angles
        page.emulate_media(reduced_motion="no-preference")
        assert faults == []


DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array([...atob(text)].map(each => each.charCodeAt(0)))], name));
  const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
  document.querySelector('.explorer').dispatchEvent(event);
}"""


def shown_numbers(page):
    """Name → (value, shuffled), as the table of scores has them."""
    rows = page.locator(".results section").first.locator("tbody tr").all_inner_texts()
    return {row.split("\n")[0]: tuple(map(float, row.replace("−", "-").split("\t")[-2:])) for row in rows}


def test_a_file_that_is_dropped_chosen_or_generated_is_scored_and_goes_nowhere(browser, folder, tmp_path):
    draws = np.random.default_rng(0)
    factors = np.stack(np.unravel_index(np.arange(10_000), (10, 10, 10, 10)), 1)
    latents = np.concatenate([factors @ draws.normal(size=(4, 4)), draws.normal(size=(10_000, 6))], 1)
    np.savez_compressed(tmp_path / "mine.npz", latents=latents, factors=factors)
    asked = ["mig", "sap", "modularity", "distance_correlation", "linearity_ratio", "axis_alignment_ratio"]
    ours = metrics.evaluate.from_samples(latents, factors, asked, intervals=[])
    with (
        chromium.reader(browser, folder.as_uri() + "/") as context,
        chromium.opened(context, "score-light.html") as (page, faults),
    ):
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        page.set_viewport_size({"width": chromium.NARROW, "height": chromium.HEIGHT})
        workers = []
        page.on("worker", lambda worker: workers.append(worker.url))
        page.evaluate(DROP, ["mine.npz", base64.b64encode((tmp_path / "mine.npz").read_bytes()).decode()])
        page.locator(".results table").first.wait_for(timeout=60_000)
        for found, name in zip(shown_numbers(page).values(), asked, strict=True):
            assert found == pytest.approx((float(ours[name]), float(ours.controls[name])), abs=6e-4), name
        assert page.evaluate("document.documentElement.scrollWidth") == chromium.NARROW
        page.evaluate(DROP, ["mine.csv", base64.b64encode(b"z0,a\n1,2\n0.5,x\n").decode()])
        page.get_by_text("mine.csv: row 3, column a: x is no number").wait_for()
        page.set_input_files("input[type=file]", tmp_path / "mine.npz")  # as the dialog does, which a key opens
        page.get_by_text("Scoring mine.npz").wait_for()
        page.get_by_role("slider", name="Example turned by").focus()
        page.keyboard.press("ArrowRight")  # before the file is done: its worker is let go
        page.get_by_text("example at 35°.csv: 1,000 rows").wait_for(timeout=20_000)
        page.get_by_role("button", name="Score the example").press("Enter")
        page.locator(".results table").first.wait_for(timeout=20_000)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save it").press("Enter")
        assert download.value.path().read_text().startswith("z0,z1,z2,z3,height,hue,size\n")
        assert len(workers) == 5  # one for each file: the page itself computes nothing
        found = page_rules.inspect(page, (page_rules.accessibility_faults,))
        assert not any(found.values()), found
        assert faults == [] and all(url.startswith("blob:") for url in requests), requests


@pytest.mark.parametrize("theme", GROUND)
def test_explorers_for_everybody(browser, folder, theme):
    """At both widths: nothing too wide or too pale; names for all controls; nothing too small for a finger."""
    rules = (page_rules.accessibility_faults, page_rules.print_faults) if theme == "light" else ()
    small = "all => all.filter(each => each.getBoundingClientRect().height < 24).map(each => each.outerHTML)"
    with chromium.reader(browser, folder.as_uri() + "/", theme) as context:
        for name in NAMES:
            with chromium.opened(context, f"{name}-{theme}.html") as (page, faults):
                found = page_rules.inspect(page, rules)
                assert not any(found.values()), (name, found)
                assert page.locator(".explorer :is(button, label)").evaluate_all(small) == [] and faults == []


def test_without_scripts_the_words_stand(browser, folder):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in NAMES:
        page.goto(f"{folder.as_uri()}/{name}-light.html")
        assert page.get_by_text(FALLBACK).is_visible() and page.locator("button, input").count() == 0
    context.close()


def test_the_explorers_of_the_built_chapters(browser, html):
    with chromium.reader(browser, html.as_uri() + "/") as context:
        for path in notebook_io.chapters():
            sources = "\n".join(cell.source for cell in notebook_io.read(path).cells if cell.cell_type == "markdown")
            names = explorer_pages.PLACE.findall(sources)
            text = (html / "chapters" / f"{path.stem}.html").read_text(encoding="utf-8")
            assert ("explore/toolkit.js" in text) == bool(names)
            if names:
                with chromium.opened(context, f"chapters/{path.stem}.html") as (page, faults):
                    assert page.locator(".explorer.alive .readout").count() == len(names)
                    assert all(page.locator(".readout").all_inner_texts()) and faults == []
        with chromium.opened(context, "book/score_your_own.html") as (page, faults):
            page.get_by_role("button", name="Score the example").press("Enter")
            links = page.locator(".explorer a")
            links.first.wait_for(timeout=20_000)
            for link in set(links.evaluate_all("all => all.map(each => each.getAttribute('href'))")):
                assert (html / "book" / link).exists() and faults == []
