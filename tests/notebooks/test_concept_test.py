"""The concept test: rules for its questions, answers computed here, links that lead somewhere, and its pages."""

import math
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import torch

import concept_test
import notebook_io
import page_marks
from course_lib import metrics
from course_lib.losses import shared_latents, soft_rank
from course_lib.theory.linear_vi import LinearGaussian
from course_replication import load_claims

KNOWN = concept_test.objectives()
ITEMS = {f"{form}{number}": each.items[form] for number, each in enumerate(KNOWN, 1) for form in concept_test.FORMS}
WRITTEN = {path.stem: path for path in notebook_io.chapters()}


def right(name: str) -> str:
    return ITEMS[name].options[ITEMS[name].right]


def number(text: str) -> float:
    """An option's number: "−90", ".57", "4d", "22.5°", "10 %", or the number of latents that it lists."""
    found = re.fullmatch(r"([−+]?)(\d*\.?\d+|)(?:d|°| %)?", text)
    assert found, text
    return (-1 if found[1] == "−" else 1) * float(found[2] or 1)


def is_number(item) -> bool:
    return all(re.fullmatch(r"[−+]?(?:\d*\.?\d+|)(?:d|°| %)?", text) for text in item.options.values())


# ---- rules


def test_objectives_each_in_two_forms_by_different_cases():
    assert len(KNOWN) == 23 and len(ITEMS) == 46
    for each in KNOWN:
        first, second = each.items["A"], each.items["B"]
        assert first.stem != second.stem and first.options[first.right] != second.options[second.right], each.name


def test_right_letters_are_spread():
    """No letter is right in more than eight of twenty-three, each in three at least, and B does not follow from A."""
    for form in concept_test.FORMS:
        counts = Counter(each.items[form].right for each in KNOWN)
        assert max(counts.values()) <= 8 and min(counts[letter] for letter in "abcd") >= 3, counts
    assert sum(each.items["A"].right == each.items["B"].right for each in KNOWN) <= 7


@pytest.mark.parametrize("name", ITEMS)
def test_the_right_option_is_neither_the_longest_nor_the_most_extreme(name):
    item = ITEMS[name]
    texts = [text for letter, text in item.options.items() if letter != item.right]
    assert len({*item.options.values()}) == 4 and item.right in item.options
    if is_number(item):
        values = [*map(number, texts)]
        assert min(values) < number(right(name)) < max(values)
    elif not right(name).startswith("("):  # rows of numbers are as long as their digits
        assert len(right(name)) < max(map(len, texts))


@pytest.mark.parametrize("name", ITEMS)
def test_each_option_shows_something_of_its_own(name):
    shows = [*ITEMS[name].shows.values()]
    assert len({*shows}) == 4 and all(re.fullmatch(r"\S.*[.\d)]", text) and len(text) < 170 for text in shows)
    assert not re.search(r"[$\\]", ITEMS[name].stem + "".join(ITEMS[name].options.values()))  # read as plain HTML


def test_all_objectives_of_the_course_are_asked_for():
    """A chapter each at least, but for 07."""
    named = {name[:2] for each in KNOWN for name, _ in each.read}
    assert named == {f"{place:02}" for place in range(1, 24)} - {"07"}


@pytest.mark.parametrize("place", [(name, section) for each in KNOWN for name, section in each.read if section])
def test_the_section_to_read_again_is_there(place):
    name, section = place
    assert section in [heading for heading, _ in page_marks.sections(notebook_io.read(WRITTEN[name]))]


def test_a_chapter_that_is_not_written_is_named_and_not_linked(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "08_impossibility.ipynb").touch()
    each = next(each for each in KNOWN if ("10_weak_supervision", "") in each.read)
    assert concept_test.links(each, tmp_path) == [
        '<a href="../chapters/08_impossibility.html#what-one-pair-gives-away">08 · What one pair gives away</a>',
        "10 · Weak supervision (to come)",
    ]
    (tmp_path / "chapters" / "10_weak_supervision.ipynb").touch()
    assert (
        concept_test.links(each, tmp_path)[1]
        == '<a href="../chapters/10_weak_supervision.html">10 · Weak supervision</a>'
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  difficulty: 1\n", "  difficulty: 4\n", "question 1: .* allowed are"),
        ("01_disentanglement", "01_no_such", "question 1: read: got '01_no_such'"),
        ("    right: a\n", "    right: e\n", "A1: got"),
        ("      d: [", "      e: [", "A1: got"),
        ("objective: What the ELBO leaves out", "objective: For which reader a code is taken apart", "the same twice"),
    ],
)
def test_a_question_that_is_not_complete_is_named(tmp_path, old, new, said):
    text = concept_test.FILE.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "broken.yml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        concept_test.objectives(tmp_path / "broken.yml")


