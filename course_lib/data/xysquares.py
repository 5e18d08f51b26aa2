"""XYSquares: the adversarial dataset of the thesis (Section 3.3), drawn exactly."""

import torch
from torch import Tensor

from course_lib.arguments import check_integers
from course_lib.data.grid import GridDataset
from course_lib.data.on_devices import OnDevices
from course_lib.factors import FactorSpace

POSITIONS = 8  # places along each axis, at every spacing


class XYSquares(GridDataset):
    """Squares that move over an 8×8 grid, one in each colour channel.

    At the default spacing two squares either coincide or do not touch, so the pixel-wise distance between any two
    different positions is the same: to a pixel-wise loss the grid has no order. A smaller spacing brings overlap back.

    Parameters
    ----------
    spacing : pixels from one position to the next, at least 1; 8 positions must fit:
        square_size + 7·spacing ≤ image_size.
    square_size : side of a square in pixels.
    squares : how many squares, and so channels, 1 to 3 (red, green, blue).
    image_size : side of the image in pixels.

    The factors are (x_R, y_R, x_G, y_G, x_B, y_B), y growing downwards. A square's left (top) edge lies at
    (image_size − square_size − 7·spacing) // 2 + spacing · factor. The small variant that live experiments train on is
    `XYSquares(2, 2, squares=2, image_size=16)`. Chapter 15.
    """

    source = "drawn exactly"
    licence = "MIT (drawn by course_lib)"
    citation = (
        "Michlo, Klein and James, Overlooked implications of the reconstruction loss for VAE disentanglement, 2022"
    )

    def __init__(self, spacing: int = 8, square_size: int = 8, squares: int = 3, image_size: int = 64):
        spacing, square_size, squares = check_integers(1, spacing=spacing, square_size=square_size, squares=squares)
        (image_size,) = check_integers(POSITIONS, image_size=image_size)
        if squares > 3:
            raise ValueError(f"squares: got {squares}; allowed are 1, 2 and 3, one per colour channel.")
        room = (image_size - square_size) // (POSITIONS - 1)
        if room < 1:
            raise ValueError(
                f"square_size: got {square_size}; in {image_size} pixels, with {POSITIONS} positions, at most "
                f"{image_size - POSITIONS + 1} fits."
            )
        if spacing > room:
            raise ValueError(
                f"spacing: got {spacing}; for squares of {square_size} in {image_size} pixels, 1 to {room} are allowed."
            )
        self.options = dict(spacing=spacing, square_size=square_size, squares=squares, image_size=image_size)
        self.space = FactorSpace(
            [f"{axis}_{colour}" for colour in "RGB"[:squares] for axis in "xy"], [POSITIONS] * (2 * squares)
        )
        self.shape = (squares, image_size, image_size)
        pixels, share = image_size**2, (square_size / image_size) ** 2
        self.mean = (share,) * squares
        self.std = ((share * (1 - share) * pixels / (pixels - 1)) ** 0.5,) * squares  # the same in every image
        offset = (image_size - square_size - (POSITIONS - 1) * spacing) // 2
        edge = offset + spacing * torch.arange(POSITIONS).unsqueeze(1)
        pixel = torch.arange(image_size)
        covered = ((pixel >= edge) & (pixel < edge + square_size)).to(torch.uint8) * 255  # (position, pixel)
        self._tables = OnDevices(covered)

    def render(self, index: Tensor) -> Tensor:
        (covered,) = self._tables(index.device)
        x, y = self.space.factors(index).unflatten(1, (-1, 2)).unbind(2)  # (B, squares) each
        return covered[y].unsqueeze(3) & covered[x].unsqueeze(2)
