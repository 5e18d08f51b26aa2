"""The explorers as a reader moves them, by keyboard and pointer, in both themes; and what stands there without scripts.

Each stands alone in a page of its own, so that no book has to be built; one test looks for them in the built chapters.
"""

import base64
import io
import json
import math
import re

import numpy as np
import pandas
import pytest
import torch
from torch.nn.functional import softplus

import browser as chromium
import explorer_cases
import explorer_model_cases
import explorer_pages
import explorer_rooms
import explorer_weights
import notebook_io
import page_rules
from course_lib import distances, metrics
from course_lib.data import XYSquares
from course_lib.frameworks import AdaTripletVAE, Step
from course_lib.losses import kl_to_standard_normal, shared_latents
from course_lib.models import mlp_vae

NAMES = (
    "adversary", "kernel", "cloud", "triplet", "sphere", "posteriors", "map", "rotate", "train", "capacity", "dials",
    "score",
)  # fmt: skip
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
            assert said.startswith("Along the row an adversary" if spacing == 8 else "Along the row it leaks")
        said = press(page, page.get_by_role("slider", name="Size"), "ArrowRight")
        assert "No larger spacing has room for 9 px" in said and "it leaks" in said
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
        *_, _, batch, mss, mws = numbers(said)
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


def test_the_posteriors_by_keyboard(explorer):
    with explorer("posteriors") as (page, faults):
        first = page.get_by_role("button", name="Posterior of picture 0")
        press(page, first, "ArrowLeft")
        said = press(page, first, "ArrowDown")
        mean, std = numbers(first.get_attribute("aria-label"))[1:]
        assert mean == -1.3 and std < 0.5
        std = 0.5 * 20 ** (-2 / 60)  # two of the picture's sixty units, from 2 down to 0.1
        found = explorer_cases.judged([-1.3, -0.4, 0.4, 1.2], [std, 0.5, 0.5, 0.5], 1, 1.0)
        assert f"average {found['kl']:.3f}" in said and f"loses {found['reconstruction']:.3f}:" in said
        press(page, page.get_by_role("button", name="Put back"), "Enter")
        before = press(page, page.get_by_role("radio", name="one pixel apart"), "ArrowRight")
        page.get_by_role("button", name="Exchange 1 and 3").press("Enter")
        page.get_by_role("button", name="Posterior of picture 3, μ -0.40").wait_for()
        page.wait_for_timeout(300)
        after = page.locator(".readout").inner_text()
        assert after.partition("average")[2] == before.partition("average")[2]  # squares that share nothing
        said = press(page, page.get_by_role("button", name="Descend"), "Enter")
        assert numbers(said)[4] > numbers(before)[4] and faults == []


@pytest.mark.parametrize("name", ["vae", "autoencoder"])
def test_the_map_by_keyboard_and_pointer(explorer, name):
    model, outside = explorer_weights.read(name), math.sqrt(2 * math.log(20))
    codes = model.encode(explorer_weights.squares(4).observations(torch.arange(64))).mean
    with explorer("map") as (page, faults):
        if name == "autoencoder":
            press(page, page.get_by_role("radio", name="VAE"), "ArrowLeft")
        said = press(page, page.get_by_role("button", name="z, "), "ArrowRight", 5)
        reach = 3.2 if name == "vae" else 1.1 * codes.abs().max().item()
        check_look(said, model, codes, [0.2 * reach, 0.0])
        far = (codes.norm(dim=1) > outside).sum()
        assert f"{far} of the 64 codes lie outside" in said
        box = page.locator(".stage").first.bounding_box()
        page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.4 * box["height"])
        page.wait_for_timeout(600)
        check_look(page.locator(".readout").inner_text(), model, codes, [-0.5 * reach, 0.2 * reach])
        press(page, page.get_by_role("button", name="Draw a code"), "Enter")
        assert faults == []


