"""The loop: it lowers the loss, depends on its seed alone, resumes to the bit, and fails without losing anything."""

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from torch.optim import Adam

from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE, Step, load_framework
from course_lib.models import conv_vae, mlp_vae
from course_lib.storage import read_tensors, write_tensors
from course_lib.training import fit

DATA = XYSquares(2, 2, squares=2, image_size=16)
RUN = dict(batch_size=16, log_every=5, device="cpu")


def vae(build=mlp_vae, beta=1.0, **options):
    return BetaVAE(build(DATA, 3, **options), beta)


def same_weights(first, second):
    return all(
        torch.equal(a, b) for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    )


def test_equals_a_plain_loop():
    """The same batches, noise and Adam, written out once more."""
    framework, plain = vae(), vae()
    history = fit(framework, DATA, steps=12, **RUN)
    generator, optimiser = torch.Generator().manual_seed(0), Adam(plain.parameters(), lr=1e-3)
    for index in range(12):
        batch = torch.randint(len(DATA), (16,), generator=generator)
        terms = plain.loss(DATA.observations(batch).unsqueeze(0), Step(torch.tensor(index), 12, generator))
        optimiser.zero_grad()
        sum(terms.values()).backward()
        optimiser.step()
    for ours, theirs in zip(framework.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    frame = history.to_frame()
    assert frame.index.tolist() == [1, 5, 10, 12] and list(frame) == ["loss", "reconstruction", "kl", "seconds"]
    assert frame.loss.iloc[-1] == pytest.approx(sum(terms.values()).item(), rel=1e-4)


def test_training_learns():
    framework = vae()
    frame = fit(framework, DATA, steps=600, batch_size=64, device="cpu").to_frame()
    blank = (
        (DATA.observations(torch.arange(200)) ** 2).flatten(1).sum(1).mean().item()
    )  # what an untrained decoder costs
    assert frame.loss.iloc[0] == pytest.approx(blank, rel=0.05)
    assert frame.loss.iloc[-1] < 0.8 * blank


def test_depends_on_the_seed_alone():
    weights = []
    for global_seed, seed in ((0, 1), (1, 1), (1, 2)):
        torch.manual_seed(global_seed)
        framework = vae()
        fit(framework, DATA, steps=5, seed=seed, **RUN)
        weights.append(framework)
    assert same_weights(*weights[:2]) and not same_weights(*weights[1:])


@pytest.mark.parametrize(("build", "precision"), [(mlp_vae, "float32"), (conv_vae, "float32"), (conv_vae, "bfloat16")])
def test_resuming_equals_not_stopping(build, precision, tmp_path):
    path, whole, parts = tmp_path / "run.safetensors", vae(build), vae(build)
    expected = fit(whole, DATA, steps=30, precision=precision, **RUN)
    fit(parts, DATA, steps=13, precision=precision, checkpoint=path, **RUN)
    resumed = vae(build, seed=9)  # its initial weights do not matter
    history = fit(resumed, DATA, steps=30, precision=precision, checkpoint=path, **RUN)
    assert same_weights(whole, resumed)
    logged = [history.to_frame().drop(columns="seconds").drop(index=13), expected.to_frame().drop(columns="seconds")]
    assert logged[0].equals(logged[1])
    assert history.to_frame().seconds.is_monotonic_increasing
    assert same_weights(load_framework(path), whole)


def test_a_finished_run_is_not_trained_again(tmp_path):
    path, framework = tmp_path / "run.safetensors", vae()
    fit(framework, DATA, steps=10, checkpoint=path, **RUN)
    again = vae(seed=1)
    assert fit(again, DATA, steps=10, checkpoint=path, **RUN).steps == 10
    assert same_weights(framework, again)


KILLED = """
import sys
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae
from course_lib.training import fit
data = XYSquares(2, 2, squares=2, image_size=16)
vae = BetaVAE(mlp_vae(data, 3), 1.0)
fit(vae, data, steps=10**9, batch_size=16, checkpoint=sys.argv[1], checkpoint_every=7, device="cpu")
"""


@pytest.mark.parametrize("patience", [0.1, 0.6])
def test_a_killed_run_resumes_to_the_same_weights(patience, tmp_path):
    """kill -9 at a moment that nobody chose: the checkpoint is whole, and going on from it equals never stopping."""
    path = tmp_path / "run.safetensors"
    process = subprocess.Popen([sys.executable, "-c", KILLED, path], env={**os.environ, "OMP_NUM_THREADS": "1"})
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(patience)
    process.send_signal(signal.SIGKILL)
    process.wait()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        resumed, whole = vae(seed=5), vae()
        done = fit(vae(), DATA, steps=10**9, batch_size=16, checkpoint=path, budget=0, device="cpu").steps
        assert done % 7 == 0
        fit(resumed, DATA, steps=done + 10, batch_size=16, checkpoint=path, device="cpu")
        fit(whole, DATA, steps=done + 10, batch_size=16, device="cpu")
    finally:
        torch.set_num_threads(threads)
    assert same_weights(whole, resumed)


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path):
    """A limit on the file size stands for the full disk: the write fails half way, with the same kind of error."""
    path, framework = tmp_path / "run.safetensors", vae()
    fit(framework, DATA, steps=5, checkpoint=path, **RUN)
    good = path.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(good) // 2, limit[1]))
    try:
        with pytest.raises(OSError, match="cannot write .*run.safetensors.*the file that was there is untouched"):
            fit(framework, DATA, steps=10, checkpoint=path, **RUN)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_bytes() == good and os.listdir(tmp_path) == ["run.safetensors"]
    assert fit(vae(), DATA, steps=10, checkpoint=path, **RUN).steps == 10


