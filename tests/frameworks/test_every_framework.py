"""What holds for each framework: configuration, reductions, resuming, and a step that a CUDA graph can hold."""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.data import XYSquares
from course_lib.factors import FactorSpace
from course_lib.frameworks import (
    AAE,
    DIPVAE,
    ISATCVAE,
    ISAVAE,
    QLAE,
    AdaGVAE,
    AdaMLVAE,
    AdaTripletVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    FactorVAEToPrior,
    InfoGAN,
    InfoWGAN_GP,
    TripletVAE,
    load_framework,
)
from course_lib.losses.total_correlation import log_weights
from course_lib.models import VAE, conv_gan, conv_vae, mlp_gan, mlp_vae
from course_lib.training import fit
from course_lib.training.trainer import Trainer, adam

DATA = XYSquares(2, 2, squares=2, image_size=16)
KERNEL = torch.rand(5, 5, generator=torch.Generator().manual_seed(0))


def of(framework, *arguments, **fixed):
    """build(data, network, seed, **options): the framework with these arguments, on a model for `data`."""

    def build(data, network=mlp_vae, seed=0, **options):
        return framework(network(data, 3, seed=seed), *arguments, **fixed, **options)

    return build


BUILDERS = {
    "BetaVAE": of(BetaVAE, 4.0),
    "BetaVAE box": of(BetaVAE, reconstruction="mse-box"),
    "BetaVAE kernel": of(BetaVAE, reconstruction=KERNEL),
    "AnnealedVAE": of(AnnealedVAE, 10.0, capacity=5.0, steps=20),
    "FactorVAE": of(FactorVAE, 6.0, hidden=(16,)),
    "BetaTCVAE mws": of(BetaTCVAE),
    "BetaTCVAE mss": of(BetaTCVAE, estimator="mss", dataset_size=500),
    "DIPVAE I": of(DIPVAE, "I"),
    "DIPVAE II": of(DIPVAE, "II", lambda_od=3.0),
    "AAE": of(AAE, 2.0, hidden=(16,)),
    "FactorVAEToPrior": of(FactorVAEToPrior, 6.0, hidden=(16,)),
    "ISAVAE": of(ISAVAE, 4.0, layout=(2, 1)),
    "ISAVAE learnt": of(ISAVAE, layout=(1, 2), inner=(1.9, 3.0), learnt=True),
    "ISATCVAE": of(ISATCVAE, layout=(2, 1), learnt=True),
    "QLAE": of(QLAE, 4, quantisation=0.3, weight_decay=1.0),
    "AdaGVAE": of(AdaGVAE, k=(1, 3)),
    "AdaMLVAE": of(AdaMLVAE, variance="product"),
    "TripletVAE": of(TripletVAE, margin=None, norm=2, decoder_gradient=False),
    "TripletVAE perceived": of(TripletVAE, by="perceived", num_triplets=20),
    "AdaTripletVAE": of(AdaTripletVAE, strength=(0.0, 0.5), differences="kl"),
    "AdaTripletVAE perceived": of(AdaTripletVAE, by="perceived", reconstruction="mse-box"),
}
every_vae = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)


def gan_of(framework, *arguments, **fixed):
    """The same for GANs, whose networks are of the kind of the VAE's, and which have no reconstruction to reduce."""

    def build(data, network=mlp_vae, seed=0):
        codes = dict(continuous=1, categories=(3,), noise=2, seed=seed)
        gan = mlp_gan(data, hidden=(16,), **codes) if network is mlp_vae else conv_gan(data, **codes, **conv)
        return framework(gan, *arguments, **fixed)

    conv = dict(normalisation="layer" if framework is InfoWGAN_GP else "batch")
    return build


GANS = {
    "InfoGAN": gan_of(InfoGAN, 0.5),
    "InfoGAN, two turns": gan_of(InfoGAN, discriminator_turns=2),
    "InfoWGAN_GP": gan_of(InfoWGAN_GP, 0.5, penalty=3.0),
    "InfoGAN conv": lambda data, network=conv_vae, seed=0: gan_of(InfoGAN)(data, conv_vae, seed),
    "InfoWGAN_GP conv": lambda data, network=conv_vae, seed=0: gan_of(InfoWGAN_GP, discriminator_turns=2)(
        data, conv_vae, seed
    ),
}
every = pytest.mark.parametrize("build", (BUILDERS | GANS).values(), ids=BUILDERS | GANS)


