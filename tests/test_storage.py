"""A file is replaced whole or not at all, and a file that does not fit is refused before anything changes."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest
import torch

from course_lib.data import XYSquares
from course_lib.data.arrays import unpack
from course_lib.frameworks import AdaTripletVAE, BetaVAE, load_framework
from course_lib.models import mlp_vae
from course_lib.storage import read_tensors, replace_file, write_tensors
from course_lib.training import fit

DATA = XYSquares(2, 2, squares=2, image_size=16)
RUN = dict(batch_size=4, device="cpu", precision="float32")


def test_the_old_file_stays_until_the_block_ends(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replace_file(path) as file:
        file.write(b"new, and longer")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new, and longer" and os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_block_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(error if isinstance(error, type) else OSError) as raised, replace_file(path) as file:
        file.write(b"half of")
        raise error
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
    if isinstance(error, OSError):
        words = f"cannot write {path}: No space left on device; the file that was there is untouched"
        assert raised.value.errno == 28 and raised.value.strerror == words


def test_a_mode_that_may_not_be_set_keeps_nobody_from_writing(tmp_path, monkeypatch):
    """As in a grader's worker, and on file systems without modes."""

    def refuse(path, mode):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", refuse)
    with replace_file(tmp_path / "file") as file:
        file.write(b"new")
    assert (tmp_path / "file").read_bytes() == b"new" and os.listdir(tmp_path) == ["file"]


def test_mode_and_link_are_kept_and_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    for name in ("link", "new"):
        with replace_file(tmp_path / name) as file:
            file.write(b"x")
    (tmp_path / "plain").write_bytes(b"x")
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("real", "new", "plain")}
    assert modes["real"] == 0o640 and modes["new"] == modes["plain"] and (tmp_path / "link").is_symlink()


def test_a_writer_that_is_killed_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    code = "import os, sys; from course_lib.storage import replace_file\n"
    code += "with replace_file(sys.argv[1]) as file: file.write(b'half'); file.flush(); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == 9
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("path", ["absent/file", "."])
def test_where_nothing_can_be_written_the_path_is_named(tmp_path, path):
    with pytest.raises(OSError, match="cannot write "), replace_file(tmp_path / path) as file:
        file.write(b"x")
    assert os.listdir(tmp_path) == []


def planted(path, change):
    """A saved framework, its configuration changed."""
    AdaTripletVAE(mlp_vae(DATA, 2, hidden=(4,))).save(path)
    tensors, config = read_tensors(path)
    write_tensors(path, tensors, change(config))
    return path


OTHER = {
    "an argument of another edition": lambda config: config | {"arguments": config["arguments"] | {"warmth": 3}},
    "an argument that is none": lambda config: config | {"arguments": config["arguments"] | {"beta": "much"}},
    "arguments that are a number": lambda config: config | {"arguments": 5},
    "a model of another edition": lambda config: config | {"model": config["model"] | {"depth": 3}},
    "a model that lacks its shape": lambda config: config | {"model": {"architecture": "mlp"}},
    "a model of another size": lambda config: config | {"model": config["model"] | {"latent_dim": 3}},
    "no framework": lambda config: config | {"framework": "SCHEDULES"},
    "the base class": lambda config: config | {"framework": "Framework"},
    "a list": lambda config: [config],
}


@pytest.mark.parametrize("name", OTHER)
def test_a_framework_of_another_edition_is_refused_by_its_path(name, tmp_path):
    path = planted(tmp_path / "model.safetensors", OTHER[name])
    with pytest.raises(ValueError, match=r"path: .*model\.safetensors"):
        load_framework(path)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_no_numbers_are_refused_by_their_name(number, tmp_path):
    framework = BetaVAE(mlp_vae(DATA, 2))
    with torch.no_grad():
        framework.model.decoder[0].bias[1] = number
    framework.save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"path: .*model\.safetensors .*: model\.decoder\.0\.bias has NaN or infinite"):
        load_framework(tmp_path / "model.safetensors")


def test_a_deviation_of_zero_is_refused(tmp_path):
    framework = BetaVAE(mlp_vae(DATA, 2))
    framework.model.pixel_std.zero_()
    framework.save(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"model\.safetensors .*: model\.pixel_std has a 0"):
        load_framework(tmp_path / "model.safetensors")


