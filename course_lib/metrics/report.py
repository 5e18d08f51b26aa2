"""What `course score` found, as JSON and as one page of HTML that stands alone."""

import html
import json
import math
import re
from pathlib import Path

import numpy as np

from course_lib.metrics._evaluate import SCORES, Evaluation
from course_lib.metrics.information import information_matrix
from course_lib.metrics.report_style import PAGE
from course_lib.metrics.samples import as_samples
from course_lib.storage import replace_file

SUFFIXES = (".html", ".json")
INTERVAL = (
    "An interval holds, in about 19 of 20 tables, what tables of as many rows that are drawn alike score on average; "
    "of IRS, which rests on a largest value, in 18. It is over the rows of this table and says nothing of other "
    "trainings, whose seeds move a score far more."
)
SHUFFLED = (
    "Shuffled: the score after the rows of the latents are put in a random order, so that they know nothing of the "
    "factors."
)
UNBOUNDED = ("gaussian_total_correlation", "wasserstein_correlation")
# what a high value does not rule out; the book shows each of them
BLIND = {
    "mig": "what else a latent carries: factors that share a latent can both have their gap.",
    "dci": "in its first number, copies of a factor in several latents, and factors that are missing.",
    "sap": "what else a latent carries; and of an axis a linear cut sees the two ends alone.",
    "modularity": "copies of a factor in several latents, and factors that are missing.",
    "irs": "factors that are missing, and small latents beside a large one.",
    "gaussian_total_correlation": "all factors, so that shuffling changes nothing, and dependence without correlation.",
    "wasserstein_correlation": "all factors, so that shuffling changes nothing, and dependence without correlation.",
    "mutual_information": "copies: other latents may know the same factor.",
    "distance_correlation": "all factors added up in one latent, since it walks along one factor at a time.",
    "linearity_ratio": "axes, since a turned code keeps it; and all factors added up in one latent.",
    "axis_alignment_ratio": "all factors added up in one latent, since it walks along one factor at a time.",
    "axis_orientation_ratio": "whether the path is straight; and all factors added up in one latent.",
    "downstream_logistic": "mixtures: what is mixed linearly is read as well.",
    "downstream_trees": "how the code is arranged, as long as trees can read it.",
    "infomec": "in its first number, copies of a factor in several latents, and factors that are missing.",
    "dci_es": "whether anything is read at all: latents of noise have the highest explicitness.",
}


def summary(evaluation: Evaluation, latents, factors, seed: int, said: list[str], name: str) -> dict:
    """All of it as JSON can hold it: what is infinite becomes None.

    evaluation : of `evaluate.from_samples`, of latents (n, D) and factors, a data frame (n, F). said : warnings.
    """
    samples = as_samples(latents, factors)
    matrix = information_matrix(samples.latents, samples.factors)
    return {
        "file": name,
        "n": len(latents),
        "latents": latents.shape[1],
        "factors": list(factors),
        "levels": [int(factors[column].nunique()) for column in factors],
        "seed": seed,
        "scores": {name: _entry(evaluation, name) for name in evaluation},
        "left_out": {name: why for name, why in evaluation.notes.items() if name not in evaluation},
        "mutual_information": {"unit": "nats", "latents × factors": matrix.tolist()},
        "warnings": said + _warnings(latents, factors),
        "words": {"interval": INTERVAL, "shuffled": SHUFFLED},
    }


def about(name: str) -> dict[str, str]:
    """What a score asks, what it is blind to, and the number of its chapter."""
    text = " ".join(SCORES[name].__doc__.split())
    asks = re.match(r"[^.?]*[.?]", text).group()
    return {"asks": asks, "blind": BLIND[name], "chapter": re.search(r"Chapter (\d\d)\.", text)[1]}


def write_report(path: Path, found: dict) -> None:
    """Write what `summary` gives, as the suffix of `path` says: all of it or nothing."""
    text = as_html(found) if path.suffix == ".html" else json.dumps(found, indent=1, allow_nan=False) + "\n"
    with replace_file(path) as file:
        file.write(text.encode())


def as_html(found: dict) -> str:
    """The page: nothing in it is loaded from elsewhere, and it has no scripts."""
    levels = zip(found["factors"], found["levels"], strict=True)
    parts = {
        "file": html.escape(found["file"]),
        "facts": f"{found['n']:,} rows, {found['latents']} latents, {len(found['factors'])} factors: "
        + html.escape(", ".join(f"{name} ({count} values)" for name, count in levels)) + f". Seed {found['seed']}.",
        "warnings": _list("Mind", found["warnings"]),
        "scores": "".join(_article(name, entry, found["n"]) for name, entry in found["scores"].items()),
        "left_out": _list("Left out", [f"{title(name)}: {why}" for name, why in found["left_out"].items()]),
        "matrix": _matrix(found),
        "notes": html.escape(f"{INTERVAL} {SHUFFLED}"),
    }  # fmt: skip
    return re.sub(r"@(\w+)@", lambda place: parts[place[1]], PAGE)


