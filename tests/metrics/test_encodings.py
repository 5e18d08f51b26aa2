"""The table of representations: each image at most once, and clear words about what `encode` returns."""

import numpy as np
import pytest
import torch

from course_lib import metrics
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.metrics import Encodings, encodings
from course_lib.models import mlp_vae

DATA = XYSquares(2, 2, squares=2, image_size=16)
CHEAP = ("mig", "factor_vae_score", "distance_correlation", "linearity_ratio", "irs")


class Counting:
    """An encoder that counts what it is asked for."""

    def __init__(self):
        self.seen, self.largest = 0, 0

    def __call__(self, images):
        assert images.dtype == torch.uint8
        self.seen, self.largest = self.seen + len(images), max(self.largest, len(images))
        return images.flatten(1)[:, ::50].float()


def test_scores_that_share_a_table_encode_each_image_at_most_once(small):
    encode = Counting()
    table = Encodings(encode, small, batch_size=100)
    metrics.evaluate(table, small, scores=CHEAP)
    assert 4000 < encode.seen <= len(small) and encode.largest == 100
    metrics.beta_vae_score(table)
    assert encode.seen <= len(small) and repr(table) == f"Encodings({small!r}: {encode.seen:,} of 4,096 images encoded)"


def test_evaluate_makes_a_table_of_its_own(small):
    encode = Counting()
    metrics.evaluate(encode, small, scores=CHEAP)
    assert encode.seen <= len(small)


def test_a_table_gives_what_encode_gives(small):
    table = Encodings(Counting(), small)
    index = torch.tensor([[7, 4000], [7, 0]])
    expected = Counting()(small.images(index.flatten())).view(2, 2, -1)
    assert torch.equal(table(index), expected) and torch.equal(table(index), expected)


def test_scores_agree_between_encode_and_table_and_over_batch_sizes(small):
    encode = BetaVAE(mlp_vae(small, 5)).encode
    for name in CHEAP:
        score = getattr(metrics, name)
        expected = score(encode, small)
        for batch_size in (64, 999):
            other = score(Encodings(encode, small, batch_size=batch_size))
            assert float(other) == pytest.approx(float(expected), abs=1e-3)


@pytest.mark.parametrize(
    "convert",
    [
        lambda latents: latents.half(),
        lambda latents: latents.bfloat16(),
        lambda latents: latents.numpy(),
        lambda latents: latents.double().requires_grad_(),
        lambda latents: latents.long(),
    ],
    ids=["float16", "bfloat16", "numpy", "with gradient", "integers"],
)
def test_any_real_type_will_do(small, convert):
    def encode(images):
        return images.flatten(1)[:, 20:200:30].float() / 51

    converted = metrics.mig(lambda images: convert(encode(images)), small)
    assert float(converted) == pytest.approx(float(metrics.mig(encode, small)), abs=1e-9)


def test_from_table_draws_and_encodes_nothing(small, known, monkeypatch):
    monkeypatch.setattr(XYSquares, "render", lambda self, index: pytest.fail("drawn"))
    table = Encodings.from_table(known["identity"].numpy(), small)
    assert float(metrics.mig(table, small)) > 0.98 and torch.equal(table(torch.tensor([9])), known["identity"][9:10])


WRONG = [
    (lambda images: None, "encode: got None; allowed are latents"),
    (lambda images: (images, images), "encode: got a tuple; allowed are latents"),
    (lambda images: images.float(), r"encode: got shape \(512, 2, 16, 16\); allowed are latents \(512, D\)"),
    (lambda images: images.flatten(1)[:5].float(), r"encode: got shape \(5, 512\); allowed are latents \(512, D\)"),
    (lambda images: images.flatten(1)[:, :0].float(), r"encode: got shape \(512, 0\)"),
    (lambda images: images.flatten(1) / 0.0, "encode: got NaN or infinite latents for 512 of 512 images"),
    (lambda images: images.flatten(1) * 1j, "encode: got dtype torch.complex64; allowed are real numbers"),
]


@pytest.mark.parametrize(("encode", "words"), WRONG)
def test_wrong_encoders_are_named(small, encode, words):
    with pytest.raises(ValueError, match=words):
        metrics.mig(encode, small)


def test_wrong_tables_are_named(small, known, monkeypatch):
    with pytest.raises(ValueError, match="encode: got Tensor; allowed is a function"):
        metrics.mig(known["identity"], small)
    with pytest.raises(ValueError, match="data: got None; allowed is a dataset"):
        metrics.mig(lambda images: images)
    with pytest.raises(ValueError, match=r"latents: got shape \(4095, 4\); allowed are latents \(4096, D\)"):
        Encodings.from_table(known["identity"][1:], small)
    with pytest.raises(ValueError, match="data: got XYSquares.*the table of encodings was made for XYSquares"):
        metrics.mig(Encodings(Counting(), small), XYSquares())
    widths = iter((3, 4))
    with pytest.raises(ValueError, match="encode: got 4 latents after 3 before"):
        metrics.mig(lambda images: np.zeros((len(images), next(widths))), small)
    monkeypatch.setattr(encodings, "LIMIT", 10_000)
    with pytest.raises(ValueError, match="for 4,096 images they would take .* GB, and"):
        metrics.mig(Counting(), small)


def test_no_image_at_all_has_no_latents_of_the_known_width():
    table = Encodings.from_table(np.zeros((len(DATA), 3)), DATA)
    assert table([]).shape == (0, 3) and table(np.zeros((2, 0), dtype=int)).shape == (2, 0, 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Encodings(lambda images: images, DATA, device="gpu"), "device: got 'gpu'; allowed are PyTorch's"),
        (lambda: Encodings.from_table(np.zeros((2, 3)), None), "data: got None; allowed is a dataset"),
        (lambda: metrics.mig.from_samples(torch.zeros(9, 2, device="meta"), [[0]] * 9), "latents: got a tensor on the"),
        (lambda: metrics.mig.from_samples(np.eye(9), np.eye(9, dtype=int), bins=2**70), "bins: got .* from 2 to"),
        (lambda: metrics.evaluate(Encodings.from_table(np.zeros((4096, 1)), DATA), scores=5), "scores: got 5; allowed"),
        (
            lambda: metrics.evaluate(Encodings.from_table(np.zeros((4096, 1)), DATA), scores={"a": lambda t, seed: 3}),
            "scores: a returned 3; allowed are functions that return a Score",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()
