"""What explorers must compute: cases from course_lib, stored for the tests of their scripts.

`tools/explorer_cases.py` writes tests/explore/cases.json; with `--check` it says whether the stored cases are still
what course_lib computes. A case is a function of `Explore`, its arguments and its result.
"""

import json
import sys

import numpy as np
import torch

import explorer_model_cases
import notebook_io
from course_lib import distances, metrics
from course_lib.data import XYSquares
from course_lib.frameworks import AdaTripletVAE, Step
from course_lib.losses import aggregate_log_densities, kl_to_standard_normal, shared_latents, triplet_loss
from course_lib.losses.blur import blur, box_kernel, gaussian_kernel
from course_lib.models import DiagonalGaussian, mlp_vae

CASES = notebook_io.ROOT / "tests" / "explore" / "cases.json"
PLACES, SIDE = 8, 64
TENT = [1 - knot / 8 for knot in range(9)]
GLEN = [0.2, 0.6, 1.0, 0.7, 0.1, 0.0, 0.3, 0.9, 0.4]


def shape_images(kind: str, size: int, spacing: int) -> torch.Tensor:
    """The 64 images of a shape, float64 (64, 64, 64), x before y; a square's are those of XYSquares."""
    if kind == "square":
        return XYSquares(spacing, size, squares=1).images(torch.arange(64))[:, 0].double() / 255
    mask = torch.ones(size, size, dtype=torch.float64)
    if kind == "comb":
        mask[:, 1::2] = 0
    else:
        mask[1:-1, 1:-1] = 0
    images, start = torch.zeros(64, SIDE, SIDE, dtype=torch.float64), (SIDE - size - 7 * spacing) // 2
    for image, (x, y) in zip(images, torch.cartesian_prod(*[torch.arange(PLACES)] * 2).tolist(), strict=True):
        image[start + spacing * y :, start + spacing * x :][:size, :size] = mask
    return images


def starting_price(images: torch.Tensor) -> float:
    """Twice the largest eigenvalue of the covariance of standardised images, as in chapter 15."""
    one = images[0].flatten()
    flat = images.flatten(1) / one.std()
    centred = flat - flat.mean(0)
    return 2 * torch.linalg.eigvalsh(centred @ centred.T)[-1].item() / len(flat)


def of_adversaries():
    for kind, size, spacing in [("square", 8, 8), ("square", 8, 5), ("square", 5, 1), ("square", 16, 6),
                                ("comb", 8, 5), ("comb", 8, 6), ("frame", 8, 7), ("comb", 11, 3)]:  # fmt: skip
        images = shape_images(kind, size, spacing)
        row = images.view(PLACES, PLACES, -1)[:, 3]
        yield "adversary.distances", [kind, size, spacing], torch.cdist(row, row).square().round().tolist()
        yield "adversary.startingPrice", [kind, size, spacing], starting_price(images)
    for size, spacing in ((8, 5), (8, 8)):  # and by the library's own route
        data = XYSquares(spacing, size, squares=1)
        perceive, draw = distances.perceived_distance(data), torch.Generator().manual_seed(0)
        matrix = distances.distance_matrix(perceive, data.space, "x_R", draw, n=8) * SIDE**2
        yield "adversary.distances", ["square", size, spacing], matrix.tolist()


def kernel_of(name: str, radius: int, heights=None) -> torch.Tensor:
    if name == "drawn":
        offsets = np.abs(np.arange(-radius, radius + 1)) / max(radius, 1)
        weights = torch.tensor(np.interp(offsets, np.linspace(0, 1, len(heights)), heights))
        return weights / weights.sum()
    return {"box": box_kernel, "gaussian": gaussian_kernel}[name](radius).double()


def row_distances(kernel: torch.Tensor) -> torch.Tensor:
    """Squared error and blurred error of the places in a row, summed over pixels: (8 rows, 8, 8)."""
    images = shape_images("square", 8, 8).view(PLACES, PLACES, SIDE, SIDE).transpose(0, 1)  # [y, x]
    seen = torch.cat([images.flatten(2), len(kernel) * blur(images, kernel).flatten(2)], 2)
    return (seen.unsqueeze(2) - seen.unsqueeze(1)).square().sum(3).double()


def follow(found: torch.Tensor) -> dict[str, float]:
    step = (torch.arange(8).unsqueeze(1) - torch.arange(8)).abs().expand(8, 8, 8)
    linear, rank = distances.correlations(step[step > 0].double(), found[step > 0].round(decimals=4))
    return {"linear": linear, "rank": rank}


