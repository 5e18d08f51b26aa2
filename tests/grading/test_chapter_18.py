"""Chapter 18's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools
import math

import pytest
import torch
from torch.nn.functional import relu, softplus

from course_grading.checks import ch18_triplets as ch18
from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings
from course_lib.sampling import factor_distance, triplets

# 18.1 -----------------------------------------------------------------------------------------------------------------


def priced(excess, margin):
    return softplus(excess) if margin is None else relu(margin + excess)


def test_the_example_of_all_triplets():
    codes = torch.tensor([[0.0], [1], [3]], dtype=torch.float64)
    truth = torch.tensor([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert ch18.batch_triplet_loss(codes, truth, 2.0) == 0.5
    assert ch18.batch_triplet_loss(codes, truth, None).item() == pytest.approx(0.22, abs=0.001)


def no_gradient_of_the_anchor(codes, truth, margin):
    distance = (codes.detach().unsqueeze(1) - codes).abs().sum(2)
    told = (truth[:, :, None] < truth[:, None, :]) & ~torch.eye(len(codes), dtype=torch.bool)[:, :, None]
    losses = priced(distance[:, :, None] - distance[:, None, :], margin)
    return (losses * told).sum() / told.sum().clamp(min=1)


def test_a_gradient_that_is_half_there_is_seen(judged):
    for id in ("18.1", "18.1h"):
        verdict = judged(id, no_gradient_of_the_anchor)
        assert not verdict.passed and "gradient" in verdict.message


def masked_by_distance(codes, truth, margin):
    distance = (codes.unsqueeze(1) - codes).abs().sum(2)
    told = (truth[:, :, None] < truth[:, None, :]) & (truth > 0)[:, :, None]
    losses = priced(distance[:, :, None] - distance[:, None, :], margin)
    return (losses * told).sum() / told.sum().clamp(min=1)


@pytest.mark.parametrize("seed", range(5))
def test_images_that_are_told_to_be_alike_are_among_the_cases(judged, seed):
    verdict = judged("18.1", masked_by_distance, seed)
    assert not verdict.passed and "the positive is told to be at distance 0" in verdict.message


# 18.2 -----------------------------------------------------------------------------------------------------------------

POINTS = {"anchor": [0, 0, 0, 0], "positive": [2, -1, 0.5, -3], "negative": [-1, -4, 2, 1]}


def test_the_moves_are_minus_the_gradient():
    points = [torch.tensor(place, dtype=torch.float64, requires_grad=True) for place in POINTS.values()]
    anchor, positive, negative = points
    loss = (5 + (anchor - positive).abs().sum() - (anchor - negative).abs().sum()).relu()
    moves = [(-gradient).tolist() for gradient in torch.autograd.grad(loss, points)]
    assert dict(zip(POINTS, moves, strict=True)) == ch18.MOVES


def test_every_wrong_anchor_is_explained():
    for anchor in map(list, itertools.product((-2, -1, 0, 1, 2), repeat=4)):
        found = ch18.moves_faults({**ch18.MOVES, "anchor": anchor})["anchor"]
        assert (found is None) == (anchor == ch18.MOVES["anchor"])
        assert found is None or found.startswith("anchor:")


@pytest.mark.parametrize("part", [math.nan, math.inf, 10**400, "2", None, 2j])
def test_moves_that_are_no_numbers(judged, part):
    verdict = judged("18.2", {**ch18.MOVES, "anchor": [part, 0, 0, -2]})
    assert not verdict.passed and verdict.message.startswith("anchor: entry 0: got ")


# 18.3 -----------------------------------------------------------------------------------------------------------------


def summed_by_torch(anchor, first, second, sizes):
    near, far = (((anchor - other).abs() / (sizes - 1).clamp(min=1)).sum(1) for other in (first, second))
    return (near - far).sign().long()


def with_isclose(anchor, first, second, sizes):
    near, far = (((anchor - other).abs() / (sizes - 1).clamp(min=1)).sum(1) for other in (first, second))
    return torch.where(torch.isclose(near, far), 0, (near - far).sign().long())


def with_a_tolerance(tolerance):
    def answer(anchor, first, second, sizes):
        steps = (sizes - 1).clamp(min=1).double()
        near, far = (((anchor - other).abs() / steps).sum(1) for other in (first, second))
        return torch.where((near - far).abs() < tolerance, 0, (near - far).sign().long())

    return answer


def ties_to_the_second(anchor, first, second, sizes):
    return torch.where(ch18.nearer(anchor, first, second, sizes) >= 0, 1, -1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (summed_by_torch, "quotients were summed in floating point"),
        (with_isclose, "differ by less than your tolerance"),
        (with_a_tolerance(1e-3), "differ by less than your tolerance"),
        (with_a_tolerance(1e-9), "differ by less than your tolerance"),
        (with_a_tolerance(1e-14), "differ by less than your tolerance"),
        (ties_to_the_second, "a tie is given as an order"),
        (lambda anchor, *_: torch.zeros(len(anchor), dtype=torch.int64), "the numbers differ"),
    ],
)
def test_what_is_told_by_where_it_is_wrong(judged, wrong, message, seed):
    verdict = judged("18.3", wrong, seed)
    assert not verdict.passed and message in verdict.message


def test_no_tolerance_will_do(judged):
    """For each power of 10 there is either a tie that it misses or an order that it takes for one."""
    for digits in range(1, 20):
        assert not judged("18.3", with_a_tolerance(10**-digits)).passed


def test_the_near_ties_are_none():
    for primes in (ch18.PRIMES[:4], ch18.PRIMES):
        anchor, first, second, sizes = ch18._nearly_tied(primes)
        assert ch18.nearer(anchor, first, second, sizes).tolist() == [1, -1]
        assert all((factors >= 0).all() and (factors < sizes).all() for factors in (anchor, first, second))


def test_fractions_agree_with_the_library():
    space = XYSquares().space
    three = torch.randint(len(space), (3, 2_000), generator=torch.Generator().manual_seed(0))
    near, far = (factor_distance(space, three[0], other, by="scaled_l1") for other in three[1:])
    found = ch18.nearer(*space.factors(three), torch.tensor(space.sizes))
    assert torch.equal(found, (near - far).sign())


def divides_by_zero(anchor, first, second, sizes):
    near, far = (((anchor - other).abs() / (sizes - 1)).sum(1).nan_to_num(0) for other in (first, second))
    return ((near - far) * 1e6).round().sign().long()


def test_a_factor_of_one_value_is_among_the_cases(judged):
    assert not judged("18.3", divides_by_zero).passed
    assert any((sizes == 1).any() for *_, sizes in ch18.factor_triples(torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("seed", range(3))
def test_rounding_shows_in_every_draw(seed):
    """In the fixed ties at least, both precisions see an order."""
    cases = ch18.factor_triples(torch.Generator().manual_seed(seed))
    ties = [case for case in cases if not ch18.nearer(*case).any()]
    assert ties
    for wrong in ch18.ORDER_MISTAKES[ch18.ROUNDED]:
        assert any(wrong(*case).any() for case in ties)


# 18.4 -----------------------------------------------------------------------------------------------------------------


def test_the_planted_sampler_makes_one_image_of_two():
    three = torch.tensor([[[0], [5], [1]]])
    assert ch18.planted_order(three).tolist() == [[[0], [1], [1]]]
    assert ch18.in_order(three).tolist() == [[[0], [1], [5]]]


# 18.5 -----------------------------------------------------------------------------------------------------------------


def test_a_rotation_is_told_that_it_mixes(judged):
    turn = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64))[0][:2]
    verdict = judged("18.5", ch18.PLACES @ turn)
    assert not verdict.passed and "moves with both factors" in verdict.message


@pytest.mark.parametrize("size", [1e-323, 1e-300, 1e-170, 1e-12, 1e12, 1e200, 1e307])
def test_the_size_of_a_code_does_not_matter(judged, size):
    """Neither of a right one nor of the task's own example, whose squares overflow or vanish."""
    assert judged("18.5", size * ch18.PLACES.repeat(1, 3)).passed
    verdict = judged("18.5", size * ch18.ALIGNED)
    assert not verdict.passed and "the axis alignment is 1.00" in verdict.message


