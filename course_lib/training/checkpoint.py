"""Saving and restoring all that a training needs to go on as if it had never stopped."""

import json
import math
import os
from pathlib import Path

import torch
from torch import Tensor
from torch.optim import Optimizer

from course_lib.frameworks import Framework
from course_lib.storage import TRAINING, flaw, read_tensors, write_tensors
from course_lib.training.history import History

ABSENT = "absent"
GENERATOR, RECORDS = f"{TRAINING}generator", f"{TRAINING}records"


class Checkpoint:
    """One file with weights, optimisers, generator and history; `load_framework` reads the weights from it too.

    `settings` describes the run (data, seed, batch size, learning rate): a file from a different run is refused.
    `saved` counts the steps of the training that the file holds.
    """

    def __init__(
        self, path, framework: Framework, optimisers: dict[str, Optimizer], generator: torch.Generator, settings: dict
    ):
        self.path = Path(os.path.realpath(path))  # once: the working directory may change
        self.framework, self.optimisers = framework, optimisers
        self.generator, self.settings = generator, settings
        self.saved = 0

    def open(self, steps: int) -> History:
        """The history to go on with in a training of `steps` in all: that of the file, or a new one.

        The file is written if there are steps to come: better to learn now that it cannot be than after an hour.
        """
        history = self.restore(limit=steps) if self.path.exists() else History()
        if history.steps < steps:
            self.save(history)
        return history

    def save(self, history: History) -> None:
        tensors = dict(self.framework.state_dict())
        tensors[GENERATOR] = self.generator.get_state()
        tensors[RECORDS] = torch.frombuffer(bytearray(json.dumps(history.records).encode()), dtype=torch.uint8)
        tensors |= {name: state[key] for name, state, key in self._optimiser_states()}
        write_tensors(self.path, tensors, self.framework.config | {"settings": self.settings, "steps": history.steps})
        self.saved = history.steps

    def restore(self, limit: int) -> History:
        """Put the file's state into framework, optimisers and generator; nothing changes unless all of it fits.

        Raises ValueError when the file comes from another run, is damaged, or holds more than `limit` steps.
        """
        tensors, config = read_tensors(self.path)
        self._check_same_run(config)
        steps = config.get("steps")
        weights = self.framework.state_dict()
        states = {name: (state, key) for name, state, key in self._optimiser_states()}
        expected = weights | {name: state[key] for name, (state, key) in states.items()}
        expected[GENERATOR] = self.generator.get_state()
        for name, here in expected.items():
            there = tensors.get(name)
            if there is None or (there.shape, there.dtype) != (here.shape, here.dtype):
                what = "missing" if there is None else f"{there.dtype} {tuple(there.shape)}"
                raise ValueError(
                    f"checkpoint: {self.path} is damaged, from another kind of device, or of a training in which other "
                    f"weights were frozen: {name} is {what}, "
                    f"expected {here.dtype} {tuple(here.shape)}."
                )
        if found := flaw({name: tensors[name] for name in expected}):
            raise ValueError(f"checkpoint: {self.path} is damaged: {found}.")
        records = self._records(steps, tensors.get(RECORDS))
        if steps > limit:
            raise ValueError(f"steps: got {limit}; the checkpoint {self.path} already holds {steps}.")
        self._check_generator(tensors[GENERATOR])
        self.framework.load_state_dict({name: tensors[name] for name in weights})
        for name, (state, key) in states.items():
            state[key].copy_(tensors[name])  # in place, to keep the memory format and device
        self.generator.set_state(tensors[GENERATOR])
        self.saved = steps
        return History(records, steps)

    def _records(self, steps, content: Tensor | None) -> list[dict]:
        """The history in the file, read before anything is changed; a ValueError unless it is one."""
        try:
            records = json.loads(bytes(content.tolist()))
            fine = type(steps) is int and steps >= 0 and isinstance(records, list)
            fine = fine and all(math.isfinite(record["seconds"]) for record in records)
        except (AttributeError, TypeError, ValueError, KeyError, RecursionError):
            fine = False
        if not fine:
            raise ValueError(f"checkpoint: {self.path} is damaged: it lacks its history, or it cannot be read.")
        return records

    def _check_generator(self, state: Tensor) -> None:
        try:
            for one in torch.atleast_2d(state):  # of many models, a row for each
                torch.Generator(self.generator.device).set_state(one.clone())
        except RuntimeError as error:
            raise ValueError(f"checkpoint: {self.path} is damaged: the state of its generator is none.") from error

    def _optimiser_states(self) -> list[tuple[str, dict, str]]:
        """Every tensor that the optimisers hold: its name in the file, and where it lives."""
        return [
            (f"{TRAINING}{player}/{place}/{key}", state, key)
            for player, optimiser in self.optimisers.items()
            for place, state in enumerate(optimiser.state.values())
            for key in sorted(state)
        ]

    def _check_same_run(self, config: dict) -> None:
        here = json.loads(json.dumps(self.framework.config | {"settings": self.settings}))  # as it looks when read back
        for entry, value in here.items():
            there = config.get(entry)
            if there == value:
                continue
            if isinstance(value, dict) and isinstance(there, dict):  # name the one entry that differs
                keys = sorted(value.keys() | there.keys())
                entry = next(key for key in keys if value.get(key, ABSENT) != there.get(key, ABSENT))
                value, there = value.get(entry, ABSENT), there.get(entry, ABSENT)
            raise ValueError(
                f"checkpoint: {self.path} comes from another run: its {entry} is {there!r}, here it is {value!r}. "
                "Give the same arguments to go on with it, or another path to start afresh."
            )