def test_the_turned_code_by_keyboard(explorer):
    model = explorer_weights.read("square")
    codes = model.encode(explorer_weights.squares(8).observations(torch.arange(64))).mean
    with explorer("rotate") as (page, faults):
        page.get_by_text("−14.33 nats").wait_for()
        slider = page.get_by_role("slider", name="Turned by")
        before = page.locator("canvas").evaluate("canvas => canvas.toDataURL()")
        press(page, slider, "ArrowRight", 9)
        page.get_by_text("Turned by 45°: log p(x) is −14.33 nats").wait_for()
        said = page.locator(".readout").inner_text()
        turned = codes @ explorer_model_cases.turn_of(45).float().T
        table = metrics.Encodings.from_table(turned, explorer_weights.squares(8))
        *_, mig, aligned, x, y, column, row = numbers(said)
        assert aligned == pytest.approx(float(metrics.axis_alignment_ratio(table)), abs=0.02)  # which draws traversals
        assert mig == pytest.approx(float(metrics.mig(table, num_samples=20_000)), abs=0.02)  # which draws pictures
        z = torch.tensor([[x, y]]) @ explorer_model_cases.turn_of(45).float()
        share = model.decode(z)[0, 0].sigmoid()
        places = [(share.sum(side) * torch.arange(16)).sum() / share.sum() - 3.5 for side in (0, 1)]
        assert [column, row] == pytest.approx([place.item() for place in places], abs=0.02)
        assert page.locator("canvas").evaluate("canvas => canvas.toDataURL()") != before
        said = press(page, page.get_by_role("button", name="z, "), "ArrowUp")
        assert numbers(said)[-3] == pytest.approx(y + 0.125, abs=0.006) and faults == []


def test_the_twelve_networks_by_keyboard(explorer):
    pixels, factors = explorer_weights.small_squares()
    with explorer("capacity") as (page, faults):
        press(page, page.get_by_role("slider", name="β"), "ArrowRight")
        said = press(page, page.get_by_role("slider", name="Latent"), "ArrowRight")
        rates, follows = [], []
        for seed in explorer_weights.SEEDS:
            model = explorer_weights.read(f"capacity-16-{seed}")
            posterior = model.encode((pixels - model.pixel_mean) / model.pixel_std)
            nats = kl_to_standard_normal(posterior).mean(0)
            codes = posterior.mean[:, nats.argsort(descending=True)[1]]
            rates.append(nats.sum().item())
            follows.append(max(abs(distances.correlations(codes, column.float())[0]) for column in factors.T))
        found = numbers(said)
        assert found[0] == 16 and found[4:7] == pytest.approx(rates, abs=0.006)
        assert found[-3:] == pytest.approx(follows, abs=0.006)
        before = page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")
        page.get_by_role("slider", name="Its value").press("ArrowRight")
        changed = "before => document.querySelector('canvas').toDataURL() !== before"
        page.wait_for_function(changed, arg=before)
        assert faults == []


