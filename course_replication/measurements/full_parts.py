"""Trainings at the paper's size as parts of plans: the thesis' settings, and in what ours depart from them.

Settings are those of Tables A.3 to A.7, but for the number of steps, which is one `SHARE`-th of the printed one. Where
the thesis searches a grid of β, a few of its values are trained.
"""

from collections.abc import Iterable
from dataclasses import replace

from course_replication.measurements import kernels
from course_replication.measurements.full_sweeps import LEFT
from course_replication.measurements.part_three import SAME_AS_TVAE
from course_replication.measurements.stored_kernels import load_kernel
from course_replication.parts import Part

# A GPU that takes 650 steps of a β-VAE in a second would be busy for more than a day with the printed numbers. With a
# fifth the trainings take some six hours, those of the most important claims two; to score them takes half of that.
SHARE = 5
PRINTED = {"3.3.3": 115_200, "3.3.4": 57_600, "3.4.1": 57_600, "4.3": 57_600, "5.3": 57_600, "5.4": 86_400}
PRINTED |= {"5.5": 86_400, "6.1": 57_600, "6.1 kernels": 28_800, "7.2": 57_600, "7.3": 57_600}
STEPS = {section: steps // SHARE for section, steps in PRINTED.items()}
SEEDS = 5
# What DCI rests on: 100 points for each value of the factor with the most, which is the least that it asks for; 8 of
# XYSquares, 40 of dSprites and whatever is compared with it, 25 of XYObject.
POINTS, POINTS_OF_ALL, POINTS_OF_OBJECTS = 1000, 4000, 2500
PAIRS = 10_000  # along each factor, of images whose distances are compared
BETAS = {"mse": 0.0001, "mse-box": 0.0316, "learnt": 0.0316}  # with which each loss reconstructs, by Table A.6's note
GRIDS = {"XYSquares": [0.0001, 0.000316, 0.001], "DSprites": [0.0001, 0.001, 0.01], "Shapes3D": [0.0001, 0.001, 0.01]}
COMMON = {"batch_size": 256, "learning_rate": 0.001, "latents": 25, "reduction": "mean", "reconstruction": "mse"}
TRIPLETS = {"beta": 0.01, "margin": 10, "scale": 1, "norm": 1, "triplet": "hard", "sampler": "scaled_l1"}
KERNEL = {"learning_rate": 0.001, "batch_size": 512, "pairs": 4096, "symmetry": 1.0}
METHODS = {"beta-vae": "BetaVAE", "ada-gvae": "AdaGVAE"}

PRECISION = "networks in bfloat16 where the device multiplies in it"
FEWER_STEPS = f"1/{SHARE} of the printed training steps"
DRAWN_AGAIN = "3D Shapes is drawn again from its recovered geometry"
SHIPPED = "crops of the photographs that scikit-learn ships, in place of Tiny ImageNet"
ONE_KERNEL = "the learnt kernel is the one that the course stores, of {steps:,} steps of {batch_size} images"
COMPARED_KERNELS = "of Table A.6's radii and learning rates those that are compared; the weight of the symmetry is ours"
NINE_LATENTS = "9 latents only, in place of 9 and 25"
ONE_RATE = "a learning rate of 0.001 only"
ONE_BETA = "one β, 0.001, in place of two"
BETA_OF_LOSS = "one β for each loss, 0.0001 for MSE and 0.0316 for the others, with which it reconstructs (Table A.6)"
BEST = f"the best β is the largest with which a VAE leaves less than {LEFT:g} of the pixels' variance"
AS_PRINTED = f"β-VAE and Ada-GVAE as for Figure 4.4, whose printed steps are {PRINTED['4.3']:,}"
LAST = "the reconstruction after the training in place of the smallest on the way"
ONLY_SQUARES = "on XYSquares alone"
DEFAULTS = "the defaults of Table A.5 in place of its grid"
TRIPLETS_OF_BATCH = "512 triplets of a batch in place of 512 and 1,024"
OUR_CHOICE = f"β and {STEPS['4.3']:,} steps are our choice, as none are printed"
RANDOM_PAIRS = f"{kernels.PAIRS:,} random pairs in place of 200,000"


def data_of(name: str) -> dict:
    return {"data": name} | ({"spacing": 8} if name == "XYSquares" else {})


def unsupervised(framework: str = "BetaVAE", loss: str = "mse", section: str = "3.4.1", **changes) -> dict:
    """Settings of a β-VAE, or of an Ada-GVAE on as many pairs; of XYSquares unless told otherwise."""
    own = {"framework": framework, "steps": STEPS[section], "beta": BETAS[loss], "reconstruction": loss, "dci": 0}
    kernel = {"radius": 31, "kernel": load_kernel(31)[1]["id"]} if loss == "learnt" else {}
    return COMMON | data_of(changes.pop("data", "XYSquares")) | own | kernel | changes


def tvae(section: str = "5.3", data: str = "XYSquares", **changes) -> dict:
    own = {"framework": "TripletVAE", "steps": STEPS[section], "decoder_gradient": True, "dci": 0}
    return COMMON | data_of(data) | TRIPLETS | own | changes


def ada_tvae(schedule: str = "weight_weak", data: str = "XYSquares", **changes) -> dict:
    own = {"framework": "AdaTripletVAE", "schedule": schedule, "differences": "absolute"}
    return tvae("5.4", data) | own | changes


def points_of_dci(points: int) -> str:
    return f"DCI from {points:,} points in place of 10,000"


def part(measurement: str, settings: dict, name: str, *deviations: str) -> Part:
    own = [note for each in trainings_of(settings) for note in _notes(each)]
    return Part(measurement, settings, name, SEEDS, "full", "auto", (*dict.fromkeys([*own, *deviations]),))


def trainings_of(settings: dict) -> list[dict]:
    """The settings of each training that a part consists of."""
    return settings.get("trainings") or [settings[key] for key in ("first", "second") if key in settings] or [settings]


def _notes(settings: dict) -> list[str]:
    """In what one training departs from the thesis, whatever it is for."""
    notes = {"Shapes3D": DRAWN_AGAIN, "DSpritesImageNet": SHIPPED}
    own = [notes[settings["data"]]] if settings.get("data") in notes else []
    own += [PRECISION] if "framework" in settings or "frameworks" in settings else []
    own += [points_of_dci(settings["dci"])] if settings.get("dci") else []
    own += [ONE_KERNEL.format(**load_kernel(31)[1]["settings"])] if settings.get("reconstruction") == "learnt" else []
    own += [DEFAULTS] if settings.get("framework", "").endswith("TripletVAE") else []
    return own + ([TRIPLETS_OF_BATCH] if settings.get("sampler") == "perceived" else [])


def noted(parts: Iterable[Part], *notes: str) -> tuple[Part, ...]:
    """The same runs for a claim from which they depart in more."""
    return tuple(replace(part, deviations=(*part.deviations, *notes)) for part in parts)


def without(*data: str) -> str:
    return f"without {', '.join(data)}"


def training(settings: dict, name: str, *deviations: str) -> Part:
    return part("full_size.training", settings, name, *deviations)


def combined(function: str, settings: dict, name: str, *deviations: str) -> Part:
    return part(f"combined.{function}", settings, name, FEWER_STEPS, *deviations)


def untrained(name: str, **options) -> Part:
    """The distances of the images alone, on the CPU."""
    settings = {"pairs": PAIRS, "loss": "mse"} | options
    return Part("full_sweeps.perceived", settings, name, SEEDS, "full")


def swept(data: str, name: str = "{}") -> Part:
    """β-VAE and Ada-GVAE as for Figure 4.4, with a few β."""
    settings = COMMON | data_of(data) | {"steps": STEPS["4.3"], "dci": 0}
    return _sweep(settings, GRIDS[data], name, f"β of {_listed(GRIDS[data])} in place of 9 values", ONE_RATE)


def best(data: str) -> Part:
    """β-VAE and Ada-GVAE as for Figure 3.7, with a few β."""
    betas = [0.000316, 0.00316, 0.0316]  # from the least of the grid, which XYSquares needs
    settings = COMMON | data_of(data) | {"steps": STEPS["3.3.3"], "latents": 9, "dci": POINTS_OF_ALL}
    return _sweep(settings, betas, "{}", f"β of {_listed(betas)} in place of 8 values", NINE_LATENTS)


def _sweep(settings: dict, betas: list[float], name: str, *deviations: str) -> Part:
    settings = {"frameworks": [*METHODS.values()], "betas": betas} | settings
    return part("full_sweeps.sweep", settings, name, *deviations)


def _listed(betas: list[float]) -> str:
    return ", ".join(f"{beta:g}" for beta in betas)


def of_losses(*losses: str, **changes) -> tuple[Part, ...]:
    return tuple(
        training(unsupervised(kind, loss, dci=POINTS, **changes), f"{{}}/{name}/{loss}")
        for loss in losses
        for name, kind in METHODS.items()
    )


def of_spacings() -> tuple[Part, ...]:
    parts = []
    for name, kind in METHODS.items():
        every = [spaced(kind, spacing) for spacing in range(8, 0, -1)]
        parts += [training(each, f"{{}}/{name}/spacing-{each['spacing']}") for each in (every[0], every[-1])]
        parts.append(combined("slopes", {"trainings": every}, f"{{}}/{name}"))
    return noted(parts, ONE_BETA)


def spaced(kind: str, spacing: int) -> dict:
    return unsupervised(kind, section="3.3.4", beta=0.001, latents=9, spacing=spacing, dci=POINTS)


def of_schedules(*names: str) -> tuple[Part, ...]:
    return tuple(
        training(tvae("5.4"), "{}/threshold", SAME_AS_TVAE, ONLY_SQUARES)
        if name == "threshold"
        else training(ada_tvae(name), f"{{}}/{name}", ONLY_SQUARES)
        for name in names
    )


def of_objects() -> tuple[Part, ...]:
    """Figure 7.3: the mean over three β, for each method and either choice of factors."""
    betas, parts = [0.00316, 0.01, 0.0316], []
    for name, kind in METHODS.items():
        for place, data in (("shades", "XYObjectShades"), ("xyobject", "XYObject")):
            own = {"section": "7.2", "data": data, "latents": 9, "dci": POINTS_OF_OBJECTS}
            every = [unsupervised(kind, beta=beta, **own) for beta in betas]
            note = f"the mean over β of {_listed(betas)} in place of 4 values"
            parts.append(combined("means", {"trainings": every}, f"{{}}/{name}/{place}", note))
    return tuple(parts)


def of_photographs() -> tuple[Part, ...]:
    """Figure 7.6: without any photograph, foreground and background are the same images."""
    places = (("background", "background", 0), ("background", "background", 100))
    places += (("foreground", "background", 0), ("foreground", "foreground", 100))
    return tuple(
        training(
            unsupervised(
                kind, section="7.3", data="DSpritesImageNet", beta=0.01, latents=9, place=place, visibility=visibility
            ),
            f"{{}}/{name}/{said}-{visibility}",
            "β of 0.01 in place of three",
            "a visibility of 0 and 100 % only",
        )
        for name, kind in METHODS.items()
        for said, place, visibility in places
    )


def of_beta(loss: str) -> Part:
    settings = unsupervised(loss=loss if loss in BETAS else "mse", section="6.1")
    betas = [0.0316, 0.01, 0.00316, 0.001, 0.000316, 0.0001]
    settings = {"betas": betas} | settings | {"reconstruction": loss}
    del settings["beta"]
    return part("full_sweeps.largest_beta", settings, f"{{}}/{loss}", BEST, "β-VAEs only")


def kernel(name: str, *deviations: str, **changes) -> Part:
    settings = {"steps": STEPS["6.1 kernels"], "radius": 31} | KERNEL | changes
    return part("kernels.learnt", settings, name, RANDOM_PAIRS, COMPARED_KERNELS, *deviations)


def handmade(kind: str, radius: int, name: str) -> Part:
    settings = {"kernel": kind, "radius": radius}
    return Part("kernels.handmade", settings, name, SEEDS, "full", deviations=(RANDOM_PAIRS,))
