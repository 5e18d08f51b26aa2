"""Chapter 4's exercises beyond what holds for all: what they say is so in the library, and answers off the list."""

import math
from functools import partial

import numpy as np
import pytest
import torch

import exercises
import notebook_io
from course_grading import registry
from course_grading.checks.ch04_measuring_disentanglement import BLIND, CROWDED, CULPRITS, READ, TWICE, code_fault
from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae

DATA = XYSquares(1, 4, squares=2, image_size=16)
FACTORS = DATA.space.factors(torch.arange(len(DATA)))
Y = FACTORS.double() / 8
REORDERED = (torch.tensor([3, 6, 1, 4, 7, 0, 5, 2]).double() / 8)[FACTORS]
COLUMNS = {  # without what the table does not show and what takes most of the time
    "beta_vae_score": metrics.beta_vae_score, "factor_vae_score": metrics.factor_vae_score, "mig": metrics.mig,
    "modularity": partial(metrics.modularity, explicitness=False),
    "distance_correlation": partial(metrics.distance_correlation, loss=None),
}  # fmt: skip
NOTEBOOK = notebook_io.read(next(path for path in exercises.solutions() if path.stem == "04_measuring_disentanglement"))


def turned(degrees):
    t = math.radians(degrees)
    plane = torch.tensor([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]], dtype=torch.float64)
    return Y @ torch.block_diag(plane, plane)


def table(latents):
    return metrics.Encodings.from_table(latents, DATA)


def trees(latents):
    return metrics.dci(table(latents), num_samples=800, num_test=200, jobs=1).values


