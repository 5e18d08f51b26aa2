"""Latents and factors from a .csv or an .npz; no pickle is loaded, and what does not fit gets one sentence."""

import csv
import io
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas

from course_lib.metrics.encodings import LARGEST
from course_lib.metrics.file_faults import FileFault

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
UNBOUND = re.compile(r"[+-]?(nan|inf|infinity|n/?a)", re.IGNORECASE)
LATENT = re.compile(r"z\d+", re.ASCII)
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST = 2**63 - 1  # of a factor's values


def read_table(path: Path, latents: list[str] | None, factors: list[str] | None) -> tuple[np.ndarray, pandas.DataFrame]:
    """Latents (n, D) and integer factors (n, F), the latter with their names, from a .npz or a .csv.

    latents : names of the columns of a .csv that are latents; None takes those named z0, z1, …, but for `factors`.
    factors : names of the factors that count; None takes all, in a .csv all columns that are left.

    Raises ValueError, in one sentence that names the path, for a file that does not fit.
    """
    if path.suffix not in (".npz", ".csv"):
        raise ValueError(f"file: {path}: {FileFault('kind', suffix=path.suffix or 'nothing')}")
    if not path.is_file():
        raise ValueError(f"file: {path} is not there.")
    if latents is not None and path.suffix == ".npz":
        raise ValueError("latents: chosen among the columns of a .csv; a .npz has them in its array `latents`.")
    content = path.read_bytes()
    try:
        found = _npz(content, factors) if path.suffix == ".npz" else _csv(content, latents, factors)
        return _checked(*found)
    except FileFault as fault:
        raise ValueError(f"file: {path}: {fault}") from fault


def _csv(content: bytes, latents: list[str] | None, chosen: list[str] | None) -> tuple[np.ndarray, pandas.DataFrame]:
    names, numbered = _cells(content)
    _check_columns("latents", latents, names)
    _check_columns("factors", chosen, names)
    others = [name for name in names if name not in (chosen or ())]
    latents = [name for name in others if LATENT.fullmatch(name)] if latents is None else latents
    factors = [name for name in names if name not in latents] if chosen is None else chosen
    if not latents:
        raise FileFault("no_latents", names=", ".join(others) or "the columns that are left")
    if not factors:
        raise FileFault("no_factors", names=", ".join(names))
    rows, cells = zip(*numbered, strict=True)
    columns = dict(zip(names, zip(*cells, strict=True), strict=True))
    values = [_numbers(columns[name], name, rows, np.float64) for name in latents]
    integers = {name: _numbers(columns[name], name, rows, np.int64) for name in factors}
    both = next((name for name in factors if name in latents), None)
    if both is not None:
        raise ValueError(f"factors: got {both!r}, which is among the latents; a column is one or the other.")
    return np.stack(values, 1), pandas.DataFrame(integers)


def _cells(content: bytes) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and the rows below with their numbers, from 2."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileFault("text") from None
    if not text.strip() or "\0" in text:
        raise FileFault("text" if "\0" in text else "empty")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True, skipinitialspace=True)
    try:
        rows = [(row, [cell.strip() for cell in cells]) for row, cells in enumerate(lines, 1)]
    except csv.Error:
        raise FileFault("quote") from None
    (_, names), *numbered = [(row, cells) for row, cells in rows if any(cells) or len(cells) > 1]
    _check_names(names)
    if not numbered:
        raise FileFault("no_rows")
    for row, cells in numbered:
        if len(cells) != len(names):
            raise FileFault("cells", row=row, got=len(cells), wanted=len(names))
    return names, numbered


def _separator(text: str) -> str:
    """Which of comma, semicolon and tab separates most names in the first line, outside of quotation marks."""
    head = re.sub(r'"[^"]*"', "", text.lstrip().split("\n", 1)[0])
    return max(",;\t", key=head.count)


def _check_names(names: list[str]) -> None:
    for place, name in enumerate(names, 1):
        if not name:
            raise FileFault("blank", place=place)
        if NUMBER.fullmatch(name):
            raise FileFault("headless", cell=name)
        if name in names[: place - 1]:
            raise FileFault("twice", name=name)


