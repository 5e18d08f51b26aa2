"""A part of what is run for a claim: one configuration, with one or several seeds."""

from dataclasses import dataclass, field

from course_replication.runs import Run


@dataclass(frozen=True)
class Part:
    """One configuration that a claim needs. A claim that compares two trainings has two parts.

    measurement, settings, device, scale : as in `Run`. Parts of several claims that agree in these are the same runs.
    name : what a metric of the run is called in the claim, such as "dsprites/{}" or "{}/beta-high".
    seeds : it is run with the seeds 0 … seeds − 1.
    deviations : in which respects the run departs from the paper, in words, beside the settings that differ.
    """

    measurement: str
    settings: dict = field(default_factory=dict, hash=False)
    name: str = "{}"
    seeds: int = 1
    scale: str = "exact"
    device: str = "cpu"
    deviations: tuple[str, ...] = ()

    @property
    def trainings(self) -> list[dict]:
        """The settings of each training that it compares, or else its own."""
        return self.settings.get("trainings", [self.settings])

    def run(self, seed: int) -> Run:
        return Run(self.measurement, self.settings, seed, self.scale, self.device)

    def runs(self) -> list[Run]:
        return [self.run(seed) for seed in range(self.seeds)]

    def own_name(self, metric: str) -> str | None:
        """What the run itself calls a metric of the claim: "mse" for "dsprites/mse"; None for one of another part."""
        before, _, after = self.name.partition("{}")
        fits = metric.startswith(before) and metric.endswith(after) and len(metric) > len(before + after)
        return metric[len(before) : len(metric) - len(after)] if fits else None
