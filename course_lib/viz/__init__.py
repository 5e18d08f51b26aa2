"""Figures in one style: `use_style()` first, then functions that return a matplotlib figure, or pictures that move."""

from course_lib.viz.curves import training_curves
from course_lib.viz.explore import Explorer, explore, latent_frames
from course_lib.viz.frames import Frames, figure_frames, frames
from course_lib.viz.images import factor_traversals, image_rows, latent_traversals, reconstructions, to_rgb
from course_lib.viz.style import INK, PALETTE, PAPER, use_style

__all__ = [
    "INK", "PALETTE", "PAPER", "Explorer", "Frames", "explore", "factor_traversals", "figure_frames", "frames",
    "image_rows", "latent_frames", "latent_traversals", "reconstructions", "to_rgb", "training_curves", "use_style",
]  # fmt: skip