def of_kernels():
    for name, *arguments in [("box", 0), ("box", 4), ("box", 31), ("box", 63), ("gaussian", 0), ("gaussian", 31),
                             ("gaussian", 63), ("drawn", 63, TENT), ("drawn", 31, GLEN), ("drawn", 31, [0] * 8 + [1]),
                             ("drawn", 31, [1] + [0] * 8)]:  # fmt: skip
        kernel = kernel_of(name, *arguments)
        yield f"kernel.{name}", arguments, kernel.tolist()
        found = row_distances(kernel)
        yield "kernel.distances", [{"call": f"kernel.{name}", "with": arguments}], found[[0, 3]].tolist()
        given = {"call": "kernel.distances", "with": [{"call": f"kernel.{name}", "with": arguments}]}
        yield "kernel.follow", [given], follow(found)


def of_clouds():
    draw = torch.Generator().manual_seed(0)
    means = torch.randn(200, 2, generator=draw, dtype=torch.float64) @ torch.tensor([[1.0, 0.7], [0.0, 0.6]]).double()
    yield "cloud.gaussianScore", [means.tolist()], float(metrics.gaussian_total_correlation.from_samples(means))
    means = means[:24]
    posterior = DiagonalGaussian(means, torch.full_like(means, 0.3).log() * 2)
    latents = posterior.rsample(draw)
    for estimator in ("mws", "mss", "batch"):
        size = 24 if estimator == "batch" else 400
        joint, marginals = aggregate_log_densities(latents, posterior, estimator, size)
        expected = (joint - marginals.sum(1)).mean().item()
        yield "cloud.estimate", [latents.tolist(), means.tolist(), 0.3, estimator, size], expected
    for ratio, degrees in ((1, 45), (3, 30), (4, 80)):
        turn = torch.tensor([[np.cos(np.radians(degrees)), -np.sin(np.radians(degrees))],
                             [np.sin(np.radians(degrees)), np.cos(np.radians(degrees))]])  # fmt: skip
        sigma = turn @ torch.diag(torch.tensor([ratio, 1 / ratio]).double()) @ turn.T
        yield "cloud.exact", ["gaussian", ratio, degrees], 0.5 * (sigma.diagonal().log().sum() - sigma.logdet()).item()
        yield "cloud.exact", ["box", ratio, degrees], box_correlation(ratio, degrees)


def box_correlation(ratio: float, degrees: float) -> float:
    """The total correlation of a turned box: its entropy, and those of its two marginals, integrated numerically."""
    cos, sin = abs(np.cos(np.radians(degrees))), abs(np.sin(np.radians(degrees)))
    entropies = []
    for wide, narrow in ((ratio * cos, sin), (ratio * sin, cos)):
        line = np.linspace(-(wide + narrow) / 2, (wide + narrow) / 2, 400_001)[1:-1]
        low, high = np.maximum(line - narrow / 2, -wide / 2), np.minimum(line + narrow / 2, wide / 2)
        density = np.maximum(high - low, 1e-300) / (wide * narrow)  # the overlap of two windows
        entropies.append(-np.trapezoid(density * np.log(density), line))
    return float(sum(entropies) - np.log(ratio))


class Means:
    """A code as a posterior whose variance nobody asks for."""

    def __init__(self, mean):
        self.mean = mean


