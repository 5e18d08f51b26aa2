"""The models that explorers run in the page: `python tools/explorer_weights.py [NAME …]` trains and writes them.

A model is a classic script in book/static/explore/weights: its layers, the pixel statistics of its data, and its
weights in half precision as base64, with their SHA-256. `read` makes the VAE of course_lib from it again, which
is what the tests compare the page with; `--check` says of every file whether its weights are those that were hashed.
Of the models that come with the course only the decoder is there; nothing is trained for them.
"""

import base64
import functools
import hashlib
import json
import sys
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

import notebook_io
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE, Step
from course_lib.models import VAE, mlp_vae
from course_replication import shipped_model

FOLDER = notebook_io.ROOT / "book" / "static" / "explore" / "weights"
HEAD = "// Written by tools/explorer_weights.py.\n((globalThis.Explore ??= {}).weights ??= {})"
CONVOLUTIONS = {nn.Conv2d: "conv", nn.ConvTranspose2d: "transposed"}


def layers(network: nn.Sequential, shape: tuple[int, ...]) -> list[list]:
    """What the script says of each layer of a network whose input has `shape`: its kind and its sizes.

    Of a convolution: channels in and out, side of the kernel, stride, padding, and side of the finer image. Layers that
    only rearrange are left out, since images are flat there.
    """
    found, flowing = [], torch.zeros(1, *shape)
    for layer in network:
        before, flowing = flowing, layer(flowing)
        if isinstance(layer, nn.Linear):
            found.append(["dense", layer.in_features, layer.out_features])
        elif type(layer) in CONVOLUTIONS:
            fine = max(before.shape[-1], flowing.shape[-1])
            sizes = layer.kernel_size[0], layer.stride[0], layer.padding[0]
            found.append([CONVOLUTIONS[type(layer)], layer.in_channels, layer.out_channels, *sizes, fine])
        elif isinstance(layer, nn.ReLU):
            found.append(["relu"])
        elif not isinstance(layer, nn.Flatten | nn.Unflatten):
            raise ValueError(f"network: got a layer {layer}; allowed are dense ones, convolutions and ReLU.")
    return found


@torch.no_grad()
def packed(encoder: nn.Sequential, decoder: nn.Sequential, shape, latents: int, mean, std) -> dict:
    """What a script holds of a model: images of `shape` (C, H, W), latents, pixel statistics, layers, weights."""
    weights = [value.flatten() for network in (encoder, decoder) for value in network.parameters()]
    data = torch.cat(weights).half().numpy().astype("<f2").tobytes()
    networks = dict(encoder=layers(encoder, shape), decoder=layers(decoder, (latents,)))
    bytes_ = dict(sha256=hashlib.sha256(data).hexdigest(), data=base64.b64encode(data).decode())
    return dict(shape=list(shape), latents=latents, mean=list(mean), std=list(std)) | networks | bytes_


def pack(model: VAE, decoder_only: bool = False) -> dict:
    """What a script holds of a VAE of course_lib, and the arguments that it is built with."""
    statistics = [buffer.tolist() for buffer in (model.pixel_mean, model.pixel_std)]
    encoder = nn.Sequential() if decoder_only else model.encoder
    return {"config": model.config} | packed(encoder, model.decoder, model.shape, model.latent_dim, *statistics)


def unpack(stored: dict) -> VAE:
    """The VAE of a stored model, with weights as the page has them; a ValueError when they are not those hashed.

    An encoder that is not stored has first weights.
    """
    data = base64.b64decode(stored["data"])
    if hashlib.sha256(data).hexdigest() != stored["sha256"]:
        raise ValueError("stored: the weights are not those whose SHA-256 stands beside them.")
    model, values = VAE(**stored["config"]), torch.from_numpy(np.frombuffer(data, "<f2").astype(np.float32))
    parameters = [*(model.encoder.parameters() if stored["encoder"] else ()), *model.decoder.parameters()]
    with torch.no_grad():
        for parameter, part in zip(parameters, values.split([each.numel() for each in parameters]), strict=True):
            parameter.copy_(part.view_as(parameter))
        model.pixel_mean.copy_(torch.tensor(stored["mean"]))
        model.pixel_std.copy_(torch.tensor(stored["std"]))
    return model.requires_grad_(False)


