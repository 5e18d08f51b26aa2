"""Verdicts: how each claim fares against the results. They are computed whenever they are asked for, and not kept.

Each kind of evidence has its own rule, and doubts that no rule may overlook: a control that does the same, a training
that has not learnt, a treatment that was not applied, a threshold of our own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from course_replication.claims import EVIDENCE, Claim, constant
from course_replication.comparisons import (
    CONTROL,
    FEWEST,
    LEARNT,
    Compared,
    Learnt,
    Ordered,
    Samples,
    compared,
    learnt_by,
    named,
    renamed,
    step_named,
    steps_of,
)
from course_replication.plans import Plans, deviations_of, lengths_of, metrics_of, parts_of, planned, runs_of
from course_replication.runs import counts

VERDICTS = ("match", "direction", "fail", "inconclusive", "not run", "out of reach")
KINDS = (*EVIDENCE.values(),)  # of evidence
SETTINGS = 3  # in which a construction has to be seen
CONTROLS = {"untrained": "untrained networks", "shuffled": "shuffled codes"}  # as cards call them


@dataclass(frozen=True)
class Verdict:
    """How a claim fares at one scale.

    verdict : one of `VERDICTS`; `why`, in words, what kept it from a match.
    scale : of `SCALES`: "exact" where nothing of it is trained.
    n, seeds, missing : seeds that each number rests on (the fewest), all seeds seen, and runs that are not done.
    settings : in how many settings a construction was seen; 0 for other kinds of evidence.
    numbers, orders, holds, learnt : what was compared, whatever the verdict. beside : where an order is asked, ours of
        the numbers that are printed and not compared, by metric. deviations : from the paper's settings.
    lengths : steps and batch of its trainings. small : of full runs that have a verdict, the one of the small runs.
    """

    claim: Claim
    verdict: str
    scale: str
    why: str = ""
    n: int = 0
    seeds: tuple[int, ...] = ()
    missing: int = 0
    settings: int = 0
    numbers: tuple[Compared, ...] = ()
    orders: tuple[Ordered, ...] = ()
    holds: tuple[tuple[str, bool], ...] = ()
    learnt: tuple[Learnt, ...] = ()
    beside: tuple[tuple[str, tuple[float, ...]], ...] = ()
    deviations: tuple[str, ...] = ()
    lengths: tuple[tuple[int, int | None], ...] = ()
    small: "Verdict | None" = None

    @property
    def kind(self) -> str:
        """Of the evidence, one of `KINDS`."""
        return self.claim.evidence


def verdict_of(claim: Claim, results: Mapping[str, dict], scale: str = "full", plans: Plans | None = None) -> Verdict:
    """The verdict on a claim from the results (by run) of its runs at that scale that committed code has made.

    What needs no training is compared to the printed precision or the claim's tolerance; trained runs by the 95 %
    prediction interval and one-sided 95 % tests, which their controls undergo as well.
    """
    claim = claim.at(scale)
    runs, parts = runs_of(claim, scale, plans), parts_of(claim, scale, plans)
    results = {run: each for run, each in results.items() if counts(each)}
    trained = claim.kind == "trained"
    sized = scale if trained else "exact"
    if claim.kind == "out-of-reach":
        return Verdict(claim, "out of reach", sized, claim.reason)
    missing = sum(run.id not in results for run in runs)
    deviations = deviations_of(claim, *parts)
    samples = gathered(claim, results, scale, plans)
    lacking = next((name for name in metrics_of(claim) if not samples.get(name)), "") if runs else "it"
    if lacking:
        why = f"{missing} of {len(runs)} runs are missing" if missing else f"nothing measures {lacking} yet"
        elsewhere = planned(claim) if plans is None else claim.id in plans
        why = why if runs or not elsewhere else f"no runs are planned at scale {scale}"
        return Verdict(claim, "not run", sized, why, missing=missing, deviations=deviations)
    used = [samples[name] for name in metrics_of(claim)]
    n, seeds = min(map(len, used)), tuple(sorted({seed for sample in used for seed in sample}))
    numbers = tuple(compared(number, samples, trained) for number in claim.asked)
    orders = tuple(
        step for chain in claim.expects.order for step in steps_of(chain, samples, trained, claim.expects.margin)
    )
    holds = tuple((name, all(samples[name].values())) for name in claim.expects.holds)
    found = Verdict(
        claim, "", sized, "", n, seeds, missing, _settings(claim, samples), numbers, orders, holds,
        learnt_by(parts, results) if trained else (), _beside(claim, samples), deviations,
        lengths_of(parts) if trained else (),
    )  # fmt: skip
    verdict, why = {"number": _by_numbers, "order": _by_order, "construction": _by_construction}[claim.evidence](found)
    doubts = _doubts(found, samples)
    verdict = "inconclusive" if doubts else verdict
    return replace(found, verdict=verdict, why="; ".join([*doubts, *filter(None, [why])]))


def best_verdict(claim: Claim, results: Mapping[str, dict], plans: Plans | None = None) -> Verdict:
    """The verdict of the full runs where they have one, or where only they are planned; else that of the small ones.

    Trainings at the paper's size that are still too few to tell do not take the place of small ones that are enough.
    Where there are enough of both, the verdict of the small ones stands beside, in `small`.
    """
    full = verdict_of(claim, results, "full", plans)
    begun = full.scale == "full" and full.missing and full.n < FEWEST
    if full.scale == "exact" and full.verdict != "not run":
        return full
    small = verdict_of(claim, results, "small", plans)
    if full.verdict != "not run" and not begun:
        return full if small.verdict == "not run" else replace(full, small=small)
    if small.verdict != "not run":
        return small
    return full if full.verdict != "not run" or (full.missing and not runs_of(claim, "small", plans)) else small


def gathered(claim: Claim, results: Mapping[str, dict], scale: str, plans: Plans | None = None) -> Samples:
    """What the claim's runs at that scale have measured, by metric as the claim calls it, and by seed."""
    samples: dict[str, dict[int, float]] = {}
    for part in parts_of(claim, scale, plans):
        for run in part.runs():
            for name, value in results[run.id]["metrics"].items() if run.id in results else ():
                samples.setdefault(renamed(part.name, name), {})[run.seed] = value
    return samples


