"""Many models of one shape as one batch of networks, and the training step that they take together."""

from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import groupby

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.optim import Adam

from course_lib.data import GridDataset, standardise
from course_lib.frameworks import Framework, Step
from course_lib.training.random_calls import Generators, RandomCall, Recording, Replaying
from course_lib.training.trainer import fused_adam, split_by_decay

ALONE = "Train them one after the other with fit."


class Crowd(nn.Module):
    """Frameworks of one kind and shape, which a checkpoint stores and restores together."""

    def __init__(self, frameworks: list[Framework]):
        super().__init__()
        self.members = nn.ModuleList(frameworks)

    @property
    def config(self) -> dict:
        """Of each member, by its place."""
        return {
            f"{entry} of model {place}": value
            for place, framework in enumerate(self.members)
            for entry, value in framework.config.items()
        }

    def numbers(self, device: torch.device) -> dict[str, Tensor | tuple[Tensor, ...]]:
        """The arguments that differ: of a number a tensor (K,), of a pair two of them.

        Raises ValueError when the members are not of one kind and shape, or differ in something else than numbers.
        """
        first = self.members[0]
        kinds = [(type(one).__name__, one.model.config, one.config.get("kernel"), _layout(one)) for one in self.members]
        for place, kind in enumerate(kinds):
            if kind != kinds[0]:
                raise ValueError(
                    f"frameworks: number {place} is another framework, or has another network, kernel or frozen "
                    f"weights, than number 0; allowed are models that differ in weights and numbers. {ALONE}"
                )
        if len({id(weight) for weight in self.parameters()}) < sum(len(_layout(one)) for one in self.members):
            raise ValueError("frameworks: some share a model; allowed are frameworks with a model each.")
        values = {name: [one.arguments[name] for one in self.members] for name in first.arguments}
        return {name: _stack(name, each, device) for name, each in values.items() if any(v != each[0] for v in each)}


