"""What the papers claim: in claims/PAPER.yml, an entry for each table, figure and statement to be held against ours.

The fields of an entry are those of `Claim`. How a claim fared is not written here: verdicts are computed from results.
Metrics: "reconstruction" is a loss, "rank" Spearman's correlation of latent with factor distances along factors, and
"data-rank" of latent with perceived ones; "active-latents" counts those that are not at the prior; a "gap" is an
absolute difference, a "spread" a standard deviation over seeds. Without an entry, since they show no result: diagrams
of architectures, algorithms and datasets, and the thesis' Tables A.3 to A.7, which are the settings.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path

from course_replication.strict_yaml import load_strictly

CLAIMS = Path(__file__).with_name("claims")  # a file for each paper
# Each paper's label in the bibliography. The one on common assumptions is held as the slides of a talk about it.
PAPERS = dict(
    distances="michlo2022", factorvae="kim2018", assumptions="locatello2019", isa="stuehmer2020", review="ottlik2022"
)
LATER = "after"  # claims of several later papers, of which each names its own: shown and counted apart from the five
GROUPS = (*PAPERS, LATER)
CHAPTERS = tuple(
    """01_disentanglement 02_vae 03_beta_vae_and_capacity 04_measuring_disentanglement 05_total_correlation
    06_moments_and_adversaries 07_infogan 08_impossibility 09_common_assumptions 10_weak_supervision
    11_structured_priors 12_symmetry 13_scale 14_perceived_distance 15_xysquares 16_introducing_overlap
    17_three_scores 18_triplets 19_adaptive_triplets 20_learnt_losses 21_choice_of_factors_and_noise
    22_after_2019""".split()
)
# The papers' datasets and methods that the library has no class for, beside those that it has.
OTHER_DATA = ("CelebA", "Chairs3D", "Faces3D", "RenderedObjects", "SyntheticManifolds")
OTHER_FRAMEWORKS = ("CLIP", "GeoManCEr", "LinearVI")
EVIDENCE = {"value": "number", "direction": "order", "structure": "construction"}  # unless a claim says otherwise
ALLOWED = {
    "paper": GROUPS, "kind": ("exact", "trained", "theory", "out-of-reach"), "chapter": CHAPTERS,
    "scale": ("exact", "small", "full"), "importance": (1, 2, 3, 4, 5), "match": (*EVIDENCE,),
    "evidence": (*EVIDENCE.values(),), "threshold": ("paper", "ours"),
}  # fmt: skip
TYPES = {
    "importance": int,
    "of": int,
    "tolerance": float,
    "margin": float,
    "unlearnt": bool,
    "somewhere": bool,
    "settings": dict,
    "expects": dict,
    "runs": dict,
}  # of fields; others: text
LISTS = {"numbers": dict, "order": str, "holds": str, "applied": str, "data": str, "frameworks": str}  # of what
METRIC = re.compile(r"[\w.-]+(/[\w.-]+)*")


@dataclass(frozen=True)
class Number:
    """A number that a paper prints.

    what : the metric of a run that it is compared with, parts joined by "/", such as "mse/scale/rank".
    value : as printed: "0.50" and "0.5" differ in precision.
    unit, of : such as "%" or "nats"; how many runs (or pairs, where nothing is trained) the paper averages.
    tolerance : how far a result may be off; by default the claim's, or else half a unit of the last printed digit.
    """

    what: str
    value: str
    unit: str | None = None
    of: int | None = None
    tolerance: float | None = None


@dataclass(frozen=True)
class Expectation:
    """What would count as a match: all of `order` and `holds`, and, where `match` is "value", the numbers; see
    `Claim.at` for small trainings.

    match : "value", or "direction" (there is an `order`), or "structure" (there are `holds`).
    tolerance : of the claim's numbers, where the printed precision asks too much; `tolerated` says why.
    order : chains "a > b > c" of metrics; a side of a step that reads as a number is a constant. With "value", numbers
        that differ while the order holds are a verdict "direction".
    holds : what a run answers with yes or no.
    applied : chains as in `order` without which the treatment was not applied, so that nothing can be concluded.
    threshold : "ours" where a constant of `order` is not the paper's: it may show, and concludes nothing.
    margin : a difference of `order` that would be too small to speak of, stated before the runs.
    unlearnt : the claim is about not learning, so that its arms need not have learnt.
    somewhere : the statement does not say in which settings it is to hold.
    doubt : why this measurement concludes nothing, whatever it shows: it asks something else than the paper does, or
        is circular.
    uncontrolled : why a step of `order` needs no control. A score that a network's representation could have had before
        it was trained, or could have by chance, has one; what is of images or losses alone, or counts what training
        itself did, may have none. Without a reason such a step concludes nothing.
    """

    match: str
    tolerance: float | None = None
    order: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
    threshold: str = "paper"
    margin: float | None = None
    unlearnt: bool = False
    somewhere: bool = False
    doubt: str | None = None
    uncontrolled: str | None = None
    tolerated: str | None = None


@dataclass(frozen=True)
class Claim:
    """One claim of one paper.

    id : "paper/place"; results refer to it.
    paper, locator : one of `GROUPS`; the table, figure, section or equation.
    source : the label in the bibliography of the paper of a claim of the group `LATER`; the others have it by `paper`.
    title, statement : a few words; one sentence of ours that says what is claimed.
    kind : "exact", printed numbers that need no training; "trained"; "theory", a construction, or a measurement of
        data without a printed number; "out-of-reach", for the `reason` given.
    evidence : "number", a printed number that somebody measured; "order", a direction; or "construction", a theorem,
        an identity, a formula or an algorithm, and whatever we have typed in ourselves.
    expects, numbers : what would count as a match; what the paper prints, nothing being read off a figure.
    chapter, scale : where it is shown; "exact" where nothing is trained, "small" where a CPU carries a small version
        of the training, "full" where it takes a GPU.
    importance : from 1, which is run first, to 5.
    data, frameworks : names of the library, or of `OTHER_DATA` and `OTHER_FRAMEWORKS`.
    settings : what a run copies, not to be changed; a list is the paper's grid. Deviations are recorded with the run.
    runs : scale → what is run for it, as `plans.planned` reads it: arms of settings.yml and what is changed of them.
    changed : in what a measure was changed after its result had been seen.
    notes : doubts about damaged text, contradictions within the paper, its errata.
    finding : what was learnt, above all where the claim does not match.
    """

    id: str
    paper: str
    locator: str
    title: str
    statement: str
    kind: str
    expects: Expectation
    chapter: str
    scale: str
    importance: int
    evidence: str = ""
    source: str = ""
    numbers: tuple[Number, ...] = ()
    data: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    settings: dict = field(default_factory=dict, hash=False)
    runs: dict = field(default_factory=dict, hash=False)
    reason: str | None = None
    changed: str | None = None
    notes: str | None = None
    finding: str | None = None

    def __post_init__(self):
        if not self.evidence:
            object.__setattr__(self, "evidence", EVIDENCE[self.expects.match])
        if not self.source:
            object.__setattr__(self, "source", PAPERS.get(self.paper, ""))

    @property
    def asked(self) -> tuple[Number, ...]:
        """The numbers that are compared; with another kind of match they are settings."""
        return self.numbers if self.expects.match == "value" else ()

    def at(self, scale: str) -> "Claim":
        """The claim as runs at that scale can test it. Small images and short trainings cannot return what a training
        of the paper's size printed: there the claim's order alone is asked, and the evidence is an order."""
        if scale == "small" and self.kind == "trained" and self.asked and self.expects.order:
            return replace(self, evidence=EVIDENCE["direction"], expects=replace(self.expects, match="direction"))
        return self


def load_claims(path: str | Path = CLAIMS) -> tuple[Claim, ...]:
    """The claims in the order of the papers and of their files. A ValueError names the first fault's claim and field.

    path : a folder with a file PAPER.yml for each of `GROUPS`, or one such file.
    """
    path = Path(path)
    files = [path / f"{paper}.yml" for paper in GROUPS] if path.is_dir() else [path]
    claims = tuple(claim for file in files for claim in _claims_in(file.read_text(encoding="utf-8"), str(file)))
    ids = [claim.id for claim in claims]
    for place, name in enumerate(ids):
        _require(name not in ids[:place], name, "id", name, "are ids that no other claim has")
    return claims


@lru_cache(maxsize=8)  # a chapter shows a dozen cards, and to read a paper's claims takes longer than to show one
def _claims_in(text: str, path: str) -> tuple[Claim, ...]:
    entries = load_strictly(text)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"path: {path} does not hold a list of claims.")
    return tuple(_claim(str(entry.get("id", f"no. {place}")), entry) for place, entry in enumerate(entries, 1))


def claims_named(names: Iterable[str]) -> list[Claim]:
    """The claims of those ids, in their order. A ValueError names an id that is none, and near ones."""
    names = set(names)
    papers = [paper for paper in GROUPS if any(str(name).startswith(f"{paper}/") for name in names)]
    claims = {claim.id: claim for paper in papers for claim in load_claims(CLAIMS / f"{paper}.yml")}
    for name in sorted(names - claims.keys()):
        near = [claim.id for claim in load_claims() if name in claim.id][:5]
        known = near or [claim.id for claim in load_claims()][:3]
        raise ValueError(f"claim: got {name!r}; expected an id such as {', '.join(known)}.")
    return [claim for claim in claims.values() if claim.id in names]


def constant(name: str) -> float | None:
    """The number that a side of a step is; None for a metric."""
    try:
        return float(name)
    except ValueError:
        return None


def _claim(name: str, entry: dict) -> Claim:
    entry = _checked(name, "", entry, Claim)
    expects = Expectation(**_checked(name, "expects.", entry["expects"], Expectation))
    for key, chain in [("order", chain) for chain in expects.order] + [("applied", chain) for chain in expects.applied]:
        metrics = chain.split(" > ")
        _require(len(metrics) > 1 and all(map(METRIC.fullmatch, metrics)), name, f"expects.{key}", chain, '"a > b > c"')
    numbers = [_number(name, f"numbers[{i}].", item, expects) for i, item in enumerate(entry.get("numbers", ()))]
    claim = Claim(**(entry | {"expects": expects, "numbers": tuple(numbers)}))
    good = re.fullmatch(rf"{claim.paper}/[a-z0-9.-]+", name)
    _require(bool(good), name, "id", name, f"{claim.paper}/ and a place in small letters")
    whats = [number.what for number in numbers]
    _require(len(set(whats)) == len(whats), name, "numbers", whats, "numbers of which each has its own what")
    for why, key, given in (
        ("exact", "numbers", numbers), ("value", "numbers", numbers), ("direction", "expects.order", expects.order),
        ("structure", "expects.holds", expects.holds), ("out-of-reach", "reason", claim.reason),
    ):  # fmt: skip
        _require(bool(given) or why not in (claim.kind, expects.match), name, key, given, f"what {why} needs")
    _require(claim.paper == LATER or "source" not in entry, name, "source", claim.source, "none but of a later paper")
    _require(
        bool(re.fullmatch(r"[a-z]+\d{4}\w*", claim.source)), name, "source", claim.source, "a bibliography's label"
    )
    _require(not claim.reason or claim.kind == "out-of-reach", name, "reason", claim.reason, "none within reach")
    return claim


def _number(name: str, prefix: str, entry: dict, expects: Expectation) -> Number:
    entry = _checked(name, prefix, entry, Number)
    good = re.fullmatch(r"-?\d+(\.(\d+))?", entry["value"])
    _require(bool(good), name, f"{prefix}value", entry["value"], 'a number as printed, such as "0.50"')
    _require(bool(METRIC.fullmatch(entry["what"])), name, f"{prefix}what", entry["what"], 'a metric such as "a/b"')
    tolerance = expects.tolerance if expects.tolerance is not None else 0.5 * 10.0 ** -len(good[2] or "")
    return Number(**({"tolerance": tolerance} | entry))


def _checked(name: str, prefix: str, entry: dict, shape: type) -> dict:
    """`entry` with the fields of the dataclass `shape`: each known, of its type, not empty, and of the allowed ones."""
    known = {each.name: each.default is each.default_factory is MISSING for each in fields(shape)}
    for key, required in known.items():
        _require(key in entry or not required, name, prefix + key, None, "something, as it is needed")
    for key, value in entry.items():
        _require(key in known, name, f"{prefix}{key}", value, f"one of the fields {', '.join(known)}")
        expected = list if key in LISTS else TYPES.get(key, str)
        fine = type(value) is expected and (0 < value < math.inf if expected in (int, float) else bool(value))
        _require(fine, name, prefix + key, value, f"{expected.__name__}, not empty and above 0")
        for item in value if expected is list else ():
            fine = type(item) is LISTS[key] and bool(item)
            _require(fine, name, prefix + key, item, f"a list of {LISTS[key].__name__}")
        for item in value if expected is list else [value]:
            fine = key not in ALLOWED or item in ALLOWED[key]
            _require(fine, name, prefix + key, item, f"one of {', '.join(map(str, ALLOWED.get(key, ())))}")
    return {key: tuple(value) if key in LISTS else value for key, value in entry.items()}


def _require(fine: bool, claim: str, key: str, got, expected: str) -> None:
    if not fine:
        raise ValueError(f"claim {claim}, {key}: got {got!r}; expected {expected}.")
