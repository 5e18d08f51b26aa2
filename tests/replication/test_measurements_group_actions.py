"""Measurements of symmetries, with maps that break each condition of the definition, and walks that are too fast."""

import numpy as np
import pytest

from course_replication.measurements import group_actions

WORLDS = np.stack(np.unravel_index(np.arange(6), (2, 3)), axis=1)


def test_the_definition(context):
    found = group_actions.definition(context)
    assert all(value for value in found.values() if isinstance(value, bool))


@pytest.mark.parametrize(
    ("codes", "answer"),
    [
        (WORLDS, True),
        (WORLDS[:, ::-1], False),  # each part is moved by the other's group
        (np.column_stack([WORLDS[:, 0], WORLDS[:, 1] == 0]), False),  # 1 and 2 look alike and are sent apart
        (np.column_stack([WORLDS[:, 0], WORLDS.sum(1)]), False),
        (0 * WORLDS, True),
    ],
)
def test_which_maps_are_disentangled(codes, answer):
    assert group_actions._disentangled(WORLDS, codes, (2, 3)) is answer


def test_walks_are_diffusions(context, monkeypatch):
    found = group_actions.diffusion(context, 2000)
    assert all(value for value in found.values() if isinstance(value, bool))
    right = group_actions._walk
    monkeypatch.setattr(group_actions, "_walk", lambda draws, n, time: right(draws, n, 1.5 * time))
    assert not group_actions.diffusion(context, 2000)["heat-equation-on-a-sphere-and-a-product"]
