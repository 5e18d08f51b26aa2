"""Figures show what they say: the right images in the right cells."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from course_lib import viz
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae
from course_lib.training import History, fit

DATA = XYSquares(2, 2, squares=2, image_size=16)


@pytest.fixture(autouse=True)
def figures():
    matplotlib.use("Agg")
    yield
    plt.close("all")


def cells(figure):
    return [axis.images[0].get_array() for axis in figure.axes if axis.images]


def test_channels_become_colours():
    one, two, three = (torch.full((count, 2, 2), 255, dtype=torch.uint8) for count in (1, 2, 3))
    assert viz.to_rgb(one)[0, 0].tolist() == [1, 1, 1]
    assert viz.to_rgb(two)[0, 0].tolist() == [1, 1, 0]
    assert viz.to_rgb(three)[0, 0].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="images: got 4 channels"):
        viz.to_rgb(torch.zeros(4, 2, 2))


def test_factor_traversals_show_each_factor_in_order():
    figure = viz.factor_traversals(DATA, 77)
    shown = cells(figure)
    assert len(shown) == 4 * 8
    expected = viz.to_rgb(DATA.images(DATA.space.traversal("y_R", 77)))
    np.testing.assert_array_equal(shown[8:16], expected)


def test_reconstructions_stand_below_their_images():
    framework = BetaVAE(mlp_vae(DATA, 3))
    shown = cells(viz.reconstructions(framework, DATA, [1, 2, 3]))
    np.testing.assert_array_equal(shown[:3], viz.to_rgb(DATA.images([1, 2, 3])))
    np.testing.assert_allclose(shown[3:], viz.to_rgb(framework.reconstruct(DATA.images([1, 2, 3]))), atol=1e-6)


def test_latent_traversals_move_one_latent_and_sort_by_kl():
    framework = BetaVAE(mlp_vae(DATA, 3))
    with torch.no_grad():
        framework.model.encoder[-1].bias[1] += 10.0  # the mean of latent 1: by far the largest KL
    figure = viz.latent_traversals(framework, DATA, 5, span=2.0, columns=5)
    assert figure.axes[0].get_ylabel().startswith("$z_{1}$")
    latents = framework.encode(DATA.images([5])).repeat(5, 1)
    latents[:, 1] = torch.linspace(-2, 2, 5)
    np.testing.assert_allclose(cells(figure)[:5], viz.to_rgb(framework.generate(latents)), atol=1e-5)


def test_training_curves_have_a_panel_per_term():
    history = fit(BetaVAE(mlp_vae(DATA, 3)), DATA, steps=20, batch_size=8, log_every=5, device="cpu")
    figure = viz.training_curves(history)
    assert [axis.get_title(loc="left") or axis.get_title() for axis in figure.axes] == ["loss", "reconstruction", "kl"]
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), history.to_frame().kl)


def contrast(first, second):
    """WCAG 2 contrast ratio of two colours."""

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in matplotlib.colors.to_rgb(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_ink_is_readable_on_paper():
    assert contrast(viz.INK, viz.PAPER) > 7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: viz.training_curves(None), "history: got None; allowed is a history"),
        (lambda: viz.training_curves(History([{"step": 1, "loss": 1.0, "seconds": 0.0}], 1), terms=[]), "terms: got"),
        (lambda: viz.figure_frames(lambda value: None, [1, 2], name="a", alt="b"), "draw: got None"),
        (lambda: viz.figure_frames(lambda value: None, [], name="a", alt="b"), "values: got none"),
    ],
)
def test_what_cannot_be_shown_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()


IMAGES, HISTORY = DATA.images([0, 1]), History([{"step": 1, "loss": 1.0, "seconds": 0.0}], 1)
REFUSED = {
    "NaN": (
        lambda: viz.to_rgb(torch.full((1, 4, 4), float("nan"))),
        "images: got NaN for 16 pixels; allowed are floats",
    ),
    "NaN of half": (lambda: viz.to_rgb(torch.full((3, 2, 2), float("nan")).half()), "images: got NaN for 12 pixels"),
    "None": (lambda: viz.to_rgb(None), "images: got None"),
    "rows None": (lambda: viz.image_rows(None, ["a"]), "rows: got None; allowed is rows of images"),
    "no rows": (lambda: viz.image_rows([], []), "rows: got 0 with 0 labels"),
    "a row of no image": (
        lambda: viz.image_rows([IMAGES[:0]], ["a"]),
        r"rows\[0\]: got images of shape \(0, 2, 16, 16\)",
    ),
    "a row that is one image": (lambda: viz.image_rows([IMAGES, IMAGES[0]], "ab"), r"rows\[1\]: got images of shape"),
    "too few labels": (lambda: viz.image_rows([IMAGES, IMAGES], ["a"]), "rows: got 2 with 1 labels"),
    "labels None": (lambda: viz.image_rows([IMAGES], None), "labels: got None; allowed is a list"),
    "columns 5": (lambda: viz.image_rows([IMAGES], ["a"], columns=5), "columns: got 5; allowed is a list"),
    "size 0": (lambda: viz.image_rows([IMAGES], ["a"], size=0), "size: got 0; allowed are finite numbers above 0"),
    "factors of None": (lambda: viz.factor_traversals(None), "data: got None; allowed is a dataset"),
    "factors of no index": (lambda: viz.factor_traversals(DATA, None), "index: got None"),
    "factors in no column": (
        lambda: viz.factor_traversals(DATA, columns=0),
        "columns: got 0; allowed are integers from 1",
    ),
    "factors in None": (lambda: viz.factor_traversals(DATA, columns=None), "columns: got None"),
    "no draw": (lambda: viz.figure_frames(None, [1, 2], name="a", alt="b"), "draw: got None; allowed is a function"),
    "no values": (
        lambda: viz.figure_frames(plt.figure, None, name="a", alt="b"),
        "values: got None; allowed is a list",
    ),
    "one term": (
        lambda: viz.training_curves(HISTORY, terms="loss"),
        r"terms: got 'loss'; allowed is a list of terms, \['l",
    ),
    "terms 5": (lambda: viz.training_curves(HISTORY, terms=5), "terms: got 5; allowed is a list of terms"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_figure_names_what_it_cannot_show(name):
    call, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("figure", [viz.latent_traversals, viz.latent_frames], ids=lambda figure: figure.__name__)
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (dict(framework=None), "framework: got None; allowed is a framework"),
        (dict(data=None), "data: got None; allowed"),
        (dict(index=None), "index: got None"),
        (dict(index=1.5), "index: got"),
        (dict(index=[0]), r"index: got shape \(1,\)"),
        (dict(columns=None), "columns: got None"),
        (dict(columns=0), "columns: got 0"),
        (dict(columns=2**62), r"columns: got 4611686018427387904; allowed are integers from 1 to 1,000\."),
        (dict(columns=2.5), "columns: got 2.5"),
        (dict(span=None), "span: got None; allowed are finite numbers above 0"),
        (dict(span=float("nan")), "span: got nan"),
        (dict(span=0), "span: got 0"),
        (dict(span=1e300), "span: got 1e"),
        (dict(span="a"), "span: got 'a'"),
    ],
)
def test_a_latent_figure_names_what_it_cannot_show(figure, changed, words):
    given = dict(framework=BetaVAE(mlp_vae(DATA, 3, hidden=(4,))), data=DATA, index=0) | changed
    with pytest.raises(ValueError, match=words):
        figure(given.pop("framework"), given.pop("data"), given.pop("index"), **given)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (dict(index=[]), r"index: got \[\]; allowed are one or more"),
        (dict(index=5), "index: got 5; allowed are one or"),
        (dict(index=[[1, 2], [3, 4]]), r"index: got \[\[1, 2\], \[3, 4\]\]; allowed are one or more indices in a row"),
        (dict(index=None), "index: got None"),
        (dict(framework=None), "framework: got None"),
        (dict(data=None), "data: got N"),
    ],
)
def test_reconstructions_name_what_they_cannot_show(changed, words):
    given = dict(framework=BetaVAE(mlp_vae(DATA, 3, hidden=(4,))), data=DATA, index=[1]) | changed
    with pytest.raises(ValueError, match=words):
        viz.reconstructions(**given)
