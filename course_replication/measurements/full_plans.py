"""Which trainings at the paper's size answer which claims of the thesis: Chapters 3 to 7 at the scale "full".

Where the thesis compares the best of a grid of β, it is the largest value over ours; where it draws the averages of
β-VAE and Ada-GVAE beside other methods, as in Figures 5.1 and 5.5, it is the mean.
"""

from course_replication.measurements.full_parts import (
    AS_PRINTED,
    BEST,
    BETA_OF_LOSS,
    LAST,
    ONE_BETA,
    ONE_RATE,
    ONLY_SQUARES,
    OUR_CHOICE,
    POINTS,
    ada_tvae,
    best,
    combined,
    handmade,
    kernel,
    noted,
    of_beta,
    of_losses,
    of_objects,
    of_photographs,
    of_schedules,
    of_spacings,
    spaced,
    swept,
    training,
    tvae,
    unsupervised,
    untrained,
    without,
)
from course_replication.measurements.part_three import SAME_AS_TVAE, STRONG, WEAK

_TVAE, _ADA = training(tvae(), "{}/xysquares/tvae"), training(ada_tvae(), "{}/xysquares/ada-tvae")
_LONG_TVAE = training(tvae("5.4"), "{}/xysquares/tvae", SAME_AS_TVAE)
_ADA_SPRITES = training(ada_tvae(data="DSprites"), "{}/dsprites/ada-tvae")
_SOFT_AND_HARD = {"first": tvae(triplet="soft"), "second": tvae()}
_SCHEDULES = {"trainings": [tvae("5.4"), *map(ada_tvae, (*WEAK, *STRONG))]}
_UNSUPERVISED = {"sampler": "perceived", "num_triplets": 512}
_RENDERED = ("DSprites", "Shapes3D")
_USUAL = without("Cars3D", "SmallNORB")  # of which the files are needed
_NO_SHAPES, _NO_SQUARES = without("Cars3D", "SmallNORB", "Shapes3D"), without("Cars3D", "SmallNORB", "XYSquares")
_BEST = tuple(map(best, (*_RENDERED, "XYSquares")))

