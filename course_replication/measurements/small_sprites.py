"""dSprites for one core: thinned out to 9,216 images, and averaged down from 64×64 to 16×16 pixels."""

from course_lib.data import DSprites
from course_lib.factors import FactorSpace
from course_replication.measurements.in_memory import InMemory, thinned

# Of 40 angles the last shows the same images as the first.
KEPT = (range(3), range(6), range(0, 39, 5), range(0, 32, 4), range(0, 32, 4))


class SmallSprites(InMemory):
    """All shapes and scales of dSprites, every fifth angle, every fourth column and row, in grey."""

    space = FactorSpace(DSprites.space.names, [len(values) for values in KEPT])
    source = "dSprites, thinned out and averaged down"
    licence, citation = DSprites.licence, DSprites.citation

    def __init__(self):
        super().__init__(thinned(DSprites(), KEPT))
