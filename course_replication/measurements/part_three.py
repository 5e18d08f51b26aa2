"""Which small trainings answer which claims of the thesis: chapters 14 to 19 at the scale "quick".

β of the β-VAE and the Ada-GVAE is, for each loss, the largest of 10⁻³, 10⁻²·⁵, …, 10⁻⁰·⁵ with which a β-VAE, of a seed
that no run has, reconstructs: it leaves less than half of the pixels' variance. So the reconstruction decides, as in
the note of Table A.6, and no score does. Triplets have the thesis' own settings.
"""

from course_replication.parts import Part

SEEDS = 5
STEPS = {"unsupervised": 2000, "triplets": 1500}
POINTS = 800  # that DCI rests on
BETAS = {"mse": 0.01, "mse-box": 0.1, "learnt": 0.1}
COMMON = {"learning_rate": 0.001, "latents": 7, "spacing": 2, "reduction": "mean", "dci": 0}
TRIPLETS = COMMON | {
    "steps": STEPS["triplets"], "batch_size": 128, "beta": 0.01, "reconstruction": "mse", "margin": 10, "scale": 1,
    "norm": 1, "triplet": "hard", "sampler": "scaled_l1", "decoder_gradient": True,
}  # fmt: skip
PERCEIVED = {"sampler": "perceived", "batch_size": 256, "num_triplets": 512}

GRID = "XYSquares of 16×16 pixels with two squares of 2 in place of 64×64 with three of 8"
NETWORK = "a fully connected network of two hidden layers of 256 in place of the convolutional one of Table A.1"
BOX = "a box blur of radius 7 and weight 225, for 16 pixels, in place of 31 and 3969 for 64"
KERNEL = "a kernel of radius 7, trained for 1,000 steps on the small grid, in place of 31 and 28,800"
CHOSEN = "β for each loss as the reconstruction allows, and the same for both methods, in place of a grid"
ONE_BETA = "the largest β with which the images are reconstructed, in place of a grid"
POINTS_OF_DCI = "DCI from 800 points in place of 10,000"
SAME_AS_TVAE = "with ω = 1 throughout, the schedule 'threshold' is the β-TVAE (Eq. 5.19), whose training is taken"
SPACINGS = (
    "squares of 2 at spacings of 2 and 1 in place of squares of 8 at 8 to 1: at 1, neighbours share half a side, as "
    "squares of 8 do at 4"
)
NOT_DSPRITES = "XYSquares with the box blur in place of dSprites"


def unsupervised(framework: str = "BetaVAE", loss: str = "mse", **changes) -> dict:
    """Settings of a β-VAE, or of an Ada-GVAE on half as many pairs."""
    batch_size = {"BetaVAE": 256, "AdaGVAE": 128}[framework]
    kernel = {"kernel_steps": 1000} if loss == "learnt" else {}
    own = {"framework": framework, "batch_size": batch_size, "beta": BETAS[loss], "reconstruction": loss}
    return COMMON | {"steps": STEPS["unsupervised"], "dci": POINTS} | own | kernel | changes


def tvae(**changes) -> dict:
    return TRIPLETS | {"framework": "TripletVAE"} | changes


def ada_tvae(schedule: str = "weight_weak", **changes) -> dict:
    return TRIPLETS | {"framework": "AdaTripletVAE", "differences": "absolute", "schedule": schedule} | changes


def part(settings: dict, name: str, *deviations: str) -> Part:
    """One training, and what is smaller about it."""
    notes = {"mse-box": BOX, "learnt": KERNEL}
    own = [notes[settings["reconstruction"]]] if settings["reconstruction"] in notes else []
    own += [CHOSEN] if settings["framework"] in ("BetaVAE", "AdaGVAE") else []
    own += [POINTS_OF_DCI] if settings["dci"] else []
    notes = (GRID, NETWORK, *own, *deviations)
    return Part("small_grid.training", settings, name, SEEDS, "quick", deviations=notes)


def combined(function: str, settings: dict, name: str, *deviations: str) -> Part:
    return Part(f"combined.{function}", settings, name, SEEDS, "quick", deviations=(GRID, NETWORK, *deviations))


METHODS = {"beta-vae": "BetaVAE", "ada-gvae": "AdaGVAE"}
WEAK, STRONG = ("weight_weak", "both_weak"), ("weight_strong", "both_strong")


def of_losses(losses: tuple[str, ...]) -> tuple[Part, ...]:
    return tuple(
        part(unsupervised(kind, loss), f"{{}}/{name}/{loss}") for loss in losses for name, kind in METHODS.items()
    )


def of_schedules(*names: str) -> tuple[Part, ...]:
    return tuple(
        part(tvae(), "{}/threshold", SAME_AS_TVAE) if name == "threshold" else part(ada_tvae(name), f"{{}}/{name}")
        for name in names
    )


