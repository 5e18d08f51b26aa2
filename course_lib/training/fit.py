"""The training loop: one for every framework."""

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import Tensor
from tqdm.auto import tqdm

from course_lib.arguments import MOST, check_choice, check_instance, check_integers, check_numbers, check_seed
from course_lib.data import GridDataset, check_data
from course_lib.frameworks import Framework
from course_lib.storage import check_path
from course_lib.training.capture import CapturedStep, should_capture
from course_lib.training.checkpoint import Checkpoint
from course_lib.training.history import History
from course_lib.training.precision import autocast, is_convolutional, resolve_precision
from course_lib.training.progress import is_quiet
from course_lib.training.trainer import Trainer, adam


def fit(
    framework: Framework,
    data: GridDataset,
    *,
    steps: int,
    batch_size: int = 256,
    learning_rate: float | None = None,
    seed: int = 0,
    device: str = "auto",
    precision: str = "auto",
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    budget: float | None = None,
    callbacks: Iterable[Callable] = (),
    capture: bool | str = "auto",
) -> History:
    """Train `framework` on `data` in place and return what happened.

    Parameters
    ----------
    steps : how many steps in all, those done before a resume included. Schedules of the framework span all of them.
    batch_size : how many draws per step; each is one image, or one pair or triplet where the framework wants those.
    learning_rate : of the model's Adam; None takes the framework's own. Other players always keep theirs.
    seed : of the batches and the noise. Same seed, processor type and thread count: same weights.
    device : "auto" (a CUDA GPU if there is one), or any PyTorch device. The framework stays there.
    precision : "auto", "float32" or "bfloat16" (autocast; the weights stay float32). See `training.precision`.
    checkpoint : a file that is written every `checkpoint_every` steps and at the end. If it exists, training goes on
        from it, to the bit as if it had never stopped; if it comes from other settings, nothing is touched.
    log_every : steps between two records of the history, and between two calls of the callbacks.
    budget : seconds after which training stops early, its checkpoint written.
    callbacks : each is called as callback(framework, step) and may return a dict of floats for the history. One that
        changes the framework needs capture=False.
    capture : whether the whole step (sampling, drawing, loss, Adam) becomes one CUDA graph, which is replayed: the same
        losses, several times as fast. "auto" does so on CUDA if the data can be drawn there; False runs it op by op.

    A progress bar shows meanwhile; the environment variable TQDM_DISABLE=1 turns it off.

    Raises
    ------
    ValueError for unusable arguments, OSError for an unwritable checkpoint (tried before the first step),
    FloatingPointError naming the term and the step when a loss is not finite; the last good checkpoint is kept.
    """
    check_instance(Framework, "a framework, such as BetaVAE(model)", framework=framework)
    steps, batch_size, checkpoint_every, log_every, budget, callbacks = check_run(
        steps, batch_size, checkpoint, checkpoint_every, log_every, budget, callbacks, capture
    )
    seed = check_seed(seed)
    if learning_rate is not None:
        (learning_rate,) = check_numbers(0, above=True, learning_rate=learning_rate)
    check_fit(framework, data)
    device = resolve_device(device)
    precision = resolve_precision(framework, device, precision)
    framework.to(device, memory_format=torch.channels_last if is_convolutional(framework) else torch.preserve_format)
    generator = torch.Generator(device).manual_seed(seed)
    optimisers = {player: adam(framework, player) for player in framework.players}
    if learning_rate is not None:
        for group in optimisers[framework.players[0]].param_groups:
            group["lr"] = learning_rate
    trainer = Trainer(framework, data, batch_size, steps, generator, optimisers, autocast(device, precision))

    history, store = History(), None
    if checkpoint is not None:
        rate = optimisers[framework.players[0]].param_groups[0]["lr"]
        settings = dict(data=repr(data), batch_size=batch_size, learning_rate=rate, seed=seed, precision=precision)
        if framework.depends_on_total_steps:
            settings["steps"] = steps
        store = Checkpoint(checkpoint, framework, optimisers, generator, settings)
        history = store.open(steps)
    trainer.go_on_from(history.steps)
    captured = should_capture(capture, device, data)
    # Whatever surrounds the call: backward passes under autocast would run in bfloat16 too.
    with torch.enable_grad(), torch.autocast(device.type, enabled=False):
        step = CapturedStep(trainer.step, generator) if captured else trainer.step
        try:
            _run(trainer, step, history, store, checkpoint_every, log_every, budget, callbacks)
        finally:
            framework.zero_grad(set_to_none=True)  # or the next backward pass would add to the last step's
    return history