def test_the_dials_by_keyboard(explorer):
    turned_by = r"(\w)(\d) by ([+−]\d+\.\d)"
    with explorer("dials") as (page, faults):
        page.get_by_text("Machine A, room 1, wanted: a wall in violet. No dial is turned").wait_for()
        for machine, name in zip("AB", explorer_weights.DECODERS, strict=True):
            if machine == "B":
                page.get_by_role("radio", name="A", exact=True).press("ArrowRight")
                page.get_by_text("Machine B, room 1").wait_for()
                page.wait_for_timeout(300)
            before = page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")
            said = press(page, page.get_by_role("button", name="Dial 8"), "ArrowUp", 6)
            ((letter, dial, by),) = re.findall(turned_by, said)
            assert letter == machine and dial == "8" and by == "+0.6"  # a tenth for each press
            check_edit(said, name, 0, 8, {8: float(by)})
            assert page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()") != before
            said = press(page, page.get_by_role("slider", name="Room"), "ArrowRight", 2)
            check_edit(said, name, 2, 8, {8: float(by)})  # an edit goes along into another room
            press(page, page.get_by_role("slider", name="Room"), "Home")
        said = press(page, page.get_by_role("slider", name="Wanted wall"), "ArrowLeft", 2)
        assert said == f"Machine {machine}, room 1: its wall is blue already. Want another one."
        said = press(page, page.get_by_role("slider", name="Wanted wall"), "ArrowLeft", 3)
        assert "a wall in green" in said
        stored = explorer_rooms.stored()
        codes, means = stored["rooms"][0]["codes"][name], stored["means"][name]
        for label, table in (("The direction", means), ("At best", codes)):
            said = press(page, page.get_by_role("button", name=label), "Enter")
            edit = {dial: table[3][dial] - table[6][dial] for dial in range(10)}
            check_edit(said, name, 0, 3, edit)
            assert sum(abs(by) >= 0.05 for by in edit.values()) == numbers(said)[1]
        press(page, page.get_by_role("button", name="Put back"), "Enter")
        said = press(page, page.get_by_role("button", name="Dial 8"), "Shift+ArrowUp", 40)  # to the end of the scale
        press(page, page.get_by_role("slider", name="Room"), "ArrowRight")  # where it lies elsewhere
        top = float(page.get_by_role("button", name="Dial 8").evaluate("dial => dial.style.top.replace('%', '')"))
        place = numbers(page.get_by_role("button", name=re.compile("Dial 8")).get_attribute("aria-label"))[1]
        end = numbers(page.locator("svg text.small").first.text_content())[0]
        assert place <= end and top == pytest.approx((28 - 26 * place / end) / 60 * 100, abs=0.6)
        said = press(page, page.get_by_role("button", name="Put back"), "Enter")
        assert "No dial is turned. The error, which is 100 with no dial turned, is 100:" in said and faults == []


def check_edit(said, name, room, wall, edit):
    """What the explorer says of an edit is what course_lib has for it."""
    turned = torch.zeros(10, dtype=torch.float64)
    for dial, by in edit.items():
        turned[dial] = by
    floor, walls, thing, sky = explorer_model_cases.edited(name, room, wall, turned[None])[0].tolist()
    assert numbers(said)[-5:] == pytest.approx([floor + walls + thing + sky, walls, floor, thing, sky], abs=0.6)


def test_training_in_the_page(explorer):
    with explorer("train") as (page, faults):
        start = page.get_by_role("button", name="Start")
        press(page, page.get_by_role("slider", name="Seed"), "ArrowRight")
        start.press("Enter")
        page.get_by_text("of 1000").wait_for()
        page.get_by_role("button", name="Pause").press("Enter")
        page.get_by_role("button", name="Go on").wait_for()
        page.wait_for_timeout(600)
        said = page.locator(".readout").inner_text()
        *_, steps, _, reconstruction, kl, rank = numbers(said)
        train = """steps => {
          const { pictures, trainer } = Explore.train;
          const model = trainer(Explore.maths, { images: pictures(4, 1), beta: 2, seed: 1 });
          let found;
          for (let step = 0; step < steps; step += 1) found = model.step();
          return [found.reconstruction, found.kl, model.codes()];
        }"""
        *wanted, codes = page.evaluate(train, steps)  # the worker does what the page would
        assert [reconstruction, kl] == pytest.approx(wanted, abs=0.006)
        places, pairs = torch.cartesian_prod(torch.arange(8), torch.arange(8)).double(), torch.triu_indices(64, 64, 1)
        apart = [torch.cdist(each, each, p=p)[*pairs] for each, p in ((places, 1), (torch.tensor(codes).double(), 2))]
        assert rank == pytest.approx(distances.correlations(*apart)[1], abs=0.006)
        assert "Not trained yet" in press(page, page.get_by_role("button", name="Reset"), "Enter")
        said = press(page, page.get_by_role("slider", name="Size"), "ArrowLeft", 3)
        assert "1 px apart: neighbours share 0 %" in said and faults == []