def test_codes_that_are_tiny_beside_a_latent_that_rests(judged):
    resting = torch.cat([torch.ones(16, 1), 1e-170 * ch18.PLACES, torch.zeros(16, 3)], 1).double()
    verdict = judged("18.5", resting)
    assert not verdict.passed and "the axis alignment is 1.00" in verdict.message


# 18.6 -----------------------------------------------------------------------------------------------------------------

ROWS = {  # wrong in ℓ1, linearity, axis alignment, MIG, modularity
    "A": (0.00, 1.00, 0.27, 0.00, 1.00),
    "B": (0.10, 1.00, 0.67, 0.00, 0.67),
    "C": (0.00, 1.00, 0.63, 0.50, 1.00),
    "D": (0.00, 0.90, 0.86, 0.45, 1.00),
    "E": (0.10, 1.00, 1.00, 0.92, 1.00),
}


def test_every_wrong_word_is_explained(judged):
    for key, word in itertools.product(ch18.MADE, ch18.MADE_WORDS):
        verdict = judged("18.6", {**ch18.MADE, key: word})
        assert verdict.passed == (word == ch18.MADE[key])
        said = verdict.message.removeprefix("4 of 5 right. ")
        assert verdict.passed or (said in ch18.MADE_MISTAKES and said.startswith(f"{key}: "))


