"""3D Shapes for one core: thinned out to 14,000 images, and averaged down from 64×64 to 16×16 pixels."""

from course_lib.data import Shapes3D
from course_lib.factors import FactorSpace
from course_replication.measurements.in_memory import InMemory, thinned

KEPT = (*[range(0, 10, 2)] * 3, (0, 2, 5, 7), range(4), range(1, 15, 2))


class SmallShapes(InMemory):
    """Every second hue and angle of 3D Shapes, half of its scales, all of its shapes."""

    space = FactorSpace(Shapes3D.space.names, [len(values) for values in KEPT])
    source = "3D Shapes, thinned out and averaged down"
    licence, citation = Shapes3D.licence, Shapes3D.citation

    def __init__(self):
        super().__init__(thinned(Shapes3D(), KEPT))
