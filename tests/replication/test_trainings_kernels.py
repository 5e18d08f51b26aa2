"""The kernels that the course comes with: from the run that they name, and as good as it says."""

import json

import pytest
import torch

from course_replication import Store
from course_replication.measurements import kernels, square_kernels, stored_kernels
from course_replication.measurements.stored_kernels import kernel_path, load_kernel, repeated, store_kernel
from course_replication.measurements.tables import enumerated

TINY = {"steps": 2, "batch_size": 8, "pairs": 16, "learning_rate": 0.001, "symmetry": 1.0, "radius": 31}


@pytest.mark.parametrize("scale", ["small", "full"])
@pytest.mark.parametrize("radius", [31, 63])
def test_a_stored_kernel_is_of_a_stored_run_and_as_good(radius, scale):
    kernel, config = load_kernel(radius, scale)
    result = Store().results()[config["id"]]
    assert result["scale"] == scale and config["settings"]["steps"] == {"small": 600, "full": 28_800}[scale]
    assert kernel.shape == (2 * radius + 1,) * 2 and (kernel >= 0).all()
    assert config["settings"]["radius"] == radius and config["metrics"] == result["metrics"]
    linear, rank = enumerated(8, kernel)
    assert linear == pytest.approx(result["metrics"]["factors/linear"], abs=1e-3)  # half precision has 3 digits
    assert rank == pytest.approx(result["metrics"]["factors/rank"], abs=2e-3)


def test_stored_kernels_are_small():
    sizes = [kernel_path(radius, scale).stat().st_size for radius in (31, 63) for scale in ("small", "full")]
    assert sum(sizes) < 100_000


def test_a_kernel_is_kept_with_what_it_takes_to_repeat_it(tmp_path, monkeypatch):
    result = {
        "id": "a",
        "settings": TINY,
        "seed": 2,
        "metrics": {"x": 1.0},
        "device": {},
        "versions": {},
        "commit": "c",
    }
    trained = kernels.trained_kernel(2, **TINY)
    store_kernel(tmp_path / "kernel.safetensors", trained, result | {"seconds": 3})
    monkeypatch.setattr(stored_kernels, "kernel_path", lambda radius, scale: tmp_path / "kernel.safetensors")
    kernel, config = load_kernel(31)
    assert json.loads(json.dumps(result)) == config
    assert torch.equal(kernel, trained.half().float()) and torch.equal(repeated(config), trained)
    with pytest.raises(ValueError, match="scale"):
        kernel_path(31, "large")


def test_a_kernel_of_the_squares_is_repeated_without_images():
    run = {"id": "square_kernels.learnt/full/a/0", "seed": 2, "settings": TINY}
    assert torch.equal(repeated(run), kernels.trained_kernel(2, kind=square_kernels.SquaresKernel, **TINY))
    torch.testing.assert_close(repeated(run), kernels.trained_kernel(2, **TINY), rtol=1e-4, atol=1e-6)
