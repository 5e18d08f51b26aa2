"""Representations whose scores are known, each with bounds that a wrong implementation violates."""

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae

# representation: score → (lowest, highest) allowed headline
KNOWN = {
    "identity": {
        "beta_vae_score": (1, 1), "factor_vae_score": (1, 1), "mig": (0.99, 1), "modularity": (0.999, 1),
        "irs": (0.999, 1), "sap": (0.1, 0.15), "gaussian_total_correlation": (0, 0.002),
        "wasserstein_correlation": (0, 1e-3), "mutual_information": (0.999, 1), "distance_correlation": (0.999, 1),
        "linearity_ratio": (0.999, 1), "axis_alignment_ratio": (0.999, 1), "axis_orientation_ratio": (0.999, 1),
        "downstream_logistic": (0.99, 1),
        "infomec": (0.985, 0.995), "dci_es": (0.999, 1),  # InfoM sees the bias of the plug-in estimate
    },
    "zeros": {
        "beta_vae_score": (0.22, 0.28), "factor_vae_score": (0, 0), "mig": (0, 0), "modularity": (0, 0), "irs": (0, 0),
        "sap": (0, 0), "gaussian_total_correlation": (0, 0), "wasserstein_correlation": (0, 0),
        "mutual_information": (0, 0), "distance_correlation": (0, 0), "linearity_ratio": (0, 0),
        "axis_alignment_ratio": (0, 0), "axis_orientation_ratio": (0, 0), "downstream_logistic": (0.11, 0.14),
        "infomec": (0, 0), "dci_es": (0, 0),
    },
    "noise": {
        "beta_vae_score": (0.2, 0.3), "factor_vae_score": (0.18, 0.36), "mig": (0, 0.02), "irs": (0.2, 0.45),
        "sap": (0, 0.02), "mutual_information": (0, 0.03), "downstream_logistic": (0.1, 0.16),
        "axis_alignment_ratio": (0.15, 0.4),
        "infomec": (0, 0.12), "dci_es": (0.99, 1),
    },
    "duplicated": {
        "beta_vae_score": (1, 1), "factor_vae_score": (1, 1), "mig": (0, 1e-9), "sap": (0, 1e-9),
        "modularity": (0.999, 1), "irs": (0.999, 1), "mutual_information": (0.999, 1),
        "gaussian_total_correlation": (float("inf"), float("inf")), "wasserstein_correlation": (0.1, 10),
        "distance_correlation": (0.999, 1), "linearity_ratio": (0.999, 1), "downstream_logistic": (0.99, 1),
        "axis_alignment_ratio": (3 / 7 - 1e-9, 3 / 7 + 1e-9),  # r = 1/2 at D = 8
        "infomec": (0.985, 0.995), "dci_es": (0.999, 1),
    },
    "merged": {
        "factor_vae_score": (0.7, 0.85), "mig": (0.8, 0.88), "modularity": (0.96, 0.99), "irs": (0.88, 0.93),
        "axis_alignment_ratio": (0.999, 1),
        "infomec": (0.81, 0.89), "dci_es": (0.97, 1),  # twenty bins make the merged latent mostly y_R's
    },
    "missed": {
        "beta_vae_score": (0.999, 1), "factor_vae_score": (0.7, 0.85), "mig": (0.72, 0.76), "modularity": (0.999, 1),
        "mutual_information": (0.74, 0.77), "distance_correlation": (0, 0), "linearity_ratio": (0, 0),
        "downstream_logistic": (0.76, 0.8),
        "infomec": (0.985, 0.995), "dci_es": (0.999, 1),
    },
    "rotated": {
        "beta_vae_score": (0.85, 0.98), "factor_vae_score": (0.65, 0.8), "mig": (0.06, 0.12),
        "modularity": (0.7, 0.88), "irs": (0.4, 0.48), "gaussian_total_correlation": (0, 0.002),
        "distance_correlation": (0.999, 1), "linearity_ratio": (0.999, 1), "axis_alignment_ratio": (0.28, 0.31),
        "downstream_logistic": (0.99, 1),
        "infomec": (0.28, 0.39), "dci_es": (0.999, 1),
    },
}  # fmt: skip
CASES = [(representation, score, *bounds) for representation, row in KNOWN.items() for score, bounds in row.items()]


@pytest.mark.parametrize(("representation", "score", "low", "high"), CASES)
def test_known_representations(tables, representation, score, low, high):
    assert low <= float(getattr(metrics, score)(tables[representation])) <= high


def test_the_beta_vae_score_does_not_see_a_missed_factor_and_the_factor_vae_score_does(tables):
    """The (K − 1) failure: "none of the others" is enough to know the last factor."""
    assert float(metrics.beta_vae_score(tables["missed"])) > 0.999
    assert float(metrics.factor_vae_score(tables["missed"])) < 0.85


