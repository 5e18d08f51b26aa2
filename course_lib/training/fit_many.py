"""The training loop for many models at once."""

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch
from tqdm.auto import tqdm

from course_lib.arguments import check_instance, check_numbers, check_seed
from course_lib.data import GridDataset
from course_lib.frameworks import Framework
from course_lib.training.capture import CapturedStep, should_capture
from course_lib.training.checkpoint import Checkpoint
from course_lib.training.fit import callback_values, check_fit, check_run, resolve_device
from course_lib.training.history import History
from course_lib.training.many import ALONE, Crowd, ManyTrainer
from course_lib.training.precision import autocast, is_convolutional, resolve_precision
from course_lib.training.progress import is_quiet
from course_lib.training.random_calls import Generators


def fit_many(
    frameworks: Sequence[Framework],
    data: GridDataset,
    *,
    steps: int,
    batch_size: int = 256,
    learning_rate: float | Sequence[float] | None = None,
    seed: int | Sequence[int] = 0,
    device: str = "auto",
    precision: str = "auto",
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    budget: float | None = None,
    callbacks: Iterable[Callable] = (),
    capture: bool | str = "auto",
) -> list[History]:
    """Train many small models in place as one batch of networks, and return what happened to each.

    Each gets the losses that `fit` would give it, but for rounding: batches and noise come from a generator of its own.
    On a CPU it pays for fully connected networks with up to about 128 units a layer (benchmarks/fit_many.py).

    Parameters
    ----------
    frameworks : K frameworks of one kind, with fully connected networks of one shape, a model each. Their weights may
        differ, and those arguments that are numbers in the loss (β, γ, schedules); what cannot be batched is refused
        before the first step.
    learning_rate, seed : as in `fit`, one for all or one for each. Models with the same seed see the same batches.
    checkpoint : one file for all, as in `fit`. It serves to go on, to the bit; single models are saved by
        `framework.save`.
    callbacks : each is called as callback(framework, step) for each model; what it changes in one is lost.
    steps, batch_size, device, precision, checkpoint_every, log_every, budget, capture : as in `fit`.

    A model whose loss or weights are no longer finite stops alone, with a warning: the `fault` of its history says why,
    and its weights are those of the last checkpoint (or callback), or those it came with.

    Raises
    ------
    ValueError for unusable arguments, OSError for an unwritable checkpoint (tried before the first step),
    FloatingPointError when no model is left. Chapter 09.
    """
    crowd = _check_frameworks(frameworks)
    steps, batch_size, checkpoint_every, log_every, budget, callbacks = check_run(
        steps, batch_size, checkpoint, checkpoint_every, log_every, budget, callbacks, capture
    )
    seeds = [check_seed(one) for one in _each("seed", seed, len(frameworks))]
    rates = _each("learning_rate", learning_rate, len(frameworks))
    rates = [_rate(framework, rate) for framework, rate in zip(frameworks, rates, strict=True)]
    for framework in frameworks:
        check_fit(framework, data)
    device = resolve_device(device)
    precision = resolve_precision(crowd, device, precision)
    crowd.to(device)
    generators = Generators(device, seeds)
    trainer = ManyTrainer(crowd, data, batch_size, steps, generators, rates, autocast(device, precision))

    done, histories, store = 0, [History() for _ in frameworks], None
    if checkpoint is not None:
        settings = dict(data=repr(data), batch_size=batch_size, learning_rate=rates, seed=seeds, precision=precision)
        if any(framework.depends_on_total_steps for framework in frameworks):
            settings["steps"] = steps
        store = Checkpoint(checkpoint, crowd, trainer.optimisers, generators, settings)
        done, histories = _part(store.open(steps), len(frameworks))
        trainer.read()
    captured = should_capture(capture, device, data)
    with torch.enable_grad(), torch.autocast(device.type, enabled=False):
        trainer.go_on_from(done)
        step = CapturedStep(trainer.step, *generators) if captured else trainer.step
        _run(trainer, step, done, histories, store, checkpoint_every, log_every, budget, callbacks)
    _report(histories, store)
    return histories


def _run(trainer, step, done, histories, store, checkpoint_every, log_every, budget, callbacks) -> None:
    """Steps until the number or the time is reached or no model is left; as in `fit`."""
    started = time.monotonic() - max(
        (history.records[-1]["seconds"] for history in histories if history.records), default=0
    )
    deadline = math.inf if budget is None else time.monotonic() + budget
    terms = {}
    with tqdm(total=trainer.steps, initial=done, unit="step", leave=False, disable=is_quiet()) as bar:
        while done < trainer.steps and time.monotonic() < deadline and _running(histories):
            terms = step()
            done += 1
            logs = done % log_every == 0 or done in (1, trainer.steps)
            saves = store is not None and done % checkpoint_every == 0
            for place in _running(histories):
                histories[place].steps = done
            if logs or saves or trainer.generators.device.type == "cpu":  # elsewhere, looking stalls the device
                _stop_by_terms(trainer, terms, histories)
            bar.update()
            if logs:
                _log(trainer, terms, done, histories, time.monotonic() - started, callbacks)
            if saves:
                _save(trainer, done, histories, store)
    _stop_by_terms(trainer, terms, histories)
    _write(trainer, done, histories)
    if store is not None and store.saved != done and _running(histories):
        _save(trainer, done, histories, store)


