"""What is asked of the table of a study: a row for each model, with "method", "strength", "seed" and its numbers."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas
from scipy.stats import rankdata

SCORES = ("beta-vae-score", "factor-vae-score", "mig", "dci", "modularity", "sap")  # with labels, the paper's six
UNLABELLED = ("reconstruction", "elbo", "kl", "total-correlation")
KEYS = ("method", "strength", "seed")  # of a model
FIRST, LAST = "low", "high"  # strengths
NO_CAPACITY = "annealed-vae"  # is not in Figure 1


def findings(table: pandas.DataFrame, seed: int) -> dict[str, float]:
    """Every number that the claims about one dataset ask for."""
    scores = [name for name in SCORES if name in table and table[name].notna().sum() > 2]
    found = {f"left/{name}": float(each["left"].max()) for name, each in table.groupby("method")}
    found |= correlation_by_strength(table) | agreement(table[scores]) | shares(table, scores) | overlaps(table)
    for name in UNLABELLED:
        found[f"rank-correlation/{name}"] = float(np.median([abs(rank(table, name, score)) for score in scores]))
    if "dci" in scores:
        found["rank-correlation/dci-and-trees"] = rank(table, "dci", "trees")
        found["rank-correlation/factor-vae-score-and-efficiency"] = abs(rank(table, "factor-vae-score", "efficiency"))
    return found


def rank(table: pandas.DataFrame, first: str, second: str) -> float:
    """Spearman's correlation of two columns over the models that have both; 0 if one does not vary."""
    both = table[[first, second]].dropna()
    ranks = [rankdata(both[name]) for name in both]
    if min(np.ptp(each) for each in ranks) == 0:
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def correlation_by_strength(table: pandas.DataFrame) -> dict[str, float]:
    """Figure 1: the Gaussian total correlation of samples and of means, medians of a method, averaged over methods."""
    own = table[table["method"] != NO_CAPACITY]
    columns = {
        "sampled": "total-correlation-sampled",
        "mean": "total-correlation",
        "active": "total-correlation-active",
    }
    medians = own.groupby(["strength", "method"])[[*columns.values()]].median().groupby("strength").mean()
    return {
        f"{name}/strength-{strength}": float(medians.loc[strength, column])
        for name, column in columns.items()
        for strength in (FIRST, LAST)
    }


def agreement(scores: pandas.DataFrame) -> dict[str, float]:
    """Figure 2: rank correlations of scores, the median of all, and the median of those with modularity."""
    found = {(one, two): rank(scores, one, two) for one, two in combinations(scores.columns, 2)}
    with_modularity = [value for pair, value in found.items() if "modularity" in pair]
    named = {"-and-".join(name.removesuffix("-score") for name in pair): value for pair, value in found.items()}
    return {f"rank-correlation/{name}": value for name, value in named.items()} | {
        "rank-correlation/median": float(np.median([*found.values()])),
        "rank-correlation/modularity": float(np.median(with_modularity)),
    }


def share(values: pandas.Series, groups) -> float:
    """The share of the variance of the values that the means of their groups have."""
    total = float(((values - values.mean()) ** 2).sum())
    means = values.groupby(groups).transform("mean")
    return float(((means - values.mean()) ** 2).sum()) / total if total > 0 else 0.0


def shares(table: pandas.DataFrame, scores) -> dict[str, float]:
    """Key result 3: the share of the variance of a score that is the method's, and the method's with its strength."""
    found, both = {}, table["method"] + " " + table["strength"]
    for name in scores:
        known = table[table[name].notna()]
        found[f"variance-share/method/{name}"] = share(known[name], known["method"])
        found[f"variance-share/method-and-strength/{name}"] = share(known[name], both[known.index])
    method, cell = (
        float(np.mean([found[f"variance-share/{kind}/{name}"] for name in scores]))
        for kind in ("method", "method-and-strength")
    )
    own = {"method": method, "strength": cell - method, "seed": 1 - cell, "rest": 1 - method}
    own["seed-and-hyperparameters"] = own["rest"]
    return found | {f"variance-share/{name}": value for name, value in own.items()}


def overlaps(table: pandas.DataFrame) -> dict[str, float]:
    """Figure 3: FactorVAE scores within and between methods, and seeds of FactorVAE at its best and worst strength."""
    score = "factor-vae-score"
    by_method = table.groupby("method")[score]
    found = {
        "spread/within-methods": float(by_method.var(ddof=0).mean() ** 0.5),
        "spread/between-methods": float(by_method.mean().std(ddof=0)),
    }
    own = table[table["method"] == "factor-vae"].groupby("strength")[score]
    means = own.mean()
    found["best-seed/worst-strength"] = float(own.max()[means.idxmin()])
    found["worst-seed/best-strength"] = float(own.min()[means.idxmax()])
    return found


def across_datasets(tables: Mapping[str, pandas.DataFrame]) -> dict[str, float | bool]:
    """Key result 4: whether a method or a strength is best everywhere, and how far strengths carry over.

    The first table is that of dSprites, the other that of Color-dSprites: "rank-correlation/dsprites-and-…" is that of
    the means of methods with their strengths, averaged over scores, "rank-correlation/seeds" of what single models add.
    """
    scores = [name for name in SCORES if all(name in each and each[name].notna().all() for each in tables.values())]
    best, choices = set(), {}
    for table in tables.values():
        for score in scores:
            cells = table.groupby(["method", "strength"])[score].mean()
            best.add(cells.groupby("method").mean().idxmax())
            for method, each in cells.groupby("method"):
                choices.setdefault(method, set()).add(each.idxmax()[1])
    first, *others = tables.values()
    found = {
        "no-method-best-on-all-datasets-and-scores": len(best) > 1,
        "no-strength-best-on-all-datasets": all(len(each) > 1 for each in choices.values()),
        "settings": len(tables) * len(scores),
    }
    means, rests = zip(*(_apart(first, other, score) for other in others for score in scores), strict=True)
    found["rank-correlation/dsprites-and-color-dsprites"] = float(np.mean(means))
    found["rank-correlation/seeds"] = float(np.mean(rests))
    return found


def _apart(first: pandas.DataFrame, second: pandas.DataFrame, score: str) -> tuple[float, float]:
    """Rank correlations of a score on two datasets: of the means of cells, and of what models are above them."""
    both = first[[*KEYS, score]].merge(second[[*KEYS, score]], on=[*KEYS], suffixes=("-one", "-two"))
    columns = [f"{score}-one", f"{score}-two"]
    cells = both.groupby([*KEYS[:2]])[columns]
    return rank(cells.mean(), *columns), rank(both[columns] - cells.transform("mean"), *columns)
