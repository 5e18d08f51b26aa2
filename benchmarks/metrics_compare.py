"""Our scores beside those of public packages, on XYSquares' factors / 8 and on these rotated. Run by hand.

The packages live in another environment, whose interpreter runs this file with --child. Scores of single samples get
the same points as ours, the others draw their own. Seconds are of the call that gave the value, maybe with others.
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from time import perf_counter
from unittest.mock import MagicMock as Mock

import numpy as np

HOW = """To make an environment with the packages (one that is missing takes one line of the table):
  python -m venv other
  other/bin/pip install disent==0.8.0 pandas
  other/bin/pip install --no-deps disentanglement-lib==1.5 gin-config==0.4.0 absl-py six
  other/bin/pip install --no-deps --ignore-requires-python latte-metrics==0.0.1a6
  python benchmarks/metrics_compare.py --python other/bin/python
disentanglement-lib asks for TensorFlow, which its scores do not use: a mock replaces gin.tf. gin-config from 0.5 on
lacks its argument `blacklist`. disent after 0.8.0 needs Python 3.12; its data sets import torchvision, which a mock
replaces. latte-metrics declares Python < 3.11, but its functions run."""
TRAIN, TEST, DCI_TRAIN, DCI_TEST = 10_000, 5_000, 2000, 1000  # the time of DCI grows in proportion
SPLIT, VOTES = {"num_train": TRAIN, "num_test": TEST}, {"num_train": TRAIN, "num_eval": TEST, "batch_size": 64}
DCI, MODULARITY, GAUSSIAN = "DCI D,DCI C,DCI I", "modularity,explicitness AUC", "Gaussian TC,Wasserstein"
DISTANCES, RATIOS = "distances factor,distances global", "linearity ratio,axis alignment,axis orientation"


class Known:
    """What the packages ask of a dataset: images are their own latents, single samples are the given points."""

    def __init__(self, latents, factors, points, convert=np.asarray):
        self.latents, self.factors, self.points, self.convert, self.gt_data = latents, factors, points, convert, self
        self.factor_sizes, self.num_factors = factors.max(0) + 1, factors.shape[1]

    def sample(self, n, random_state=None):
        rows, self.points = self.points[:n], self.points[n:]
        return self.factors[rows], self.convert(self.latents[rows])

    def sample_observations(self, n, random_state=None, mode=None):
        return self.sample(n)[1]

    def sample_factors(self, size, random_state=np.random):
        return random_state.randint(self.factor_sizes, size=(size, self.num_factors))

    def sample_observations_from_factors(self, factors, random_state=None, mode=None):
        return self.convert(self.latents[np.ravel_multi_index(np.transpose(factors), self.factor_sizes)])

    def sample_random_factor_traversal(self, f_idx):
        return np.where(np.arange(6) == f_idx, np.arange(self.factor_sizes[f_idx])[:, None], self.sample_factors(1))

    dataset_batch_from_factors = sample_observations_from_factors  # its name in disent


def disentanglement_lib(tables):
    """Entries, as of the next functions: labels, the ends of the result's keys, how the definition differs, a call."""
    sys.modules["gin.tf"] = Mock()
    import gin
    from disentanglement_lib.evaluation.metrics import beta_vae, dci, factor_vae, irs, mig, sap_score, utils
    from disentanglement_lib.evaluation.metrics import modularity_explicitness as modularity
    from disentanglement_lib.evaluation.metrics import unsupervised_metrics as unsupervised

    def call(function, **options):
        return lambda: function(Known(*tables), lambda images: images, np.random.RandomState(0), **options)

    gin.bind_parameter("discretizer.num_bins", 20)
    gin.bind_parameter("discretizer.discretizer_fn", utils._histogram_discretize)
    votes, trees = VOTES | {"num_variance_estimate": TRAIN}, {"num_train": DCI_TRAIN, "num_test": DCI_TEST}
    parts, areas = "disentanglement,completeness,informativeness_test", "modularity_score,explicitness_score_test"
    both, covariance = modularity.compute_modularity_explicitness, unsupervised.unsupervised_metrics
    return [
        ("BetaVAE", "eval_accuracy", "own draws", call(beta_vae.compute_beta_vae_sklearn, **VOTES)),
        ("FactorVAE", "eval_accuracy", "own draws; no pruning", call(factor_vae.compute_factor_vae, **votes)),
        ("MIG", "mig", "", call(mig.compute_mig, num_train=TRAIN)),
        (DCI, parts, "trees unseeded, on all levels", call(dci.compute_dci, **trees)),
        ("SAP discrete", "score", "", call(sap_score.compute_sap, continuous_factors=False, **SPLIT)),
        (
            "SAP continuous",
            "score",
            "10,000 points; ours 15,000",
            call(sap_score.compute_sap, continuous_factors=True, **SPLIT),
        ),
        (MODULARITY, areas, "AUC: multinomial; ours one against the rest", call(both, **SPLIT)),
        ("IRS", "IRS", "", call(irs.compute_irs, num_train=TRAIN, batch_size=16)),
        (GAUSSIAN, "total_correlation,wasserstein_correlation", "", call(covariance, num_train=TRAIN)),
    ]