def stored(name: str) -> dict:
    """What the script of this name holds."""
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix(f"{HEAD}[{json.dumps(name)}] = ").removesuffix(";\n"))


def read(name: str) -> VAE:
    """The stored VAE of this name; see `unpack`."""
    return unpack(stored(name))


def train(data, hidden: int, beta: float, *, steps=600, learning_rate=4e-3, codes_only=False, seed=0) -> VAE:
    """Chapter 08's training: two latents, all 64 pictures in every step. codes_only: an auto-encoder, of the means."""
    framework = BetaVAE(mlp_vae(data, 2, hidden=(hidden,), seed=seed), beta, reconstruction="bce", reduction="sum")
    everywhere, generator = data.observations(torch.arange(len(data))), torch.Generator().manual_seed(seed)
    adam = torch.optim.Adam(framework.parameters(), lr=learning_rate)
    for index in range(steps):
        if codes_only:
            decoded = framework.model.decode(framework.model.encode(everywhere).mean)
            loss = framework.reduce(framework.likelihood(decoded, everywhere))
        else:
            loss = sum(framework.loss(everywhere[None], Step(torch.tensor(index), steps, generator)).values())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return framework.model


def squares(side: int) -> XYSquares:
    """One square of this side on the small board, one pixel from place to place."""
    return XYSquares(1, side, squares=1, image_size=16)


STRENGTHS, SEEDS = (1, 4, 16, 48), (0, 1, 2)  # of the networks beside each other in chapter 03


def small_squares() -> tuple[torch.Tensor, torch.Tensor]:
    """Chapter 03's 180 pictures, pixels 0 or 1 (180, 1, 12, 12), and their column, row and side, (180, 3)."""
    factors = torch.cartesian_prod(torch.arange(6), torch.arange(6), torch.arange(5))
    side, pixel = factors[:, 2:] + 2, torch.arange(12) + 0.5
    start = 3.5 + factors[:, :2] - side / 2
    inside = (pixel > start.unsqueeze(2)) & (pixel < (start + side).unsqueeze(2))  # across, down
    return (inside[:, 1, :, None] & inside[:, 0, None, :]).unsqueeze(1).float(), factors


def train_small_squares(beta: float, seed: int, steps: int = 800) -> VAE:
    """Chapter 03's training, of narrower layers: the squared error of standardised pixels, six latents."""
    pixels, _ = small_squares()
    model = VAE("mlp", (1, 12, 12), 6, (32, 32), seed)
    model.pixel_mean.fill_(pixels.mean())
    model.pixel_std.fill_(pixels.flatten(1).std(1).mean())
    framework, standardised = BetaVAE(model, beta), (pixels - model.pixel_mean) / model.pixel_std
    adam, generator = torch.optim.Adam(model.parameters(), lr=3e-3), torch.Generator().manual_seed(seed)
    for index in range(steps):
        batch = torch.randint(len(pixels), (64,), generator=generator)
        loss = sum(framework.loss(standardised[batch][None], Step(torch.tensor(index), steps, generator)).values())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return model


DECODERS = ("shapes3d-entangled", "shapes3d-disentangled")  # machines A and B of chapter 01

MODELS: dict[str, Callable[[], VAE]] = (
    {
        "vae": lambda: train(squares(4), 64, beta=4.0, steps=1500),
        "autoencoder": lambda: train(squares(4), 64, beta=0.0, codes_only=True),
        "square": lambda: train(squares(8), 64, beta=8.0),  # chapter 08's first model
    }
    | {
        f"capacity-{beta}-{seed}": functools.partial(train_small_squares, beta, seed)
        for beta in STRENGTHS
        for seed in SEEDS
    }
    | {name: lambda name=name: shipped_model(name).model for name in DECODERS}
)


def main(arguments: list[str]) -> int:
    torch.set_num_threads(1)
    if arguments == ["--check"]:
        for name in MODELS:
            read(name)
        print("The stored weights are those that were hashed.")
        return 0
    FOLDER.mkdir(exist_ok=True)
    for name in arguments or MODELS:
        text = f"{HEAD}[{json.dumps(name)}] = {json.dumps(pack(MODELS[name](), name in DECODERS))};\n"
        (FOLDER / f"{name}.js").write_text(text, encoding="utf-8")
        print(f"{name}: {len(text) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
