"""Claims that are settled by counting: values that images tell apart, schedules, ties of triplets, experiments."""

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor

from course_lib.data import DSprites, Shapes3D, XYSquares
from course_lib.data.files import fetch
from course_lib.data.photographs import TINY_IMAGENET, tiny_imagenet
from course_lib.frameworks import SCHEDULES, AdaTripletVAE, Step
from course_lib.models import DiagonalGaussian, mlp_vae
from course_lib.sampling import factor_distance
from course_replication.claims import claims_named
from course_replication.measurements.drawn_squares import distinct_values
from course_replication.runs import Context

ROUNDING = 1e-6  # of a schedule's weights, which are float32


def distinct_values_of(context: Context, num_traversals: int) -> dict[str, int]:
    """How many values of each factor of dSprites and of 3D Shapes images tell apart, and how many images that makes.

    The grids' sizes are ours, typed in after the papers: what is counted in the drawn images can only be less.
    """
    found = {}
    for name, data in (("dsprites", DSprites()), ("shapes3d", Shapes3D())):
        counted = {f: distinct_values(data, f, num_traversals, context.generator) for f in data.space.names}
        found |= {f"{name}/{factor}": count for factor, count in counted.items()}
        found[f"{name}/images"] = prod(counted.values())
    return found


def schedules(context: Context, num_pairs: int, num_latents: int) -> dict[str, bool | int]:
    """Whether the Ada-TVAE's loss weights latents by the schedules of Table 5.2, at five moments of a training.

    What each latent weighs is how strongly the distance to the negative depends on it: its derivative. Beside it stands
    Eq. 5.19, 1 or ω by η, from the numbers that the table prints.
    """
    anchor, negative = torch.randn(2, num_pairs, num_latents, generator=context.generator, dtype=torch.float64)
    apart, model, total = (anchor - negative).abs(), mlp_vae(XYSquares(2, 2, 2, 16), num_latents), 100
    found, plain = {}, {}
    for name, printed in _printed_schedules().items():
        framework, right, flat = AdaTripletVAE(model, **SCHEDULES[name]), [], []
        for index in range(0, total + 1, total // 4):
            weight, strength = (start + (end - start) * index / total for start, end in printed)
            threshold = apart.amin(1, keepdim=True) * (1 - strength) + apart.amax(1, keepdim=True) * strength
            expected = 1 + (weight - 1) * (apart < threshold)
            weighed = _weighed(framework, anchor, negative, Step(torch.tensor(index), total, context.generator))
            right.append(bool((weighed - expected).abs().max() < ROUNDING))
            flat.append(bool((weighed == 1).all()))
        found[f"{name}/as-printed"], plain[name] = all(right), all(flat)
    return found | {
        "threshold-alone-is-the-plain-triplet": plain.pop("threshold") and not any(plain.values()),
        "settings": len(found),
    }


def _printed_schedules() -> dict[str, list[tuple[float, float]]]:
    """Schedule → start and end of ω, and of η, as Table 5.2 prints them."""
    (claim,) = claims_named(["distances/table-5.2"])
    printed = {number.what: float(number.value) for number in claim.numbers}
    names = dict.fromkeys(what.split("/")[0] for what in printed)
    parts = ("weight", "strength")
    return {
        name: [(printed[f"{name}/{part}/start"], printed[f"{name}/{part}/end"]) for part in parts] for name in names
    }


def _weighed(framework: AdaTripletVAE, anchor: Tensor, negative: Tensor, step: Step) -> Tensor:
    """The absolute derivative of the distance in ℓ1 by each latent of the negatives: (pairs, latents)."""
    means = negative.clone().requires_grad_()
    ends = [DiagonalGaussian(mean, torch.zeros_like(mean)) for mean in (anchor, means)]
    (slope,) = torch.autograd.grad(framework.negative_distance(*ends, step).sum(), means)
    return slope.abs()


def misjudged_triplets(context: Context, num_triplets: int) -> dict:
    """The share in per cent of random triplets of XYSquares that sums of floating-point quotients order wrongly.

    Positions are divided by f − 1 and then subtracted. A triplet is in order unless the first point is farther from the
    anchor than the second. Wrong are those that only the sums take for out of order: ties, of which "ties-told-apart"
    are all that the sums see as unequal. The thesis does not say in which precision: "misjudged" is in double
    precision, "misjudged/single" in single. "differences-divided" are subtracted first.
    """
    space = XYSquares().space
    anchor, first, second = torch.randint(len(space), (3, num_triplets), generator=context.generator)
    near, far = (factor_distance(space, anchor, other, by="scaled_l1") for other in (first, second))
    start, *ends = (space.factors(index) for index in (anchor, first, second))
    found = {}
    for kind, dtype in (("", torch.float64), ("/single", torch.float32)):
        divided = [(start.to(dtype) / 7 - end.to(dtype) / 7).abs() for end in ends]
        differences = [(start - end).abs().to(dtype) / 7 for end in ends]
        for name, gaps in (("", divided), ("/differences-divided", differences)):
            sums = [sum(gap.unbind(1)) for gap in gaps]  # one after the other, for rounding depends on the order
            found[f"misjudged{kind}{name}"] = _per_cent((sums[0] > sums[1]) & (near <= far))
            found[f"ties-told-apart{kind}{name}"] = _per_cent((sums[0] != sums[1]) & (near == far))
    return found


def _per_cent(which: torch.Tensor) -> float:
    return 100 * which.sum().item() / len(which)


def experiments(
    context: Context, each: int, total: int, betas: Sequence[float], gammas: Sequence[float]
) -> dict[str, bool | int]:
    """Whether so many runs of `each` setting can be `total` experiments, by what Table 1 of ISA-VAE's paper lists.

    Three readings: β-VAE, β-TCVAE and ISA-VAE at every β and FactorVAE at every γ; without FactorVAE; and then with the
    β-TCVAE at a β of 1, which is the VAE, counted once. "experiments/…" are how many each makes, "grid/…" of how many
    settings. Further datasets and methods only add to them.
    """
    grid = 3 * len(betas)
    readings = {"table-1": grid + len(gammas), "without-factor-vae": grid, "one-vae": grid - (1 in betas)}
    made = {name: each * settings for name, settings in readings.items()}
    return {f"experiments/{name}": count for name, count in made.items()} | {
        **{f"grid/{name}": count for name, count in readings.items()},
        "left-over": total % each,
        "fifty-of-each-setting-make-the-total": total % each == 0 and total in made.values(),
        "settings-fit-into-the-total": min(made.values()) <= total,
        "settings": len(readings),
    }


def photographs(context: Context) -> dict:
    """How many photographs of Tiny ImageNet there are, and their side in pixels. It needs the archive."""
    images = tiny_imagenet(fetch(TINY_IMAGENET))
    return {"photographs": len(images), "photograph-size": images.shape[1]}