@pytest.mark.parametrize(("motion", "milliseconds"), [("reduce", 3000), ("no-preference", 100)])
def test_training_honours_reduced_motion(explorer, motion, milliseconds):
    ask = """() => {
      const post = Worker.prototype.postMessage;
      window.asked = [];
      Worker.prototype.postMessage = function (message) {
        asked.push(message.milliseconds);
        post.call(this, { ...message, until: 1 });
      };
    }"""
    with explorer("train") as (page, faults):
        page.emulate_media(reduced_motion=motion)
        page.evaluate(ask)
        press(page, page.get_by_role("button", name="Start"), "Enter")
        assert set(page.evaluate("asked")) == {milliseconds} and faults == []
        page.emulate_media(reduced_motion="no-preference")


def check_look(said, model, codes, z):
    """What the map says of a point is what course_lib has there."""
    logits = model.decode(torch.tensor([z])).flatten()
    doubt = (softplus(logits) - logits.sigmoid() * logits).sum().item()
    column, row = divmod((codes - torch.tensor(z)).norm(dim=1).argmin().item(), 8)
    found = numbers(said)
    assert found[:2] == pytest.approx(z, abs=0.006 if abs(z[0]) < 9 else 0.6)
    assert found[2] == pytest.approx(logits.sigmoid().sum().item(), abs=0.06)
    assert found[4] == pytest.approx(doubt, abs=0.06) and found[5:7] == [column, row]


def longest_task(browser, page, act):
    """The longest task of the page's main thread while `act` runs, in milliseconds of the processor."""
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    try:
        act()
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    main = {thread for thread, name in names.items() if name == "CrRendererMain"}
    tasks = [
        e["tdur"] for e in events if e["name"].endswith("RunTask") and (e["pid"], e["tid"]) in main and "tdur" in e
    ]
    assert tasks
    return max(tasks) / 1000


def drag_all(page):
    """Draw every slider along its whole length, and every point by a few pixels."""
    for slider in page.get_by_role("slider").all():
        box = slider.bounding_box()
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 8, y)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 8, y, steps=12)
        page.mouse.up()
    for handle in page.locator(".handle").all()[:3]:
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 12, y + 15, steps=8)
        page.mouse.up()
    page.wait_for_timeout(300)


@pytest.mark.parametrize("name", NAMES)
def test_no_task_of_a_tenth_of_a_second_while_dragging(browser, explorer, name):
    with explorer(name) as (page, faults):
        page.set_viewport_size({"width": chromium.WIDE, "height": 1400})
        page.wait_for_timeout(1500)  # what it computes first is over
        assert longest_task(browser, page, lambda: drag_all(page)) < 100 and faults == []


def test_a_task_of_a_tenth_of_a_second_is_found(browser, explorer):
    busy = "() => document.querySelector('input').addEventListener('input', () => { %s })"
    slow = "const end = performance.now() + 2000; while (performance.now() < end);"
    with explorer("sphere") as (page, _):
        page.evaluate(busy % slow)
        assert longest_task(browser, page, lambda: page.get_by_role("slider").first.press("ArrowLeft")) > 100


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


def explorer_table(page):
    """The table by factor: name of the score → its values, in the order of the factors."""
    rows = page.get_by_role("region", name="Scores by factor").locator("tbody tr:not(.chance)").all_inner_texts()
    return {row.split("\t")[0]: [float(value.replace("−", "-")) for value in row.split("\t")[1:]] for row in rows}


