"""What a training made of a sealed prediction: trained, scored by a rule that stood before, and compared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas
import torch
from scipy.stats import spearmanr
from torch import Tensor

from course_lib.arguments import check_choice, check_instance
from course_lib.data import GridDataset
from course_lib.frameworks import AdaTripletVAE, BetaVAE
from course_lib.models import mlp_vae
from course_lib.training import fit_many
from course_replication.predictions import OUTCOMES, Prediction, read_prediction, read_sealed, write_sealed

FOUND = 0.5  # of a factor's order, as a squared rank correlation: a latent that has at least this has found it
UNTRAINED = "untrained"
LOSSES = {
    "mse": lambda model, settings: BetaVAE(model, settings["beta"]),
    "mse-box": lambda model, settings: BetaVAE(model, settings["beta"], reconstruction="mse-box"),
    "told": lambda model, settings: AdaTripletVAE(model),  # triplets ordered by the factors themselves
}


def order_shares(latents: Tensor, factors: Tensor) -> list[float]:
    """How much of each factor's order its best latent has: the largest squared rank correlation, 0 to 1.

    latents (n, D), factors (n, F) → F numbers. A latent that does not move has none. Chapter 23.
    """
    latents, factors = (np.asarray(torch.as_tensor(table).detach(), dtype=float) for table in (latents, factors))
    shares = []
    for factor in factors.T:
        moving = (latent for latent in latents.T if np.ptp(latent) > 0)
        shares.append(max((float(spearmanr(latent, factor).statistic ** 2) for latent in moving), default=0.0))
    return shares


CONTROLS = {  # of a report → what its words call them
    "nothing known": "knowing nothing",
    "one number": "the best number for each loss",
    "importance": "importance alone",
}
Shares = Mapping[str, Mapping[str, list[float]]]  # loss → factor → one share for each seed


def train_sealed(path: str | Path, data: GridDataset) -> Shares:
    """Train what the sealed prediction at `path` is about: loss → factor → the share of its order, one for each seed.

    "untrained" has the networks before their first step. Each loss is stored as soon as it is done, in a sealed file
    beside the prediction, `NAME.outcomes.json`, and not trained again. Raises ValueError for an altered file, for other
    data than predicted, and for outcomes of another prediction; FileNotFoundError where nothing is sealed yet.
    Chapter 23.
    """
    path = Path(path)
    prediction = read_prediction(path)
    check_instance(GridDataset, "a dataset of course_lib.data", data=data)
    if repr(data) != prediction.data:
        raise ValueError(f"data: got {data!r}; the prediction is about {prediction.data}.")
    for loss in prediction.confidence:
        check_choice((*LOSSES,), loss=loss)
    store, new = (
        path.with_name(path.stem + OUTCOMES),
        {"prediction": prediction.hash, "data": prediction.data, "shares": {}},
    )
    done = read_sealed(store) if store.exists() else new
    if done["prediction"] != prediction.hash:
        raise ValueError(f"path: {store.name} holds the outcomes of another prediction; move it away.")
    for loss in (UNTRAINED, *prediction.confidence):
        if loss not in done["shares"]:
            done["shares"][loss] = shares_of(loss, data, prediction.settings)
            write_sealed(store, done)
    return done["shares"]


def shares_of(loss: str, data: GridDataset, settings: Mapping, *, first_seed: int = 0) -> dict[str, list[float]]:
    """One loss of `LOSSES`, or "untrained": factor → the share of its order, one for each seed.

    Chapter 23.
    """
    seeds, make = [*range(first_seed, first_seed + settings["seeds"])], LOSSES.get(loss, LOSSES["mse"])
    models = [mlp_vae(data, settings["latents"], hidden=tuple(settings["hidden"]), seed=seed) for seed in seeds]
    group = [make(model, settings) for model in models]
    if loss != UNTRAINED:
        training = {name: settings[name] for name in ("steps", "batch_size", "learning_rate")}
        fit_many(group, data, seed=seeds, log_every=settings["steps"], device="cpu", **training)
    every = torch.arange(len(data))
    factors = data.space.factors(every)
    rows = [order_shares(one.encode(data.images(every)), factors) for one in group]
    return {name: list(column) for name, column in zip(data.space.names, zip(*rows, strict=True), strict=True)}


@dataclass(frozen=True, repr=False)
class Report:
    """A prediction beside what came of it.

    cells : one row for each loss and factor: confidence, in how many runs it was found, mean share, right or wrong.
    brier : the mean of (confidence − found)² over all cells and runs, with those of the controls: "nothing known" says
        .5 of everything; "one number" says of all factors of a loss what share of them was found, the best that can be
        said without telling one factor from another, and only in hindsight; "importance" gives the n factors
        (n − ½)/n, …, ½/n by the importance that it is told.
    pairs : of the pairs of factors, how many the predicted order has right, and of how many.
    """

    cells: pandas.DataFrame
    brier: dict[str, float]
    pairs: tuple[int, int]

    @property
    def words(self) -> str:
        """The verdict, in words."""
        right, total = int((self.cells["right"] == "yes").sum()), len(self.cells)
        mine = self.brier["prediction"]
        compared = [
            f"{'better than' if mine < self.brier[guess] else 'no better than'} {name} ({self.brier[guess]:.3f})"
            for guess, name in CONTROLS.items()
            if guess in self.brier
        ]
        text = f"{right} of {total} cells right. Brier score {mine:.3f}, {', '.join(compared)}"
        return f"{text}. Of the order, {self.pairs[0]} of {self.pairs[1]} pairs."

    def __repr__(self) -> str:
        return f"{self.cells.to_string()}\n{self.words}"

    def _repr_html_(self) -> str:
        return f"{self.cells.to_html(border=0)}\n<p>{self.words}</p>"


def report(
    prediction: Prediction, shares: Shares, importance: Mapping[str, Mapping[str, float]] | None = None
) -> Report:
    """Compare a prediction, as `read_prediction` reads it, with the shares that `train_sealed` returned.

    importance : loss → factor → its mean distance, for the control that goes by importance alone.
    Chapter 23.
    """
    rows, guesses = {}, {"prediction": [], "nothing known": []} | ({"importance": []} if importance else {})
    for loss, row in prediction.confidence.items():
        by_rank = _by_importance(importance[loss]) if importance else {}
        for name, values in shares[loss].items():
            found = np.array(values) >= FOUND
            rows[loss, name] = _cell(row[name], found, np.array(values))
            for guess, value in zip(guesses, (row[name], 0.5, by_rank.get(name)), strict=False):
                guesses[guess].append(np.mean((value - found) ** 2))
    cells = pandas.DataFrame.from_dict(rows, orient="index")
    cells.index = pandas.MultiIndex.from_tuples(cells.index, names=["loss", "factor"])
    brier = {guess: float(np.mean(values)) for guess, values in guesses.items()}
    found = ({name: np.array(runs) >= FOUND for name, runs in shares[loss].items()} for loss in prediction.confidence)
    brier["one number"] = best_numbers(found)
    means = {name: np.mean([shares[loss][name] for loss in prediction.confidence]) for name in prediction.order}
    return Report(cells, brier, _pairs(prediction.order, means))


def best_numbers(found: Iterable[Mapping[str, np.ndarray]]) -> float:
    """The Brier score of the best number for each loss, known only in hindsight: the mean of share · (1 − share).

    found : for each loss, factor → of each run whether it found the factor.
    """
    often = np.array([np.mean([np.mean(runs) for runs in row.values()]) for row in found])
    return float(np.mean(often * (1 - often)))


def _by_importance(importance: Mapping[str, float]) -> dict[str, float]:
    """(n − ½)/n for the most important of n factors, ½/n for the least; equal ones share the mean of their places."""
    places = pandas.Series(dict(importance)).rank(ascending=False)
    return dict(1 - (places - 0.5) / len(places))


def _cell(confidence: float, found: np.ndarray, shares: np.ndarray) -> dict:
    count, runs = int(found.sum()), len(found)
    undecided = confidence == 0.5 or 2 * count == runs
    right = "–" if undecided else "yes" if (confidence > 0.5) == (2 * count > runs) else "no"
    share = f"{shares.mean():.2f}"
    return {"confidence": f"{confidence:.2f}", "found": f"{count} of {runs}", "share of order": share, "right": right}


def _pairs(order, means: Mapping[str, float]) -> tuple[int, int]:
    pairs = [(first, second) for place, first in enumerate(order) for second in order[place + 1 :]]
    return sum(bool(means[first] > means[second]) for first, second in pairs), len(pairs)
