"""The look of every figure in the course."""

import matplotlib

# Okabe and Ito's colours: safe for colour-blind readers
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
PAPER, INK = "#FBFAF7", "#22272E"  # a light card on which ink has contrast, in a light page and in a dark one


def use_style() -> None:
    """Give matplotlib (and so seaborn) the course's colours, sizes and background, for this session."""
    matplotlib.rcParams.update({
        "figure.facecolor": PAPER, "axes.facecolor": PAPER, "savefig.facecolor": PAPER,
        "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.prop_cycle": matplotlib.cycler(color=PALETTE),
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left",
        "font.size": 10, "axes.titlesize": 11, "legend.frameon": False,
        "figure.figsize": (6.4, 3.6), "figure.dpi": 100, "savefig.dpi": 120, "savefig.bbox": "tight",
        "image.interpolation": "nearest", "image.cmap": "gray",
    })  # fmt: skip
