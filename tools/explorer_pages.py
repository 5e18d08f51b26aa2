"""A Sphinx extension that gives a page the scripts of the explorers that stand in it, and other pages none."""

import re

from sphinx.util import logging

import notebook_io

FOLDER = notebook_io.ROOT / "book" / "static" / "explore"
SHARED = ("toolkit", "maths")  # what each explorer needs, in this order
NETWORK = "network"
NEEDS = {  # what an explorer needs besides, before it: the networks' runtime, models, another explorer's functions
    "dials": (NETWORK,),
    "map": (NETWORK, "weights/vae", "weights/autoencoder"),
    "rotate": (NETWORK, "weights/square", "map"),
    "train": (NETWORK, "map"),
    "score": ("score_files", "score_distances", "score_numbers"),
}
NEEDS["capacity"] = (NETWORK, *(f"weights/capacity-{beta}-{seed}" for beta in (1, 4, 16, 48) for seed in (0, 1, 2)))
LATER = {  # what an explorer asks for itself when a reader comes near
    "dials": ("weights/rooms", "weights/shapes3d-entangled", "weights/shapes3d-disentangled"),
}
PLACE = re.compile(r'<div class="explorer" data-explorer="([^"]*)">')


def scripts(names: list[str]) -> list[str]:
    """The scripts that a page with these explorers loads, each once, in their order."""
    needed = [script for name in names for script in (*NEEDS.get(name, ()), name)]
    return [*SHARED, *dict.fromkeys(needed)] if names else []


def add_scripts(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    names = PLACE.findall(context.get("body", ""))
    for name in scripts(names):
        if not (FOLDER / f"{name}.js").exists():
            logging.getLogger(__name__).warning("%s: there is no explorer %r", pagename, name)
        app.add_js_file(f"../explore/{name}.js", loading_method="defer")  # in a file beside _static
    if names:
        app.add_css_file("../explore/explore.css")


def setup(app) -> dict:
    app.connect("html-page-context", add_scripts, priority=400)  # before no_thebe, which makes a list of its own
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
