"""The readers of answers: what they take, in whatever style it is written, and what they say of the rest."""

from enum import Enum
from fractions import Fraction

import numpy as np
import pandas
import pytest
import torch

from course_grading.answers import keyed, number, numbers, real, row, tensor, word, words
from course_grading.exercise import LocalAnswer, Unfit, either
from course_grading.wire import Other, as_sent


class Text(str, Enum):  # noqa: UP042  (as students write it: its str() is not its value)
    RISES = "rises"


class Colour(Enum):
    RED = "rises"


NUMBERS = [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), np.array([2]), torch.tensor(2), torch.tensor([[2.0]]),
           torch.tensor(2.0, requires_grad=True), Fraction(4, 2), pandas.Series([2.0])]  # fmt: skip


@pytest.mark.parametrize("given", NUMBERS, ids=repr)
def test_numbers(given):
    assert real(as_sent(given)) == 2
    assert number(2, {}).judge(LocalAnswer(given), 0).passed


@pytest.mark.parametrize("given", [True, "2", None, [2], [2, 3], torch.zeros(2), 2j, float("nan"), np.inf, 10**999, {}])
def test_what_is_no_number(given):
    with pytest.raises(Unfit, match=r"^got .*; expected (one|a finite) number\.$"):
        real(as_sent(given))


ROWS = [[1, 2], (1, 2), np.array([1, 2]), torch.tensor([1.0, 2.0], requires_grad=True), pandas.Series([1, 2]),
        [np.float32(1), torch.tensor(2)], pandas.Index([1, 2]), np.array([1, 2], dtype=">f8")]  # fmt: skip


@pytest.mark.parametrize("given", ROWS, ids=repr)
def test_rows(given):
    assert row(as_sent(given), 2) == [1, 2]


@pytest.mark.parametrize(
    "given, said",
    [
        ([1, "a"], "entry 1: got a str; expected one number."),
        ([1, 2, 3], "got 3 entries; expected 2 numbers."),
        ("12", "got a str; expected a list of 2 numbers."),
        (torch.zeros(2, 2), "got a Tensor of shape (2, 2); expected a list of 2 numbers."),
        ([1, float("nan")], "entry 1: got nan; expected a finite number."),
        (torch.zeros(10**6), "got a Tensor of shape (1000000,); expected a list of 2 numbers."),
    ],
)
def test_what_is_no_row(given, said):
    with pytest.raises(Unfit) as unfit:
        row(as_sent(given), 2)
    assert str(unfit.value) == said


@pytest.mark.parametrize("given", ["edge kept", "Edge Kept", "edge-kept", " edge_kept ", np.str_("edge kept")])
def test_words_in_any_style(given):
    assert word(as_sent(given), ("edge kept", "rises")) == "edge kept"


@pytest.mark.parametrize("given", [Text.RISES, Colour.RED])
def test_enumerations(given):
    assert word(as_sent(given), ("falls", "rises")) == "rises"
    verdict = words({"a": "rises"}, ("rises", "falls"), {}).judge(LocalAnswer({"a": given}), 0)
    assert verdict.passed


@pytest.mark.parametrize("given", ["edge", None, 3, ["edge kept"], torch.zeros(2)])
def test_other_words_are_named(given):
    with pytest.raises(Unfit, match="^a: got .*; expected one of 'edge kept', 'rises'"):
        word(as_sent(given), ("edge kept", "rises"), "a")


def test_keys():
    assert keyed({"b": 1, "a": 2}, ("a", "b")) == {"a": 2, "b": 1}
    for given, said in (
        ([1], "got a list; expected a dict with the keys a, b."),
        (None, "got nothing; expected a dict with the keys a, b."),
        ({"a": 1}, "got the keys a; expected a dict with the keys a, b."),
        ({1: 1, "x" * 500: 2}, "got the keys 1, xxx"),
    ):
        with pytest.raises(Unfit) as unfit:
            keyed(given, ("a", "b"))
        assert str(unfit.value).startswith(said) and len(str(unfit.value)) < 300


def test_tensors():
    assert not tensor(torch.ones(2, 3, requires_grad=True), (2, None)).requires_grad
    for given, said in (
        ([[1.0]], "got the shape (1, 1); expected a tensor of shape (1, 2): a row."),
        ([[1.0, "a"]], "got a list; expected a tensor of shape (1, 2): a row."),
        ([[1.0, 2], [3]], "got a list; expected a tensor of shape (1, 2): a row."),
        ([[True, False]], "got a list; expected a tensor of shape (1, 2): a row."),
        ([[1.0, float("nan")]], "some of the numbers are NaN or infinite."),
        ([], "got a list; expected a tensor of shape (1, 2): a row."),
        (np.ones(2), "got the shape (2,); expected a tensor of shape (1, 2): a row."),
        (torch.ones(2), "got the shape (2,); expected a tensor of shape (1, 2): a row."),
        (torch.ones(1, 2) * torch.nan, "some of the numbers are NaN or infinite."),
        (torch.ones(1, 2, dtype=torch.complex64), "got torch.complex64; expected real numbers, float32 for instance."),
        (
            torch.ones(1, 2, device="meta"),
            "got a tensor on the device meta, which has no numbers; expected a tensor of shape (1, 2): a row.",
        ),
        (Other("Other"), "got an Other; expected a tensor of shape (1, 2): a row."),
    ):
        with pytest.raises(Unfit) as unfit:
            tensor(as_sent(given), (1, 2), "a row")
        assert str(unfit.value) == said
    with pytest.raises(Unfit, match=r"expected a tensor of shape \(n,\)\."):
        tensor(torch.ones(()), (None,))
    with pytest.raises(Unfit, match=r"got torch.float32; expected torch.uint8\."):
        tensor(torch.ones(1), (1,), dtype=torch.uint8)