def test_the_rows_are_those_of_the_codes():
    """18.6's table, computed: three latents a factor; two pairs turned by 30°; 1 + 1 + 2 + 2; bent at 2; squared."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    y = data.space.factors(torch.arange(len(data))).double()
    cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
    pairs = [torch.stack([cos * a - sin * b, sin * a + cos * b], 1) for a, b in (y[:, :2].T, y[:, 2:].T)]
    codes = {
        "A": y.repeat(1, 3) / 3,
        "B": torch.cat(pairs, 1),
        "C": torch.cat([y[:, :2], y[:, 2:] / 2, y[:, 2:] / 2], 1),
        "D": torch.cat([y.clamp(max=2), (y - 2).clamp(min=0)], 1),
        "E": y**2,
    }
    told = triplets(data.space, 20_000, torch.Generator().manual_seed(1))
    for name, code in codes.items():
        near, far = ((code[told[0]] - code[other]).abs().sum(1) for other in told[1:])
        wrong = (near >= far - 1e-9).double().mean().item()
        table = Encodings.from_table(code, data)
        scores = (metrics.linearity_ratio, metrics.axis_alignment_ratio, metrics.mig, metrics.modularity)
        values = [wrong, *(float(score(table)) for score in scores)]
        assert values == pytest.approx(ROWS[name], abs=0.012), name


# 18.7 -----------------------------------------------------------------------------------------------------------------


def test_the_example_of_the_hardest():
    codes, classes = torch.tensor([[0.0], [1], [4], [10]], dtype=torch.float64), torch.tensor([0, 0, 1, 2])
    assert ch18.batch_hard(codes, classes, 4.0) == 1.5


def infinities_left(codes, classes, margin):
    distance = torch.cdist(codes, codes, p=1)
    same = classes.unsqueeze(1) == classes
    mine = same & ~torch.eye(len(codes), dtype=torch.bool)
    farthest, nearest = distance.where(mine, -math.inf).amax(1), distance.where(~same, math.inf).amin(1)
    return relu(margin + farthest - nearest).mean()


def test_anchors_without_a_positive_are_not_averaged_in_as_zeros(judged):
    assert not judged("18.7", infinities_left).passed
