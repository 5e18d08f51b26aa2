"""Files of latents and factors that do not fit, one for each sentence, for the tests of the command and of the page."""

import io
import zipfile

import numpy as np

Z, Y = np.arange(18.0).reshape(9, 2), np.arange(18).reshape(9, 2) % 5


def _npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _zip(latents: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive whose latents are these bytes."""
    file, factors = io.BytesIO(), io.BytesIO()
    np.save(factors, Y)
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("latents.npy", latents)
        archive.writestr("factors.npy", factors.getvalue())
    return file.getvalue()


def _npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _flipped(content: bytes) -> bytes:
    """With one bit of a number turned."""
    return content[:300] + bytes([content[300] ^ 4]) + content[301:]


def bad_files() -> dict[str, tuple[str, bytes]]:
    """Name of the file → the kind of its fault, and what is in it."""
    npz = {
        "noise.npz": ("zip", b"\x80\x04no archive"),
        "nothing.npz": ("zip", b""),
        "short.npz": ("zip", _npz(latents=Z, factors=Y)[:-300]),
        "flipped.npz": ("zip", _flipped(_npz(latents=Z, factors=Y))),
        "lzma.npz": ("packed", _zip(_npy(Z), zipfile.ZIP_LZMA)),
        "one.npz": ("lacks", _npz(latents=Z)),
        "other.npz": ("lacks", _npz(z=Z, y=Y)),
        "cut.npz": ("cut", _zip(_npy(Z)[:-8])),
        "words.npz": ("cut", _zip(b"z0,z1")),
        "objects.npz": ("objects", _npz(latents=np.array([[{}, {}]] * 9), factors=Y)),
        "complex.npz": ("real", _npz(latents=Z + 1j, factors=Y)),
        "text.npz": ("real", _npz(latents=Z.astype("U"), factors=Y)),
        "bool.npz": ("real", _npz(latents=Z, factors=Y > 2)),
        "float.npz": ("whole", _npz(latents=Z, factors=Y / 2)),
        "flat.npz": ("table", _npz(latents=Z[:, 0], factors=Y)),
        "cube.npz": ("table", _npz(latents=Z, factors=Y[..., None])),
        "empty.npz": ("table", _npz(latents=Z[:, :0], factors=Y)),
        "rows.npz": ("rows", _npz(latents=Z, factors=Y[1:])),
        "nan.npz": ("not_finite", _npz(latents=np.where(Z == 4, np.nan, Z), factors=Y)),
        "names.npz": ("names", _npz(latents=Z, factors=Y, names=["a"])),
        "twice.npz": ("twice", _npz(latents=Z, factors=Y, names=["a", "a"])),
        "constant.npz": ("constant", _npz(latents=Z, factors=0 * Y)),
        "large.npz": ("beyond", _npz(latents=Z * 1e300, factors=Y)),
    }
    csv = {
        "nothing.csv": ("empty", ""),
        "blank.csv": ("empty", "\n \n"),
        "quote.csv": ("quote", 'z0,"a\n1,2\n3,4\n'),
        "tail.csv": ("quote", 'z0,"a"b\n1,2\n3,4\n'),
        "unnamed.csv": ("blank", "z0,,a\n1,2,3\n"),
        "headless.csv": ("headless", "0.5,1\n0.25,2\n"),
        "twice.csv": ("twice", "z0,a,a\n1,2,3\n"),
        "no_latents.csv": ("no_latents", "a,b\n1,2\n"),
        "no_factors.csv": ("no_factors", "z0,z1\n1,2\n"),
        "no_rows.csv": ("no_rows", "z0,a\n"),
        "ragged.csv": ("cells", "z0,a\n1,2\n3,4,5\n"),
        "decimal.csv": ("cells", "z0,a\n0,5,1\n"),
        "comma.csv": ("comma", 'z0;a\n"0,5";1\n1,5;2\n'),
        "tabs.csv": ("comma", "z0\ta\n0,5\t1\n"),
        "gap.csv": ("missing", "z0,a\n1,2\n\n,3\n"),
        "nan.csv": ("infinite", "z0,a\n1,2\nNaN,3\n"),
        "inf.csv": ("infinite", "z0,a\n1,2\n-inf,3\n"),
        "word.csv": ("word", "z0,a\n1,2\nx,3\n"),
        "label.csv": ("word", "z0,a\n1,red\n2,blue\n"),
        "fraction.csv": ("integer", "z0,a\n1,2\n2,2.5\n"),
        "whole.csv": ("integer", "z0,a\n1,2.0\n2,3.0\n"),
        "constant.csv": ("constant", "z0,a\n1,2\n2,2\n"),
        "large.csv": ("beyond", "z0,a\n1e301,2\n2,3\n"),
    }
    other = {
        "latin.csv": ("text", "z0,größe\n1,2\n".encode("latin-1")),
        "utf16.csv": ("text", "z0,a\n1,2\n".encode("utf-16-le")),
        "sheet.xlsx": ("kind", b"PK"),
        "latents": ("kind", b"z0,a"),
    }
    return npz | {name: (kind, text.encode()) for name, (kind, text) in csv.items()} | other
