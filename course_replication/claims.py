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
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from pathlib import Path

from course_replication.strict_yaml import load_strictly

CLAIMS = Path(__file__).with_name("claims")  # a file for each paper
# Each paper's label in the bibliography. The one on common assumptions is held as the slides of a talk about it.
PAPERS = dict(
    distances="michlo2022", factorvae="kim2018", assumptions="locatello2019", isa="stuehmer2020", review="ottlik2022"
)
CHAPTERS = tuple(
    """01_disentanglement 02_vae 03_beta_vae_and_capacity 04_measuring_disentanglement 05_total_correlation
    06_moments_and_adversaries 07_infogan 08_impossibility 09_common_assumptions 10_weak_supervision
    11_structured_priors 12_symmetry 13_scale 14_perceived_distance 15_xysquares 16_introducing_overlap
    17_three_scores 18_triplets 19_adaptive_triplets 20_learnt_losses 21_choice_of_factors_and_noise
    22_after_2019""".split()
)
# The papers' datasets and methods that the library has no class for, beside those that it has.
OTHER_DATA = ("CelebA", "Chairs3D", "Faces3D", "RenderedObjects", "SyntheticManifolds")
OTHER_FRAMEWORKS = (
    "AAE", "CLIP", "FactorVAEToPrior", "GeoManCEr", "InfoGAN", "InfoWGANGP", "ISAVAE", "LinearVI",
)  # fmt: skip
ALLOWED = {
    "paper": PAPERS, "kind": ("exact", "trained", "theory", "out-of-reach"), "chapter": CHAPTERS,
    "scale": ("exact", "small", "full"), "importance": (1, 2, 3, 4, 5), "match": ("value", "direction", "structure"),
}  # fmt: skip
TYPES = {
    "importance": int,
    "of": int,
    "tolerance": float,
    "settings": dict,
    "expects": dict,
    "runs": dict,
}  # of fields; others: text
LISTS = {"numbers": dict, "order": str, "holds": str, "data": str, "frameworks": str}  # of what
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
    """What would count as a match: all of `order` and `holds`, and, where `match` is "value", the numbers.

    match : "value", or "direction" (there is an `order`), or "structure" (there are `holds`).
    tolerance : of the claim's numbers, where the printed precision asks too much of a sample.
    order : chains "a > b > c" of metrics; a part that reads as a number is a constant. With "value", numbers that
        differ while the order holds are a verdict "direction".
    holds : what a run answers with yes or no.
    """

    match: str
    tolerance: float | None = None
    order: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """One claim of one paper.

    id : "paper/place"; results refer to it.
    paper, locator : a key of `PAPERS`; the table, figure, section or equation.
    title, statement : a few words; one sentence of ours that says what is claimed.
    kind : "exact", printed numbers that need no training; "trained"; "theory", a construction, or a measurement of
        data without a printed number; "out-of-reach", for the `reason` given.
    expects, numbers : what would count as a match; what the paper prints, nothing being read off a figure.
    chapter, scale : where it is shown; "exact" where nothing is trained, "small" where a CPU carries a small version
        of the training, "full" where it takes a GPU.
    importance : from 1, which is run first, to 5.
    data, frameworks : names of the library, or of `OTHER_DATA` and `OTHER_FRAMEWORKS`.
    settings : what a run copies, not to be changed; a list is the paper's grid. Deviations are recorded with the run.
    runs : scale → what is run for it, as `plans.planned` reads it: arms of settings.yml and what is changed of them.
    notes : doubts about damaged text, contradictions within the paper, its errata.
    finding : what was learnt where the claim did not match: shown only as long as it does not.
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
    numbers: tuple[Number, ...] = ()
    data: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    settings: dict = field(default_factory=dict, hash=False)
    runs: dict = field(default_factory=dict, hash=False)
    reason: str | None = None
    notes: str | None = None
    finding: str | None = None


def load_claims(path: str | Path = CLAIMS) -> tuple[Claim, ...]:
    """The claims in the order of the papers and of their files. A ValueError names the first fault's claim and field.

    path : a folder with a file PAPER.yml for each paper, or one such file.
    """
    path = Path(path)
    files = [path / f"{paper}.yml" for paper in PAPERS] if path.is_dir() else [path]
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
    papers = [paper for paper in PAPERS if any(str(name).startswith(f"{paper}/") for name in names)]
    claims = {claim.id: claim for paper in papers for claim in load_claims(CLAIMS / f"{paper}.yml")}
    for name in sorted(names - claims.keys()):
        near = [claim.id for claim in load_claims() if name in claim.id][:5]
        known = near or [claim.id for claim in load_claims()][:3]
        raise ValueError(f"claim: got {name!r}; expected ids such as {', '.join(known)}.")
    return [claim for claim in claims.values() if claim.id in names]


def _claim(name: str, entry: dict) -> Claim:
    entry = _checked(name, "", entry, Claim)
    expects = Expectation(**_checked(name, "expects.", entry["expects"], Expectation))
    for chain in expects.order:
        parts = chain.split(" > ")
        _require(len(parts) > 1 and all(map(METRIC.fullmatch, parts)), name, "expects.order", chain, 'are "a > b > c"')
    numbers = [_number(name, f"numbers[{i}].", item, expects) for i, item in enumerate(entry.get("numbers", ()))]
    claim = Claim(**(entry | {"expects": expects, "numbers": tuple(numbers)}))
    good = re.fullmatch(rf"{claim.paper}/[a-z0-9.-]+", name)
    _require(bool(good), name, "id", name, f"are {claim.paper}/ and a place in small letters")
    whats = [number.what for number in numbers]
    _require(len(set(whats)) == len(whats), name, "numbers", whats, "are numbers of which each has its own what")
    for why, part, given in (
        ("exact", "numbers", numbers), ("value", "numbers", numbers), ("direction", "expects.order", expects.order),
        ("structure", "expects.holds", expects.holds), ("out-of-reach", "reason", claim.reason),
    ):  # fmt: skip
        _require(bool(given) or why not in (claim.kind, expects.match), name, part, given, f"is what {why} needs")
    _require(not claim.reason or claim.kind == "out-of-reach", name, "reason", claim.reason, "is none within reach")
    return claim


def _number(name: str, prefix: str, entry: dict, expects: Expectation) -> Number:
    entry = _checked(name, prefix, entry, Number)
    good = re.fullmatch(r"-?\d+(\.(\d+))?", entry["value"])
    _require(bool(good), name, f"{prefix}value", entry["value"], 'are numbers as printed, such as "0.50"')
    _require(bool(METRIC.fullmatch(entry["what"])), name, f"{prefix}what", entry["what"], 'are metrics such as "a/b"')
    tolerance = expects.tolerance if expects.tolerance is not None else 0.5 * 10.0 ** -len(good[2] or "")
    return Number(**({"tolerance": tolerance} | entry))


def _checked(name: str, prefix: str, entry: dict, shape: type) -> dict:
    """`entry` with the fields of the dataclass `shape`: each known, of its type, not empty, and of the allowed ones."""
    known = {part.name: part.default is part.default_factory is MISSING for part in fields(shape)}
    for part, required in known.items():
        _require(part in entry or not required, name, prefix + part, None, "is anything but a missing field")
    for part, value in entry.items():
        _require(part in known, name, f"{prefix}{part}", value, f"are the fields {', '.join(known)}")
        wanted = list if part in LISTS else TYPES.get(part, str)
        fine = type(value) is wanted and (0 < value < math.inf if wanted in (int, float) else bool(value))
        _require(fine, name, prefix + part, value, f"is a {wanted.__name__}, not empty and above 0")
        for item in value if wanted is list else ():
            _require(type(item) is LISTS[part] and bool(item), name, prefix + part, item, f"is {LISTS[part].__name__}")
        for item in value if wanted is list else [value]:
            fine = part not in ALLOWED or item in ALLOWED[part]
            _require(fine, name, prefix + part, item, f"are {', '.join(map(str, ALLOWED.get(part, ())))}")
    return {part: tuple(value) if part in LISTS else value for part, value in entry.items()}


def _require(fine: bool, claim: str, part: str, got, allowed: str) -> None:
    if not fine:
        raise ValueError(f"claim {claim}, {part}: got {got!r}; allowed {allowed}.")
