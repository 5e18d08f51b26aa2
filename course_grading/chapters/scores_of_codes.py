"""What chapter 4's functions are called with, what is right, and the mistakes that people make in them.

The references go entry by entry, where an answer is expected to use a tensor's operations.
"""

import torch
from torch import Tensor

from course_grading.exercise import Wrong

# 04.1 -----------------------------------------------------------------------------------------------------------------


def matrices(generator: torch.Generator) -> list[list[Tensor]]:
    """Information of latents (rows) on factors, in nats: typical, one latent, square, some rows dead, all of them."""
    shapes = ((5, 4), (1, 3), (4, 4), (3, 2))
    cases = [[torch.rand(shape, generator=generator, dtype=torch.float64) + 0.05] for shape in shapes]
    dead = torch.rand(5, 3, generator=generator, dtype=torch.float64) + 0.05
    dead[1] = dead[4] = 0
    nothing = torch.zeros(2, 3, dtype=torch.float64)
    perfect = torch.eye(4, dtype=torch.float64)[:, torch.randperm(4, generator=generator)] * 2.08
    return [*cases, [dead], [perfect], [nothing], [cases[0][0].float()]]


def modularity_of(information: Tensor) -> Tensor:
    found = []
    for row in information.tolist():
        best = max(row)
        others = sum(value**2 for value in row) - best**2
        if best > 0:
            found.append(1 - others / (best**2 * (len(row) - 1)))
    return torch.tensor(sum(found) / max(len(found), 1), dtype=information.dtype)


def _modularity(i: Tensor, *, power=2, of=None, template=None) -> Tensor:
    """Each row's score with a part replaced: the power, what stands beside the best below the fraction, the best."""
    best = i.amax(1)
    others = (i**power).sum(1) - best**power
    template = best**power if template is None else template
    found = 1 - others / (template * (i.shape[1] - 1 if of is None else of))
    return torch.where(best > 0, found, torch.zeros_like(found))


def _entropy(i: Tensor) -> Tensor:
    share = i / i.sum(1, keepdim=True)
    return 1 + torch.xlogy(share, share).sum(1) / torch.log(torch.tensor(i.shape[1], dtype=i.dtype))


def _living(rows: Tensor, i: Tensor) -> Tensor:
    """The mean over rows that are not all 0; 0 if there are none."""
    alive = i.amax(1) > 0
    return torch.where(alive, rows, 0).sum() / alive.sum().clamp(min=1)


MODULARITY_WRONG = (
    Wrong(
        lambda i: _living(_modularity(i.T), i.T),
        "the columns were read: a latent is a row, and modularity asks of each latent how many factors it carries.",
    ),
    Wrong(
        lambda i: _living(_modularity(i, power=1), i),
        "the information is not squared: it is a ratio of squares, in both parts.",
    ),
    Wrong(
        lambda i: _living(_modularity(i, of=i.shape[1]), i),
        "divided by F: a latent's best factor is not among the others, so there are F − 1 of them.",
    ),
    Wrong(
        lambda i: _living(_modularity(i, of=1), i),
        "F − 1 is missing: with three other factors as strong, it must end at 0.",
    ),
    Wrong(
        lambda i: _living(_modularity(i, template=torch.ones_like(i[:, 0])), i),
        "not divided by the square of the largest: a latent that knows little would pass for modular.",
    ),
    Wrong(
        lambda i: _living(1 - (i**2).sum(1) / (i.amax(1) ** 2 * (i.shape[1] - 1)), i),
        "the best factor is still in the sum: only the others count against a latent.",
    ),
    Wrong(
        lambda i: _living(1 - _modularity(i), i),
        "this is the deviation itself; modularity is 1 minus it.",
    ),
    Wrong(
        lambda i: (1 - ((i**2).sum(1) - i.amax(1) ** 2) / (i.amax(1) ** 2 * (i.shape[1] - 1))).mean(),
        "right wherever all latents know something. A dead latent has a row of zeros, where 0 / 0 is not a number, and "
        "takes the mean with it: leave it out.",
    ),
    Wrong(
        lambda i: _modularity(i).mean(),
        "a dead latent counts as 0: two of them would take a perfect code from 1 to ⅔. Leave them out of the mean.",
    ),
    Wrong(
        lambda i: torch.where(i.amax(1) > 0, _modularity(i), 1).mean(),
        "a dead latent counts as perfectly modular: a model would be paid for switching latents off. Leave them out.",
    ),
    Wrong(
        lambda i: _modularity(i)[i.amax(1) > 0].mean(),
        "right but for a code in which nothing is alive: the mean of no latents is not a number. It counts 0.",
    ),
    Wrong(
        lambda i: _living(1 - (i.topk(2, 1)[0][:, 1] / i.amax(1)) ** 2, i),
        "only the second largest was looked at: all other factors count.",
    ),
    Wrong(
        lambda i: (_modularity(i) * i.amax(1)).sum() / i.amax(1).sum().clamp(min=1e-30),
        "latents that know more count for more: here all living latents count alike.",
    ),
    Wrong(
        lambda i: _living(_entropy(i), i),
        "this is DCI's way to read a row, 1 minus an entropy; modularity uses squares.",
    ),
    Wrong(_modularity, "one number for each latent: the mean over those that are alive is wanted."),
)

