"""Chapter 18's answers that are no functions: how three points move, a code, and how five codes were made."""

import torch
from torch import Tensor

from course_grading.answers import choices
from course_grading.calling import one_line
from course_grading.exercise import Wrong

# 18.2 -----------------------------------------------------------------------------------------------------------------

MOVES = {"anchor": [2, 0, 0, -2], "positive": [-1, 1, -1, 1], "negative": [-1, -1, 1, 1]}
POINTS = {"anchor": [0, 0, 0, 0], "positive": [2, -1, 0.5, -3], "negative": [-1, -4, 2, 1]}


def moves_fault(answer) -> str | None:
    """Whether the three moves are those of a descent step on the hard loss in ℓ1; if not, which mistake they show."""
    given = _moves(answer)
    if isinstance(given, str):
        return given
    right = {name: [float(part) for part in move] for name, move in MOVES.items()}
    if given == right:
        return None
    if given == {name: [-part for part in move] for name, move in right.items()}:
        return "these are the gradients. The points move against them: every sign is turned round."
    if not any(any(move) for move in given.values()):
        return "nothing moves only where the triplet is settled, d_n ≥ ψ + d_p; here d_p = 6.5, d_n = 8 and ψ = 5."
    if any(abs(part) not in (0, 1, 2) for move in given.values() for part in move):
        return "in ℓ1 every pull is a sign, whatever the difference: what moves, moves by 1, and the anchor by 0 or 2."
    if given["positive"] == [-part for part in right["positive"]]:
        return "positive: it moves towards the anchor, so down where it lies above it."
    if given["negative"] == [-part for part in right["negative"]]:
        return "negative: it moves away from the anchor, so further up where it lies above it."
    for name in ("positive", "negative"):
        if given[name] != right[name]:
            return f"{name}: in each latent, is it above or below the anchor, and does it come nearer or go away?"
    return _anchor_fault(given["anchor"])


def _anchor_fault(given: list[float]) -> str:
    if not any(given):
        return "anchor: it is pulled as well, by both; the three moves add up to 0 in every latent."
    if given == [1, -1, 1, -1]:
        return "anchor: that is the pull of the positive alone; the negative pushes it too."
    if given == [1, 1, -1, -1]:
        return "anchor: that is the push of the negative alone; the positive pulls it too."
    if given == [-2, 0, 0, 2]:
        return "anchor: it moves towards the positive and away from the negative, not the other way round."
    if given == [1, 0, 0, -1]:
        return "anchor: where it lies between the two, the pull and the push are 1 each, and add up."
    if given == [0, -2, 2, 0]:
        return "anchor: push and pull cancel where both lie on one side of it, not where it lies between them."
    return "anchor: add the pull of the positive, ±1, and the push of the negative, ±1, in each latent."


def _moves(answer) -> dict[str, list[float]] | str:
    """The three moves as lists of floats, or what is wrong with their form."""
    wanted = "wanted is a dict with the keys anchor, positive, negative, each with four numbers"
    if not isinstance(answer, dict) or set(answer) != set(MOVES):
        return f"got {one_line(answer, 60)}; {wanted}."
    found = {}
    for name in MOVES:
        try:
            move = torch.as_tensor(answer[name], dtype=torch.float64).flatten().tolist()
        except (TypeError, ValueError, RuntimeError):
            return f"{name}: got {one_line(answer[name], 60)}; {wanted}."
        if len(move) != 4:
            return f"{name}: got {len(move)} numbers; {wanted}."
        found[name] = move
    return found


MOVES_WRONG = (
    Wrong({name: [-part for part in move] for name, move in MOVES.items()}, "these are the gradients."),
    Wrong({**MOVES, "anchor": [0, 0, 0, 0]}, "anchor: it is pulled as well"),
    Wrong({**MOVES, "anchor": [1, -1, 1, -1]}, "the pull of the positive alone"),
    Wrong({**MOVES, "anchor": [0, -2, 2, 0]}, "push and pull cancel where both lie on one side"),
    Wrong({**MOVES, "anchor": [1, 0, 0, -1]}, "the pull and the push are 1 each, and add up"),
    Wrong({**MOVES, "positive": [-2, 1, -0.5, 3]}, "in ℓ1 every pull is a sign"),
    Wrong({**MOVES, "positive": [1, -1, 1, -1]}, "it moves towards the anchor"),
    Wrong({**MOVES, "negative": [1, 1, -1, -1]}, "it moves away from the anchor"),
    Wrong({name: [0, 0, 0, 0] for name in MOVES}, "nothing moves only where the triplet is settled"),
    Wrong([2, 0, 0, -2], "wanted is a dict with the keys anchor, positive, negative"),
)

