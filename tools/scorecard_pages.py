"""The scorecard's pages as Markdown, from verdicts: the overview, the claims of a chapter, the claims of a paper."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import course_list
import scorecard_figures
from course_replication import Verdict
from course_replication.card_tables import Table
from course_replication.cards import PAPER_NAMES
from course_replication.claims import LATER, PAPERS
from course_replication.summaries import load_summaries
from course_replication.verdicts import KINDS, VERDICTS
from scorecard_claims import (
    badge,
    chapter_titles,
    folded,
    is_written,
    linked,
    listed,
    picture,
    plain_text,
    with_reasons,
)
from scorecard_counts import (
    SCALES,
    Step,
    at_size,
    by_paper,
    counts_html,
    firmness,
    in_words,
    once,
    place,
    shaky,
    shared,
    steps_of,
    tested,
    those,
)

MADE = "<!-- Made from course_replication/claims/ and the stored results by `make scorecard`: change those. -->"
PLURAL = {"number": "numbers", "order": "orders", "construction": "constructions"}
CAPTION = "Claims by kind of evidence, scale and verdict; each count leads to its claims"
COMMONEST = 3  # deviations that a paper's summary names
FILTER = {"verdict": VERDICTS, "kind": KINDS, "scale": SCALES}  # what one can ask for, beside the chapter
READ = "This page is made from the stored results, and the book is not built with one that says anything else."
EVIDENCE = """What was compared is of one of three kinds, and none of them stands for another:

**number**
: A printed number that somebody measured came out again, or did not.

**order**
: One thing is larger than another, over seeds, with its test.

**construction**
: A theorem, an identity, a formula or an algorithm that our code satisfies: it was built right, and the statement is
  true here; no experiment was repeated.

And it was compared at one of three scales, which never count together: **exact** trains nothing, on the paper's data or
what the course draws again of it, as its card says; **small** trains on a small grid, with a small network or for few
steps; **full** takes the paper's data, network and size of images. How long it trains, and with which batch, stands on
the card, and is often less than in the paper. Where there are enough full runs, a claim has the verdict of these, and
says beside it how its small ones fare."""
MEANING = Table(
    "What a verdict means, by kind of evidence",
    ("verdict", "number", "order", "construction"),
    (
        (
            "match",
            "Without training: it agrees to the printed digits, or to a tolerance that the card explains. Trained: it "
            "lies, but for the rounding of print, where 95 % of such means would, by the spread of five seeds or more, "
            "and that interval is narrower than the gap to the control, which would not be printed the same.",
            "Every step is shown by a one-sided test at 95 % over five seeds or more, the controls do not pass the "
            "same test, and what is called trained has learnt.",
            "It holds in every setting measured, and these are three or more, those at the edge included.",
        ),
        (
            "direction",
            "It is off, but the order that the numbers imply holds; or it is within a wide tolerance, but many "
            "standard errors off.",
            "–",
            "–",
        ),
        (
            "fail",
            "It is off, measured by what could have shown it.",
            "The reverse is shown by the same test, or the difference to be smaller than a margin stated before.",
            "There is a setting in which it does not hold.",
        ),
        (
            "inconclusive",
            "The interval is as wide as the gap to the control, or the seeds are fewer than five; or what was measured "
            "had been fitted to what is printed.",
            "Neither direction is shown; or a control passes too, or there is none and no reason for that; or an arm "
            "has not learnt; or the treatment was not applied; or the threshold is ours.",
            "Seen in fewer than three settings; or only some hold, and the statement does not say which.",
        ),
        ("not run", "No results yet, or too few.", "The same.", "The same."),
        ("out of reach", "It needs data or models that cannot be had: the reason is told.", "The same.", "The same."),
    ),
)
CONTROLS = """A *control* is the same measurement where there is nothing to find: on an *untrained* network, or on
*shuffled* codes, those of a trained one handed to the wrong images. A card shows whichever comes nearer to ours. Where
it is one network for both sides, it can show no difference, and the card says so. An arm has *learnt* if its
reconstruction leaves at most half of the pixels' variance.
*Holm's correction* makes tests stricter the more of them there are: with a probability of 95 %, no false one passes."""