def views_of(framework, data, n=16):
    return data.observations(framework.sample(data.space, n, torch.Generator().manual_seed(0)))


@every
def test_saving_restores_the_objective(build, data, at, tmp_path):
    framework = build(data)
    framework.save(tmp_path / "model")
    restored = load_framework(tmp_path / "model")
    assert restored.arguments == framework.arguments and type(restored) is type(framework)
    views = views_of(framework, data)
    assert torch.equal(views, views_of(restored, data))
    for player in framework.players:
        assert framework.loss(views, at(7, player)) == restored.loss(views, at(7, player))


@every
def test_another_number_of_views_is_refused(build, data, at):
    """The fault: halves of one view are taken for a pair, or thirds of it for triplets."""
    framework = build(data)
    views = views_of(framework, data, 6)
    number = len(views)
    for wrong in {1, 2, 3, 4} - {number}:
        with pytest.raises(ValueError, match=rf"views: got shape \({wrong}, 6, .* allowed is \({number}, B, C, H, W\)"):
            framework.loss(views[:1].expand(wrong, -1, -1, -1, -1), at())


@every_vae
def test_means_divide_the_image_by_its_pixels_and_every_latent_term_by_the_latents(build, data, at):
    """The fault: a KL divided by the number of latents beside a penalty that is not."""
    summed, averaged = build(data, reduction="sum"), build(data, reduction="mean")
    views = views_of(summed, data)
    for name, value in summed.loss(views, at(7)).items():
        share = {"reconstruction": 2 * 16 * 16, "triplet": 1}.get(name, 3)
        torch.testing.assert_close(averaged.loss(views, at(7))[name], value / share, rtol=1e-4, atol=1e-6)


@every
def test_an_interrupted_training_goes_on_to_the_same_weights(build, data, tmp_path):
    """Schedules and players included: stopped at step 8, resumed from the checkpoint of step 6."""

    def stop(framework, step):
        if step == 8:
            raise KeyboardInterrupt

    run = dict(steps=12, batch_size=16, log_every=2, device="cpu")
    path, whole, resumed = tmp_path / "run", build(data), build(data)
    fit(whole, data, **run)
    with pytest.raises(KeyboardInterrupt):
        fit(resumed, data, checkpoint=path, checkpoint_every=3, callbacks=[stop], **run)
    resumed = build(data, seed=1)
    history = fit(resumed, data, checkpoint=path, checkpoint_every=3, **run)
    assert history.steps == 12 and history.to_frame().notna().all(axis=None)
    pairs = zip(whole.state_dict().values(), resumed.state_dict().values(), strict=True)
    assert all(torch.equal(first, second) for first, second in pairs)


@every
def test_bfloat16_stays_close_to_float32(build, data, at):
    framework = build(data, conv_vae)
    views = views_of(framework, data)
    exact = framework.loss(views, at(7))
    with torch.autocast("cpu", torch.bfloat16):
        rounded = framework.loss(views, at(7))
    for name, value in exact.items():
        assert rounded[name].dtype == torch.float32
        assert rounded[name].item() == pytest.approx(value.item(), rel=0.05, abs=0.05)


def test_a_training_does_not_go_on_with_another_kernel(data, tmp_path):
    path, run = tmp_path / "run", dict(batch_size=16, device="cpu", checkpoint=tmp_path / "run")
    fit(BetaVAE(mlp_vae(data, 3), reconstruction=KERNEL), data, steps=4, **run)
    good = path.read_bytes()
    for other in (5 * KERNEL, torch.ones(3, 3)):
        framework = BetaVAE(mlp_vae(data, 3), reconstruction=other)
        with pytest.raises(ValueError, match="comes from another run: its kernel is "):
            fit(framework, data, steps=6, **run)
        assert torch.equal(framework.likelihood.kernel, other) and path.read_bytes() == good


