"""`course score`: scores of a file beside those of shuffled rows; a file that does not fit gets one sentence."""

import html
import json
import re
import subprocess
import sys

import numpy as np
import pandas
import pytest

from course_lib import metrics
from course_lib.__main__ import main
from course_lib.metrics.command import TWINS
from course_lib.metrics.report import BLIND, about

QUICK = "mig,sap,irs,gaussian_total_correlation"


@pytest.fixture
def arrays():
    """1,500 rows: two factors and two latents that follow them, in the order of a grid."""
    factors = np.stack(np.unravel_index(np.arange(1500) // 60, (5, 5)), 1)
    return factors + 0.05 * np.random.default_rng(0).normal(size=factors.shape), factors


@pytest.fixture
def npz(arrays, tmp_path):
    np.savez(tmp_path / "known.npz", latents=arrays[0], factors=arrays[1], names=["height", "hue"])
    return tmp_path / "known.npz"


@pytest.fixture
def csv(arrays, tmp_path):
    columns = {"hue": arrays[1][:, 1], "z0": arrays[0][:, 0], "z1": arrays[0][:, 1], "height": arrays[1][:, 0]}
    pandas.DataFrame(columns).to_csv(tmp_path / "known.csv", index=False)
    return tmp_path / "known.csv"


def ask(capsys, *arguments):
    """The exit status, and what was printed and complained."""
    status = main(["score", *map(str, arguments)])
    return status, *capsys.readouterr()


def found(capsys, *arguments):
    status, printed, _ = ask(capsys, *arguments, "--json")
    assert status == 0
    return json.loads(printed, parse_constant=pytest.fail)


def test_scores_are_those_of_the_twins_and_shuffled_rows_have_almost_none(npz, arrays, capsys):
    entry = found(capsys, npz, "--scores", QUICK, "--seed", 3)
    assert (entry["n"], entry["latents"], entry["factors"], entry["seed"]) == (1500, 2, ["height", "hue"], 3)
    assert list(entry["scores"]) == QUICK.split(",")
    sap = metrics.sap.from_samples(*arrays, seed=3, names=["height", "hue"])
    assert entry["scores"]["sap"]["values"] == sap.values and entry["scores"]["sap"]["score"] == float(sap)
    assert entry["scores"]["mig"]["score"] > 0.9 and entry["scores"]["mig"]["shuffled"] < 0.05


def test_every_score_with_a_twin_is_run_unless_some_are_named(npz, capsys, monkeypatch):
    assert set(TWINS) == {name for name, score in metrics.SCORES.items() if hasattr(score, "from_samples")}
    for name in TWINS:
        monkeypatch.setitem(TWINS, name, lambda latents, factors, **options: metrics.Score("one", 1.0, {"one": 1.0}))
    assert set(found(capsys, npz)["scores"]) == set(TWINS)


def test_a_table_says_the_same_as_the_json(npz, capsys):
    entry = found(capsys, npz, "--scores", "mig")
    status, printed, _ = ask(capsys, npz, "--scores", "mig")
    assert status == 0 and "1,500 rows, 2 latents, factors height, hue" in printed
    shown = next(line.split() for line in printed.splitlines() if line.startswith("mig"))
    assert shown[3:6] == [
        f"{entry['scores']['mig']['interval'][0]:.3f}",
        "to",
        f"{entry['scores']['mig']['interval'][1]:.3f}",
    ]
    assert shown[0] == "mig" and shown[-1] == "1,500"
    assert shown[1] == f"{entry['scores']['mig']['score']:.3f}"
    assert shown[2] == f"{entry['scores']['mig']['shuffled']:.3f}"


def test_a_csv_says_the_same_as_an_npz_and_columns_can_be_chosen(npz, csv, capsys):
    ours, theirs = (found(capsys, path, "--scores", "mig", "--factors", "height,hue") for path in (npz, csv))
    assert ours["scores"]["mig"]["score"] == pytest.approx(theirs["scores"]["mig"]["score"], abs=1e-12)
    one = found(capsys, csv, "--scores", "mig", "--latents", "z1", "--factors", "hue")
    assert (one["latents"], one["factors"]) == (1, ["hue"])


def test_what_is_infinite_is_null(tmp_path, arrays, capsys):
    path = tmp_path / "twice.npz"
    np.savez(path, latents=arrays[0][:, [0, 0]], factors=arrays[1])
    entry = found(capsys, path, "--scores", "gaussian_total_correlation")
    assert entry["scores"]["gaussian_total_correlation"]["score"] is None


def test_what_the_table_is_not_made_for_is_left_out_unless_it_is_named(tmp_path, capsys, monkeypatch):
    for name in set(TWINS) - {"mig", "linearity_ratio"}:
        monkeypatch.delitem(TWINS, name)
    draws = np.random.default_rng(0)
    np.savez(tmp_path / "drawn.npz", latents=draws.normal(size=(300, 2)), factors=draws.integers(0, 40, (300, 3)))
    status, printed, _ = ask(capsys, tmp_path / "drawn.npz", "--intervals", "mig")
    assert status == 0 and printed.splitlines()[-1].startswith(
        "linearity_ratio: factors: no rows agree in all factors but"
    )
    status, printed, complaint = ask(capsys, tmp_path / "drawn.npz", "--scores", "linearity_ratio", "--halves", 0)
    assert status == 2 and printed == "" and "the linearity ratio needs such rows" in complaint


def test_few_rows_are_scored_with_a_warning(tmp_path, arrays, capsys):
    path = tmp_path / "few.npz"
    np.savez(path, latents=arrays[0][::50], factors=arrays[1][::50])
    status, printed, complaint = ask(capsys, path, "--scores", "mig")
    assert status == 0 and "mig" in printed and complaint.count("30 samples are too few") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [("absent.npz", "is not there"), ("latents.txt", "allowed are .npz and .csv"), ("noise.npz", "no zip archive")],
)
def test_a_file_that_does_not_fit_gets_one_sentence_and_status_2(name, words, tmp_path, capsys):
    if name != "absent.npz":
        (tmp_path / name).write_bytes(b"\x80\x04no archive")
    status, printed, complaint = ask(capsys, tmp_path / name, "--scores", "mig")
    assert status == 2 and printed == "" and words in complaint and complaint.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scores", "mig,factor_vae_score"], "scores: got 'factor_vae_score'; allowed are mig, "),
        (["--factors", "size"], "factors: got 'size'; "),
        (["--latents", "z0"], "latents: chosen among the columns of a .csv"),
        (["--seed", "-1"], "seed: got -1"),
        (["--halves", "1"], "halves: got 1"),
        (["--intervals", "linearity_ratio"], "intervals: got 'linearity_ratio'"),
        (["--report", "scores.pdf"], "report: got scores.pdf; allowed are names in .html and .json"),
    ],
)
def test_arguments_that_do_not_fit_are_named(npz, capsys, arguments, words):
    status, printed, complaint = ask(capsys, npz, "--scores", "mig", *arguments)
    assert status == 2 and printed == "" and words in complaint and complaint.count("\n") == 1


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    factors = np.stack(np.unravel_index(np.arange(1200), (4, 4, 75)), 1)
    latents = np.concatenate(
        [factors[:, :2] + 0.05 * np.random.default_rng(0).normal(size=(1200, 2)), np.ones((1200, 1))], 1
    )
    np.savez(folder / "<a>&.npz", latents=latents, factors=factors, names=["<hue>", "size", "where"])
    asked = ["--scores", "mig,sap,linearity_ratio,gaussian_total_correlation", "--halves", "20"]
    for name in ("report.html", "report.json"):
        (folder / name).write_text("old")
        assert main(["score", str(folder / "<a>&.npz"), *asked, "--report", str(folder / name)]) == 0
    return folder


