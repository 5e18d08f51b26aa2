"""The scorecard's pages as Markdown, from verdicts: the overview, the claims of a chapter, the claims of a paper."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from html import escape
from itertools import groupby

import course_lib.data
import course_map
import notebook_io
import scorecard_figures
from course_replication import Card, Verdict
from course_replication.card_tables import Table, tables_of
from course_replication.cards import PAPER_NAMES, one_line, sentence
from course_replication.plans import runs_of
from course_replication.verdicts import VERDICTS

MADE = "<!-- Made from course_replication/claims/ and the stored results by `make scorecard`: change those. -->"
TESTED = ("fail", "direction", "match")  # in the order in which a list names them
LONG = 12  # rows of a table that is shown without being asked for
MEANING = """A verdict is computed from the stored results whenever this page is made, and the book is not built with
a page that says anything else.

**match**
: What needs no training agrees with the paper to the digits that are printed, or as closely as the table says. What is
  trained, with five seeds or more: the paper's number lies where 95 % of such runs would, by the spread of our seeds,
  and that interval is narrower than the gap to the control. Orders hold in a one-sided test at 95 %, answers are yes.

**direction**
: The order holds, a number differs.

**fail**
: It does not hold here.

**not run**
: Nothing has measured it yet, or too few runs are done.

**out of reach**
: It needs data or models that cannot be had.

A *control* is the same measurement where there is nothing to find: an encoder that was not trained, or factors that
were shuffled. *Small* runs, trainings on a small grid, and full ones never count together: a claim has
the verdict of its full runs where there are any."""
SMALL = (
    "Trained on a small grid and for few steps, to be cheap: what fails here may hold at the paper's size, and the "
    "other way round."
)
KINDS = {"exact": "needs no training", "theory": "needs no training", "trained": "needs trainings"}
SCALES = {"small": "of which a small version runs on a CPU", "full": "on a GPU"}


def overview(verdicts: Sequence[Verdict]) -> str:
    """The front page: how many hold, and what failed."""
    tested = [each for each in verdicts if each.verdict in TESTED]
    small = sum(map(is_small, tested))
    in_small = f", {small} of them only in small runs, on a small grid and for few steps" if small else ""
    failed = [each for each in verdicts if each.verdict == "fail"]
    partly = [each for each in verdicts if each.verdict == "direction"]
    parts = [
        MADE,
        "# Scorecard",
        f"What five papers say, held against what came out here: {len(verdicts)} tables, figures and stated results, "
        f"of which {len(tested)} have been tested so far{in_small}.",
        counts_table(verdicts).html(),
        picture(scorecard_figures.counts(by_paper(verdicts))),
        "Look a claim up [by chapter](scorecard_chapters.md) or by paper: "
        f"{', '.join(f'[{name}]({page_of(paper)})' for paper, name in PAPER_NAMES.items())}. "
        "[Every run](runs.md) is listed with its settings, seeds and time. [What the verdicts mean](#verdicts) is told "
        "at the end.",
        "## What failed",
    ]
    measured, small = ([each for each in failed if is_small(each) is wanted] for wanted in (False, True))
    if not measured:
        parts.append("Nothing that was measured as in the papers." if small else "Nothing so far.")
    parts += [told(each) for each in _important_first(measured)]
    parts += ["## What failed in small runs", SMALL] if small else []
    parts += [told(each) for each in _important_first(small)]
    parts += ["## Where only the direction agrees"] if partly else []
    parts += [told(each) for each in _important_first(partly)]
    return _page([*parts, "(verdicts)=\n## What the verdicts mean", MEANING])


def by_chapter(verdicts: Sequence[Verdict]) -> str:
    """The claims of each chapter: those that were tested in a list, the others in one line."""
    parts = [MADE, "# Claims by chapter", "[The scorecard](scorecard.md) has the counts, and what the verdicts mean."]
    for part in course_map.parts():
        parts.append(f"## {part['part']}")
        for name, (title, _) in part["chapters"].items():
            claims = [each for each in verdicts if each.claim.chapter == name]
            if claims:
                parts += [f"(claims-of-chapter-{name[:2]})=\n### {name[:2]} {title}", *_chapter(name, claims)]
    return _page(parts)


def of_paper(paper: str, verdicts: Sequence[Verdict], text) -> str:
    """The claims of a paper in its order: the tested ones with all numbers, then the others.

    text : where a claim's runs are told, from a verdict to Markdown.
    """
    name = PAPER_NAMES[paper]
    parts = [MADE, f"# Claims of {name}", f"{_counted(verdicts)}. [The scorecard](scorecard.md) says what that means."]
    tested = [each for each in verdicts if each.verdict in TESTED]
    parts += ["## Tested"] if tested else []
    parts += [part for each in tested for part in whole(each, text(each))]
    for word, title in (("not run", "Not run yet"), ("out of reach", "Out of reach")):
        others = [each for each in verdicts if each.verdict == word]
        parts += [f"## {title}", *map(in_short, others)] if others else []
    return _page(parts)


def page_of(paper: str) -> str:
    return f"scorecard_{paper}.md"


def whole(verdict: Verdict, runs: str) -> list[str]:
    """A tested claim: what it says, what was measured, how, and what differs."""
    claim, card = verdict.claim, Card(verdict)
    parts = [f"({claim.id})=\n### {plain_text(claim.locator)}: {plain_text(claim.title)}", said(verdict)]
    drawn = scorecard_figures.picture_of(verdict)
    parts += [picture(drawn)] if drawn else []
    parts += [table_html(table) for table in tables_of(verdict)]
    return [*parts, plain_text(" ".join(card.remarks)), f"{chapter_link(claim.chapter)} · {runs} · `{claim.id}`"]


def in_short(verdict: Verdict) -> str:
    """A claim without a result in one paragraph: what it says, and what it waits for."""
    claim = verdict.claim
    waits = sentence(verdict.why)
    if verdict.verdict == "not run":
        planned = len(runs_of(claim, verdict.scale))
        scale = f", {SCALES[claim.scale]}" if claim.kind == "trained" else ""
        done = f"{planned - verdict.missing} of {planned} runs are done" if planned else one_line(verdict.why)
        files = f", which take the published file of {' and '.join(published(verdict))}" if published(verdict) else ""
        waits = sentence(f"it {KINDS[claim.kind]}{scale}; {done}{files}")
    note = f" Note: {plain_text(sentence(claim.notes))}" if claim.notes else ""
    head = f"({claim.id})=\n**{plain_text(claim.locator)}: {plain_text(claim.title)}**"
    where = f"{chapter_link(claim.chapter)} · `{claim.id}`"
    return f"{head}\n{plain_text(claim.statement)}{note} *{plain_text(waits)}* {where}"


def published(verdict: Verdict) -> list[str]:
    """The datasets of a claim's runs that are not drawn, but read from files that are not part of the course."""
    names = {str(run.settings.get("data")) for run in runs_of(verdict.claim, verdict.scale)}
    sources = {name: str(getattr(getattr(course_lib.data, name, None), "source", "")) for name in names}
    return sorted(name for name, source in sources.items() if source.startswith("the published file"))


