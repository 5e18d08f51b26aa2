"""`course score`: scores of a file beside those of shuffled rows; a file that does not fit gets one sentence."""

import json
import subprocess
import sys

import numpy as np
import pandas
import pytest

from course_lib import metrics
from course_lib.__main__ import main
from course_lib.metrics.command import TWINS

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
        monkeypatch.setitem(TWINS, name, lambda latents, factors: metrics.Score("one", 1.0, {"one": 1.0}))
    assert set(found(capsys, npz)["scores"]) == set(TWINS)


def test_a_table_says_the_same_as_the_json(npz, capsys):
    entry = found(capsys, npz, "--scores", "mig")
    status, printed, _ = ask(capsys, npz, "--scores", "mig")
    assert status == 0 and "1,500 rows, 2 latents, factors height, hue" in printed
    shown = printed.splitlines()[-1].split()
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


def test_few_rows_are_scored_with_a_warning(tmp_path, arrays, capsys):
    path = tmp_path / "few.npz"
    np.savez(path, latents=arrays[0][::50], factors=arrays[1][::50])
    status, printed, complaint = ask(capsys, path, "--scores", "mig")
    assert status == 0 and "mig" in printed and complaint.count("30 samples are too few") == 1


def planted(folder, name):
    """A file that does not fit."""
    path, latents, factors = folder / name, np.zeros((9, 2)), np.arange(18).reshape(9, 2)
    match name:
        case "pickle.npz":
            np.savez(path, latents=np.array([{}, {}]), factors=factors)
        case "one.npz":
            np.savez(path, latents=latents)
        case "short.npz":
            np.savez(path, latents=latents, factors=factors[1:])
        case "fractions.npz":
            np.savez(path, latents=latents, factors=factors + 0.5)
        case "constant.npz":
            np.savez(path, latents=latents, factors=np.zeros((9, 2), int))
        case "names.npz":
            np.savez(path, latents=latents, factors=factors, names=["a"])
        case "words.csv":
            path.write_text("z0,a\nx,1\ny,2\n")
        case "nothing.csv":
            path.write_text("")
        case "no_latents.csv":
            path.write_text("a,b\n1,2\n")
        case _ if name != "absent.npz":
            path.write_bytes(b"\x80\x04no archive")
    return path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.npz", "is not there"),
        ("noise.npz", "cannot be read"),
        ("latents.txt", "allowed are .npz and .csv"),
        ("pickle.npz", "cannot be read"),
        ("one.npz", "lacks the array factors"),
        ("short.npz", r"factors: got shape (8, 2)"),
        ("fractions.npz", "factors: got dtype torch.float64; allowed are integers"),
        ("constant.npz", "factors: got constant ones only"),
        ("names.npz", "cannot be read"),
        ("words.csv", "latents: got"),
        ("nothing.csv", "cannot be read"),
        ("no_latents.csv", "no column z0 among a, b"),
    ],
)
def test_a_file_that_does_not_fit_gets_one_sentence_and_status_2(name, words, tmp_path, capsys):
    status, printed, complaint = ask(capsys, planted(tmp_path, name), "--scores", "mig")
    assert status == 2 and printed == "" and words in complaint and complaint.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scores", "mig,factor_vae_score"], "scores: got 'factor_vae_score'; allowed are mig, "),
        (["--factors", "size"], "factors: got 'size'; "),
        (["--latents", "z0"], "--latents chooses columns of a .csv"),
        (["--seed", "-1"], "seed: got -1"),
    ],
)
def test_arguments_that_do_not_fit_are_named(npz, capsys, arguments, words):
    status, printed, complaint = ask(capsys, npz, "--scores", "mig", *arguments)
    assert status == 2 and printed == "" and words in complaint and complaint.count("\n") == 1


def test_from_a_shell(csv):
    command = [sys.executable, "-m", "course_lib", "score", csv, "--scores", "mig", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["scores"]["mig"]["score"] > 0.9
