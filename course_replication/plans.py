"""Which runs answer which claim, and in which order they are run.

The parts of a claim are listed beside the functions that measure them, in `course_replication.measurements`. What
several claims need is run once.
"""

from collections.abc import Iterable, Mapping

from course_lib.arguments import check_choice
from course_replication.claims import Claim
from course_replication.measurements import (
    capacity,
    constructions,
    counts,
    data_distances,
    estimators,
    factor_choices,
    fixed_model,
    full_plans,
    identities,
    kernels,
    largest_beta,
    mean_field,
    nested_prior,
    part_three,
    ratios,
    regularised,
    score_behaviour,
    scores,
    shades,
    sharing,
    single_pixel,
    symmetry,
    tables,
)
from course_replication.parts import Part
from course_replication.runs import SCALES, Run

Plans = Mapping[str, tuple[Part, ...]]
MODULES = (
    tables, counts, constructions, scores, score_behaviour, identities, data_distances, part_three, kernels, ratios,
    sharing, capacity, estimators, factor_choices, mean_field, nested_prior, symmetry,
    regularised, fixed_model, single_pixel, largest_beta, shades, full_plans,
)  # fmt: skip


def joined(plans: Iterable[Plans]) -> Plans:
    """All of them as one; a ValueError when two have a plan for the same claim and scale."""
    found: dict[str, tuple[Part, ...]] = {}
    for plan in plans:
        for name, parts in plan.items():
            if {part.scale for part in parts} & {part.scale for part in found.get(name, ())}:
                raise ValueError(f"plans: {name} stands in two of them; allowed is one plan for a claim and scale.")
            found[name] = (*found.get(name, ()), *parts)
    return found


PLANS = joined(module.PLANS for module in MODULES)


def parts_of(claim: Claim, scale: str, plans: Plans = PLANS) -> tuple[Part, ...]:
    """The claim's parts at that scale; none while the library has nothing that measures it."""
    check_choice(SCALES, scale=scale)
    return tuple(part for part in plans.get(claim.id, ()) if part.scale in (None, scale))


def runs_of(claim: Claim, scale: str, plans: Plans = PLANS) -> list[Run]:
    """The claim's runs: the first seed of each part, then the second, so that few of them compare all parts."""
    parts = parts_of(claim, scale, plans)
    seeds = range(max((part.seeds for part in parts), default=0))
    return list(dict.fromkeys(part.run(seed) for seed in seeds for part in parts if seed < part.seeds))


def queue(claims: Iterable[Claim], scale: str, plans: Plans = PLANS) -> list[Run]:
    """The runs of all claims, each once, those of the most important claims first."""
    ordered = sorted(claims, key=lambda claim: claim.importance)
    return list(dict.fromkeys(run for claim in ordered for run in runs_of(claim, scale, plans)))


def deviations_of(claim: Claim, part: Part) -> tuple[str, ...]:
    """Where a part's settings differ from those that the claim copies from the paper, and what the part says itself."""
    differing = [
        f"{name}: {part.settings[name]} in place of {printed}"
        for name, printed in claim.settings.items()
        if name in part.settings and not _agree(part.settings[name], printed)
    ]
    return (*differing, *part.deviations)


def _agree(ours, printed) -> bool:
    return ours == printed or isinstance(printed, list) and ours in printed
