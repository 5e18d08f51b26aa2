"""Hidden checks of chapter 4: the same answers at the edges of what a score meets.

Used with `python -m course_lib grade … --hidden exercises/hidden`. Not part of the wheel or of what students get.
"""

import torch

from course_grading.exercise import hidden
from course_grading.registry import find

EDGES = "write scores that also hold at the edges: two factors, hardly any information, many dead latents"


def _faint(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """Two factors; many latents that know next to nothing, some of them nothing at all; ties for the best factor."""
    two = torch.rand(3, 2, generator=generator, dtype=torch.float64) + 0.1
    faint = 1e-9 * torch.rand(40, 6, generator=generator, dtype=torch.float64)
    faint[::3] = 0
    tied = torch.ones(4, 4, dtype=torch.float64).tril()
    return [[two], [faint], [tied]]


def _mostly_dead(generator: torch.Generator) -> list[list[torch.Tensor]]:
    """One living latent among thirty, far from 0; and a large code of which every other latent is dead."""
    cases = []
    for dim, living in ((30, [17]), (64, range(0, 64, 2))):
        spread = torch.zeros(dim, dtype=torch.float64)
        spread[list(living)] = 0.5 + torch.rand(len(living), generator=generator, dtype=torch.float64)
        noise = torch.randn(25, 64, dim, generator=generator, dtype=torch.float64)
        cases.append([5.0 + noise * spread, spread])
    return cases


EXERCISES = (
    hidden(find("04.1"), "04.1h", title="Modularity at the edges", objective=EDGES, points=1, cases=_faint),
    hidden(find("04.2"), "04.2h", title="A vote among the dead", objective=EDGES, points=1, cases=_mostly_dead),
)
