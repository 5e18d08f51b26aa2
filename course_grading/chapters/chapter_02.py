"""The exercises of chapter 2, the variational auto-encoder."""

from course_grading.answers import choices, number
from course_grading.chapters import collapse
from course_grading.chapters.vae_functions import (
    KL_WRONG,
    LIKELIHOOD_WRONG,
    SAMPLE_WRONG,
    SAMPLED_WRONG,
    decoded,
    kl_to_prior,
    log_likelihood,
    posteriors,
    reparameterise,
    sampled_kl,
    with_noise,
)
from course_grading.exercise import Function, Plain, Wrong

BOUND, KL, SAMPLING, LIKELIHOOD, PRICE = (  # the chapter's objectives, in their order
    "derive the evidence lower bound (ELBO), and name and measure the gap",
    "write the KL term in closed form, check it by sampling, and read it as a price",
    "explain why a sample has to be reparameterised before a gradient can pass through it",
    "say what a reconstruction loss assumes about an image, and what that has to do with β",
    "predict what a stronger or a weaker KL term does to the latents",
)

BETA_WRONG = (
    Wrong(1.0, "β = 1 means another thing under each reduction: the two terms are divided by different numbers."),
    Wrong(1 / 64, "upside down: with means, a nat of code became dearer compared with the pixels, not cheaper."),
    Wrong(512.0, "the KL was averaged too: over the 8 latents."),
    Wrong(8.0, "only the latents were counted: the reconstruction is divided by its number of elements."),
    Wrong(32.0, "the channels were forgotten: an image has 2·16·16 elements."),
    Wrong(256.0, "neither the channels nor the latents were counted."),
    Wrong(4096.0, "multiplied by the latents: the mean divides the KL by 8, which makes it cheaper again."),
)
QUANTITIES = {"kl": "falls", "reconstruction": "rises", "loss": "rises", "used": "falls"}
PREDICTION_WRONG = {
    ("kl", "rises"): "kl: a higher price buys fewer nats. (β·KL may well rise; the KL itself does not.)",
    ("kl", "stays"): "kl: the price of each nat went up, so some no longer pay for themselves.",
    ("reconstruction", "falls"): "reconstruction: fewer nats about the image cannot draw it better.",
    ("reconstruction", "stays"): "reconstruction: what the code no longer says, the decoder has to guess.",
    (
        "loss",
        "falls",
    ): "loss: it is the smallest sum that can be had at this β, and for every model that sum grows with β.",
    ("loss", "stays"): "loss: where the code is not empty, the same model costs more at a higher β.",
    ("used", "rises"): "used: a latent that did not earn its price at a low β does not earn it at a high one.",
    ("used", "stays"): "used: when the price rises 16-fold, the least useful latents no longer pay.",
}
GAP = {"from": "q(z|x)", "to": "p(z|x)", "change": "falls by 2"}
GAP_ALLOWED = ("q(z|x)", "p(z|x)", "p(z)", "p(x|z)", "falls by 2", "rises by 2", "falls by 4", "rises by 4", "stays")
GAP_WRONG = {
    ("to", "p(z)"): "to: the divergence from the prior is a term inside the ELBO. The gap is to another distribution.",
    ("to", "p(x|z)"): "to: p(x|z) is a distribution over images; the gap compares two over z.",
    ("from", "p(z|x)"): "from: the other way round. The average is over what the encoder draws, so its q comes first.",
    ("change", "rises by 2"): "change: log p(x) = ELBO + gap. If the ELBO rises by more than log p(x), the gap falls.",
    ("change", "rises by 4"): "change: the two were added; the gap is log p(x) less the ELBO.",
    ("change", "stays"): "change: it stays only where both sides rise by the same.",
}
SCORES = {
    "A code": "yes", "A price": "no", "A test": "no",
    "B code": "yes", "B price": "yes", "B test": "yes",
    "C code": "no", "C price": "no", "C test": "yes",
}  # fmt: skip
SCORES_WRONG = {
    ("A code", "no"): "A code: it does say so: the decoder is told nothing about which image to draw.",
    ("A price", "yes"): "A price: its reason is the decoder's size. Nothing is said about what a nat costs or saves.",
    (
        "A test",
        "yes",
    ): "A test: it names a cause and stops there. Nothing that could be seen would make it take that back.",
    ("B code", "no"): "B code: its first sentence says so.",
    ("B price", "no"): "B price: its second sentence compares what a nat costs with what it saves, which is the point.",
    (
        "B test",
        "no",
    ): "B test: it says what training with sums should do, and that it is wrong if that does not happen.",
    ("C code", "yes"): "C code: it says the opposite: that the code is in order.",
    ("C price", "yes"): "C price: that the loss asks for a small KL is not yet that a nat costs more than it saves.",
    ("C test", "no"): "C test: the explanation is wrong, and yet it says what would refute it: images that stay grey.",
}

