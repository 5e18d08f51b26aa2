"""The explorers' scripts compute what course_lib does: stored cases of both, and the numbers that chapters print."""

import json
import math
import re
import subprocess
from pathlib import Path

import pytest
import torch
from playwright._impl._driver import compute_driver_executable
from torch.nn.functional import softplus

import explorer_cases
import explorer_model_cases
import explorer_pages
import explorer_rooms
import explorer_weights
import notebook_io
from course_lib.data import XYSquares
from course_lib.losses import kl_to_standard_normal
from course_lib.models import conv_vae
from course_replication import shipped_model

HERE = Path(__file__).parent
ANSWER = re.compile(
    r"<details><summary>What you should have found</summary>\n\n\S[^<>]+\n</details>"
)  # not before it is tried
LOADS = re.compile(r"\bfetch\(|\bimport\b|https?://(?!www\.w3\.org/2000/svg)|XMLHttpRequest|url\(")
CHAPTERS = {
    "01": ["dials"], "02": ["map", "posteriors"], "03": ["capacity"], "05": ["cloud"], "08": ["rotate"],
    "12": ["sphere"], "15": ["train", "adversary"], "16": ["kernel"], "19": ["triplet"],
}  # fmt: skip
PLACES = [(number, name) for number, names in CHAPTERS.items() for name in names]


def stored_cases():
    return json.loads(explorer_cases.CASES.read_text(encoding="utf-8"))


def test_the_stored_cases_are_those_of_the_library():
    fresh = json.loads(json.dumps(explorer_cases.cases()))
    assert explorer_cases.differences(stored_cases(), fresh) == []


def test_a_case_that_has_changed_is_named():
    case = {"call": "f", "with": [1, [2.0]], "gives": {"a": 0.5, "b": True}}
    assert explorer_cases.differences(case, case) == []
    for other in ({**case, "gives": {"a": 0.50001, "b": True}}, {**case, "gives": {"a": 0.5, "b": False}},
                  {**case, "with": [1, [2.0, 3.0]]}, {"call": "f"}):  # fmt: skip
        (fault,) = explorer_cases.differences(other, case)
        assert fault.startswith("cases")


def test_the_scripts_under_node():
    node, _ = compute_driver_executable()  # playwright, which the tests need anyway, brings its own
    command = [node, "--test", "--test-reporter=tap", HERE / "explorers.test.js"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)[1]) > len(stored_cases())


def test_weights_are_those_that_were_hashed():
    stored = explorer_weights.stored("vae")
    first = "A" if stored["data"][0] != "A" else "B"
    with pytest.raises(ValueError, match="SHA-256"):
        explorer_weights.unpack(stored | {"data": first + stored["data"][1:]})
    with pytest.raises(ValueError, match="got a layer Tanh"):
        explorer_weights.layers(torch.nn.Sequential(torch.nn.Tanh()), (2,))
    for name in explorer_weights.MODELS:
        again = explorer_weights.pack(explorer_weights.read(name), name in explorer_weights.DECODERS)
        assert again == explorer_weights.stored(name)


def under_node(scripts, given, program, tmp_path):
    """What a program of the explorers' scripts says of what it is given."""
    (tmp_path / "given.json").write_text(json.dumps(given))
    paths = [str(explorer_pages.FOLDER / f"{name}.js") for name in scripts]
    script = f"""for (const path of {json.dumps(paths)}) require(path);
    const given = require({json.dumps(str(tmp_path / "given.json"))});
    console.log(JSON.stringify({program}));"""
    node, _ = compute_driver_executable()
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", explorer_weights.DECODERS)
def test_a_decoder_that_comes_with_the_course_under_node(name, tmp_path):
    """All 12,288 pixels of three pictures, of two rooms and of an edit, are those of `generate` to 1e-4."""
    tables = [room["codes"][name] for room in explorer_rooms.stored()["rooms"]]
    codes = [tables[0][6], tables[2][1], [value + 1.5 for value in tables[1][4]]]
    scripts = [*explorer_pages.scripts(["dials"])[:-1], *explorer_pages.LATER["dials"], "dials"]
    program = "given.codes.map(code => [...Explore.dials.painted(given.name, code)])"
    found = under_node(scripts, {"name": name, "codes": codes}, program, tmp_path)
    wanted = shipped_model(name).generate(torch.tensor(codes)).flatten(1).detach()
    torch.testing.assert_close(torch.tensor(found), wanted, atol=1e-4, rtol=0)
    assert wanted.std() > 0.2


