"""One training step, written so that a CUDA graph can hold it: nothing in it looks at a value."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.optim import Adam, Optimizer

from course_lib.data import GridDataset, standardise
from course_lib.frameworks import Framework, Step


@dataclass
class Trainer:
    """A training step, and all that it needs. Its state is in tensors: `index`, weights, optimisers and generator.

    `objective` names the terms of the first player, whose sum is the framework's objective.
    """

    framework: Framework
    data: GridDataset
    batch_size: int
    steps: int
    generator: torch.Generator
    optimisers: dict[str, Optimizer]
    autocast: AbstractContextManager
    objective: tuple[str, ...] = field(default=(), init=False)
    _faults: Tensor | None = field(default=None, init=False)

    def __post_init__(self):
        self.index = torch.zeros((), dtype=torch.int64, device=self.generator.device)

    def go_on_from(self, steps: int) -> None:
        """Set how many steps are done."""
        self.index.fill_(steps)

    def step(self) -> dict[str, Tensor]:
        """Draw a batch and let each player take one step on it; returns the weighted terms, detached."""
        images = self.data.images(self.framework.sample(self.data.space, self.batch_size, self.generator))
        views = standardise(images, self.framework.model.pixel_mean, self.framework.model.pixel_std)
        players, turns = self.framework.players, {}
        for place, player in enumerate(players):
            turns[player] = self._turn(player, players[:place].count(player), views)
        self.objective = tuple(turns[players[0]])
        terms = {name: term for turn in turns.values() for name, term in turn.items()}
        self.index += 1
        self._note_faults(terms)
        return terms

    def first_faults(self) -> list[int]:
        """For each term, the first step (counted from 1) at which it was not finite, or 0; empty before any step."""
        return [] if self._faults is None else self._faults.tolist()

    def _turn(self, player: str, turn: int, views: Tensor) -> dict[str, Tensor]:
        optimiser = self.optimisers[player]
        with self.autocast:
            terms = self.framework.loss(views, Step(self.index, self.steps, self.generator, player, turn))
        optimiser.zero_grad(set_to_none=True)
        weights = [weight for group in optimiser.param_groups for weight in group["params"]]
        sum(terms.values()).backward(inputs=weights)  # no player's loss reaches another's weights
        optimiser.step()
        return {name: term.detach() for name, term in terms.items()}

    def _note_faults(self, terms: dict[str, Tensor]) -> None:
        # On the device: what is looked at only now and then would otherwise be blamed on a later step, or term.
        faulty = ~torch.stack([term.float() for term in terms.values()]).isfinite()
        if self._faults is None:
            self._faults = torch.zeros(len(terms), dtype=torch.int64, device=self.index.device)
        self._faults.copy_(torch.where(faulty & (self._faults == 0), self.index, self._faults))


def adam(framework: Framework, player: str) -> Adam:
    """The player's Adam, on its weights that are not frozen, its state already made for a checkpoint to be read into.

    Gradients of weights that a turn does not train are never computed, and a CUDA graph may hold the update.
    """
    weights = [weight for weight in framework.parameters_of(player) if weight.requires_grad]
    if not weights:
        raise ValueError(f"framework: all weights of its player {player!r} are frozen; something must be trainable.")
    groups = split_by_decay(framework, weights, framework.adam(player))
    return fused_adam([{"params": members, **settings} for members, settings in groups])


def split_by_decay(framework: Framework, weights: list[Tensor], settings: dict) -> list[tuple[list[Tensor], dict]]:
    """The weights with their settings of Adam: one group, or two where weight decay spares some of them."""
    if not settings.get("weight_decay"):
        return [(weights, settings)]
    decayed = {id(weight) for name, weight in framework.named_parameters() if framework.decays(name)}
    parts = [weight for weight in weights if id(weight) in decayed], [w for w in weights if id(w) not in decayed]
    pairs = zip(parts, (settings, settings | {"weight_decay": 0.0}), strict=True)
    return [(part, own) for part, own in pairs if part]


def fused_adam(groups: list[dict]) -> Adam:
    """An Adam of such groups of weights and settings, its state made."""
    weights = [weight for group in groups for weight in group["params"]]
    optimiser = Adam(groups, fused=True, capturable=any(weight.is_cuda for weight in weights))
    for weight in weights:
        state = optimiser.state[weight]
        state["step"] = torch.zeros((), dtype=torch.float32, device=weight.device)
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
    return optimiser
