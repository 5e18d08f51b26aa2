"""The captured step: the same losses as the plain one, and the rules for when it is taken."""

import sys

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import (
    AAE,
    ISATCVAE,
    QLAE,
    AdaTripletVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    InfoGAN,
    InfoWGAN_GP,
)
from course_lib.models import conv_gan, conv_vae, mlp_gan, mlp_vae
from course_lib.training import capture, fit

MODULE = sys.modules[fit.__module__]  # the package's name for it is taken by the function
DATA = XYSquares(2, 2, squares=2, image_size=16)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
BUILDERS = {
    "BetaVAE": lambda data: BetaVAE(mlp_vae(data, 3)),
    "BetaVAE conv": lambda data: BetaVAE(conv_vae(data, 3), reconstruction="mse-box"),
    "AnnealedVAE": lambda data: AnnealedVAE(mlp_vae(data, 3), 10.0, capacity=5.0, steps=20),
    "FactorVAE": lambda data: FactorVAE(mlp_vae(data, 3), hidden=(16,)),
    "AAE": lambda data: AAE(mlp_vae(data, 3), hidden=(16,)),
    "QLAE": lambda data: QLAE(mlp_vae(data, 3), 4),
    "ISATCVAE": lambda data: ISATCVAE(mlp_vae(data, 3), layout=(2, 1), learnt=True),
    "BetaTCVAE": lambda data: BetaTCVAE(mlp_vae(data, 3), estimator="mss"),
    "InfoGAN conv": lambda data: InfoGAN(conv_gan(data)),
    "InfoWGAN_GP": lambda data: InfoWGAN_GP(mlp_gan(data)),
    "AdaTripletVAE": lambda data: AdaTripletVAE(mlp_vae(data, 3)),
}


@needs_gpu
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_the_graph_gives_the_losses_of_the_plain_step(build, precision):
    frames = []
    for captured in (False, True):
        run = dict(steps=40, batch_size=32, log_every=1, device="cuda", precision=precision, capture=captured)
        frames.append(fit(build(DATA), DATA, **run).to_frame().drop(columns="seconds"))
    torch.testing.assert_close(*(torch.tensor(frame.to_numpy()) for frame in frames), rtol=1e-3, atol=1e-3)


@needs_gpu
def test_a_captured_training_resumes(tmp_path):
    run = dict(batch_size=32, log_every=10, device="cuda", precision="float32")
    whole, parts = (BetaVAE(mlp_vae(DATA, 3)) for _ in range(2))
    expected = fit(whole, DATA, steps=60, **run).to_frame()
    fit(parts, DATA, steps=30, checkpoint=tmp_path / "run", **run)
    frame = fit(parts, DATA, steps=60, checkpoint=tmp_path / "run", **run).to_frame()
    assert frame.loss.iloc[-1] == pytest.approx(expected.loss.iloc[-1], rel=1e-3)


@needs_gpu
def test_a_loss_that_looks_at_a_value_is_refused_with_advice():
    class Curious(BetaVAE):
        def loss(self, views, step):
            return super().loss(views, step) if step.index.item() >= 0 else {}

    with pytest.raises(RuntimeError, match="capture=False"):
        fit(Curious(mlp_vae(DATA, 3)), DATA, steps=10, device="cuda")


class Recorded:
    """Stands in for CUDA's graph: what is replayed is the step itself, and the calls are written down."""

    calls = []

    def __init__(self, step, generator):
        self.step, self.taken = step, 0

    def __call__(self):
        self.taken += 1
        self.calls.append("plain" if self.taken <= capture.WARM_UP else "replayed")
        return self.step()


def test_warm_up_and_replays_are_the_steps_of_the_training(monkeypatch):
    """Without a GPU: the loop keeps its count, its records and its losses when a graph takes the steps."""
    monkeypatch.setattr(MODULE, "CapturedStep", Recorded)
    monkeypatch.setattr(MODULE, "should_capture", lambda *_: True)
    run = dict(steps=10, batch_size=16, log_every=2, device="cpu")
    captured = fit(AdaTripletVAE(mlp_vae(DATA, 3)), DATA, **run)
    monkeypatch.undo()
    plain = fit(AdaTripletVAE(mlp_vae(DATA, 3)), DATA, **run)
    assert captured.to_frame().drop(columns="seconds").equals(plain.to_frame().drop(columns="seconds"))
    assert Recorded.calls == ["plain"] * 3 + ["replayed"] * 7


def test_capturing_is_refused_where_it_cannot_be():
    with pytest.raises(ValueError, match="capture: got True, but the device 'cpu' has no CUDA graphs"):
        fit(BetaVAE(mlp_vae(DATA, 3)), DATA, steps=1, device="cpu", capture=True)
    with pytest.raises(ValueError, match="capture: got 'yes'"):
        fit(BetaVAE(mlp_vae(DATA, 3)), DATA, steps=1, device="cpu", capture="yes")


def test_images_from_a_mapped_file_are_trained_on_op_by_op():
    class Mapped(XYSquares):
        capturable = False

    cuda = torch.device("cuda")
    assert capture.should_capture("auto", cuda, DATA) is True
    assert capture.should_capture("auto", cuda, Mapped()) is False
    assert capture.should_capture(False, cuda, DATA) is False
    with pytest.raises(ValueError, match="capture: got True, but the images of .* are looked up in a file"):
        capture.should_capture(True, cuda, Mapped())