def test_the_rooms_are_those_of_the_library(tmp_path):
    stored, grid = explorer_rooms.stored(), explorer_rooms.grid()
    assert explorer_rooms.same(stored, json.loads(json.dumps(explorer_rooms.rooms())))
    assert not explorer_rooms.same(stored, stored | {"wall": 5}) and not explorer_rooms.same([1.0], [1.01])
    program = "given.map(([room, wall]) => [...Explore.dials.wanted(room, wall)])"
    pairs = [[room, wall] for room in range(3) for wall in (0, 6, 8)]
    found = under_node(["toolkit", "maths", "network", "weights/rooms", "dials"], pairs, program, tmp_path)
    starts = explorer_rooms.starts(grid)
    assert (starts[:, explorer_rooms.WALL] == stored["wall"]).all()
    for (room, wall), picture in zip(pairs, found, strict=True):
        factors = starts[room].clone()
        factors[explorer_rooms.WALL] = wall
        drawn, levels = grid.images(grid.space.index(factors)).squeeze(0), (torch.tensor(picture) * 255).round().int()
        assert torch.equal(levels, drawn.flatten().int())
        assert torch.equal(explorer_rooms.picture(stored["rooms"][room], wall), drawn)


def test_a_network_of_the_library_under_node(tmp_path):
    """A convolutional VAE as it is built, through the export: within half precision of PyTorch's single one."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    model = explorer_weights.unpack(explorer_weights.pack(conv_vae(data, 3, width=16)))
    pixels, z = data.images([1234]).float() / 255, torch.tensor([[0.5, -1.0, 2.0]])
    wanted = {
        "mean": model.encode(data.observations([1234])).mean[0].tolist(),
        "raw": model.decode(z).flatten().tolist(),
    }
    given = explorer_weights.pack(model) | {"pixels": pixels.flatten().tolist(), "z": z[0].tolist()}
    program = "{ mean: LOADED.encode(given.pixels).mean, raw: [...LOADED.decode(given.z)] }"
    program = program.replace("LOADED", "Explore.network.load(given)")
    found = under_node(["network"], given, program, tmp_path)
    for name in wanted:
        assert found[name] == pytest.approx(wanted[name], abs=1e-4), name


def test_the_scripts_are_small_and_load_nothing():
    files = sorted(path for path in explorer_pages.FOLDER.rglob("*") if path.is_file())
    weights = [file for file in files if file.parent == explorer_weights.FOLDER]
    assert sum(file.stat().st_size for file in files if file not in weights) < 160_000
    assert [file.stem for file in weights] == sorted([*explorer_weights.MODELS, "rooms"])
    size = {file.relative_to(explorer_pages.FOLDER).with_suffix("").as_posix(): file.stat().st_size for file in files}
    later = {script for scripts in explorer_pages.LATER.values() for script in scripts}
    assert sum(size[f"weights/{file.stem}"] for file in weights if f"weights/{file.stem}" not in later) < 700_000
    for names in [*CHAPTERS.values(), ["score"]]:  # what a page loads, and what it may ask for
        asked = {script for name in names for script in explorer_pages.LATER.get(name, ())}
        at_once = sum(size[script] for script in explorer_pages.scripts(names))
        assert at_once < 500_000 and at_once + sum(size[script] for script in asked) < 4_000_000
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not LOADS.search(text), file.name


def explorer_cell(number, name=None):
    """The cell of an explorer; without a name, of the chapter's only one. No other cells of the chapter have one."""
    (path,) = notebook_io.ROOT.glob(f"chapters/{number}_*.ipynb")
    cells = [cell for cell in notebook_io.read(path).cells if explorer_pages.PLACE.search(cell.source)]
    assert [explorer_pages.PLACE.findall(cell.source) for cell in cells] == [[each] for each in CHAPTERS[number]]
    cell = cells[CHAPTERS[number].index(name or CHAPTERS[number][0])]
    assert cell.cell_type == "markdown"
    return cell.source


