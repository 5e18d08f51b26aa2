"""What explorers with a network must compute: cases of `explorer_cases.py`, by course_lib and PyTorch."""

import functools
import warnings

import numpy as np
import torch
from torch import nn

import explorer_rooms
import explorer_weights
from course_lib import distances, metrics
from course_lib.frameworks import BetaVAE, Step
from course_lib.losses import kl_to_standard_normal
from course_lib.losses.reconstruction import unstandardise
from course_lib.metrics.traversals import variances
from course_lib.models import VAE, DiagonalGaussian
from course_lib.models.networks import initialise


def of_networks():
    """Of course_lib's networks, and of small convolutions of an odd shape, in double precision."""
    draw = torch.Generator().manual_seed(0)
    for name, side in (("vae", 4), ("autoencoder", 4), ("square", 8)):
        model, data = explorer_weights.read(name).double(), explorer_weights.squares(side)
        loaded = {"call": "network.model", "with": [name]}
        z = torch.randn(2, generator=draw, dtype=torch.float64)
        yield "network.decode", [loaded, z.tolist()], model.decoder(z[None]).flatten().tolist()
        place = torch.tensor([19])
        pixels = data.images(place).double() / 255
        mean, log_variance = model.encoder((pixels - model.pixel_mean) / model.pixel_std)[0].chunk(2)
        found = {"mean": mean.tolist(), "logVariance": log_variance.tolist()}
        yield "network.encode", [loaded, pixels.flatten().int().tolist()], found
    encoder = [nn.Conv2d(2, 3, 4, stride=2, padding=1), nn.ReLU(), nn.Conv2d(3, 2, 3), nn.Flatten(), nn.Linear(8, 4)]
    decoder = [nn.Linear(2, 18), nn.ReLU(), nn.Unflatten(1, (2, 3, 3)), nn.ConvTranspose2d(2, 3, 2), nn.ReLU()]
    decoder.append(nn.ConvTranspose2d(3, 2, 4, stride=2, padding=1))
    networks = [nn.Sequential(*layers) for layers in (encoder, decoder)]
    for network in networks:
        initialise(network, draw)
        network.half().double()  # as the page has them
    stored = explorer_weights.packed(*(n.float() for n in networks), (2, 8, 8), 2, (0.1, 0.2), (0.5, 2.0))
    loaded = {"call": "network.load", "with": [stored]}
    pixels, z = torch.rand(2, 8, 8, generator=draw).double(), torch.randn(2, generator=draw).double()
    standardised = (pixels - torch.tensor([0.1, 0.2]).double().view(2, 1, 1)) / torch.tensor([0.5, 2.0]).view(2, 1, 1)
    inputs = standardised, z
    encoded, decoded = (n.double()(x[None])[0].flatten().detach() for n, x in zip(networks, inputs, strict=True))
    yield "network.encode", [loaded, pixels.flatten().tolist()], {"mean": encoded[:2].tolist()}
    yield "network.decode", [loaded, z.tolist()], decoded.tolist()


