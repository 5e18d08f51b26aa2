"""Chapter 23 beyond what is tested for all chapters: examples, what a forecast earns, and an unfair referee."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from course_grading import check, session
from course_grading.checks import ch23_capstone as ch23
from course_lib.data import Fader, MixingDesk
from course_lib.distances import distance_matrix, perceived_distance
from course_replication.refereeing import ALWAYS, EITHER, FAULTY, LETTERS, METHODS, made_up_table

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

ACCUSED = dict.fromkeys(LETTERS, "few seeds")


def test_accusing_everybody_earns_little_and_nobody_nothing(judged):
    everybody = {"seed": 2026} | ACCUSED | ch23.faults_of(2026)
    assert judged("23.5", everybody).share == Fraction(3, 8)
    assert judged("23.5", {"seed": 2026} | dict.fromkeys(LETTERS, "sound")).share == 0
    assert judged("23.5", {"seed": 2026} | ACCUSED).share == 0


def test_one_false_accusation_costs_one_hit(judged):
    verdict = judged("23.5", ch23.refereed(D="no control"))
    assert verdict.share == Fraction(7, 8) and "A false accusation takes a hit away" in verdict.message


@pytest.mark.parametrize("missing", [[*LETTERS], [*"ABCDEFGHIJKL"], ["M"]])
def test_nothing_is_told_before_every_row_has_a_word(judged, missing):
    whole = ch23.refereed()
    verdict = judged("23.5", {key: value for key, value in whole.items() if key not in missing})
    assert verdict.share == 0 and verdict.message.startswith("got the keys") and "sound, since" not in verdict.message


def test_all_that_was_misjudged_is_told_at_once(judged):
    message = judged("23.5", {"seed": 2026} | dict.fromkeys(LETTERS, "sound")).message
    assert all(f"{row}: it is not sound." in message for row in ch23.faults_of(2026))


def test_tables_differ_and_each_has_eight_faults():
    faults = [ch23.faults_of(seed) for seed in range(60)]
    assert all(len(each) == 8 for each in faults) and len({str(each) for each in faults}) == 60
    assert {name for seed in range(60) for name in made_up_table(seed).subjects.values()} == {*ALWAYS, *EITHER}
    assert {*ch23.KINDS_OF_FAULT} == {*ch23.WHY} == {*EITHER} == {*FAULTY} and {*ch23.SOUND} == {*ALWAYS, *EITHER}
    assert {*ch23.KINDS_OF_FAULT.values()} == {*ch23.WORDS} - {"sound"}


def test_a_table_is_the_same_each_time_and_shows_all_its_rows():
    table = made_up_table(np.int64(7))
    assert table == made_up_table(7) != made_up_table(8)
    html = table._repr_html_()
    for letter, row in table.rows.items():
        assert f"{letter}  {row.replace('**', '')}" in repr(table) and f'<th scope="row">{letter}</th>' in html
    assert METHODS in repr(table) and METHODS in html and "<strong>Q'" in html and "**" not in html


@pytest.mark.parametrize("seed", [-1, 0.5, "mine", None])
def test_a_table_of_no_seed_is_refused(seed):
    with pytest.raises(ValueError, match="seed: got"):
        made_up_table(seed)


def test_what_the_made_up_numbers_say():
    """The arithmetic behind the rows, by the numbers in them."""
    faulty, sound = ({name: pair[FAULTY[name] ^ other] for name, pair in EITHER.items()} for other in (0, 1))
    assert ".330 ± .002" in faulty["error"] and 0.05 / 25 == pytest.approx(0.002)
    assert ".330 ± .010" in sound["error"] and 0.05 / 25**0.5 == pytest.approx(0.01)
    assert "2 % more" in faulty["gain"] and "2 points" in sound["gain"]
    assert (0.9 - 0.88) / 0.88 == pytest.approx(0.0227, abs=1e-4) and (51 - 50) / 50 == 0.02
    assert 0.51 - 0.50 > 3 * (2 * 0.003**2 / 10) ** 0.5  # what is sound is also no noise
    error = (2 * 0.04**2 / 5) ** 0.5
    assert error == pytest.approx(0.025, abs=5e-4)
    assert ".318" in faulty["best"] and 0.008 < error and ".420" in sound["best"] and 0.11 > 4 * error
    assert 3 * (2 * 0.01**2 / 10) ** 0.5 < 0.03 and "ten seeds" in ALWAYS["points"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [([], "expected a dict"), (ch23.refereed(Z="few seeds"), "got the keys"), (ch23.refereed(A="odd"), "row A: got")],
)
def test_answers_of_another_form_are_told_so(judged, answer, words):
    assert words in judged("23.5", answer).message


# The first answer about a seed ----------------------------------------------------------------------------------------


@pytest.fixture
def points(monkeypatch, capsys):
    """points(exercise, answer): what `check` gives, and its line."""
    monkeypatch.setattr(session, "_earned", {})
    monkeypatch.setattr(session, "_committed", {})

    def points(exercise, answer):
        check(exercise, answer)
        line = capsys.readouterr().out
        return int(line.split()[2]), line

    return points


def test_asking_often_does_not_solve_a_table(points):
    """Row by row, whoever asks learns what the first answer was worth, and no more."""
    guess = {"seed": 5} | dict.fromkeys(LETTERS, "sound")
    assert points("23.5", guess)[0] == 0
    for row in LETTERS:
        for word in ch23.WORDS[1:]:
            earned, line = points("23.5", guess | {row: word})
            assert earned == 0 and "your first answer about seed 5 stands" in line and "Ask:" not in line
    assert points("23.5", ch23.refereed(5))[0] == 0
    assert points("23.5", ch23.refereed(6))[0] == 8  # another table


def test_a_slip_of_form_is_no_first_answer(points):
    for slip in ({"seed": 5}, ch23.refereed(5, A="odd"), {**ch23.refereed(5), "seed": "five"}, ...):
        assert points("23.5", slip)[0] == 0
    assert points("23.5", ch23.refereed(5))[0] == 8
    assert points("23.5", {key.lower(): value for key, value in ch23.refereed(5).items()})[0] == 8  # the same answer


def test_a_better_forecast_after_the_training_earns_what_the_first_did(points):
    assert points("23.4", ch23._forecast(settings={}))[0] == 5  # a slip: nothing is trained yet
    assert points("23.4", ch23._forecast(scores=ch23._SHRUG))[0] == 6
    earned, line = points("23.4", ch23._forecast())
    assert earned == 6 and "your first answer about seed 2026 stands" in line
    right = ch23._forecast(scores=ch23._SHRUG, reasons="the same confidences")
    wrong = right | {"weakest": next(name for name in "abcd" if name != right["weakest"])}
    assert (
        points("23.4", wrong)[0] == 5 and points("23.4", right)[0] == 6
    )  # what the images show may be looked up again
