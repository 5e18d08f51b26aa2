"""A claim on a card: what a paper says beside what came out here, with the verdict, for a chapter's cell.

    from course_replication import card
    card("distances/table-3.1-dsprites")

It shows a table in a notebook and text elsewhere, from the stored results alone: nothing is run. `claims_of` lists the
claims of a chapter in the same way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from course_replication.card_tables import Table, tables_of
from course_replication.claims import CHAPTERS, claims_named, load_claims
from course_replication.comparisons import LEARNT, Ordered, step_named
from course_replication.plans import metrics_of
from course_replication.store import RESULTS, Store
from course_replication.verdicts import Verdict, best_verdict, verdict_of
from course_replication.words import ended, one_line, sentence

PAPER_NAMES = {
    "distances": "the thesis", "factorvae": "FactorVAE", "assumptions": "Common assumptions", "isa": "ISA-VAE",
    "review": "the review", "after": "later papers",
}  # fmt: skip
MEASURES = {  # that their names do not tell, or not which way is better
    "reconstruction": "an error, the smaller the better",
    "left": "the share of the pixels' variance that reconstructions miss, the smaller the better",
    "rank": "the rank correlation of distances between codes with those between factors, self-pairs included",
    "rank-distinct": "rank, of different images alone, a geometric mean over factors, 0 unless all are positive",
    "data-rank": "the rank correlation of distances between codes with perceived distances",
    "matrix-rank": "the rank correlation, along a factor, of places' mean distances with how far they are apart",
    "infom": "modularity, at most 1",
    "infoe": "explicitness, at most 1",
    "low-frequency-share": "of the power of images, how much is at low frequencies: a blur has much",
}
WHY = {"inconclusive": "Why inconclusive", "fail": "Why it fails"}  # verdicts that need a reason
SCALES_IN_WORDS = {
    "exact": "exact: nothing is trained",
    "small": "small: trained on a small grid, with a small network or for few steps",
    "full": "full: the data, the network and the size of images are the paper's, the length of training need not be",
}


def card(claim: str, *, scale: str | None = None, store: str | Path = RESULTS) -> "Card":
    """The card of the claim of that id, such as "distances/table-3.1-dsprites".

    scale : "small" or "full"; by default the full runs where they have a verdict, and else the small ones.
    store : a file of results; by default those that the course comes with.

    Raises ValueError for an id that is none, and names near ones.
    """
    (found,) = claims_named([claim])
    results = Store(store).results()
    return Card(best_verdict(found, results) if scale is None else verdict_of(found, results, scale))


def claims_of(chapter: str, *, store: str | Path = RESULTS) -> "ClaimList":
    """The claims that the chapter of that name shows, such as "15_xysquares", each with its verdict.

    Raises ValueError for a name that is none.
    """
    if chapter not in CHAPTERS:
        raise ValueError(f"chapter: got {chapter!r}; expected one of {', '.join(CHAPTERS)}.")
    results, mine = Store(store).results(), [claim for claim in load_claims() if claim.chapter == chapter]
    return ClaimList(chapter, tuple(best_verdict(claim, results) for claim in mine))


@dataclass(frozen=True, repr=False)
class ClaimList:
    """What `claims_of` returns: `verdicts`, and a table of them wherever it is shown."""

    chapter: str
    verdicts: tuple[Verdict, ...]

    @property
    def table(self) -> Table:
        places = (f"{PAPER_NAMES[one.claim.paper]}, {one.claim.locator}" for one in self.verdicts)
        rows = [(badge_of(one), place, one.claim.title) for one, place in zip(self.verdicts, places, strict=True)]
        return Table(f"The claims of chapter {self.chapter[:2]}", ("verdict", "place", "claim"), tuple(rows))

    def __repr__(self) -> str:
        return self.table.text()

    def _repr_html_(self) -> str:
        return f'<div class="claim-list" data-chapter="{self.chapter}">\n{self.table.html()}\n</div>'

    def _repr_markdown_(self) -> str:
        return self.table.markdown()


@dataclass(frozen=True, repr=False)
class Card:
    """What `card` returns: `verdict` holds everything that is shown; `print` and notebooks show it as tables."""

    verdict: Verdict

    @property
    def heading(self) -> str:
        """The paper, the place in it, and the claim's title."""
        claim = self.verdict.claim
        return f"{PAPER_NAMES[claim.paper]}, {claim.locator}: {claim.title}"

    @property
    def badge(self) -> str:
        """The verdict with what it rests on: the kind of the evidence and the scale."""
        return badge_of(self.verdict)

    @property
    def statement(self) -> str:
        return one_line(self.verdict.claim.statement)

    @property
    def remarks(self) -> list["Remark"]:
        """Below the tables, each under a word of its own: what came out, the runs, how firm it is, and what differs."""
        if self.verdict.verdict in ("not run", "out of reach"):
            return [Remark(self.verdict.verdict.capitalize(), sentence(self.verdict.why))]
        told = chain.from_iterable(part(self.verdict) for part in (_conclusion, _runs, _firmness, _context))
        return [Remark(label, ended(text)) for label, text in told]

    def __repr__(self) -> str:
        parts = [f"{self.badge.upper()} · {self.heading}", self.statement]
        parts += [table.text() for table in tables_of(self.verdict)]
        return "\n\n".join([*parts, "\n".join(map(str, self.remarks)), f"claim {self.verdict.claim.id}"])

    def _repr_html_(self) -> str:
        word = self.verdict.verdict.replace(" ", "-")
        parts = [
            f'<p><strong class="verdict verdict-{word}">{self.badge}</strong> {escape(self.heading)}</p>',
            f"<p>{escape(self.statement)}</p>",
            *(table.html() for table in tables_of(self.verdict)),
        ]
        parts += [remarks_html(self.remarks), f"<p><code>{self.verdict.claim.id}</code></p>"]
        return "\n".join(['<div class="claim-card">', *parts, "</div>"])

    def _repr_markdown_(self) -> str:
        parts = [f"**{self.badge}** · {self.heading}", self.statement]
        parts += [table.markdown() for table in tables_of(self.verdict)]
        parts += ["\n".join(f"- **{label}:** {text}" for label, text in self.remarks)]
        return "\n\n".join([*parts, f"`{self.verdict.claim.id}`"])


