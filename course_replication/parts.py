"""A part of a claim's plan: one configuration, run with one or several seeds."""

from dataclasses import dataclass, field

from course_replication.runs import Run


@dataclass(frozen=True)
class Part:
    """One configuration that a claim needs. A claim that compares two trainings has two parts.

    measurement, settings, device : as in `Run`. Parts of several claims that agree in these are the same runs.
    name : what a metric of the run is called in the claim, such as "dsprites/{}" or "{}/beta-high".
    seeds : it is run with the seeds 0 … seeds − 1.
    scale : "quick" or "full" for the size of a training; None for what needs none: it is measured as the paper does,
        counts at either scale, and is stored as "full".
    deviations : in which respects the run departs from the paper, in words, beside the settings that differ.
    """

    measurement: str
    settings: dict = field(default_factory=dict, hash=False)
    name: str = "{}"
    seeds: int = 1
    scale: str | None = None
    device: str = "cpu"
    deviations: tuple[str, ...] = ()

    def run(self, seed: int) -> Run:
        return Run(self.measurement, self.settings, seed, self.scale or "full", self.device)

    def runs(self) -> list[Run]:
        return [self.run(seed) for seed in range(self.seeds)]
