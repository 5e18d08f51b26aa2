"""What every score returns."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas


@dataclass(frozen=True, repr=False, eq=False)
class Score:
    """One number about a representation, with everything that stands behind it.

    Attributes
    ----------
    name : of the score.
    headline : the number that `float(score)` returns and that format strings show: f"{score:.3f}".
    values : all named values, the headline among them.
    settings : what the values depend on besides the representation: sample sizes, bins, seed.
    matrix : the table behind the values (for example latents × factors), or None.
    matrix_label : what an entry of the matrix is, with its unit.
    """

    name: str
    headline: float
    values: dict[str, float]
    settings: dict = field(default_factory=dict)
    matrix: pandas.DataFrame | None = None
    matrix_label: str = ""

    def __float__(self) -> float:
        return float(self.headline)

    def __format__(self, specification: str) -> str:
        return format(float(self), specification) if specification else repr(self)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.name} {float(self):.3f} ({settings})"

    def with_settings(self, **settings) -> "Score":
        """The same score with more settings."""
        return replace(self, settings=self.settings | settings)

    def figure(self):
        """The matrix as a heat map: a matplotlib figure. Raises ValueError when the score has no matrix."""
        if self.matrix is None:
            raise ValueError(f"figure: {self.name} has no matrix to draw; its values are in score.values.")
        import matplotlib.pyplot as plt

        rows, columns = self.matrix.shape
        figure, axis = plt.subplots(figsize=(2.2 + 0.55 * columns, 1.6 + 0.3 * rows), layout="constrained")
        entries = self.matrix.to_numpy(float)
        top = None if "nats" in self.matrix_label else max(1.0, entries.max())  # shares and correlations end at 1
        shades = axis.imshow(entries, cmap="viridis", aspect="auto", vmin=min(0.0, entries.min()), vmax=top)
        axis.set_xticks(range(columns), self.matrix.columns, rotation=45, ha="right")
        axis.set_yticks(range(rows), self.matrix.index)
        axis.set(xlabel=self.matrix.columns.name, ylabel=self.matrix.index.name)
        axis.set_title(f"{self.name} {float(self):.3f}")
        axis.spines[:].set_visible(False)
        figure.colorbar(shades, label=self.matrix_label)
        return figure


def with_twin(from_samples: Callable[..., Score]) -> Callable:
    """A decorator that attaches the same score on arrays: `score.from_samples(latents, factors)`."""

    def attach(score: Callable[..., Score]) -> Callable[..., Score]:
        score.from_samples = from_samples
        return score

    return attach


def with_factors(own: dict[str, float], per_factor: dict[str, float]) -> dict[str, float]:
    """The score's own values, and then those of the factors, of which none may take the name of another value.

    A factor that is called like one, "global" for instance, has "global (factor)".
    """
    values = dict(own)
    for name, value in per_factor.items():
        while name in values:
            name += " (factor)"
        values[name] = value
    return values


def latents_by_factors(values: np.ndarray, factor_names, row_names=None) -> pandas.DataFrame:
    """Values (D, F) as a table with one row per latent, z0 … , and one column per factor."""
    rows = pandas.Index(row_names or [f"z{place}" for place in range(len(values))], name="latent")
    return pandas.DataFrame(values, index=rows, columns=pandas.Index(factor_names, name="factor"))


def geometric_mean(values) -> float:
    """The geometric mean of `values`, a negative one counted as 0; 0 when there are none. Source: the thesis, Eq. 4.3.

    It weights towards its smallest value: one factor at 0 makes it 0.
    """
    values = np.clip(np.asarray(list(values), dtype=np.float64), 0, None)
    if len(values) == 0 or values.min() == 0:
        return 0.0
    return float(np.exp(np.log(values).mean()))
