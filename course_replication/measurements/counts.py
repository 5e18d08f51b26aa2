"""Claims that are settled by counting: sizes of datasets and kernels, schedules, ties of triplets."""

from collections.abc import Sequence

import torch

from course_lib.data import DSprites, Shapes3D, XYSquares
from course_lib.data.files import fetch
from course_lib.data.photographs import TINY_IMAGENET, tiny_imagenet
from course_lib.frameworks import SCHEDULES
from course_lib.losses.reconstruction import overlap_kernel
from course_lib.sampling import factor_distance
from course_lib.schedules import scheduled
from course_replication.measurements.tables import SPACINGS
from course_replication.runs import Context


def squares(context: Context) -> dict:
    """XYSquares: its factors, and the side of a square as it is drawn."""
    data = XYSquares()
    values = set(data.space.sizes)
    lit = (data.images(torch.arange(len(data.space.names))) > 0).sum((2, 3)).unique()
    return {
        "factors": len(data.space.sizes),
        "values": values.pop() if len(values) == 1 else 0,
        "images": len(data),
        "square-size": lit.item() ** 0.5 if len(lit) == 1 else 0,
        "image-size": data.shape[-1],
    }


def spacings(context: Context) -> dict:
    found = {f"images/spacing-{spacing}": len(XYSquares(spacing)) for spacing in SPACINGS}
    return found | {"settings": len(found)}


def box_kernel(context: Context) -> dict:
    """The kernel of the box-blur loss at 64 pixels; its outer product with itself is √α times one that sums to 1."""
    kernel = overlap_kernel("mse-box", 64)
    return {"radius": len(kernel) // 2, "kernel-size": len(kernel), "weight": kernel.double().sum() ** 4}


def grids(context: Context) -> dict:
    """The number of images of dSprites and 3D Shapes, and of the values of each factor."""
    spaces = {"dsprites": DSprites.space, "shapes3d": Shapes3D.space}
    return {
        f"{data}/{name}": count
        for data, space in spaces.items()
        for name, count in {"images": len(space), **dict(zip(space.names, space.sizes, strict=True))}.items()
    }


def schedule_ends(context: Context) -> dict:
    """ω and η of each schedule of Table 5.2 at the first and after the last step."""
    steps, found = 1000, {}
    for name, settings in SCHEDULES.items():
        for part, schedule in (("weight", settings["shared_weight"]), ("strength", settings["strength"])):
            for end, index in (("start", 0), ("end", steps)):
                found[f"{name}/{part}/{end}"] = float(scheduled(schedule, torch.tensor(index), steps))
    return found


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
