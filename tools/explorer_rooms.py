"""The rooms of chapter 01's explorer: `python tools/explorer_rooms.py` writes them, `--check` compares.

The script in book/static/explore/weights holds, of three rooms of 3D Shapes, the picture with each of the ten walls,
what each pixel belongs to, and what machines A and B write down of each picture; and of both machines the mean code of
each wall, over the 1,000 labelled rooms of the chapter.
"""

import base64
import functools
import json
import sys

import numpy as np
import torch

import explorer_weights
from course_lib.data import Shapes3D
from course_replication import shipped_model

FILE = explorer_weights.FOLDER / "rooms.js"
HEAD = "// Written by tools/explorer_rooms.py.\n(globalThis.Explore ??= {}).rooms = "
WALL, HUES = 1, 10  # the factor's place, and its values
HOME = (2, 6, 9, 4, 1, 4)  # the room of the chapter
PARTS = ("floor", "wall", "object", "sky")  # what a pixel belongs to


@functools.cache
def grid() -> Shapes3D:
    """The rooms, as the course draws them."""
    return Shapes3D()


def starts(data: Shapes3D) -> torch.Tensor:
    """The factors of the three rooms, (3, 6): the chapter's, and two at random that have its wall."""
    drawn = data.space.factors(torch.randint(len(data), (2,), generator=torch.Generator().manual_seed(0)))
    drawn[:, WALL] = HOME[WALL]
    return torch.cat([torch.tensor([HOME]), drawn])


def with_each(factors: torch.Tensor, factor: int) -> torch.Tensor:
    """A room's factors (6,) with each value of one of the hues: (10, 6)."""
    rooms = factors.repeat(HUES, 1)
    rooms[:, factor] = torch.arange(HUES)
    return rooms


def parts(data: Shapes3D, factors: torch.Tensor) -> torch.Tensor:
    """What each pixel belongs to, (64, 64): the surface whose hue changes it most; where none does, the sky."""
    traversals = [data.images(data.space.index(with_each(factors, hue))).int() for hue in range(3)]
    change = torch.stack([(row.amax(0) - row.amin(0)).amax(0) for row in traversals])
    return torch.where(change.amax(0) > 0, change.argmax(0), PARTS.index("sky"))


def labelled_means(data: Shapes3D, encode) -> torch.Tensor:
    """The mean code of each wall over the rooms that the chapter labels, (10, D), drawn as there."""
    draw = torch.Generator().manual_seed(1)
    for count in (300, 300):
        torch.randint(len(data), (count,), generator=draw)
    torch.randint(1, HUES, (300,), generator=draw)
    labelled = torch.randint(len(data), (1_000,), generator=draw)
    codes, walls = encode(data.images(labelled)), data.space.factors(labelled)[:, WALL]
    return torch.stack([codes[walls == wall].mean(0) for wall in range(HUES)])


def planes(images: torch.Tensor) -> dict:
    """Pictures (10, 3, 64, 64) without loss: of each channel the different planes, base64, and which a picture has."""
    different, uses = [], []
    for channel in images.flatten(2).unbind(1):
        found, inverse = np.unique(channel.numpy(), axis=0, return_inverse=True)
        uses.append((inverse.reshape(-1) + sum(map(len, different))).tolist())
        different.append(found)
    data = np.concatenate(different).astype(np.uint8).tobytes()
    return {"planes": base64.b64encode(data).decode(), "uses": uses}


def picture(stored_room: dict, wall: int) -> torch.Tensor:
    """A stored room with one of the walls, uint8 (3, 64, 64)."""
    data = np.frombuffer(base64.b64decode(stored_room["planes"]), np.uint8).reshape(-1, 64, 64)
    return torch.from_numpy(np.stack([data[uses[wall]] for uses in stored_room["uses"]]))


def rounded(codes: torch.Tensor) -> list:
    return [[round(value, 4) for value in row] for row in codes.tolist()]


def rooms() -> dict:
    """All of it, as the script holds it."""
    data = grid()
    machines = {name: shipped_model(name).encode for name in explorer_weights.DECODERS}
    found = []
    for factors in starts(data):
        images = data.images(data.space.index(with_each(factors, WALL)))
        codes = {name: rounded(encode(images)) for name, encode in machines.items()}
        places = "".join(map(str, parts(data, factors).flatten().tolist()))
        found.append({"factors": factors.tolist(), "parts": places, **planes(images), "codes": codes})
    means = {name: rounded(labelled_means(data, encode)) for name, encode in machines.items()}
    return {"wall": HOME[WALL], "rooms": found, "means": means}


def stored() -> dict:
    """What the script holds."""
    return json.loads(FILE.read_text(encoding="utf-8").removeprefix(HEAD).removesuffix(";\n"))


def same(first, second) -> bool:
    """Whether two values are equal, numbers to a thousandth: networks round differently from computer to computer."""
    if isinstance(first, float) or isinstance(second, float):
        return abs(first - second) <= 1e-3
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


def main(arguments: list[str]) -> int:
    torch.set_num_threads(1)
    fresh = rooms()
    if arguments == ["--check"]:
        sound = same(stored(), json.loads(json.dumps(fresh)))
        print("The stored rooms are course_lib's." if sound else f"{FILE.name} is not what course_lib draws; run this.")
        return int(not sound)
    FILE.write_text(f"{HEAD}{json.dumps(fresh)};\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
