"""Faults injected while frameworks train: a message that names them, and the last good checkpoint intact.

Those here are slow, or repeat many times what tests/training/test_fit.py does once; `make stress` runs them.
"""

import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest
import torch

from course_lib.data import XYSquares
from course_lib.frameworks import ISAVAE, AdaTripletVAE, BetaTCVAE, BetaVAE, FactorVAE, InfoWGAN_GP, load_framework
from course_lib.models import conv_vae, mlp_gan, mlp_vae
from course_lib.storage import read_tensors, write_tensors
from course_lib.training import fit

pytestmark = pytest.mark.stress

DATA = XYSquares(2, 2, squares=2, image_size=16)
RUN = dict(batch_size=16, log_every=5, device="cpu")
BUILDERS = {
    "BetaVAE": lambda seed=0: BetaVAE(mlp_vae(DATA, 3, seed=seed)),
    "BetaVAE conv": lambda seed=0: BetaVAE(conv_vae(DATA, 3, seed=seed)),
    "FactorVAE": lambda seed=0: FactorVAE(mlp_vae(DATA, 3, seed=seed), hidden=(16,)),
    "BetaTCVAE": lambda seed=0: BetaTCVAE(mlp_vae(DATA, 3, seed=seed), estimator="mss"),
    "ISAVAE": lambda seed=0: ISAVAE(mlp_vae(DATA, 3, seed=seed), learnt=True),
    "InfoWGAN_GP": lambda seed=0: InfoWGAN_GP(mlp_gan(DATA, hidden=(16,), seed=seed)),
    "AdaTripletVAE": lambda seed=0: AdaTripletVAE(mlp_vae(DATA, 3, seed=seed), shared_weight=0.5),
}
every = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)

KILLED = """
import sys
from course_lib.data import XYSquares
from course_lib.frameworks import FactorVAE
from course_lib.models import mlp_vae
from course_lib.training import fit
data = XYSquares(2, 2, squares=2, image_size=16)
framework = FactorVAE(mlp_vae(data, 3), hidden=(16,))
fit(framework, data, steps=2000, batch_size=16, checkpoint=sys.argv[1], checkpoint_every=5, device="cpu")
"""


