"""Chapter 23, capstone: a fader's distances, the queue for latents, a score, a sealed forecast, a table to referee."""

import json
from functools import cache

import numpy as np
import torch
from torch import Tensor

from course_grading.answers import keyed, real, word
from course_grading.exercise import Function, Plain, Unfit, either
from course_lib.data import MixingDesk
from course_replication.outcomes import FOUND, best_numbers, shares_of
from course_replication.predictions import SEAL, SETTINGS, Prediction, seal_of
from course_replication.refereeing import EITHER, FAULTY, LETTERS, made_up_table

# 23.1 -----------------------------------------------------------------------------------------------------------------


def fader_table(values, height, step, wraps):
    """Rows are counted as sets of pixels, one image at a time: how many rows two caps do not share."""
    ring = values * step
    caps = [{(v * step + k) % ring if wraps else v * step + k for k in range(height)} for v in range(values)]
    return torch.tensor([[len(one ^ other) for other in caps] for one in caps])


def fader_cases(generator: torch.Generator) -> list[list]:
    """Short and long caps, with and without a ring; caps of more than half the ring; steps beyond the cap."""
    more = [int(torch.randint(low, high, (), generator=generator)) for low, high in ((6, 9), (2, 4))]
    return [
        [6, 3, 2, True],
        [6, 8, 2, True],
        [6, 3, 1, False],
        [4, 2, 3, False],
        [5, 3, 2, True],
        [more[0], 4 * more[1], more[1], True],
    ]


def _gap(values):
    return (torch.arange(values).unsqueeze(1) - torch.arange(values)).abs()


def _by_overlap(values, height, step, wraps):
    gap = step * _gap(values)
    shared = (height - gap).clamp(min=0)
    if wraps:
        shared = shared + (height - (values * step - gap)).clamp(min=0)
    return 2 * (height - shared)


def _shorter_way(values, height, step, wraps):
    gap = _gap(values)
    gap = torch.minimum(gap, values - gap) if wraps else gap
    return 2 * (step * gap).clamp(max=height)


def _by_complement(values, height, step, wraps):
    """On a ring a long cap is a short gap: what lies in one and not in the other is the same."""
    if not wraps:
        return 2 * (step * _gap(values)).clamp(max=height)
    return 2 * (step * torch.minimum(_gap(values), values - _gap(values))).clamp(
        max=min(height, values * step - height)
    )


FADER_MISTAKES = {
    "the shorter way round alone: a cap of more than half the ring meets itself from the other side too, and shares "
    "rows at both ends.":
        _shorter_way,
    "the ring is missing: with wraps, what leaves below comes in above.":
        lambda values, height, step, wraps: _by_overlap(values, height, step, False),
    "without wraps a column has no second end, and nothing is shared there.":
        lambda values, height, step, wraps: _by_overlap(values, height, step, True),
    "no bound: a cap cannot leave more rows than it has.":
        lambda values, height, step, wraps:
            2 * step * (torch.minimum(_gap(values), values - _gap(values)) if wraps else _gap(values)),
    "half of it: the rows that were left differ, and so do those that were entered.":
        lambda values, height, step, wraps: fader_table(values, height, step, wraps) // 2,
    "these are the rows that two images share; expected those in which they differ.":
        lambda values, height, step, wraps: height - fader_table(values, height, step, wraps) // 2,
    "steps were counted as pixels: a step is `step` rows.":
        lambda values, height, step, wraps: _with_unit_steps(values, height, step, wraps),
    "the ring has as many rows as there are values: it has values · step.":
        lambda values, height, step, wraps: _ring_of_values(values, height, step, wraps),
}  # fmt: skip


def _with_unit_steps(values, height, step, wraps):
    gap = _gap(values)
    shared = (height - gap).clamp(min=0)
    if wraps:
        shared = shared + (height - (values * step - gap)).clamp(min=0)
    return 2 * (height - shared)


def _ring_of_values(values, height, step, wraps):
    gap = step * _gap(values)
    gap = torch.minimum(gap, (values - gap).abs()) if wraps else gap
    return 2 * gap.clamp(max=height)


def _drawn(values, height, step, wraps):
    rows = values * step if wraps else values * step + height
    images = torch.zeros(values, rows)
    for value in range(values):
        images[value, (value * step + torch.arange(height)) % rows] = 1
    return torch.cdist(images, images).square().round().long()


