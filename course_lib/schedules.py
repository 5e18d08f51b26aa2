"""Arguments that change while a model trains: a number stays as it is, a pair (start, end) is a straight line."""

from torch import Tensor

from course_lib.arguments import check_numbers

Schedule = float | tuple[float, float]


def check_schedule(low: float, high: float, /, **values) -> tuple[Schedule, ...]:
    """`values` as floats or pairs of floats; a ValueError names the first that is neither, or leaves [low, high]."""
    checked = []
    for argument, value in values.items():
        if isinstance(value, list | tuple) and len(value) == 2:
            checked.append(check_numbers(low, high, **{f"{argument}[0]": value[0], f"{argument}[1]": value[1]}))
        elif isinstance(value, list | tuple):
            raise ValueError(f"{argument}: got {value!r}; allowed are a number or a pair (start, end).")
        else:
            checked += check_numbers(low, high, **{argument: value})
    return tuple(checked)


def scheduled(schedule: Schedule, index: Tensor, total: int) -> float | Tensor:
    """The value after `index` of `total` steps; a pair stays at its end after the last of them.

    `index` is a tensor and the result of a pair is one as well: nothing waits for the device.
    """
    if not isinstance(schedule, list | tuple):
        return schedule
    start, end = schedule
    return start + (end - start) * (index / max(total, 1)).clamp(max=1)
