"""Chapter 18's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools
import math

import pytest
import torch
from torch.nn.functional import relu, softplus

from course_grading import registry
from course_grading.chapters import triplet_codes, triplet_orders
from course_grading.exercise import LocalAnswer
from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings
from course_lib.sampling import factor_distance, triplets


def judged(exercise, answer, seed=0):
    return registry.find(exercise).judge(LocalAnswer(answer), seed)


def priced(excess, margin):
    return softplus(excess) if margin is None else relu(margin + excess)


def by_loops(codes, truth, margin):
    found = []
    for anchor, positive, negative in itertools.permutations(range(len(codes)), 3):
        if truth[anchor, positive] < truth[anchor, negative]:
            near, far = ((codes[anchor] - codes[other]).abs().sum() for other in (positive, negative))
            found.append(priced(near - far, margin))
    return torch.stack(found).mean() if found else codes.sum() * 0


def with_cdist(codes, truth, margin):
    distance = torch.cdist(codes, codes, p=1)
    anchor, positive, negative = (truth[:, :, None] < truth[:, None, :]).nonzero(as_tuple=True)
    anchor, positive, negative = (index[anchor != positive] for index in (anchor, positive, negative))
    losses = priced(distance[anchor, positive] - distance[anchor, negative], margin)
    return losses.sum() / max(len(losses), 1)


@pytest.mark.parametrize("right", [by_loops, with_cdist])
def test_other_ways_to_take_all_triplets(right):
    for seed in range(3):
        verdict = judged("18.1", right, seed)
        assert verdict.passed, verdict.message


def test_the_example_of_all_triplets():
    codes = torch.tensor([[0.0], [1], [3]], dtype=torch.float64)
    truth = torch.tensor([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert with_cdist(codes, truth, 2.0) == by_loops(codes, truth, 2.0) == 0.5
    assert by_loops(codes, truth, None).item() == pytest.approx(0.22, abs=0.001)


def no_gradient_of_the_anchor(codes, truth, margin):
    distance = (codes.detach().unsqueeze(1) - codes).abs().sum(2)
    told = (truth[:, :, None] < truth[:, None, :]) & ~torch.eye(len(codes), dtype=torch.bool)[:, :, None]
    losses = priced(distance[:, :, None] - distance[:, None, :], margin)
    return (losses * told).sum() / told.sum().clamp(min=1)


def test_a_gradient_that_is_half_there_is_seen():
    verdict = judged("18.1", no_gradient_of_the_anchor)
    assert not verdict.passed and "gradient" in verdict.message


def masked_by_distance(codes, truth, margin):
    distance = (codes.unsqueeze(1) - codes).abs().sum(2)
    told = (truth[:, :, None] < truth[:, None, :]) & (truth > 0)[:, :, None]
    losses = priced(distance[:, :, None] - distance[:, None, :], margin)
    return (losses * told).sum() / told.sum().clamp(min=1)


@pytest.mark.parametrize("seed", range(5))
def test_images_that_are_told_to_be_alike_are_among_the_cases(seed):
    verdict = judged("18.1", masked_by_distance, seed)
    assert not verdict.passed and "the positive is told to be at distance 0" in verdict.message


def test_the_moves_are_minus_the_gradient():
    points = [torch.tensor(place, dtype=torch.float64, requires_grad=True) for place in triplet_codes.POINTS.values()]
    anchor, positive, negative = points
    loss = (5 + (anchor - positive).abs().sum() - (anchor - negative).abs().sum()).relu()
    moves = [(-gradient).tolist() for gradient in torch.autograd.grad(loss, points)]
    assert dict(zip(triplet_codes.POINTS, moves, strict=True)) == triplet_codes.MOVES
    as_tensors = {name: torch.tensor(move) for name, move in triplet_codes.MOVES.items()}
    assert judged("18.2", as_tensors).passed


def test_every_wrong_anchor_is_explained():
    for anchor in map(list, itertools.product((-2, -1, 0, 1, 2), repeat=4)):
        found = triplet_codes.moves_fault({**triplet_codes.MOVES, "anchor": anchor})
        assert (found is None) == (anchor == triplet_codes.MOVES["anchor"])
        assert found is None or found.startswith("anchor:")


def by_product(anchor, first, second, sizes):
    """A common multiple that is not the least is as good."""
    steps = [size - 1 for size in sizes.tolist() if size > 1]
    weights = torch.tensor([math.prod(steps) // (size - 1) if size > 1 else 0 for size in sizes.tolist()])
    near, far = (((anchor - other).abs() * weights).sum(1) for other in (first, second))
    return (near > far).long() - (near < far).long()


def with_tolerance(anchor, first, second, sizes):
    steps = (sizes - 1).clamp(min=1).double()
    near, far = (((anchor - other).abs() / steps).sum(1) for other in (first, second))
    return torch.where((near - far).abs() < 1e-9, 0, (near - far).sign().long())


def summed_by_torch(anchor, first, second, sizes):
    near, far = (((anchor - other).abs() / (sizes - 1).clamp(min=1)).sum(1) for other in (first, second))
    return (near - far).sign().long()


def with_isclose(anchor, first, second, sizes):
    near, far = (((anchor - other).abs() / (sizes - 1).clamp(min=1)).sum(1) for other in (first, second))
    return torch.where(torch.isclose(near, far), 0, (near - far).sign().long())


def with_large_tolerance(anchor, first, second, sizes):
    steps = (sizes - 1).clamp(min=1).double()
    near, far = (((anchor - other).abs() / steps).sum(1) for other in (first, second))
    return torch.where((near - far).abs() < 1e-3, 0, (near - far).sign().long())


def ties_to_the_second(anchor, first, second, sizes):
    return torch.where(by_product(anchor, first, second, sizes) >= 0, 1, -1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (summed_by_torch, "quotients were summed in floating point"),
        (with_isclose, "differ by less than your tolerance"),
        (with_large_tolerance, "differ by less than your tolerance"),
        (ties_to_the_second, "a tie is given as an order"),
        (lambda anchor, *_: torch.zeros(len(anchor), dtype=torch.int64), "the numbers differ"),
    ],
)
def test_what_is_told_by_where_it_is_wrong(wrong, message, seed):
    verdict = judged("18.3", wrong, seed)
    assert not verdict.passed and message in verdict.message


@pytest.mark.parametrize("right", [by_product, with_tolerance])
def test_other_ways_to_compare(right):
    for seed in range(5):
        verdict = judged("18.3", right, seed)
        assert verdict.passed, verdict.message


def test_fractions_agree_with_the_library():
    space = XYSquares().space
    three = torch.randint(len(space), (3, 2_000), generator=torch.Generator().manual_seed(0))
    near, far = (factor_distance(space, three[0], other, by="scaled_l1") for other in three[1:])
    found = triplet_orders.nearer(*space.factors(three), torch.tensor(space.sizes))
    assert torch.equal(found, (near - far).sign())


def divides_by_zero(anchor, first, second, sizes):
    near, far = (((anchor - other).abs() / (sizes - 1)).sum(1).nan_to_num(0) for other in (first, second))
    return ((near - far) * 1e6).round().sign().long()


def test_a_factor_of_one_value_is_among_the_cases():
    assert not judged("18.3", divides_by_zero).passed
    assert any((sizes == 1).any() for *_, sizes in triplet_orders.factor_triples(torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("seed", range(3))
def test_rounding_shows_in_every_draw(seed):
    """In the fixed ties at least, both precisions see an order."""
    cases = triplet_orders.factor_triples(torch.Generator().manual_seed(seed))
    for dtype in (torch.float32, torch.float64):
        wrong = triplet_orders._floating(dtype)
        assert any(not torch.equal(wrong(*case), triplet_orders.nearer(*case)) for case in cases)


def test_the_planted_sampler_makes_one_image_of_two():
    three = torch.tensor([[[0], [5], [1]]])
    assert triplet_orders.planted_order(three).tolist() == [[[0], [1], [1]]]
    assert triplet_orders.in_order(three).tolist() == [[[0], [1], [5]]]


@pytest.mark.parametrize(
    "make",
    [
        lambda places: places.repeat(1, 3),
        lambda places: torch.cat([places[:, :1], places[:, 1:].repeat(1, 5) / 5], 1),
        lambda places: torch.cat([places + 0.3 * places.flip(1), places - 0.3 * places.flip(1), places], 1),  # mixed!
        lambda places: -10 * torch.cat([places[:, :1].repeat(1, 2) / 2, places[:, 1:].repeat(1, 4) / 4], 1) + 3,
    ],
)
def test_other_codes(make):
    assert judged("18.5", make(triplet_codes.PLACES)).passed


def test_a_rotation_is_told_that_it_mixes():
    turn = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64))[0][:2]
    verdict = judged("18.5", triplet_codes.PLACES @ turn)
    assert not verdict.passed and "moves with both factors" in verdict.message


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
        assert values == pytest.approx(triplet_codes.ROWS[name], abs=0.012), name