# ---- answers that are computed


def left_by_water(variances, beta) -> float:
    """Chapter 03: what the best linear VAE leaves, found by minimising each direction's bill over its rate."""
    rates = np.linspace(0, 5, 200_001)
    bills = [variance * np.exp(-2 * rates) + beta * rates for variance in variances]
    return sum(v * np.exp(-2 * rates[np.argmin(bill)]) for v, bill in zip(variances, bills, strict=True))


def by_lot(models: int, groups: int) -> float:
    """The mean share of variance, in per cent, that shuffled labels explain of random scores."""
    generator = np.random.default_rng(0)
    labels, shares = np.arange(models) % groups, []
    for _ in range(2000):
        scores = generator.normal(size=models)
        generator.shuffle(labels)
        means = np.array([scores[labels == group].mean() for group in range(groups)])[labels]
        shares.append(((means - scores.mean()) ** 2).sum() / ((scores - scores.mean()) ** 2).sum())
    return 100 * float(np.mean(shares))


def differing(width: int, height: int, shift: int) -> int:
    """Pixels in which a bar and the bar that moved to the right differ, counted in drawn images."""
    first, second = np.zeros((2, 40, 60), bool)
    first[5 : 5 + height, 5 : 5 + width] = second[5 : 5 + height, 5 + shift : 5 + shift + width] = True
    return int((first != second).sum())


def distances_of(width: int, step: int, places: int = 8) -> int:
    return len(
        {differing(width, width, step * k) for k in range(1, places) if 5 + step * k + width <= 60} | {2 * width**2}
    )


def blurred(box: int, shift: int) -> Fraction:
    window = np.zeros(100, int)
    window[30 : 30 + box] = 1
    return Fraction(int(((window - np.roll(window, shift)) ** 2).sum()), box**2)


def ratios(angle: float, line: float) -> tuple[float, float]:
    """Line and axis of a drawn cloud in two latents at that angle, by their definitions: variances, no formula."""
    spread = np.sqrt([1 + line, 1 - line])
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * spread
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    variances = (corners @ turn).var(0)
    principal = np.linalg.eigvalsh(np.cov((corners @ turn).T, ddof=0))
    return tuple(2 * (max(each) / sum(each) - 0.5) for each in (principal, variances))


def bound_and_likelihood(scales, degrees: float) -> tuple[float, float]:
    model = LinearGaussian(np.diag(scales), np.full(2, 0.1)).rotate(degrees)
    moments = np.diag(np.square(scales)) + 0.1 * np.eye(2)
    return model.free_energy(moments), model.log_likelihood(moments)