# 23.2 -----------------------------------------------------------------------------------------------------------------


def places_in_the_queue(tables):
    """All directions of all factors in one row, from singular values; the place of each factor's largest."""
    size = tables.shape[1]
    centre = torch.eye(size, dtype=tables.dtype) - 1 / size
    each = torch.linalg.svdvals(centre @ tables @ centre)
    return (each.flatten() > each.amax(1, keepdim=True)).sum(1) + 1


def queue_cases(generator: torch.Generator) -> list[list[Tensor]]:
    """Tables of lines, rings and constant distances of several sizes, shaken a little so that nothing ties."""
    cases = []
    for size in (6, 8):
        gap = _gap(size).double()
        ring = torch.minimum(gap, size - gap)
        kinds = [
            3.0 * gap,
            14.0 * (gap > 0),
            6.5 * ring.clamp(max=2),
            0.4 * gap,
            gap.clamp(max=2) * 5,
            24.0 * (gap > 0),
        ]
        tables = torch.stack(kinds)
        shake = 0.02 * torch.rand(tables.shape, generator=generator, dtype=torch.float64)
        cases.append([tables * (1 + shake + shake.transpose(1, 2))])
    return cases


def _spectra(tables):
    means = tables.mean(1, keepdim=True) + tables.mean(2, keepdim=True) - tables.mean((1, 2), keepdim=True)
    return torch.linalg.eigvalsh((means - tables) / 2)


def _place(score):
    return (score.unsqueeze(0) > score.unsqueeze(1)).sum(1) + 1


def _among(spectra, mine):
    return (spectra.flatten() > mine.unsqueeze(1)).sum(1) + 1


def _by_eigenvalues(tables):
    each = _spectra(tables)
    return _among(each, each[:, -1])


def _by_sorting(tables):
    each = _spectra(tables)
    order = each.flatten().sort(descending=True).values.tolist()
    return torch.tensor([order.index(value) + 1 for value in each[:, -1].tolist()])


QUEUE_MISTAKES = {
    "the factors were ranked by their importance, mean distance or sum of directions: it says nothing of how it is "
    "spread.":
        either(lambda t: _place(t.mean((1, 2))), lambda t: _place(_spectra(t).sum(1))),
    "only first directions were compared: the second one of an important factor can stand before another's first.":
        lambda t: _place(_spectra(t)[:, -1]),
    "counted from 0: one latent is needed for the factor that comes first.": lambda t: _by_eigenvalues(t) - 1,
    "the place of each factor's second direction: its largest one is asked for.":
        lambda t: _among(_spectra(t), _spectra(t)[:, -2]),
    "the sign is missing: inner products are −½ of the centred table.":
        lambda t: _among(-_spectra(t), (-_spectra(t)).amax(1)),
    "the tables hold squared distances: take no root of them, and no square.":
        either(lambda t: _by_eigenvalues(t.sqrt()), lambda t: _by_eigenvalues(t.square())),
    "each factor's largest direction was counted as standing before itself.":
        lambda t: (_spectra(t).flatten() >= _spectra(t)[:, -1:]).sum(1) + 1,
    "counted from the smallest direction up: the largest is first in the queue.":
        lambda t: (_spectra(t).flatten() < _spectra(t)[:, -1:]).sum(1) + 1,
}  # fmt: skip

# 23.3 -----------------------------------------------------------------------------------------------------------------


def brier_score(confidence, found):
    """Found and not found are counted apart: each contributes its own penalty."""
    often = found.double().mean(1)
    return (often * (1 - confidence) ** 2 + (1 - often) * confidence**2).mean()


def brier_cases(generator: torch.Generator) -> list[list[Tensor]]:
    """Mixed cells, all found, none found, one run."""
    cases = []
    for cells, runs in ((6, 5), (3, 4), (5, 1)):
        confidence = torch.rand(cells, generator=generator, dtype=torch.float64)
        found = (torch.rand(cells, runs, generator=generator) < torch.rand(cells, 1, generator=generator)).long()
        found[0, 0] = 1 - found[0, -1] if runs > 1 else 1
        cases.append([confidence, found])
    return [*cases, [torch.tensor([0.9, 0.2], dtype=torch.float64), torch.tensor([[1, 1, 1], [0, 0, 0]])]]