def test_an_unwritable_checkpoint_is_found_before_training(tmp_path):
    (tmp_path / "file").touch()
    for folder in ("file", "absent"):
        framework = vae()
        with pytest.raises(OSError, match="cannot write"):
            fit(framework, DATA, steps=5, checkpoint=tmp_path / folder / "run.safetensors", **RUN)
        assert same_weights(framework, vae())


def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(vae(), DATA, steps=5, checkpoint=path, **RUN)
    good = path.read_bytes()
    others = [
        (vae(beta=4.0), {}, "beta is 1.0, here it is 4.0"),
        (BetaVAE(mlp_vae(DATA, 4)), {}, "latent_dim is 3, here it is 4"),
        (vae(), dict(seed=1), "seed is 0, here it is 1"),
        (vae(), dict(batch_size=8), "batch_size is 16, here it is 8"),
        (vae(), dict(learning_rate=1e-4), "learning_rate is 0.001, here it is 0.0001"),
        (vae(), dict(precision="bfloat16"), "precision is 'float32', here it is 'bfloat16'"),
    ]
    for framework, change, words in others:
        before = {name: value.clone() for name, value in framework.state_dict().items()}
        with pytest.raises(ValueError, match=f"checkpoint: .* comes from another run: its {words}"):
            fit(framework, DATA, steps=10, checkpoint=path, **{**RUN, **change})
        assert all(torch.equal(value, before[name]) for name, value in framework.state_dict().items())
    other_data = XYSquares(1, 2, squares=2, image_size=16)
    with pytest.raises(ValueError, match=r"its data is 'XYSquares\(spacing=2.* here it is 'XYSquares\(spacing=1"):
        fit(vae(), other_data, steps=10, checkpoint=path, **RUN)
    assert path.read_bytes() == good


def test_damaged_checkpoints_are_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(vae(), DATA, steps=5, checkpoint=path, **RUN)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="path: .* damaged"):
        fit(vae(), DATA, steps=10, checkpoint=path, **RUN)
    vae().save(path)  # weights alone are no checkpoint
    with pytest.raises(ValueError, match="checkpoint: "):
        fit(vae(), DATA, steps=10, checkpoint=path, **RUN)