def test_mistakes_by_key():
    """A sentence is about the key before its colon; several mistakes may share one; the first wrong key is named."""
    check = numbers({"a": 1.0, "b": 2.0}, {"a: upside down.": 3.0, "b: squared.": either(4.0, 5.0)}, tolerance=0.1)
    for answer, said in (
        ({"a": 1, "b": 2.05}, "right."), ({"a": 3, "b": 4}, "0 of 2 right. a: upside down."),
        ({"a": 1, "b": 5}, "1 of 2 right. b: squared."), ({"a": 1, "b": 9}, "1 of 2 right. b: 9 is too large."),
        ({"a": 1, "b": float("nan")}, "1 of 2 right. b: got nan; expected a finite number."),
    ):  # fmt: skip
        assert check.judge(LocalAnswer(answer), 0).message == said
    assert [each.answer for each in check.wrong] == [{"a": 3.0, "b": 2.0}, {"a": 1.0, "b": 4.0}, {"a": 1.0, "b": 5.0}]
    with pytest.raises(ValueError, match="mistakes: got 'c: no'; expected one of a before the colon"):
        words({"a": "x"}, ("x", "y"), {"c: no": "y"})


def test_a_wrong_sign_and_sizes():
    check = number(2.0, {"doubled.": 4.0})
    for answer, said in ((-2, "the sign is wrong."), (4, "doubled."), (3, "3 is too large."), (1, "1 is too small.")):
        assert check.judge(LocalAnswer(answer), 0).message == said


def test_names_in_an_array_are_a_list_and_keys_are_read_as_words_are():
    assert as_sent(np.array(["leap", "grow"])) == ["leap", "grow"]
    assert keyed({"KL": 1, "Used_Latents": 2}, ("used latents", "kl")) == {"used latents": 2, "kl": 1}
    with pytest.raises(Unfit, match="got the keys kl, KL; expected a dict with the keys kl."):
        keyed({"kl": 1, "KL": 2}, ("kl",))


def test_keys_with_commas_are_quoted():
    check = words({"probe, normal": "yes", "MIG": "no"}, ("yes", "no"), {})
    said = check.judge(LocalAnswer({"MIG": "no"}), 0).message
    assert said.startswith("got the keys MIG; expected a dict with the keys 'probe, normal', 'MIG', each with one of")
    said = check.judge(LocalAnswer({"MIG": "no", "a, b": 1}), 0).message
    assert said.startswith("got the keys 'MIG', 'a, b'; expected")


TENSORS = [np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], ((1, 2.0), [3, 4]), [torch.tensor([1, 2]), np.array([3.0, 4])],
           np.array([[1, 2], [3, 4]], dtype="f4")[::1, ::1], [[np.float32(1), torch.tensor(2)], (3, 4)],
           pandas.DataFrame({"a": [1, 3], "b": [2, 4]}), pandas.DataFrame([[1, 2], [3, 4]])]  # fmt: skip


@pytest.mark.parametrize("given", TENSORS, ids=lambda given: type(given).__name__)
def test_arrays_and_nested_lists_are_tensors(given):
    assert tensor(as_sent(given), (2, None)).tolist() == [[1, 2], [3, 4]]


def test_numbers_in_lists_take_the_type_that_is_asked_if_they_fit():
    assert tensor([0, 255], (2,), dtype=torch.uint8).dtype == torch.uint8
    for given in ([0, 256], [0, -1], [0.0, 1.0], np.array([0, 255])):  # an array has a type, as a tensor has
        with pytest.raises(Unfit, match=r"expected torch\.uint8\."):
            tensor(given, (2,), dtype=torch.uint8)


def test_pandas_labels_are_keys():
    series, frame = pandas.Series({"a": 1, "b": 2}), pandas.DataFrame({"a": [1.0, 3.0], "b": [2.0, 4.0]})
    assert keyed(as_sent(series), ("a", "b")) == {"a": 1, "b": 2}
    assert numbers({"a": 1, "b": 2}, {}, tolerance=0.1).judge(LocalAnswer(series), 0).passed
    assert words({"a": "x"}, ("x", "y"), {}).judge(LocalAnswer(pandas.Series({"a": "x"})), 0).passed
    for given in (frame, frame.set_axis(["c", "d"]), frame.T.set_axis(["x", "y"], axis=1)):  # columns, or rows
        found = keyed(as_sent(given), ("a", "b"))
        assert {key: row(value, 2) for key, value in found.items()} == {"a": [1, 3], "b": [2, 4]}
    assert row(as_sent(series), 2) == [1, 2]


@pytest.mark.parametrize("given", [pandas.Series({"a": 1, "c": 2}), pandas.DataFrame({"a": [1], "c": [2]})])
def test_other_pandas_labels_are_named(given):
    with pytest.raises(Unfit, match="^got the keys a, c; expected a dict with the keys a, b"):
        keyed(as_sent(given), ("a", "b"))
    with pytest.raises(Unfit, match="got a pandas Series or DataFrame with the labels a, c; expected one number"):
        real(as_sent(given))