def _check_columns(argument: str, chosen: list[str] | None, names) -> None:
    missing = next((name for name in chosen or () if name not in names), None)
    if missing is not None:
        raise ValueError(f"{argument}: got {missing!r}; the file has {', '.join(names)}.")
    twice = next((name for place, name in enumerate(chosen or ()) if name in chosen[:place]), None)
    if twice is not None:
        raise ValueError(f"{argument}: got {twice!r} twice; each is named once.")


def _numbers(cells: tuple[str, ...], name: str, rows: tuple[int, ...], dtype) -> np.ndarray:
    """A column as float64 or int64, or the fault of its first cell that is not that."""
    for row, cell in zip(rows, cells, strict=True):
        if not NUMBER.fullmatch(cell):
            kind = "missing" if not cell else "comma" if COMMA.fullmatch(cell) else "word"
            raise FileFault("infinite" if UNBOUND.fullmatch(cell) else kind, row=row, column=name, cell=cell)
        if dtype is np.int64 and not cell.lstrip("+-").isdigit():
            raise FileFault("integer", row=row, column=name, cell=cell)
    if dtype is np.float64:
        return np.array(cells).astype(np.float64)
    try:
        return np.array([int(cell) for cell in cells], np.int64)
    except OverflowError:
        raise FileFault("beyond", what="factors", limit=f"±{MOST}") from None


def _npz(content: bytes, chosen: list[str] | None) -> tuple[np.ndarray, pandas.DataFrame]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            inside = {name.removesuffix(".npy") for name in archive.namelist()}
            if any(part.compress_type not in PACKED for part in archive.infolist()):
                raise FileFault("packed")
            lacking = [name for name in ("latents", "factors") if name not in inside]
            if lacking:
                raise FileFault("lacks", names=" and ".join(lacking))
            wanted = ["latents", "factors", *(["names"] if "names" in inside else [])]
            arrays = {name: _array(archive, name) for name in wanted}
    except zipfile.BadZipFile:
        raise FileFault("zip") from None
    except (NotImplementedError, RuntimeError):
        raise FileFault("packed") from None
    latents, factors = arrays["latents"], arrays["factors"]
    _check_arrays(latents, factors)
    names = [str(name) for name in arrays["names"].flat] if "names" in arrays else None
    names = [f"factor {place}" for place in range(factors.shape[1])] if names is None else names
    if len(names) != factors.shape[1]:
        raise FileFault("names", got=len(names), wanted=factors.shape[1])
    if len(set(names)) < len(names):
        raise FileFault("twice", name=next(name for place, name in enumerate(names) if name in names[:place]))
    _check_columns("factors", chosen, names)
    frame = pandas.DataFrame(factors.astype(factors.dtype.newbyteorder("=")), columns=names)
    return latents.astype(latents.dtype.newbyteorder("=")), frame if chosen is None else frame[chosen]


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    try:
        return np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
    except (ValueError, EOFError, zlib.error, KeyError, SyntaxError) as error:
        raise FileFault("objects" if "Object arrays" in str(error) else "cut", name=name) from None


def _check_arrays(latents: np.ndarray, factors: np.ndarray) -> None:
    for name, array in (("latents", latents), ("factors", factors)):
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise FileFault("real", name=name, dtype=array.dtype)
        if array.ndim != 2 or 0 in array.shape:
            raise FileFault("table", name=name, shape=array.shape)
    if factors.dtype.kind == "f":
        raise FileFault("whole", dtype=factors.dtype)
    if len(latents) != len(factors):
        raise FileFault("rows", latents=len(latents), factors=len(factors))
    wrong = int((~np.isfinite(latents)).any(1).sum())
    if wrong:
        raise FileFault("not_finite", rows=wrong, n=len(latents))


def _checked(latents: np.ndarray, factors: pandas.DataFrame) -> tuple[np.ndarray, pandas.DataFrame]:
    """Both as they are, unless a number is too large or no factor varies."""
    if not (np.abs(latents.astype(np.float64)) <= LARGEST).all():
        raise FileFault("beyond", what="latents", limit=f"±{LARGEST:g}")
    if (factors.to_numpy() > MOST).any():
        raise FileFault("beyond", what="factors", limit=f"±{MOST}")
    if (factors.to_numpy() == factors.to_numpy()[:1]).all():
        raise FileFault("constant")
    return latents, factors
