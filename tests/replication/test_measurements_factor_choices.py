"""Measurements of factors and of what hides them: each answers False on data that are planted wrong."""

import pytest
import torch
from scipy.stats import spearmanr

from course_lib.data import DSpritesImageNet, XYObject, XYObjectShades
from course_lib.distances import correlation_table, perceived_distance
from course_replication.measurements import factor_choices


def test_traversals(context, monkeypatch):
    assert all(factor_choices.traversed(context, num_traversals=20).values())

    def any_points(space, factor, n, generator):
        return torch.randint(len(space), (n, space.sizes[space.position(factor)]), generator=generator)

    monkeypatch.setattr(factor_choices, "traversals", any_points)
    found = factor_choices.traversed(context, num_traversals=20)
    assert not found["one-factor-varies"] and not found["each-value-once"] and found["settings"] == 6


def test_shades_are_the_same_images(context, monkeypatch):
    assert all(factor_choices.shades(context, num_images=300).values())

    class Brighter(XYObject):
        def render(self, index):
            return super().render(index) | 1

    monkeypatch.setattr(factor_choices, "XYObject", Brighter)
    found = factor_choices.shades(context, num_images=300)
    assert not found["same-images"] and not found["same-order"] and found["settings"] == 5 * 4


def test_ranks_along_colours_are_those_of_the_librarys_protocol(context, monkeypatch):
    found = factor_choices.colour_ranks(context)
    assert found["distances-as-drawn"]
    for name, data in {"xyobject": XYObject(), "shades": XYObjectShades()}.items():
        table = correlation_table(perceived_distance(data), data.space, context.generator, n=2000)["rank"]
        for factor in ("colour", "intensity"):
            if f"{name}/mse/{factor}/rank" in found:
                assert found[f"{name}/mse/{factor}/rank"] == pytest.approx(table[factor], abs=0.06)
    both = found["shades/mse/colour/rank"] * found["shades/mse/intensity/rank"]
    assert found["shades/mse/colour-and-intensity/rank"] ** 2 == pytest.approx(both)
    monkeypatch.setattr(factor_choices, "LEVELS", (63, 127, 191, 254))
    assert not factor_choices.colour_ranks(context)["distances-as-drawn"]


def test_photographs_hide_distances(context, monkeypatch):
    found = factor_choices.hidden_distances(context, num_pairs=100)
    assert found["visibility-0-is-dsprites"]
    assert found["background/mean-rank/visibility-0"] > found["background/mean-rank/visibility-100"]
    monkeypatch.setattr(factor_choices, "DSpritesImageNet", lambda kind, visibility: DSpritesImageNet(kind, 1.0))
    found = factor_choices.hidden_distances(context, num_pairs=50)
    assert not found["visibility-0-is-dsprites"]


def test_rank_correlation_of_ties_and_constants():
    first, second = torch.tensor([0, 1, 1, 2]), torch.tensor([5, 5, 7, 9])
    assert factor_choices.rank_correlation(first, second) == pytest.approx(spearmanr(first, second).statistic)
    assert factor_choices.rank_correlation(first, torch.ones(4)) == 0