def _run(trainer, step, history, store, checkpoint_every, log_every, budget, callbacks) -> None:
    """Steps until the number or the time is reached, with records, callbacks and checkpoints at their intervals."""
    started = time.monotonic() - (history.records[-1]["seconds"] if history.records else 0.0)
    deadline = math.inf if budget is None else time.monotonic() + budget
    started_at = history.steps
    with tqdm(total=trainer.steps, initial=history.steps, unit="step", leave=False, disable=is_quiet()) as bar:
        while history.steps < trainer.steps and time.monotonic() < deadline:
            terms = step()
            done = history.steps + 1
            logs = done % log_every == 0 or done in (1, trainer.steps)
            saves = store is not None and done % checkpoint_every == 0
            if logs or saves or trainer.generator.device.type == "cpu":  # elsewhere, looking stalls the device
                _check_terms(trainer, terms, store)
            history.steps = done
            bar.update()
            if logs:
                values = {name: value.item() for name, value in terms.items()}
                loss = sum(values[name] for name in trainer.objective)
                record = {"step": done, "loss": loss, **values, "seconds": time.monotonic() - started}
                for callback in callbacks:
                    record |= callback_values(callback(trainer.framework, done), record)
                history.records.append(record)
                bar.set_postfix(loss=f"{record['loss']:.4g}")
            if saves:
                _check_weights(trainer.framework, done, store)
                store.save(history)
        if history.steps > started_at:
            _check_terms(trainer, terms, store)
    _check_weights(trainer.framework, history.steps, store)
    if store is not None and store.saved != history.steps:
        store.save(history)


def check_run(steps, batch_size, checkpoint, checkpoint_every, log_every, budget, callbacks, capture) -> tuple:
    """What a training is told of its length and its records, checked; `checkpoint` and `capture` do not come back."""
    (steps,) = check_integers(0, steps=steps)
    (batch_size,) = check_integers(1, MOST, batch_size=batch_size)
    counts = (batch_size, *check_integers(1, checkpoint_every=checkpoint_every, log_every=log_every))
    if budget is not None:
        (budget,) = check_numbers(0, budget=budget)
    check_choice((True, False, "auto"), capture=capture)
    callbacks = _check_callbacks(callbacks)
    if checkpoint is not None:
        check_path(checkpoint, "checkpoint")
    return steps, *counts, budget, callbacks


def _check_callbacks(callbacks: Iterable[Callable]) -> list[Callable]:
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise ValueError(f"callbacks: got {callbacks!r}; allowed is a list of functions.")
    callbacks = list(callbacks)
    for callback in callbacks:
        if not callable(callback):
            raise ValueError(f"callbacks: got {callback!r} among them; allowed are functions of framework and step.")
    return callbacks


def resolve_device(device: str | torch.device) -> torch.device:
    """The device that `device` names, if it is there."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.empty(0, device=device).device
        torch.Generator(found)
        return found
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device: got {device!r}, which is not available here: {error}") from error


def check_fit(framework: Framework, data: GridDataset) -> None:
    """Raise a ValueError unless the model of `framework` was built for images like those of `data`, and is float32."""
    framework.check_precision()
    check_data(data)
    if tuple(data.shape) != framework.model.shape:
        raise ValueError(f"data: its images are {data.shape}, the model was built for {framework.model.shape}.")
    for name, buffer in (("mean", framework.model.pixel_mean), ("std", framework.model.pixel_std)):
        here, there = getattr(data, name), tuple(buffer.tolist())
        if any(abs(a - b) > 1e-6 for a, b in zip(here, there, strict=True)):
            raise ValueError(f"data: its pixel {name} is {here}, the model was built for data with {there}.")


def callback_values(values, record: dict) -> dict[str, float]:
    """What a callback returned, as floats for the history."""
    values = {} if values is None else values
    if not isinstance(values, dict) or values.keys() & record.keys():
        taken = ", ".join(record)
        raise ValueError(f"callbacks: one returned {values!r}; allowed are None and dicts without the keys {taken}.")
    try:
        return {str(name): float(value) for name, value in values.items()}
    except (TypeError, ValueError) as error:
        raise ValueError(f"callbacks: one returned {values!r}; the values must be numbers.") from error


def _check_terms(trainer: Trainer, terms: dict[str, Tensor], store: Checkpoint | None) -> None:
    for (name, term), step in zip(terms.items(), trainer.first_faults(), strict=True):
        if step > 0:
            _raise_divergence(f"The term {name!r} is {term.item()}", step, store)


def _check_weights(framework: Framework, step: int, store: Checkpoint | None) -> None:
    bad = next((name for name, weight in framework.named_parameters() if not weight.isfinite().all()), None)
    if bad is not None:
        _raise_divergence(f"The weights {bad!r} are not finite", step, store)


def _raise_divergence(what: str, step: int, store: Checkpoint | None) -> None:
    kept = f" The checkpoint of step {store.saved} in {store.path} is kept." if store is not None else ""
    raise FloatingPointError(f"{what} at step {step}. Try a lower learning_rate, or precision='float32'.{kept}")