def of_spacings() -> tuple[Part, ...]:
    """The small grid's spacings of 2 and 1 under the names of the ends of the paper's sweep."""
    parts = []
    for name, kind in METHODS.items():
        sweep = [unsupervised(kind, spacing=spacing) for spacing in (2, 1)]
        for settings, place in zip(sweep, (8, 1), strict=True):
            parts.append(part(settings, f"{{}}/{name}/spacing-{place}", SPACINGS))
        parts.append(combined("slopes", {"trainings": sweep}, f"{{}}/{name}", SPACINGS, CHOSEN))
    return tuple(parts)


_BASES = tuple(part(unsupervised(kind), f"{{}}/xysquares/{name}") for name, kind in METHODS.items())
_BOTH = {"first": unsupervised("BetaVAE"), "second": unsupervised("AdaGVAE")}
_TVAE, _ADA = part(tvae(), "{}/xysquares/tvae"), part(ada_tvae(), "{}/xysquares/ada-tvae")
_MARGINS = {"first": tvae(triplet="soft"), "second": tvae()}
_DETACHED = {kind: tvae(triplet=kind, decoder_gradient=False) for kind in ("soft", "hard")}
_SCHEDULES = {"trainings": [tvae(), *map(ada_tvae, (*WEAK, *STRONG))]}

PLANS = {
    "distances/figure-3.10": of_spacings(),
    "distances/figure-3.11": tuple(part(unsupervised(loss=loss), f"{{}}/{loss}") for loss in ("mse", "mse-box")),
    "distances/section-3.4.1-subset": (part(unsupervised(), "{}/mse"),),
    "distances/figure-3.12": of_losses(("mse", "mse-box")),
    "distances/section-4.1.3": tuple(
        part(unsupervised(loss="mse-box", latents=latents, dci=0), f"{{}}/latents-{latents}", NOT_DSPRITES)
        for latents in (9, 25)
    ),
    "distances/figure-4.4-frameworks-xysquares": (combined("gaps", _BOTH, "{}/xysquares", CHOSEN),),
    "distances/figure-4.4-alignment-xysquares": _BASES,
    "distances/figure-4.4-missing": tuple(
        part(unsupervised(beta=beta, dci=0), f"{{}}/beta-{beta:g}") for beta in (0.001, 1.0)
    ),
    "distances/section-5.1.2": tuple(part(tvae(triplet=kind), f"{{}}/{kind}") for kind in ("soft", "hard")),
    "distances/section-5.2.4-effect": (
        part(ada_tvae(), "{}/exact"),
        part(ada_tvae(framework="FloatTripletVAE"), "{}/float"),
    ),
    "distances/figure-5.1-xysquares": (_TVAE, *_BASES),
    "distances/figure-5.1-norm": tuple(part(tvae(norm=norm), f"{{}}/l{norm}") for norm in (1, 2)),
    "distances/section-5.3.3-margins": (combined("gaps", _MARGINS, "{}/soft-hard"),),
    "distances/section-5.4": (_TVAE,),
    "distances/figure-5.2": (part(tvae(), "{}"),),
    "distances/figure-5.3-full": (combined("gaps", _MARGINS, "{}/with-gradient"),),
    "distances/figure-5.3-detached": tuple(
        part(settings, f"{{}}/detached/{kind}") for kind, settings in _DETACHED.items()
    ),
    "distances/section-5.4.1": (
        part(ada_tvae(), "{}/strength-0.5"),
        part(ada_tvae(strength=0.8), "{}/strength-0.8"),
    ),
    "distances/section-5.4.5": (
        part(ada_tvae(), "{}/weight_weak"),
        part(ada_tvae(shared_weight=0.5), "{}/constant"),
    ),
    "distances/figure-5.4-xysquares": (_ADA, _TVAE),
    "distances/figure-5.4-schedules": (
        *of_schedules(*WEAK, *STRONG),
        combined("ranges", _SCHEDULES, "{}", SAME_AS_TVAE),
    ),
    "distances/figure-5.5-differences": tuple(
        part(ada_tvae(differences=kind), f"{{}}/{kind}") for kind in ("absolute", "kl")
    ),
    "distances/figure-5.5-xysquares": (_ADA, *_BASES),
    "distances/figure-5.5-schedule": of_schedules("weight_weak", "both_weak", "threshold"),
    "distances/section-5.4.6-threshold": of_schedules("threshold", "weight_weak"),
    "distances/section-5.4.6-both": of_schedules("both_weak", "weight_weak"),
    "distances/figure-5.6": (part(ada_tvae(), "{}/ada-tvae"),),
    "distances/figure-5.7-xysquares": tuple(
        part(ada_tvae(reconstruction=loss, **PERCEIVED), f"{{}}/xysquares/{loss}") for loss in ("mse-box", "mse")
    ),
    "distances/figure-6.4": of_losses(("mse", "mse-box", "learnt")),
}