def _beside(claim: Claim, samples: Samples) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Ours of the numbers that stand beside an order; those that are settings are measured by nothing."""
    if claim.expects.match != "direction":
        return ()
    measured = (number.what for number in claim.numbers if samples.get(number.what))
    return tuple((name, tuple(map(float, samples[name].values()))) for name in measured)


def _by_numbers(found: Verdict) -> tuple[str, str]:
    """Every number agrees and every step holds. Where numbers are off and the order holds, that is the direction."""
    order, broken = _by_order(found) if found.orders or found.holds else ("match", "")
    off = [number for number in found.numbers if not number.agrees]
    why = "; ".join(filter(None, [broken, *(number.why for number in off)]))
    if not off:
        return order, why
    if order != "match":
        return "fail" if order == "fail" or not all(number.open for number in off) else "inconclusive", why
    if all(number.open for number in off):
        return "inconclusive", why
    return "direction" if found.orders or all(number.near or number.open for number in off) else "fail", why


def _by_order(found: Verdict) -> tuple[str, str]:
    """Every step is shown, over five seeds where it is tested, or of one the reverse is, or that it is too small."""
    broken = _broken(found)
    why = "; ".join(broken)
    tested = found.claim.kind == "trained" or any(step.p is not None for step in found.orders)
    if found.n < FEWEST and found.orders and tested:
        return "inconclusive", "; ".join(filter(None, [f"{found.n} of the {FEWEST} seeds that an order needs", why]))
    if not broken:
        return "match", ""
    against = [step for step in found.orders if step.reversed or step.below]
    return "fail" if against or not all(answer for _, answer in found.holds) else "inconclusive", why


def _by_construction(found: Verdict) -> tuple[str, str]:
    """It holds in every setting that was measured, and these are three or more."""
    answers = [*found.numbers, *found.orders, *(answer for _, answer in found.holds)]
    broken = [*(number.why for number in found.numbers if not number.agrees), *_broken(found)]
    why = "; ".join(broken)
    if broken:
        return "inconclusive" if found.claim.expects.somewhere and len(broken) < len(answers) else "fail", why
    if found.settings < SETTINGS:
        return "inconclusive", f"seen in {found.settings or 'no'} of the {SETTINGS} settings that a construction needs"
    return "match", ""


def _broken(found: Verdict) -> list[str]:
    """The steps and answers that do not hold."""
    broken = [_in_words(step) for step in found.orders if not step.holds]
    return broken + [f"{named(name)} does not hold" for name, answer in found.holds if not answer]


def _doubts(found: Verdict, samples: Samples) -> list[str]:
    """Why nothing can be concluded, whatever the rule says."""
    expects = found.claim.expects
    said = [" ".join(expects.doubt.split())] if expects.doubt else []
    for step in (step for chain in expects.applied for step in steps_of(chain, samples, trained=False)):
        said += [] if step.means[0] > step.means[1] else [f"the treatment was not applied: {_in_words(step)}"]
    constants = [name for step in found.orders for name in _names(step) if constant(name) is not None]
    if expects.threshold == "ours" and constants:
        said.append("the threshold is ours and not the paper's")
    if found.claim.kind != "trained":
        return said
    said += [f"the same holds of {CONTROLS[control]}" for control in _controls_that_hold(found, samples)]
    if found.claim.evidence == "construction":
        return said
    bare = [step_named(*_names(step)) for step in found.orders if not step.controlled]
    if bare and not expects.uncontrolled:
        said.append(f"no untrained network and no shuffled codes are held beside {', '.join(bare)}")
    said += _passing(found)
    if not expects.unlearnt:
        said += [_unlearnt(arm) for arm in found.learnt if not arm.holds]
    return said


def _passing(found: Verdict) -> list[str]:
    """The steps that are shown of controls as well, and so may not come from what was learnt; or their reverse."""
    passing = {}
    for step in found.orders:
        if step.passing:
            key = (" and of ".join(CONTROLS[control] for control in step.passing), step.holds)
            passing.setdefault(key, []).append(step_named(*_names(step)))
    return [
        f"the same is shown of {controls}: {', '.join(steps)}" if holds
        else f"the reverse is shown of {controls} too, and so says nothing against the claim: {', '.join(steps)}"
        for (controls, holds), steps in passing.items()
    ]  # fmt: skip


def _controls_that_hold(found: Verdict, samples: Samples) -> list[str]:
    """The controls of which every yes-or-no answer of a claim holds too; none where one was not asked."""
    asked = [f"/{name}" for name, _ in found.holds]
    controls = dict.fromkeys(name.split("/")[1] for name in samples if name.startswith(CONTROL) and asked)
    held = {name for name, sample in samples.items() if sample and all(sample.values())}
    return [control for control in controls if held.issuperset(f"{CONTROL}{control}{name}" for name in asked)]


def _unlearnt(arm: Learnt) -> str:
    if arm.left is None:
        return f"what {arm.arm} leaves of the pixels' variance is not stored"
    return f"{arm.arm} leaves {arm.left:.2f} of the pixels' variance, more than {LEARNT}, and counts as not learnt"


def _names(step: Ordered) -> tuple[str, str]:
    return step.first, step.second


def _in_words(step: Ordered) -> str:
    ours = f"{step.means[0]:.4g}, {step.means[1]:.4g}"
    if step.p is None:
        return f"{step_named(*_names(step))} does not hold ({ours})"
    if step.reversed:
        return f"the reverse of {step_named(*_names(step))} is shown ({ours})"
    shown = "is shown to be too small" if step.below else "is not shown"
    return f"{step_named(*_names(step))} {shown} ({ours}, p = {step.p:.2g})"


def _settings(claim: Claim, samples: Samples) -> int:
    """In how many settings a construction was seen: as its runs say, or else how much of it is compared."""
    if claim.evidence != "construction":
        return 0
    said = [sample for name, sample in samples.items() if name.rpartition("/")[2] == "settings"]
    steps = sum(chain.count(" > ") for chain in claim.expects.order)
    return int(sum(min(sample.values()) for sample in said)) or len(claim.asked) + steps
