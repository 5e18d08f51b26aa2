"""The exercises of chapter 8, impossibility."""

from course_grading.answers import choices
from course_grading.chapters import visible_rotation
from course_grading.chapters.axes_from_pairs import AXES_WRONG, axes_angle, turned_pairs
from course_grading.chapters.law_preserving_maps import (
    COUPLED_WRONG,
    ENTANGLED_WRONG,
    codes,
    coupled,
    entangled,
    noises,
)
from course_grading.chapters.mirror_without_zeros import MIRROR_WRONG, mirror, mirrors
from course_grading.exercise import Function, Plain, Wrong

DERIVE, LAW, NOTICE, AXES, LIMITS = (  # the chapter's objectives, in their order
    "derive the map of Theorem 1: through the uniform to the Gaussian, a reflection without zeros, and back",
    "say why it keeps the joint law and not only the marginals, and tell the two apart by a test",
    "predict what can notice the map and what cannot: a likelihood, an ELBO, a probe, a score",
    "say where a VAE's preference for some axes comes from, and recover axes from pairs of images",
    "say what the theorem does not say: about priors, decoders, rotations and permutations",
)

WITNESSES = {
    "histogram of each latent": "stays",
    "total correlation": "stays",
    "log p(x)": "stays",
    "ELBO, posterior moved along": "stays",
    "ELBO, diagonal posterior": "changes",
    "linear probe, normal prior": "stays",
    "linear probe, uniform prior": "changes",
    "large network's probe, uniform prior": "stays",
    "MIG": "changes",
}
WITNESSES_WRONG = {
    ("histogram of each latent", "changes"): "histogram of each latent: the joint law stays, so each marginal does.",
    ("total correlation", "changes"): "total correlation: each new latent is a function of both old ones, and still "
    "the new ones are independent of each other.",
    ("log p(x)", "changes"): "log p(x): substitute z' = f(z) in the integral over the codes.",
    ("ELBO, posterior moved along", "changes"): "ELBO, posterior moved along: f relabels the codes in the "
    "reconstruction and in the KL alike.",
    ("ELBO, diagonal posterior", "stays"): "ELBO, diagonal posterior: a diagonal Gaussian with unequal variances, "
    "turned, is diagonal no more, and the encoder may not answer with it.",
    ("linear probe, normal prior", "changes"): "linear probe, normal prior: there f is a matrix, and the probe can "
    "learn its inverse.",
    ("linear probe, uniform prior", "stays"): "linear probe, uniform prior: there f bends, and a linear function "
    "cannot bend it back.",
    ("large network's probe, uniform prior", "changes"): "large network's probe, uniform prior: f is a bijection, so "
    "the code holds what it held; a network can undo the bend.",
    ("MIG", "stays"): "MIG: it looks at single latents and knows the factors. Each latent now tells of both.",
}

EXERCISES = (
    Function(
        id="08.1",
        title="The mirror as it was printed",
        objective=DERIVE,
        answer="mirror",
        points=2,
        difficulty=1,
        minutes=10,
        names=("alpha", "dim"),
        cases=mirrors,
        reference=mirror,
        wrong=MIRROR_WRONG,
        praise="right: orthogonal, and no zero.",
        hints=(
            "Compute the length of the first column for α = ¼ and two latents. What should it be?",
            "Multiply out I − 2vvᵀ: 1 − 2v_i² on the diagonal, and −2v_i v_j beside it.",
        ),
    ),
    Function(
        id="08.2",
        title="Through the Gaussian and back",
        objective=DERIVE,
        answer="entangle",
        points=3,
        difficulty=2,
        minutes=12,
        names=("z", "matrix"),
        cases=codes,
        reference=entangled,
        wrong=ENTANGLED_WRONG,
        hints=(
            "A code that is uniform on (0, 1) has been through g already. Which function makes it Gaussian, and which "
            "brings it back?",
            "ndtri is Φ⁻¹ and ndtr is Φ. Codes stand in rows, so the matrix goes to the right, transposed.",
        ),
    ),
    Function(
        id="08.3",
        title="Right marginals, wrong law",
        objective=LAW,
        answer="couple",
        points=3,
        difficulty=2,
        minutes=12,
        names=("noise", "correlation"),
        cases=noises,
        reference=coupled,
        wrong=COUPLED_WRONG,
        praise="right. Now run the next cell: no test of one coordinate sees it, the test of both does.",
        hints=(
            "Correlate two Gaussians first, so that each still has the variance 1; then make each uniform.",
            "The second Gaussian is r ε₁ + √(1 − r²) ε₂. Then ndtr of both.",
        ),
    ),
    Plain(
        id="08.4",
        title="Who notices?",
        objective=NOTICE,
        answer="witnesses",
        points=3,
        difficulty=2,
        minutes=12,
        fault=choices(WITNESSES, ("stays", "changes"), WITNESSES_WRONG),
        wrong=tuple(Wrong({**WITNESSES, key: word}, message) for (key, word), message in WITNESSES_WRONG.items()),
        praise="right: what notices has been told the factors and cannot undo f, or is not free to move along with it.",
        hints=(
            "Sort them: which are computed from the law of codes or pictures alone? Which need the factors? Which "
            "restrict what they may answer with?",
            "Told the factors, one notices only if one is too weak to undo f: what can a linear function undo, what a "
            "large network, what a score of single latents? And which posterior can turn along with the code?",
        ),
    ),
    Plain(
        id="08.5",
        title="Break it: a prior that gives a rotation away",
        objective=LIMITS,
        answer="choice",
        points=2,
        difficulty=1,
        minutes=8,
        fault=visible_rotation.fault,
        wrong=visible_rotation.WRONG,
        praise="right: with a linear decoder this prior's axes can be found from pictures alone, up to order and sign.",
        hints=(
            "A rotation hides where the density depends on the distance from the centre alone. Which two of the four "
            "are round?",
            "Take one that is not round, and the angle that is farthest from all that leave it as it was.",
        ),
    ),
    Function(
        id="08.6",
        title="The axes from pairs",
        objective=AXES,
        answer="axes_angle",
        points=3,
        difficulty=3,
        minutes=15,
        names=("first", "second"),
        cases=turned_pairs,
        reference=axes_angle,
        tolerance=(0.0, 0.2),
        wrong=AXES_WRONG,
        praise="right: pairs give away what no number of single pictures can.",
        hints=(
            "In the true code a pair differs along one axis. Along which directions does it differ in the turned code?",
            "second − first points at about θ, θ + 90, θ + 180 or θ + 270 degrees. Four times these angles are one and "
            "the same direction: average its cosines and its sines, take atan2 of the two, and divide by 4.",
        ),
    ),
)