# 04.2 -----------------------------------------------------------------------------------------------------------------

SHARED, IMAGES = 40, 8  # groups of images, and images in each


def groups(generator: torch.Generator) -> list[list[Tensor]]:
    """Latents of groups of images that share a factor, and each latent's spread over all images.

    A typical code with two dead latents and a collapsed one; all alive; one latent on a large scale; all on a small
    one.
    """
    scales = (
        (1.0, 0.0, 0.2, 0.02, 3.0, 0.0), (0.5, 1.0, 2.0), (40.0, 1.0, 0.5, 0.0, 1.1), (0.03, 0.02, 0.0, 0.025),
        (0.03, 0.0005, 0.02, 0.01), (0.0, 3.0, 0.0, 2.0),
    )  # fmt: skip
    cases = []
    for place, scale in enumerate(scales):
        spread = torch.tensor(scale, dtype=torch.float64)
        share = torch.rand(SHARED, 1, len(scale), generator=generator, dtype=torch.float64) + 0.05
        share = share * torch.linspace(1, 0.4, len(scale), dtype=torch.float64)  # of the spread over all images
        noise = torch.randn(SHARED, IMAGES, len(scale), generator=generator, dtype=torch.float64)
        latents = 0.3 + spread * share * noise
        dtype = torch.float32 if place == 1 else torch.float64
        cases.append([latents.to(dtype), spread.to(dtype)])
    return cases


def least_varying(latents: Tensor, spread: Tensor) -> Tensor:
    scale = spread.tolist()
    limit = 0.05 * min(1.0, max(scale))
    kept = [place for place, value in enumerate(scale) if value > 0 and value >= limit]
    found = []
    for group in latents.double().numpy():
        ratios = {place: float(group[:, place].var()) / scale[place] ** 2 for place in kept}
        found.append(min(ratios, key=ratios.get))
    return torch.tensor(found)


def _ratio(z: Tensor, s: Tensor, power: int = 2) -> Tensor:
    return z.var(1) / s**power


def _among(z: Tensor, s: Tensor, kept: Tensor, power: int = 2) -> Tensor:
    return torch.where(kept, _ratio(z, s, power), torch.inf).argmin(1)


def _kept(s: Tensor) -> Tensor:
    return (s > 0) & (s >= 0.05 * min(1.0, s.max().item()))


VOTE_WRONG = (
    Wrong(
        lambda z, s: _ratio(z, s).argmin(1),
        "dead latents still win the vote. Their ratio is 0 / 0, which is not a number, and argmin puts that first. A 0 "
        "in its place, or something small below the fraction, does not help: 0 is the smallest ratio there can be.",
    ),
    Wrong(
        lambda z, s: _among(z, s, s > 0),
        "dead latents are out, but a collapsed one, with a spread below the limit, still votes.",
    ),
    Wrong(
        lambda z, s: _among(z, s, (s > 0) & (s >= 0.05 * s.max())),
        "the limit is relative to the largest spread alone: one latent on a large scale throws the others out. Take "
        "the smaller of that spread and 1.",
    ),
    Wrong(
        lambda z, s: _among(z, s, s >= 0.05),
        "the limit is absolute: of a code on a small scale nothing is left to vote. Where the largest spread is below "
        "1, it takes the place of the 1.",
    ),
    Wrong(
        lambda z, s: torch.where(_kept(s), z.var(1), torch.inf).argmin(1),
        "the variances are not divided by anything: the latent on the smallest scale wins.",
    ),
    Wrong(
        lambda z, s: _among(z, s, _kept(s), power=1),
        "divided by the spread: a variance is measured against the spread squared.",
    ),
    Wrong(
        lambda z, s: torch.where(_kept(s), _ratio(z, s), -torch.inf).argmax(1),
        "this is the latent that varies most; the shared factor's varies least.",
    ),
    Wrong(
        lambda z, s: _ratio(z[:, :, _kept(s)], s[_kept(s)]).argmin(1),
        "the place was counted among the latents that are left: give the place among all of them.",
    ),
    Wrong(
        lambda z, s: torch.where(_kept(s), z.var(0) / s**2, torch.inf).argmin(1),
        "the variance was taken over the groups: the images of one group are axis 1.",
    ),
    Wrong(
        lambda z, s: torch.where(_kept(s), z.var(1) / z.reshape(-1, len(s)).var(0), torch.inf).argmin(1),
        "the spread was measured again on these groups: use the one that is given, of all images.",
    ),
)