def _log(trainer, terms, done, histories, seconds, callbacks) -> None:
    columns = {name: term.tolist() for name, term in terms.items()}
    if callbacks:
        _write(trainer, done, histories)
    for place in _running(histories):
        values = {name: column[place] for name, column in columns.items()}
        loss = sum(values[name] for name in trainer.objective)
        record = {"step": done, "loss": loss, **values, "seconds": seconds}
        for callback in callbacks:
            record |= callback_values(callback(trainer.frameworks[place], done), record)
        histories[place].records.append(record)


def _stop_by_terms(trainer: ManyTrainer, terms: dict, histories: list[History]) -> None:
    faults = dict(zip(terms, trainer.first_faults(), strict=True))
    for place in _running(histories):
        found = [(steps[place], name) for name, steps in faults.items() if steps[place]]
        if found:
            step, name = min(found, key=lambda one: one[0])
            _stop(histories[place], f"The term {name!r} is {terms[name][place].item()} at step {step}.", step - 1)


def _write(trainer: ManyTrainer, done: int, histories: list[History]) -> None:
    """Give the frameworks their weights, where those are finite."""
    for place, name in trainer.weight_faults().items():
        if not histories[place].fault:
            _stop(histories[place], f"The weights {name!r} are not finite at step {done}.", done)
    trainer.write(_running(histories))


def _save(trainer: ManyTrainer, done: int, histories: list[History], store: Checkpoint) -> None:
    _write(trainer, done, histories)
    if _running(histories):
        store.save(_join(done, histories))


def _stop(history: History, fault: str, steps: int) -> None:
    history.fault, history.steps = fault, steps


def _running(histories: list[History]) -> list[int]:
    return [place for place, history in enumerate(histories) if not history.fault]


def _join(done: int, histories: list[History]) -> History:
    """All histories as the one of a checkpoint, whose records name their model; a fault is a record too."""
    records = [{"model": place} | record for place, history in enumerate(histories) for record in history.records]
    faults = [
        {"model": place, "step": history.steps, "seconds": 0.0, "fault": history.fault}
        for place, history in enumerate(histories)
        if history.fault
    ]
    return History(records + faults, done)


def _part(joined: History, count: int) -> tuple[int, list[History]]:
    """What `_join` had: how many steps are done, and each model's history."""
    histories = [History(steps=joined.steps) for _ in range(count)]
    for record in joined.records:
        history = histories[record.pop("model")]
        if "fault" in record:
            _stop(history, record["fault"], record["step"])
        else:
            history.records.append(record)
    return joined.steps, histories


def _report(histories: list[History], store: Checkpoint | None) -> None:
    """Warn of the models that stopped; raise FloatingPointError if all have."""
    faults = [f"number {place}: {history.fault}" for place, history in enumerate(histories) if history.fault]
    if faults and not _running(histories):
        kept = f" The checkpoint of step {store.saved} in {store.path} is kept." if store is not None else ""
        raise FloatingPointError(f"All models stopped; {faults[0]} Try a lower learning_rate.{kept}")
    if faults:
        warnings.warn(f"{len(faults)} of {len(histories)} models stopped: {' '.join(faults)}", stacklevel=3)


def _check_frameworks(frameworks: Sequence[Framework]) -> Crowd:
    allowed = "a list of frameworks, such as BetaVAE(model), at least one"
    check_instance(Sequence, allowed, frameworks=frameworks)
    for framework in frameworks or [None]:
        check_instance(Framework, allowed, frameworks=framework)
    if any(map(is_convolutional, frameworks)):
        raise ValueError(f"frameworks: their networks are convolutional, which gains nothing in a batch. {ALONE}")
    return Crowd(frameworks)


def _each(argument: str, value, count: int) -> list:
    """One value for each of `count` models, from one for all or a list."""
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{argument}: got {len(value)} values for {count} frameworks; allowed is one for all or each.")
    return list(value)


def _rate(framework: Framework, rate: float | None) -> float:
    """The learning rate of the first player."""
    if rate is None:
        return framework.adam(framework.players[0])["lr"]
    return check_numbers(0, above=True, learning_rate=rate)[0]
