"""The section of the scores' page about what they cost, from the measurements in benchmarks/metrics_costs.json."""

import json

import numpy as np

import notebook_io
from course_replication.words import listed

FILE = notebook_io.ROOT / "benchmarks" / "metrics_costs.json"
NAMES = {"numpy": "NumPy", "python": "Python", "scikit-learn": "scikit-learn", "scipy": "SciPy", "torch": "PyTorch"}
AXES = ("n", "D", "F")
WORDS = {  # up to which exponent
    0.2: "hardly grows with",
    0.8: "less than linear in",
    1.2: "linear in",
    1.8: "more than linear in",
    2.2: "quadratic in",
    float("inf"): "more than quadratic in",
}
SECTION = """(costs)=
## What the scores cost

Processor seconds and their growth, measured in one thread with the latents encoded ({growth}). The seconds are those at
n samples of D = {latents} latents, random mixtures of F = {factors} factors of {values} values each. n is what a score
takes by itself; for the trees, whose time also grows with the number of values of all factors together, it is smaller.
An exponent tells how the time grows with n (here from {n} times that of the table), with D (from {D}) and with F (from
{F}), as the slope of a line through the logarithms: where it is 1, twice as much takes twice as long. With F the whole
grid grows too, and to look up a latent in a larger table takes longer: that is all that F means to the last two scores.
Drawing and encoding images comes on top, and so does comparing them in the distance correlation: images of a few bytes
served here.

Megabytes are the most that a score held at its usual n on the {images} images of {data} with D = {memory_latents},
beyond the libraries themselves: drawing, encoding, the table of latents and the processes that it started included
({memory}). None held more than {most} MB.

{table}

`benchmarks/metrics.py` measures all of this anew with `--growth` and `--memory`.
"""


def section(titles: dict[str, str]) -> str:
    """The section; `titles` says which scores stand in the table, in order, and under which names."""
    measured = json.loads(FILE.read_text(encoding="utf-8"))
    growth, memory = measured["growth"], measured["memory"]
    any_run = next(iter(growth["scores"].values()))
    spans = {axis: [size for size, _ in runs] for axis, runs in any_run["runs"].items()}
    spans["n"] = [size / any_run["n"] for size in spans["n"]]
    return SECTION.format(
        growth=provenance(growth),
        memory=provenance(memory),
        **{name: growth[name] for name in ("latents", "factors", "values")},
        **{axis: f"{min(sizes):g} to {max(sizes):g}" for axis, sizes in spans.items()},
        images=f"{memory['images']:,}",
        data=memory["data"],
        memory_latents=memory["latents"],
        most=max(map(megabytes, memory["scores"].values())),
        table=table(titles, growth["scores"], memory["scores"]),
    ).strip()


def provenance(part: dict) -> str:
    versions = ", ".join(f"{NAMES[name]} {number}" for name, number in part["versions"].items())
    return f"{part['date']}; {part['processor']}; {versions}"


def table(titles: dict[str, str], growth: dict, memory: dict) -> str:
    rows = [
        "| score | n | seconds | in n | in D | in F | growth | MB |",
        "|---|--:|--:|--:|--:|--:|---|--:|",
    ]
    for name, title in titles.items():
        slopes = {axis: exponent(growth[name]["runs"][axis]) for axis in AXES}
        shown = " | ".join(f"{slope:.1f}".replace("-", "−").replace("−0.0", "0.0") for slope in slopes.values())
        cells = f"{growth[name]['n']:,} | {growth[name]['seconds']:.2g} | {shown} | {in_words(slopes)}"
        rows.append(f"| [{title}](#{name}) | {cells} | {megabytes(memory[name])} |")
    return "\n".join(rows)


def exponent(runs: list[tuple[float, float]]) -> float:
    """The slope of log seconds over log size, by least squares."""
    sizes, seconds = np.log(np.array(runs).T)
    return float(np.polyfit(sizes, seconds, 1)[0])


def in_words(slopes: dict[str, float]) -> str:
    """ "linear in n and D, hardly grows with F": the steepest first."""
    kinds = {}
    for axis, slope in sorted(slopes.items(), key=lambda entry: -entry[1]):
        kinds.setdefault(next(words for most, words in WORDS.items() if slope <= most), []).append(axis)
    return ", ".join(f"{words} {listed(sorted(axes, key=AXES.index))}" for words, axes in kinds.items())


def megabytes(entry: dict) -> int:
    """Of the process and of those that it started."""
    return round(entry["megabytes"] + entry["workers"])
