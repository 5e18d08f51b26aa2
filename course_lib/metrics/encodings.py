"""A table of representations: what makes it possible to run many scores and encode each image once."""

from collections.abc import Callable

import torch
from torch import Tensor

from course_lib.arguments import as_tensor, check_instance, check_integers
from course_lib.data import GridDataset

LIMIT = 3 * 2**27  # bytes of latents that a table may hold: scores need some room below a gigabyte as well
LARGEST = 1e300  # magnitude of a latent: differences and sums of a sample must be finite as well
ROUNDING = 16  # units in the last place within which a latent counts as not having moved
DISTINCT = 1000  # values of a latent, up to which those that differ by rounding are one


class Encodings:
    """The representation of each image of a dataset, encoded when it is first asked for and then kept.

    Accepted by every score in the place of `encode`: scores that share a table encode each image at most once between
    them. Calling it maps indices int64 (...) to latents (..., D) on the CPU.

    Parameters
    ----------
    encode : maps images uint8 (B, C, H, W) to latents (B, D), a tensor or an array; `framework.encode` does.
    data : the dataset whose indices the table takes.
    batch_size : how many images are encoded at a time.
    device : where images are drawn before they are passed to `encode`.

    Latents are kept as float32, or float64 if that is what comes. Calling raises ValueError when `encode` returns
    something else than finite numbers (B, D), or when the latents of all images would take more than 0.375 GB.
    A table belongs to one thread.
    """

    def __init__(
        self,
        encode: Callable[[Tensor], Tensor],
        data: GridDataset,
        *,
        batch_size: int = 512,
        device: str | torch.device = "cpu",
    ):
        if hasattr(encode, "encode"):
            raise ValueError(f"encode: got {type(encode).__name__}; pass its method, framework.encode.")
        if not callable(encode):
            raise ValueError(f"encode: got {type(encode).__name__}; allowed is a function from images to latents.")
        check_instance(GridDataset, "a dataset of course_lib.data", data=data)
        (self.batch_size,) = check_integers(1, batch_size=batch_size)
        try:
            self.device = torch.device(device)
        except (RuntimeError, TypeError) as error:
            raise ValueError(f"device: got {device!r}; allowed are PyTorch's, such as 'cpu' and 'cuda'.") from error
        self.encode, self.data, self.space = encode, data, data.space
        self._latents: Tensor | None = None  # (N, D) once D is known
        self._known = torch.zeros(len(data), dtype=torch.bool)

    @classmethod
    def from_table(cls, latents, data: GridDataset) -> "Encodings":
        """A table that is known already: latents (N, D), row i that of image i, copied. Nothing is drawn or encoded."""
        check_instance(GridDataset, "a dataset of course_lib.data", data=data)
        latents = finite_latents(latents, len(data), "latents").clone()
        table = cls(_nothing, data)
        table._latents, table._known = latents, torch.ones(len(data), dtype=torch.bool)
        return table

    @torch.no_grad()
    def __call__(self, index) -> Tensor:
        index = self.space.check_index(index).cpu()
        flat = index.reshape(-1)
        if len(flat) == 0 and self._latents is None:
            raise ValueError("index: got no image at all; the table does not know yet how many latents there are.")
        missing = flat[~self._known[flat]].unique()
        for start in range(0, len(missing), self.batch_size):
            part = missing[start : start + self.batch_size]
            latents = finite_latents(self._encoded(self.data.images(part.to(self.device))), len(part), "encode")
            if self._latents is None:
                self._latents = self._room_for(latents)
            elif latents.shape[1] != self._latents.shape[1]:
                raise ValueError(f"encode: got {latents.shape[1]} latents after {self._latents.shape[1]} before.")
            self._latents[part] = latents.to(self._latents.dtype)
            self._known[part] = True
        return self._latents[flat].reshape(*index.shape, self._latents.shape[1])

    def _encoded(self, images: Tensor):
        try:
            return self.encode(images)
        except RuntimeError as error:  # of PyTorch, which may speak of weights and of devices, and not of this call
            error.add_note(f"encode: got images on {images.device}; Encodings(encode, data, device=…) names another.")
            raise

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"Encodings({self.data!r}: {int(self._known.sum()):,} of {len(self):,} images encoded)"

    def _room_for(self, latents: Tensor) -> Tensor:
        size = len(self) * latents.shape[1] * latents.element_size()
        if size > LIMIT:
            raise ValueError(
                f"encode: got {latents.shape[1]} latents in {latents.dtype}; for {len(self):,} images they would take "
                f"{size / 2**30:.1f} GB, and {LIMIT / 2**30} GB are allowed. Return fewer latents, or float32."
            )
        return torch.empty(len(self), latents.shape[1], dtype=latents.dtype)  # takes memory only where written


