"""Ordinary NumPy and pandas input is taken; whatever else comes is refused by the argument's name."""

import numpy as np
import pandas
import pytest
import torch

from course_lib import metrics
from course_lib.arguments import as_tensor, check_choice, float_array, integer_tensor
from course_lib.data import DSpritesImageNet, XYSquares
from course_lib.factors import FactorSpace
from course_lib.frameworks import AdaGVAE, BetaVAE, TripletVAE
from course_lib.losses import LearntKernel
from course_lib.metrics import Encodings, evaluate
from course_lib.models import conv_vae, mlp_vae
from course_lib.sampling import batch_triplets, factor_pairs, pairs, random_pairs, singles, traversals, triplets
from course_lib.theory import Entangler, LinearGaussian, LpNested
from course_lib.training import History, fit, fit_kernel
from course_lib.viz import training_curves

DATA = XYSquares(2, 2, squares=2, image_size=16)
SPACE = DATA.space
GENERATOR = torch.Generator()
RECORD = {"step": 1, "loss": 1.0, "seconds": 0.0}
FRAME = pandas.DataFrame({"a": [0, 1, 2, 0], "b": [1, 0, 1, 0]})


def framework():
    return BetaVAE(mlp_vae(DATA, 3, hidden=(4,)))


@pytest.mark.parametrize("values", [
    np.arange(5)[::-1],
    np.arange(10, dtype=np.int32)[8::-2] // 2,
    pandas.Series([4, 3, 2, 1, 0]),
    pandas.Series([4, 3, 2, 1, 0], dtype="Int64"),
    pandas.Index([4, 3, 2, 1, 0]),
    range(4, -1, -1),
    [np.int64(4), torch.tensor(3), 2, 1, np.uint8(0)],
    np.arange(5, dtype=np.uint64)[::-1],
], ids=lambda values: type(values).__name__)  # fmt: skip
def test_integers_of_all_kinds_are_indices(values):
    assert torch.equal(DATA.images(values), DATA.images(torch.tensor([4, 3, 2, 1, 0])))


def test_a_read_only_array_is_copied():
    values = np.arange(5)
    values.setflags(write=False)
    assert integer_tensor(values, "index").tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("values", [None, "a", ["a"], [1, None], {"a": 1}, [[1], [1, 2]], object(), np.array([2**63])])
def test_what_is_no_integer_is_refused_by_name(values):
    with pytest.raises(ValueError, match="index: got .*allowed are"):
        DATA.images(values)


def test_frames_and_reversed_arrays_are_latents_and_factors():
    grid = np.stack(np.unravel_index(np.arange(2400) % 12, (3, 4)), 1)
    latents, columns = grid + 0.1 * np.random.default_rng(0).normal(size=grid.shape), ["a", "b"]
    expected = metrics.mig.from_samples(latents[:, ::-1].copy(), grid[:, ::-1].copy(), names=["b", "a"])
    frames = pandas.DataFrame(latents, columns=columns), pandas.DataFrame(grid, columns=columns)
    turned = [frame[["b", "a"]] for frame in frames]
    for given in (
        (turned[0], turned[1]),  # the names are those of the columns
        (turned[0].to_numpy(), turned[1].to_numpy(), turned[1].columns),
        (latents[:, ::-1], grid[:, ::-1], pandas.Index(["b", "a"])),
        (turned[0], turned[1].astype("Int64")),
    ):
        names = {"names": given[2]} if len(given) > 2 else {}
        assert metrics.mig.from_samples(*given[:2], **names).values == expected.values
    with pytest.raises(ValueError, match=r"names: got \(\); 2 factors need"):
        metrics.mig.from_samples(latents, grid, names=[])


@pytest.mark.parametrize("name", ["latents", "factors"])
@pytest.mark.parametrize("wrong", [None, "a", [["a", "b"]], FRAME.astype(str)])
def test_a_score_names_the_array_that_is_none(name, wrong):
    given = {"latents": FRAME.astype(float), "factors": FRAME} | {name: wrong}
    with pytest.raises(ValueError, match=f"{name}: got "):
        metrics.mig.from_samples(**given)


