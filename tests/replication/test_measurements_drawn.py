"""What is counted in drawn images, and that it says no where something else is drawn."""

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import SCHEDULES, ada_triplet_vae
from course_lib.losses.blur import box_kernel
from course_replication import load_claims
from course_replication.measurements import counts, drawn_squares
from course_replication.plans import metrics_of, parts_of

CLAIMS = {claim.id: claim for claim in load_claims()}
NAMES = ("figure-3.6", "figure-3.8", "section-3.4.1", "table-5.2")
SETTINGS = dict(num_pairs=32, num_latents=9)


class Leaning(XYSquares):
    """Squares of which the red one moves to the right where the green one is at its last row."""

    def render(self, index):
        images = super().render(index).clone()
        leaning = self.space.factors(index)[:, 3] == 7
        images[leaning, 0] = images[leaning, 0].roll(1, 2)
        return images


@pytest.mark.parametrize("name", NAMES)
def test_measurements_return_what_claims_ask(context, name):
    claim = CLAIMS[f"distances/{name}"]
    (part,) = parts_of(claim, "small")
    module, function = part.measurement.split(".")
    found = getattr({"counts": counts, "drawn_squares": drawn_squares}[module], function)(context, **part.settings)
    assert {*metrics_of(claim)} <= found.keys() and found["settings"] >= 3
    assert all(found[each] is True for each in claim.expects.holds)
    assert all(found[number.what] == int(number.value) for number in claim.asked)


@pytest.mark.parametrize(
    ("data", "fill", "alone", "images"),
    [
        (XYSquares, True, True, 8**6),
        (lambda: XYSquares(7), False, True, 8**6),
        (lambda: XYSquares(7, 7), False, True, 8**6),  # a margin is left
        (Leaning, True, False, 8**6),
    ],
)
def test_places(context, monkeypatch, data, fill, alone, images):
    monkeypatch.setattr(drawn_squares, "XYSquares", data)
    found = drawn_squares.places(context, num_images=200)
    assert found["places-fill-the-image-without-overlap"] == fill
    assert found["squares-do-not-depend-on-one-another"] == alone and found["images"] == images


def test_places_that_look_the_same_are_counted_once(context, monkeypatch):
    class Stuck(XYSquares):
        def render(self, index):
            factors = self.space.factors(index)
            factors[:, 5] = factors[:, 5].clamp(max=6)
            return super().render(self.space.index(factors))

    monkeypatch.setattr(drawn_squares, "XYSquares", Stuck)
    found = drawn_squares.places(context, num_images=50)
    assert found["images"] == 8**5 * 7 and found["values"] == 0


def test_overlap_of_neighbours_is_what_the_spacing_leaves(context):
    found = drawn_squares.neighbours(context)
    assert [found[f"overlap/spacing-{spacing}"] for spacing in range(1, 9)] == [
        1 - spacing / 8 for spacing in range(1, 9)
    ]


def test_opposite_squares_by_hand(context, monkeypatch):
    """The squares cover columns 0 to 7 and 56 to 63; 31 farther each, 25 to 38 are what they share of 39."""
    found = drawn_squares.opposite_squares(context)
    assert found["overlap/after/x"].item() == pytest.approx(14 / 39)
    assert found["overlap/after/both"].item() == pytest.approx((14 / 39) ** 2)
    assert (found["radius"], found["kernel-size"]) == (31, 63) and found["weight"] == pytest.approx(63**2, rel=1e-6)
    assert (found["smallest-radius/squares"], found["smallest-radius/pixels"]) == (25, 32)  # 49 and 63 pixels apart
    assert found["single-pixels-in-opposite-corners-overlap-after"] is False
    monkeypatch.setattr(drawn_squares, "overlap_kernel", lambda loss, side: box_kernel(24))
    assert not drawn_squares.opposite_squares(context)["opposite-squares-overlap-after"]


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_that_is_another_is_seen(context, monkeypatch, name):
    monkeypatch.setitem(SCHEDULES, name, dict(shared_weight=(1.0, 0.4), strength=0.5))
    found = counts.schedules(context, **SETTINGS)
    wrong = [each for each in SCHEDULES if not found[f"{each}/as-printed"]]
    assert wrong == [name]


def test_a_schedule_that_is_not_straight_or_not_applied_is_seen(context, monkeypatch):
    def curved(schedule, index, total):
        start, end = schedule if isinstance(schedule, tuple) else (schedule, schedule)
        return start + (end - start) * (index / total) ** 2

    monkeypatch.setattr(ada_triplet_vae, "scheduled", curved)
    found = counts.schedules(context, **SETTINGS)
    assert found["threshold/as-printed"] and found["threshold-alone-is-the-plain-triplet"]  # ω = 1 hides η
    assert not any(found[f"{name}/as-printed"] for name in SCHEDULES if name != "threshold")


def test_values_that_images_tell_apart():
    generator = torch.Generator().manual_seed(0)
    assert drawn_squares.distinct_values(XYSquares(1), "y_B", 3, generator) == 8