def told(verdict: Verdict) -> str:
    """A claim that did not match, with what differs and no more."""
    claim = verdict.claim
    name = PAPER_NAMES[claim.paper]
    place = f"[{name[0].upper()}{name[1:]}, {plain_text(claim.locator)}](#{claim.id})"
    parts = [f"### {plain_text(claim.title)}", f"{said(verdict)} {place}."]
    for table in tables_of(verdict):
        wrong = tuple(row for row in table.rows if row[-1] == "no")
        if wrong:
            caption = table.caption if len(wrong) == len(table.rows) else f"{len(wrong)} of {len(table.rows)} differ"
            parts.append(table_html(Table(caption, table.header, wrong)))
    return "\n\n".join([*parts, plain_text(" ".join(Card(verdict).remarks))])


def said(verdict: Verdict) -> str:
    """The verdict, the claim's statement and the note on it."""
    claim = verdict.claim
    words = f"{badge(verdict)} {plain_text(claim.statement)}"
    return f"{words} Note: {plain_text(sentence(claim.notes))}" if claim.notes else words


def badge(verdict: Verdict) -> str:
    word = verdict.verdict
    small = " (small)" if is_small(verdict) else ""
    return f'<strong class="verdict verdict-{word.replace(" ", "-")}">{word}{small}</strong>'


def is_small(verdict: Verdict) -> bool:
    return verdict.scale == "small" and verdict.verdict in TESTED


