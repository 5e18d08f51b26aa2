"""The thesis' tables on dSprites that need no training: 3.1 and 4.1, to the precision that sampling allows."""

import pytest
import torch

from course_lib.data import DSprites
from course_lib.distances import correlation_table, factor_importance, perceived_distance

CORRELATED = 50_000  # pairs, a quarter of what the thesis takes: a correlation is then uncertain by .0045 at most
AVERAGED = 20_000  # and a mean or standard deviation of Table 3.1 by .0003


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_table_3_1_for_dsprites():
    """The printed x and y differ by .0025; by symmetry they should not, and the thesis' own text has them closer."""
    data = DSprites()
    table = factor_importance(perceived_distance(data), data.space, generator(), n=AVERAGED)
    printed = {
        "random": (0.0754, 0.0289), "position_y": (0.0584, 0.0378), "position_x": (0.0559, 0.0363),
        "scale": (0.0250, 0.0148), "shape": (0.0214, 0.0095), "orientation": (0.0172, 0.0106),
    }  # fmt: skip
    for factor, values in printed.items():
        assert table.loc[factor].tolist() == pytest.approx(values, abs=0.002), factor
    assert table.index.tolist()[2:] == ["scale", "shape", "orientation", "random"]


TABLE_4_1 = {
    "mse": {
        "random": (0.43, 0.38), "shape": (0.66, 0.72), "scale": (0.93, 0.95), "orientation": (0.13, 0.17),
        "position_x": (0.66, 0.75), "position_y": (0.65, 0.75),
    },
    "mse-box": {
        "random": (0.29, 0.36), "shape": (0.66, 0.87), "scale": (0.84, 0.96), "orientation": (0.15, 0.21),
        "position_x": (0.63, 0.83), "position_y": (0.63, 0.83),
    },
}  # fmt: skip


@pytest.mark.parametrize("loss", TABLE_4_1)
def test_table_4_1_for_dsprites(loss):
    data = DSprites()
    table = correlation_table(perceived_distance(data, loss=loss), data.space, generator(), n=CORRELATED)
    for factor, (linear, rank) in TABLE_4_1[loss].items():
        assert table.loc[factor, "linear"] == pytest.approx(linear, abs=0.02), factor
        assert table.loc[factor, "rank"] == pytest.approx(rank, abs=0.01), factor