BRIER_MISTAKES = {
    "the runs were averaged before the square: that forgives every cell in which runs differ.":
        lambda p, y: ((p - y.double().mean(1)) ** 2).mean(),
    "the absolute difference is not proper: it rewards saying 0 or 1.":
        lambda p, y: (p.unsqueeze(1) - y).abs().mean(),
    "a sum: expected the mean over cells and runs.": lambda p, y: ((p.unsqueeze(1) - y) ** 2).sum(),
    "summed over cells: expected the mean over cells as well.":
        lambda p, y: ((p.unsqueeze(1) - y) ** 2).mean(1).sum(),
    "the confidences were rounded first: how sure one was no longer counts.":
        lambda p, y: ((p.unsqueeze(1).round() - y) ** 2).mean(),
    "the root of it: the score is the mean square itself.": lambda p, y: ((p.unsqueeze(1) - y) ** 2).mean().sqrt(),
    "Brier's own sum, over found and not found: twice what is expected here.":
        lambda p, y: 2 * ((p.unsqueeze(1) - y) ** 2).mean(),
    "the logarithmic score: it is proper as well, and it is another one.":
        lambda p, y: -torch.where(y == 1, p.unsqueeze(1), 1 - p.unsqueeze(1)).log().mean(),
    "found and not found are exchanged.": lambda p, y: ((p.unsqueeze(1) - (1 - y)) ** 2).mean(),
    "a cell's verdict by majority was taken for its runs.":
        lambda p, y: ((p - (y.double().mean(1) > 0.5).double()) ** 2).mean(),
}  # fmt: skip

# 23.4 -----------------------------------------------------------------------------------------------------------------

DESK_LOSSES = ("mse", "mse-box")
DESK_SETTINGS = SETTINGS | {"steps": 600, "seeds": 4}
REFERENCE_SEEDS = 100  # of the grader's own networks: these and the three that follow
KINDS = ("grows", "constant", "turns")


@cache
def desk_of(seed: int) -> MixingDesk:
    return MixingDesk.variant(seed)


@cache
def references(seed: int) -> dict:
    """The grader's own trainings of that desk: loss → factor → found or not, for each of its networks."""
    found = {loss: shares_of(loss, desk_of(seed), DESK_SETTINGS, first_seed=REFERENCE_SEEDS) for loss in DESK_LOSSES}
    return {loss: {name: np.array(row) >= FOUND for name, row in rows.items()} for loss, rows in found.items()}


def kinds_of(seed: int) -> dict[str, str]:
    """What the squared error sees of each fader, from what it is drawn with."""
    return {
        name: "turns" if fader.wraps else "constant" if fader.step >= fader.height else "grows"
        for name, fader in zip("abcd", desk_of(seed).faders, strict=True)
    }


def weakest_of(seed: int) -> str:
    return min(zip("abcd", desk_of(seed).faders, strict=True), key=lambda each: each[1].grey)[0]


def forecast_faults(answer) -> dict[str, str | None]:
    """One part for each fader's kind, one for the weakest fader, one for the seal, two for the score."""
    answer = keyed(answer, ("seed", "kinds", "weakest", "sealed"))
    seed = whole(answer["seed"])
    right, given = kinds_of(seed), keyed(answer["kinds"], [*"abcd"], "one of " + ", ".join(map(repr, KINDS)))
    faults = {name: _kind_fault(name, given[name], right[name]) for name in "abcd"}
    faults["weakest"] = _weakest_fault(answer["weakest"], weakest_of(seed))
    faults["sealed"], prediction = _seal_fault(answer["sealed"], seed)
    score_fault = _score_fault(prediction, references(seed)) if prediction else faults["sealed"]
    return faults | {"score": score_fault, "score, too": score_fault}


def forecast_commitment(answer) -> tuple[int, str] | None:
    """The desk's seed and the confidences, once they are sealed: the check trains, and tells what came of it."""
    answer = keyed(answer, ("seed", "kinds", "weakest", "sealed"))
    seed = whole(answer["seed"])
    _, prediction = _seal_fault(answer["sealed"], seed)
    return prediction and (seed, json.dumps(prediction.confidence, sort_keys=True))


