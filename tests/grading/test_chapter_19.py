"""Chapter 19's exercises beyond what is tested for all chapters: other ways to be right, and to be wrong."""

import itertools

import pytest
import torch

from course_grading.checks import ch19_adaptive_triplets as checks
from course_lib.frameworks import AdaTripletVAE, Step
from course_lib.losses import shared_latents
from course_lib.models import VAE, DiagonalGaussian
from course_lib.schedules import scheduled
from course_replication import Store


def test_the_formula_is_told_of_its_rounding(judged):
    assert "rounding" in judged("19.1", checks._by_the_formula).message


def test_a_negative_loss_is_explained(judged):
    verdict = judged("19.3", {**checks.NUMBERS, "loss": -7.0})
    assert not verdict.passed and "never below 0" in verdict.message


def test_a_mask_of_whole_numbers_is_refused(judged):
    verdict = judged("19.1", lambda *given: checks.shared(*given).long())
    assert not verdict.passed and "torch.int64" in verdict.message


@pytest.mark.parametrize("id", ["19.1", "19.1h"])
def test_a_comparison_that_is_not_strict_is_seen(judged, id):
    """By the hidden check as well."""
    for seed in range(10):
        verdict = judged(id, lambda given, strength: given <= checks._tau(given, strength), seed)
        assert not verdict.passed and "the comparison is not strict" in verdict.message


@pytest.mark.parametrize("id", ["19.2", "19.2h"])
def test_exchanged_ends_are_seen(judged, id):
    def exchanged(anchor, negative, weight, strength):
        return checks.adaptive_distance(anchor, negative, weight, 1 - strength)

    for seed in range(10):
        verdict = judged(id, exchanged, seed)
        assert not verdict.passed and "exchanged in the threshold" in verdict.message


def test_the_distance_is_the_library_s():
    anchor, negative = torch.randn(2, 40, 7, generator=torch.Generator().manual_seed(0))
    framework = AdaTripletVAE(VAE("mlp", (1, 4, 4), 7, (8,), 0), norm=2, shared_weight=0.3, strength=0.4)
    gaussians = [DiagonalGaussian(code, torch.zeros_like(code)) for code in (anchor, negative)]
    theirs = framework.negative_distance(*gaussians, Step(torch.tensor(0), 1, torch.Generator()))
    torch.testing.assert_close(checks.adaptive_distance(anchor, negative, 0.3, 0.4), theirs)


def test_a_soft_mask_is_refused(judged):
    def soft(anchor, negative, weight, strength):
        apart = anchor - negative
        low, high = apart.abs().amin(1, keepdim=True), apart.abs().amax(1, keepdim=True)
        tau = low + strength * (high - low)
        return torch.linalg.vector_norm((weight + (1 - weight) * ((apart.abs() - tau) * 1e4).sigmoid()) * apart, dim=1)

    assert not judged("19.2", soft).passed


def test_the_triplet_by_autograd(judged):
    a, p, n = (
        torch.tensor([code], requires_grad=True)
        for code in ([1.0, 1.0, 1.0, 1.0], [2.0, 1.0, 0.0, 1.0], [10.0, -1.0, 4.0, 6.0])
    )
    mask = shared_latents((a - n).abs())
    kept = torch.where(mask, 0.25, 1.0) * (a - n).abs()
    middle = torch.where(mask, (a + n) / 2, 0.0)
    averaged = (torch.where(mask, middle, a) - torch.where(mask, middle, n)).abs()
    near = (a - p).abs().sum()
    losses = [10 + near - distance.sum() for distance in (kept, averaged)]
    slopes = [torch.autograd.grad(loss, (a, n), retain_graph=True) for loss in losses]
    found = {
        "distance": kept.sum().item(),
        "loss": losses[0].item(),
        "averaged distance": averaged.sum().item(),
        "slope of n": slopes[0][1][0, 2].item(),
        "slope of a": slopes[0][0][0, 2].item(),
        "slope of a, averaged": slopes[1][0][0, 2].item(),
    }
    assert found == pytest.approx(checks.NUMBERS)
    assert judged("19.3", found).passed and judged("19.3", {key: torch.tensor(found[key]) for key in found}).passed


@pytest.mark.parametrize("answer", [None, [11.5], {}, {**checks.NUMBERS, "loss": "0.5"}])
def test_odd_numbers(answer, judged):
    verdict = judged("19.3", answer)
    assert not verdict.passed and "expected" in verdict.message


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, 0.5j])
def test_numbers_that_are_none(number, judged):
    verdict = judged("19.3", {**checks.NUMBERS, "loss": number})
    assert not verdict.passed and verdict.message.startswith("5 of 6 right. loss: got ")


