"""What exercise 02.6 trains: a small VAE on 16×16 XYSquares, with the settings that a student chose."""

import torch

from course_grading.answers import as_number
from course_grading.calling import one_line
from course_grading.exercise import Wrong
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE, Step
from course_lib.losses import kl_to_standard_normal
from course_lib.models import mlp_vae

LATENTS, STEPS, BATCH_SIZE = 6, 200, 64
NATS = 0.05  # of all latents together: below this, a code is called collapsed
SLOWEST, FASTEST = 1e-4, 1e-2  # learning rates that are allowed
NUMBERS = ("beta", "learning_rate")
KEYS = (*NUMBERS, "reduction")


def fault(settings) -> str | None:
    """Train with the settings and say why the code did not collapse, or None when it did."""
    wrong = _unusable(settings)
    if wrong is not None:
        return wrong
    settings = {**settings, **{key: as_number(settings[key]) for key in NUMBERS}}
    nats = trained_nats(**settings)
    if nats < NATS:
        return None
    return f"{_diagnosis(settings)} The code holds {nats:.2f} nats for each image; below {NATS} counts as collapsed."


def trained_nats(beta: float, reduction: str, learning_rate: float) -> float:
    """The KL to the prior after training, all latents together, in nats per image."""
    data = XYSquares(2, 2, squares=2, image_size=16)
    framework = BetaVAE(mlp_vae(data, LATENTS, hidden=(64,)), beta=beta, reduction=reduction)
    generator = torch.Generator().manual_seed(0)
    weights = list(framework.model.parameters())
    first, second = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    for index in range(STEPS):
        with torch.enable_grad():
            views = data.observations(framework.sample(data.space, BATCH_SIZE, generator))
            terms = framework.loss(views, Step(torch.tensor(index), STEPS, generator))
            gradients = torch.autograd.grad(sum(terms.values()), weights)
        with torch.no_grad():
            _adam(weights, gradients, first, second, index + 1, learning_rate)
    with torch.no_grad():
        posterior = framework.model.encode(data.observations(torch.arange(0, len(data), 8)))
        return kl_to_standard_normal(posterior).sum(1).mean().item()


def _adam(weights, gradients, first, second, step: int, rate: float) -> None:
    """One step of Adam in place. PyTorch's own loads its compiler first, which takes longer than the training."""
    torch._foreach_lerp_(first, gradients, 0.1)
    torch._foreach_lerp_(second, torch._foreach_mul(gradients, gradients), 0.001)
    spread = torch._foreach_sqrt(second)
    torch._foreach_div_(spread, (1 - 0.999**step) ** 0.5)
    torch._foreach_add_(spread, 1e-8)
    torch._foreach_addcdiv_(weights, first, spread, -rate / (1 - 0.9**step))


def _unusable(settings) -> str | None:
    if not isinstance(settings, dict) or set(settings) != set(KEYS):
        return "wanted is a dict with the keys beta, reduction, learning_rate."
    beta, rate = (as_number(settings[key]) for key in NUMBERS)
    if beta is None or rate is None:
        return "beta and learning_rate must be numbers."
    if not 0 <= beta <= 1:
        return f"beta: got {beta:g}. {TOO_LARGE}"
    if not SLOWEST <= rate <= FASTEST:
        return f"learning_rate: got {rate:g}; allowed are {SLOWEST:g} to {FASTEST:g}. {UNTRAINED}"
    if settings["reduction"] not in ("sum", "mean"):
        return f"reduction: got {one_line(settings['reduction'], 40)!r}; {REDUCTIONS}"
    return None


def _diagnosis(settings: dict) -> str:
    if settings["beta"] == 0:
        return FREE
    if settings["reduction"] == "sum":
        return ORDINARY
    if settings["learning_rate"] < FASTEST and trained_nats(**{**settings, "learning_rate": FASTEST}) < NATS:
        return TOO_SLOW
    return CHEAP


TOO_LARGE = "With a large β anybody can: stay within 0 to 1."
UNTRAINED = "A model that never trained has an empty code too, but it did not collapse."
REDUCTIONS = "allowed are 'sum' and 'mean'."
FREE = "With β = 0 nothing asks the code to be cheap: this is the way to the most nats, not to none."
ORDINARY = "With sums and β of at most 1 this is an ordinary VAE: its nats pay for themselves."
TOO_SLOW = f"It is the learning rate: {STEPS} steps of this size do not empty the code, with {FASTEST:g} they do."
CHEAP = "The means point the right way, but a β this small takes back what they do: what is it worth in sums?"
WRONG = tuple(
    Wrong({"beta": beta, "reduction": reduction, "learning_rate": rate}, message)
    for beta, reduction, rate, message in (
        (1.0, "sum", 1e-3, ORDINARY),
        (0.0, "sum", 1e-3, FREE),
        (100.0, "sum", 1e-3, TOO_LARGE),
        (1.0, "sum", 0.0, UNTRAINED),
        (6 / 512, "mean", 1e-3, CHEAP),
        (0.2, "mean", 1e-4, TOO_SLOW),
        (1.0, "none", 1e-3, REDUCTIONS),
    )
)
