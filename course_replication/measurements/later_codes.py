"""Claims of later papers about codes: independent components, few values, how easily one is read, whose axes it has."""

import warnings
from collections.abc import Callable, Mapping

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA, FastICA
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor
from torch.func import jacrev, vmap

from course_lib import metrics
from course_lib.data import XYObject
from course_lib.factors import FactorSpace
from course_lib.frameworks import QLAE
from course_lib.models import mlp_vae
from course_lib.theory import LinearGaussian
from course_lib.training import fit
from course_replication.measurements.in_memory import InMemory
from course_replication.measurements.later_supports import two_balls
from course_replication.measurements.prices import left_of
from course_replication.measurements.training import Scores, report
from course_replication.runs import Context

SIDE = 16  # pixels
TURNS = 20  # at random, whose mean stands for any axes


class AutoEncoder(QLAE):
    """A QLAE whose latents keep their values: an auto-encoder with the same loss, decay and networks."""

    def quantise(self, latents: Tensor) -> Tensor:
        return latents


class Blobs(InMemory):
    """Blobs of light, one for each row of `factors` (N, 3): across, down and width, from 0 to 1 or a little beyond."""

    def __init__(self, space: FactorSpace, factors: Tensor):
        self.space, places = space, torch.arange(SIDE) - (SIDE - 1) / 2
        width = (1.5 + 1.5 * factors[:, 2:]).clamp(min=0.5)
        across, down = (
            torch.exp(-((places - (8 * factors[:, k : k + 1] - 4)) ** 2) / (2 * width**2)) for k in range(2)
        )
        light = down.unsqueeze(2) * across.unsqueeze(1)
        super().__init__((255 * light).round().clamp(0, 255).to(torch.uint8).unsqueeze(1))


def components(context: Context, *, images: int, latents: int, hidden: list[int], **settings) -> Scores:
    """The components of an auto-encoder's code by PCA and by ICA, where factors are uniform and where they are normal.

    "match/…" is the mean correlation (absolute, Pearson) of factors and latents that are paired so that it is largest:
    of the code as it is ("raw"), its principal components, whitened ("pca"), the mean of these turned at random
    ("rotated"), and its independent ones ("ica"). "gain/uniform" and "gain/normal" are what ICA has beyond PCA.
    settings : of `fit`.
    """
    settings.pop("framework")
    found, untrained, settled = {}, {}, []
    for law, prefix in (("uniform", "match"), ("normal", "match-normal")):
        draw = context.generator
        size = (images, 3)
        factors = torch.rand(size, generator=draw)
        if law == "normal":
            factors = 0.5 + torch.randn(size, generator=draw) / 12**0.5  # the same mean and deviation
        data = Blobs(FactorSpace(["image"], [images]), factors)
        model = AutoEncoder(mlp_vae(data, latents, hidden=hidden, seed=context.seed), reconstruction="mse")
        for place in (untrained, found):
            if place is found:
                fit(model, data, seed=context.seed, device="cpu", log_every=settings["steps"], **settings)
            codes = model.encode(data.images(torch.arange(images))).numpy()
            matches, fine = matched(codes, factors.numpy(), context.seed)
            settled.append(fine)
            place |= {f"{prefix}/{axes}": value for axes, value in matches.items()}
            place |= {f"gain/{law}": matches["ica"] - matches["pca"], f"left/{law}": left_of(model, data, context.seed)}
    return report(found | {"converged": all(settled)}, untrained, {})


def matched(codes: np.ndarray, factors: np.ndarray, seed: int) -> tuple[Mapping[str, float], bool]:
    """How well a code (N, D) matches its factors (N, D), as it is and in other axes; and whether ICA has converged."""
    white = PCA(whiten=True).fit_transform(codes)
    turns = np.linalg.qr(np.random.default_rng(seed).normal(size=(TURNS, *(codes.shape[1],) * 2)))[0]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConvergenceWarning)
        ica = FastICA(whiten="unit-variance", random_state=seed, max_iter=500).fit_transform(codes)
    found = {name: matching(basis, factors) for name, basis in (("raw", codes), ("pca", white), ("ica", ica))}
    found["rotated"] = float(np.mean([matching(white @ turn, factors) for turn in turns]))
    converged = not any(issubclass(each.category, ConvergenceWarning) for each in said)
    return found, converged


def matching(codes: np.ndarray, factors: np.ndarray) -> float:
    """The mean absolute correlation of latents and factors, paired so that it is largest."""
    both = np.abs(np.corrcoef(codes.T, factors.T)[: codes.shape[1], codes.shape[1] :])
    return float(both[linear_sum_assignment(-both)].mean())


def quantised(
    context: Context, *, latents: int, hidden: list[int], values: int, weight_decay: float, **settings
) -> Scores:
    """InfoMEC of a QLAE and of the same auto-encoder without quantisation: "infom/quantised", "infom/continuous", …

    settings : of `fit`. Both networks begin with the same weights and see the same batches.
    """
    settings.pop("framework")
    data = XYObject(image_size=SIDE, positions=8, spacing=1, sizes=[3, 5, 7])
    found, untrained = {}, {}
    for name, kind in (("quantised", QLAE), ("continuous", AutoEncoder)):
        model = kind(mlp_vae(data, latents, hidden=hidden, seed=context.seed), values=values, weight_decay=weight_decay)
        for place in (untrained, found):
            if place is found:
                fit(model, data, seed=context.seed, device="cpu", log_every=settings["steps"], **settings)
            score = metrics.infomec(model.encode, data, seed=context.seed, num_samples=3000, num_test=1000)
            place |= {f"{part}/{name}": score.values[part] for part in ("infom", "infoc", "infoe")}
            place[f"left/{name}"] = left_of(model, data, context.seed)
    return report(found, untrained, {})


