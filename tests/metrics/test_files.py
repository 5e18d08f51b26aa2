"""Latents and factors from files: what is read, and the one sentence for each that does not fit."""

import numpy as np
import pytest

from bad_score_files import bad_files
from course_lib.metrics.file_faults import SENTENCES, FileFault
from course_lib.metrics.files import read_table

BAD = bad_files()


def test_there_is_a_bad_file_for_every_sentence():
    assert {kind for kind, _ in BAD.values()} == set(SENTENCES)


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_does_not_fit(name, tmp_path):
    kind, content = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=".") as caught:
        read_table(tmp_path / name, None, None)
    said = str(caught.value)
    assert said.startswith(f"file: {tmp_path / name}: ") and said.endswith(".") and "\n" not in said
    if kind != "kind":
        assert isinstance(caught.value.__cause__, FileFault) and caught.value.__cause__.kind == kind
    else:
        assert "allowed are .npz and .csv" in said


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_as_spreadsheets_write_it(mark, end, tmp_path):
    rows = ['"hue, ""h"""', "z1", "z0", "a"], ["-3", '"1.5"', " 2e-3", "7"], ["4", ".5", "+1", "8 "]
    text = "\ufeff" + end.join(mark.join(row) for row in rows) + end + end
    (tmp_path / "t.csv").write_bytes(text.encode())
    latents, factors = read_table(tmp_path / "t.csv", None, None)
    assert latents.tolist() == [[1.5, 0.002], [0.5, 1.0]] and latents.dtype == np.float64
    assert list(factors) == ['hue, "h"', "a"] and factors.to_numpy().tolist() == [[-3, 7], [4, 8]]


@pytest.mark.parametrize("dtype", [">f4", "<f8", "f2", "i8", "u1"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_of_any_order_of_bytes_and_of_axes(dtype, save, tmp_path):
    latents, factors = np.arange(12).reshape(6, 2), np.arange(18).reshape(6, 3) - 7
    save(tmp_path / "t.npz", latents=np.asfortranarray(latents.astype(dtype)), factors=factors.astype(">i2"))
    found, frame = read_table(tmp_path / "t.npz", None, ["factor 2", "factor 0"])
    assert found.tolist() == latents.tolist() and frame.to_numpy().tolist() == factors[:, [2, 0]].tolist()
    assert found.dtype.isnative


def test_a_fault_names_row_and_column(tmp_path):
    (tmp_path / "t.csv").write_text("z0,a\n1,2\n\n2;,3\n")
    with pytest.raises(ValueError, match="row 4, column z0: 2; is no number"):
        read_table(tmp_path / "t.csv", None, None)


INTEGERS = "z0,z1,a\n0,1,0\n1,0,1\n"


def test_a_column_that_is_chosen_as_a_factor_is_no_latent(tmp_path):
    (tmp_path / "t.csv").write_text(INTEGERS)
    latents, factors = read_table(tmp_path / "t.csv", None, ["z0", "a"])
    assert latents.tolist() == [[1], [0]] and factors.to_numpy().tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("latents", "factors", "words"),
    [
        (["z0", "z1"], ["a", "z0"], "factors: got 'z0', which is among the latents"),
        (None, ["z0", "z1"], "no column z0 among a; latents are called"),
        (None, ["a", "z0", "z1"], "no column z0 among the columns that are left; latents are called"),
    ],
)
def test_columns_of_which_none_is_left_are_named(latents, factors, words, tmp_path):
    (tmp_path / "t.csv").write_text(INTEGERS)
    with pytest.raises(ValueError, match=words):
        read_table(tmp_path / "t.csv", latents, factors)
