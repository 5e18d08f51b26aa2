"""Schedules: numbers stay, pairs are straight lines that stop at their end."""

import pytest
import torch

from course_lib.schedules import check_schedule, scheduled


def test_a_number_stays_a_number():
    assert scheduled(0.5, torch.tensor(7), 10) == 0.5


@pytest.mark.parametrize(("index", "value"), [(0, 1.0), (5, 0.75), (10, 0.5), (99, 0.5)])
def test_a_pair_is_a_straight_line(index, value):
    assert scheduled((1.0, 0.5), torch.tensor(index), 10).item() == value


def test_no_steps_at_all_give_the_start():
    assert scheduled((1.0, 0.5), torch.tensor(0), 0).item() == 1.0


def test_lists_become_pairs_as_they_come_from_a_file():
    assert check_schedule(0, 1, weight=[1, 0], strength=1) == ((1.0, 0.0), 1.0)