def overview(verdicts: Sequence[Verdict]) -> str:
    """The front page: what was reproduced, how firm that is, what failed, and what nobody can tell yet.

    All of it is of the five papers; claims of later ones have a section of their own, and are counted in no other.
    """
    later = [each for each in verdicts if each.claim.paper == LATER]
    verdicts = [each for each in verdicts if each.claim.paper != LATER]
    steps = steps_of(verdicts)
    parts = [
        MADE,
        "# Scorecard",
        f"{len(verdicts)} tables, figures and stated results of five papers, held against what came out here; "
        f"{len(tested(verdicts))} of them have been tested. {at_size(verdicts)} [What the words mean](#verdicts) is "
        "told at the end.",
        counts_html(verdicts, CAPTION, "scorecard_chapters"),
        *filter(None, [shared(verdicts)]),
        "Look a claim up [by chapter](scorecard_chapters.md) or by paper: "
        f"{', '.join(f'[{PAPER_NAMES[paper]}]({page_of(paper)})' for paper in PAPERS)}. "
        "[Every run](runs.md) is listed with its settings, seeds and time.",
        "## Numbers that were reproduced",
        listed(those(verdicts, "match", "number")) or "None so far.",
    ]
    for kind, title in (("order", "Orders that hold"), ("construction", "Constructions that hold")):
        found = those(verdicts, "match", kind)
        parts += [f"## {title}", *(_folded_list(in_words(found), listed(found)) if found else ["None so far."])]
    parts += ["## How firm the orders are", firmness(steps), *_shaky(steps)]
    parts += ["## By paper", picture(scorecard_figures.counts(by_paper(verdicts)))]
    parts += _of_later(later)
    parts += ["## What failed", *_by_kind(those(verdicts, "fail"), fold=False)]
    parts += ["## Where only the direction agrees", *_by_kind(those(verdicts, "direction"), fold=False)]
    parts += ["## What is inconclusive", *_by_kind(those(verdicts, "inconclusive"), fold=True)]
    meaning = f'<div class="claim-meanings">\n{MEANING.html()}\n</div>'
    return _page([*parts, "(verdicts)=\n## What the words mean", READ, EVIDENCE, meaning, CONTROLS])


def _of_later(verdicts: Sequence[Verdict]) -> list[str]:
    """What came of the claims of later papers, apart from the five."""
    if not verdicts:
        return []
    said = (
        f"Chapter 22 holds {len(verdicts)} statements of papers from after 2019, beside the five, against small "
        f"trainings and constructions of its own; they are in no count above. Of [these claims]({page_of(LATER)}): "
        f"{in_words(verdicts)}."
    )
    return ["## After the papers", said, listed(verdicts)]


def by_chapter(verdicts: Sequence[Verdict]) -> str:
    """The claims of each chapter in a list, numbers first and what was not tested last."""
    parts = [
        MADE,
        "# Claims by chapter",
        "[The scorecard](scorecard.md) has the counts, and what the verdicts mean.",
        filter_form(verdicts),
    ]
    for part in course_list.parts():
        parts.append(f"## {part['part']}")
        for name, (title, *_) in part["chapters"].items():
            claims = [each for each in verdicts if each.claim.chapter == name]
            if claims:
                read = f"[Read the chapter](../chapters/{name}.ipynb)"
                chapter = read if is_written(name) else "The chapter is to come"
                head = f"(claims-of-chapter-{name[:2]})=\n### {name[:2]} {title}"
                parts += [head, f"{chapter}. {in_words(claims)[:1].upper()}{in_words(claims)[1:]}."]
                parts.append(listed(claims, filtered=True))
    return _page(parts)


def of_paper(paper: str, verdicts: Sequence[Verdict], text: Callable, runs: str, steps: Sequence[Step]) -> str:
    """The claims of a paper below a summary: tested ones by kind of evidence, in its order, then the others.

    text : where a claim's runs are told, from a verdict to Markdown. runs : what was run for the paper, in a sentence.
    steps : those of all papers that were tested over seeds; those of later papers are corrected by themselves.
    """
    if paper == LATER:
        steps = steps_of(verdicts)
    own = [each for each in steps if each.verdict.claim.paper == paper]
    parts = [MADE, f"# Claims of {PAPER_NAMES[paper]}", *summary(paper, verdicts, runs, own, len(once(steps)))]
    parts += ["## The claims", filter_form(verdicts)]
    for kind in KINDS:
        found = [each for each in tested(verdicts) if each.kind == kind]
        parts += [f"### {PLURAL[kind].capitalize()}"] if found else []
        parts += [part for each in found for part in folded(each, text(each))]
    for word, title in (("not run", "Not run yet"), ("out of reach", "Out of reach")):
        found = [each for each in verdicts if each.verdict == word]
        parts += [f"### {title}"] if found else []
        parts += [part for each in found for part in folded(each, "")]
    return _page(parts)


