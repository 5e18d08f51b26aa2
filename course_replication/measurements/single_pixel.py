"""XYSquares whose neighbours overlap by one pixel: the images are ordered, and a model hardly is (Section 3.3.4).

Squares of 2 pixels cannot overlap by a single one without sharing half a side. These are squares of 3, at 8 positions
each way, in images of 24×24: at a spacing of 3 they do not touch, at 2 they overlap by one pixel, at 1 by two.
"""

from course_lib.distances import correlation_table, perceived_distance
from course_replication.measurements import part_three
from course_replication.measurements.small_grid import grid
from course_replication.parts import Part
from course_replication.runs import Context

# The largest β of half decades with which a β-VAE of seed 7 reconstructs the images at spacing 3 (`largest_beta`).
BETA = 0.01
SQUARES = {"square_size": 3, "image_size": 24}
PLACES = {8: 3, 7: 2, 1: 1}  # the spacing here for the one in the paper


def ranks(context: Context, num_pairs: int, **options) -> dict[str, float]:
    """Spearman's correlation of pixel distances with those of factors, "perceived-rank", a mean over factors.

    options : of `small_grid.grid`. num_pairs : along each factor, drawn with replacement as in Table 4.2;
        "perceived-rank-distinct" is without pairs of a point and itself.
    """
    data, found = grid(**options), {}
    for name, self_pairs in {"perceived-rank": True, "perceived-rank-distinct": False}.items():
        distance, draws = perceived_distance(data), context.generator
        table = correlation_table(distance, data.space, draws, n=num_pairs, self_pairs=self_pairs)
        found[name] = table["rank"].drop(index="random").mean()
    return found


_GRID = (
    "XYSquares of 24×24 pixels with two squares of 3 in place of 64×64 with three of 8: at spacings of 3, 2 and 1 in "
    "place of 8, 7 and 1, neighbours share none, one and two of 3 columns in place of none, one and seven of 8"
)


def _ranked(place: int) -> Part:
    settings = {"num_pairs": 5000, "spacing": PLACES[place], **SQUARES}
    return Part("single_pixel.ranks", settings, f"{{}}/spacing-{place}", part_three.SEEDS, "quick", deviations=(_GRID,))


def _trained(place: int) -> Part:
    settings = part_three.unsupervised("AdaGVAE", beta=BETA, dci=0, spacing=PLACES[place], **SQUARES)
    notes = (_GRID, part_three.NETWORK, part_three.ONE_BETA)
    return Part(
        "small_grid.training", settings, f"{{}}/ada-gvae/spacing-{place}", part_three.SEEDS, "quick", deviations=notes
    )


PLANS = {"distances/section-3.3.4": (_ranked(8), _ranked(7), _trained(7), _trained(1))}