@pytest.mark.parametrize(("number", "name"), PLACES)
def test_a_cell_asks_falls_back_and_answers(number, name):
    before, within, after = re.split(r"<div class.*?>|</div>", explorer_cell(number, name))
    assert "?" in before and "without it" in within.lower() and ANSWER.fullmatch(after.strip())


def test_what_chapter_15_says_of_its_explorer():
    text = explorer_cell("15", "adversary")
    constant = {"comb": [], "frame": []}
    for kind, spacings in constant.items():
        for spacing in range(1, 9):
            row = explorer_cases.shape_images(kind, 8, spacing).view(8, 8, -1)[:, 0]
            if len(torch.cdist(row, row).round(decimals=6)[0, 1:].unique()) == 1:
                spacings.append(spacing)
    assert constant == {"comb": [5, 7, 8], "frame": [8]}
    prices = [explorer_cases.starting_price(explorer_cases.shape_images("comb", 8, spacing)) for spacing in (5, 8)]
    assert [f"{price:.1f}" in text for price in prices] == [True, True]


def test_what_chapter_16_says_of_its_explorer():
    text = explorer_cell("16")

    def found(*kernel):
        return explorer_cases.follow(explorer_cases.row_distances(explorer_cases.kernel_of(*kernel)))

    tent, box = found("drawn", 63, explorer_cases.TENT), found("box", 31)
    assert (
        f"{tent['rank']:.3f}"[1:] in text and f"{tent['linear']:.3f}"[1:] in text and f"{box['rank']:.2f}"[1:] in text
    )
    spike, ring = found("drawn", 31, [1] + [0] * 8), found("drawn", 31, [0] * 8 + [1])
    assert f"{spike['rank']:.2f}"[1:] in text and f"−{-ring['rank']:.2f}".replace("0.", ".") in text


def test_what_chapter_05_says_of_its_explorer():
    text = explorer_cell("05")
    assert f"{explorer_cases.box_correlation(1, 45):.3f}"[1:] in text and f"{math.log(400):.2f}" in text


def test_what_chapter_01_says_of_its_dials():
    text = explorer_cell("01")

    def edit_of(turned):
        edit = torch.zeros(10, dtype=torch.float64)
        edit[list(turned)] = torch.tensor(list(turned.values()), dtype=torch.float64)
        return edit

    def left(name, edits, room):
        found = explorer_model_cases.edited(name, room, 8, torch.stack(edits)).sum(1)
        return [round(value) for value in found.tolist()]

    entangled, tidy = explorer_weights.DECODERS
    one, two = edit_of({8: 1.2}), edit_of({7: -7.5, 1: -3.7})
    assert [left(tidy, [one], room) for room in range(3)] == [[14], [16], [16]]
    assert "B8, turned by +1.2, leaves 14 of the error’s 100 in the first room and 16 in both others" in text
    lowest = edit_of({7: -8.7})
    assert left(entangled, [edit_of({7: -2}), lowest], 0) == [202, 58]
    parts = explorer_model_cases.edited(entangled, 0, 8, lowest[None])[0]
    assert round(parts[explorer_rooms.PARTS.index("object")].item()) == 20
    said = "202 at −2, and turned down as far as it goes, by −8.7, it still leaves 58, of which 20 on the object"
    assert said in text
    means = torch.tensor(explorer_rooms.stored()["means"][entangled], dtype=torch.float64)
    found = [left(entangled, [two, means[8] - means[6]], room) for room in range(3)]
    assert found == [[14, 6], [21, 13], [59, 17]]
    assert "A7 by −7.5 and A1 by −3.7 leave 14" in text and "it leaves 21 and 59" in text
    assert ((means[8] - means[6]).abs() >= 0.05).sum() == 8  # what the explorer counts as turned
    assert "turns eight of the ten dials and leaves 6, 13 and 17" in text
    code = explorer_rooms.stored()["rooms"][0]["codes"][entangled][6]
    assert round(-8 - code[7], 1) == -8.7
    alone = [edit_of({dial: value - code[dial]}) for dial in range(10) for value in range(-8, 9, 4)]
    assert min(left(entangled, alone, 0)) > 55  # no dial of A does it


