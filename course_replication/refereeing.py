"""A made-up table of results to take apart, drawn by a seed: rows that are sound, and rows with one fault each.

It stands here, since what it asks for is what this course asks of its own results. What is wrong with a row stands with
the exercise that shows the table, 23.5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from course_lib.arguments import check_integers

METHODS = (
    "MIG of 10,000 images. Five seeds unless said otherwise; ± is the standard deviation over seeds unless said "
    "otherwise. 10 latents. β as published unless said otherwise. Correlations are over distinct pairs unless said "
    "otherwise."
)
ALWAYS = {  # what every table has
    "plain": "Q: MIG .31 ± .04.",
    "untrained": "Untrained network: MIG .03 ± .01.",
    "points": "R against Q: accuracy .91 against .88, 3 points; ten seeds each, standard deviation .01.",
}
EITHER = {  # of each a table has one of two
    "faster": (
        "“S learns faster than Q: with both seeds its loss fell first.”",
        "“S learns faster than Q: with each of ten seeds its loss fell first.”",
    ),
    "follows": (
        "P's latents follow the factors: rank correlation of distances .41 ± .02; the untrained network has .12 ± .02.",
        "P's latents follow the factors: rank correlation of distances .41 ± .02. No other row has this score.",
    ),
    "read-out": (
        "A linear read-out of P's latents has an accuracy of .86 ± .01: P has learnt the factors. No others were read.",
        "Accuracy of a linear read-out: P .86 ± .01; the untrained network .74 ± .01.",
    ),
    "position": (
        "R orders position, a factor of 8 values: rank correlation .46 ± .01. Untrained: .21 ± .02.",
        "R orders position, a factor of 8 values: rank correlation .58 ± .01, over pairs drawn with replacement. "
        "Untrained: .41 ± .02.",
    ),
    "best of eight": (
        "P: MIG .37 ± .03, β the best of eight values by this MIG.",
        "P: MIG .37 ± .03, β the best of eight values on five other seeds, which are not reported.",
    ),
    "step": (
        "R: MIG .38 ± .03, all seeds after the same number of steps.",
        "R: MIG .38 ± .03, each seed after the step at which this MIG was highest.",
    ),
    "error": (
        "S, 25 seeds: MIG .330 ± .002, “the error of the mean; over seeds the standard deviation is .05”.",
        "S, 25 seeds: MIG .330 ± .010, “the error of the mean; over seeds the standard deviation is .05”.",
    ),
    "gain": (
        "“S reads out .90 where Q has .88, 2 points more; on a harder task it has .51 where Q has .50, 1 point more: "
        "half the gain.” Ten seeds each, standard deviation .003.",
        "“S reads out .90 where Q has .88, 2 % more; on a harder task it has .51 where Q has .50, 2 % more: the same "
        "gain.” Ten seeds each, standard deviation .003.",
    ),
    "latents": (
        "S with 40 latents reconstructs better than Q with 10: error .012 ± .001 against .019 ± .001.",
        "S with 10 latents reconstructs better than Q with 10: error .012 ± .001 against .019 ± .001.",
    ),
    "best": (
        "**Q' .318 ± .04** is best of its kind; Q: MIG .31 ± .04.",
        "**Q' .420 ± .04** is best of its kind; Q: MIG .31 ± .04.",
    ),
}
FAULTY = dict(zip(EITHER, (0, 1, 0, 1, 0, 1, 0, 1, 0, 0), strict=True))  # which of the two has a fault
FAULTS = 8  # in each table
LETTERS = "ABCDEFGHIJKLM"


@dataclass(frozen=True, repr=False)
class MadeUpTable:
    """Rows by their letters, as they are shown.

    subjects : letter → what the row is about, a key of `ALWAYS` or `EITHER`.
    rows : letter → what is reported.
    """

    subjects: Mapping[str, str]
    rows: Mapping[str, str]

    def __repr__(self) -> str:
        return "\n".join([METHODS, "", *(f"{letter}  {row.replace('**', '')}" for letter, row in self.rows.items())])

    def _repr_html_(self) -> str:
        cells = (
            f'<tr><th scope="row">{letter}</th><td style="text-align: left">{_bold(row)}</td></tr>'
            for letter, row in self.rows.items()
        )
        head = '<thead><tr><th scope="col">row</th><th scope="col" style="text-align: left">reported</th></tr></thead>'
        return f"<p>{escape(METHODS)}</p>\n<table>{head}<tbody>{''.join(cells)}</tbody></table>"


def made_up_table(seed: int) -> MadeUpTable:
    """Thirteen made-up rows, of which eight have one fault each; which, and in what order, is drawn by the seed.

    Raises ValueError for what is no whole number of 0 or more. Chapter 23.
    """
    (seed,) = check_integers(0, seed=seed)
    draw = np.random.default_rng(seed)
    faulty = {*draw.permutation([*EITHER])[:FAULTS].tolist()}
    texts = ALWAYS | {name: pair[FAULTY[name] ^ (name not in faulty)] for name, pair in EITHER.items()}
    subjects = dict(zip(LETTERS, draw.permutation([*texts]).tolist(), strict=True))
    return MadeUpTable(subjects, {letter: texts[name] for letter, name in subjects.items()})


def _bold(text: str) -> str:
    parts = escape(text, quote=False).split("**")
    return "".join(f"<strong>{part}</strong>" if place % 2 else part for place, part in enumerate(parts))