def same_weights(first, second):
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def test_killed_at_twenty_random_moments_and_never_the_worse(tmp_path):
    """kill −9 again and again on one run of two players: each file is whole, and the end is that of an unbroken run."""
    path, moments = tmp_path / "run", random.Random(0)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    done = []
    for _ in range(20):
        process = subprocess.Popen([sys.executable, "-c", KILLED, path], env=environment)
        while not path.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(moments.uniform(1.0, 4.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        tensors, config = read_tensors(path)
        assert all(tensor.isfinite().all() for tensor in tensors.values() if tensor.is_floating_point())
        assert config["steps"] % 5 == 0
        done.append(config["steps"])
    assert done == sorted(done) and done[-1] > 0
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        resumed, whole = (FactorVAE(mlp_vae(DATA, 3), hidden=(16,)) for _ in range(2))
        fit(resumed, DATA, steps=2000, batch_size=16, checkpoint=path, checkpoint_every=5, device="cpu")
        fit(whole, DATA, steps=2000, batch_size=16, device="cpu")
    finally:
        torch.set_num_threads(threads)
    assert same_weights(resumed, whole)


@every
def test_a_full_disk_at_any_checkpoint(build, tmp_path):
    """A limit on the file size stands for the full disk, at several places of the file."""
    path = tmp_path / "run"
    fit(build(), DATA, steps=5, checkpoint=path, **RUN)
    good = path.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for share in (0.0, 0.01, 0.5, 0.99):
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(len(good) * share), limit[1]))
            with pytest.raises(OSError, match="cannot write .*the file that was there is untouched"):
                fit(build(), DATA, steps=10, checkpoint=path, **RUN)
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            assert path.read_bytes() == good and os.listdir(tmp_path) == ["run"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    assert fit(build(), DATA, steps=10, checkpoint=path, **RUN).steps == 10


@every
def test_a_term_that_stops_being_finite_is_named_with_its_step(build, tmp_path):
    """Each term of each player in turn, at a step after a checkpoint."""
    names = list(fit(build(), DATA, steps=1, **RUN).to_frame().drop(columns=["loss", "seconds"]))
    for place, name in enumerate(names):
        framework, path = build(), tmp_path / f"run{place}"
        plain = framework.loss

        def loss(views, step, name=name, plain=plain):
            terms = plain(views, step)
            bad = torch.tensor(float("inf" if step.index.item() % 2 else "nan"))
            return {
                key: torch.where(step.index >= 7, bad, term) if key == name else term for key, term in terms.items()
            }

        framework.loss = loss
        with pytest.raises(FloatingPointError, match=f"'{name}' is inf at step 8.*checkpoint of step 6 in .* is kept"):
            fit(framework, DATA, steps=20, checkpoint=path, checkpoint_every=3, **RUN)
        tensors, config = read_tensors(path)
        assert config["steps"] == 6
        assert all(tensor.isfinite().all() for tensor in tensors.values() if tensor.is_floating_point())


@every
def test_every_byte_range_of_a_damaged_checkpoint_is_refused_or_harmless(build, tmp_path):
    """Truncated anywhere, or with a header overwritten: a sentence, never a crash, and nothing is trained from it."""
    path = tmp_path / "run"
    fit(build(), DATA, steps=5, checkpoint=path, **RUN)
    good = path.read_bytes()
    damages = [good[: int(len(good) * share)] for share in (0.0, 0.001, 0.1, 0.5, 0.999)]
    damages += [b"\0" * 64 + good[64:], good + b"more", os.urandom(1000), good[:8] + b"{}" + good[10:]]
    for damaged in damages:
        path.write_bytes(damaged)
        framework = build(seed=3)
        with pytest.raises(ValueError, match="path: .*damaged"):
            fit(framework, DATA, steps=10, checkpoint=path, **RUN)
        assert same_weights(framework, build(seed=3)) and path.read_bytes() == damaged


@every
def test_every_missing_or_reshaped_tensor_is_named(build, tmp_path):
    path = tmp_path / "run"
    fit(build(), DATA, steps=5, checkpoint=path, **RUN)
    tensors, config = read_tensors(path)
    for name, tensor in tensors.items():
        if name.endswith("records"):
            continue
        for changed in (None, torch.zeros(2, 2, 2), tensor.to(torch.float16)):
            others = {key: value for key, value in tensors.items() if key != name or changed is not None}
            write_tensors(path, others | ({} if changed is None else {name: changed}), config)
            framework = build(seed=3)
            with pytest.raises(ValueError, match=f"checkpoint: .*{name.split('/')[-1]}"):
                fit(framework, DATA, steps=10, checkpoint=path, **RUN)
            assert same_weights(framework, build(seed=3))


def test_other_settings_of_every_kind_are_refused_with_their_name(tmp_path):
    """Wrong framework, architecture, arguments, data, batch size, rate, seed, precision: each is named."""
    path = tmp_path / "run"
    fit(BetaVAE(mlp_vae(DATA, 3)), DATA, steps=5, checkpoint=path, **RUN)
    good = path.read_bytes()
    other = XYSquares(1, 2, squares=2, image_size=16)
    changes = [
        (FactorVAE(mlp_vae(DATA, 3)), DATA, {}, "framework is 'BetaVAE', here it is 'FactorVAE'"),
        (BetaVAE(conv_vae(DATA, 3)), DATA, {}, "architecture is 'mlp', here it is 'conv'|hidden is"),
        (BetaVAE(mlp_vae(DATA, 3, hidden=(8,))), DATA, {}, r"hidden is \[256, 256\], here it is \[8\]"),
        (BetaVAE(mlp_vae(DATA, 3), reconstruction="bce"), DATA, {}, "reconstruction is 'mse', here it is 'bce'"),
        (BetaVAE(mlp_vae(DATA, 3), reduction="mean"), DATA, {}, "reduction is 'sum', here it is 'mean'"),
        (BetaVAE(mlp_vae(other, 3)), other, {}, "data is "),
        (BetaVAE(mlp_vae(DATA, 3)), DATA, dict(batch_size=32), "batch_size is 16, here it is 32"),
        (BetaVAE(mlp_vae(DATA, 3)), DATA, dict(learning_rate=0.1), "learning_rate is 0.001, here it is 0.1"),
        (BetaVAE(mlp_vae(DATA, 3)), DATA, dict(seed=5), "seed is 0, here it is 5"),
        (BetaVAE(mlp_vae(DATA, 3)), DATA, dict(precision="bfloat16"), "precision is 'float32'"),
    ]
    for framework, data, change, words in changes:
        with pytest.raises(ValueError, match=f"comes from another run: its ({words})"):
            fit(framework, data, steps=10, checkpoint=path, **{**RUN, **change})
    assert path.read_bytes() == good


def test_callbacks_data_and_signals_that_fail_leave_the_checkpoint(tmp_path):
    """Whatever raises, it arrives as it is, and the file is that of the last interval."""

    class Failing(XYSquares):
        asked = 0

        def render(self, index):
            self.asked += 1
            if self.asked == 9:
                raise OSError("the images are gone")
            return super().render(index)

    def callback(framework, step):
        if step == 5:
            raise RuntimeError("a bug in the callback")

    failing = Failing(2, 2, squares=2, image_size=16)
    cases = [
        (dict(callbacks=[callback]), DATA, RuntimeError, "a bug in the callback", 3),
        ({}, failing, OSError, "the images are gone", 6),
    ]
    for place, (options, data, error, words, kept) in enumerate(cases):
        path = tmp_path / f"run{place}"
        with pytest.raises(error, match=words):
            fit(BetaVAE(mlp_vae(DATA, 3)), data, steps=20, checkpoint=path, checkpoint_every=3, **RUN, **options)
        assert read_tensors(path)[1]["steps"] == kept
        assert load_framework(path).beta == 1.0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_checkpoint_does_not_change_its_device(tmp_path):
    """The generators of CPU and CUDA differ, so a run cannot go on elsewhere as if nothing had happened."""
    path = tmp_path / "run"
    fit(BetaVAE(mlp_vae(DATA, 3)), DATA, steps=5, checkpoint=path, batch_size=16, device="cpu", precision="float32")
    with pytest.raises(ValueError, match="another kind of device"):
        run = dict(checkpoint=path, batch_size=16, device="cuda", precision="float32")
        fit(BetaVAE(mlp_vae(DATA, 3)), DATA, steps=10, **run)
