"""What two ways cost that have run in turn, A B A B …: single times depend on what else the computer is doing."""

import statistics
from collections.abc import Sequence


def medians_and_ratio(turns: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The medians of both ways over the turns, and that of the second's share of the first."""
    first, second = (statistics.median(column) for column in zip(*turns, strict=True))
    return first, second, statistics.median(theirs / ours for ours, theirs in turns)