def by_paper(verdicts: Sequence[Verdict]) -> dict[str, Counter]:
    """Name of the paper → how many claims have which verdict, and whether only in small runs."""
    found = {name: Counter() for name in PAPER_NAMES.values()}
    for each in verdicts:
        found[PAPER_NAMES[each.claim.paper]][each.verdict, is_small(each)] += 1
    return found


def counts_table(verdicts: Sequence[Verdict]) -> Table:
    """A row for each paper and one for all; behind a count, how many of them rest on small runs."""
    counted = by_paper(verdicts)
    rows = []
    for name, found in [*counted.items(), ("all", sum(counted.values(), Counter()))]:
        cells = []
        for word in VERDICTS:
            small = found[word, True]
            cells.append(f"{found[word, False] + small}{f' ({small})' if small else ''}")
        rows.append((name, *cells, str(found.total())))
    in_small = any(is_small(each) for each in verdicts)
    caption = "Claims by paper and verdict" + ("; in brackets, how many of them only in small runs" if in_small else "")
    return Table(caption, ("paper", *VERDICTS, "all"), tuple(rows))


def table_html(table: Table) -> str:
    """The table; a long one only on request."""
    if len(table.rows) <= LONG:
        return table.html()
    agree = sum(row[-1] == "yes" for row in table.rows)
    words = f"{escape(table.caption)}: {agree} of {len(table.rows)} agree"
    return f"<details><summary>{words}</summary>\n{table.html()}\n</details>"


def picture(drawn: scorecard_figures.Picture) -> str:
    return f"![{plain_text(drawn.alt)}](static/scorecard/{drawn.name}.svg)\n\n*{plain_text(drawn.caption)}*"


def chapter_link(name: str) -> str:
    """The chapter's number and title, linked where it is written."""
    words = f"Chapter {name[:2]}, {_titles()[name]}"
    return f"[{words}](../chapters/{name}.ipynb)" if _is_written(name) else f"{words} (to come)"


def _is_written(name: str) -> bool:
    """Whether the chapter is a page of the book."""
    return f"file: chapters/{name}\n" in (notebook_io.ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")


@cache
def _titles() -> dict[str, str]:
    return {name: texts[0] for part in course_map.parts() for name, texts in part["chapters"].items()}


def plain_text(text: str) -> str:
    """Text on one line in which Markdown sees no marks."""
    return re.sub(r"([\\`*<$\[\]{}|]|(?<!\w)_|_(?!\w))", r"\\\1", one_line(text))


def _chapter(name: str, verdicts: Sequence[Verdict]) -> list[str]:
    chapter = f"[Read the chapter](../chapters/{name}.ipynb)" if _is_written(name) else "The chapter is to come"
    parts = [f"{chapter}. {_counted(verdicts)}."]
    tested = sorted((each for each in verdicts if each.verdict in TESTED), key=lambda each: TESTED.index(each.verdict))
    if tested:
        parts.append("\n".join(f"- {badge(each)} {_linked(each)}{_agreeing(each)}" for each in tested))
    for word in ("not run", "out of reach"):
        others = [_linked(each) for each in verdicts if each.verdict == word]
        parts += [f"{word.capitalize()}: {'; '.join(others)}."] if others else []
    return parts


def _linked(verdict: Verdict) -> str:
    claim = verdict.claim
    return f"[{plain_text(claim.title)}](#{claim.id}) ({PAPER_NAMES[claim.paper]}, {plain_text(claim.locator)})"


def _agreeing(verdict: Verdict) -> str:
    """How much of what is compared agrees, such as ": 12 of 12 numbers, 4 of 5 steps of the order"."""
    shares = []
    for words, answers in (
        ("numbers", [number.agrees for number in verdict.numbers]),
        ("steps of the order", [step.holds for step in verdict.orders]),
        ("answers", [holds for _, holds in verdict.holds]),
    ):
        shares += [f"{sum(answers)} of {len(answers)} {words}"] if answers else []
    return f": {', '.join(shares)}"


def _counted(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{_count(verdicts, word)} {word}" for word in VERDICTS if _count(verdicts, word))


def _count(verdicts: Sequence[Verdict], word: str) -> int:
    return sum(each.verdict == word for each in verdicts)


def _important_first(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return sorted(verdicts, key=lambda each: each.claim.importance)


def _page(parts: Sequence[str]) -> str:
    return "\n\n".join(parts) + "\n"


def papers(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Paper → its claims, in the order of their files."""
    return {paper: [*group] for paper, group in groupby(verdicts, key=lambda each: each.claim.paper)}