def _conclusion(verdict: Verdict) -> Iterator[tuple[str, str]]:
    differs = [number.why for number in verdict.numbers if not number.agrees and verdict.claim.kind == "trained"]
    if verdict.claim.finding:
        yield "Finding", sentence(verdict.claim.finding)
    if verdict.verdict in WHY:
        yield WHY[verdict.verdict], verdict.why
    elif differs:  # of what needs no training, the table says all
        yield "What differs", "; ".join(differs)


def _runs(verdict: Verdict) -> Iterator[tuple[str, str]]:
    seeds = f"; {verdict.n} seeds" if verdict.claim.kind == "trained" else ""
    places = f"; in {verdict.settings} settings" if verdict.settings else ""
    yield "Scale", f"{SCALES_IN_WORDS[verdict.scale]}{seeds}{places}"
    if verdict.lengths:
        lengths = (f"{steps:,} steps" + (f" with batches of {n:,}" if n else "") for steps, n in verdict.lengths)
        yield "Trained for", ", ".join(lengths)
    if verdict.learnt:
        shares = (f"{each.arm} {each.left:.2f}" for each in verdict.learnt if each.left is not None)
        yield "Not reconstructed", f"{', '.join(shares)} of the pixels' variance; above {LEARNT} is not learnt"
    if verdict.missing:
        yield "Still missing", f"{verdict.missing} of its runs"


def _firmness(verdict: Verdict) -> Iterator[tuple[str, str]]:
    expects, holding = verdict.claim.expects, [step for step in verdict.orders if step.holds]
    if shaky := [step for step in holding if not step.stable]:
        yield "Fragile", f"not shown any more if some one seed is left out: {_listed(shaky, holding)}"
    bare = [step for step in verdict.orders if not step.controlled]
    if bare and expects.uncontrolled:
        yield "Without a control", f"{_listed(bare)}. {sentence(expects.uncontrolled)}"
    if blind := [step for step in holding if step.blind]:
        yield "Blind controls", f"the same on both sides, so they can tell nothing: {_listed(blind, holding)}"
    if expects.tolerated and verdict.numbers:
        yield "Tolerance", expects.tolerated
    if verdict.claim.changed:
        yield "Changed after results", verdict.claim.changed


def _context(verdict: Verdict) -> Iterator[tuple[str, str]]:
    if verdict.small:
        why = f": {verdict.small.why}" if verdict.small.verdict != "match" else ""
        yield "Small trainings", f"on their own: {badge_of(verdict.small)}, {verdict.small.n} seeds{why}"
    trained = metrics_of(verdict.claim) if verdict.claim.kind == "trained" else ()
    compared = {name.partition("/")[0] for name in trained}
    if measures := [name for name in MEASURES if name in compared]:
        yield "Measures", "; ".join(f"{name}: {MEASURES[name]}" for name in measures)
    if verdict.deviations:
        yield "Unlike the paper", "; ".join(verdict.deviations)


class Remark(NamedTuple):
    """A sentence on a card, and the word that it stands under."""

    label: str
    text: str

    def __str__(self) -> str:
        return f"{self.label}: {self.text}"


def remarks_html(remarks: Sequence[Remark]) -> str:
    """A list of descriptions: a reader who looks for one thing, such as how long was trained, finds its word."""
    rows = "\n".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in remarks)
    return f'<dl class="claim-remarks">\n{rows}\n</dl>'


def _listed(steps: Sequence[Ordered], holding: Sequence[Ordered] = ()) -> str:
    """Steps by name; three or more that are all of those that hold are not told one by one."""
    if len(steps) > 2 and len(steps) == len(holding):
        return "every step that holds"
    return "; ".join(step_named(step.first, step.second) for step in steps)


def badge_of(verdict: Verdict) -> str:
    """Such as "match · order · small": readers must never take one kind of evidence, or one scale, for another."""
    if verdict.verdict in ("not run", "out of reach"):
        return verdict.verdict
    return f"{verdict.verdict} · {verdict.kind} · {verdict.scale}"
