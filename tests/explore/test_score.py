"""The page that scores a file: the same tables, the same sentences and the same numbers as course_lib."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas
import pytest
from playwright._impl._driver import compute_driver_executable

import notebook_io
from bad_score_files import bad_files
from course_lib import metrics
from course_lib.metrics.file_faults import SENTENCES
from course_lib.metrics.files import read_table
from course_lib.metrics.report import INTERVAL, about, summary, title

HERE = Path(__file__).parent
BAD = bad_files()
KINDS = ("bootstrap, percentile", "halves")


def in_page(*paths):
    """What the page's scripts say of themselves, and of each file."""
    node, _ = compute_driver_executable()
    done = subprocess.run([node, HERE / "score.js", *paths], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    own, *files = map(json.loads, done.stdout.splitlines())
    return own, files


def good_tables():
    """Tables that differ in all that a file can differ in: name → how it is saved, latents, factors, names."""
    draws = np.random.default_rng(0)
    grid = np.stack(np.unravel_index(np.arange(600), (6, 5, 4, 5)), 1)
    mixed = grid @ draws.normal(size=(4, 3)) + 0.2 * draws.normal(size=(600, 3))
    with_idle = np.concatenate([mixed, np.full((600, 1), 1 / 3)], 1)
    order = draws.permutation(600)
    drawn = draws.integers(0, 4, (700, 3)) // [1, 1, 2]
    few = grid[:, :2] * 7 - 3
    yield "grid.npz", np.savez, with_idle[order].astype("f4"), grid[order].astype("u1"), ["a", "β", "c", "d"]
    yield (
        "packed.npz",
        np.savez_compressed,
        np.asfortranarray(mixed.astype(">f8")),
        np.asfortranarray(grid.astype(">i2")),
        None,
    )
    yield (
        "drawn.npz",
        np.savez,
        (drawn @ draws.normal(size=(3, 5)) + 0.3 * draws.normal(size=(700, 5))).astype("f2"),
        drawn,
        None,
    )
    angles = np.pi / 3 * grid[:, :1] + [0, 6 * np.pi]
    turned = np.concatenate([np.sin(angles), np.cos(angles)], 1)
    assert all(len(np.unique(column)) > 4 for column in turned.T), "for rounding"
    yield "turned.npz", np.savez, turned, grid, None
    yield "turned-single.npz", np.savez, turned.astype("f4"), grid, None
    yield "integers.npz", np.savez, (few[:, :1] * 1000 + draws.integers(0, 9, (600, 1))), few, None
    yield "large.npz", np.savez, mixed * 1e6, np.concatenate([grid, 0 * grid[:, :1]], 1), None
    yield "sparse.npz", np.savez, mixed, draws.integers(0, 9, (600, 4)), None
    yield "tiny.npz", np.savez, np.array([[1.0, 3], [2, 3]]), np.array([[4], [6]]), None
    yield "grid.csv", None, with_idle, grid, ["a", 'b, "b"', "c", "d"]
    yield (
        "called.npz",
        np.savez,
        mixed,
        grid,
        ["mig", "global", "2", "factors"],
    )  # called like values


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Paths of good files, and what the page says of each."""
    folder = tmp_path_factory.mktemp("good")
    for name, save, latents, factors, names in good_tables():
        if save is None:
            columns = {f"z{j}": column for j, column in enumerate(latents.T)} | dict(zip(names, factors.T, strict=True))
            text = pandas.DataFrame(columns).to_csv(index=False, sep=";", lineterminator="\r\n")
            (folder / name).write_bytes(("\ufeff" + text).encode())
        else:
            save(folder / name, latents=latents, factors=factors, **({"names": names} if names else {}))
    own, _ = in_page()
    for number, text in enumerate(own["examples"]):
        (folder / f"example {number}.csv").write_text(text)
    paths = sorted(folder.iterdir())
    return dict(zip(paths, in_page(*paths)[1], strict=True))


def check_by_factor(found, name, score, control, names):
    """The headline, and the values of the factors in their order, are those of the library."""
    sides = [("headlines", "byFactor", score), ("shuffledHeadlines", "shuffledByFactor", control)]
    for headlines, by_factor, wanted in sides:
        assert found[headlines][name] == pytest.approx(float(wanted), abs=1e-6)
        assert (name in found[by_factor]) == (name != "modularity")  # which is of latents
        for factor, value in zip(names, found[by_factor].get(name, ()), strict=name != "modularity"):
            taken = f"{factor} (factor)"  # a factor that is called like another value
            expected = wanted.values.get(taken if taken in wanted.values else factor)
            assert (value is None) == (expected is None), (name, factor)
            assert value is None or value == pytest.approx(expected, abs=1e-6), (name, factor)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*too few", "ignore:.*one factor", "ignore:.*nothing was learnt")
def test_the_same_numbers_to_a_millionth(good):
    assert len(good) == 14
    left_out = 0
    for path, said in good.items():
        latents, factors = read_table(path, None, None)
        found = said["found"]
        ours = metrics.evaluate.from_samples(latents, factors, found["scores"], intervals=[])
        assert (found["n"], found["names"]) == (len(latents), list(factors))
        np.testing.assert_allclose(
            found["matrix"], metrics.mutual_information.from_samples(latents, factors).matrix, atol=1e-6
        )
        for name, score in ours.items():
            for values, wanted in ((found["scores"], score), (found["shuffled"], ours.controls[name])):
                for key, value in values[name].items():
                    assert value == pytest.approx(wanted.values[key], abs=1e-6), (path.name, name, key)
            check_by_factor(found, name, score, ours.controls[name], list(factors))
        for name, why in found["leftOut"].items():
            left_out += 1
            with pytest.raises(ValueError, match=".") as caught:
                metrics.evaluate.from_samples(latents, factors, [name])
            assert str(caught.value) == why
        assert len(found["scores"]) + len(found["leftOut"]) == 6
    assert left_out == 5


def test_the_same_warnings(good):
    for path, said in good.items():
        latents, factors = read_table(path, None, None)
        ours = summary(metrics.Evaluation(), latents, factors, 0, [], path.name)["warnings"]
        assert said["warnings"] == ours
    assert any("z3" in words for said in good.values() for words in said["warnings"])
    assert any("Constant factors" in words for said in good.values() for words in said["warnings"])


def test_the_same_sentence_for_every_bad_file(tmp_path):
    own, _ = in_page()
    assert own["sentences"] == SENTENCES and len(BAD) > 40
    for name, (_, content) in BAD.items():
        (tmp_path / name).write_bytes(content)
    _, files = in_page(*(tmp_path / name for name in BAD))
    for (name, (kind, _)), said in zip(BAD.items(), files, strict=True):
        assert said.get("kind") == kind, (name, said)
        with pytest.raises(ValueError, match=".") as caught:
            read_table(tmp_path / name, None, None)
        assert str(caught.value) == f"file: {tmp_path / name}: {said['fault']}"


CHOICES = [  # kind of file, latents, factors, and what is said of those that do not fit
    ("csv", ["x", "z1"], ["b"], None),
    ("csv", ["z0", "x", "z1"], None, None),
    ("csv", ["z1"], None, "row 2, column x: 0.5 is no integer"),
    ("csv", None, ["c", "a"], None),
    ("csv", ["x"], ["x"], "row 2, column x: 0.5 is no integer"),
    ("csv", ["z0", "a"], ["b", "a"], "factors: got 'a', which is among the latents; a column is one or the other."),
    ("csv", ["y", "y"], None, "latents: got 'y'; the file has a, b, c, x, z0, z1."),
    ("csv", ["z0", "z0"], None, "latents: got 'z0' twice; each is named once."),
    ("csv", None, ["it's"], 'factors: got "it\'s"; the file has'),
    ("csv", ["a", "b", "c", "x", "z0", "z1"], None, "it has columns of latents alone"),
    ("npz", None, ["c", "a"], None),
    ("npz", None, ["c", "c"], "factors: got 'c' twice"),
    ("npz", None, ["z0"], "factors: got 'z0'; the file has a, b, c."),
    ("npz", ["z0"], None, "latents: chosen among the columns of a .csv"),
]


@pytest.mark.filterwarnings("ignore:.*too few", "ignore:.*one factor")
def test_the_same_choice_of_columns(tmp_path):
    draws = np.random.default_rng(1)
    factors = np.stack(np.unravel_index(np.arange(60), (5, 4, 3)), 1)
    latents = factors @ draws.normal(size=(3, 2)) + 0.1 * draws.normal(size=(60, 2))
    columns = dict(zip("abc", factors.T, strict=True)) | {"x": factors[:, 0] + 0.5}
    columns |= {f"z{j}": column for j, column in enumerate(latents.T)}
    pandas.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    np.savez(tmp_path / "t.npz", latents=latents, factors=factors, names=list("abc"))
    given = [{"path": str(tmp_path / f"t.{kind}"), "latents": z, "factors": y} for kind, z, y, _ in CHOICES]
    given = [{key: value for key, value in one.items() if value is not None} for one in given]
    _, files = in_page(*map(json.dumps, given))
    for (kind, z, y, words), said in zip(CHOICES, files, strict=True):
        if words is None:
            table = read_table(tmp_path / f"t.{kind}", z, y)
            assert said["found"]["names"] == list(table[1]) and (y is None or said["found"]["names"] == y)
            ours = metrics.evaluate.from_samples(*table, ["mig", "sap"], intervals=[])
            assert len(said["found"]["matrix"]) == table[0].shape[1]
            for name, score in ours.items():
                check_by_factor(said["found"], name, score, ours.controls[name], list(table[1]))
            continue
        with pytest.raises(ValueError, match=".") as caught:
            read_table(tmp_path / f"t.{kind}", z, y)
        assert words in said["fault"] and str(caught.value).endswith(said["fault"])


def test_what_the_page_can_hold_and_what_it_cannot(tmp_path):
    """A factor beyond 2⁵³ is an integer at the command line, and none in JavaScript."""
    np.savez(tmp_path / "t.npz", latents=np.arange(4.0)[:, None], factors=np.array([[0], [1], [2], [2**53]]))
    assert len(read_table(tmp_path / "t.npz", None, None)[1]) == 4
    _, (said,) = in_page(tmp_path / "t.npz")
    assert said["kind"] == "beyond" and "2⁵³" in said["fault"]


def test_both_ask_the_same_of_a_score_and_the_page_of_the_book_too():
    own, _ = in_page()
    page = (notebook_io.ROOT / "book" / "score_your_own.md").read_text(encoding="utf-8")
    for name, (called, asks, chapter) in own["about"].items():
        ours = about(name)
        assert (called, asks, chapter) == (title(name), ours["asks"], ours["chapter"])
        place = "metrics.md" if name == "modularity" else f"#{name}"  # which is a word of the glossary, too
        assert f"| {ours['asks']} | {ours['blind']} |" in page and f"({place}), [chapter {chapter}]" in page


def test_what_the_book_says_of_the_example(tmp_path):
    own, _ = in_page()
    text = " ".join((notebook_io.ROOT / "book" / "score_your_own.md").read_text(encoding="utf-8").split())
    shown = []
    for example in (own["examples"][0], own["examples"][2]):
        (tmp_path / "example.csv").write_text(example)
        table = read_table(tmp_path / "example.csv", None, None)
        asked = ["mig", "axis_alignment_ratio", "linearity_ratio", "distance_correlation"]
        found = metrics.evaluate.from_samples(*table, asked, intervals=[])
        shown.append([f"{score:.3f}"[1:] for score in found.values()])
        sizes = found["mig"].values["size"]
    straight, turned = shown
    assert f"at 0°, MIG is {straight[0]}; at 45° a third of it is left, {turned[0]}, that of the size" in text
    assert f"{sizes / 3:.3f}"[1:] == turned[0]
    assert f"falls from {straight[1]} to {turned[1]}, while linearity stays at {straight[2]}" in text
    assert straight[2:] == turned[2:]


def test_what_the_book_says_of_intervals():
    """In `benchmarks/intervals.json`, as measured; tests/metrics/test_from_samples.py measures a part of it again."""
    page = " ".join((notebook_io.ROOT / "book" / "score_your_own.md").read_text(encoding="utf-8").split())
    stored = json.loads((notebook_io.ROOT / "benchmarks" / "intervals.json").read_text())
    held = {kind: [stored["held"][name][kind] for name in ("mutual_information", "mig")] for kind in KINDS}
    doubled, halves = ([round(share * stored["tables"]) for share in held[kind]] for kind in KINDS)
    assert f"tables of {stored['rows']} rows" in page
    assert f"information score in {doubled[0]} of {stored['tables']} tables, of MIG in {doubled[1]}" in page
    assert f"halves in {halves[0]} and {halves[1]}" in page
    shares = {name: share["halves"] for name, share in stored["held"].items()}
    assert round(20 * shares.pop("irs")) == 18 and all(0.92 <= share <= 0.98 for share in shares.values())
    assert "19 of 20" in page and "in 18" in page and "19 of 20" in INTERVAL and "in 18" in INTERVAL
