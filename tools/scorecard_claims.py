"""One claim on the scorecard's pages: its badge, a link to it, and all that is known of it, folded below its title."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape

import course_lib.data
import course_list
import notebook_io
import scorecard_figures
from course_replication import Card, Run, Verdict
from course_replication.card_tables import Table, tables_of
from course_replication.cards import PAPER_NAMES, badge_of, remarks_html
from course_replication.plans import runs_of
from course_replication.words import one_line, sentence
from scorecard_counts import TESTED, place

KINDS = {"exact": "needs no training", "theory": "needs no training", "trained": "needs trainings"}
SCALES = {"small": "of which a small version runs on a CPU", "full": "on a GPU"}
LONG = 12  # rows of a table that is shown without being asked for
REASONS = 2  # that are told where claims are listed; the claim itself tells all


def badge(verdict: Verdict, filtered: bool = False) -> str:
    """The verdict with its kind and scale; filtered : it carries what the filter of its page asks for."""
    marks = f" {_marks(verdict)}" if filtered else ""
    return f'<strong class="verdict verdict-{_word(verdict)}"{marks}>{badge_of(verdict)}</strong>'


def folded(verdict: Verdict, runs: str) -> list[str]:
    """The claim below one line with badge, title and source; a link to it opens it. runs : where its runs are told."""
    claim = verdict.claim
    summary = (
        f'<summary>{badge(verdict)} <b class="claim-title">{escape(one_line(claim.title))}</b> '
        f'<span class="claim-source">{escape(one_line(claim.locator))}</span></summary>'
    )
    drawn = scorecard_figures.picture_of(verdict)
    parts = [f'<details class="claim" {_marks(verdict)}>{summary}', f"({claim.id})=\n{said(verdict)}"]
    parts += [picture(drawn)] if drawn else []
    parts += [table_html(table) for table in tables_of(verdict)]
    parts.append(remarks_html(Card(verdict).remarks) if verdict.verdict in TESTED else plain_text(waits(verdict)))
    link = f"[`{claim.id}`](#{claim.id})"
    return [*parts, " · ".join([chapter_link(claim.chapter), *filter(None, [runs]), link]), "</details>"]


def said(verdict: Verdict) -> str:
    """The claim's statement and the note on it."""
    claim = verdict.claim
    return plain_text(claim.statement) + (f" Note: {plain_text(sentence(claim.notes))}" if claim.notes else "")


def waits(verdict: Verdict) -> str:
    """What a claim without a result waits for."""
    claim = verdict.claim
    if verdict.verdict != "not run":
        return sentence(verdict.why)
    planned = len(runs_behind(verdict))
    scale = f", {SCALES[claim.scale]}" if claim.kind == "trained" else ""
    done = f"{planned - verdict.missing} of {planned} runs are done" if planned else one_line(verdict.why)
    files = f", which take the published file of {' and '.join(published(verdict))}" if published(verdict) else ""
    return sentence(f"it {KINDS[claim.kind]}{scale}; {done}{files}")


def published(verdict: Verdict) -> list[str]:
    """The datasets of a claim's runs that are not drawn, but read from files that are not part of the course."""
    names = {str(run.settings.get("data")) for run in runs_behind(verdict)}
    sources = {name: str(getattr(getattr(course_lib.data, name, None), "source", "")) for name in names}
    return sorted(name for name, source in sources.items() if source.startswith("the published file"))


def runs_behind(verdict: Verdict) -> list[Run]:
    """The claim's runs at the scale of the verdict; what trains nothing is planned with the full ones."""
    return runs_of(verdict.claim, "full" if verdict.scale == "exact" else verdict.scale)


def linked(verdict: Verdict, source: bool = True) -> str:
    claim = verdict.claim
    link = f"[{plain_text(claim.title)}](#{claim.id})"
    return f"{link} ({PAPER_NAMES[claim.paper]}, {plain_text(claim.locator)})" if source else link


def agreeing(verdict: Verdict) -> str:
    """How much of what is compared agrees, such as ": 12 of 12 numbers, 4 of 5 steps of the order"."""
    shares = []
    for words, answers in (
        ("numbers", [number.agrees for number in verdict.numbers]),
        ("steps of the order", [step.holds for step in verdict.orders]),
        ("answers", [holds for _, holds in verdict.holds]),
    ):
        shares += [f"{sum(answers)} of {len(answers)} {words}"] if answers else []
    return f": {', '.join(shares)}" if shares else ""


def listed(verdicts: Sequence[Verdict], filtered: bool = False) -> str:
    """A list with a line for each claim, badge and link; filtered : on a page with a filter, and without shares."""
    shares = (lambda _: "") if filtered else agreeing
    ordered = sorted(verdicts, key=place)
    return "\n".join(f"- {badge(each, filtered)} {linked(each)}{shares(each)}" for each in ordered)


def with_reasons(verdicts: Sequence[Verdict]) -> str:
    """A list in which claims share a line if their badge and the reason for it are the same."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for each in verdicts:
        groups.setdefault((badge(each), reason(each)), []).append(each)
    return "\n".join(
        f"- {word} {'; '.join(map(linked, group))}: {why}" if len(group) == 1
        else f"- {word} {len(group)} claims: {why} {'; '.join(map(linked, group))}."
        for (word, why), group in groups.items()
    )  # fmt: skip


def reason(verdict: Verdict) -> str:
    """Why it is no match, as a sentence with no more than the first few of many reasons."""
    parts = one_line(verdict.why).split("; ")
    more = [f"and {len(parts) - REASONS} more"] if len(parts) > REASONS else []
    return plain_text("; ".join([*parts[:REASONS], *more]) + ".")


def table_html(table: Table) -> str:
    """The table; a long one only on request."""
    if len(table.rows) <= LONG:
        return table.html()
    agree = sum(row[-1] == "yes" for row in table.rows)
    share = f": {agree} of {len(table.rows)} agree" if table.header[-1] in ("agrees", "holds", "shown") else ""
    return f"<details><summary>{escape(table.caption)}{share}</summary>\n{table.html()}\n</details>"


def picture(drawn: scorecard_figures.Picture) -> str:
    """It is loaded when it comes into sight; `html_extra_path` lays the book's static files beside its pages."""
    return (
        f'<figure class="claim-picture"><img loading="lazy" src="../scorecard/{drawn.name}.svg" '
        f'alt="{escape(drawn.alt)}">\n<figcaption>{escape(drawn.caption)}</figcaption></figure>'
    )


def chapter_link(name: str) -> str:
    """The chapter's number and title, linked where it is written."""
    words = f"Chapter {name[:2]}, {chapter_titles()[name]}"
    return f"[{words}](../chapters/{name}.ipynb)" if is_written(name) else f"{words} (to come)"


@cache
def is_written(name: str) -> bool:
    """Whether the chapter is a page of the book."""
    return f"file: chapters/{name}\n" in (notebook_io.ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")


@cache
def chapter_titles() -> dict[str, str]:
    return course_list.titles()


def plain_text(text: str) -> str:
    """Text on one line in which Markdown sees no marks."""
    return re.sub(r"([\\`*<$\[\]{}|]|(?<!\w)_|_(?!\w))", r"\\\1", one_line(text))


def _word(verdict: Verdict) -> str:
    return verdict.verdict.replace(" ", "-")


def _marks(verdict: Verdict) -> str:
    """What the filter asks for, as attributes of an element."""
    return (
        f'data-verdict="{_word(verdict)}" data-kind="{verdict.kind}" data-scale="{verdict.scale}" '
        f'data-chapter="{verdict.claim.chapter[:2]}"'
    )