def test_a_report_in_json_is_what_is_printed(report, capsys):
    stored = json.loads((report / "report.json").read_text())
    printed = found(
        capsys, report / "<a>&.npz", "--scores", "mig,sap,linearity_ratio,gaussian_total_correlation", "--halves", 20
    )
    assert stored == printed and stored["levels"] == [4, 4, 75]
    assert any("where (75)" in words for words in stored["warnings"]) and any(
        "z2" in words for words in stored["warnings"]
    )
    assert np.shape(stored["mutual_information"]["latents × factors"]) == (3, 3)


def test_a_report_in_html_stands_alone_and_holds_every_number(report):
    page, stored = (report / "report.html").read_text(), json.loads((report / "report.json").read_text())
    assert not re.search(r"<script|https?:|url\(|<link|src=", page) and "<a>" not in page and "&lt;hue&gt;" in page
    for name, entry in stored["scores"].items():
        numbers = [entry["score"], entry["shuffled"], *(entry["interval"] or [])]
        assert all(f"{number:.3f}" in page for number in numbers) and html.escape(entry["asks"]) in page, name
        assert (
            html.escape(entry["blind"]) in page
            and f"Chapter {entry['chapter']}" in page
            and html.escape(entry["note"].replace("no interval", "none")) in page
        )
    assert all(html.escape(words) in page for words in stored["warnings"])
    assert {path.name for path in report.iterdir()} == {"<a>&.npz", "report.html", "report.json"}  # nothing unfinished


def test_every_twin_has_its_question_its_blind_spot_and_its_chapter():
    for name in TWINS:
        said = about(name)
        assert said["asks"][-1] in "?." and said["blind"].endswith(".") and 1 <= int(said["chapter"]) <= 23
    assert set(BLIND) == set(TWINS)


@pytest.mark.slow
def test_from_a_shell(csv):
    command = [sys.executable, "-m", "course_lib", "score", csv, "--scores", "mig", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["scores"]["mig"]["score"] > 0.9
