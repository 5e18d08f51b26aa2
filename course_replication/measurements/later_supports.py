"""Claims of later papers about combinations that are rare or missing: supports, and decoders that lack some."""

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor, nn

from course_replication.measurements.training import Scores, report
from course_replication.runs import Context

SHEARS = np.linspace(-0.5, 1.0, 31)
SIDE, EDGE = 16, 0.5  # pixels; where the part begins that is never seen


def criteria(context: Context, *, points: int, off_diagonal: float) -> Scores:
    """Which code two criteria choose among (y₁, y₂ − s·y₁): the one least correlated, or with the fullest support.

    Two factors from 0 to 1: a share `off_diagonal` of the points lies anywhere in the square, the others near its
    diagonal. "miss/…" is |s| of the choice, 0 being the factors themselves; "gain/…" is how much less the support
    misses, and the same where the factors are independent.
    """
    found = {}
    for name, share in (("correlated", off_diagonal), ("independent", 1.0)):
        factors = near_the_diagonal(points, share, context.generator)
        codes = [torch.stack([factors[:, 0], factors[:, 1] - shear * factors[:, 0]], 1) for shear in SHEARS]
        chosen = {
            "decorrelated": np.argmin([abs(np.corrcoef(code.T)[0, 1]) for code in codes]),
            "support": np.argmin([missing(code) for code in codes]),
        }
        miss = {rule: abs(float(SHEARS[place])) for rule, place in chosen.items()}
        found |= {f"miss/{name}/{rule}": value for rule, value in miss.items()}
        found[f"gain/{name}"] = miss["decorrelated"] - miss["support"]
    return found


def near_the_diagonal(points: int, share: float, generator: torch.Generator) -> Tensor:
    """Two factors (points, 2) from 0 to 1, of which all but that share are nearly equal."""
    factors = torch.rand(points, 2, generator=generator)
    near = (factors[:, 0] + 0.05 * torch.randn(points, generator=generator)).clamp(0, 1)
    anywhere = torch.rand(points, generator=generator) < share
    return torch.stack([factors[:, 0], torch.where(anywhere, factors[:, 1], near)], 1)


def missing(codes: Tensor) -> float:
    """The Hausdorff distance from all combinations of latents' values to the codes (N, 2), each scaled to [0, 1]."""
    low, high = codes.min(0).values, codes.max(0).values
    codes = (codes - low) / (high - low)
    return torch.cdist(torch.cartesian_prod(*codes.T), codes).min(1).values.max().item()


def recombined(context: Context, *, networks: int, width: int, steps: int, batch_size: int, **settings) -> Scores:
    """Auto-encoders of two balls, never both in the upper half, whose decoder adds two images or makes one.

    Of so many networks of each kind that one counts which reconstructs best. "error/…" is the error of images with both
    balls up, made of latents that were seen apart, as a share of these pixels' variance; "match/…" the rank
    correlation of latents and factors.
    """
    settings.pop("framework")
    seen, _ = lattice(24)
    images, found, untrained = two_balls(seen), {}, {}
    for name, decoder in (("additive", Additive), ("ordinary", ordinary)):
        trials, before = [], {}
        for trial in range(networks):
            torch.manual_seed(1000 * context.seed + trial)
            batches = torch.Generator().manual_seed(1000 * context.seed + trial)
            pair = nn.Sequential(network(SIDE**2, width, width, 2), decoder(width))
            before = before or _recombining(pair, seen)
            train_to(pair, images, images, steps, batch_size, batches)
            trials.append(_recombining(pair, seen))
        best = min(trials, key=lambda each: each["left"])
        found |= {f"{score}/{name}": value for score, value in best.items()}
        untrained |= {f"{score}/{name}": value for score, value in before.items()}
    return report(found, untrained, {})


def unseen(context: Context, *, width: int, steps: int, batch_size: int, **settings) -> Scores:
    """A decoder that is given the two coordinates of a bump, with a quarter of their combinations held out.

    In a corner ("block"), or as many anywhere ("scattered"). "error/…" is what images of those combinations leave, as a
    share of the pixels' variance over all combinations, "left/…" what the others leave of the same.
    """
    settings.pop("framework")
    seen, corner = lattice(24)
    everything = torch.cat([seen, corner])
    shuffled = everything[torch.randperm(len(everything), generator=context.generator)]
    parts = {"block": (seen, corner), "scattered": (shuffled[: len(seen)], shuffled[len(seen) :])}
    found, untrained = {}, {}
    for name, (known, held_out) in parts.items():
        torch.manual_seed(context.seed)
        decoder = ordinary(width)
        for place in (untrained, found):
            if place is found:
                train_to(decoder, 2 * known - 1, bumps(known), steps, batch_size, context.generator)
            for score, points in (("left", known), ("error", held_out)):
                place[f"{score}/{name}"] = left(decoder(2 * points - 1), bumps(points), bumps(everything))
    return report(found, untrained, {})