def whole(seed) -> int:
    """A seed, as a whole number."""
    seed = real(seed, "seed")
    if seed != int(seed) or not 0 <= seed < 2**31:
        raise Unfit(f"seed: got {seed:g}; expected a whole number of your own, from 0 to {2**31 - 1}.")
    return int(seed)


def _score_fault(prediction: Prediction, found: dict) -> str | None:
    """What is wrong with confidences that the best number for each loss beats, which tells no faders apart."""
    cells = [(p, found[loss][name]) for loss, row in prediction.confidence.items() for name, p in row.items()]
    scored, bar = float(np.mean([(p - runs) ** 2 for p, runs in cells])), best_numbers(found.values())
    if scored < bar - 1e-9:
        return None
    return (
        f"sealed: the Brier score of your confidences is {scored:.3f} on the grader's own trainings, and one number "
        f"for each loss can have {bar:.3f}. Where were you sure, and why?"
    )


def _kind_fault(name: str, given, right: str) -> str | None:
    try:
        given = word(given, KINDS, f"kinds, {name}")
    except Unfit as unfit:
        return str(unfit)
    if given == right:
        return None
    why = {
        "grows": "its distances rise with every step until they level off, and never come back.",
        "constant": "any two of its places are equally far apart.",
        "turns": "its last place is as near to the first as the second is.",
    }
    return f"{name}: not {given!r}. Look at its table: {why[right]}"


def _weakest_fault(given, right: str) -> str | None:
    try:
        given = word(given, [*"abcd"], "weakest")
    except Unfit as unfit:
        return str(unfit)
    return None if given == right else f"weakest: not {given}. Which fader has the smallest mean distance?"


def _seal_fault(record, seed: int) -> tuple[str | None, Prediction | None]:
    """What is wrong with the sealed record, or None and the prediction in it."""
    try:
        record = json.loads(json.dumps(record))
        sealed = {name: value for name, value in record.items() if name != SEAL}
        prediction, fits = Prediction(**sealed), record.get(SEAL) == seal_of(record)
    except (AttributeError, TypeError, ValueError) as error:
        return f"sealed: expected what `Prediction.record()` returns ({str(error)[:120]}).", None
    if not fits:
        return "sealed: its content does not have its hash. It was altered after it was sealed.", None
    if prediction.data != repr(desk_of(seed)):
        return "sealed: it is about another desk than MixingDesk.variant(seed).", None
    if {*prediction.confidence} != {*DESK_LOSSES} or {*prediction.order} != {*"abcd"}:
        return "sealed: expected confidences for the losses mse and mse-box, and for the faders a, b, c and d.", None
    if json.dumps(prediction.settings, sort_keys=True) != json.dumps(DESK_SETTINGS, sort_keys=True):
        return "sealed: other settings than the task's, 600 steps and 4 seeds; all others stay.", None
    return None, prediction


def _forecast(seed=2026, kinds=None, weakest=None, scores=None, **changes):
    """An answer, right but for what is said."""
    right = kinds_of(seed) | (kinds or {})
    faint = weakest_of(seed)
    if scores is None:
        sure = {"mse": {"grows": 0.9, "constant": 0.1, "turns": 0.2}}
        sure["mse-box"] = {"grows": 0.8, "constant": 0.5, "turns": 0.2}
        scores = {
            loss: {name: 0.1 if name == faint else row[kind] for name, kind in kinds_of(seed).items()}
            for loss, row in sure.items()
        }
    arguments = dict(data=repr(desk_of(seed)), confidence=scores, order=[*"abcd"])
    prediction = Prediction(**arguments | {"settings": {"steps": 600, "seeds": 4}} | changes)
    return {"seed": seed, "kinds": right, "weakest": weakest or faint, "sealed": prediction.record()}


def _altered():
    answer = _forecast()
    confidence = {loss: {name: 1.0 for name in row} for loss, row in answer["sealed"]["confidence"].items()}
    return answer | {"sealed": answer["sealed"] | {"confidence": confidence}}


def _renamed(kind: str, other: str) -> dict:
    (name, *_) = (name for name, each in kinds_of(2026).items() if each == kind)
    return _forecast(kinds={name: other})


