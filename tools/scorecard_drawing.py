"""Drawing the scorecard's pictures: the same data give the same bytes."""

import io
import math

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from course_lib import viz
from course_replication.verdicts import VERDICTS
from scorecard_counts import SCALES
from scorecard_figures import Picture

WIDTH = 6.0  # inches
PAPER_MARK = dict(marker="o", markerfacecolor="none", markeredgewidth=1.4, linestyle="none", markersize=8)
OUR_MARK = dict(marker="o", markersize=3.6, markeredgewidth=0)
FILLS = dict(zip(VERDICTS, ("#009E73", "#56B4E9", "#D55E00", "#F0E442", "#D9D6CE", "#FFFFFF"), strict=True))
HATCHES = {"": None, "exact": None, "small": "/////", "full": "xxxxx"}


def svg(picture: Picture) -> bytes:
    """The picture as SVG without a date, its identifiers fixed by its name; it holds the digest of its data."""
    with matplotlib.rc_context():
        viz.use_style()
        matplotlib.rcParams.update({"svg.hashsalt": picture.name, "font.size": 9, "axes.titlesize": 10})
        figure = DRAW[picture.kind](picture.data)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Description": f"data {picture.digest}"})
        plt.close(figure)
    return b"\n".join(line.rstrip() for line in file.getvalue().splitlines()) + b"\n"


def counts(data: dict) -> Figure:
    panels = data["panels"]
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH, 3.2), layout="constrained", sharey=True)
    line = dict(edgecolor=viz.INK, linewidth=0.6)
    for axis, (kind, rows) in zip(axes, panels.items(), strict=True):
        names, counted = zip(*rows, strict=True)
        left = np.zeros(len(rows))
        for (verdict, scale), widths in zip(data["parts"], np.transpose(counted), strict=True):
            axis.barh(names, widths, left=left, color=FILLS[verdict], hatch=HATCHES[scale], **line)
            left += widths
        axis.set_title(f"{kind}s")
        axis.set_xlabel("claims")
    axes[0].invert_yaxis()
    keys = [Patch(facecolor=fill, label=verdict, **line) for verdict, fill in FILLS.items()]
    keys += [Patch(facecolor=viz.PAPER, hatch=HATCHES[scale], label=scale, **line) for scale in SCALES]
    figure.legend(handles=keys, loc="outside upper left", ncols=5, handlelength=1.2, columnspacing=1.2)
    return figure


def pairs(data: dict) -> Figure:
    panels = data["panels"]
    figure, axes = _side_by_side(len(panels), max(map(len, panels.values())))
    for axis, (title, rows) in zip(axes, panels.items(), strict=True):
        names, printed, ours = zip(*rows, strict=True)
        places = range(len(rows))
        axis.hlines(places, np.minimum(printed, ours), np.maximum(printed, ours), color="#9A968C", linewidth=1)
        axis.plot(printed, places, color=viz.PALETTE[3], **PAPER_MARK)
        axis.plot(ours, places, color=viz.PALETTE[0], linestyle="none", **OUR_MARK)
        axis.set_yticks(places, names)
        axis.set_title(title)
        axis.grid(axis="x", color="#E3E0D8", linewidth=0.6)
        axis.set_axisbelow(True)
    axes[0].invert_yaxis()
    _legend(figure)
    return figure


def curves(data: dict) -> Figure:
    figure, axes = plt.subplots(1, len(data["panels"]), figsize=(WIDTH, 2.9), layout="constrained", squeeze=False)
    for axis, (title, lines) in zip(axes[0], data["panels"].items(), strict=True):
        for place, (name, points) in enumerate(lines.items()):
            across, printed, ours = zip(*sorted(points), strict=True)
            colour = viz.PALETTE[place]
            axis.plot(across, printed, color=colour, **PAPER_MARK)
            axis.plot(across, ours, color=colour, label=name, **OUR_MARK)
        axis.set(title=title, xlabel=data["across"])
        axis.legend()
    return figure


def seeds(data: dict) -> Figure:
    panels = data["panels"]
    longest = max(len(name) for panel in panels.values() for name, _ in panel["rows"])
    rows = max(len(panel["rows"]) for panel in panels.values())
    alike = len({tuple(name for name, _ in panel["rows"]) for panel in panels.values()}) == 1
    figure, axes = _side_by_side(len(panels), rows, columns=1 if longest > 24 else 2, shared=alike)
    for axis, (title, panel) in zip(axes, panels.items(), strict=True):
        for place, (_, row) in enumerate(panel["rows"]):
            values = row["values"]
            axis.plot([np.mean(values)] * 2, [place - 0.3, place + 0.3], color=viz.PALETTE[1], linewidth=2)
            axis.plot(values, [place] * len(values), color=viz.PALETTE[0], linestyle="none", alpha=0.7, **OUR_MARK)
            if row["control"] is not None:
                axis.plot(row["control"], place, marker="x", color=viz.INK)
            if row["printed"] is not None:
                axis.plot(row["printed"], place, color=viz.PALETTE[3], **PAPER_MARK)
        for constant in panel["constants"]:
            axis.axvline(constant, color=viz.INK, linestyle="--", linewidth=1)
        axis.set_yticks(range(len(panel["rows"])), [name for name, _ in panel["rows"]])
        axis.set_ylim(len(panel["rows"]) - 0.4, -0.6)
        axis.set_title(title.replace("_", " "))
    return figure


def ratios(data: dict) -> Figure:
    figure, axis = plt.subplots(figsize=(WIDTH, 3.4), layout="constrained")
    degrees = np.linspace(0, 90, 181)
    for place, (first, second) in enumerate(data["shapes"]):
        linearity = (first - second) / (first + second)
        axis.axhline(linearity, color=viz.PALETTE[place], label=f"variances {first:g} and {second:g}")
        axis.plot(degrees, np.abs(np.cos(2 * np.radians(degrees))) * linearity, "--", color=viz.PALETTE[place])
    axis.set(xlabel="rotation in degrees", ylabel="ratio", xlim=(0, 90), ylim=(0, 1.05), xticks=range(0, 91, 15))
    figure.legend(loc="outside upper left", ncols=2)
    return figure


def _side_by_side(panels: int, rows: int, columns: int = 2, shared: bool = True) -> tuple[Figure, list]:
    """Panels in so many columns, each as high as its rows need."""
    columns = min(panels, columns)
    lines = math.ceil(panels / columns)
    size = (WIDTH, lines * (0.8 + 0.24 * rows) + 0.3)
    figure, axes = plt.subplots(lines, columns, figsize=size, layout="constrained", squeeze=False, sharey=shared)
    axes = [*axes.flat]
    for axis in axes[panels:]:
        axis.remove()
    return figure, axes[:panels]


def _legend(figure: Figure) -> None:
    marks = [
        Line2D([], [], color=viz.PALETTE[3], label="paper", **PAPER_MARK),
        Line2D([], [], color=viz.PALETTE[0], linestyle="none", label="ours", **OUR_MARK),
    ]
    figure.legend(handles=marks, loc="outside upper right", ncols=2)


DRAW = {"counts": counts, "pairs": pairs, "curves": curves, "seeds": seeds, "ratios": ratios}