def lattice(values: int) -> tuple[Tensor, Tensor]:
    """Combinations of two factors from 0 to 1: those with one of them in the lower half, and those with none."""
    points = torch.cartesian_prod(*[torch.linspace(0, 1, values)] * 2)
    high = (points > EDGE).all(1)
    return points[~high], points[high]


def bumps(factors: Tensor) -> Tensor:
    """One bump of light at two coordinates, a product: (N, 256)."""
    across, down = (_line(factors[:, k]) for k in range(2))
    return (down.unsqueeze(2) * across.unsqueeze(1)).flatten(1)


def two_balls(factors: Tensor, brightness: tuple[float, float] = (1.0, 1.0)) -> Tensor:
    """Two balls of light, one in each half of the image, each with a height of its own, a sum: (N, 256)."""
    columns = (light * _line(torch.tensor([place])) for light, place in zip(brightness, (0.1, 0.9), strict=True))
    return sum((_line(factors[:, k]).unsqueeze(2) * column.unsqueeze(1)) for k, column in enumerate(columns)).flatten(1)


def _line(place: Tensor) -> Tensor:
    return torch.exp(-((torch.arange(SIDE) - (3 + 9 * place).unsqueeze(1)) ** 2) / (2 * 1.6**2))


class Additive(nn.Module):
    """A decoder that adds an image of the first latent and an image of the second."""

    def __init__(self, width: int):
        super().__init__()
        self.parts = nn.ModuleList(network(1, width, width, SIDE**2) for _ in range(2))

    def forward(self, latents: Tensor) -> Tensor:
        return sum(part(latents[:, k : k + 1]) for k, part in enumerate(self.parts))


def ordinary(width: int) -> nn.Module:
    return network(2, 2 * width, 2 * width, SIDE**2)


def network(*widths: int) -> nn.Sequential:
    layers = [part for pair in zip(widths, widths[1:], strict=False) for part in (nn.Linear(*pair), nn.GELU())]
    return nn.Sequential(*layers[:-1])


def train_to(model: nn.Module, inputs: Tensor, targets: Tensor, steps: int, batch_size: int, generator) -> None:
    """Least squares by Adam, whose rate rises to 0.004 and falls to 0 again."""
    optimiser = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.004, total_steps=steps)
    for _ in range(steps):
        drawn = torch.randint(len(inputs), (batch_size,), generator=generator)
        optimiser.zero_grad()
        (model(inputs[drawn]) - targets[drawn]).square().sum(1).mean().backward()
        optimiser.step()
        schedule.step()


@torch.no_grad()
def left(images: Tensor, targets: Tensor, among: Tensor | None = None) -> float:
    """The share of the pixels' variance, that of the targets or among other images, that is left."""
    among = targets if among is None else among
    return ((images - targets).square().mean() / (among - among.mean(0)).square().mean()).item()


@torch.no_grad()
def _recombining(pair: nn.Sequential, seen: Tensor) -> Scores:
    encoder, decoder = pair
    codes = encoder(two_balls(seen)).numpy()
    ranks = np.abs(spearmanr(np.hstack([codes, seen.numpy()]))[0][:2, 2:])
    straight = ranks.trace() >= ranks[::-1].trace()
    high = torch.linspace(0.55, 1, 10)
    low = torch.full_like(high, 0.25)
    apart = [encoder(two_balls(torch.stack(each, 1))) for each in ((high, low), (low, high))]
    own = [0, 1] if straight else [1, 0]  # whose latent is whose
    grid = torch.cartesian_prod(torch.arange(10), torch.arange(10))
    codes = torch.empty(len(grid), 2)
    for ball in range(2):
        codes[:, own[ball]] = apart[ball][grid[:, ball], own[ball]]
    matches = ranks.trace() if straight else ranks[::-1].trace()
    return {
        "error": left(decoder(codes), two_balls(torch.stack([high[grid[:, 0]], high[grid[:, 1]]], 1))),
        "left": left(pair(two_balls(seen)), two_balls(seen)), "match": float(matches / 2),
    }  # fmt: skip
