"""What chapters show beside what they train: it is of the course's own models, and a chapter shows each file."""

import pytest

import notebook_io
from course_lib.frameworks import InfoGAN, InfoWGAN_GP
from course_replication.arms import arm_named
from course_replication.measurements import study
from course_replication.prepared import PREPARED, prepared_model, prepared_table


def test_the_five_gans_differ_in_what_the_chapter_names():
    gans = [prepared_model(f"gan-{place}") for place in range(5)]
    assert [type(gan) for gan in gans] == [InfoWGAN_GP] * 4 + [InfoGAN]
    assert [gan.information for gan in gans] == [1.0, 0.2, 0.0, 1.0, 1.0]
    assert [gan.model.variance for gan in gans] == ["fixed"] * 3 + ["learnt", "fixed"]


def test_the_study_has_each_method_strength_and_seed_once_and_its_parts_add_up():
    table = prepared_table("study-of-ninety")
    methods = arm_named("small", "study").settings["methods"]
    wanted = {(method, strength, seed) for method in methods for strength in study.STRENGTHS for seed in range(5)}
    assert {*zip(table["method"], table["strength"], table["seed"], strict=True)} == wanted and len(table) == 90
    assert (table["elbo"] + table["reconstruction"] + table["kl"]).abs().max() < 1e-3
    assert (table["total-correlation-sampled"] <= table["total-correlation"]).all()


def test_numbers_are_read_to_the_last_digit():
    tables = "study-of-ninety", "beta-tcvae-of-ten", "split-then-weighted", "priors-of-eight-more"
    for name in tables:
        again = prepared_table(name).to_csv(index=False)
        assert again == (PREPARED / f"{name}.csv").read_text("utf-8")


def test_each_file_is_shown_by_a_chapter():
    sources = "".join(cell.source for path in notebook_io.chapters() for cell in notebook_io.read(path).cells)
    assert 'f"gan-{place}"' in sources and {path.stem for path in PREPARED.glob("*.safetensors")} == {
        f"gan-{place}" for place in range(5)
    }
    for path in PREPARED.glob("*.csv"):
        assert f'prepared_table("{path.stem}")' in sources


@pytest.mark.parametrize("read", [prepared_model, prepared_table])
def test_a_name_that_is_not_there(read):
    with pytest.raises(ValueError, match=r"name: got 'nothing'; expected one of .*(gan-0|study-of-ninety)"):
        read("nothing")
