"""Figures in one style: `use_style()` first, then functions that return a matplotlib figure."""

from course_lib.viz.curves import training_curves
from course_lib.viz.images import factor_traversals, image_rows, latent_traversals, reconstructions, to_rgb
from course_lib.viz.style import INK, PALETTE, PAPER, use_style

__all__ = [
    "INK", "PALETTE", "PAPER", "factor_traversals", "image_rows", "latent_traversals", "reconstructions", "to_rgb",
    "training_curves", "use_style",
]  # fmt: skip
