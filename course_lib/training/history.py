"""What happened during training."""

from dataclasses import dataclass, field

import pandas


@dataclass
class History:
    """The record of one training: `records` holds a dict per logged step, `steps` counts the steps done in all.

    Each record has `step` (steps done when the loss was computed, that batch included), `loss`, the framework's
    weighted terms, `seconds` since training began, and whatever the callbacks returned. `fault` says why one of many
    models stopped on the way (`fit_many`); else it is empty.
    """

    records: list[dict] = field(default_factory=list)
    steps: int = 0
    fault: str = ""

    def to_frame(self) -> pandas.DataFrame:
        """One row per logged step, indexed by `step`; a column per term."""
        return pandas.DataFrame(self.records, columns=None if self.records else ["step", "loss", "seconds"]).set_index(
            "step"
        )

    def __repr__(self) -> str:
        last = "".join(f", {name} {value:.4g}" for name, value in (self.records or [{}])[-1].items() if name != "step")
        return f"History({self.steps} steps{last}{self.fault and f', stopped: {self.fault}'})"