def test_what_chapter_02_says_of_its_map():
    text, outside = explorer_cell("02", "map"), math.sqrt(2 * math.log(20))
    noise, unsure = torch.randn(1_000, 2, generator=torch.Generator().manual_seed(0)), {}
    for name in ("vae", "autoencoder"):
        model = explorer_weights.read(name)
        codes = model.encode(explorer_weights.squares(4).observations(torch.arange(64))).mean
        for kind, z in (("codes", codes), ("prior", noise)):
            logits = model.decode(z).flatten(1)
            share = logits.sigmoid()
            unsure[name, kind] = (softplus(logits) - share * logits).sum(1)
            if kind == "prior":  # a square, or fog
                assert (
                    ((share.sum(1) - 16).abs() < 3).float().mean() > 0.95 if name == "vae" else share.sum(1).mean() > 32
                )
        far = (codes.norm(dim=1) > outside).sum().item()
        assert f"{far} of the 64 codes outside" in text if name == "vae" else far == 64 and "all 64 lie outside" in text
    assert f"up to {codes.norm(dim=1).max():.0f} from" in text
    means = {key: value.mean().item() for key, value in unsure.items()}
    assert (
        means["autoencoder", "codes"] < 0.5 * means["vae", "codes"]
        and means["autoencoder", "prior"] > 5 * means["vae", "prior"]
    )


def test_what_chapter_08_says_of_its_explorer():
    text, line = explorer_cell("08"), torch.linspace(-5, 5, 151, dtype=torch.float64)
    values = [f"{explorer_model_cases.evidence(degrees, line):.2f}".replace("-", "−") for degrees in (0, 45)]
    assert values[0] == values[1] and f"stays at {values[0]} nats" in text
    gives = [case["gives"] for case in stored_cases() if case["call"] in ("rotate.alignment", "rotate.mig")]
    aligned, gap, *_, aligned_45, gap_45 = (f"{value:.2f}"[1:] for value in gives)
    assert f"falls from {aligned} to {aligned_45} at 45° and the MIG from {gap} to {gap_45}." in text


def test_what_chapter_12_says_of_its_explorer():
    text = explorer_cell("12")

    def turn(first, second, corner):
        """The area of the triangle by L'Huilier's formula, from its sides, in degrees."""
        a, b, corner = (math.radians(angle) for angle in (first, second, corner))
        c = math.acos(math.cos(a) * math.cos(b) + math.sin(a) * math.sin(b) * math.cos(corner))
        s = (a + b + c) / 2
        return math.degrees(4 * math.atan(math.sqrt(math.prod(math.tan(x / 2) for x in (s, s - a, s - b, s - c)))))

    assert turn(90, 90, 50) == pytest.approx(50) and turn(120, 60, 50) == pytest.approx(50)
    assert "both turn the arrow by 50°" in text and "by less than a degree" in text and turn(10, 10, 90) < 1


