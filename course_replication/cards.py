"""A claim on a card: what a paper says beside what came out here, with the verdict, for a chapter's cell.

    from course_replication import card
    card("distances/table-3.1-dsprites")

It shows a table in a notebook and text elsewhere, from the stored results alone: nothing is run.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path

from course_replication.card_tables import tables_of
from course_replication.claims import claims_named
from course_replication.store import RESULTS, Store
from course_replication.verdicts import Verdict, best_verdict, verdict_of

PAPER_NAMES = {
    "distances": "the thesis", "factorvae": "FactorVAE", "assumptions": "Common assumptions", "isa": "ISA-VAE",
    "review": "the review",
}  # fmt: skip
SCALES_IN_WORDS = {
    "small": "Small: trained on a small grid and for few steps",
    "full": "Full: trained at the paper's size",
    None: "Nothing is trained here",
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
    def statement(self) -> str:
        return one_line(self.verdict.claim.statement)

    @property
    def remarks(self) -> list[str]:
        """Sentences below the tables: at which scale, what is missing or differs, and what was learnt from that."""
        verdict, said = self.verdict, []
        if verdict.verdict in ("not run", "out of reach"):
            return [sentence(verdict.why)]
        seeds = f", {verdict.n} seeds" if verdict.claim.kind == "trained" else ""
        said.append(f"{SCALES_IN_WORDS[verdict.scale if verdict.trained else None]}{seeds}.")
        if verdict.missing:
            said.append(f"Of its runs {verdict.missing} {'is' if verdict.missing == 1 else 'are'} still missing.")
        if verdict.deviations:
            said.append(f"Unlike the paper: {'; '.join(verdict.deviations)}.")
        differs = [number.why for number in verdict.numbers if not number.agrees and verdict.claim.kind == "trained"]
        if differs:  # of what needs no training, the table says all
            said.append(f"What differs: {'; '.join(differs)}.")
        if verdict.claim.finding and verdict.verdict != "match":
            said.append(sentence(verdict.claim.finding))
        return said

    def __repr__(self) -> str:
        parts = [f"{self.verdict.verdict.upper()} · {self.heading}", self.statement]
        parts += [table.text() for table in tables_of(self.verdict)]
        return "\n\n".join([*parts, "\n".join(self.remarks), f"claim {self.verdict.claim.id}"])

    def _repr_html_(self) -> str:
        word = self.verdict.verdict
        badge = f'<strong class="verdict verdict-{word.replace(" ", "-")}">{word}</strong>'
        parts = [
            f"<p>{badge} {escape(self.heading)}</p>",
            f"<p>{escape(self.statement)}</p>",
            *(table.html() for table in tables_of(self.verdict)),
        ]
        parts += [f"<p>{escape(' '.join(self.remarks))} <code>{self.verdict.claim.id}</code></p>"]
        return "\n".join(['<div class="claim-card">', *parts, "</div>"])

    def _repr_markdown_(self) -> str:
        parts = [f"**{self.verdict.verdict}** · {self.heading}", self.statement]
        parts += [table.markdown() for table in tables_of(self.verdict)]
        return "\n\n".join([*parts, f"{' '.join(self.remarks)} `{self.verdict.claim.id}`"])


def one_line(text: str) -> str:
    return " ".join(text.split())


def sentence(text: str) -> str:
    """`text` on one line, with a capital first and a full stop at the end."""
    text = one_line(text)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