@pytest.mark.parametrize(("ending", "number"), [("/exp_avg_sq", -1e-3), ("/step", -2.0), (".pixel_std", -0.1)])
def test_what_is_never_negative_is_damage_if_it_is(ending, number, tmp_path):
    """A negative second moment makes NaN of its weight at the next step, and of all weights soon."""
    path = tmp_path / "run.safetensors"
    fit(BetaVAE(mlp_vae(DATA, 2)), DATA, steps=2, checkpoint=path, **RUN)
    tensors, config = read_tensors(path)
    name = next(name for name in sorted(tensors) if name.endswith(ending))
    tensors[name].view(-1)[-1] = number
    write_tensors(path, tensors, config)
    framework = BetaVAE(mlp_vae(DATA, 2, seed=5))
    before = {key: weight.clone() for key, weight in framework.state_dict().items()}
    with pytest.raises(ValueError, match=f"checkpoint: .* is damaged: {name} has negative numbers"):
        fit(framework, DATA, steps=4, checkpoint=path, **RUN)
    assert all(torch.equal(weight, before[key]) for key, weight in framework.state_dict().items())


def test_first_moments_may_be_negative(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(BetaVAE(mlp_vae(DATA, 2)), DATA, steps=2, checkpoint=path, **RUN)
    tensors, _ = read_tensors(path)
    assert any((values < 0).any() for name, values in tensors.items() if name.endswith("/exp_avg"))
    assert fit(BetaVAE(mlp_vae(DATA, 2)), DATA, steps=4, checkpoint=path, **RUN).steps == 4
    assert load_framework(path).config["framework"] == "BetaVAE"


DAMAGE = {
    "bytes that are no text": torch.full((5,), 255, dtype=torch.uint8),
    "text that is no JSON": torch.tensor(list(b"{step:"), dtype=torch.uint8),
    "a number": torch.tensor(list(b"5"), dtype=torch.uint8),
    "records without seconds": torch.tensor(list(b'[{"step": 1}]'), dtype=torch.uint8),
    "seconds that are text": torch.tensor(list(b'[{"step": 1, "seconds": "1"}]'), dtype=torch.uint8),
    "numbers that are no bytes": torch.tensor([1e9, -5.0]),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_an_unreadable_history_is_refused_before_anything_changes(name, tmp_path):
    path = tmp_path / "run.safetensors"
    fit(BetaVAE(mlp_vae(DATA, 2, seed=1)), DATA, steps=2, checkpoint=path, **RUN)
    tensors, config = read_tensors(path)
    write_tensors(path, tensors | {"training/records": DAMAGE[name]}, config)
    framework = BetaVAE(mlp_vae(DATA, 2, seed=5))
    before = {key: weight.clone() for key, weight in framework.state_dict().items()}
    with pytest.raises(ValueError, match=r"checkpoint: .*run\.safetensors is damaged: it lacks its history"):
        fit(framework, DATA, steps=4, checkpoint=path, **RUN)
    assert all(torch.equal(weight, before[key]) for key, weight in framework.state_dict().items())


@pytest.mark.parametrize("steps", [-1, True, "2", 2.0])
def test_a_number_of_steps_that_is_none_is_damage(steps, tmp_path):
    path = tmp_path / "run.safetensors"
    fit(BetaVAE(mlp_vae(DATA, 2)), DATA, steps=2, checkpoint=path, **RUN)
    tensors, config = read_tensors(path)
    write_tensors(path, tensors, config | {"steps": steps})
    with pytest.raises(ValueError, match="checkpoint: .* is damaged"):
        fit(BetaVAE(mlp_vae(DATA, 2)), DATA, steps=4, checkpoint=path, **RUN)


def test_the_state_of_a_generator_that_is_none_is_damage(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(BetaVAE(mlp_vae(DATA, 2)), DATA, steps=2, checkpoint=path, **RUN)
    tensors, config = read_tensors(path)
    write_tensors(path, tensors | {"training/generator": torch.zeros_like(tensors["training/generator"])}, config)
    framework = BetaVAE(mlp_vae(DATA, 2, seed=5))
    before = framework.model.encoder[1].weight.clone()
    with pytest.raises(ValueError, match="checkpoint: .* is damaged: the state of its generator is none"):
        fit(framework, DATA, steps=4, checkpoint=path, **RUN)
    assert torch.equal(before, framework.model.encoder[1].weight)


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00v\x00{'descr': '|u1'"])
def test_an_unpacked_file_that_is_damaged_is_named(content, tmp_path):
    path = tmp_path / "images.npy"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"images\.npy: is no array .*Delete it"):
        unpack(path, (3, 2), [np.zeros((3, 2), np.uint8)])
    assert path.read_bytes() == content