@dataclass
class ManyTrainer:
    """A training step of all frameworks at once, as `Trainer` is of one, and all that it needs.

    Weights of the same name lie in one tensor (K, ...), the leaf of the backward pass; what `frameworks` hold is the
    state of the last `write`. Terms are (K,) each.
    """

    crowd: Crowd
    data: GridDataset
    batch_size: int
    steps: int
    generators: Generators
    rates: list[float]
    autocast: AbstractContextManager
    objective: tuple[str, ...] = field(default=(), init=False)
    _faults: Tensor | None = field(default=None, init=False)

    def __post_init__(self):
        device = self.generators.device
        self.index = torch.zeros((), dtype=torch.int64, device=device)
        self.frameworks: list[Framework] = list(self.crowd.members)
        self.numbers = self.crowd.numbers(device)
        self._loss = _Loss(self.frameworks[0])
        columns = {
            name: [one.get_parameter(name) for one in self.frameworks] for name, *_ in _layout(self.frameworks[0])
        }
        self.weights = {
            name: torch.stack([weight.detach() for weight in column]).requires_grad_(column[0].requires_grad)
            for name, column in columns.items()
        }
        self._groups = {player: self._cut(player) for player in self.players}
        self.optimisers = {player: self._adam(player) for player in self.players}
        self._calls: dict[str, list[RandomCall]] = {}

    @property
    def players(self) -> tuple[str, ...]:
        return self.frameworks[0].players

    @torch.no_grad()
    def read(self) -> None:
        """Take the weights that the frameworks hold, as a checkpoint may have put them there."""
        for place, framework in enumerate(self.frameworks):
            for name, weight in framework.named_parameters():
                self.weights[name][place].copy_(weight)

    @torch.no_grad()
    def write(self, running: list[int]) -> None:
        """Give the weights of the models that still run to their frameworks, and clear the moments of the others."""
        for place in running:
            for name, weight in self.frameworks[place].named_parameters():
                weight.copy_(self.weights[name][place])
        running = torch.tensor([place in running for place in range(len(self.frameworks))], device=self.index.device)
        for player, optimiser in self.optimisers.items():
            for part, _, pairs in self._groups[player]:
                for _, piece in pairs:
                    for moment in ("exp_avg", "exp_avg_sq"):
                        optimiser.state[piece][moment][~running[part]] = 0  # a NaN would be stored

    def go_on_from(self, steps: int) -> None:
        """Set how many steps are done, and learn which random numbers the losses draw."""
        self.index.fill_(steps)
        before = self.generators.get_state()
        with torch.no_grad():
            views = self._views()
            for player in self.players:
                self._rehearse(player, views)
        self.generators.set_state(before)

    def step(self) -> dict[str, Tensor]:
        """Draw a batch for each model and let each player take one step on it; the weighted terms, (K,), detached."""
        views = self._views()
        turns = {player: self._turn(player, views) for player in self.players}
        self.objective = tuple(turns[self.players[0]])
        terms = {name: term for turn in turns.values() for name, term in turn.items()}
        self.index += 1
        self._note_faults(terms)
        return terms

    def first_faults(self) -> list[list[int]]:
        """For each term and model, the first step at which it was not finite, or 0; empty before any step."""
        return [] if self._faults is None else self._faults.tolist()

    def weight_faults(self) -> dict[int, str]:
        """The models with weights that are not finite, and the name of such a weight."""
        found = {}
        for name, weight in self.weights.items():
            for place in (~weight.isfinite().flatten(1).all(1)).nonzero().flatten().tolist():
                found.setdefault(place, name)
        return found

    def _views(self) -> Tensor:
        """Standardised images (K, V, B, C, H, W)."""
        space, model = self.data.space, self.frameworks[0].model
        pairs = zip(self.frameworks, self.generators, strict=True)
        index = torch.stack([framework.sample(space, self.batch_size, generator) for framework, generator in pairs])
        return standardise(self.data.images(index), model.pixel_mean, model.pixel_std)

    def _turn(self, player: str, views: Tensor) -> dict[str, Tensor]:
        terms = self._terms(player, views)
        leaves = list({id(leaf): leaf for _, _, pairs in self._groups[player] for leaf, _ in pairs}.values())
        for leaf in leaves:
            leaf.grad = None
        # A sum over the models too: none reaches another's weights, so the gradient of each is its own.
        sum(terms.values()).sum().backward(inputs=leaves)
        for part, _, pairs in self._groups[player]:
            for leaf, piece in pairs:
                piece.grad = None if leaf.grad is None else leaf.grad[part]
        self.optimisers[player].step()
        return {name: term.detach() for name, term in terms.items()}

    def _terms(self, player: str, views: Tensor) -> dict[str, Tensor]:
        step = Step(self.index, self.steps, next(iter(self.generators)), player)
        drawn = [call(self.generators) for call in self._calls[player]]

        def of_one(weights, numbers, images, drawn):
            with Replaying(drawn), self._loss.arguments(numbers):
                return functional_call(self._loss, weights, (images, step))

        with self.autocast:
            return vmap(of_one)({f"framework.{k}": w for k, w in self.weights.items()}, self.numbers, views, drawn)

    def _rehearse(self, player: str, views: Tensor) -> None:
        """Learn which random calls the player's loss makes, and make sure that the batch gives each model its terms."""
        before, alone = self.generators.get_state(), []
        for framework, generator, images in zip(self.frameworks, self.generators, views, strict=True):
            with self.autocast, Recording() as recording:
                alone.append(framework.loss(images, Step(self.index, self.steps, generator, player)))
        self._calls[player] = recording.calls
        self.generators.set_state(before)
        try:
            self._compare(alone, self._terms(player, views))
        except torch.OutOfMemoryError:
            raise
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            kind = type(self.frameworks[0]).__name__
            raise ValueError(f"frameworks: {kind} cannot be trained in a batch of these ({error}). {ALONE}") from error

    @staticmethod
    def _compare(alone: list[dict[str, Tensor]], together: dict[str, Tensor]) -> None:
        """A ValueError unless the terms agree but for rounding: a loss may read more than weights and arguments."""
        expected = {name: torch.stack([terms[name] for terms in alone]) for name in alone[0]}
        size = sum(term.abs() for term in expected.values())
        for name, term in expected.items():
            far = (together[name] - term).abs() > 0.02 * term.abs() + 1e-4 * size
            for place in far.nonzero().flatten().tolist():
                raise ValueError(f"{name} of number {place} is {term[place]:g}, but {together[name][place]:g} in it")

    def _cut(self, player: str) -> list[tuple[slice, dict, list[tuple[Tensor, Tensor]]]]:
        """The player's weights, cut where neighbouring models have other settings of Adam.

        Each group is a run of models, its settings, and pairs of a leaf (K, ...) and the part of it that belongs to the
        run, in the same memory. What weight decay spares is a group of its own.
        """
        first = self.frameworks[0]
        names = {id(weight): name for name, weight in first.named_parameters()}
        weights = [weight for weight in first.parameters_of(player) if weight.requires_grad]
        if not weights:
            raise ValueError(f"frameworks: all weights of player {player!r} are frozen; something must be trainable.")
        settings = [framework.adam(player) for framework in self.frameworks]
        if player == self.players[0]:
            settings = [one | {"lr": rate} for one, rate in zip(settings, self.rates, strict=True)]
        runs = [list(run) for _, run in groupby(range(len(settings)), key=settings.__getitem__)]
        groups = []
        for part in (slice(run[0], run[-1] + 1) for run in runs):
            for members, own in split_by_decay(first, weights, settings[part.start]):
                leaves = [self.weights[names[id(weight)]] for weight in members]
                groups.append((part, own, [(leaf, leaf.detach()[part]) for leaf in leaves]))
        return groups

    def _adam(self, player: str) -> Adam:
        groups = self._groups[player]
        return fused_adam([{"params": [piece for _, piece in pairs], **settings} for _, settings, pairs in groups])

    def _note_faults(self, terms: dict[str, Tensor]) -> None:
        # On the device, as in `Trainer`: what is looked at only now and then is not blamed on a later step.
        faulty = ~torch.stack([term.float() for term in terms.values()]).isfinite()
        if self._faults is None:
            self._faults = torch.zeros(faulty.shape, dtype=torch.int64, device=self.index.device)
        self._faults.copy_(torch.where(faulty & (self._faults == 0), self.index, self._faults))


class _Loss(nn.Module):
    """A framework's loss as a module's forward pass, for `functional_call`."""

    def __init__(self, framework: Framework):
        super().__init__()
        self.framework = framework

    def forward(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        return self.framework.loss(views, step)

    @contextmanager
    def arguments(self, numbers: dict):
        """The framework with other arguments, while the block lasts."""
        before = {name: getattr(self.framework, name) for name in numbers}
        try:
            for name, value in numbers.items():
                setattr(self.framework, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self.framework, name, value)


def _layout(framework: Framework) -> list[tuple]:
    return [(name, tuple(weight.shape), weight.requires_grad) for name, weight in framework.named_parameters()]


def _stack(name: str, values: list, device: torch.device) -> Tensor | tuple[Tensor, ...]:
    """The values of an argument as a tensor (K,), or those of pairs as two; a ValueError if they are others."""
    if all(type(value) in (int, float) for value in values):
        return torch.tensor(values, device=device)
    if all(isinstance(value, list | tuple) and len(value) == len(values[0]) for value in values):
        return tuple(_stack(name, list(each), device) for each in zip(*values, strict=True))
    raise ValueError(f"frameworks: their {name} are {values}; allowed are different numbers, or the same. {ALONE}")
