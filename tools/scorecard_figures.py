"""Which pictures the scorecard has, what they show, and in words: everything but the drawing, which takes long."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from course_replication import Verdict
from course_replication.card_tables import named, plain
from course_replication.claims import constant
from course_replication.measurements.constructions import SHAPES
from course_replication.verdicts import KINDS, VERDICTS
from course_replication.words import listed
from scorecard_counts import SCALES, TESTED

FEWEST = 4  # numbers of a claim that are worth a picture
RATIOS = "distances/figure-4.3"  # the one picture whose curves are a formula
NUMBERED = re.compile(r"(.+)-(\d+)")


@dataclass(frozen=True)
class Picture:
    """A picture of the scorecard.

    name : of its file, without the ending. kind : the function of `scorecard_drawing` that draws `data`, which JSON can
    hold. alt : what it shows, in words; caption : what the marks mean.
    """

    name: str
    kind: str
    data: dict
    alt: str
    caption: str

    @property
    def digest(self) -> str:
        """Changes with anything that is drawn; it stands in the picture's file."""
        text = json.dumps([self.kind, self.data], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def counts(table: dict[str, Counter]) -> Picture:
    """Bars: from the name of each paper to the counts of (kind, verdict, scale), as `scorecard_counts.by_paper` has."""
    parts = [(verdict, scale) for verdict in VERDICTS for scale in (SCALES if verdict in TESTED else ("",))]
    panels = {
        kind: [[paper, [found[kind, *part] for part in parts]] for paper, found in table.items()] for kind in KINDS
    }
    said = []
    for paper, found in table.items():
        words = [
            f"{found[kind, verdict, scale]} {verdict}{f' · {kind} · {scale}' if scale else f' ({kind})'}"
            for kind in KINDS for verdict, scale in parts if found[kind, verdict, scale]
        ]  # fmt: skip
        said.append(f"{paper}: {', '.join(words) or 'no claims'}")
    alt = f"Three panels, for numbers, orders and constructions, with a bar for each paper. {'; '.join(said)}."
    caption = "Colour: the verdict. Hatching: the scale, where something was measured."
    return Picture("counts", "counts", {"parts": [*map(list, parts)], "panels": panels}, alt, caption)


def picture_of(verdict: Verdict) -> Picture | None:
    """The picture that suits what a claim compares; None where a table says all."""
    if verdict.verdict in ("not run", "out of reach"):
        return None
    if verdict.claim.id == RATIOS:
        return _ratios(verdict)
    if verdict.claim.kind == "trained":
        return _seeds(verdict)
    parts = [number.what.split("/") for number in verdict.numbers]
    if len(parts) < FEWEST or any(len(part) != 3 for part in parts) or not max(_gaps(verdict).values()):
        return None
    numbered = all(NUMBERED.fullmatch(middle) for _, middle, _ in parts)
    return _curves(verdict) if numbered else _pairs(verdict)


def file_name(claim: str) -> str:
    return re.sub("[^a-z0-9]+", "-", claim)


def _pairs(verdict: Verdict) -> Picture:
    """Printed numbers beside ours: a panel for each last part of the metrics, such as "rank"."""
    firsts = {number.what.split("/")[0] for number in verdict.numbers}
    panels: dict[str, list] = {}
    for number in verdict.numbers:
        first, middle, last = number.what.split("/")
        row = named(middle if len(firsts) == 1 else f"{first}/{middle}")
        panels.setdefault(last, []).append([row, float(number.printed), number.ours])
    rows = max(map(len, panels.values()))
    alt = f"{_panels(panels)}, each with {rows} rows of a ring and a dot. {_difference(verdict)}"
    return Picture(file_name(verdict.claim.id), "pairs", {"panels": panels}, alt, "Rings: the paper. Dots: ours.")


def _curves(verdict: Verdict) -> Picture:
    """Printed numbers beside ours, where the middle part of the metrics counts, such as "spacing-8"."""
    panels: dict[str, dict] = {}
    for number in verdict.numbers:
        first, middle, last = number.what.split("/")
        stem, place = NUMBERED.fullmatch(middle).groups()
        panels.setdefault(last, {}).setdefault(first, []).append([int(place), float(number.printed), number.ours])
    ends = []
    for kind, lines in panels.items():
        for name, points in lines.items():
            (start, _, first), *_, (end, _, last) = sorted(points)
            ends.append(f"{kind} of {name} from {first:.2f} at {stem} {start} to {last:.2f} at {end}")
    alt = f"{_panels(panels)}, with rings and dotted lines over the {stem}: {'; '.join(ends)}. {_difference(verdict)}"
    data = {"panels": panels, "across": stem}
    return Picture(file_name(verdict.claim.id), "curves", data, alt, "Rings: the paper. Dots and lines: ours.")


def _seeds(verdict: Verdict) -> Picture | None:
    """The seeds of each metric, a panel for each first part of their names, such as "mig"; nothing if all are equal."""
    rows: dict[str, dict] = {}  # metric → values, control, printed
    for step in verdict.orders:
        for name, values, control in zip((step.first, step.second), step.values, step.controls, strict=True):
            if constant(name) is None:
                rows.setdefault(name, {"values": [*values], "control": control, "printed": None})
    for number in verdict.numbers:
        rows.setdefault(number.what, {"values": [*number.values], "control": number.control})
        rows[number.what]["printed"] = float(number.printed)
    if len({value for row in rows.values() for value in row["values"]}) < 2:
        return None
    panels: dict[str, dict] = {}
    for name, row in rows.items():
        first, _, rest = name.partition("/")
        panels.setdefault(first, {"rows": [], "constants": []})["rows"].append([named(rest or first), row])
    for step in verdict.orders:
        for bound, other in ((step.first, step.second), (step.second, step.first)):
            if constant(bound) is not None:
                panels[other.split("/")[0]]["constants"].append(float(bound))
    alt = f"{_panels(panels)}, with a dot for each seed. {' '.join(_said(*item) for item in panels.items())}"
    caption = "Dots: seeds. Bars: their mean. Crosses: the control that comes nearest."
    caption += " Rings: the paper." if verdict.numbers else ""
    caption += " Dashed: the claim's threshold." if any(panel["constants"] for panel in panels.values()) else ""
    return Picture(file_name(verdict.claim.id), "seeds", {"panels": panels}, alt, caption)


def _said(name: str, panel: dict) -> str:
    said = []
    for row, found in panel["rows"]:
        values = found["values"]
        text = f"{row} from {plain(min(values))} to {plain(max(values))}, mean {plain(sum(values) / len(values))}"
        said.append(text + (f", control {plain(found['control'])}" if found["control"] is not None else ""))
    return f"{named(name)}: {'; '.join(said)}."


def _ratios(verdict: Verdict) -> Picture | None:
    """The closed form, shown only where every answer is yes: they say that the library's scores agree."""
    if not all(answer for _, answer in verdict.holds):
        return None
    widths = [(first - second) / (first + second) for first, second in SHAPES]
    alt = (
        "Flat lines for the linearity ratio of clouds turned from 0 to 90 degrees, at "
        f"{', '.join(f'{width:.2f}' for width in widths)}; below each, in a V, the axis-alignment ratio, equal to it "
        "at 0 and 90 degrees and 0 at 45."
    )
    caption = (
        "Lines: linearity. Dashed: axis alignment. Both are the closed form, with which the library's scores agree."
    )
    return Picture(file_name(verdict.claim.id), "ratios", {"shapes": [*map(list, SHAPES)]}, alt, caption)


def _panels(names: Sequence[str]) -> str:
    names = [named(name) for name in names]
    if len(names) == 1:
        return f"One panel, {names[0]}"
    return f"{len(names)} panels, {listed(names)}"


def _gaps(verdict: Verdict) -> dict[str, float]:
    """Metric → by how much ours differs from the paper's."""
    return {number.what: abs(float(number.printed) - number.ours) for number in verdict.numbers}


def _difference(verdict: Verdict) -> str:
    gaps = _gaps(verdict)
    worst = max(gaps, key=gaps.get)
    return (
        f"Ours differ from the paper's by {median(gaps.values()):.2g} in the median, and at most by "
        f"{gaps[worst]:.2g}, at {named(worst)}."
    )