def test_a_non_finite_term_stops_training_with_its_name(tmp_path):
    class Diverging(BetaVAE):
        def loss(self, views, step):
            terms = super().loss(views, step)
            return terms | {"kl": torch.where(step.index >= 8, torch.nan, terms["kl"])}

    path = tmp_path / "run.safetensors"
    with pytest.raises(FloatingPointError, match="'kl' is nan at step 9.*checkpoint of step 8 in .* is kept"):
        fit(Diverging(mlp_vae(DATA, 3)), DATA, steps=20, checkpoint=path, checkpoint_every=4, **RUN)
    tensors, config = read_tensors(path)
    assert config["steps"] == 8 and all(tensor.isfinite().all() for tensor in tensors.values())


def test_weights_that_are_not_finite_are_never_stored(tmp_path):
    class Poisoned(BetaVAE):
        """A finite loss whose gradient is not: the square root at 0."""

        def loss(self, views, step):
            zero = next(self.parameters()).sum() * 0.0
            return super().loss(views, step) | {"extra": zero.square().sqrt() if step.index == 5 else zero}

    path = tmp_path / "run.safetensors"
    for steps in (12, 6):  # found before the next checkpoint, and at the very end
        with pytest.raises(
            FloatingPointError, match="The (weights|term) .* step [67].*checkpoint of step 4 in .* is kept"
        ):
            fit(Poisoned(mlp_vae(DATA, 3)), DATA, steps=steps, checkpoint=path, checkpoint_every=4, **RUN)
        tensors, config = read_tensors(path)
        assert config["steps"] == 4 and all(tensor.isfinite().all() for tensor in tensors.values())
        path.unlink()


def test_a_surrounding_autocast_changes_nothing():
    inside, outside = vae(conv_vae), vae(conv_vae)
    with torch.autocast("cpu", torch.bfloat16):
        fit(inside, DATA, steps=4, precision="float32", **RUN)
    fit(outside, DATA, steps=4, precision="float32", **RUN)
    assert same_weights(inside, outside)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_networks_run_in_the_precision_asked_for(precision):
    seen = set()
    framework = vae(conv_vae)
    framework.model.encoder[0].register_forward_hook(lambda layer, inputs, output: seen.add(output.dtype))
    fit(framework, DATA, steps=2, precision=precision, **RUN)
    assert seen == {getattr(torch, precision)}
    assert all(weight.dtype == torch.float32 for weight in framework.parameters())


def test_players_change_their_own_weights_and_know_the_step():
    class Rivals(BetaVAE):
        players = ("model", "rival")
        seen = []

        def loss(self, views, step):
            self.seen.append((step.player, step.index.item(), step.total))
            code = self.model.encode(views[0]).mean.sum()
            return {step.player: code * self.rival.weight.sum() * (1.0 if step.player == "rival" else 0.0)}

    framework = Rivals(mlp_vae(DATA, 3))
    framework.rival = torch.nn.Linear(1, 1, bias=False)
    model = [weight.clone() for weight in framework.model.parameters()]
    rival = framework.rival.weight.clone()
    history = fit(framework, DATA, steps=2, **RUN)
    assert all(torch.equal(old, new) for old, new in zip(model, framework.model.parameters(), strict=True))
    assert not torch.equal(rival, framework.rival.weight)
    assert framework.seen == [("model", 0, 2), ("rival", 0, 2), ("model", 1, 2), ("rival", 1, 2)]
    assert list(history.to_frame()) == ["loss", "model", "rival", "seconds"]


def test_frozen_weights_stay_and_gradients_are_on():
    framework = vae()
    framework.model.encoder.requires_grad_(False)
    before = [weight.clone() for weight in framework.model.encoder.parameters()]
    with torch.no_grad():
        fit(framework, DATA, steps=2, **RUN)
    assert all(torch.equal(old, new) for old, new in zip(before, framework.model.encoder.parameters(), strict=True))
    assert not same_weights(framework.model.decoder, vae().model.decoder)