# 18.5 -----------------------------------------------------------------------------------------------------------------

SIDE, LATENTS, MOST_ALIGNED = 4, 6, 0.21
PLACES = torch.cartesian_prod(torch.arange(SIDE), torch.arange(SIDE)).double()  # (16, 2): row and column


def code_fault(code) -> str | None:
    """Whether a code of the 4 × 4 grid is right for every triplet, straight, and as little aligned as asked for."""
    if not isinstance(code, Tensor) or tuple(code.shape) != (len(PLACES), LATENTS):
        shape = f" of shape {tuple(code.shape)}" if hasattr(code, "shape") else ""
        return f"got a {type(code).__name__}{shape}; wanted is a tensor ({len(PLACES)}, {LATENTS})."
    if code.is_complex() or not code.double().isfinite().all():
        return "got NaN, infinite or complex numbers; real finite ones are wanted."
    code = code.double()
    wrong = _wrong_triplets(code)
    if wrong:
        return f"{wrong} triplets are in the wrong order.{_mixed(code)}"
    lines = _lines(code)
    straight, aligned = (torch.stack([ratio(line) for line in lines]) for ratio in (_linearity, _alignment))
    if straight.min() < 0.999:
        return f"every triplet is right, but a factor runs along a bent line (linearity {straight.min():.2f})."
    score = (aligned[:SIDE].mean() * aligned[SIDE:].mean()).sqrt()
    if score > MOST_ALIGNED:
        return f"every triplet is right and the lines are straight; the axis alignment is {score:.2f}.{_used(code)}"
    return None


def _wrong_triplets(code: Tensor) -> int:
    told, found = (torch.cdist(points, points, p=1) for points in (PLACES, code))
    nearer = told.unsqueeze(2) < told.unsqueeze(1)  # (anchor, positive, negative)
    tolerance = 1e-6 * found.max()
    return int((nearer & (found.unsqueeze(2) + tolerance >= found.unsqueeze(1))).sum())


def _lines(code: Tensor) -> list[Tensor]:
    """The traversals, centred: four along the rows' number, then four along the columns'."""
    net = code.view(SIDE, SIDE, LATENTS)
    lines = [*net.unbind(1), *net.unbind(0)]
    return [line - line.mean(0) for line in lines]


def _linearity(line: Tensor) -> Tensor:
    values = torch.linalg.svdvals(line).square()
    return (values.max() / values.sum() - 1 / LATENTS) / (1 - 1 / LATENTS)


def _alignment(line: Tensor) -> Tensor:
    values = line.square().sum(0)
    return (values.max() / values.sum() - 1 / LATENTS) / (1 - 1 / LATENTS)


def _moving(code: Tensor) -> tuple[Tensor, Tensor]:
    """Which latents move with the row's number, and which with the column's: bool (D,) each."""
    net = code.view(SIDE, SIDE, LATENTS)
    slack = 1e-9 * code.abs().max()
    return (net - net[:1]).abs().amax((0, 1)) > slack, (net - net[:, :1]).abs().amax((0, 1)) > slack


def _mixed(code: Tensor) -> str:
    rows, columns = _moving(code)
    if not (rows.any() and columns.any()):
        return " One of the two factors moves no latent at all."
    if (rows & columns).any():
        return " A latent moves with both factors, and here it costs order. Deal each factor out to latents of its own."
    return " Row and column do not count alike: let each factor move the code by the same ℓ1 distance per step."


def _used(code: Tensor) -> str:
    rows, columns = _moving(code)
    if not (rows | columns).all():
        return " Not all six latents move: there is room to deal the factors out further."
    return " All six latents move, but not alike: a factor that is dealt out evenly has the least alignment."