def readable(context: Context, *, values: int, points: int) -> Scores:
    """DCI and explicitness of a code that has its factors in order, in no order, or in axes that are turned.

    Three factors, each with so many values; to each code is added noise of a twentieth of a step.
    """
    draws = np.random.default_rng(context.seed)
    factors = draws.integers(values, size=(points, 3))
    order = np.stack([draws.permutation(values) for _ in range(3)])
    turn = np.linalg.qr(draws.normal(size=(3, 3)))[0]
    codes = {
        "ordered": factors,
        "shuffled": np.take_along_axis(order, factors.T, 1).T,
        "turned": (factors - (values - 1) / 2) @ turn,
    }
    found = {}
    for name, code in codes.items():
        code = code + 0.05 * draws.normal(size=code.shape)
        dci = metrics.dci.from_samples(code, factors, seed=context.seed)
        easy = metrics.dci_es.from_samples(code, factors, seed=context.seed)
        found |= {
            f"disentanglement/{name}": dci.values["disentanglement"],
            f"explicitness/{name}": easy.values["explicitness"],
        }
    return found


def turned(context: Context, *, amount: float, turns: float, points: int) -> dict[str, bool | float]:
    """Which axes the mean-field bound prefers near points of a scene, plain and with a faint pattern added.

    The scene is two balls, one brighter than the other, and its map is taken as linear near each of `points` places,
    the scene's corner among them. The pattern goes through so many `turns` while the mixture (y₁ + y₂)/√2 ("mixture"),
    or y₁ ("along"), goes from 0 to 1. "angle/…" is the largest angle, in degrees, by which the preferred axes miss the
    factors; "share" is the pattern's variance as a share of the plain scene's.
    """
    places = torch.cat([torch.tensor([[0.0, 0.0]]), torch.rand(points - 1, 2, generator=context.generator)])
    found, agree = {}, []
    for name, mixture in (("plain", None), ("mixture", (0.5**0.5, 0.5**0.5)), ("along", (1.0, 0.0))):
        scene = faintly(0.0 if mixture is None else amount, turns, mixture or (1.0, 0.0))
        angles = []
        for place in places:
            slopes = jacrev(scene)(place).double().numpy()  # (256, 2)
            angles.append(principal_angle(slopes))
            agree.append(abs(bound_angle(slopes) - angles[-1]) <= 1)
        found[f"angle/{name}"] = max(angles)
    everywhere = torch.cartesian_prod(*[torch.linspace(0, 1, 24)] * 2)
    plain, patterned = (vmap(faintly(size, turns, (0.5**0.5, 0.5**0.5)))(everywhere) for size in (0.0, amount))
    found["share"] = ((patterned - plain).square().mean() / (plain - plain.mean(0)).square().mean()).item()
    return found | {
        "plain-keeps-the-factors": found["angle/plain"] < 5,
        "a-mixture-turns-the-axes": found["angle/mixture"] > 30,
        "along-a-factor-it-does-not": found["angle/along"] < 5,
        "the-bound-prefers-principal-directions": all(agree),
        "settings": points,
    }


def faintly(amount: float, turns: float, mixture: tuple[float, float]) -> Callable[[Tensor], Tensor]:
    """The scene as a function from two factors (2,) to pixels (256,): two balls, and the pattern."""
    rows, columns = torch.arange(SIDE).view(-1, 1), torch.arange(SIDE)
    boards = ((rows + columns) % 2 * 2.0 - 1, (rows // 2 + columns) % 2 * 2.0 - 1)

    def scene(factors: Tensor) -> Tensor:
        phase = 2 * torch.pi * turns * (factors * torch.tensor(mixture)).sum()
        pattern = torch.cos(phase) * boards[0] + torch.sin(phase) * boards[1]
        return 0.7 * two_balls(factors.unsqueeze(0), (1.0, 0.6))[0] + amount * pattern.flatten()

    return scene


def principal_angle(slopes: np.ndarray) -> float:
    """By how many degrees the principal directions of derivatives (P, 2) miss the axes, from 0 to 45."""
    _, directions = np.linalg.eigh(slopes.T @ slopes)
    off = np.degrees(np.arctan2(*np.abs(directions[:, 1])))
    return float(min(off, 90 - off))


def bound_angle(slopes: np.ndarray) -> float:
    """By how many degrees the axes with the highest mean-field bound miss the factors, to half a degree."""
    model = LinearGaussian(0.1 * np.linalg.qr(slopes)[1], np.full(2, 0.01))  # of pixels only the products matter
    angles = np.arange(0, 90, 0.5)
    best = angles[np.argmax([model.rotate(angle).free_energy(model.covariance) for angle in angles])]
    return float(min(best, 90 - best))