def test_a_checkpoint_follows_links_and_not_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere/real")
    moves = [lambda framework, step: os.chdir(tmp_path / "elsewhere")]
    assert fit(vae(), DATA, steps=4, checkpoint="link", callbacks=moves, **RUN).steps == 4
    assert (tmp_path / "link").is_symlink() and os.listdir(tmp_path / "elsewhere") == ["real"]
    assert load_framework(tmp_path / "link").beta == 1.0


def test_two_writers_on_one_path_leave_a_whole_file(tmp_path):
    """Both write as fast as they can; whoever reads finds the one file or the other, whole."""
    code = "import sys, torch; from course_lib.storage import write_tensors; value = int(sys.argv[2])\n"
    code += "for _ in range(60): write_tensors(sys.argv[1], {'a': torch.full((value * 100_000,), value)}, {'b': value})"
    path = tmp_path / "shared"
    writers = [subprocess.Popen([sys.executable, "-c", code, path, str(value)]) for value in (1, 3)]
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            tensors, config = read_tensors(path)
            assert len(tensors["a"]) == 100_000 * config["b"] and (tensors["a"] == config["b"]).all()
    assert [writer.returncode for writer in writers] == [0, 0] and os.listdir(tmp_path) == ["shared"]


RECORDS = ("{}", '""', "null", "[[1]]", "[" * 100_000)  # JSON, and no list of records


def as_bytes(text):
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


