"""Saving and restoring all that a training needs to go on as if it had never stopped."""

import json
from pathlib import Path

import torch
from torch import Tensor
from torch.optim import Optimizer

from course_lib.frameworks import Framework
from course_lib.storage import TRAINING, read_tensors, write_tensors
from course_lib.training.history import History


class Checkpoint:
    """One file with weights, optimisers, generator and history; `load_framework` reads the weights from it too.

    `settings` describes the run (data, seed, batch size, learning rate): a file from a different run is refused.
    """

    def __init__(
        self, path, framework: Framework, optimisers: dict[str, Optimizer], generator: torch.Generator, settings: dict
    ):
        self.path, self.framework, self.optimisers = Path(path), framework, optimisers
        self.generator, self.settings = generator, settings

    def save(self, history: History) -> None:
        tensors = dict(self.framework.state_dict())
        tensors[f"{TRAINING}generator"] = self.generator.get_state()
        for name, _, state, key in self._optimiser_states():
            tensors[name] = state[key]
        progress = {"settings": self.settings, "steps": history.steps, "records": history.records}
        write_tensors(self.path, tensors, self.framework.config | progress)

    def restore(self) -> History:
        """Put the file's state into framework, optimisers and generator. Nothing changes unless all of it fits."""
        tensors, config = read_tensors(self.path)
        self._check_same_run(config)
        weights = self.framework.state_dict()
        states = {name: (parameter, state, key) for name, parameter, state, key in self._optimiser_states()}
        missing = (weights.keys() | states.keys() | {f"{TRAINING}generator"}) - tensors.keys()
        if missing:
            raise ValueError(f"checkpoint: {self.path} is damaged: it lacks {', '.join(sorted(missing)[:3])}.")
        wrong = [name for name in weights if weights[name].shape != tensors[name].shape]
        if wrong:
            raise ValueError(
                f"checkpoint: {self.path} is damaged: {wrong[0]} has shape {tuple(tensors[wrong[0]].shape)}."
            )
        self.framework.load_state_dict({name: tensors[name] for name in weights})
        for name, (_, state, key) in states.items():
            state[key].copy_(tensors[name])  # in place, to keep the memory format and device
        self.generator.set_state(tensors[f"{TRAINING}generator"])
        return History(config["records"], config["steps"])

    def _optimiser_states(self) -> list[tuple[str, Tensor, dict, str]]:
        """Every tensor that the optimisers hold: its name in the file, its parameter, and where it lives."""
        return [
            (f"{TRAINING}{player}/{place}/{key}", parameter, state, key)
            for player, optimiser in self.optimisers.items()
            for place, (parameter, state) in enumerate(optimiser.state.items())
            for key in sorted(state)
        ]

    def _check_same_run(self, config: dict) -> None:
        here = json.loads(json.dumps(self.framework.config | {"settings": self.settings}))  # as it looks when read back
        for part, value in here.items():
            there = config.get(part)
            if there == value:
                continue
            if isinstance(value, dict) and isinstance(there, dict):  # name the one entry that differs
                part = next(key for key in value.keys() | there.keys() if value.get(key) != there.get(key))
                value, there = value.get(part), there.get(part)
            raise ValueError(
                f"checkpoint: {self.path} comes from another run: its {part} is {there!r}, here it is {value!r}. "
                "Give the same arguments to go on with it, or another path to start afresh."
            )
