"""What exercise 02.6 trains: a small VAE on 16×16 XYSquares, with the settings that a student chose."""

from numbers import Real

import torch

from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE, Step
from course_lib.grading.calling import one_line
from course_lib.grading.exercise import Wrong
from course_lib.losses import kl_to_standard_normal
from course_lib.models import mlp_vae

LATENTS, STEPS, BATCH_SIZE = 6, 200, 64
NATS = 0.05  # of all latents together: below this, a code is called collapsed
KEYS = ("beta", "reduction", "learning_rate")


def fault(settings) -> str | None:
    """Train with the settings and say why the code did not collapse, or None when it did."""
    wrong = _unusable(settings)
    if wrong is not None:
        return wrong
    nats = trained_nats(**{key: value for key, value in settings.items() if key in KEYS})
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
        return f"wanted is a dict with the keys {', '.join(KEYS)}."
    numbers = [settings["beta"], settings["learning_rate"]]
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in numbers):
        return "beta and learning_rate must be numbers."
    beta, rate = numbers
    if not 0 <= beta <= 1:
        return f"beta: got {beta:g}, which is not allowed here: with a large β anybody can. Stay within 0 to 1."
    if not 1e-4 <= rate <= 1e-2:
        return (
            f"learning_rate: got {rate:g}; allowed are 1e-4 to 1e-2. A model that never trained has an empty code too, "
            "but it did not collapse."
        )
    if settings["reduction"] not in ("sum", "mean"):
        return f"reduction: got {one_line(settings['reduction'], 40)!r}; allowed are 'sum' and 'mean'."
    return None


def _diagnosis(settings: dict) -> str:
    if settings["beta"] == 0:
        return "With β = 0 nothing asks the code to be cheap: this is the way to the most nats, not to none."
    if settings["reduction"] == "sum":
        return "With sums and β of at most 1 this is an ordinary VAE: its nats pay for themselves."
    return "The means point the right way, but a β this small takes back what they do: what is it worth in sums?"


WRONG = (
    Wrong({"beta": 1.0, "reduction": "sum", "learning_rate": 1e-3}, "an ordinary VAE"),
    Wrong({"beta": 0.0, "reduction": "sum", "learning_rate": 1e-3}, "the way to the most nats"),
    Wrong({"beta": 100.0, "reduction": "sum", "learning_rate": 1e-3}, "not allowed here"),
    Wrong({"beta": 1.0, "reduction": "sum", "learning_rate": 0.0}, "did not collapse"),
    Wrong({"beta": 6 / 512, "reduction": "mean", "learning_rate": 1e-3}, "takes back what they do"),
    Wrong({"beta": 0.0, "reduction": "mean", "learning_rate": 1e-3}, "the way to the most nats"),
    Wrong({"beta": 1.0, "reduction": "none", "learning_rate": 1e-3}, "allowed are 'sum' and 'mean'"),
)