def test_a_refused_checkpoint_leaves_the_framework_as_it_was(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(vae(), DATA, steps=10, checkpoint=path, **RUN)
    tensors, config = read_tensors(path)
    moment = next(name for name in tensors if name.endswith("exp_avg"))
    damages = [
        (5, tensors, config, "already holds 10"),
        (20, tensors | {moment: tensors[moment].flatten()[:1]}, config, f"{moment} is torch.float32 .1,."),
        (20, tensors | {moment: tensors[moment].int()}, config, f"{moment} is torch.int32"),
        (20, {name: tensor for name, tensor in tensors.items() if name != moment}, config, f"{moment} is missing"),
        (20, tensors | {"training/generator": torch.zeros(16, dtype=torch.uint8)}, config, "generator is torch.uint8"),
        (20, tensors, {name: value for name, value in config.items() if name != "steps"}, "lacks its history"),
        (20, tensors | {moment: tensors[moment] * torch.nan}, config, f"{moment} has NaN or infinite numbers"),
        *((20, tensors | {"training/records": as_bytes(text)}, config, "lacks its history") for text in RECORDS),
    ]
    for steps, damaged, settings, words in damages:
        write_tensors(path, damaged, settings)
        framework = vae(seed=4)
        with pytest.raises(ValueError, match=words):
            fit(framework, DATA, steps=steps, checkpoint=path, **RUN)
        assert same_weights(framework, vae(seed=4))


def test_a_budget_stops_early_and_cleanly(tmp_path):
    path = tmp_path / "run.safetensors"
    started = time.monotonic()
    history = fit(vae(), DATA, steps=10**6, budget=0.5, checkpoint=path, **RUN)
    assert 0 < history.steps < 10**6 and time.monotonic() - started < 20
    assert fit(vae(), DATA, steps=history.steps, checkpoint=path, **RUN).steps == history.steps


def test_callbacks_add_to_the_history():
    def weight_norm(framework, step):
        return {"norm": sum(weight.norm().item() for weight in framework.parameters()), "seen": step}

    frame = fit(vae(), DATA, steps=10, callbacks=[weight_norm], **RUN).to_frame()
    assert frame.seen.tolist() == [1, 5, 10] and frame.norm.is_unique


def test_callbacks_may_return_any_kind_of_number_and_nothing_else(tmp_path):
    numbers = {"a": np.float32(1.5), "b": np.int64(2), "c": torch.tensor(3.0), "d": True}
    path = tmp_path / "run.safetensors"
    history = fit(vae(), DATA, steps=5, callbacks=[lambda *_: numbers, lambda *_: None], checkpoint=path, **RUN)
    assert history.to_frame().loc[5, list("abcd")].tolist() == [1.5, 2, 3, 1]
    for wrong in (3, {"e": "text"}, {"loss": 1.0}, {"e": None}):
        with pytest.raises(ValueError, match="callbacks: one returned"):
            fit(vae(), DATA, steps=5, callbacks=[lambda *_, wrong=wrong: wrong], **RUN)


def test_the_progress_bar_is_quiet_when_asked():
    code = KILLED.replace("steps=10**9", "steps=3").replace("checkpoint=sys.argv[1], checkpoint_every=7, ", "")
    for disable, noisy in (("", True), ("1", False)):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TQDM_DISABLE": disable},
            capture_output=True,
            check=True,
            text=True,
        )
        assert run.stdout == "" and bool(run.stderr) == noisy


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(steps=-1), "steps: got -1"),
        (dict(steps=1.5), "steps: got 1.5"),
        (dict(batch_size=0), "batch_size: got 0"),
        (dict(log_every=0), "log_every: got 0"),
        (dict(checkpoint_every=0), "checkpoint_every: got 0"),
        (dict(learning_rate=0.0), "learning_rate: got 0.0"),
        (dict(learning_rate=float("nan")), "learning_rate: got nan"),
        (dict(learning_rate="1e-3"), "learning_rate: got '1e-3'"),
        (dict(budget="3"), "budget: got '3'"),
        (dict(budget=-1.0), "budget: got -1.0"),
        (dict(seed=-1), "seed: got -1"),
        (dict(seed=None), "seed: got None"),
        (dict(device="abacus"), "device: got 'abacus'"),
        (dict(device=1.5), "device: got 1.5"),
        (dict(precision="float16"), "precision: got 'float16'; allowed are 'auto', 'float32', 'bfloat16'"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(change, words):
    with pytest.raises(ValueError, match=words):
        fit(vae(), DATA, **{**RUN, "steps": 1, **change})


def test_data_must_fit_the_model():
    with pytest.raises(ValueError, match=r"data: its images are \(3, 64, 64\), the model was built for \(2, 16, 16\)"):
        fit(vae(), XYSquares(), steps=1, **RUN)
    with pytest.raises(ValueError, match="data: its pixel mean is .*, the model was built for data with"):
        fit(vae(), XYSquares(2, 1, squares=2, image_size=16), steps=1, **RUN)


def test_a_checkpoint_beyond_the_steps_is_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    fit(vae(), DATA, steps=10, checkpoint=path, **RUN)
    with pytest.raises(ValueError, match="steps: got 5; the checkpoint .* already holds 10"):
        fit(vae(), DATA, steps=5, checkpoint=path, **RUN)


def test_no_gradients_are_left_behind():
    framework = vae()
    fit(framework, DATA, steps=2, **RUN)
    assert all(weight.grad is None for weight in framework.parameters())


def test_what_cannot_be_trained_is_said():
    with pytest.raises(ValueError, match="framework: got VAE; allowed is a framework"):
        fit(mlp_vae(DATA, 3), DATA, steps=1, **RUN)
    with pytest.raises(ValueError, match="callbacks: got .*; allowed is a list of functions"):
        fit(vae(), DATA, steps=1, callbacks=print, **RUN)
    framework = vae()
    framework.requires_grad_(False)
    with pytest.raises(ValueError, match="all weights of its player 'model' are frozen"):
        fit(framework, DATA, steps=1, **RUN)
    with pytest.raises(ValueError, match="device: got 'meta', which is not available here"):
        fit(vae(), DATA, steps=1, **{**RUN, "device": "meta"})


def test_no_steps_give_an_empty_history():
    frame = fit(vae(), DATA, steps=0, **RUN).to_frame()
    assert len(frame) == 0 and frame.index.name == "step"