def test_a_schedule_is_not_stretched_by_a_resume(data, tmp_path):
    """10 steps and then 10 more are not 20, if ω falls over the whole training: that is said, not done."""
    run = dict(batch_size=16, device="cpu", checkpoint=tmp_path / "run")
    fit(AdaTripletVAE(mlp_vae(data, 3)), data, steps=4, **run)
    with pytest.raises(ValueError, match="comes from another run: its steps is 4, here it is 6"):
        fit(AdaTripletVAE(mlp_vae(data, 3)), data, steps=6, **run)
    constant = dict(run, checkpoint=tmp_path / "constant")
    for steps in (4, 6):
        framework = AdaTripletVAE(mlp_vae(data, 3), shared_weight=0.5)
        assert fit(framework, data, steps=steps, **constant).steps == steps


def test_the_reconstruction_is_fixed_when_a_framework_is_built(data):
    framework = BetaVAE(mlp_vae(data, 3))
    with pytest.raises(AttributeError, match="reconstruction"):
        framework.reconstruction = "bce"
    assert framework.arguments["reconstruction"] == "mse"


def test_numpy_s_numbers_are_kept_as_python_s(data, tmp_path):
    model = mlp_vae(data, 3)
    built = [
        BetaTCVAE(model, np.float32(6), dataset_size=np.int64(500)),
        FactorVAE(model, hidden=np.array([4, 5]), seed=np.int64(1)),
        InfoGAN(mlp_gan(data, noise=np.int64(3), categories=np.array([3])), np.float32(2)),
        InfoWGAN_GP(mlp_gan(data), penalty=np.int64(5), discriminator_turns=np.int64(2)),
        AAE(model, np.float32(2), hidden=np.array([4, 5]), seed=np.int64(1)),
        ISAVAE(model, layout=np.array([1, 2]), outer=np.float32(2), inner=np.array([2, 3]), learnt=np.True_),
        ISATCVAE(model, np.float32(2), dataset_size=np.int64(500)),
        QLAE(model, np.int64(5), quantisation=np.float32(2), weight_decay=np.int64(1)),
        TripletVAE(model, norm=np.int64(1), num_triplets=np.int64(5), margin=np.float64(2), decoder_gradient=np.True_),
        AdaGVAE(model, k=np.int64(2)),
        AnnealedVAE(model, steps=np.int64(5)),
        AdaTripletVAE(model, shared_weight=[np.float64(1), 0]),
    ]
    for framework in built:
        framework.save(tmp_path / "model")
        assert load_framework(tmp_path / "model").arguments == framework.arguments


class Watched(TorchDispatchMode):
    """Notes every operation that would stall a CUDA stream: looking at a value, or bringing one from the host."""

    FORBIDDEN = ("_local_scalar_dense", "nonzero", "lift_fresh", "is_nonzero", "masked_select", "equal.default")

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.found += [str(function) for name in self.FORBIDDEN if name in str(function)]
        return function(*args, **(kwargs or {}))


def trainer_of(framework, data, steps=20):
    optimisers = {player: adam(framework, player) for player in framework.players}
    generator = torch.Generator().manual_seed(0)
    plain = torch.autocast("cpu", enabled=False)
    return Trainer(framework, data, 16, steps, generator, optimisers, plain)


@every
def test_a_step_never_looks_at_a_value(build, data, monkeypatch):
    """Checks of ranges, which happen on the CPU only, are set aside; after two steps nothing is left to be made."""
    monkeypatch.setattr(FactorSpace, "check_index", lambda self, index: index)
    trainer = trainer_of(build(data), data)
    strides = torch.tensor(data.space.strides)
    monkeypatch.setattr(FactorSpace, "index", lambda self, factors: (factors * strides).sum(-1))
    trainer.step()
    trainer.step()
    with Watched() as watched:
        trainer.step()
    assert set(watched.found) <= adam_s_own()


def adam_s_own():
    """What PyTorch's fused Adam does on the CPU by itself: it is not of our step, and differs on CUDA."""
    weight = torch.nn.Parameter(torch.zeros(2))
    optimiser = torch.optim.Adam([weight], fused=True)
    weight.grad = torch.ones(2)
    optimiser.step()
    with Watched() as watched:
        optimiser.step()
    return set(watched.found)