def _dealt(rows: list[float], columns: list[float]) -> Tensor:
    """The code whose latents move by so much per row and per column."""
    return PLACES @ torch.tensor([rows, columns], dtype=torch.float64)


RIGHT_CODE = _dealt([1 / 3] * 3 + [0] * 3, [0] * 3 + [1 / 3] * 3)
CODE_WRONG = (
    Wrong(_dealt([1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]), "Not all six latents move"),
    Wrong(_dealt([0.5, 0.5, 0, 0, 0, 0], [0, 0, 0.5, 0.5, 0, 0]), "Not all six latents move"),
    Wrong(_dealt([0.6, 0.2, 0.2, 0, 0, 0], [0, 0, 0, 0.6, 0.2, 0.2]), "All six latents move, but not alike"),
    Wrong(_dealt([1, 1, 1, 1, 1, 1], [1, -1, 1, -1, 1, -1]), "A latent moves with both factors"),
    Wrong(_dealt([0.8, 0.6, 0, 0, 0, 0], [-0.6, 0.8, 0, 0, 0, 0]), "A latent moves with both factors"),
    Wrong(_dealt([1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]), "Row and column do not count alike"),
    Wrong(_dealt([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]), "One of the two factors moves no latent"),
    Wrong(torch.cat([PLACES.clamp(max=1), (PLACES - 1).clamp(min=0), 0 * PLACES], 1), "runs along a bent line"),
    Wrong(RIGHT_CODE.T, "wanted is a tensor (16, 6)"),
    Wrong(RIGHT_CODE.tolist(), "got a list"),
)

# 18.6 -----------------------------------------------------------------------------------------------------------------

MADE = {"A": "split", "B": "mixed", "C": "partly split", "D": "bent", "E": "aligned"}
WORDS = ("aligned", "split", "partly split", "mixed", "bent")
ROWS = {  # wrong in ℓ1, linearity, axis alignment, MIG, modularity
    "A": (0.00, 1.00, 0.27, 0.00, 1.00),
    "B": (0.10, 1.00, 0.67, 0.00, 0.67),
    "C": (0.00, 1.00, 0.63, 0.50, 1.00),
    "D": (0.00, 0.90, 0.86, 0.45, 1.00),
    "E": (0.10, 1.00, 1.00, 0.92, 1.00),
}
MADE_WRONG = {
    ("A", "aligned"): "A: straight and in order, but no factor has one latent of its own: axis .27, MIG 0.",
    ("A", "mixed"): "A: with modularity 1 each latent carries one factor only, so nothing is mixed.",
    ("A", "partly split"): "A: a factor that has one latent alone would lift the MIG above 0.",
    ("A", "bent"): "A: the linearity is 1.",
    ("B", "aligned"): "B: look at the MIG: for no factor one latent knows more than the next.",
    ("B", "split"): "B: a split costs no triplet and no modularity; here both have suffered.",
    ("B", "partly split"): "B: a split costs no triplet and no modularity; here both have suffered.",
    ("B", "bent"): "B: the linearity is 1.",
    ("C", "split"): "C: if all four factors were split, the MIG would be 0; half of it is there.",
    ("C", "aligned"): "C: then the axis alignment would be 1.",
    ("C", "mixed"): "C: with modularity 1 each latent carries one factor only, so nothing is mixed.",
    ("C", "bent"): "C: the linearity is 1.",
    ("D", "split"): "D: a split code is straight; here the linearity is .90.",
    ("D", "partly split"): "D: a split code is straight; here the linearity is .90.",
    ("D", "mixed"): "D: with modularity 1 each latent carries one factor only, so nothing is mixed.",
    ("D", "aligned"): "D: an aligned factor moves in one latent, and on a line of one latent the linearity is 1.",
    ("E", "mixed"): "E: axis alignment 1 leaves nothing to mix. The wrong triplets come from uneven steps.",
    ("E", "split"): "E: a split has a low axis alignment; here it is 1.",
    ("E", "partly split"): "E: a split has a lower axis alignment; here it is 1 for all.",
    ("E", "bent"): "E: on one latent nothing can bend. Steps of unequal length cost triplets, not the line.",
}
made_fault = choices(MADE, WORDS, MADE_WRONG)