def test_what_chapter_19_says_of_its_explorer():
    """Steps of descent from the start, along slopes by autograd of the loss as it is written in the chapter."""
    codes, shared, above = torch.tensor([[-1, -1], [0, 0.5], [2, 0.2]], dtype=torch.float64), [], []
    for _ in range(30):
        codes.requires_grad_()
        far = (codes[0] - codes[2]).abs()
        weights = torch.where(far < 0.5 * far.max(), 0.5, 1)
        loss = (5 + (codes[0] - codes[1]).abs().sum() - (weights * far).sum()).clamp(min=0)
        shared.append(round(far[1].item(), 2))
        above.append((codes[1] - codes[0])[1].item() > 0.001)  # the positive above the anchor
        (slope,) = torch.autograd.grad(loss, codes)
        codes = ((codes - 0.1 * slope) * 100).round().detach() / 100
    assert weights.tolist() == [1, 0.5] and not loss
    level = above.index(False)
    assert set(shared[:level]) == {1.2} and level > 5 and shared[level + 1] > 1.2
    said = f"once the positive is level with the anchor the shared difference grows from 1.2 to {max(shared)}"
    assert said in explorer_cell("19") and shared[-1] == max(shared)


@pytest.mark.slow
def test_what_chapter_15_says_of_training():
    """The trainings are stored by trainings.js; a hundred steps of each design are taken again."""
    text, node = explorer_cell("15", "train"), compute_driver_executable()[0]
    stored = json.loads((HERE / "trainings.json").read_text(encoding="utf-8"))
    script = f"""const {{ trained, EARLY }} = require({json.dumps(str(HERE / "trainings.js"))});
    const all = {json.dumps([one for one in stored if one["seed"] == 1])};
    console.log(JSON.stringify(all.map(({{ side, spacing, seed }}) => trained(side, spacing, seed, EARLY).rank)));"""
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout) == pytest.approx([one["early"] for one in stored if one["seed"] == 1], abs=1e-3)
    ranks, costs = {}, {}
    for one in stored:
        ranks.setdefault((one["side"], one["spacing"]), []).append(one["rank"])
        costs.setdefault((one["side"], one["spacing"]), []).append(one["kl"])
    assert all(len(found) == 5 for found in ranks.values())
    for design in ((4, 1), (2, 1)):
        least, most = (f"{of(ranks[design]):.2f}"[1:] for of in (min, max))
        assert f"{least} to {most}" in text, design
    assert max(map(abs, ranks[2, 2])) < 0.05 and "within .05 of 0" in text
    assert f"{min(costs[2, 2]):.1f} to {max(costs[2, 2]):.1f}" in text and min(costs[2, 1]) > 0.9 * min(costs[2, 2])
    assert max(costs[1, 1]) < 0.05 and "collapsed" in text


def test_what_chapter_03_says_of_its_networks():
    text, (pixels, factors) = explorer_cell("03"), explorer_weights.small_squares()
    rates, follows = {}, {}
    for beta in explorer_weights.STRENGTHS:
        for seed in explorer_weights.SEEDS:
            model = explorer_weights.read(f"capacity-{beta}-{seed}")
            posterior = model.encode((pixels - model.pixel_mean) / model.pixel_std)
            nats = kl_to_standard_normal(posterior).mean(0)
            codes = posterior.mean[:, nats.argsort(descending=True)]
            rates.setdefault(beta, []).append(nats.sum().item())
            follows[beta, seed] = torch.corrcoef(torch.cat([codes.T, factors.T.float()]))[:6, 6:].abs()
    for beta, said in ((4, "{} to {} nats at β = 4"), (16, "{} to {} at 16")):
        assert said.format(f"{min(rates[beta]):.1f}", f"{max(rates[beta]):.1f}") in text
    assert max(rates[48]) < 0.05 and "none at 48" in text
    dearest = [follows[4, seed][0] for seed in explorer_weights.SEEDS]
    assert sorted(found.argmax().item() for found in dearest) == [0, 0, 1]
    values = [found.max().item() for found in dearest]
    assert f"{min(values):.2f} to {max(values):.2f}".replace("0.", ".") in text
    assert all(follows[4, seed][2].argmax() == 2 for seed in explorer_weights.SEEDS)
