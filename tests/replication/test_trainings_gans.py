"""GANs that tell their codes: what is measured of generators that are known, and what a claim asks for."""

import pytest
import torch
from torch import nn

from course_lib.frameworks import InfoGAN, InfoWGAN_GP
from course_lib.models import mlp_gan
from course_replication import Context, load_claims
from course_replication.measurements import gans
from course_replication.plans import metrics_of, parts_of

DATA = gans.Digits()
IMAGES = DATA.images(torch.arange(len(DATA)))
CLAIMS = {claim.id: claim for claim in load_claims() if claim.chapter == "07_infogan"}


class Drawn(nn.Module):
    """Draws a digit of the data: its class by `kept`, latents → (B,), and which one of eight by the noise."""

    def __init__(self, kept):
        super().__init__()
        self.kept = kept
        self.places = torch.stack([(DATA.labels == digit).nonzero()[:8, 0] for digit in range(10)])

    def forward(self, z):
        own = (z[:, -1] * 1000).long() % 8
        return torch.logit(IMAGES[self.places[self.kept(z), own]].double() / 255, eps=1e-9)


def drawing(kept, seed=0):
    framework = InfoGAN(mlp_gan(DATA, seed=seed))
    framework.model.generator = Drawn(kept)
    return framework


BY = {
    "categories": lambda z: z[:, 2:12].argmax(1),
    "continuous": lambda z: ((z[:, 0] + 1) * 5).long().clamp(0, 9),
    "noise": lambda z: (z[:, 12] * 1000).long() % 10,
}


@pytest.mark.parametrize("group", BY)
def test_the_class_is_found_where_it_is_kept(group):
    found = gans.where_the_class_is(drawing(BY[group]), IMAGES, DATA.labels, 0)
    for name in BY:
        assert found[f"digit-in-{name}"] == pytest.approx(0.9 if name == group else 0.0, abs=0.03)
    assert (found["digit-changes-with-noise"] > 0.8) == (group == "noise")


def test_the_digits_are_scikit_learns():
    assert DATA.shape == (1, 8, 8) and len(DATA) == len(DATA.labels) == 1797
    assert DATA.labels.bincount().tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (IMAGES.min(), IMAGES.max()) == (0, 255)


@pytest.mark.parametrize(
    ("network", "critic", "weights"),
    [
        # 64·128 + 128·128 + what reads them: 128·1 and 128·14, biases included
        ("small-mlp", True, 65 * 128 + 129 * 128 + 129 + 129 * 14),
        ("larger-mlp", True, 65 * 256 + 2 * 257 * 256 + 257 + 257 * 14),
    ],
)
def test_networks_have_the_widths_of_their_names(network, critic, weights):
    gan = gans.model_of(DATA, network, critic, continuous=2, categories=(10,), noise=3, variance="learnt", seed=0)
    assert sum(weight.numel() for weight in gan.discriminator.parameters()) == weights


def test_the_large_convolutional_critic_is_table_6_without_batch_normalisation():
    data = gans.dataset(data="FewSprites")
    usual, large = (gans.model_of(data, name, True, seed=0) for name in ("conv", "large-conv"))
    assert large.config["architecture"] == "large" and usual.config["architecture"] == "conv"
    kinds = [type(layer) for layer in large.discriminator["shared"]]
    assert nn.BatchNorm2d not in kinds and kinds.count(nn.Conv2d) == 3 and nn.LayerNorm in kinds
    assert large.draw(large.sample(2, torch.Generator().manual_seed(0))).shape == (2, 1, 16, 16)


def test_purity_by_hand():
    categories, labels = torch.tensor([0, 0, 0, 2, 2, 1]), torch.tensor([1, 1, 0, 3, 0, 3])
    assert gans.purity(categories, labels) == pytest.approx((2 + 1 + 1) / 6)


def test_drawings_of_all_images_leave_nothing_and_the_mean_image_leaves_all():
    some = IMAGES[drawing(BY["categories"]).model.generator.places.flatten()]
    assert gans.left(drawing(BY["categories"]), some, 0) == pytest.approx(0, abs=1e-6)
    framework, mean = drawing(BY["categories"]), some.double().mean(0) / 255
    framework.model.generator.forward = lambda z: torch.logit(mean, eps=1e-9).expand(len(z), -1, -1, -1)
    assert gans.left(framework, some, 0) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("kind", [InfoGAN, InfoWGAN_GP])
def test_a_discriminator_that_calls_all_real(kind):
    """Shifted far above 0 it calls everything real; a critic's values have no zero, and nothing changes."""
    framework = kind(mlp_gan(DATA))
    verdict = framework.model.discriminator["verdict"]
    before = gans.real_share(framework, IMAGES, 0)
    with torch.no_grad():
        verdict.bias += 100.0
    share = gans.real_share(framework, IMAGES, 0)
    assert share == 1.0 if kind is InfoGAN else share == pytest.approx(before, abs=0.01)


def test_codes_that_are_read_are_of_the_prior():
    codes = gans.read_codes(InfoGAN(mlp_gan(DATA)), IMAGES[:20])
    assert codes.shape == (20, 12) and set(codes[:, 2:].unique().tolist()) == {0.0, 1.0}
    assert (codes[:, 2:].sum(1) == 1).all()
    no_category = InfoGAN(mlp_gan(DATA, categories=(), continuous=3))
    assert gans.read_codes(no_category, IMAGES[:4]).shape == (4, 3)


@pytest.mark.parametrize(
    "name", ["factorvae/figure-24", "factorvae/figure-25", "factorvae/figure-32", "assumptions/infogan"]
)
def test_what_a_claim_asks_for_is_measured(name, tmp_path):
    claim, found = CLAIMS[name], set()
    for place, part in enumerate(parts_of(claim, "small")):
        measure = getattr(gans, part.measurement.split(".")[1])
        context = Context(0, torch.device("cpu"), tmp_path / str(place))
        metrics = measure(context, **part.settings | {"steps": 20, "batch_size": 8})
        found |= {part.name.format(metric) for metric in metrics}
        assert metrics["left"] > 0 and metrics["control/untrained/left"] > 0
    assert {*metrics_of(claim)} <= found


def test_mnist_stands_in_the_place_of_the_digits_and_some_of_it_for_all(context, monkeypatch):
    """Of a stand-in for MNIST, whose file is not there: a convolutional GAN, looked at through some of the images."""

    class MNIST(gans.InMemory):
        space, labels = gans.FactorSpace(("example",), (60,)), torch.arange(60) % 10
        source = licence = citation = "made up"

        def __init__(self):
            super().__init__(torch.randint(256, (60, 1, 32, 32), dtype=torch.uint8))

    monkeypatch.setattr(gans, "MNIST", MNIST)
    monkeypatch.setattr(gans, "IMAGES", 40)
    monkeypatch.setattr(gans, "DRAWN", 100)
    part = parts_of(CLAIMS["factorvae/figure-32"], "full")[0]
    found = gans.digits(context, **part.settings | {"steps": 20, "batch_size": 4})
    assert {part.own_name(name) for name in metrics_of(CLAIMS["factorvae/figure-32"])} - {None} <= found.keys()
    assert 0 < found["digit-purity"] <= 1 and found["left"] > 0
    images, labels = gans.looked_at(MNIST(), 3)
    assert len(images) == len(labels) == 40 and len(gans.looked_at(DATA, 0)[0]) == 40
