"""Draw the picture in the README, book/static/factors.png: python tools/readme_picture.py"""

import matplotlib
import torch

import notebook_io
from course_lib import viz
from course_lib.data import DSprites, Shapes3D

COLUMNS = 8


def main():
    matplotlib.use("Agg")
    viz.use_style()
    sprites, rooms = DSprites(), Shapes3D()
    heart = sprites.space.index([2, 4, 3, 15, 15])
    cylinder, capsule, cube = (rooms.space.index([4, 6, 0, 5, shape, 7]) for shape in (1, 3, 0))
    rows, labels = [], []
    for data, factor, start in (
        (sprites, "scale", heart),
        (sprites, "orientation", heart),
        (sprites, "position_x", heart),
        (rooms, "wall_hue", cylinder),
        (rooms, "object_hue", capsule),
        (rooms, "orientation", cube),
    ):
        points = data.space.traversal(factor, start)
        rows.append(data.images(points[torch.linspace(0, len(points) - 1, COLUMNS).round().long()]))
        labels.append(factor.replace("_", " "))
    figure = viz.image_rows(rows, labels, size=0.7)
    figure.savefig(notebook_io.ROOT / "book" / "static" / "factors.png", dpi=90)


if __name__ == "__main__":
    main()
