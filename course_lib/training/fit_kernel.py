"""Training a kernel: the loop of `LearntKernel`, which has no encoder, decoder or likelihood."""

import math
import time

import torch
from torch.optim import Adam
from tqdm.auto import trange

from course_lib.arguments import MOST, check_instance, check_integers, check_numbers, check_seed
from course_lib.data import GridDataset
from course_lib.losses import LearntKernel
from course_lib.sampling import factor_distance, singles
from course_lib.training.history import History
from course_lib.training.progress import is_quiet


def fit_kernel(
    kernel: LearntKernel,
    data: GridDataset,
    *,
    steps: int,
    batch_size: int = 512,
    pairs: int = 4096,
    learning_rate: float = 1e-3,
    seed: int = 0,
    by: str = "scaled_l1",
    log_every: int = 50,
) -> History:
    """Train `kernel` on `data` in place, on the device it is on, and return what happened.

    Each step draws `batch_size` images and `pairs` pairs of them, with replacement, and takes one step of Adam. Images
    are on [0, 1], as perceived distances are. The defaults are those of the thesis' Table A.6 (28,800 steps there).

    by : the ground-truth distance, as in `sampling.factor_distance`.

    The history has the terms `correlation` (minus the rank correlation of the batch's pairs) and `asymmetry`. Raises
    ValueError for unusable arguments and FloatingPointError naming the term when a loss is not finite.
    """
    check_instance(LearntKernel, "a LearntKernel", kernel=kernel)
    check_instance(GridDataset, "a dataset of course_lib.data", data=data)
    (steps,) = check_integers(0, steps=steps)
    check_integers(2, MOST, batch_size=batch_size, pairs=pairs)
    (log_every,) = check_integers(1, log_every=log_every)
    (learning_rate,) = check_numbers(0, above=True, learning_rate=learning_rate)
    device = kernel.weights.device
    generator = torch.Generator(device).manual_seed(check_seed(seed))
    optimiser = Adam(kernel.parameters(), lr=learning_rate)
    history, started = History(), time.monotonic()
    with torch.enable_grad(), torch.autocast(device.type, enabled=False):  # whatever surrounds the call, as in `fit`
        for step in trange(1, steps + 1, unit="step", leave=False, disable=is_quiet()):
            index = singles(data.space, batch_size, generator)
            first, second = torch.randint(batch_size, (2, pairs), generator=generator, device=device)
            truth = factor_distance(data.space, index[first], index[second], by=by)
            terms = kernel.terms(kernel.distances_in(data, index, first, second), truth)
            bad = next((name for name, term in terms.items() if not math.isfinite(term.item())), None)
            if bad is not None:
                raise FloatingPointError(f"The term {bad!r} is {terms[bad].item()} at step {step}.")
            optimiser.zero_grad(set_to_none=True)
            sum(terms.values()).backward()
            optimiser.step()
            history.steps = step
            if step % log_every == 0 or step in (1, steps):
                values = {name: term.item() for name, term in terms.items()}
                record = {"step": step, "loss": sum(values.values()), **values, "seconds": time.monotonic() - started}
                history.records.append(record)
    kernel.zero_grad(set_to_none=True)
    return history
