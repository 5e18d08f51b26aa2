"""Same seed, same value, bit for bit, whatever the global state; another seed, another sample."""

import random

import joblib
import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.metrics import trees

# a rotation has one ratio everywhere, and trees know 20 images by heart
STILL = {"linearity_ratio", "axis_alignment_ratio", "axis_orientation_ratio", "downstream_trees"}


def states():
    return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()


@pytest.fixture(scope="module")
def duplicated(tiny_grid, factors_of):
    """Noisy factors, twice: trees must choose between equal latents."""
    data = tiny_grid(4, 5)
    latents = factors_of(data) + 0.5 * torch.randn(20, 2, generator=torch.Generator().manual_seed(0)).double()
    return metrics.Encodings.from_table(torch.cat([latents, latents], 1), data)


@pytest.mark.parametrize("name", metrics.SCORES)
def test_the_seed_alone_decides(tables, duplicated, quick, name):
    table = duplicated if name in {"dci", "downstream_trees"} else tables["rotated"]
    results = []
    for state in (1, 2):
        random.seed(state), np.random.seed(state), torch.manual_seed(state)
        before = states()
        results.append(quick(name, table, seed=5))
        assert before == states()
    assert results[0].values == results[1].values and results[0].settings["seed"] == 5
    assert results[0].matrix is None or results[0].matrix.equals(results[1].matrix)
    assert name in STILL or quick(name, table, seed=6).values != results[0].values


def test_processes_change_nothing(duplicated, quick):
    first, second = (quick("dci", duplicated, jobs=jobs) for jobs in (1, 2))
    assert first.values == second.values and first.matrix.equals(second.matrix)


@pytest.mark.parametrize(("processors", "jobs"), [(1, 1), (2, 2), (64, 3)])
def test_many_processors_do_not_make_many_processes(monkeypatch, processors, jobs):
    """Each holds a quarter of a gigabyte, and a score promises to stay below one."""
    asked, parallel = [], joblib.Parallel
    monkeypatch.setattr(trees.joblib, "cpu_count", lambda: processors)
    monkeypatch.setattr(trees, "estimated_seconds", lambda train: 1000)
    monkeypatch.setattr(trees.joblib, "Parallel", lambda n_jobs: asked.append(n_jobs) or parallel(n_jobs=1))
    four = np.stack([np.arange(1600) // size % 4 for size in (1, 4, 16, 64)], 1)
    metrics.dci.from_samples(four + 0.0, four)
    assert asked == [jobs]


@pytest.mark.parametrize("seed", [-1, 0.5, None, 2**63])
def test_seeds_are_integers(tables, seed):
    for score in (metrics.mig, metrics.dci, metrics.linearity_ratio, metrics.beta_vae_score):
        with pytest.raises(ValueError, match="seed: got"):
            score(tables["identity"], seed=seed)
    with pytest.raises(ValueError, match="seed: got"):
        metrics.dci.from_samples(np.zeros((9, 2)), np.arange(18).reshape(9, 2), seed=seed)