PLANS = {
    "distances/section-2.3.1": tuple(
        training(unsupervised(section="4.3", data="DSprites", beta=beta), f"{{}}/beta-{name}", OUR_CHOICE)
        for name, beta in (("high", 0.1), ("low", 0.001))
    ),
    "distances/figure-3.7": noted(_BEST, _USUAL),
    "distances/section-3.3.3-beta": noted(_BEST, BEST),
    "distances/section-4.2-scores": _BEST,
    "distances/figure-3.10": of_spacings(),
    "distances/section-3.3.4": (
        *(untrained(f"{{}}/spacing-{spacing}", data="XYSquares", spacing=spacing) for spacing in (7, 8)),
        *(training(spaced("AdaGVAE", spacing), f"{{}}/ada-gvae/spacing-{spacing}", ONE_BETA, "three of 8 spacings")
            for spacing in (1, 7)),
    ),
    "distances/figure-3.11": tuple(
        training(unsupervised(loss=loss, dci=POINTS), f"{{}}/{loss}", BETA_OF_LOSS) for loss in ("mse", "mse-box")
    ),
    "distances/section-3.4.1-subset": (training(unsupervised(dci=POINTS), "{}/mse", BETA_OF_LOSS),),
    "distances/figure-3.12": noted(of_losses("mse", "mse-box"), BETA_OF_LOSS),
    "distances/section-4.1.3": tuple(
        training(
            unsupervised(section="4.3", data="DSprites", beta=0.001, latents=latents),
            f"{{}}/latents-{latents}",
            OUR_CHOICE,
        )
        for latents in (9, 25)
    ),
    "distances/figure-4.4-perceived": noted(map(swept, _RENDERED), _NO_SQUARES),
    "distances/figure-4.4-frameworks": noted(map(swept, _RENDERED), _NO_SQUARES),
    "distances/figure-4.4-frameworks-xysquares": (swept("XYSquares"),),
    "distances/figure-4.4-alignment": noted(map(swept, _RENDERED), _NO_SQUARES),
    "distances/figure-4.4-alignment-xysquares": (swept("XYSquares"),),
    "distances/figure-4.4-missing": tuple(
        training(unsupervised(section="4.3", beta=beta), f"{{}}/beta-{beta:g}", "two β in place of 9", ONE_RATE)
        for beta in (0.001, 1.0)
    ),
    "distances/section-4.3-bound": noted(
        (untrained("{}/dsprites", data="DSprites"), swept("DSprites")), "on dSprites alone"
    ),
    "distances/section-5.1.2": tuple(training(tvae(triplet=kind), f"{{}}/{kind}") for kind in ("soft", "hard")),
    "distances/section-5.2.4-effect": (
        training(ada_tvae(), "{}/exact"),
        training(ada_tvae(framework="FloatTripletVAE"), "{}/float"),
    ),
    "distances/figure-5.1": noted(
        (
            _TVAE,
            training(tvae(data="DSprites"), "{}/dsprites/tvae"),
            swept("XYSquares"),
            swept("DSprites"),
        ),
        _NO_SHAPES,
    ),
    "distances/figure-5.1-xysquares": (_TVAE, swept("XYSquares")),
    "distances/figure-5.1-norm": tuple(
        training(tvae(norm=norm), f"{{}}/l{norm}", ONLY_SQUARES) for norm in (1, 2)
    ),
    "distances/section-5.3.3-margins": (combined("gaps", _SOFT_AND_HARD, "{}/soft-hard", ONLY_SQUARES),),
    "distances/section-5.4": (_TVAE,),
    "distances/figure-5.2": (training(tvae(), "{}"),),
    "distances/figure-5.3-full": (combined("gaps", _SOFT_AND_HARD, "{}/with-gradient", ONLY_SQUARES, LAST),),
    "distances/figure-5.3-detached": tuple(
        training(tvae(triplet=kind, decoder_gradient=False), f"{{}}/detached/{kind}", ONLY_SQUARES, LAST)
        for kind in ("soft", "hard")
    ),
    "distances/section-5.4.1": (
        training(ada_tvae(), "{}/strength-0.5"),
        training(ada_tvae(strength=0.8), "{}/strength-0.8"),
    ),
    "distances/section-5.4.5": (
        training(ada_tvae(), "{}/weight_weak"),
        training(ada_tvae(shared_weight=0.5), "{}/constant"),
    ),
    "distances/figure-5.4": noted(
        (_ADA, _LONG_TVAE, _ADA_SPRITES, training(tvae("5.4", "DSprites"), "{}/dsprites/tvae", SAME_AS_TVAE)),
        _NO_SHAPES,
    ),
    "distances/figure-5.4-xysquares": (_ADA, _LONG_TVAE),
    "distances/figure-5.4-sampler": tuple(
        training(ada_tvae(data=data, sampler=sampler), f"{{}}/{data.lower()}/{sampler}", _NO_SQUARES)
        for data in _RENDERED
        for sampler in ("scaled_l1", "l1")
    ),
    "distances/figure-5.4-schedules": (
        *of_schedules(*WEAK, *STRONG),
        combined("ranges", _SCHEDULES, "{}", SAME_AS_TVAE),
    ),
    "distances/figure-5.5-differences": tuple(
        training(ada_tvae(differences=kind), f"{{}}/{kind}", ONLY_SQUARES) for kind in ("absolute", "kl")
    ),
    "distances/figure-5.5": noted(
        (_ADA, _ADA_SPRITES, swept("XYSquares"), swept("DSprites")), _NO_SHAPES, AS_PRINTED
    ),
    "distances/figure-5.5-xysquares": noted((_ADA, swept("XYSquares")), AS_PRINTED),
    "distances/figure-5.5-schedule": of_schedules("weight_weak", "both_weak", "threshold"),
    "distances/section-5.4.6-threshold": of_schedules("threshold", "weight_weak"),
    "distances/section-5.4.6-both": of_schedules("both_weak", "weight_weak"),
    "distances/figure-5.6": (training(ada_tvae(), "{}/ada-tvae"),),
    "distances/figure-5.7-xysquares": tuple(
        training(ada_tvae(reconstruction=loss, **_UNSUPERVISED), f"{{}}/xysquares/{loss}")
        for loss in ("mse-box", "mse")
    ),
    "distances/section-5.5.2-below": noted(
        (
            each
            for data in _RENDERED
            for each in (
                training(ada_tvae(data=data, **_UNSUPERVISED), f"{{}}/{data.lower()}/unsupervised-ada-tvae"),
                swept(data),
            )
        ),
        AS_PRINTED,
    ),
    "distances/table-6.1-learnt": tuple(kernel(f"learnt-{radius}/{{}}", radius=radius) for radius in (31, 63)),
    "distances/section-6.1.3-radius": (
        *(kernel(f"learnt-{radius}/{{}}", radius=radius) for radius in (31, 63)),
        *(
            handmade(kind, radius, f"mse-{kind}-{radius}/{{}}")
            for kind, radius in (("box", 31), ("box", 63), ("gaussian", 31))
        ),
    ),
    "distances/figure-6.1": (kernel("{}/learnt", "squares of 8 pixels only"), handmade("box", 31, "{}/box")),
    "distances/figure-6.2": (kernel("{}/learnt"), handmade("box", 0, "{}/identity")),
    "distances/section-6.1.3-symmetry": (kernel("{}/with-symmetry"), kernel("{}/without-symmetry", symmetry=0.0)),
    "distances/figure-6.4": noted(
        of_losses("mse", "mse-box", "learnt"), BETA_OF_LOSS, "without the Gaussian blur"
    ),
    "distances/table-a.6-beta": tuple(map(of_beta, ("mse", "mse-gaussian", "mse-box", "learnt"))),
    "distances/table-a.6-rate": tuple(kernel(f"{{}}/rate-{rate}", learning_rate=rate) for rate in (0.001, 0.0005)),
    "distances/figure-7.3": of_objects(),
    "distances/figure-7.6": of_photographs(),
}  # fmt: skip
