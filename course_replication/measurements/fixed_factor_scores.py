"""Claims about the scores of a fixed factor: codes that fool them, latents that are pruned, and the best classifier."""

from itertools import product

import numpy as np
import torch

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.metrics import Encodings
from course_replication.runs import Context

VOTES, IMAGES = 1000, 64
PAIRS = 200  # L of the older score, as printed


def mixtures(context: Context) -> dict[str, bool | float]:
    """Both scores of codes whose latents are sums of two factors each, in a ring, or random rotations of the factors.

    Of two factors both sums of the ring are the same. "halves" are their sum and difference; "three" are sums of three.
    """
    found = {}
    for squares in (1, 2, 3):
        data = XYSquares(2, 2, squares=squares, image_size=16)
        factors = data.space.factors(torch.arange(len(data))).double()
        size = factors.shape[1]
        turn = torch.linalg.qr(torch.randn(size, size, generator=context.generator, dtype=torch.float64))[0]
        eye = torch.eye(size)
        ring = eye + eye.roll(1, 0)
        codes = {"factors": eye, "ring": ring, "rotation": turn, "three": ring + eye.roll(2, 0)}
        for name, weights in codes.items():
            table = Encodings.from_table(factors @ weights.double(), data)
            seed = context.seed
            beta = metrics.beta_vae_score(table, seed=seed, num_samples=2000, num_test=1000, batch_size=PAIRS)
            ours = metrics.factor_vae_score(table, seed=seed, num_samples=VOTES, num_test=VOTES, batch_size=IMAGES)
            found |= {f"beta-vae/{name}/{size}": float(beta), f"factor-vae/{name}/{size}": float(ours)}
    mixed = [f"{name}/{size}" for name in ("ring", "three") for size in (4, 6)]
    halves = [_halves(context.seed, score) for score in (metrics.beta_vae_score, metrics.factor_vae_score)]
    return found | {
        "a-mixture-scores-100-percent-by-the-old-score": all(found[f"beta-vae/{name}"] > 0.999 for name in mixed),
        "and-less-by-the-new-one": all(found[f"factor-vae/{name}"] < 0.9 for name in mixed),
        "factors-score-1-by-both": all(
            found[f"{score}/factors/{size}"] > 0.999 for score in ("beta-vae", "factor-vae") for size in (2, 4, 6)
        ),
        "every-mixture-does": min(halves[0], found["beta-vae/ring/2"], found["beta-vae/rotation/6"]) > 0.999,
        "settings": len(mixed),
        "beta-vae/halves/2": halves[0],
        "factor-vae/halves/2": halves[1],
    }


def pruning(context: Context) -> dict[str, bool | float]:
    """FactorVAE's score of codes to which collapsed latents are added, by the library and by votes counted here.

    Collapsed latents are constant, or next to it: noise of 10⁻⁶ or 10⁻², or a trace of a factor. The votes are also
    counted without pruning, where a constant latent, whose normalised variance is 0/0, is taken for the least varying.
    """
    data = XYSquares(2, 2, squares=2, image_size=16)
    factors = data.space.factors(torch.arange(len(data))).double()
    code = factors[:, :3] + 0.05 * factors[:, 3:]
    noise = torch.randn(len(data), 4, generator=context.generator, dtype=torch.float64)
    added = {"none": noise[:, :0], "constant": 0 * noise, "tiny": 1e-6 * noise, "small": 1e-2 * noise}
    added["trace"] = 1e-3 * factors[:, 3:] + 0 * noise[:, :1]
    found = {}
    for name, latents in added.items():
        full = torch.cat([code, latents], 1)
        score = metrics.factor_vae_score(
            Encodings.from_table(full, data), seed=context.seed, num_samples=VOTES, num_test=VOTES, batch_size=IMAGES
        )
        found[f"library/{name}"] = float(score)
        for rule in ("pruned", "all"):
            found[f"{rule}/{name}"] = _score(full.numpy(), factors.numpy(), context.seed, rule == "pruned")
    others = [name for name in added if name != "none"]
    return found | {
        "pruned-latents-change-nothing": all(found[f"pruned/{name}"] == found["pruned/none"] for name in others)
        and all(found[f"library/{name}"] == found["library/none"] for name in others),
        "without-pruning-some-do": any(abs(found[f"all/{name}"] - found["all/none"]) > 0.05 for name in others),
        "library-as-by-hand": abs(found["library/none"] - found["pruned/none"]) < 0.06,  # both of 1,000 random votes
        "settings": len(others),
    }


