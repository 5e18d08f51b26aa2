"""Draw the moving picture of the front page: `python tools/front_picture.py` (about a minute).

Two VAEs with two latents, alike in everything (network, β, seed, steps), each see the 64 images of one 8×8-pixel square
on an 8×8 grid. On the left the grid's step is 1 pixel, so neighbouring images overlap; on the right it is 8 pixels, so
no two images share a pixel. Drawn are the 64 means while the VAEs train, each joined to its neighbours in the grid.
"""

import io

import matplotlib.pyplot as plt
import torch
from PIL import Image

import notebook_io
from course_lib import viz
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae
from course_lib.training import fit

FOLDER = notebook_io.ROOT / "book" / "static"
MOVING, STILL = FOLDER / "story.webp", FOLDER / "story.png"
BETA, STEPS, SEED = 15.0, 1000, 0
EVERY, SECONDS, HOLD, PLAYS = 25, 0.15, 3.0, 2  # steps and seconds per frame; the last one stays; then it rests
TITLES = {1: "neighbours overlap", 8: "neighbours share no pixel"}  # spacing in pixels → what it means


def train(data: XYSquares) -> list[torch.Tensor]:
    """The means of all images, (64, 2), before training and after every EVERY steps."""
    framework = BetaVAE(mlp_vae(data, 2, seed=SEED), BETA, reconstruction="bce", reduction="sum")
    images = data.images(torch.arange(len(data)))
    means = [framework.encode(images)]

    def record(framework, step):
        means.append(framework.encode(images))

    fit(framework, data, steps=STEPS, batch_size=64, learning_rate=1e-3, seed=SEED, log_every=EVERY, device="cpu",
        precision="float32", callbacks=[record])  # fmt: skip
    return means


def neighbours(data: XYSquares) -> torch.Tensor:
    """Two images of neighbours in one picture (3, H, W): blue and orange, and white where they overlap."""
    places = data.space.index([[3, 4], [4, 4]])
    first, second = (data.images(places)[:, 0] / 255).unbind()
    colours = [torch.tensor([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]) for colour in viz.PALETTE[:2]]
    alone = (first - first * second) * colours[0][:, None, None] + (second - first * second) * colours[1][:, None, None]
    return alone + first * second


def draw(datasets: dict[int, XYSquares], means: dict[int, list[torch.Tensor]], frame: int) -> Image.Image:
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.9))
    for axis, (spacing, data) in zip(axes, datasets.items(), strict=True):
        grid = means[spacing][frame].reshape(8, 8, 2)
        for line in range(8):
            axis.plot(*grid[line].T, color=viz.PALETTE[0], linewidth=1.2)
            axis.plot(*grid[:, line].T, color=viz.PALETTE[1], linewidth=1.2)
        axis.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal", xlabel="first latent", title=TITLES[spacing])
        inset = axis.inset_axes((0.0, 0.72, 0.28, 0.28))
        inset.imshow(viz.to_rgb(neighbours(data)[:, 10:50, 10:50]))  # the middle
        inset.set(xticks=[], yticks=[])
    axes[0].set_ylabel("second latent")
    figure.suptitle(f"step {0 if frame == 0 else (frame - 1) * EVERY or 1:,}", x=0.98, ha="right", fontsize=10)
    figure.subplots_adjust(left=0.08, right=0.98, bottom=0.13, top=0.9, wspace=0.12)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, bbox_inches=None)
    plt.close(figure)
    return Image.open(buffer).convert("RGB")


def main() -> None:
    torch.set_num_threads(1)
    viz.use_style()
    datasets = {spacing: XYSquares(spacing, 8, squares=1) for spacing in TITLES}
    means = {spacing: train(data) for spacing, data in datasets.items()}
    frames = [draw(datasets, means, frame) for frame in range(len(means[1]))]
    durations = [round(1000 * SECONDS)] * (len(frames) - 1) + [round(1000 * HOLD)]
    frames[0].save(
        MOVING, save_all=True, append_images=frames[1:], duration=durations, loop=PLAYS, quality=50, method=6
    )
    frames[-1].save(STILL, optimize=True)
    print(*(f"{path.relative_to(notebook_io.ROOT)}: {path.stat().st_size / 1024:.0f} KiB" for path in (MOVING, STILL)))


if __name__ == "__main__":
    main()