def test_images_and_latents_may_be_reversed_arrays():
    images, model = DATA.images([0, 1, 2]), framework()
    assert torch.equal(model.encode(images.numpy()[::-1]), model.encode(images.flip(0)))
    latents = np.eye(3)[::-1]
    assert torch.equal(model.generate(latents), model.generate(torch.eye(3).flip(0)))
    assert torch.equal(model.generate(pandas.DataFrame(latents)), model.generate(torch.eye(3).flip(0)))


def test_numbers_of_numpy_are_numbers():
    draw = lambda: torch.Generator().manual_seed(0)  # noqa: E731
    assert torch.equal(pairs(SPACE, 9, draw(), k=np.int64(1)), pairs(SPACE, 9, draw(), k=1))
    assert torch.equal(pairs(SPACE, 9, draw(), k=(np.int32(1), 2)), pairs(SPACE, 9, draw(), k=(1, 2)))
    largest = np.argmax([0, 3, 1, 2])
    assert torch.equal(traversals(SPACE, largest, np.int64(3), draw()), traversals(SPACE, 1, 3, draw()))
    assert SPACE.position(np.uint8(2)) == 2 and type(SPACE.position(np.uint8(2))) is int
    half, plain = (DSpritesImageNet("background", value) for value in (np.float32(0.5), 0.5))
    assert repr(half) == repr(plain) and repr(DSpritesImageNet("background", np.int64(1))) == repr(
        DSpritesImageNet("background", 1)
    )
    assert AdaGVAE(mlp_vae(DATA, 2), k=np.int64(1)).config == AdaGVAE(mlp_vae(DATA, 2), k=1).config
    assert FactorSpace(pandas.Index(["a", "b"]), np.array([2, 3])) == FactorSpace(("a", "b"), (2, 3))