def test_a_value_that_is_looked_at_would_be_found(data):
    class Curious(BetaVAE):
        def loss(self, views, step):
            return super().loss(views, step) if step.index.item() >= 0 else {}

    trainer = trainer_of(Curious(mlp_vae(data, 3)), data)
    trainer.step()
    with Watched() as watched:
        trainer.step()
    assert any("_local_scalar_dense" in name for name in watched.found)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: AnnealedVAE(m, -1.0), "gamma: got -1.0; allowed are finite numbers from 0"),
        (lambda m: AnnealedVAE(m, capacity=float("inf")), "capacity: got inf"),
        (lambda m: AnnealedVAE(m, steps=0), "steps: got 0"),
        (lambda m: FactorVAE(m, "6"), "gamma: got '6'"),
        (lambda m: FactorVAE(m, discriminator_learning_rate=0), "discriminator_learning_rate: got 0; .* above 0"),
        (lambda m: FactorVAE(m, hidden=(0,)), r"hidden\[0\]: got 0"),
        (lambda m: FactorVAE(m, seed=-1), "seed: got -1"),
        (lambda m: FactorVAE(m, hidden=5), "hidden: got 5; allowed is a list"),
        (lambda m: FactorVAE(m, 10**400), "gamma: got 1000"),
        (lambda m: AAE(m, -1), "gamma: got -1"),
        (lambda m: AAE(m, discriminator_learning_rate="1"), "discriminator_learning_rate: got '1'"),
        (lambda m: AAE(m, hidden=(4, 0)), r"hidden\[1\]: got 0"),
        (lambda m: FactorVAEToPrior(m, seed=1.5), "seed: got 1.5"),
        (lambda m: BetaTCVAE(m, -6.0), "beta: got -6.0"),
        (lambda m: BetaTCVAE(VAE("mlp", (2, 16, 16), 3)), "dataset_size: got None"),
        (lambda m: log_weights("mss", 1, 10), "batch_size: got 1; the estimator 'mss', a statistic of the batch"),
        (lambda m: BetaTCVAE(m, estimator="MWS"), "estimator: got 'MWS'; allowed are 'mws', 'mss', 'batch'"),
        (lambda m: BetaTCVAE(m, dataset_size=0), "dataset_size: got 0"),
        (lambda m: DIPVAE(m, "III"), "variant: got 'III'; allowed are 'I', 'II'"),
        (lambda m: DIPVAE(m, lambda_od=-1), "lambda_od: got -1"),
        (lambda m: DIPVAE(m, lambda_d=-1), "lambda_d: got -1"),
        (lambda m: ISAVAE(m, -1), "beta: got -1"),
        (lambda m: ISAVAE(m, layout=(2, 2)), r"layout: got \(2, 2\); allowed are sizes that add up to 3 latents"),
        (lambda m: ISAVAE(m, layout=(3, 0)), r"layout\[1\]: got 0"),
        (lambda m: ISAVAE(m, layout=3), "layout: got 3; allowed is a list of sizes"),
        (lambda m: ISAVAE(m, outer=0), "outer: got 0; allowed are finite numbers above 0"),
        (lambda m: ISAVAE(m, inner=[2, 2]), r"inner: got .* for the layout \(3,\); allowed are a number above 0"),
        (lambda m: ISAVAE(m, inner=-1.0), "inner: got "),
        (lambda m: ISAVAE(m, inner="2"), "inner: got '2'"),
        (lambda m: ISAVAE(m, scale=0), "scale: got 0"),
        (lambda m: ISAVAE(m, learnt="yes"), "learnt: got 'yes'; allowed are False, True"),
        (lambda m: ISATCVAE(m, estimator="MWS"), "estimator: got 'MWS'"),
        (lambda m: ISATCVAE(VAE("mlp", (2, 16, 16), 3)), "dataset_size: got None"),
        (lambda m: QLAE(m, 1), "values: got 1; allowed are integers from 2"),
        (lambda m: QLAE(m, quantisation=-1), "quantisation: got -1"),
        (lambda m: QLAE(m, commitment="1"), "commitment: got '1'"),
        (lambda m: QLAE(m, weight_decay=float("inf")), "weight_decay: got inf"),
        (lambda m: InfoGAN(m), "model: got VAE; allowed is a GAN, such as mlp_gan"),
        (lambda m: BetaVAE(mlp_gan(DATA)), "model: got GAN; allowed is a VAE, such as conv_vae"),
        (lambda m: BetaVAE(torch.nn.Linear(2, 2)), "model: got Linear; allowed is a VAE, such as conv_vae"),
        (lambda m: FactorVAE(torch.nn.Linear(2, 2)), "model: got Linear"),
        (lambda m: ISAVAE(torch.nn.Linear(2, 2)), "model: got Linear"),
        (lambda m: ISATCVAE(torch.nn.Linear(2, 2)), "model: got Linear"),
        (lambda m: QLAE(torch.nn.Linear(2, 2)), "model: got Linear"),
        (lambda m: InfoGAN(mlp_gan(DATA), -1), "information: got -1"),
        (lambda m: InfoGAN(mlp_gan(DATA), discriminator_turns=0), "discriminator_turns: got 0"),
        (lambda m: InfoGAN(mlp_gan(DATA), discriminator_learning_rate=0), "discriminator_learning_rate: got 0"),
        (lambda m: InfoWGAN_GP(mlp_gan(DATA), penalty=-1), "penalty: got -1"),
        (lambda m: InfoWGAN_GP(conv_gan(DATA)), "model: got a GAN with batch normalisation in its critic; allowed"),
        (lambda m: AdaGVAE(m, True), "beta: got True"),
        (lambda m: AdaGVAE(m, k=(2, 1)), r"k: got \(2, 1\)"),
        (lambda m: AdaGVAE(m, k="all"), "k: got 'all'"),
        (lambda m: AdaMLVAE(m, variance="mean"), "variance: got 'mean'; allowed are 'harmonic', 'product'"),
        (lambda m: TripletVAE(m, margin=0.0), "margin: got 0.0; allowed are finite numbers above 0"),
        (lambda m: TripletVAE(m, norm=3), "norm: got 3; allowed are 1, 2"),
        (lambda m: TripletVAE(m, by="kl"), "by: got 'kl'; allowed are 'scaled_l1', 'l1', 'differing', 'perceived'"),
        (lambda m: TripletVAE(m, num_triplets=0), "num_triplets: got 0"),
        (lambda m: TripletVAE(m, decoder_gradient="no"), "decoder_gradient: got 'no'"),
        (
            lambda m: AdaTripletVAE(m, shared_weight=1.5),
            "shared_weight: got 1.5; allowed are finite numbers from 0 to 1",
        ),
        (lambda m: AdaTripletVAE(m, strength=(0, 2)), r"strength\[1\]: got 2; allowed are finite numbers from 0 to 1"),
        (lambda m: AdaTripletVAE(m, strength=(0, 1, 1)), r"strength: got \(0, 1, 1\); allowed are a number or a pair"),
        (lambda m: AdaTripletVAE(m, differences="l2"), "differences: got 'l2'; allowed are 'absolute', 'kl'"),
        (lambda m: BetaVAE(m, reconstruction=torch.zeros(4, 4)), r"reconstruction: got a kernel of shape \(4, 4\)"),
        (lambda m: BetaVAE(m, reconstruction=torch.zeros(1, 3, 3)), "reconstruction: got a kernel"),
        (lambda m: BetaVAE(m, reconstruction=torch.ones(3) + 1j), r"got a kernel of shape \(3,\), torch.complex64"),
        (
            lambda m: BetaVAE(VAE("mlp", (2, 8, 32), 3), reconstruction="mse-box"),
            "reconstruction: got 'mse-box' for 8×32 pixels; allowed are equal, even sides",
        ),
        (
            lambda m: BetaVAE(VAE("mlp", (2, 15, 15), 3), reconstruction="mse-gaussian"),
            "reconstruction: got 'mse-gaussian' for 15×15 pixels",
        ),
        (
            lambda m: BetaVAE(m, reconstruction=np.ones((3, 3))),
            "reconstruction: got ndarray; allowed are .* or a kernel",
        ),
        (lambda m: BetaVAE(m, reconstruction="l1"), "reconstruction: got 'l1'; allowed are 'mse', 'bce', 'mse-box'"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(call, words, data):
    with pytest.raises(ValueError, match=words):
        call(mlp_vae(data, 3))
