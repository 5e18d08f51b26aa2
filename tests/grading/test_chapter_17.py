"""Chapter 17's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools
import math

import pytest
import torch

import notebook_io
from course_grading import registry
from course_grading.checks import ch17_three_scores as ch17
from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings

# 17.1 and 17.5 --------------------------------------------------------------------------------------------------------


def still_if_its_first_latent_is(points):
    """Right but for that: a walk whose first latent rests counts as motionless."""
    right = ch17.three_scores(points)
    still = (points[:, :, 0] == points[:, :1, 0]).all(1)
    walks = [ch17.three_scores(walk.unsqueeze(0))[1:] * ~rests for walk, rests in zip(points, still, strict=True)]
    return torch.cat([right[:1], torch.stack(walks).mean(0)])


def one_for_one_latent(points):
    right = ch17.three_scores(points)
    return torch.cat([right[:1], torch.ones(2)]) if points.shape[2] == 1 else right


@pytest.mark.parametrize(
    ("wrong", "words"), [(still_if_its_first_latent_is, "first latent rests"), (one_for_one_latent, "still has 0")]
)
def test_motion_is_looked_for_in_all_latents_and_in_one(judged, wrong, words):
    for seed in range(5):
        verdict = judged("17.1", wrong, seed)
        assert not verdict.passed and words in verdict.message


def test_each_case_has_its_edge():
    cases = [points for (points,) in ch17.walks(torch.Generator().manual_seed(0))]
    scores = [ch17.three_scores(points).tolist() for points in cases]
    assert scores[1][1] == pytest.approx(1) and 0 < scores[1][2] < 1  # straight and slanted
    assert scores[4][0] == 0 and scores[4][1:] == pytest.approx([1, 0])  # order reversed, on a diagonal
    assert scores[5] == [0, 0, 0] and scores[6][1:] == [1, 1]  # nothing moves; one latent


def test_the_reference_is_the_library_s_for_a_whole_code():
    """Of four factors, along which all traversals of a rotated code are alike."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    factors = data.space.factors(torch.arange(len(data))).double()
    codes = factors @ torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(3)).double())[0]
    table = Encodings.from_table(codes, data)
    walks = torch.stack([codes[data.space.traversal(name)] for name in data.space.names]).unsqueeze(1)
    found = torch.stack([ch17.three_scores(walk) for walk in walks])
    assert found[:, 1].log().mean().exp() == pytest.approx(float(metrics.linearity_ratio(table)))
    assert found[:, 2].log().mean().exp() == pytest.approx(float(metrics.axis_alignment_ratio(table)))
    assert ch17.line_score(walks).item() == pytest.approx(float(metrics.linearity_ratio(table)))


@pytest.mark.parametrize("fault", ch17.PLANTED)
def test_the_planted_faults_show(fault):
    """In some case of every seed each of them by itself; mended, all three, the function is right."""
    for seed in range(5):
        cases = [points for (points,) in ch17.factor_walks(torch.Generator().manual_seed(seed))]
        right = torch.stack([ch17.line_score(points) for points in cases])
        found = torch.stack([ch17.faulty_line(points, left=(fault,)) for points in cases])
        assert ((found / right - 1).abs() > 1e-3).any()
        mended = torch.stack([ch17.faulty_line(points, left=()) for points in cases])
        assert torch.allclose(mended, right, rtol=1e-9)


def test_students_get_the_three_faults():
    """Their stub, with its comments taken off, is the function whose faults the messages name."""
    path = notebook_io.ROOT / "exercises" / "17_three_scores.ipynb"
    stub = next(cell.source for cell in notebook_io.read(path).cells if cell.id == "answer-5")
    space = {"torch": torch}
    exec(stub, space)
    for (points,) in ch17.factor_walks(torch.Generator().manual_seed(0)):
        assert space["line_score"](points) == pytest.approx(ch17.faulty_line(points), nan_ok=True)


def test_the_example_s_number():
    """As the task prints it: two parallel lines, five apart."""
    line = torch.tensor([[0.0, 0], [1, 0], [2, 0]], dtype=torch.float64)
    points = torch.stack([line, line + torch.tensor([0.0, 5])]).unsqueeze(0)
    assert round(ch17.faulty_line(points).item(), 2) == 0.51
    assert ch17.line_score(points).item() == pytest.approx(1)


# 17.2 -----------------------------------------------------------------------------------------------------------------


CODES = {  # points (f, 2): the codes of a factor's values, in the factor's order, as the task gives them
    "slanted": [[0, 0], [3, 1], [6, 2], [9, 3], [12, 4]],
    "pendulum": [[0, 0], [1, 0], [0, 0]],
    "round": [[0, 0], [1, 0], [1, 1], [0, 1]],
}


def test_the_predicted_scores_are_what_the_codes_have():
    for name, points in CODES.items():
        found = ch17.three_scores(torch.tensor(points).double().unsqueeze(0)).tolist()
        assert found == pytest.approx(ch17.PREDICTED[name], abs=1e-9)


@pytest.mark.parametrize("number", [0.45, 0.447, 0.4472136])
def test_two_digits_are_enough(judged, number):
    assert judged("17.2", {**ch17.PREDICTED, "round": [number, 0, 0]}).passed