def test_tensors_with_a_gradient_and_frames_reach_the_theory():
    z = torch.randn(5, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    map_ = Entangler.normal(2)
    expected = map_(z)
    for given in (z.requires_grad_(), pandas.DataFrame(z.detach().numpy()), z.detach().numpy()[::-1][::-1]):
        np.testing.assert_array_equal(map_(given), expected)
    weights = torch.ones(3, 2, requires_grad=True)
    assert LinearGaussian(weights, pandas.Series([1.0, 1.0, 1.0])).covariance.shape == (3, 3)
    assert LpNested((2, 2), inner=np.array([2.0, 3.0])[::-1]).inner.tolist() == [3.0, 2.0]


def test_an_array_is_copied_so_that_nothing_changes_afterwards():
    given = torch.ones(3, dtype=torch.float64)
    taken = float_array(given, "x")
    given += 1
    assert taken.tolist() == [1.0, 1.0, 1.0] and as_tensor(given, "x") is given


REFUSED = {
    "k fraction": (lambda: pairs(SPACE, 3, GENERATOR, k=1.5), "k: got 1.5; allowed are None, an integer from 0"),
    "k of one": (lambda: pairs(SPACE, 3, GENERATOR, k=(1,)), r"k: got \(1,\); allowed are None, a number, or a range"),
    "k text": (lambda: pairs(SPACE, 3, GENERATOR, k="12"), "k: got '12'"),
    "sizes": (lambda: FactorSpace(("a",), (2.7,)), r"sizes\[0\]: got 2.7; allowed are integers from 1"),
    "sizes None": (lambda: FactorSpace(("a",), None), "sizes: got None; allowed is one number of values per factor"),
    "names None": (lambda: FactorSpace(None, (2,)), "names: got None; allowed is one name per factor"),
    "names numbers": (lambda: FactorSpace((0, 1), (2, 2)), r"names\[0\]: got 0; allowed is a name"),
    "huge": (lambda: FactorSpace(("a", "b"), (2**40, 2**40)), "sizes: got .*allowed are grids of fewer than"),
    "random_pairs": (lambda: random_pairs(SPACE, -1, GENERATOR, batch_size=4), "n: got -1; allowed are"),
    "singles": (lambda: singles(SPACE, 3, 0), r"generator: got 0; allowed is a torch\.Generator"),
    "pairs": (lambda: pairs(SPACE, 3, None), "generator: got None"),
    "triplets": (lambda: triplets(SPACE, 3, 0), "generator: got 0"),
    "traversals": (lambda: traversals(SPACE, 0, 3, 0), "generator: got 0"),
    "factor_pairs": (lambda: factor_pairs(SPACE, 0, 3, 0), "generator: got 0"),
    "random_pairs seed": (lambda: random_pairs(SPACE, 3, 0, batch_size=2), "generator: got 0"),
    "batch_triplets": (lambda: batch_triplets(5, 3, 0, None), "generator: got 0"),
    "a dataset": (lambda: singles(DATA, 3, GENERATOR), "space: got XYSquares; allowed is a FactorSpace"),
    "index": (lambda: DATA.images("a"), "index: got 'a'; allowed are integers"),
    "fit": (lambda: fit(framework(), None, steps=1), "data: got None; allowed is a dataset of course_lib.data"),
    "fit_kernel": (lambda: fit_kernel(LearntKernel(1), None, steps=1), "data: got None; allowed is a dataset"),
    "mlp_vae": (lambda: mlp_vae(None), "data: got None; allowed is a dataset"),
    "conv_vae": (lambda: conv_vae(SPACE), "data: got FactorSpace.* allowed is a dataset"),
    "framework": (lambda: BetaVAE(None), "model: got None; allowed is a VAE"),
    "callbacks": (lambda: fit(framework(), DATA, steps=1, callbacks=[5]), "callbacks: got 5 among them; allowed"),
    "checkpoint": (lambda: fit(framework(), DATA, steps=1, checkpoint=5), "checkpoint: got 5; allowed is the path"),
    "scores": (lambda: evaluate(lambda images: images, DATA, [5]), "scores: got 5; allowed are beta_vae_score"),
    "float64": (lambda: fit(framework().double(), DATA, steps=1), "framework: its weights are torch.float64; allowed"),
    "encode float64": (lambda: framework().double().encode(DATA.images([0])), "framework: its weights are torch"),
    "width": (lambda: framework().generate(torch.zeros(2, 5)), r"latents: got shape \(2, 5\); expected \(B, 3\)"),
    "latents": (lambda: framework().generate(None), "latents: got None; allowed are numbers"),
    "images": (lambda: framework().encode(None), r"images: got None; allowed are images \(B, C, H, W\)"),
    "curves": (lambda: training_curves(History()), "history: got one without records"),
    "terms": (lambda: training_curves(History([RECORD], 1), terms=["kl"]), "terms: got 'kl'; allowed are 'loss'"),
    "norm": (lambda: TripletVAE(mlp_vae(DATA, 2), by=np.array(["l1", "l2"])), "by: got array"),
    "theory": (lambda: Entangler.normal(2)("a"), "z: got 'a'; allowed are numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_by_name(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call()


def test_callbacks_are_looked_at_before_the_first_step():
    model = framework()
    before = model.model.encoder[1].weight.clone()
    with pytest.raises(ValueError, match="callbacks"):
        fit(model, DATA, steps=100, callbacks=[lambda framework, step: None, "save"])
    assert torch.equal(before, model.model.encoder[1].weight)


def test_choices_may_be_compared_with_anything():
    for value in ([], {}, np.arange(3), None, torch.tensor([1, 2])):
        with pytest.raises(ValueError, match="by: got "):
            check_choice(("l1", "l2"), by=value)


def test_an_encoder_that_fails_says_where_the_images_were():
    def encode(images):
        raise RuntimeError("Expected all tensors to be on the same device")

    with pytest.raises(RuntimeError) as raised:
        Encodings(encode, DATA)([0])
    assert "encode: got images on cpu" in raised.value.__notes__[0] and "device=" in raised.value.__notes__[0]