@pytest.mark.slow
def test_the_blind_spots_are_those_of_the_library():
    noise = torch.rand(len(Y), 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    noisy, sums = torch.cat([Y[:, :3], noise], 1), torch.cat([Y, Y[:, ::2] + Y[:, 1::2]], 1)
    codes = {
        "BetaVAE": (metrics.beta_vae_score, noisy), "modularity": (metrics.modularity, noisy),
        "MIG": (metrics.mig, sums), "FactorVAE": (metrics.factor_vae_score, sums),
        "FactorVAE scaled": (metrics.factor_vae_score, Y * torch.tensor([30, 1, 1, 1])),
        "distance": (metrics.distance_correlation, 2.0**FACTORS),
        "linearity": (metrics.linearity_ratio, 2.0**FACTORS),
    }  # fmt: skip
    found = {name: float(score(table(code))) for name, (score, code) in codes.items()}
    found["DCI-C"] = trees(Y[:, [0, 0, 1, 1, 2, 3]])["completeness"]
    assert {name: "falls" if value <= 0.9 else "stays" for name, value in found.items()} == BLIND, found


@pytest.mark.slow
def test_the_table_of_suspects_is_what_the_library_gives():
    """To two digits as printed, or one more in the last where another computer rounds otherwise."""
    (task,) = [cell.source for cell in NOTEBOOK.cells if cell.source.startswith("## 04.6 ")]
    rows = [line.strip("| ").split(" | ") for line in task.splitlines() if line.startswith("| **")]
    assert [row[0].strip("*") for row in rows] == list(CULPRITS)
    codes = {
        "twice": torch.cat([Y, Y], 1), "turned": turned(20), "reordered": REORDERED, "missing": Y[:, :3],
        "merged": torch.cat([8 * Y[:, :1] + Y[:, 1:2], Y[:, 2:]], 1),
        "untrained": BetaVAE(mlp_vae(DATA, 6, hidden=(128,), seed=1)).encode(DATA.images(torch.arange(len(DATA)))),
    }  # fmt: skip
    for letter, *printed in rows:
        code = codes[CULPRITS[letter.strip("*")]]
        found = [*metrics.evaluate(table(code), scores=COLUMNS).headlines()]
        found += list(map(trees(code).get, ("disentanglement", "completeness")))
        assert np.abs(np.array(found) - np.array(printed, float)).max() < 0.0101, (letter, found)


@pytest.mark.parametrize("broken", [
    lambda z, s: (z.var(1) / s**2).nan_to_num(0.0).argmin(1),
    lambda z, s: (z.var(1) / (s**2 + 1e-8)).argmin(1),
    lambda z, s: (z.var(1) / s.clamp(min=1e-6) ** 2).argmin(1),
])  # fmt: skip
def test_repairs_that_leave_the_dead_in_power(judged, broken):
    assert "dead latents still win the vote" in judged("04.2", broken).message


def test_the_vote_as_the_library_counts_it():
    """Votes of the reference, over many groups of the chapter's squares, are the library's share of votes."""
    reference, draws = registry.find("04.2").reference, torch.Generator().manual_seed(0)
    padded = torch.cat([turned(20), torch.zeros(len(Y), 2, dtype=torch.float64)], 1)
    for factor in range(4):
        points = FACTORS[torch.randint(len(Y), (50, 64), generator=draws)]
        points[:, :, factor] = points[:, :1, factor]
        assert reference(padded[DATA.space.index(points)], padded.std(0)).tolist() == [factor] * 50
    shares = metrics.factor_vae_score(table(padded)).matrix.to_numpy()
    assert (shares[:4].argmax(1) == range(4)).all() and not shares[4:].any()


def test_modularity_is_the_library_s():
    reference = registry.find("04.1").reference
    for latents in (Y, turned(20), Y[:, :3], torch.cat([Y, 0 * Y], 1), 0 * Y):
        score = metrics.modularity.from_samples(latents, FACTORS)
        assert float(reference(torch.tensor(score.matrix.to_numpy()))) == pytest.approx(float(score))


@pytest.mark.parametrize(("code", "words"), [
    (lambda y: None, "is there a `return`"),
    (lambda y: y.double().numpy(), READ),  # an array is read as a tensor
    (lambda y: y.double().tolist()[:10], "expected a tensor of shape (4096, n)"),
    (lambda y: y[:10].double(), "got the shape (10, 4)"),
    (lambda y: y.double()[:, :, None], "got the shape (4096, 4, 1)"),
    (lambda y: y.double() * torch.nan, "NaN"),
    (lambda y: y.double() * 1e200, "1e100"),
    (lambda y: y.double() * 1e-308, READ),
    (lambda y: y.double() * 5e-324, READ),
    (lambda y: y.double() * 1e99, READ),
    (lambda y: 0 * y.double() + 1e-200, "constant"),
    (lambda y: y.double() * 1j, "complex"),
    (lambda y: 1 / 0, "ZeroDivisionError"),
    (lambda y: y, READ),  # integers are fine, but the order is there
    (lambda y: torch.cat([REORDERED[:1] * 0 + (5 * y % 8).double(), y.double()], 1), TWICE),
    (lambda y: (y.double() - 2.6) ** 2, CROWDED),  # one latent each, although the best one knows nearly all
    (..., "not written yet"),
    (3, "it is a int and no function"),
])  # fmt: skip
def test_codes_that_break_nothing(judged, code, words):
    verdict = judged("04.4", code)
    assert not verdict.passed and words in verdict.message, verdict.message


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e-30, 1e30, 1e99])
def test_the_size_of_a_code_s_numbers_does_not_matter(size):
    """The same verdict, word for word, on a code that MIG does not like as on the same code in other units."""
    crowded = FACTORS.numpy().astype(float) ** 3
    assert code_fault(size * crowded, FACTORS.numpy()) == code_fault(crowded, FACTORS.numpy()) is not None


@pytest.mark.parametrize("near", [10_000, 10_044, 10_050])
def test_the_number_of_images_may_be_rounded(judged, near):
    assert judged("04.5", near).passed and not judged("04.5", near + 200).passed


def test_ties_are_told_apart_from_a_single_best(judged):
    def without_all_best(information):
        alive = information[information.amax(1) > 0]
        best = alive.amax(1, keepdim=True)
        others = (alive**2).where(alive < best, 0).sum(1) / (best[:, 0] ** 2 * (information.shape[1] - 1))
        return (1 - others).mean() if len(alive) else information.sum()

    assert not judged("04.1", without_all_best).passed
