"""Pictures that move: what the HTML holds, and that a reader without scripts or eyes is served too."""

import base64
import io
import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from PIL import Image

from course_lib import viz
from course_lib.data import XYSquares

DATA = XYSquares(2, 2, squares=2, image_size=16)
SAID = dict(name="place", alt="A square moves.")


def parts(view):
    figure = BeautifulSoup(view.html, "html.parser").figure
    return figure, figure.img, figure.input


def sheet(view):
    """The stack of pictures in the HTML, uint8 (height, width, 3)."""
    source = parts(view)[1]["src"]
    content = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    return Image.open(io.BytesIO(content))


def rows():
    return torch.stack([DATA.images(DATA.space.traversal(factor, 77)) for factor in range(4)])  # (4, 8, 3, 16, 16)


def test_the_stack_holds_every_picture_in_order():
    view = viz.frames(rows(), range(8), rows=DATA.space.names, **SAID)
    stacked = np.asarray(sheet(view).convert("RGB")).reshape(4, 8, 16, 16, 3)
    np.testing.assert_array_equal(stacked, (viz.to_rgb(rows()) * 255).round())
    np.testing.assert_array_equal(stacked, view.pictures)


def test_the_starting_picture_is_in_place_and_its_label_is_said():
    view = viz.frames(DATA.images(range(5)), ["a", "b", "c", "<d>", "e"], start=3, **SAID)
    figure, image, slider = parts(view)
    assert (slider["min"], slider["max"], slider["value"]) == ("0", "4", "3")
    assert figure.output.text == slider["aria-valuetext"] == "<d>" and "<d>" not in view.html
    assert "object-position:0 75.0%" in image["style"] and "image-rendering:pixelated" in image["style"]
    assert slider.find_parent("label").text.strip() == "place" and image["alt"] == "A square moves."
    assert json.loads(figure["data-labels"]) == ["a", "b", "c", "<d>", "e"]
    assert figure.find("select") is None
    assert parts(viz.frames(DATA.images(range(5)), range(5), **SAID))[2]["value"] == "2"


def test_a_menu_chooses_the_row():
    figure, *_ = parts(viz.frames(rows(), range(8), rows=DATA.space.names, row_name="factor", **SAID))
    assert [option.text for option in figure.find("select").find_all("option")] == list(DATA.space.names)
    assert figure.find("select")["aria-label"] == "factor"


def test_the_same_pictures_give_the_same_html():
    first, second = (viz.frames(rows(), range(8), rows="abcd", **SAID) for _ in range(2))
    assert first.html == second.html == first._repr_html_()
    assert set(sheet(first).info) == set()  # no metadata: no date, no version


def test_grey_pictures_are_stored_as_such():
    grey = torch.arange(256, dtype=torch.uint8).reshape(4, 1, 8, 8)
    view = viz.frames(grey, range(4), **SAID)
    assert sheet(view).mode == "L" and view.pictures.max() == 255
    assert np.asarray(sheet(view)).ravel().tolist() == list(range(256))


def test_one_line_describes_it():
    view = viz.frames(rows(), range(8), rows="abcd", **SAID)
    assert repr(view).startswith("Frames(place: 4 × 8 pictures of 16 × 16 pixels, ") and "\n" not in repr(view)


def test_nothing_is_asked_of_the_network():
    html = viz.frames(rows(), range(8), rows="abcd", **SAID).html
    assert "http" not in html and "require" not in html and "<script" not in html


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (dict(labels=range(3)), "labels: got 3 for 8"),
        (dict(rows=["a"]), "rows: got 1 for 4"),
        (dict(rows=None), "rows: got 0 for 4"),
        (dict(start=8), "start: got 8; allowed are integers from 0 to 7"),
        (dict(start=-1), "start: got -1"),
        (dict(alt=" "), "alt: got ' '"),
        (dict(name=""), "name: got ''"),
        (dict(name=None), "name: got None; words are needed"),
        (dict(alt=5), "alt: got 5; words are needed"),
        (dict(labels=None), "labels: got 0 for 8"),
        (dict(labels=5), "labels: got 5; allowed is a list of words"),
        (dict(rows=5), "rows: got 5; allowed is a list of words"),
        (dict(row_name=None), "row_name: got None; allowed is a word"),
        (dict(pictures=None), "images: got None"),
        (dict(pictures=rows()[0, 0]), "pictures: got 3 axes"),
        (dict(pictures=rows()[:1, :1], labels=[1], rows=["a"]), "pictures: got 1 to move through"),
        (dict(pictures=torch.zeros(4, 8, 1, 600, 1)), "pictures: got 19,200 pixels in all"),
    ],
)
def test_what_is_refused(arguments, named):
    given = dict(pictures=rows(), labels=range(8), rows="abcd") | SAID | arguments
    with pytest.raises(ValueError, match=named):
        viz.frames(given.pop("pictures"), given.pop("labels"), **given)


def test_a_view_that_is_too_large_is_refused():
    noise = torch.randint(256, (20, 3, 128, 128), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    with pytest.raises(ValueError, match="pictures: the view takes 1.3 MB; allowed is 1 MB"):
        viz.frames(noise, range(20), **SAID)


@pytest.fixture
def plots():
    """A function that draws a bar of a given height, with fixed limits."""
    matplotlib.use("Agg")
    plt.close("all")

    def draw(height, width=4):
        figure, axis = plt.subplots(figsize=(width, 2), layout="constrained")
        axis.bar(["bar"], [height], color="#0072B2")
        axis.set(ylim=(0, 4))
        return figure

    return draw


def test_figures_become_frames_and_are_closed(plots):
    view = viz.figure_frames(plots, [1, 2, 4], **SAID)
    assert not plt.get_fignums()
    assert view.pictures.shape == (1, 3, 240, 480, 3)
    blue = (np.abs(view.pictures[0].astype(int) - (0, 0x72, 0xB2)).sum(-1) < 30).sum((1, 2))
    assert blue[0] > 1000 and blue[1] == pytest.approx(2 * blue[0], rel=0.05)
    assert json.loads(parts(view)[0]["data-labels"]) == ["1", "2", "4"]
    assert sheet(view).mode == "P" and "width:400px" in parts(view)[1]["style"]
    difference = np.asarray(sheet(view).convert("RGB")).astype(int) - view.pictures.reshape(-1, 480, 3)
    assert np.abs(difference).max() < 40  # fewer colours, the same picture


def test_figures_of_two_sizes_are_refused(plots):
    with pytest.raises(ValueError, match="draw: got figures of 2 sizes"):
        viz.figure_frames(lambda width: plots(1, width), [3, 4], **SAID)
