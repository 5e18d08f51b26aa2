"""A sealed prediction: written once, found out when altered, trained once, and scored by hand-counted numbers."""

import hashlib
import json

import pandas
import pytest
import torch

from course_lib.data import MixingDesk
from course_replication import Prediction, outcomes, read_prediction, report, train_sealed
from course_replication.outcomes import order_shares
from course_replication.predictions import SETTINGS, seal_of, write_sealed

DESK = MixingDesk()
CHEAP = dict(steps=2, batch_size=4, seeds=2, hidden=(4,))
SURE = {"a": 0.9, "b": 0.1, "c": 0.2, "d": 0.5}


def prediction(**changes):
    arguments = dict(data=repr(DESK), confidence={"mse": SURE}, order="abcd", settings=CHEAP)
    return Prediction(**arguments | {"order": [*"abcd"]} | changes)


def test_the_seal_is_a_hash_that_anybody_can_compute(tmp_path):
    path = tmp_path / "mine.json"
    seal = prediction().seal(path)
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["sha256"]
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert seal == hashlib.sha256(text.encode()).hexdigest() == prediction().hash
    assert read_prediction(path) == prediction() and prediction().record()["sha256"] == seal


def test_the_hash_knows_the_content_and_not_its_order():
    turned = {"mse": dict(reversed(SURE.items()))}
    assert prediction(confidence=turned).hash == prediction().hash
    others = [
        prediction(confidence={"mse": SURE | {"a": 0.91}}),
        prediction(order=[*"abdc"]),
        prediction(settings=CHEAP | {"steps": 3}),
        prediction(reasons="because"),
        prediction(data="MixingDesk()"),
    ]
    assert len({prediction().hash, *(other.hash for other in others)}) == 6


def test_what_is_sealed_stays(tmp_path):
    path = tmp_path / "mine.json"
    prediction().seal(path)
    before = path.read_bytes()
    assert prediction().seal(path) == prediction().hash
    with pytest.raises(FileExistsError, match=r"mine\.json holds another prediction .* takes a file of its own"):
        prediction(reasons="on second thoughts").seal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("0.9", "0.8"), r"mine\.json was altered after it was sealed"),
        (lambda text: text[:-20], r"mine\.json is no sealed file, or it is damaged"),
        (lambda text: "[]", r"mine\.json is no sealed file"),
        (lambda text: "{}", r"mine\.json is no sealed file"),
    ],
)
def test_an_altered_file_is_named(tmp_path, change, words):
    path = tmp_path / "mine.json"
    prediction().seal(path)
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    for use in (read_prediction, prediction().seal, lambda path: train_sealed(path, DESK)):
        with pytest.raises(ValueError, match=words):
            use(path)


def test_a_sealed_file_of_something_else_is_no_prediction(tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"a": 1, "sha256": seal_of({"a": 1})}))
    with pytest.raises(ValueError, match="other.json holds no prediction"):
        read_prediction(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(data=DESK), "data"),
        (dict(confidence={}), "confidence: each loss"),
        (dict(confidence={"mse": {"a": 0.5}}), "confidence: each loss"),
        (dict(confidence={"mse": SURE | {"a": 1.1}}), r"confidence\['mse'\]\['a'\]: got 1.1"),
        (dict(confidence={"mse": SURE | {"a": float("nan")}}), "got nan"),
        (dict(confidence={"mse": SURE | {"a": True}}), "got True"),
        (dict(confidence={"mse": 0.5}), "confidence"),
        (dict(order="abcd"), "order"),
        (dict(order=["a", "a", "b", "c", "d"]), "order: got"),
        (dict(settings={"step": 2}), "settings: got 'step'"),
        (dict(settings={"seeds": 0}), "seeds: got 0"),
        (dict(settings={"steps": 2.5}), "steps: got 2.5"),
        (dict(settings={"hidden": 4}), "hidden: got 4"),
        (dict(settings={"learning_rate": 0}), "learning_rate: got 0"),
        (dict(settings={"beta": float("nan")}), "beta: got nan"),
        (dict(reasons=None), "reasons"),
    ],
)
def test_what_is_no_prediction_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        prediction(**changes)


def test_settings_that_are_left_out_are_the_course_s():
    assert prediction(settings={}).settings == SETTINGS


# Trained ------------------------------------------------------------------------------------------------------------


def test_nothing_is_trained_before_it_is_sealed(tmp_path):
    with pytest.raises(FileNotFoundError):
        train_sealed(tmp_path / "mine.json", DESK)


def test_other_data_than_predicted_is_refused(tmp_path):
    path = tmp_path / "mine.json"
    prediction().seal(path)
    with pytest.raises(ValueError, match="the prediction is about MixingDesk"):
        train_sealed(path, MixingDesk.variant(0))


def test_an_unknown_loss_is_refused(tmp_path):
    path = tmp_path / "mine.json"
    prediction(confidence={"huber": SURE}).seal(path)
    with pytest.raises(ValueError, match="huber"):
        train_sealed(path, DESK)


