"""What a check says of an answer: whether it is right, how much of it is, and why not."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Verdict:
    """Whether the answer passes, and one line that says why not, or what it shows.

    share : of the parts of a wrong answer, those that are right: 0 where it has no parts.
    """

    passed: bool
    message: str
    share: Fraction = Fraction(0)

    def points(self, possible: int) -> int:
        """All for what is right; for a part of it that part of them, rounded down."""
        return possible if self.passed else int(possible * self.share)


def in_parts(faults: Mapping[str, str | None], praise: str, told: int = 1) -> Verdict:
    """The verdict on an answer of parts, each with what is wrong with it, or None; so many faults are told."""
    wrong = [fault for fault in faults.values() if fault is not None]
    if not wrong:
        return Verdict(True, praise)
    right = len(faults) - len(wrong)
    return Verdict(False, f"{right} of {len(faults)} right. {' '.join(wrong[:told])}", Fraction(right, len(faults)))