_ALL_WRONG = {
    loss: {name: 0.0 if kind == "grows" and name != weakest_of(2026) else 1.0 for name, kind in kinds_of(2026).items()}
    for loss in DESK_LOSSES
}
_SHRUG, _THIRD = ({loss: dict.fromkeys("abcd", p) for loss in DESK_LOSSES} for p in (0.5, 0.3))
FORECAST_MISTAKES = {
    "Look at its table: any two of its places are equally far apart.":
        either(_renamed("constant", "grows"), _renamed("constant", "turns")),
    "Look at its table: its last place is as near to the first as the second is.":
        either(_renamed("turns", "grows"), _renamed("turns", "constant")),
    "Look at its table: its distances rise with every step until they level off, and never come back.":
        _renamed("grows", "constant"),
    "Which fader has the smallest mean distance?":
        _forecast(weakest=next(name for name in "abcd" if name != weakest_of(2026))),
    "sealed: its content does not have its hash. It was altered after it was sealed.": _altered(),
    "sealed: it is about another desk than MixingDesk.variant(seed).": _forecast(data=repr(MixingDesk())),
    "sealed: other settings than the task's": _forecast(settings={}),
    "sealed: expected confidences for the losses mse and mse-box":
        _forecast(scores={"mse": dict.fromkeys("abcd", 0.5)}),
    "on the grader's own trainings, and one number for each loss can have":
        either(_forecast(scores=_ALL_WRONG), _forecast(scores=_SHRUG), _forecast(scores=_THIRD)),
    "expected what `Prediction.record()` returns": _forecast() | {"sealed": "my forecast"},
}  # fmt: skip

# 23.5 -----------------------------------------------------------------------------------------------------------------

WORDS = ("sound", "few seeds", "no control", "self-pairs", "chosen on the test", "wrong spread", "wrong base",
         "unequal capacity", "within the noise")  # fmt: skip
KINDS_OF_FAULT = {
    "faster": "few seeds", "follows": "no control", "read-out": "no control", "position": "self-pairs",
    "best of eight": "chosen on the test", "step": "chosen on the test", "error": "wrong spread", "gain": "wrong base",
    "latents": "unequal capacity", "best": "within the noise",
}  # fmt: skip
WHY = {
    "faster": "two seeds in one order are what a coin does half the time.",
    "follows": "how much has an untrained network?",
    "read-out": "how much can be read off an untrained network?",
    "position": "whose distance to itself is among those pairs?",
    "best of eight": "on what was the best β chosen?",
    "step": "on what was the step chosen, and how many were there to choose from?",
    "error": "which of the two spreads is said to be the error of the mean, and does it fit 25 seeds?",
    "gain": "2 % of what, in either task?",
    "latents": "how many latents has each?",
    "best": "how large is the difference beside its own error?",
}
SOUND = {
    "plain": "five seeds, a published β, and its control in another row.",
    "untrained": "it is the control, and says so.",
    "points": "points are points, and both ends of the difference are there.",
    "faster": "ten seeds in one order are no coin's work.",
    "follows": "the untrained network stands beside it.",
    "read-out": "the untrained network stands beside it.",
    "position": "its pairs are distinct, and the untrained network stands beside it.",
    "best of eight": "β was chosen on seeds that had no part in the score.",
    "step": "nothing was chosen by the score.",
    "error": ".05 over the root of 25 is .010.",
    "gain": "it counts points, and says of how many.",
    "latents": "both have ten latents.",
    "best": "the difference is .11, and its error .025.",
}


def faults_of(seed: int) -> dict[str, str]:
    """The letters of a table's faulty rows → what is wrong with each."""
    table = made_up_table(seed)
    faulty = {letter: name for letter, name in table.subjects.items() if name in EITHER}
    faulty = {letter: name for letter, name in faulty.items() if table.rows[letter] == EITHER[name][FAULTY[name]]}
    return {letter: KINDS_OF_FAULT[name] for letter, name in sorted(faulty.items())}


def _verdicts(answer) -> tuple[int, dict[str, str]]:
    """The seed and a word for each row."""
    given = keyed(answer, ("seed", *LETTERS), "one of " + ", ".join(map(repr, WORDS)))
    seed = whole(given.pop("seed"))
    return seed, {row: word(given[row], WORDS, f"row {row}") for row in LETTERS}