def _entry(evaluation: Evaluation, name: str) -> dict:
    score, interval = evaluation[name], evaluation.intervals.get(name)
    return {
        "score": _finite(float(score)),
        "shuffled": _finite(float(evaluation.controls[name])),
        "interval": [interval.low, interval.high] if interval else None,
        "note": f"from {interval.halves} halves of the rows" if interval else evaluation.notes.get(name, ""),
        "values": {key: _finite(value) for key, value in score.values.items()},
        **about(name),
    }


def _warnings(latents, factors) -> list[str]:
    found = []
    still = [f"z{place}" for place in np.flatnonzero(np.ptp(np.asarray(latents, float), axis=0) == 0)]
    if still:
        found.append(f"Constant latents, which most scores leave out: {', '.join(still)}.")
    levels = {name: int(factors[name].nunique()) for name in factors}
    single = [name for name, count in levels.items() if count == 1]
    if single:
        found.append(f"Constant factors, which scores leave out: {', '.join(single)}.")
    many = [f"{name} ({count})" for name, count in levels.items() if count > 1 and len(factors) < 20 * count]
    if many:
        found.append(
            f"Fewer than 20 rows for each value: {', '.join(many)}. Is it a class, or a measurement to be binned?"
        )
    return found


def _article(name: str, entry: dict, n: int) -> str:
    value, control = ("∞" if entry[key] is None else f"{entry[key]:.3f}" for key in ("score", "shuffled"))
    interval = " to ".join(f"{end:.3f}" for end in entry["interval"] or ())
    note = html.escape(entry["note"].replace("no interval", "none"))
    return (
        f"<article><h3>{title(name)}</h3><p class=value>{value}</p><dl><dt>95 % interval</dt>"
        f"<dd>{interval} <small>{note}</small></dd><dt>Shuffled</dt><dd>{control}</dd><dt>Rows</dt><dd>{n:,}</dd></dl>"
        f"{'' if name in UNBOUNDED else _scale(entry)}<p>{html.escape(entry['asks'])} <em>Blind to</em> "
        f"{html.escape(entry['blind'])} <span class=chapter>Chapter {entry['chapter']}</span></p></article>\n"
    )


def _scale(entry: dict) -> str:
    """A line from 0 to 1 with the value, its interval and the shuffled value; nothing for what is off that line."""
    value, control = entry["score"], entry["shuffled"]
    if value is None or control is None or not (0 <= value <= 1 and 0 <= control <= 1):
        return ""
    low, high = (min(max(end, 0), 1) * 200 for end in entry["interval"] or (value, value))
    words = f"On a line from 0 to 1: value {value:.3f}, shuffled {control:.3f}"
    return (
        f'<svg viewBox="-6 -8 212 16" role=img aria-label="{words}"><path class=axis d="M0 0H200M0 -4V4M200 -4V4"/>'
        f'<path class=reach d="M{low:.1f} 0H{high:.1f}"/><path class=chance d="M{control * 200:.1f} -6V6"/>'
        f'<circle cx="{value * 200:.1f}" r=4 /></svg>'
    )


def _matrix(found: dict) -> str:
    rows = found["mutual_information"]["latents × factors"]
    top = max(max(map(max, rows)), 1e-12)
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in found["factors"])
    body = "".join(
        f"<tr><th scope=row>z{place}</th>"
        + "".join(f'<td style="--share:{45 * value / top:.0f}%">{value:.3f}</td>' for value in row) + "</tr>"
        for place, row in enumerate(rows)
    )  # fmt: skip
    return f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"


def _list(title: str, items: list[str]) -> str:
    return f"<h2>{title}</h2><ul>{''.join(f'<li>{html.escape(item)}</li>' for item in items)}</ul>" if items else ""


def title(name: str) -> str:
    """A score's name, as people write it."""
    words = {"mig": "MIG", "dci": "DCI", "sap": "SAP", "irs": "IRS", "infomec": "InfoMEC", "dci_es": "DCI-ES"}
    words |= {f"axis_{kind}_ratio": f"Axis-{kind} ratio" for kind in ("alignment", "orientation")}
    return words.get(name, name.replace("_", " ").capitalize())


def _finite(value: float) -> float | None:
    """JSON has no infinity: what is infinite becomes null."""
    return value if math.isfinite(value) else None
