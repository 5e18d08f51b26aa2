"""Small facts of chapter 07: on handwritten digits InfoWGAN-GP's categorical code finds classes, but only if λ asks."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from course_lib.data.grid import GridDataset
from course_lib.factors import FactorSpace
from course_lib.frameworks import InfoWGAN_GP
from course_lib.models import mlp_gan
from course_lib.training import fit

CONTINUOUS, CATEGORIES = 2, 10
RATE = 2e-3  # of both players


class Digits(GridDataset):
    """scikit-learn's 1,797 digits at 8×8, the single factor counting them; `labels` are their classes."""

    shape, source, licence, citation = (1, 8, 8), "scikit-learn", "BSD", "scikit-learn's load_digits"

    def __init__(self):
        digits = load_digits()
        self.table = torch.from_numpy(np.rint(digits.images * (255 / 16)).astype(np.uint8)).unsqueeze(1)
        self.labels, self.space = digits.target, FactorSpace(("example",), (len(self.table),))
        pixels = self.table / 255
        self.mean, self.std = (pixels.mean().item(),), (pixels.flatten(1).std(1).mean().item(),)

    def render(self, index):
        return self.table[index]


def entropy(law):
    return -(law[law > 0] * np.log(law[law > 0])).sum()


def shared_information(probabilities, labels):
    """Mutual information of class and a code drawn from Q(c|x), over the mean of their entropies."""
    joint = np.eye(CATEGORIES)[labels].T @ probabilities / len(labels)
    marginals = entropy(joint.sum(0)) + entropy(joint.sum(1))
    return 2 * (marginals - entropy(joint)) / marginals


@pytest.fixture(scope="module")
def digits():
    return Digits()


def trained(digits, information, steps):
    gan = mlp_gan(digits, continuous=CONTINUOUS, categories=(CATEGORIES,))
    framework = InfoWGAN_GP(gan, information, discriminator_learning_rate=RATE, discriminator_turns=2)
    fit(framework, digits, steps=steps, batch_size=64, learning_rate=RATE, device="cpu")
    return framework.encode(digits.images(torch.arange(len(digits))))[:, CONTINUOUS:].double().numpy()


def test_with_lambda_1_the_code_knows_the_class(digits):
    codes = trained(digits, 1.0, steps=1200)
    assert normalized_mutual_info_score(digits.labels, codes.argmax(1)) > 0.5
    assert shared_information(codes, digits.labels) > 0.45


def test_with_lambda_0_it_does_not(digits):
    """The most probable code of a Q that nothing trains still depends on the image; a code drawn from it does not."""
    assert shared_information(trained(digits, 0.0, steps=300), digits.labels) < 0.05