@pytest.mark.parametrize("number", [0.7, 7.0, -0.3])
def test_numbers_nobody_foresaw(judged, number):
    answer = {**ch17.PREDICTED, "slanted": [1, 1, number]}
    message = judged("17.2", answer).message
    assert message.startswith("8 of 9 right. slanted, axis: ") and "Compute both variances." in message


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400])
def test_numbers_that_are_none(judged, number):
    answer = {**ch17.PREDICTED, "slanted": [1, 1, number]}
    assert judged("17.2", answer).message.startswith("slanted, [order, line, axis]: entry 2: got ")


@pytest.mark.parametrize("answer", [[1, 1, 0.8], {"slanted": [1, 1, 0.8]}, {**ch17.PREDICTED, "round": 0}])
def test_another_form_is_explained(judged, answer):
    assert "[order, line, axis]" in judged("17.2", answer).message


# 17.3 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [45, 135, 225, 315])
@pytest.mark.parametrize("size", [0.01, 1, 300])
def test_triangles_of_any_size_in_all_four_positions(judged, degrees, size):
    assert judged("17.3", size * ch17.equilateral(degrees) + 7).passed


def test_three_decimals_are_exact_enough(judged):
    assert judged("17.3", ch17.equilateral(45).mul(1_000).round().div(1_000).float()).passed


@pytest.mark.parametrize("degrees", range(0, 180, 5))
def test_only_the_diagonal_is_right(judged, degrees):
    verdict = judged("17.3", ch17.equilateral(degrees))
    assert verdict.passed == (degrees in (45, 135))
    assert verdict.passed or "Turn" in verdict.message


def test_the_triangle_has_the_scores_that_were_asked_for():
    points = ch17.equilateral(45).mul(1_000).round().unsqueeze(0)
    order, line, _ = ch17.three_scores(points).tolist()
    assert order == pytest.approx(1) and line == pytest.approx(0, abs=1e-3)


# 17.4 and 17.6 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [0, 10, 30, 45])
def test_a_cloud_s_angle_comes_back(degrees):
    turn = math.radians(degrees)
    direction = torch.tensor([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]], dtype=torch.float64)
    covariance = direction.T @ torch.diag(torch.tensor([4.0, 1.0], dtype=torch.float64)) @ direction
    line, axis = (torch.linalg.eigvalsh(covariance).diff(), covariance.diagonal().diff().abs())
    found = ch17.angle_and_flatness(line / 5, axis / 5)[0].tolist()
    assert found == pytest.approx([degrees, 0.25], abs=1e-5)


@pytest.mark.parametrize("given", list(itertools.permutations(ch17.DIAGNOSES))[::7])
def test_every_wrong_diagnosis_is_explained(judged, given):
    answer = dict(zip(ch17.MODELS, given, strict=True))
    verdict = judged("17.6", answer)
    assert verdict.passed == (answer == ch17.MODELS)
    right = sum(answer[model] == ch17.MODELS[model] for model in ch17.MODELS)
    first = next((model for model in ch17.MODELS if answer[model] != ch17.MODELS[model]), None)
    assert verdict.passed or verdict.message.startswith(f"{right} of {len(answer)} right. {first}: ")


def five_codes():
    """The codes behind the table of exercise 17.6: model → latents (4096, D)."""
    data, draw = XYSquares(2, 2, squares=2, image_size=16), torch.Generator().manual_seed(0)
    factors = data.space.factors(torch.arange(len(data)))
    y = factors.double() / 8
    rotation = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(5)).double())[0]
    curves = torch.stack([(3.9 * y).cos(), (3.9 * y).sin()], 2).flatten(1)
    dealt = torch.tensor([3, 6, 0, 4, 7, 1, 5, 2]).double() / 8
    merged = torch.cat([y.sum(1, keepdim=True), torch.zeros(len(y), 3)], 1)
    clean = {"P": y @ rotation, "Q": curves, "R": dealt[factors], "S": merged, "T": y}
    noise = {"S": 0.01}
    return data, {
        name: codes + noise.get(name, 0.02) * torch.randn(codes.shape, generator=draw).double()
        for name, codes in clean.items()
    }


def test_the_table_s_numbers():
    """The exercise's table, recomputed from the codes that the diagnoses describe."""
    path = notebook_io.ROOT / "exercises" / "solutions" / "17_three_scores.ipynb"
    task = next(cell.source for cell in notebook_io.read(path).cells if cell.id == "task-6")
    data, codes = five_codes()
    for name, latents in codes.items():
        table = Encodings.from_table(latents, data)
        order = metrics.distance_correlation(table, loss=None)
        ratios = [float(score(table)) for score in (metrics.linearity_ratio, metrics.axis_alignment_ratio)]
        found = [
            float(order),
            order.values["distinct_factors"],
            *ratios,
            order.values["global"],
            float(metrics.mig(table)),
        ]
        printed = next(line for line in task.splitlines() if line.startswith(f"| {name} |")).split("|")[2:-1]
        assert [f"{number:.2f}".removeprefix("0").replace("-.00", ".00") for number in found] == [
            number.strip() for number in printed
        ]


def test_a_code_that_moves_little_moves(judged):
    right = registry.find("17.1").reference
    verdict = judged("17.1", lambda points: right(points.where(points.var(1, keepdim=True) > 1e-4, points[:, :1])))
    assert not verdict.passed