def majority(context: Context) -> dict[str, bool | float]:
    """The majority's classifier against every map from latents to factors, on tables of votes; ties are among them."""
    draws, gaps, num_maps = np.random.default_rng(context.seed), [], 0
    for latents, factors in ((1, 4), (2, 2), (3, 4), (5, 3), (6, 2)):
        for most in (2, 50):
            votes = draws.integers(most, size=(latents, factors))
            best = max(votes[range(latents), list(chosen)].sum() for chosen in product(range(factors), repeat=latents))
            gaps.append(votes.max(1).sum() - best)
            num_maps += factors**latents
    return {"no-map-does-better": max(map(abs, gaps)) == 0, "maps-tried": num_maps, "settings": len(gaps)}


def error_rate(context: Context) -> dict[str, bool | float]:
    """Accuracy and error rate of the votes of codes that are the factors, miss one of them, or are noise."""
    found = {}
    for squares in (1, 2):
        data = XYSquares(2, 2, squares=squares, image_size=16)
        factors = data.space.factors(torch.arange(len(data))).double().numpy()
        noise = torch.randn(factors.shape, generator=context.generator, dtype=torch.float64).numpy()
        for name, code in {"factors": factors, "one-missed": factors[:, 1:], "noise": noise}.items():
            accuracy = _score(code, factors, context.seed, True)
            found[f"accuracy/{name}/{2 * squares}"], found[f"error/{name}/{2 * squares}"] = accuracy, 1 - accuracy
    rising = {
        kind: all(
            found[f"{kind}/factors/{size}"] > found[f"{kind}/{other}/{size}"]
            for size in (2, 4)
            for other in ("one-missed", "noise")
        )
        for kind in ("accuracy", "error")
    }
    return found | {
        "better-codes-score-higher-by-error": rising["error"],
        "by-accuracy": rising["accuracy"],
        "settings": sum(name.startswith("accuracy/") for name in found),
    }


def _halves(seed: int, score) -> float:
    """A score of the sum and the difference of two factors: which of them was fixed cannot be told."""
    data = XYSquares(2, 2, squares=1, image_size=16)
    factors = data.space.factors(torch.arange(len(data))).double()
    code = factors @ torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64)
    return float(score(Encodings.from_table(code, data), seed=seed, num_samples=2000, num_test=1000, batch_size=IMAGES))


def _score(code: np.ndarray, factors: np.ndarray, seed: int, pruned: bool) -> float:
    """The share of votes that the majority's classifier gets right, on other votes, as the paper describes it."""
    draws, spread = np.random.default_rng(seed), code.std(0)
    kept = np.flatnonzero(spread >= 0.05) if pruned else np.arange(code.shape[1])
    votes = np.zeros((2, code.shape[1], factors.shape[1]))
    for half, _ in product(range(2), range(VOTES)):
        factor = draws.integers(factors.shape[1])
        rows = np.flatnonzero(factors[:, factor] == draws.integers(8))
        chosen = code[draws.choice(rows, IMAGES)][:, kept]
        with np.errstate(invalid="ignore"):
            ratio = np.nan_to_num(chosen.var(0) / spread[kept] ** 2)
        votes[half, kept[ratio.argmin()], factor] += 1
    return float(votes[1][range(len(votes[1])), votes[0].argmax(1)].sum() / VOTES)