def test_interrupted_work_goes_on_and_finished_work_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    prediction(confidence={"mse": SURE, "mse-box": SURE}).seal(path)
    shares_of, calls = outcomes.shares_of, []

    def interrupted(loss, data, settings):
        calls.append(loss)
        if calls.count("mse-box") == 1 and loss == "mse-box":
            raise KeyboardInterrupt
        return shares_of(loss, data, settings)

    monkeypatch.setattr(outcomes, "shares_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_sealed(path, DESK)
    first = train_sealed(path, DESK)
    assert calls == ["untrained", "mse", "mse-box", "mse-box"]
    assert train_sealed(path, DESK) == first and len(calls) == 4
    assert {*first} == {"untrained", "mse", "mse-box"} and all(len(each["a"]) == 2 for each in first.values())


def test_outcomes_of_another_prediction_are_refused(tmp_path):
    path, other = tmp_path / "mine.json", tmp_path / "other.json"
    prediction(confidence={"mse": SURE}).seal(path)
    train_sealed(path, DESK)
    write_sealed(other, prediction(reasons="another").content)
    (tmp_path / "mine.outcomes.json").rename(tmp_path / "other.outcomes.json")
    with pytest.raises(ValueError, match="other.outcomes.json holds the outcomes of another prediction"):
        train_sealed(other, DESK)


def test_nothing_is_foretold_of_data_whose_trainings_lie_there(tmp_path):
    path, other = tmp_path / "mine.json", tmp_path / "other.json"
    prediction().seal(path)
    train_sealed(path, DESK)
    with pytest.raises(FileExistsError, match=r"mine\.outcomes\.json, in the same folder, has trainings of these data"):
        prediction(reasons="I knew it").seal(other)
    assert not other.exists() and prediction().seal(path) == prediction().hash
    assert prediction(data=repr(MixingDesk.variant(0))).seal(other)
    path.unlink()
    with pytest.raises(FileExistsError, match="Predict for other data"):
        prediction(confidence={"mse": SURE | {"a": 1.0}}).seal(path)


def test_a_damaged_file_of_outcomes_keeps_nobody_from_predicting(tmp_path):
    (tmp_path / "old.outcomes.json").write_text("{")
    assert prediction().seal(tmp_path / "mine.json")


def test_every_loss_can_be_trained():
    settings = prediction().settings
    for loss in outcomes.LOSSES:
        shares = outcomes.shares_of(loss, DESK, settings)
        assert [*shares] == [*"abcd"] and all(0 <= share <= 1 for each in shares.values() for share in each)


# Scored -------------------------------------------------------------------------------------------------------------


def test_the_share_of_order_on_known_latents():
    values = torch.arange(6.0)
    factors = torch.cartesian_prod(values, values)
    latents = torch.stack([-(factors[:, 0] ** 3), torch.zeros(36), (factors[:, 1] - 2.5).abs()], dim=1)
    first, second = order_shares(latents, factors)
    assert first == pytest.approx(1) and second == pytest.approx(0, abs=1e-12)
    mixed = factors[:, :1] + 10 * factors[:, 1:]
    assert order_shares(mixed, factors)[1] > 0.9 > 0.5 > order_shares(mixed, factors)[0]


SHARES = {"mse": {"a": [0.9, 0.5], "b": [0.1, 0.6], "c": [0.0, 0.49], "d": [0.7, 0.8]}}


def test_the_report_counted_by_hand():
    found = report(prediction(), SHARES, {"mse": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}})
    assert found.cells["found"].tolist() == ["2 of 2", "1 of 2", "0 of 2", "2 of 2"]
    assert found.cells["right"].tolist() == ["yes", "–", "yes", "–"]
    mine = (0.1**2 + (0.1**2 + 0.9**2) / 2 + 0.2**2 + 0.5**2) / 4
    ranks = (0.125**2 + (0.375**2 + 0.625**2) / 2 + 0.375**2 + 0.875**2) / 4
    one = (5 / 8) * (3 / 8)  # five of eight found theirs
    assert found.brier == pytest.approx(
        {"prediction": mine, "nothing known": 0.25, "one number": one, "importance": ranks}
    )
    assert found.pairs == (3, 6)  # means .7, .35, .245, .75: d is predicted last and is first
    assert "2 of 4 cells right" in found.words and "better than knowing nothing" in found.words
    assert found.words in found._repr_html_() and "3 of 6 pairs" in repr(found)


def test_equal_importance_says_one_half():
    found = report(prediction(), SHARES, {"mse": pandas.Series(2.0, index=[*"abcd"])})
    assert found.brier["importance"] == found.brier["nothing known"] == 0.25


def test_without_importance_there_are_two_controls():
    assert {*report(prediction(), SHARES).brier} == {"prediction", "nothing known", "one number"}


def test_no_single_number_is_better_than_the_control():
    bar = report(prediction(), SHARES).brier["one number"]
    scores = [
        report(prediction(confidence={"mse": dict.fromkeys("abcd", p / 16)}), SHARES).brier["prediction"]
        for p in range(17)
    ]
    assert min(scores) == pytest.approx(bar) and scores.index(min(scores)) == 10  # 10/16 = 5/8


def test_each_loss_has_its_number():
    """One loss finds all, the other nothing: who knows no more than that makes no mistake."""
    shares = {"mse": dict.fromkeys("abcd", [0.9, 0.9]), "mse-box": dict.fromkeys("abcd", [0.0, 0.1])}
    found = report(prediction(confidence={"mse": SURE, "mse-box": SURE}), shares)
    assert found.brier["one number"] == 0 and "no better than the best number for each loss (0.000)" in found.words


def test_a_sure_and_wrong_prediction_is_worse_than_knowing_nothing():
    wrong = prediction(confidence={"mse": {"a": 0.0, "b": 1.0, "c": 1.0, "d": 0.0}})
    found = report(wrong, SHARES)
    assert found.brier["prediction"] == pytest.approx(0.875) and "no better than knowing nothing" in found.words