def referee_faults(answer) -> dict[str, str | None]:
    """One part for each planted fault; each sound row that is accused takes one hit away."""
    seed, given = _verdicts(answer)
    right, subjects = faults_of(seed), made_up_table(seed).subjects
    faults = {row: _missed(row, given[row], kind, WHY[subjects[row]]) for row, kind in right.items()}
    false = [row for row in LETTERS if given[row] != "sound" and row not in right]
    hits = [row for row, fault in faults.items() if fault is None]
    for row, hit in zip(false, hits, strict=False):
        faults[hit] = f"{row}: it is sound, since {SOUND[subjects[row]]} A false accusation takes a hit away."
    return dict(sorted(faults.items(), key=lambda each: "takes a hit away" not in (each[1] or "")))


def _missed(row: str, given: str, right: str, why: str) -> str | None:
    if given == right:
        return None
    if given == "sound":
        return f"{row}: it is not sound. Ask: {why}"
    return f"{row}: something is wrong with it, but not {given!r}. Ask: {why}"


def refereed(seed=2026, **changes) -> dict:
    """An answer, right but for what is said."""
    return {"seed": seed} | dict.fromkeys(LETTERS, "sound") | faults_of(seed) | changes


def _letters(seed: int) -> dict[str, str]:
    """What a row is about → its letter."""
    return {name: letter for letter, name in made_up_table(seed).subjects.items()}


def _where(name: str, faulty: bool) -> int:
    """A table in which this row is faulty, or sound."""
    return next(seed for seed in range(2026, 2126) if (_letters(seed)[name] in faults_of(seed)) == faulty)


def _slip(name: str, faulty: bool, word: str) -> dict:
    seed = _where(name, faulty)
    return refereed(seed, **{_letters(seed)[name]: word})


REFEREE_MISTAKES = {
    **{f"it is not sound. Ask: {why}": _slip(name, True, "sound") for name, why in WHY.items()},
    **{f"it is sound, since {why} A false": _slip(name, False, "wrong base") for name, why in SOUND.items()},
    "something is wrong with it, but not 'wrong base'.": _slip("faster", True, "wrong base"),
}

# ----------------------------------------------------------------------------------------------------------------------

EXERCISES = {
    "23.1": Function(
        reference=fader_table,
        cases=fader_cases,
        mistakes=FADER_MISTAKES,
        also_right=(
            _by_overlap,
            _drawn,
            _by_complement,
            lambda *each: torch.from_numpy(np.triu(fader_table(*each)) + np.tril(fader_table(*each))),
        ),
    ),
    "23.2": Function(
        reference=places_in_the_queue,
        cases=queue_cases,
        mistakes=QUEUE_MISTAKES,
        also_right=(_by_eigenvalues, _by_sorting, lambda t: torch.stack([*_by_eigenvalues(t)])),
    ),
    "23.3": Function(
        reference=brier_score,
        cases=brier_cases,
        mistakes=BRIER_MISTAKES,
        also_right=(
            lambda p, y: ((p.unsqueeze(1) - y) ** 2).mean(),
            lambda p, y: torch.tensor(np.mean((p.numpy()[:, None] - y.numpy()) ** 2)),
            lambda p, y: torch.nn.functional.mse_loss(p.unsqueeze(1).expand(y.shape), y.double()),
        ),
    ),
    "23.4": Plain(
        fault=forecast_faults,
        mistakes=FORECAST_MISTAKES,
        also_right=(
            _forecast(reasons="looked at the tables"),
            _forecast(order=[*"dcba"]),
            _forecast() | {"seed": np.int64(2026), "kinds": {n: k.upper() for n, k in kinds_of(2026).items()}},
        ),
        praise="right: sealed, unaltered, and better than any number for all faders.",
        commitment=forecast_commitment,
    ),
    "23.5": Plain(
        fault=referee_faults,
        mistakes=REFEREE_MISTAKES,
        also_right=(
            refereed(7),
            {row.lower(): kind.upper() if row != "seed" else kind for row, kind in refereed().items()},
            {
                row: kind.replace(" ", "_") if row != "seed" else np.int64(kind)
                for row, kind in reversed(refereed(123456).items())
            },
        ),
        praise="right: eight faults, and five rows left in peace.",
        told=13,
        commitment=lambda answer: (_verdicts(answer)[0], str(_verdicts(answer)[1])),
    ),
}
