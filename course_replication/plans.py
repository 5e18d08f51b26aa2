"""Which runs answer which claim, and in which order they are run. What several claims need is run once."""

from collections.abc import Iterable, Mapping, Sequence

from course_replication.arms import Arm, arm_named, deviation_text, redrawn_of, seeds_at
from course_replication.claims import Claim, constant
from course_replication.parts import Part
from course_replication.runs import SCALES, Run, check_scale
from course_replication.words import listed

Plans = Mapping[str, tuple[Part, ...]]
FIELDS = ("measurement", "arm", "settings", "each", "of", "name", "seeds", "deviations")  # of a run in claims/*.yml


def planned(claim: Claim) -> tuple[Part, ...]:
    """The parts that the claim's `runs` describe, at every scale. A ValueError names the claim and what is wrong."""
    try:
        return tuple(_part(claim, scale, entry) for scale, entries in claim.runs.items() for entry in entries)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"claim {claim.id}, runs: {error}") from error


def _part(claim: Claim, scale: str, entry: Mapping) -> Part:
    """A run's entry: an arm of settings.yml with what it changes, or a measurement with its settings.

    Where no setting says which images it draws, they are of the claim's datasets, unless it is a construction.

    each : a setting and its values: one training for each, compared by `measurement`. of : arms to be compared by it.
    """
    unknown = sorted(entry.keys() - {*FIELDS})
    if unknown or scale not in SCALES:
        raise ValueError(f"got {unknown or scale!r}; expected {', '.join(FIELDS)} at the scales {', '.join(SCALES)}.")
    arm = _arm(scale, entry)
    settings, shown, deviations = arm.settings, arm.settings, arm.deviations
    trainings = [_arm(scale, {"arm": each} if not isinstance(each, Mapping) else each) for each in entry.get("of", ())]
    for key, values in entry.get("each", {}).items():
        trainings += [Arm(settings=arm.settings | {key: value}, device=arm.device) for value in values]
    if trainings:
        shown, settings = trainings[0].settings, {"trainings": [each.settings for each in trainings]}
        deviations = (*deviations, *(note for each in trainings for note in each.deviations))
    device = arm.device or next((each.device for each in trainings if each.device), "cpu")
    images = _datasets(settings) or (() if claim.evidence == "construction" else claim.data)
    deviations = (*deviations, *entry.get("deviations", ()), *redrawn_of(images))
    notes = (deviation_text(note, shown) for note in deviations)
    return Part(
        entry.get("measurement") or arm.measurement or trainings[0].measurement, settings, entry.get("name", "{}"),
        entry.get("seeds") or seeds_at(scale), scale, device, tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _datasets(settings) -> tuple[str, ...]:
    """The datasets that settings name, those of the trainings within them included."""
    if isinstance(settings, Mapping):
        own = (settings["data"],) if isinstance(settings.get("data"), str) else ()
        return own + _datasets(list(settings.values()))
    return tuple(name for each in settings for name in _datasets(each)) if isinstance(settings, list) else ()


def _arm(scale: str, entry: Mapping) -> Arm:
    upper = Arm(settings=dict(entry.get("settings", {})))
    return arm_named(scale, entry["arm"]).under(upper) if "arm" in entry else upper


def parts_of(claim: Claim, scale: str, plans: Plans | None = None) -> tuple[Part, ...]:
    """The claim's parts at that scale and those that are exact, which count at either; none where nothing measures it.

    plans : claim → parts, in place of what the claims themselves say.
    """
    check_scale(scale)
    parts = planned(claim) if plans is None else plans.get(claim.id, ())
    return tuple(part for part in parts if part.scale in ("exact", scale))


def runs_of(claim: Claim, scale: str, plans: Plans | None = None) -> list[Run]:
    """The claim's runs: the first seed of each part, then the second, so that few of them compare all parts."""
    parts = parts_of(claim, scale, plans)
    seeds = range(max((part.seeds for part in parts), default=0))
    return list(dict.fromkeys(part.run(seed) for seed in seeds for part in parts if seed < part.seeds))


def queue(claims: Iterable[Claim], scale: str, plans: Plans | None = None) -> list[Run]:
    """The runs of all claims, each once, those of the most important claims first."""
    ordered = sorted(claims, key=lambda claim: claim.importance)
    return list(dict.fromkeys(run for claim in ordered for run in runs_of(claim, scale, plans)))


def metrics_of(claim: Claim) -> list[str]:
    """All metrics that the claim asks for, as it calls them."""
    chains = [*claim.expects.order, *claim.expects.applied]
    named = [name for chain in chains for name in chain.split(" > ") if constant(name) is None]
    return list(dict.fromkeys([*(number.what for number in claim.asked), *named, *claim.expects.holds]))


def lacking(
    claims: Iterable[Claim], results: Mapping[str, dict], scale: str, plans: Plans | None = None
) -> dict[str, set[str]]:
    """Runs whose stored results lack a metric that a claim asks for: a measurement has grown. Id → what they lack.

    A metric is asked of the parts that return it for some seed already; else of those whose name fits it best, once
    they all have results.
    """
    found: dict[str, set[str]] = {}
    for claim in claims:
        parts = [
            (part, [results[run.id] for run in part.runs() if run.id in results])
            for part in parts_of(claim, scale, plans)
        ]
        for metric in metrics_of(claim.at(scale)):
            for name, stored in _asked(metric, parts):
                for result in stored:
                    if name not in result["metrics"]:
                        found.setdefault(result["id"], set()).add(name)
    return found


def _asked(metric: str, parts: Sequence[tuple[Part, list[dict]]]) -> list[tuple[str, list[dict]]]:
    """The metric's own name and the results of each part that is to return it."""
    fitting = [(part, part.own_name(metric), stored) for part, stored in parts]
    fitting = [(part, name, stored) for part, name, stored in fitting if name]
    able = [each for each in fitting if any(each[1] in result["metrics"] for result in each[2])]
    if not able:
        best = max((len(part.name) for part, _, _ in fitting), default=0)
        able = [each for each in fitting if len(each[0].name) == best]
        able = able if all(stored for _, _, stored in able) else []
    return [(name, stored) for _, name, stored in able]


def deviations_of(claim: Claim, *parts: Part) -> tuple[str, ...]:
    """Where the parts' settings, or those of the trainings that they compare, differ from what the claim copies from
    the paper, each setting once with all its values; then what the parts say themselves."""
    trainings, told = [each for part in parts for each in part.trainings], []
    for name, printed in claim.settings.items():
        ours = [each[name] for each in trainings if name in each and not _agree(each[name], printed)]
        if ours:
            values = listed(dict.fromkeys(map(_written, ours)))
            told.append(f"{name.replace('_', ' ')}: {values} in place of {_written(printed)}")
    return tuple(dict.fromkeys([*told, *(note for part in parts for note in part.deviations)]))


def lengths_of(parts: Iterable[Part]) -> tuple[tuple[int, int | None], ...]:
    """Steps and batch, None where that is left open, of whatever the parts train, each pair once."""
    trainings = (each for part in parts for each in part.trainings)
    return tuple(dict.fromkeys((each["steps"], each.get("batch_size")) for each in trainings if "steps" in each))


def _agree(ours, printed) -> bool:
    return ours == printed or isinstance(printed, list) and ours in printed


def _written(setting) -> str:
    """With thousands apart, 11,520, as a reader wants it."""
    if isinstance(setting, list):
        return f"[{', '.join(map(_written, setting))}]"
    return f"{setting:,}" if type(setting) is int else str(setting)
