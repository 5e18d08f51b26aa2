"""Latents under the reader's hand: the right pictures before, during and without a kernel."""

import io
import sys

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from PIL import Image

from course_lib import viz
from course_lib.data import XYSquares
from course_lib.frameworks import BetaVAE
from course_lib.models import mlp_vae

DATA = XYSquares(2, 2, squares=2, image_size=16)
WIDGET = "application/vnd.jupyter.widget-view+json"


def framework(latents=3, costly=1):
    made = BetaVAE(mlp_vae(DATA, latents))
    with torch.no_grad():
        made.model.encoder[-1].bias[costly] += 10.0  # its mean: by far the largest KL
    return made


def shown(made, latents):
    return np.rint(viz.to_rgb(made.generate(latents)) * 255)


def options(view):
    return [option.text for option in BeautifulSoup(view.html, "html.parser").find_all("option")]


def test_latent_frames_move_one_latent_and_list_the_most_costly_first():
    made = framework()
    view = viz.latent_frames(made, DATA, 5, span=1.5, columns=5)
    latents = made.encode(DATA.images([5])).repeat(5, 1)
    latents[:, 1] = torch.linspace(-1.5, 1.5, 5)
    np.testing.assert_allclose(view.pictures[0], shown(made, latents), atol=1)
    assert view.pictures.shape[:2] == (3, 5)
    assert options(view)[0].startswith("z1: ") and options(view)[0].endswith(" nats")
    assert BeautifulSoup(view.html, "html.parser").output.text == "0.0"


def test_at_most_ten_latents_are_listed():
    view = viz.latent_frames(framework(12, costly=11), DATA, columns=2)
    assert len(view.pictures) == len(options(view)) == 10 and options(view)[0].startswith("z11: ")


@pytest.mark.parametrize(("arguments", "named"), [(dict(span=0), "span: got 0"), (dict(columns=1), "columns: got 1")])
def test_arguments_are_checked(arguments, named):
    with pytest.raises(ValueError, match=named):
        viz.latent_frames(framework(), DATA, **arguments)


def picture(explorer):
    return np.asarray(Image.open(io.BytesIO(explorer.picture.value)).convert("RGB"))


def test_each_slider_moves_its_latent_and_all_move_together():
    made = framework()
    explorer = viz.explore(made, DATA, 5)
    assert next(iter(explorer.sliders)) == 1
    latents = made.encode(DATA.images([5]))
    assert explorer.sliders[1].value == pytest.approx(latents[0, 1].item(), abs=0.06)
    for latent, value in ((0, -1.5), (1, 2.0), (2, 0.7)):
        explorer.sliders[latent].value = value
    np.testing.assert_allclose(picture(explorer)[::16, ::16], shown(made, [[-1.5, 2.0, 0.7]])[0], atol=1)
    assert picture(explorer).shape == (256, 256, 3)


def test_latents_without_a_slider_stay_at_the_image():
    made = framework(12)
    explorer = viz.explore(made, DATA, 5)
    assert len(explorer.sliders) == 10
    latents = made.encode(DATA.images([5]))
    for latent, slider in explorer.sliders.items():
        slider.value = latents[0, latent] = 1.0
    np.testing.assert_allclose(picture(explorer)[::16, ::16], shown(made, latents)[0], atol=1)


def test_a_front_end_takes_what_it_can_show():
    explorer = viz.explore(framework(), DATA, 5)
    bundle = explorer._repr_mimebundle_()
    assert bundle[WIDGET] == {"version_major": 2, "version_minor": 0, "model_id": explorer.widget.model_id}
    assert bundle["text/html"] == viz.latent_frames(framework(), DATA, 5).html
    assert bundle["text/plain"].startswith("Explorer(3 latents, ") and "\n" not in bundle["text/plain"]


def test_without_ipywidgets_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ModuleNotFoundError, match="^explore needs ipywidgets: .*latent_frames"):
        viz.explore(framework(), DATA)
