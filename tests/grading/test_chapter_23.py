"""Chapter 23 beyond what is tested for all chapters: examples, what a forecast earns, and an unfair referee."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from course_grading.checks import ch23_capstone as ch23
from course_lib.data import Fader, MixingDesk
from course_lib.distances import distance_matrix, perceived_distance

# 23.1, 23.2, 23.3 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fader", [Fader(6, 8, 2, 1, wraps=True), Fader(5, 4, 2, 1), Fader(3, 5, 2, 1, wraps=True)])
def test_the_rows_are_those_of_the_dataset(fader):
    desk = MixingDesk([fader], image_size=fader.reach)
    table = distance_matrix(perceived_distance(desk), desk.space, "a", torch.Generator(), n=1) * fader.reach**2
    expected = ch23.fader_table(fader.values, fader.height, fader.step, fader.wraps)
    np.testing.assert_allclose(table, expected, atol=1e-4)


def test_the_examples_of_the_ring():
    off = [ch23.fader_table(3, height, 2, True)[0, 1].item() for height in (4, 5)]
    short = [ch23._shorter_way(3, height, 2, True)[0, 1].item() for height in (4, 5)]
    assert (off, short) == ([4, 2], [4, 4])


def test_the_queue_is_that_of_the_images():
    """Images whose factors live on pixels of their own: the eigenvectors of the whole say whose direction each is."""
    draw = torch.Generator().manual_seed(0)
    parts = [scale * torch.randn(4, 3, generator=draw, dtype=torch.float64) for scale in (3, 2, 1)]
    grid = torch.cartesian_prod(*[torch.arange(4)] * 3)
    whole = torch.cat([part[grid[:, place]] for place, part in enumerate(parts)], dim=1)
    owners = torch.linalg.eigh(torch.cov(whole.T, correction=0)).eigenvectors.flip(1)
    owner = owners.square().view(3, 3, 9).sum(1).argmax(0).tolist()
    tables = torch.stack([(part.unsqueeze(1) - part).square().sum(2) for part in parts])
    assert ch23.places_in_the_queue(tables).tolist() == [owner.index(factor) + 1 for factor in range(3)]


def test_half_of_the_runs_and_one_half():
    half = torch.tensor([0.5], dtype=torch.float64), torch.tensor([[1, 0]])
    planted = next(iter(ch23.BRIER_MISTAKES.values()))
    assert ch23.brier_score(*half).item() == 0.25 and planted(*half).item() == 0


# 23.4 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_words_are_what_the_distances_say(seed):
    desk = ch23.desk_of(seed)
    perceive, draw = perceived_distance(desk), torch.Generator().manual_seed(0)
    steps = {name: distance_matrix(perceive, desk.space, name, draw, n=3)[0, 1:] for name in "abcd"}
    for name, kind in ch23.kinds_of(seed).items():
        if kind == "grows":
            assert (np.diff(steps[name]) > 0).all()
        elif kind == "constant":
            assert np.ptp(steps[name]) < 1e-6
        else:
            assert steps[name][-1] == pytest.approx(steps[name][0]) and steps[name].max() > 1.5 * steps[name][0]
    assert min("abcd", key=lambda name: steps[name].mean()) == ch23.weakest_of(seed)


def earned(judged, answer) -> Fraction:
    verdict = judged("23.4", answer)
    return Fraction(1) if verdict.passed else verdict.share


def test_what_parts_of_a_forecast_earn(judged):
    assert earned(judged, ch23._forecast()) == 1
    assert earned(judged, ch23._forecast(weakest="c" if ch23.weakest_of(2026) != "c" else "a")) == Fraction(7, 8)
    assert earned(judged, ch23._forecast(scores=ch23._SHRUG)) == Fraction(6, 8)
    assert earned(judged, ch23._altered()) == Fraction(5, 8)


def test_no_single_number_earns_the_points_of_the_score(judged):
    """.3 of everything beats .25 on most desks, since about a third is found, and has not looked at a fader."""
    shares = {loss: float(np.mean([*row.values()])) for loss, row in ch23.references(2026).items()}
    assert all(0.2 < share < 0.6 for share in shares.values())
    for numbers in (dict.fromkeys(shares, 0.3), dict.fromkeys(shares, 0.0), shares):
        scores = {loss: dict.fromkeys("abcd", p) for loss, p in numbers.items()}
        assert earned(judged, ch23._forecast(scores=scores)) == Fraction(6, 8)


def test_the_check_reads_what_is_sealed_and_not_when_or_by_whom(judged):
    """What the task says of the seal: confidences that were read off the runs, and sealed then, pass."""
    runs = {
        loss: {name: float(row.mean()) for name, row in rows.items()} for loss, rows in ch23.references(2026).items()
    }
    assert earned(judged, ch23._forecast(scores=runs)) == 1


@pytest.mark.parametrize("seed", [-1, 2.5, 2**40, "mine"])
def test_a_seed_that_is_none_is_refused(judged, seed):
    verdict = judged("23.4", ch23._forecast() | {"seed": seed})
    assert not verdict.passed and verdict.message.startswith("seed: got")


def test_nothing_is_trained_for_a_record_that_is_none(judged, monkeypatch):
    monkeypatch.setattr(ch23, "shares_of", None)
    for sealed in (None, [], {"data": 1}, {"sha256": "0"}):
        assert not judged("23.4", ch23._forecast(seed=77) | {"sealed": sealed}).passed


# 23.5 -----------------------------------------------------------------------------------------------------------------


def test_accusing_everybody_earns_little_and_nobody_nothing(judged):
    everybody = ch23.FAULTS | dict.fromkeys(ch23.SOUND, "few seeds")
    assert judged("23.5", everybody).share == Fraction(3, 8)
    assert judged("23.5", {}).share == 0 and judged("23.5", dict.fromkeys(ch23.ROWS, "sound")).share == 0
    assert judged("23.5", dict.fromkeys(ch23.ROWS, "few seeds")).share == 0


def test_one_false_accusation_costs_one_hit(judged):
    verdict = judged("23.5", ch23.FAULTS | {"E": "no control"})
    assert verdict.share == Fraction(7, 8) and "A false accusation takes a hit away" in verdict.message


def test_what_the_made_up_numbers_say():
    """The arithmetic behind the planted faults, by the numbers in the task."""
    assert 0.05 / 25**0.5 == pytest.approx(0.01) and 0.05 / 25 == pytest.approx(0.002)
    assert (0.9 - 0.88) / 0.88 == pytest.approx(0.0227, abs=1e-4) and (51 - 50) / 50 == 0.02
    assert (2 * 0.04**2 / 5) ** 0.5 == pytest.approx(0.025, abs=5e-4)
    assert (2 * 0.01**2 / 10) ** 0.5 == pytest.approx(0.0045, abs=5e-5)


@pytest.mark.parametrize(
    ("answer", "words"),
    [([], "expected a dict"), ({"Z": "few seeds"}, "row: got 'Z'"), ({"A": "wrong"}, "row A: got 'wrong'")],
)
def test_answers_of_another_form_are_told_so(judged, answer, words):
    assert words in judged("23.5", answer).message