def of_triplets():
    data = XYSquares(2, 2, squares=2, image_size=16)
    draw = torch.Generator().manual_seed(0)
    for number in range(8):
        norm, resting = 1 + number % 2, 5 * (number % 4 < 2)
        margin, weight = (0.5, 3.0)[number // 4], (0.5, 0.0, 0.25, 1.0)[number % 4]
        strength = (0.5, 0.8, 0.0, 1.0)[number // 2]
        codes = torch.randn(3, 2, generator=draw, dtype=torch.float64).requires_grad_()
        full = torch.cat([codes, torch.zeros(3, resting)], 1).unsqueeze(1)  # (3, 1, D)
        model = mlp_vae(data, full.shape[2])
        framework = AdaTripletVAE(model, shared_weight=weight, strength=strength, margin=margin, norm=norm)
        step = Step(torch.tensor(0), 1, draw)
        far = framework.negative_distance(Means(full[0]), Means(full[2]), step)
        near = torch.linalg.vector_norm(full[0] - full[1], norm, dim=1)
        loss = triplet_loss(near, far, margin)
        (gradients,) = torch.autograd.grad(loss.sum(), codes)
        anchor, positive, negative = codes.tolist()
        given = dict(anchor=anchor, positive=positive, negative=negative, margin=margin, weight=weight)
        given |= dict(strength=strength, norm=norm, resting=resting)
        differences = (full[0] - full[2]).abs().detach()
        low, high = differences.aminmax()
        yield "triplet.adaptive", [given], {
            "threshold": low.lerp(high, strength).item(), "mask": shared_latents(differences, strength)[0, :2].tolist(),
            "toPositive": near.item(), "toNegative": far.item(), "loss": loss.item(),
            "gradients": dict(zip(("anchor", "positive", "negative"), gradients.tolist(), strict=True)),
        }  # fmt: skip


def of_correlations():
    draw = torch.Generator().manual_seed(0)
    tied, other = torch.randint(5, (40,), generator=draw).double(), torch.randn(40, generator=draw).double()
    for first, second in ((tied, other), (tied, tied.square()), (other, torch.ones(40).double())):
        linear, rank = distances.correlations(first, second)
        yield "maths.linear", [first.tolist(), second.tolist()], linear
        yield "maths.rank", [first.tolist(), second.tolist()], rank


def judged(means: list[float], stds: list[float], spacing: int, beta: float) -> dict[str, float]:
    """What the explorer of chapter 02 says of four posteriors: the best decoder is the mixture of whole pictures."""
    images = XYSquares(1, 4, squares=1, image_size=16).images(torch.arange(0, 32, 8))[:, 0].flip(2).double() / 255
    images = torch.stack([image.roll(-spacing * n + n, 1) for n, image in enumerate(images)]).flatten(1)
    q = torch.distributions.Normal(torch.tensor(means).double(), torch.tensor(stds).double())
    z = torch.linspace(-20, 20, 40_001, dtype=torch.float64).unsqueeze(1)
    density = q.log_prob(z).exp()
    share = density / density.sum(1, keepdim=True).clamp(min=1e-300)
    drawn = (share @ images).clamp(0, 1)
    losses = -torch.xlogy(drawn, drawn).sum(1) - torch.xlogy(1 - drawn, 1 - drawn).sum(1)
    reconstruction = (losses * density.sum(1)).sum().item() * 0.001 / 4
    prices = kl_to_standard_normal(DiagonalGaussian(q.mean, 2 * q.stddev.log()))
    kl = prices.mean().item()
    return {"prices": prices.tolist(), "kl": kl, "reconstruction": reconstruction, "elbo": -reconstruction - kl,
            "loss": reconstruction + beta * kl}  # fmt: skip


def of_posteriors():
    draw = torch.Generator().manual_seed(0)
    for spacing, beta in ((1, 1.0), (4, 1.0), (1, 10.0), (1, 0.0)):
        means, stds = torch.randn(4, generator=draw).tolist(), (0.2 + torch.rand(4, generator=draw)).tolist()
        given = dict(means=means, stds=stds, spacing=spacing, beta=beta)
        yield "posteriors.judge", [given], judged(**given)


def cases() -> list[dict]:
    every = (
        explorer_model_cases.of_rotations,
        explorer_model_cases.of_capacities,
        of_correlations,
        of_posteriors,
        explorer_model_cases.of_networks,
        explorer_model_cases.of_trainings,
        explorer_model_cases.of_dials,
        of_adversaries,
        of_kernels,
        of_clouds,
        of_triplets,
    )
    return [{"call": call, "with": given, "gives": gives} for part in every for call, given, gives in part()]


def differences(stored, fresh, where="cases") -> list[str]:
    """Where two values of a case differ: numbers by more than a millionth of the larger, or of 1."""
    if isinstance(fresh, dict) and isinstance(stored, dict) and stored.keys() == fresh.keys():
        return [fault for key in fresh for fault in differences(stored[key], fresh[key], f"{where}.{key}")]
    if isinstance(fresh, list) and isinstance(stored, list) and len(stored) == len(fresh):
        pairs = enumerate(zip(stored, fresh, strict=True))
        return [fault for place, pair in pairs for fault in differences(*pair, f"{where}[{place}]")]
    if isinstance(fresh, float) and isinstance(stored, int | float):
        same = abs(stored - fresh) <= 1e-6 * max(1, abs(fresh), abs(stored))
        return [] if same else [f"{where}: stored is {stored}, course_lib has {fresh}"]
    return [] if stored == fresh else [f"{where}: stored is {str(stored)[:60]}, course_lib has {str(fresh)[:60]}"]


def main(arguments: list[str]) -> int:
    fresh = json.loads(json.dumps(cases()))
    if arguments == ["--check"]:
        faults = differences(json.loads(CASES.read_text(encoding="utf-8")), fresh)
        print("\n".join(faults) or "The stored cases are course_lib's.")
        return int(bool(faults))
    lines = ",\n".join(json.dumps(case) for case in fresh)
    CASES.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
