"""What the five papers claim: an entry of claims.yml for each table, figure and statement to be held against ours.

The fields of an entry are those of `Claim`. How a claim fared is not written here: verdicts are computed from results.
"""

import math
import pkgutil
import re
from collections.abc import Hashable, Iterable
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from pathlib import Path

import yaml

import course_lib.data
import course_lib.frameworks

CLAIMS = Path(__file__).with_name("claims.yml")
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
DATA = (*course_lib.data.__all__, "CelebA", "Chairs3D", "Faces3D", "RenderedObjects", "SyntheticManifolds")
FRAMEWORKS = (
    *course_lib.frameworks.__all__,
    "AAE", "CLIP", "FactorVAEToPrior", "GeoManCEr", "InfoGAN", "InfoWGANGP", "ISAVAE", "LinearVI",
)  # fmt: skip
ALLOWED = {
    "paper": PAPERS, "kind": ("exact", "trained", "theory", "out-of-reach"), "chapter": CHAPTERS,
    "scale": ("quick", "full"), "importance": (1, 2, 3, 4, 5), "match": ("value", "direction", "structure"),
    "data": DATA, "frameworks": FRAMEWORKS,
}  # fmt: skip
TYPES = {"importance": int, "of": int, "tolerance": float, "settings": dict, "expects": dict}  # of fields; others: text
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
    chapter, scale : where it is shown; "quick" where a CPU (on the 16×16 grids, if something is trained) can carry a
        small version, "full" where it takes a GPU.
    importance : from 1, which is run first, to 5.
    data, frameworks : of `DATA` and `FRAMEWORKS`.
    settings : what a run copies, not to be changed; a list is the paper's grid. Deviations are recorded with the run.
    test : the dotted name of what measures it; None while the library lacks it.
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
    test: str | None = None
    reason: str | None = None
    notes: str | None = None
    finding: str | None = None


def load_claims(path: str | Path = CLAIMS) -> tuple[Claim, ...]:
    """The claims in the order of the file. A ValueError names the first fault's claim and field."""
    return _claims_in(Path(path).read_text(encoding="utf-8"), str(path))


@lru_cache(maxsize=2)  # a chapter shows a dozen cards, and to read 258 claims takes longer than to show one
def _claims_in(text: str, path: str) -> tuple[Claim, ...]:
    entries = yaml.load(text, Loader=_UniqueKeys)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"path: {path} does not hold a list of claims.")
    claims = tuple(_claim(str(entry.get("id", f"no. {place}")), entry) for place, entry in enumerate(entries, 1))
    ids = [claim.id for claim in claims]
    for place, name in enumerate(ids):
        _require(name not in ids[:place], name, "id", name, "are ids that no other claim has")
    return claims


def claims_named(names: Iterable[str]) -> list[Claim]:
    """The claims of those ids, in the order of the file. A ValueError names an id that is none, and near ones."""
    claims, names = {claim.id: claim for claim in load_claims()}, set(names)
    for name in names:
        if name not in claims:
            near = [known for known in claims if name in known][:5]
            raise ValueError(f"claim: got {name!r}; allowed are ids such as {', '.join(near or [*claims][:3])}.")
    return [claim for claim in claims.values() if claim.id in names]


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML in which a key that comes twice in one mapping is an error: otherwise the last would win."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, key in enumerate(keys):
            if not isinstance(key, Hashable) or key in keys[:place]:
                raise ValueError(f"the key {key!r} comes twice in one mapping, {node.start_mark}")
        return super().construct_mapping(node, deep)


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
    _require("test" not in entry or _imports(entry["test"]), name, "test", entry.get("test"), "are names that import")
    return {part: tuple(value) if part in LISTS else value for part, value in entry.items()}


def _imports(name: str) -> bool:
    try:
        return name.startswith("course_lib.") and pkgutil.resolve_name(name) is not None
    except (ImportError, AttributeError, ValueError):
        return False


def _require(fine: bool, claim: str, part: str, got, allowed: str) -> None:
    if not fine:
        raise ValueError(f"claim {claim}, {part}: got {got!r}; allowed {allowed}.")