COMPUTED = {
    "A2": -84 - -90, "B2": -70 - 15 + 5,
    "A5": 6 + 4 * 2 + 1, "B5": (8 + 3 + 1) + 5 * 3,
    "A13": differing(8, 8, 3), "B13": differing(10, 6, 12),
    "A14": distances_of(12, 5), "B14": distances_of(9, 5),
    "A15": float(blurred(11, 8) / blurred(11, 2)), "B15": float(blurred(8, 20) / blurred(8, 4)),
    "A18": 6 / 8, "B18": 6 - 0.5 * 10,
    "A23": (6 * (0.8 - 1) ** 2 + 4 * 0.8**2) / 10, "B23": (2 * (0.3 - 1) ** 2 + 8 * 0.3**2) / 10,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_the_right_number(name):
    assert number(right(name)) == pytest.approx(COMPUTED[name])


@pytest.mark.parametrize(("name", "variances", "beta"), [("A3", (12, 5, 2), 6), ("B3", (4, 2.5, 0.5, 0.25), 2)])
def test_what_is_left_of_the_variance(name, variances, beta):
    assert left_by_water(variances, beta) == pytest.approx(number(right(name)), rel=1e-3)


@pytest.mark.parametrize(("name", "parts"), [("A21", (4, 9)), ("B21", (4, 16))])
def test_the_gap_of_a_split_factor(name, parts):
    table = torch.cartesian_prod(*map(torch.arange, parts)).double()
    whole = (parts[1] * table[:, :1] + table[:, 1:]).long()
    table, whole = table.repeat(40, 1), whole.repeat(40, 1)
    gap = float(metrics.mig.from_samples(table, whole, bins=max(parts)))
    assert gap == pytest.approx(number(right(name)), abs=0.006)


def test_what_a_reader_pays():
    dice = np.random.default_rng(0)
    factors = dice.integers(6, size=(900, 3))
    anew = np.take_along_axis(np.stack([dice.permutation(6) for _ in range(3)]), factors.T, 1).T
    turned = (factors - 2.5) @ np.linalg.qr(dice.normal(size=(3, 3)))[0]
    codes = {name: code + 0.02 * dice.normal(size=code.shape) for name, code in (("A22", anew), ("B22", turned))}
    explicit = {name: metrics.dci_es.from_samples(code, factors).values["explicitness"] for name, code in codes.items()}
    taken_apart = {
        name: metrics.dci.from_samples(code, factors).values["disentanglement"] for name, code in codes.items()
    }
    assert explicit["A22"] < 0.8 < 0.95 < taken_apart["A22"] and right("A22").startswith("Explicitness")
    assert taken_apart["B22"] < 0.5 < 0.95 < explicit["B22"] and right("B22").startswith("Disentanglement")


@pytest.mark.parametrize(("name", "models", "groups"), [("A8", 41, 5), ("B8", 61, 13)])
def test_what_labels_by_lot_explain(name, models, groups):
    assert by_lot(models, groups) == pytest.approx(number(right(name)), abs=0.6)


@pytest.mark.parametrize(("name", "differences"), [("A9", (0.5, 6, 0.4, 3.1, 3.3)), ("B9", (4, 0.9, 2.3, 0.7, 2.5))])
def test_which_latents_are_shared(name, differences):
    shared = shared_latents(torch.tensor([differences]))[0]
    found = [place for place, yes in enumerate(shared.tolist(), 1) if yes]
    assert [int(digit) for digit in re.findall(r"\d", right(name))] == found


@pytest.mark.parametrize(("name", "scales", "falls"), [("A10", (2, 2), False), ("B10", (3, 1), True)])
def test_what_a_turn_does_to_bound_and_likelihood(name, scales, falls):
    (bound, likelihood), (turned, turned_likelihood) = (bound_and_likelihood(scales, angle) for angle in (0, 45))
    assert turned_likelihood == pytest.approx(likelihood) and bound == pytest.approx(likelihood)
    assert (turned < bound - 0.1) == falls == ("ELBO falls" in right(name)) and "ikelihood falls" not in right(name)


@pytest.mark.parametrize(
    ("name", "means", "width", "objecting"),
    [("A6", [[0.6, 0.2], [0.2, 0.6]], 0.4, "Both"), ("B6", [[1, 0], [0, 1]], 0.3, "Only II")],
)
def test_who_objects_to_a_cloud(name, means, width, objecting):
    """The samples' covariance from drawn samples, and from it what each of the two penalises."""
    generator = np.random.default_rng(0)
    centres = generator.multivariate_normal([0, 0], means, 200_000)
    samples = np.cov((centres + math.sqrt(width) * generator.normal(size=centres.shape)).T)
    objects = [not np.allclose(matrix, np.eye(2), atol=0.02) for matrix in (means, samples)]
    assert objects == [objecting != "Only II", True] and right(name).startswith(objecting)
    assert name == "A6" or re.search(r"1\.3\.$", right(name)) and samples[0, 0] == pytest.approx(1.3, abs=0.02)


@pytest.mark.parametrize(("name", "values", "strength"), [("A19", (2.0, 2.3, 7.0), 1.0), ("B19", (0.0, 4.0, 4.2), 0.5)])
def test_soft_ranks(name, values, strength):
    """The library's strength is relative: it counts in the spread of the ranks over that of the values."""
    relative = strength * math.sqrt(2 / 3) / np.std(values)
    found = soft_rank(torch.tensor(values, dtype=torch.float64), relative).tolist()
    assert [float(each) for each in right(name).strip("()").split(", ")] == pytest.approx(found)


def test_line_axis_and_angle():
    line, axis = ratios(math.radians(number(right("A16"))), 0.6)
    assert (line, axis) == pytest.approx((0.6, 0.3))
    line, axis = ratios(math.radians(22.5), 0.8)
    assert line == pytest.approx(0.8) and axis == pytest.approx(number(right("B16")), abs=0.005)


def test_the_pattern_of_a_code_that_stores_everything_twice():
    factors = torch.cartesian_prod(*[torch.arange(12)] * 3)
    twice = torch.cat([factors, factors], 1).double()
    assert float(metrics.modularity.from_samples(twice, factors)) == pytest.approx(1, abs=1e-3)
    assert float(metrics.mig.from_samples(twice, factors)) == pytest.approx(0, abs=0.01)
    assert right("A4").startswith("Each factor is stored twice")


def test_what_right_distances_leave_open():
    """In ℓ1 a split keeps all distances and a turn does not; in ℓ2 it is the other way round."""
    grid = torch.cartesian_prod(*[torch.arange(5.0)] * 2)
    turn = torch.tensor([[math.cos(0.7), math.sin(0.7)], [-math.sin(0.7), math.cos(0.7)]])
    split = torch.stack([0.3 * grid[:, 0], 0.7 * grid[:, 0], grid[:, 1]], 1)
    for norm, kept, lost in ((1, split, grid @ turn), (2, grid @ turn, split)):
        told = torch.cdist(grid, grid, p=norm)
        assert torch.allclose(torch.cdist(kept, kept, p=norm), told, atol=1e-5)
        assert not torch.allclose(torch.cdist(lost, lost, p=norm), told, atol=0.1)
    assert "dealt out" in right("A17") and "turned" in right("B17")


def test_what_holonomy_tells_is_a_claim_of_the_course():
    claim = next(claim for claim in load_claims() if claim.id == "review/section-3-identified")
    assert {*claim.expects.holds} >= {"product-of-spheres-is-split", "flat-product-is-not"}
    assert right("A11").startswith("Yes") and right("B11").startswith("No")


# ---- pages


@pytest.mark.parametrize("made", concept_test.PAGES.items(), ids=lambda made: made[0].name)
def test_the_page_is_up_to_date(made):
    path, page = made
    assert path.read_text(encoding="utf-8") == page(), "run `make reference`"


def test_check_says_which_page_is_stale(tmp_path, monkeypatch, capsys):
    assert concept_test.main(["--check"]) == 0
    stale = tmp_path / "concept_test.md"
    stale.write_text("old")
    monkeypatch.setattr(concept_test, "PAGES", {stale: concept_test.page})
    monkeypatch.setattr(notebook_io, "ROOT", tmp_path)
    assert concept_test.main(["--check"]) == 1 and "is not what" in capsys.readouterr().out
    assert stale.read_text() == "old"


def test_what_is_html_has_no_empty_line_and_needs_no_other_address():
    text = concept_test.page()
    for begin, end in (("<form", "</form>"), ("<div", "</div>")):
        for block in text.split(begin)[1:]:
            assert "\n\n" not in block.split(end)[0]
    assert not re.search(r"https?:|fetch\(|import ", text)
    script = (notebook_io.ROOT / "book" / "static" / "concept_test.js").read_text(encoding="utf-8")
    assert not re.search(r"https?:|fetch\(|^import |type=.module", script, re.MULTILINE)


def test_the_numbers_of_the_text_for_instructors():
    """What guessing does, by simulation."""
    generator, said = np.random.default_rng(0), concept_test.scatter()
    guessed = generator.binomial(23, 0.25, 100_000)
    known = np.stack([11 + generator.binomial(12, 0.25, 100_000), 12 + generator.binomial(11, 0.25, 100_000)])
    assert guessed.mean() == pytest.approx(said["guessed"], abs=0.05)
    assert guessed.std() == pytest.approx(said["scatter"], rel=0.02)
    assert known.var(1).mean() ** 0.5 == pytest.approx(said["half"], rel=0.02)
    differences = known[1] - known[0]
    assert differences.std() == pytest.approx(said["two"], rel=0.02)
    assert differences[: 12 * 8000].reshape(-1, 12).mean(1).std() == pytest.approx(said["mean"], rel=0.03)
    assert not re.search(r"\{(count|small|mean|two|half|guessed|scatter|nearly)", concept_test.instructors_page())