def disent(tables):
    """What the other package lacks; the other scores of this one are the same code."""
    import lightning  # noqa: F401  looks for torchvision, so before the mock
    import torch

    parts = ("", ".datasets", ".models", ".transforms", ".transforms.functional")
    sys.modules.update({"torchvision" + part: Mock() for part in parts})
    from disent.metrics import metric_distances, metric_linearity

    np.random.seed(0)
    torch.manual_seed(0)
    arguments = Known(*tables, torch.from_numpy), lambda images: images
    distances = "rcorr_ground_latent.l1.factor,rcorr_ground_latent.l1.global"
    ratios, note = "linear_ratio.var,axis_ratio.var,axis_alignment.var", "orientation: mean of quotients"
    return [
        (DISTANCES, distances, "float32 ties; self-pairs 1 in 32", lambda: metric_distances.compute_fast(*arguments)),
        (RATIOS, ratios, note, lambda: metric_linearity.compute_fast(*arguments)),
    ]


def latte(tables):
    import latte
    from latte.functional.disentanglement import modularity, mutual_info, sap

    latte.seed(0)
    y, z = Known(*tables).sample(TRAIN)
    note, svm = "information by nearest neighbours, no bins", "training accuracy; C = 1, classes not balanced"
    return [
        ("MIG", "", note, lambda: {"": mutual_info.mig(z, y, discrete=True).mean()}),
        ("SAP discrete", "", svm, lambda: {"": sap.sap(z, y, discrete=True).mean()}),
        ("modularity", "", note, lambda: {"": modularity.modularity(z, y, discrete=True).mean()}),
    ]


def ours(tables):
    from course_lib import metrics
    from course_lib.data import XYSquares

    def call(score, n=TRAIN, **options):
        return lambda: score.from_samples(z[:n], y[:n], **options).values

    def on_table(score, **options):
        return lambda: score(metrics.Encodings.from_table(tables[0], XYSquares()), **options).values

    y, z = Known(*tables).sample(TRAIN + TEST)
    votes, test = {"num_samples": TRAIN, "num_test": TEST}, {"n": TRAIN + TEST, "num_test": TEST}
    trees = {"n": DCI_TRAIN + DCI_TEST, "num_test": DCI_TEST, "jobs": 1}
    return [
        ("BetaVAE", "test", "", on_table(metrics.beta_vae_score)),
        ("FactorVAE", "test", "", on_table(metrics.factor_vae_score, **votes)),
        ("MIG", "mig", "", call(metrics.mig)),
        (DCI, "disentanglement,completeness,informativeness", "", call(metrics.dci, **trees)),
        ("SAP discrete,SAP continuous", "discrete,continuous", "", call(metrics.sap, **test)),
        (MODULARITY, "modularity,auc", "", call(metrics.modularity, **test)),
        ("IRS", "irs", "", call(metrics.irs)),
        ("Gaussian TC", "total_correlation", "", call(metrics.gaussian_total_correlation)),
        ("Wasserstein", "wasserstein", "", call(metrics.wasserstein_correlation)),
        (DISTANCES, "factors,global", "", on_table(metrics.distance_correlation, loss=None)),
        (RATIOS, "linearity,axis_alignment,factors", "", on_table(metrics.axis_orientation_ratio)),
    ]


def measure(entries, folder):
    """{"score,representation": (value, seconds, note)}; a score that fails has the reason as its note."""
    found = {}
    for name in ("plain", "rotated"):
        tables = [np.load(f"{folder}/{array}.npy") for array in (name, "factors", "points")]
        for labels, keys, note, call in entries(tables):
            start = perf_counter()
            try:
                values = call()
            except Exception as error:  # whatever a package raises belongs in the table
                values, note = {}, f"{type(error).__name__}: {error}".splitlines()[0]
            for label, key in zip(labels.split(","), keys.split(","), strict=True):
                value = next((float(values[full]) for full in values if full.endswith(key)), float("nan"))
                found[f"{label},{name}"] = value, perf_counter() - start, note
    return found


def compare(python, folder):
    from course_lib.data import XYSquares

    factors = XYSquares().space.factors(np.arange(len(XYSquares()))).numpy()
    rotated = factors / 8 @ np.linalg.qr(np.random.RandomState(0).randn(6, 6))[0]
    points = np.random.RandomState(0).randint(len(factors), size=TRAIN + TEST)
    arrays = {"plain": np.float32(factors / 8), "rotated": np.float32(rotated), "factors": factors, "points": points}
    for name, array in arrays.items():
        np.save(f"{folder}/{name}.npy", array)
    row = "{:<18}{:<9}{:>8}{:>8}{:>8}{:>9}  {:<26}{}"
    print(row.format("score", "latents", "ours", "theirs", "s ours", "s theirs", "package", "where they differ"))
    mine = measure(ours, folder)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}  # names beside this file hide packages
    for package in PACKAGES:
        command = [python, __file__, "--child", package, folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            output = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
            print(f"{package}: {(output or str(error)).splitlines()[-1]}")
            continue
        number, theirs = json.loads(done.stdout.splitlines()[-1])
        for place, (value, seconds, note) in theirs.items():
            cells = [f"{mine[place][0]:.4f}", f"{value:.4f}", f"{mine[place][1]:.1f}", f"{seconds:.1f}"]
            print(row.format(*place.split(","), *cells, f"{package} {number}", note))


PACKAGES = {"disentanglement-lib": disentanglement_lib, "disent": disent, "latte-metrics": latte}

if __name__ == "__main__":
    match sys.argv[1:]:
        case "--child", package, folder:
            print("\n" + json.dumps([version(package), measure(PACKAGES[package], folder)]))
        case "--python", python:
            with tempfile.TemporaryDirectory() as folder:
                compare(python, folder)
        case _:
            print(__doc__, HOW, sep="\n")