def test_explicitness_sees_what_modularity_does_not(tables):
    missed, identity = (metrics.modularity(tables[name]).values for name in ("missed", "identity"))
    assert missed["modularity"] > 0.999 and identity["modularity"] > 0.999
    assert abs(missed["explicitness_y_G"]) < 0.06 and identity["explicitness_y_G"] > 0.5


def test_continuous_sap_of_the_factors_is_1(tables):
    assert metrics.sap(tables["identity"]).values["continuous"] > 0.99
    assert metrics.sap(tables["duplicated"]).values["continuous"] < 1e-9


@pytest.fixture(scope="module")
def few_values(tiny_grid, factors_of):
    """The same representations of a grid with three factors of 4 values, because trees take long: name → table."""
    data = tiny_grid(4, 4, 4)
    factors, draws = factors_of(data), torch.Generator().manual_seed(0)
    angle = torch.tensor(np.linalg.qr(np.random.RandomState(0).randn(3, 3))[0])
    latents = {
        "identity": factors,
        "zeros": factors * 0,
        "noise": torch.randn(64, 3, generator=draws).double(),
        "duplicated": torch.cat([factors, factors], 1),
        "merged": torch.stack([factors[:, 0] + 4 * factors[:, 1], factors[:, 2]], 1),
        "missed": factors[:, :2],
        "rotated": factors @ angle,
    }
    return {name: metrics.Encodings.from_table(values, data) for name, values in latents.items()}


DCI = {  # representation: (lowest, highest) disentanglement, completeness, informativeness
    "identity": ((0.999, 1), (0.999, 1), (1, 1)),
    "duplicated": ((0.9, 1), (0.5, 0.9), (1, 1)),
    "merged": ((0.5, 0.65), (0.99, 1), (1, 1)),  # one latent for two factors of three: (1 − log 2 / log 3) for two
    "missed": ((0.38, 0.46), (0.6, 0.7), (0.6, 0.8)),  # trees still spread their importance for it over both latents
    "noise": ((0, 0.2), (0, 0.2), (0.2, 1)),  # of 64 images, each is known by heart
    "zeros": ((0, 0), (0, 0), (0, 0.3)),  # of so few images, those set aside have the values that the others lack
    "rotated": ((0.05, 0.7), (0.05, 0.7), (0.3, 1)),
}


@pytest.mark.parametrize("representation", DCI)
def test_dci_of_known_representations(few_values, representation):
    values = metrics.dci(few_values[representation], num_samples=600, num_test=100, jobs=1).values
    names = ("disentanglement", "completeness", "informativeness")
    for name, (low, high) in zip(names, DCI[representation], strict=True):
        assert low <= values[name] <= high, name


def test_an_untrained_encoder_is_the_floor_that_every_table_carries(small):
    """Self-pairs alone give it a rank correlation of about .36; between distinct points there is next to none."""
    table = metrics.Encodings(BetaVAE(mlp_vae(small, 7)).encode, small)
    scores = metrics.evaluate(table, scores=("mig", "sap", "distance_correlation", "axis_alignment_ratio"))
    assert float(scores["mig"]) < 0.03 and float(scores["sap"]) < 0.05 and float(scores["axis_alignment_ratio"]) < 0.3
    assert float(scores["distance_correlation"]) == pytest.approx(0.358, abs=0.05)
    assert abs(scores["distance_correlation"].values["distinct_factors"]) < 0.12


THREE = {  # representation: (lowest, highest) InfoC, InfoE, and the informativeness and size beside the explicitness
    "identity": ((0.985, 0.995), (0.999, 1), (0.999, 1), 1),
    "duplicated": ((0.41, 0.44), (0.999, 1), (0.999, 1), 1 / 2),  # (½ − ⅛) / (1 − ⅛)
    "missed": ((0.7, 0.8), (0.745, 0.755), (0.745, 0.755), 4 / 3),
    "noise": ((0, 0.12), (0, 0.001), (0, 0.01), 1),
    "rotated": ((0.3, 0.4), (0.999, 1), (0.999, 1), 1),
}


@pytest.mark.parametrize("representation", THREE)
def test_what_stands_beside_infom_and_explicitness(tables, representation):
    *bounds, size = THREE[representation]
    mec, es = (getattr(metrics, name)(tables[representation]).values for name in ("infomec", "dci_es"))
    found = mec["infoc"], mec["infoe"], es["informativeness"]
    assert all(low <= value <= high for value, (low, high) in zip(found, bounds, strict=True)) and es["size"] == size