def example_of(page, degrees, names):
    """The example's latents, and those of its factors that are named."""
    table = pandas.read_csv(io.StringIO(page.evaluate(f"Explore.score.example({degrees})")))
    return table[["z0", "z1", "z2", "z3"]].to_numpy(), table[names]


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
        page.get_by_role("textbox", name="Factors").fill("size, hue")
        page.keyboard.press("Enter")  # and the same table is scored again
        page.get_by_text("4 latents, factors size, hue.").wait_for(timeout=20_000)
        table = explorer_table(page)
        chosen = metrics.mig.from_samples(*example_of(page, 35, ["size", "hue"]))
        assert table["MIG"] == pytest.approx([chosen.values[name] for name in ("size", "hue")], abs=6e-4)
        page.get_by_role("textbox", name="Latents").fill("z0, y")
        page.keyboard.press("Enter")
        page.get_by_text("latents: got 'y'; the file has z0, z1, z2, z3, height, hue, size.").wait_for()
        page.get_by_role("textbox", name="Latents").fill("")
        page.keyboard.press("Enter")
        page.get_by_text("4 latents, factors size, hue.").wait_for(timeout=20_000)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save it").press("Enter")
        assert download.value.path().read_text().startswith("z0,z1,z2,z3,height,hue,size\n")
        assert len(workers) == 8  # one for each file: the page itself computes nothing
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


def test_on_a_phone(browser, folder):
    """The sentence is in sight with the controls, sliders fit a finger, and a swipe up that begins on one leaves it."""
    context = browser.new_context(viewport={"width": chromium.NARROW, "height": chromium.HEIGHT}, has_touch=True)
    page = context.new_page()
    for name in NAMES:
        page.goto(f"{folder.as_uri()}/{name}-light.html")
        said = page.locator(".readout").bounding_box()
        assert said["y"] + said["height"] <= chromium.HEIGHT, name
        for slider in page.get_by_role("slider").all():
            box = slider.bounding_box()
            assert box["height"] >= 44 and box["width"] > 0.8 * said["width"], name
    page.goto(f"{folder.as_uri()}/cloud-light.html")
    slider, hand = page.get_by_role("slider", name="Turned by"), context.new_cdp_session(page)
    box = slider.bounding_box()
    x, y = box["x"] + 0.8 * box["width"], box["y"] + 22
    for across, up, scrolls in ((0, 15, True), (-10, 0, False)):
        hand.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        assert slider.input_value() != "30"
        for move in range(1, 9):
            points = [{"x": x + across * move, "y": y - up * move}]
            hand.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": points})
            page.wait_for_timeout(16)
        hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(300)
        assert (slider.input_value() == "30") == scrolls == (page.evaluate("scrollY") > 0)
        page.evaluate("scrollTo(0, 0)")
    context.close()


# How far the column of the sentence's words ends before the button that leads back to the top, in pixels.
FREE = """() => {
  const said = document.querySelector('.explorer .readout'), button = document.querySelector('#pst-back-to-top');
  const end = said.getBoundingClientRect().right - parseFloat(getComputedStyle(said).paddingRight);
  return button.getBoundingClientRect().left - end;
}"""


def test_the_way_back_to_the_top_leaves_the_sentence_free(browser, html):
    sizes = {"viewport": {"width": chromium.NARROW, "height": chromium.HEIGHT}, "has_touch": True}
    context = browser.new_context(**sizes)
    page = context.new_page()
    page.goto((html / "chapters" / "08_impossibility.html").as_uri())
    above = "document.querySelector('.explorer.alive').getBoundingClientRect().top - 500"
    page.evaluate(f"scrollBy({{ top: {above}, behavior: 'instant' }})")
    for by in (150, -100):  # the button comes when a reader scrolls up
        page.mouse.wheel(0, by)
        page.wait_for_timeout(300)
    box = page.locator(".explorer .readout").bounding_box()
    assert box["y"] + box["height"] > chromium.HEIGHT - 60  # where the button is
    assert page.locator("#pst-back-to-top").is_visible() and page.evaluate(FREE) > 0
    page.add_style_tag(content=".explorer .readout { padding-right: 1rem !important }")
    assert page.evaluate(FREE) < 0  # as it was
    context.close()


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