EXERCISES = (
    Function(
        id="02.1",
        title="The price of a code",
        objective=KL,
        answer="kl_to_prior",
        points=3,
        difficulty=1,
        minutes=10,
        names=("mean", "log_variance"),
        cases=posteriors,
        reference=kl_to_prior,
        wrong=KL_WRONG,
        hints=(
            "One latent costs ½(μ² + σ² − 1 − log σ²). Which of the two logarithms do you have already?",
            "σ² is log_variance.exp(), log σ² is log_variance. Then sum over axis 1.",
        ),
    ),
    Function(
        id="02.2",
        title="A sample that lets gradients through",
        objective=SAMPLING,
        answer="reparameterise",
        points=2,
        difficulty=1,
        minutes=8,
        names=("mean", "log_variance", "noise"),
        cases=with_noise,
        reference=reparameterise,
        wrong=SAMPLE_WRONG,
        hints=(
            "The noise has spread 1; the sample must have spread σ. Which power of the variance is σ?",
            "σ = exp(½ log σ²), so z = mean + (0.5 * log_variance).exp() * noise, with nothing detached.",
        ),
    ),
    Plain(
        id="02.3",
        title="Sum or mean?",
        objective=LIKELIHOOD,
        answer="beta_of_the_sum",
        points=2,
        difficulty=2,
        minutes=8,
        fault=number(64.0, BETA_WRONG),
        wrong=BETA_WRONG,
        praise="right: β_sum = β_mean · C·H·W / D = 512 / 8.",
        hints=(
            "Write both losses down and multiply the one with means by the number of elements of an image.",
            "mean: rec/512 + β·KL/8. Times 512: rec + β·(512/8)·KL. What stands before the KL?",
        ),
    ),
    Function(
        id="02.4",
        title="The loss falls, and it is the wrong one",
        objective=KL,
        answer="sampled_kl",
        points=3,
        difficulty=2,
        minutes=15,
        names=("mean", "log_variance", "noise"),
        cases=with_noise,
        reference=sampled_kl,
        tolerance=(1e-4, 1e-4),
        wrong=SAMPLED_WRONG,
        hints=(
            "Compare the estimate with your closed form for a narrow posterior, and take the lines apart: which "
            "density does not integrate to 1?",
            "log N(z; μ, σ²) = −½ ((z − μ)/σ)² − log σ − ½ log 2π, and log σ = ½ log σ².",
        ),
    ),
    Plain(
        id="02.5",
        title="Before you see it: what does β do?",
        objective=PRICE,
        answer="prediction",
        points=2,
        difficulty=2,
        minutes=10,
        fault=choices(QUANTITIES, ("rises", "falls", "stays"), PREDICTION_WRONG),
        wrong=tuple(Wrong({**QUANTITIES, key: word}, message) for (key, word), message in PREDICTION_WRONG.items()),
        praise="right. Now run the next cell and see how far each of them moves.",
        hints=(
            "Read β as the price of a nat. What does one buy less of when its price rises, and what suffers?",
            "For the loss: take the best model at β = 16 and use it at β = 1. Its loss there is smaller already, and "
            "the best model at β = 1 is at least as good.",
        ),
    ),
    Plain(
        id="02.6",
        title="Break it: posterior collapse",
        objective=PRICE,
        answer="settings",
        points=3,
        difficulty=2,
        minutes=12,
        fault=collapse.fault,
        wrong=collapse.WRONG,
        praise="right: trained, and yet not a twentieth of a nat in the code.",
        hints=(
            "What makes a nat dearer, compared with a pixel, without a larger β? Exercise 02.3 has the number.",
            "With reduction='mean' and β = 1, a nat costs 512 / 6 times as much as in the ELBO.",
        ),
    ),
    Function(
        id="02.7",
        title="The likelihood behind the squared error",
        objective=LIKELIHOOD,
        answer="log_likelihood",
        points=3,
        difficulty=2,
        minutes=12,
        names=("images", "decoded", "std"),
        cases=decoded,
        reference=log_likelihood,
        tolerance=(1e-4, 1e-3),
        wrong=LIKELIHOOD_WRONG,
        hints=(
            "Write log N(x; x̂, s²) for one pixel, with everything in it, before you sum.",
            "One pixel: −(x − x̂)² / (2s²) − ½ log(2πs²). Sum over channels, rows and columns.",
        ),
    ),
    Plain(
        id="02.8",
        title="What the gap says",
        objective=BOUND,
        answer="gap",
        points=2,
        difficulty=1,
        minutes=5,
        fault=choices(GAP, GAP_ALLOWED, GAP_WRONG),
        wrong=tuple(Wrong({**GAP, key: word}, message) for (key, word), message in GAP_WRONG.items()),
        praise="right: KL(q(z|x) ‖ p(z|x)) fell by 3 − 1 = 2 nats.",
        hints=(
            "log p(x) = ELBO + a divergence between two distributions over z, before and after. Which two?",
            "One is the encoder's q(z|x), the other Bayes' rule's for this decoder. log p(x) rose by 1, the ELBO by 3.",
        ),
    ),
    Plain(
        id="02.9",
        title="Three explanations",
        objective=PRICE,
        answer="scores",
        points=2,
        difficulty=2,
        minutes=10,
        fault=choices(SCORES, ("yes", "no"), SCORES_WRONG),
        wrong=tuple(Wrong({**SCORES, key: word}, message) for (key, word), message in SCORES_WRONG.items()),
        praise="right: B has all three. A sees what happened and guesses why; C is wrong and would find out.",
        hints=(
            "Read each answer three times, once for each point, and only for what it says: an answer can be wrong "
            "about the cause and still name a test.",
            "A and C name causes of their own, and neither speaks of a price. Which of the two says what would show it "
            "to be wrong?",
        ),
    ),
)