def _nothing(images: Tensor) -> None:
    """The encoder of a table that has nothing left to encode."""


def rounding(latents: Tensor) -> Tensor:
    """By how much each latent of (..., D) may move through rounding alone, in its own precision: float64 (D,)."""
    largest = latents.abs().flatten(0, -2).amax(0).double()
    return ROUNDING * torch.finfo(latents.dtype).eps * largest


def settle(latents: Tensor) -> Tensor:
    """latents (n, D) as float64, values of a column that differ by rounding only made equal.

    What an encoder computes is never quite constant, and sin 0 is not quite sin π: a score that divides by a spread, or
    puts the edge of a bin between the two, would take the noise of the last digit for a signal. Columns of more than
    1,000 different values stay as they are: there some lie as close by chance.
    """
    values, order = latents.double().sort(dim=0)
    unit = rounding(latents)
    apart = values.diff(dim=0, prepend=values[:1] - torch.inf) > unit
    first = torch.where(apart, values, -torch.inf).cummax(0).values  # of those that follow without a gap
    widest = 2 * unit.clamp(min=torch.finfo(unit.dtype).tiny)
    equal = first + ((values - first) / widest).floor() * widest  # in steps, as what follows may go far
    few = (equal.diff(dim=0) > 0).sum(0) < DISTINCT
    return torch.empty_like(values).scatter_(0, order, torch.where(few, equal, values))


def as_table(encode, data: GridDataset | None) -> Encodings:
    """`encode` as a table: itself if it is one already, whose data `data` must then be (None: whatever it is)."""
    if not isinstance(encode, Encodings):
        return Encodings(encode, data)
    if data is not None and data is not encode.data and repr(data) != repr(encode.data):
        raise ValueError(f"data: got {data!r}; the table of encodings was made for {encode.data!r}.")
    return encode


def finite_latents(latents, n: int | None, argument: str) -> Tensor:
    """`latents` as a CPU tensor (n, D) of float32 or float64; a ValueError names `argument` if they are not that."""
    rows = "n" if n is None else n
    if not isinstance(latents, Tensor):
        if latents is None or isinstance(latents, tuple | dict):
            got = "None" if latents is None else f"a {type(latents).__name__}"
            raise ValueError(f"{argument}: got {got}; allowed are latents ({rows}, D), one row per image.")
        latents = as_tensor(latents, argument, f"latents ({rows}, D)")
    if latents.ndim != 2 or 0 in latents.shape or (n is not None and len(latents) != n):
        raise ValueError(f"{argument}: got shape {tuple(latents.shape)}; allowed are latents ({rows}, D).")
    if latents.is_complex():
        raise ValueError(f"{argument}: got dtype {latents.dtype}; allowed are real numbers.")
    latents = as_tensor(latents, argument, f"latents ({rows}, D)").detach().cpu()
    latents = latents if latents.dtype == torch.float64 else latents.float()
    wrong = (~latents.isfinite()).any(1).sum().item()
    if wrong:
        raise ValueError(
            f"{argument}: got NaN or infinite latents for {wrong} of {len(latents)} images; a score needs finite ones."
        )
    wrong = (latents.double().abs() > LARGEST).any(1).sum().item()
    if wrong:
        raise ValueError(
            f"{argument}: got latents beyond ±{LARGEST:g} for {wrong} of {len(latents)} images; a score adds them up."
        )
    return latents