def of_trainings():
    """The loss of a small VAE, its gradients, and its weights after three steps of Adam, by course_lib and PyTorch."""
    images = torch.tensor([[1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [1, 0, 0, 0, 0, 1]]).float()
    for beta in (1.0, 4.0):
        model = VAE("mlp", (1, 2, 3), 2, (5,), seed=3)
        model.pixel_mean.fill_(1 / 3)
        model.pixel_std.fill_((2 / 9 * 6 / 5) ** 0.5)
        framework = BetaVAE(model, beta, reconstruction="bce", reduction="sum")
        parameters = [*model.encoder.parameters(), *model.decoder.parameters()]
        noises = [
            torch.randn(4, 2, generator=torch.Generator().manual_seed(step)).flatten().tolist() for step in range(3)
        ]
        weights = [parameter.flatten().tolist() for parameter in parameters]
        given = dict(images=images.tolist(), hidden=5, beta=beta, weights=[weights[n : n + 2] for n in range(0, 8, 2)])
        adam = torch.optim.Adam(parameters, lr=0.004)
        views = ((images - 1 / 3) / model.pixel_std).view(1, 4, 1, 2, 3)
        for step in range(3):
            terms = framework.loss(views, Step(torch.tensor(step), 3, torch.Generator().manual_seed(step)))
            adam.zero_grad()
            sum(terms.values()).backward()
            if step == 0:
                found = {"reconstruction": terms["reconstruction"].item(), "kl": terms["kl"].item() / beta}
                found["slopes"] = [parameter.grad.flatten().tolist() for parameter in parameters]
            adam.step()
        yield "train.measured", [given, noises], found | {"after": [part.flatten().tolist() for part in parameters]}


def turn_of(degrees: float) -> torch.Tensor:
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return torch.tensor([[cos, -sin], [sin, cos]])


def evidence(degrees: float, line: torch.Tensor, reach: float = np.inf) -> float:
    """log p(x) of chapter 08's first model, in nats a picture: a sum over a grid of latents that are turned back."""
    model, pixels = explorer_weights.read("square").double(), explorer_weights.squares(8).images(torch.arange(64))
    grid = torch.cartesian_prod(line, line)
    grid = grid[grid.square().sum(1) <= reach**2 + 1e-9]
    logits = model.decoder(grid @ turn_of(degrees)).flatten(1)  # a row times R is R⁻¹ times the column
    likelihood = logits @ (pixels.flatten(1).double().T / 255) - nn.functional.softplus(logits).sum(1, keepdim=True)
    weights = torch.distributions.Normal(0, 1).log_prob(grid).sum(1) + 2 * (line[1] - line[0]).log()
    return (likelihood + weights.unsqueeze(1)).logsumexp(0).mean().item()


def of_rotations():
    model, data = explorer_weights.read("square").double(), explorer_weights.squares(8)
    observed = (data.images(torch.arange(64)).double() / 255 - model.pixel_mean) / model.pixel_std
    places = data.space.factors(torch.arange(64))
    loaded = {"call": "network.model", "with": ["square"]}
    for degrees in (0, 30, 45):
        codes = model.encoder(observed)[:, :2] @ turn_of(degrees).T
        given = {"call": "rotate.codes", "with": [loaded, degrees]}
        ways = codes.view(8, 8, 2).transpose(0, 1), codes.view(8, 8, 2)  # traversals of column and of row
        shares = [variances((way - way.mean(1, keepdim=True)).numpy()) for way in ways]
        ratios = [(2 * share.max(1) / share.sum(1) - 1).mean() for share in shares]
        yield "rotate.alignment", [given], float(np.sqrt(np.prod(ratios)))
        with warnings.catch_warnings(action="ignore"):  # 64 are few for a sample, and here they are all
            yield "rotate.mig", [given], float(metrics.mig.from_samples(codes, places))
    line = torch.linspace(-4, 4, 81, dtype=torch.float64)
    for degrees in (0, 45):
        yield "rotate.evidence", [loaded, degrees], evidence(degrees, line, 4)


def of_capacities():
    """What the explorer of chapter 03 says of two of its networks, over all 180 pictures."""
    pixels, factors = explorer_weights.small_squares()
    yield "capacity.picture", [factors[77].tolist()], pixels[77].flatten().int().tolist()
    for beta, seed in ((4, 1), (48, 0)):
        name = f"capacity-{beta}-{seed}"
        model = explorer_weights.read(name).double()
        means, log_variances = model.encoder((pixels.double() - model.pixel_mean) / model.pixel_std).chunk(2, dim=1)
        nats = kl_to_standard_normal(DiagonalGaussian(means, log_variances)).mean(0)
        back = model.decoder(means) * model.pixel_std + model.pixel_mean
        left = (back - pixels).square().sum() / (pixels - pixels.mean(0)).square().sum()
        follows = [[abs(distances.correlations(z, y.double())[0]) for y in factors.T] for z in means.T]
        yield "capacity.judge", [{"call": "network.model", "with": [name]}], {
            "nats": nats.tolist(), "left": left.item(), "follows": follows,
        }  # fmt: skip


@functools.cache
def wish(name: str, room: int, wall: int) -> tuple:
    """A decoder of chapter 01, the room's code (10,), the wanted picture (3, 64, 64), and its parts (64, 64)."""
    stored = explorer_rooms.stored()
    here = stored["rooms"][room]
    code = torch.tensor(here["codes"][name][stored["wall"]], dtype=torch.float64)
    parts = torch.tensor(list(map(int, here["parts"]))).view(64, 64)
    return explorer_weights.read(name).double(), code, explorer_rooms.picture(here, wall).double() / 255, parts


def edited(name: str, room: int, wall: int, edits: torch.Tensor) -> torch.Tensor:
    """What chapter 01's explorer says of edits (n, 10): the errors on floor, wall, object and sky, (n, 4), in per cent
    of the error without one."""
    model, code, wanted, parts = wish(name, room, wall)
    painted = unstandardise(model.decoder(torch.cat([code[None], code + edits])), model).clamp(0, 1)
    error = (painted - wanted).square().sum(1)
    by_part = torch.stack([error[1:, parts == part].sum(1) for part in range(len(explorer_rooms.PARTS))], 1)
    return 100 * by_part / error[0].sum()


def of_dials():
    stored = explorer_rooms.stored()
    for room, wall in ((0, 8), (1, 3), (2, 0)):
        for name in explorer_weights.DECODERS:
            tables = stored["rooms"][room]["codes"][name], stored["means"][name]
            codes, means = (torch.tensor(table, dtype=torch.float64) for table in tables)
            given = {"name": name, "room": room, "wall": wall}
            best, direction = codes[wall] - codes[stored["wall"]], means[wall] - means[stored["wall"]]
            yield "dials.best", [given], best.tolist()
            yield "dials.direction", [given], direction.tolist()
            one = torch.zeros(10).double()
            one[best.abs().argmax()] = 1.3
            for edit in (one, best):
                found = edited(name, room, wall, edit[None])[0]
                yield "dials.judge", [given | {"edit": edit.tolist()}], found.tolist()