def scanned(to_positive, to_negative, positive_weight, negative_weight):
    """Right to a thousandth of a degree."""
    degrees = torch.linspace(0, 45, 45_001, dtype=torch.float64)
    cos, sin = torch.deg2rad(degrees).cos(), torch.deg2rad(degrees).sin()
    best = []
    for p, n, wp, wn in zip(to_positive, to_negative, positive_weight, negative_weight, strict=True):
        best.append(degrees[(p * (cos + wp * sin) - n * (cos + wn * sin)).argmin()])
    return torch.stack(best)


def test_the_angle_by_brute_force():
    for settings in checks.weighted_settings(torch.Generator().manual_seed(0)):
        found = checks.best_angle(*settings)
        torch.testing.assert_close(found, scanned(*settings), atol=1e-3, rtol=0)


def test_equal_weights_forget_the_distances():
    near, far, weight, _ = checks.weighted_settings(torch.Generator().manual_seed(0))[0]
    found = checks.best_angle(near, far, weight, weight)
    torch.testing.assert_close(torch.deg2rad(found).tan(), weight)


def in_whole_steps(step, total, start, end, wait):
    walked = ((step - int(wait * total)) / (total - int(wait * total))).clamp(0, 1)
    return start + (end - start) * walked


def test_a_wait_may_end_between_two_steps(judged):
    verdict = judged("19.5", in_whole_steps)
    assert not verdict.passed and "rounded to whole steps" in verdict.message


def test_a_schedule_without_a_wait_is_the_library_s():
    steps = torch.tensor([0, 1, 400, 799, 800, 900])
    theirs = torch.stack([scheduled((1.0, 0.5), step, 800) for step in steps])
    torch.testing.assert_close(checks.waiting_schedule(steps, 800, 1.0, 0.5, 0.0), theirs)


@pytest.mark.parametrize("key", checks.RUNS)
def test_every_wrong_run_is_answered(key, judged):
    for word in checks.WORDS:
        verdict = judged("19.6", {**checks.RUNS, key: word})
        assert verdict.passed == (word == checks.RUNS[key])
        assert verdict.passed or verdict.message.startswith(f"6 of 7 right. {key}: ")


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(checks.RUNS, 2)])
def test_no_two_words_can_be_exchanged(one, other, judged):
    exchanged = {**checks.RUNS, one: checks.RUNS[other], other: checks.RUNS[one]}
    assert judged("19.6", exchanged).message.startswith("5 of 7 right.") and judged("19.6", checks.RUNS).passed


USUAL = {
    "spacing": 2,
    "latents": 7,
    "steps": 3_000,
    "sampler": "scaled_l1",
    "decoder_gradient": True,
    "triplet": "hard",
}
TRIPLET = {**USUAL, "framework": "TripletVAE"}
ADAPTIVE = {**USUAL, "framework": "AdaTripletVAE", "schedule": "weight_weak", "differences": "absolute"}
ROWS = {  # the runs, and what stands before their metrics
    "A": ({**TRIPLET, "norm": 1}, ""),
    "B": ({**ADAPTIVE, "shared_weight": 0.5}, ""),
    "C": ({**TRIPLET, "norm": 1}, "control/untrained/"),
    "D": ({**ADAPTIVE, "shared_weight": None, "strength": None}, ""),
    "E": ({**ADAPTIVE, "shared_weight": 0.5}, "control/shuffled/"),
    "F": ({**TRIPLET, "norm": 2}, ""),
    "G": ({**ADAPTIVE, "sampler": "perceived", "reconstruction": "mse-box", "num_triplets": 512}, ""),
}


@pytest.mark.parametrize("key", ROWS)
def test_the_runs_are_the_store_s(key, task_rows):
    wanted, before = ROWS[key]
    runs = [run for run in Store().results("small").values() if run["measurement"] == "training.scores"]
    runs = [run for run in runs if all(run["settings"].get(name) == value for name, value in wanted.items())]
    means = [
        sum(run["metrics"][f"{before}{metric}"] for run in runs) / len(runs)
        for metric in ("rank", "linearity", "axis-alignment", "mig")
    ]
    assert len(runs) == 5 and [float(cell) for cell in task_rows[key][:4]] == pytest.approx(means, abs=0.0051)
    if f"{before}active-latents" in runs[0]["metrics"]:
        used = sum(run["metrics"][f"{before}active-latents"] for run in runs) / len(runs)
        assert float(task_rows[key][4]) == round(used)


@pytest.fixture(scope="module")
def task_rows():
    """The table of the task: a letter → its cells."""
    import exercises
    import notebook_io

    (path,) = [path for path in exercises.solutions() if path.stem[:2] == "19"]
    (task,) = [cell.source for cell in notebook_io.read(path).cells if cell.id == "task-6"]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in task.splitlines() if line.startswith("| ")
    ]
    return {row[0]: row[1:] for row in rows if row[0] in ROWS}
