"""One training scored on its way: the slope, the names, and scores that a second training of that length has too."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from course_replication import Context
from course_replication.measurements import prices, scale

SMALL = {
    "data": "SmallSprites", "framework": "BetaVAE", "network": "mlp", "hidden": [8], "latents": 3, "beta": 0.25,
    "reconstruction": "bce", "reduction": "sum", "batch_size": 64, "learning_rate": 0.01, "log_every": 10,
}  # fmt: skip


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    return Context(3, torch.device("cpu"), tmp_path_factory.mktemp("scratch"))


@pytest.fixture(scope="module")
def found(context):
    return scale.by_steps(context, levels=[10, 20, 40], steps=40, **SMALL)


def test_each_level_has_the_scores_of_a_training_that_ends_there(found, context):
    alone = replace(context, scratch=context.scratch / "alone")
    short = prices.at_betas(
        alone, betas={"it": SMALL["beta"]}, steps=20, **{k: v for k, v in SMALL.items() if k != "beta"}
    )
    assert found["mig/steps-20"] == pytest.approx(short["mig/it"], abs=1e-3)
    assert found["left/steps-20"] == pytest.approx(short["left/it"], abs=1e-3)
    assert found["control/untrained/mig/compute-low"] == pytest.approx(short["control/untrained/mig/it"])


def test_low_and_high_are_the_first_and_the_last(found):
    for score in ("mig", "left", "control/untrained/mig", "control/shuffled/mig"):
        assert found[f"{score}/compute-low"] == found[f"{score}/steps-10"]
        assert found[f"{score}/compute-high"] == found[f"{score}/steps-40"]
    assert found["left/compute-high"] < found["left/compute-low"]
    assert found["control/untrained/mig/compute-low"] == found["control/untrained/mig/compute-high"]
    assert found["control/shuffled/mig/compute-low"] != found["control/shuffled/mig/compute-high"]


def test_the_slope_is_that_of_a_line_over_tenfold_steps(found):
    levels = [10, 20, 40]
    expected = np.polyfit(np.log10(levels), [found[f"mig/steps-{level}"] for level in levels], 1)[0]
    assert found["mig-slope/compute"] == pytest.approx(expected)
    assert scale.slope([1, 2, 4], [5 + 2 * x for x in (1, 2, 4)]) == pytest.approx(2)
    assert found["control/untrained/mig-slope/compute"] == pytest.approx(0, abs=1e-12)
    assert math.isfinite(found["control/shuffled/mig-slope/compute"])