def summary(paper: str, verdicts: Sequence[Verdict], runs: str, own: Sequence[Step], among: int) -> list[str]:
    """What a reviewer would write: judgements from summaries.yml, and counts."""
    judged = load_summaries()[paper]
    done = tested(verdicts)
    sizes = Counter(each.scale for each in done)
    scales = {"exact": "without training", "small": "in small trainings", "full": "in trainings at the paper's size"}
    how = [f"{sizes[scale]} {words}" for scale, words in scales.items() if sizes[scale] or scale == "full"]
    out = [f"{in_words([each for each in done if each.kind == kind])}" for kind in KINDS]
    out = [words for words in out if words != "none"]
    deviations = Counter(note for each in done if each.scale != "exact" for note in each.deviations)
    most = "; ".join(note for note, _ in deviations.most_common(COMMONEST))
    numbers = [linked(each, source=False) for each in those(verdicts, "match", "number")]
    whose, papers_do = ("these", "papers do") if paper == LATER else ("its", "paper does")
    came = f"Numbers that were reproduced: {'; '.join(numbers)}" if numbers else "No printed number was reproduced"
    return [
        f"**Scope.** {plain_text(judged.scope)}",
        f"**What was run.** {len(done)} of {whose} {len(verdicts)} claims were tested: {', '.join(how)}. {runs}"
        + (f" What most often differs from the paper: {plain_text(most)}." if most else ""),
        f"**What came out.** {came}. In all: {'; '.join(out) or 'nothing so far'}. {firmness(own, among)}",
        counts_html(verdicts, CAPTION, f"scorecard_{paper}"),
        f"**What was easy.** {plain_text(judged.easy)}",
        f"**What was hard.** {plain_text(judged.hard)}",
        f"**What the {papers_do} not print.** {plain_text(judged.unprinted)}",
        *_shaky(own),
    ]


def filter_form(verdicts: Sequence[Verdict]) -> str:
    """Lists to choose from, of what there is on the page, with the script that makes them work and shows them."""
    there = {
        "verdict": {each.verdict for each in verdicts},
        "kind": {each.kind for each in verdicts},
        "scale": {each.scale for each in verdicts},
    }
    chapters = sorted({each.claim.chapter for each in verdicts})
    choices = {name: [(word.replace(" ", "-"), word) for word in words if word in there[name]]
               for name, words in FILTER.items()}  # fmt: skip
    choices["chapter"] = [(name[:2], f"{name[:2]} {chapter_titles()[name]}") for name in chapters]
    lines = ['<form id="filter" class="claim-filter" aria-label="Which claims are shown" hidden>']
    for name, options in choices.items():
        shown = "".join(f'<option value="{value}">{words}</option>' for value, words in options)
        lines.append(f'<label>{name} <select name="{name}"><option value="">any</option>{shown}</select></label>')
    lines += [
        '<button type="reset">Show all</button> <button type="button" class="claim-unfold">Open those shown</button>',
        '<output aria-live="polite"></output>',
        "</form>",
        '<script defer src="../claims.js"></script>',
    ]
    return "\n".join(lines)


def page_of(paper: str) -> str:
    return f"scorecard_{paper}.md"


def papers(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Paper → its claims, in the order of their files."""
    return {paper: [*group] for paper, group in groupby(verdicts, key=lambda each: each.claim.paper)}


def _by_kind(verdicts: Sequence[Verdict], fold: bool) -> list[str]:
    """The claims with their reasons, below the kind of their evidence."""
    parts = []
    for kind in KINDS:
        found = sorted((each for each in verdicts if each.kind == kind), key=place)
        if found:
            parts += _folded_list(in_words(found), with_reasons(found)) if fold else [with_reasons(found)]
    return parts or ["Nothing so far."]


def _shaky(steps: Iterable[Step]) -> list[str]:
    """The steps that hold and do not survive, on request."""
    lines = []
    for each in shaky(steps):
        why = [] if each.step.stable else ["not without one of the seeds"]
        why += [] if each.firm else ["not after Holm's correction"]
        said = f"`{each.step.first} > {each.step.second}`, p = {each.step.p:.2g}, {' and '.join(why)}"
        lines.append(f"- {badge(each.verdict)} {linked(each.verdict)}: {said}")
    return _folded_list(f"Steps that hold and do not survive: {len(lines)}", "\n".join(lines)) if lines else []


def _folded_list(title: str, text: str) -> list[str]:
    return [f"<details><summary>{title}</summary>", text, "</details>"]


def _page(parts: Sequence[str]) -> str:
    return "\n\n".join(parts) + "\n"
