"""Many models at once: the losses of one after the other, each model's result its own, resumed to the bit."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import (
    DIPVAE,
    QLAE,
    AdaGVAE,
    AdaMLVAE,
    AdaTripletVAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    TripletVAE,
    load_framework,
)
from course_lib.models import conv_vae, mlp_vae
from course_lib.storage import read_tensors
from course_lib.training import capture, fit, fit_many

MODULE = sys.modules[fit_many.__module__]
DATA = XYSquares(2, 2, squares=2, image_size=16)
RUN = dict(batch_size=16, log_every=5, device="cpu")


def mlp(seed=0, latent_dim=3):
    return mlp_vae(DATA, latent_dim, hidden=(16,), seed=seed)


def vaes(betas=(0.5, 1.0, 4.0), seed=0):
    return [BetaVAE(mlp(seed + place), beta) for place, beta in enumerate(betas)]


def same_weights(first, second):
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def logged(history):
    return history.to_frame().drop(columns="seconds")


class Diverging(BetaVAE):
    """The KL is not a number from the step `start` on."""

    def __init__(self, model, beta=1.0, *, start=1e9, **rest):
        super().__init__(model, beta, **rest)
        self.keep(start=float(start))

    def loss(self, views, step):
        terms = super().loss(views, step)
        return terms | {"kl": torch.where(step.index >= self.start, torch.nan, terms["kl"])}


BUILDERS = {
    "BetaVAE": lambda i: BetaVAE(mlp(i), 1.0 + i),
    "BetaVAE, box": lambda i: BetaVAE(mlp(i), 1.0 + i, reconstruction="mse-box"),
    "BetaVAE, bce": lambda i: BetaVAE(mlp(i), i, reconstruction="bce", reduction="mean"),
    "AnnealedVAE": lambda i: AnnealedVAE(mlp(i), 10.0 + i, capacity=4.0 + i, steps=50),
    "FactorVAE": lambda i: FactorVAE(mlp(i), 5.0 + i, hidden=(8,), seed=i, discriminator_learning_rate=1e-4 * (i + 1)),
    "BetaTCVAE": lambda i: BetaTCVAE(mlp(i), 6.0 + i),
    "BetaTCVAE, mss": lambda i: BetaTCVAE(mlp(i), 6.0 + i, estimator="mss"),
    "DIPVAE": lambda i: DIPVAE(mlp(i), "II", lambda_od=1.0 + i),
    "QLAE": lambda i: QLAE(mlp(i), 4, quantisation=0.1 + i, weight_decay=0.5 * i, reduction="sum"),
    "AdaGVAE": lambda i: AdaGVAE(mlp(i), 1.0 + i),
    "AdaMLVAE": lambda i: AdaMLVAE(mlp(i), 1.0 + i),
    "TripletVAE": lambda i: TripletVAE(mlp(i), margin=1.0 + i),
    "TripletVAE, perceived": lambda i: TripletVAE(mlp(i), margin=1.0 + i, by="perceived"),
    "AdaTripletVAE": lambda i: AdaTripletVAE(mlp(i), shared_weight=(1.0, 0.5 + 0.1 * i), strength=0.5 - 0.1 * i),
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_equals_one_after_the_other(build):
    """Other seeds, weights, rates and numbers in each model, and the losses and weights that `fit` gives it."""
    seeds, rates = [3, 4, 3], [1e-3, 1e-3, 3e-4]
    together, alone = ([build(place) for place in range(3)] for _ in range(2))
    histories = fit_many(together, DATA, steps=12, seed=seeds, learning_rate=rates, **RUN)
    for place, framework in enumerate(alone):
        expected = fit(framework, DATA, steps=12, seed=seeds[place], learning_rate=rates[place], **RUN)
        assert list(logged(histories[place])) == list(logged(expected)) and histories[place].steps == 12
        assert logged(histories[place]).index.equals(logged(expected).index)
        ours, theirs = (torch.tensor(logged(history).to_numpy()) for history in (histories[place], expected))
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-3)
        for one, other in zip(together[place].parameters(), framework.parameters(), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=5e-4)
    assert together[1].arguments == build(1).arguments


def test_one_model_and_frozen_weights():
    (ours,), (theirs,) = (vaes((2.0,)) for _ in range(2))
    for framework in (ours, theirs):
        framework.model.encoder.requires_grad_(False)
    before = ours.model.encoder[1].weight.clone()
    fit_many([ours], DATA, steps=5, **RUN)
    fit(theirs, DATA, steps=5, **RUN)
    assert torch.equal(ours.model.encoder[1].weight, before)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_weights_that_the_loss_does_not_use_stay():
    frameworks = vaes()
    for framework in frameworks:
        framework.model.spare = torch.nn.Parameter(torch.ones(2))
    fit_many(frameworks, DATA, steps=3, **RUN)
    assert all(torch.equal(framework.model.spare, torch.ones(2)) for framework in frameworks)


def test_what_stops_stops_alone():
    starts = (1e9, 7.0, 1e9)
    frameworks, expected = (
        [Diverging(mlp(place), start=start) for place, start in enumerate(starts)] for _ in range(2)
    )
    for framework in expected[1:2]:
        framework.start = 1e9
    with pytest.warns(UserWarning, match="1 of 3 models stopped: number 1: The term 'kl' is nan at step 8"):
        histories = fit_many(frameworks, DATA, steps=20, **RUN)
    fit_many(expected, DATA, steps=20, **RUN)
    assert [history.steps for history in histories] == [20, 7, 20]
    assert [bool(history.fault) for history in histories] == [False, True, False]
    assert histories[1].to_frame().index.tolist() == [1, 5] and "stopped: The term" in repr(histories[1])
    assert same_weights(frameworks[0], expected[0]) and same_weights(frameworks[2], expected[2])
    assert same_weights(frameworks[1], Diverging(mlp(1)))  # those it came with: there was no checkpoint


def test_a_checkpoint_keeps_the_last_good_weights_of_what_stopped(tmp_path):
    path = tmp_path / "many"
    build = lambda: [Diverging(mlp(place), start=start) for place, start in enumerate((1e9, 7.0))]  # noqa: E731
    whole, parts, good = build(), build(), build()
    with pytest.warns(UserWarning):
        expected = fit_many(whole, DATA, steps=20, checkpoint=tmp_path / "whole", checkpoint_every=4, **RUN)
    with pytest.warns(UserWarning):
        fit_many(parts, DATA, steps=12, checkpoint=path, checkpoint_every=4, **RUN)
    tensors, config = read_tensors(path)
    assert config["steps"] == 12 and all(tensor.isfinite().all() for tensor in tensors.values())
    resumed = build()
    with pytest.warns(UserWarning, match="number 1: The term 'kl' is nan at step 8"):
        histories = fit_many(resumed, DATA, steps=20, checkpoint=path, checkpoint_every=4, **RUN)
    fit_many(good, DATA, steps=4, **RUN)
    assert same_weights(resumed[0], whole[0]) and same_weights(resumed[1], whole[1])
    assert same_weights(resumed[1], good[1])
    assert [history.steps for history in histories] == [20, 7] == [history.steps for history in expected]
    assert logged(histories[1]).equals(logged(expected[1]))


def test_weights_that_are_not_finite_never_reach_a_framework(tmp_path):
    class Poisoned(Diverging):
        """A finite loss whose gradient is not: the square root at 0."""

        def loss(self, views, step):
            zero = next(self.parameters()).sum() * 0.0
            extra = (zero + (step.index != self.start)).sqrt()
            return BetaVAE.loss(self, views, step) | {"extra": extra}

    frameworks = [Poisoned(mlp(place), start=start) for place, start in enumerate((1e9, 5.0))]
    with pytest.warns(UserWarning, match=r"number 1: The weights 'model\..*' are not finite at step 6"):
        fit_many(frameworks, DATA, steps=6, checkpoint=tmp_path / "many", checkpoint_every=2, **RUN)
    tensors, _ = read_tensors(tmp_path / "many")
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    assert all(weight.isfinite().all() for weight in frameworks[1].parameters())


def test_when_all_stop_it_is_an_error(tmp_path):
    frameworks = [Diverging(mlp(place), start=5.0 + place) for place in range(2)]
    with pytest.raises(FloatingPointError, match="All models stopped; number 0: .* step 6.*of step 4 in .* is kept"):
        fit_many(frameworks, DATA, steps=20, checkpoint=tmp_path / "many", checkpoint_every=4, **RUN)
    assert read_tensors(tmp_path / "many")[1]["steps"] == 4


@pytest.mark.parametrize("name", ["BetaVAE", "FactorVAE", "AdaTripletVAE"])
def test_resuming_equals_not_stopping(name, tmp_path):
    run = dict(RUN, seed=[1, 2, 3], learning_rate=[1e-3, 1e-3, 1e-4])
    build = lambda: [BUILDERS[name](place) for place in range(3)]  # noqa: E731
    if name == "AdaTripletVAE":  # the schedule spans all steps, so no file of 13 goes on
        build = lambda: [AdaTripletVAE(mlp(place), shared_weight=0.5 + 0.1 * place) for place in range(3)]  # noqa: E731
    whole, parts, resumed = build(), build(), build()
    expected = fit_many(whole, DATA, steps=30, **run)
    fit_many(parts, DATA, steps=13, checkpoint=tmp_path / "many", **run)
    for framework in resumed:  # its initial weights do not matter
        for weight in framework.parameters():
            weight.data.zero_()
    histories = fit_many(resumed, DATA, steps=30, checkpoint=tmp_path / "many", **run)
    for place in range(3):
        assert same_weights(whole[place], resumed[place])
        assert logged(histories[place]).drop(index=13).equals(logged(expected[place]))
        assert histories[place].to_frame().seconds.is_monotonic_increasing


KILLED = """
import sys
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae
from course_lib.training import fit_many
data = XYSquares(2, 2, squares=2, image_size=16)
many = [BetaVAE(mlp_vae(data, 3, hidden=(16,), seed=seed), 1.0 + seed) for seed in range(3)]
run = dict(batch_size=16, seed=[0, 1, 2], checkpoint=sys.argv[1], checkpoint_every=7, device="cpu")
fit_many(many, data, steps=10**9, **run)
"""


def test_a_killed_run_resumes_to_the_same_weights(tmp_path):
    """kill -9 at a moment that nobody chose: the file is whole, and going on from it equals never stopping."""
    path = tmp_path / "many"
    process = subprocess.Popen([sys.executable, "-c", KILLED, path], env={**os.environ, "OMP_NUM_THREADS": "1"})
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.7)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = read_tensors(path)[1]["steps"]
    assert done % 7 == 0
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        resumed, whole = (vaes((1.0, 2.0, 3.0)) for _ in range(2))
        run = dict(steps=done + 10, batch_size=16, seed=[0, 1, 2], device="cpu")
        fit_many(resumed, DATA, checkpoint=path, **run)
        fit_many(whole, DATA, **run)
    finally:
        torch.set_num_threads(threads)
    assert all(same_weights(one, other) for one, other in zip(resumed, whole, strict=True))


def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path):
    path = tmp_path / "many"
    fit_many(vaes(), DATA, steps=5, checkpoint=path, **RUN)
    good = path.read_bytes()
    others = [
        (vaes((0.5, 2.0, 4.0)), {}, "its beta is 1.0, here it is 2.0"),
        (vaes((0.5, 1.0)), {}, "its learning_rate is .0.001, 0.001, 0.001., here it is .0.001, 0.001."),
        (vaes(), dict(seed=[0, 1, 2]), "its seed is .0, 0, 0., here it is .0, 1, 2."),
    ]
    for frameworks, change, words in others:
        before = [{name: value.clone() for name, value in one.state_dict().items()} for one in frameworks]
        with pytest.raises(ValueError, match=f"checkpoint: .* comes from another run: {words}"):
            fit_many(frameworks, DATA, steps=10, checkpoint=path, **{**RUN, **change})
        for one, kept in zip(frameworks, before, strict=True):
            assert all(torch.equal(value, kept[name]) for name, value in one.state_dict().items())
    assert path.read_bytes() == good
    with pytest.raises(ValueError, match="holds no framework"):
        load_framework(path)


def test_a_budget_stops_early_and_callbacks_see_each_model(tmp_path):
    def norm(framework, step):
        return {"norm": sum(weight.norm().item() for weight in framework.parameters()), "beta": framework.beta}

    frameworks = vaes()
    histories = fit_many(frameworks, DATA, steps=10**6, budget=0.5, callbacks=[norm], **RUN)
    assert 0 < histories[0].steps == histories[2].steps < 10**6
    frame = histories[2].to_frame()
    assert set(frame.beta) == {4.0} and frame.norm.is_unique
    assert frame.index[:2].tolist() == [1, 5]


def test_without_steps_nothing_happens():
    frameworks = vaes()
    histories = fit_many(frameworks, DATA, steps=0, **RUN)
    assert [history.steps for history in histories] == [0, 0, 0] and not histories[0].records
    assert all(same_weights(one, other) for one, other in zip(frameworks, vaes(), strict=True))


class Hidden(BetaVAE):
    """A loss that reads what it made of an argument, not the argument."""

    def __init__(self, model, beta):
        super().__init__(model, beta)
        self._twice = 2 * self.beta

    def loss(self, views, step):
        terms = super().loss(views, step)
        return terms | {"kl": self._twice * terms["kl"] / self.beta}


class Choosy(BetaVAE):
    def loss(self, views, step):
        return super().loss(views, step) if self.beta > 0.5 else {}


class Dependent(BetaVAE):
    """Its noise depends on what the model computes."""

    def loss(self, views, step):
        terms = super().loss(views, step)
        coin = torch.bernoulli(terms["kl"].detach().sigmoid(), generator=step.generator)
        return terms | {"kl": terms["kl"] * coin}


@pytest.mark.parametrize(
    ("frameworks", "words"),
    [
        ([], "frameworks: got .*allowed is a list of frameworks"),
        (BetaVAE(mlp()), "frameworks: got BetaVAE; allowed is a list"),
        ([mlp()], "frameworks: got VAE; allowed is a list of frameworks"),
        ([BetaVAE(conv_vae(DATA, 3))], "frameworks: .* convolutional"),
        ([BetaVAE(mlp()), BetaTCVAE(mlp())], "frameworks: number 1 is another framework"),
        ([BetaVAE(mlp()), BetaVAE(mlp(latent_dim=4))], "frameworks: number 1 .* another network"),
        ([DIPVAE(mlp(), "I"), DIPVAE(mlp(), "II")], "frameworks: their variant are .*allowed are different numbers"),
        ([TripletVAE(mlp(), margin=None), TripletVAE(mlp())], "frameworks: their margin are"),
        ([AnnealedVAE(mlp(), steps=5), AnnealedVAE(mlp(), steps=6)], "frameworks: AnnealedVAE cannot .* in a batch"),
        ([Hidden(mlp(), 1.0), Hidden(mlp(), 9.0)], "frameworks: Hidden cannot .*kl of number 1"),
        ([Choosy(mlp(), 1.0), Choosy(mlp(), 2.0)], "frameworks: Choosy cannot .* in a batch"),
        ([Dependent(mlp()), Dependent(mlp())], "frameworks: Dependent cannot .*depend on values"),
    ],
)
def test_what_cannot_be_batched_is_refused(frameworks, words):
    with pytest.raises(ValueError, match=words):
        fit_many(frameworks, DATA, steps=5, **RUN)


def test_models_are_not_shared():
    model = mlp()
    with pytest.raises(ValueError, match="frameworks: some share a model"):
        fit_many([BetaVAE(model), BetaVAE(model, 2.0)], DATA, steps=5, **RUN)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(steps=-1), "steps: got -1"),
        (dict(seed=[0, 1]), "seed: got 2 values for 3 frameworks"),
        (dict(seed=[0, 1, -1]), "seed: got -1"),
        (dict(learning_rate=[1e-3, 1e-3]), "learning_rate: got 2 values"),
        (dict(learning_rate=[1e-3, 0.0, 1e-3]), "learning_rate: got 0.0"),
        (dict(capture=True), "capture: got True, but the device 'cpu'"),
        (dict(device="abacus"), "device: got 'abacus'"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(change, words):
    with pytest.raises(ValueError, match=words):
        fit_many(vaes(), DATA, **{**RUN, "steps": 1, **change})


def test_a_graph_takes_the_steps(monkeypatch):
    """Without a GPU: what stands in for CUDA's graph gets all generators, and replays the step."""
    taken = []

    class Recorded:
        def __init__(self, step, *generators):
            self.step = step
            taken.append(len(generators))

        def __call__(self):
            taken.append("step")
            return self.step()

    monkeypatch.setattr(MODULE, "CapturedStep", Recorded)
    monkeypatch.setattr(MODULE, "should_capture", lambda *_: True)
    captured = fit_many(vaes(), DATA, steps=4, **RUN)
    monkeypatch.undo()
    plain = fit_many(vaes(), DATA, steps=4, **RUN)
    assert taken == [3] + ["step"] * 4
    assert all(logged(one).equals(logged(other)) for one, other in zip(captured, plain, strict=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", ["BetaVAE", "FactorVAE", "AdaTripletVAE"])
def test_the_graph_gives_the_losses_of_the_plain_step(name):
    frames = []
    for captured in (False, True):
        frameworks = [BUILDERS[name](place) for place in range(3)]
        run = dict(steps=20 + capture.WARM_UP, batch_size=32, log_every=1, device="cuda", seed=[0, 1, 2])
        frames.append([logged(history) for history in fit_many(frameworks, DATA, capture=captured, **run)])
    for plain, replayed in zip(*frames, strict=True):
        torch.testing.assert_close(*(torch.tensor(one.to_numpy()) for one in (plain, replayed)), rtol=1e-3, atol=1e-3)


def test_nothing_looks_at_a_value_in_a_turn(monkeypatch):
    """As a graph needs it: losses, backward passes and Adam read no number off a tensor."""

    def watch(*_):
        raise AssertionError("a value was read")

    turn = MODULE.ManyTrainer._turn

    def watched(self, *arguments):
        with pytest.MonkeyPatch.context() as patch:
            for name in ("item", "tolist", "__bool__", "__float__", "__int__"):
                patch.setattr(torch.Tensor, name, watch)
            return turn(self, *arguments)

    monkeypatch.setattr(MODULE.ManyTrainer, "_turn", watched)
    fit_many([BUILDERS["FactorVAE"](place) for place in range(2)], DATA, steps=3, **RUN)
