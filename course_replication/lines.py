"""The line that holds a result: what it must say, the hashes that it must agree with, and what is wrong where not."""

import codecs
import hashlib
import json
import marshal
import math
from collections.abc import Collection
from functools import lru_cache

SCALES = ("exact", "small", "full")  # nothing is trained; a small grid and network; the paper's data and network
HASH = "content_hash"  # the key of the hash of everything else in the line
TYPES = dict(id=str, measurement=str, settings=dict, scale=str, config_hash=str, seed=int, metrics=dict)
NEEDED = (*TYPES,)  # of a result, whatever else it says
MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")  # of what a merge could not decide


def digest(content: dict, digits: int) -> str:
    """So many hexadecimal digits that change with anything in the content, and not with the order of its keys."""
    try:
        text = json.dumps(content, sort_keys=True, allow_nan=False)
    except ValueError as error:
        raise ValueError("it holds a number that is not finite") from error
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def identity(measurement: str, settings: dict, scale: str, seed: int) -> tuple[str, str]:
    """The hash of the configuration, which leaves out the seed, and the id of the run."""
    configured = digest({"measurement": measurement, "settings": settings, "scale": scale}, 12)
    return configured, f"{measurement}/{scale}/{configured}/{seed}"


def line_of(result: dict) -> bytes:
    """The result's line, less its end. A ValueError says what is wrong with the result, NaN for example."""
    content = {key: value for key, value in result.items() if key != HASH}
    content = json.loads(json.dumps(content, allow_nan=False))  # as whoever reads it will see it
    line = json.dumps(content | {HASH: digest(content, 16)}).encode()
    try:
        _packed(line)
    except ValueError as error:
        raise ValueError(f"result: {error}.") from error
    return line


def result_in(line: bytes) -> dict:
    """The result that the line holds, without its hash. A ValueError says what is wrong with it: "it is empty"."""
    return marshal.loads(_packed(line))


@lru_cache(maxsize=2**13)  # packed, so that nobody changes what others read: a chapter reads the same lines often
def _packed(line: bytes) -> bytes:
    result = _parsed(line)
    _check_fields(result)
    _check_hashes(result)
    return marshal.dumps({key: value for key, value in result.items() if key != HASH})


def _parsed(line: bytes) -> dict:
    _require(bool(line.strip()), "it is empty")
    _require(not line.startswith(MARKERS), "it is a marker that a merge has left")
    _require(not line.startswith(codecs.BOM_UTF8), "it begins with a byte order mark")
    try:
        result = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"its byte {error.start + 1} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg}, column {error.colno})") from error
    except RecursionError as error:
        raise ValueError("its brackets are nested too deep") from error
    _require(isinstance(result, dict), "it is JSON, but no object")
    return result


def _no_number(name: str) -> None:
    raise ValueError(f"it holds {name}, which is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _check_fields(result: dict) -> None:
    missing = [key for key in NEEDED if key not in result]
    _require(not missing, "it lacks %s", ", ".join(missing))
    for key, kind in TYPES.items():
        _require(type(result[key]) is kind, "its %s is %.80r, which is no %s", key, result[key], kind.__name__)
    _require(result["scale"] in SCALES, "its scale is %.80r, none of " + ", ".join(SCALES), result["scale"])
    for name, value in result["metrics"].items() if not _finite(result["metrics"].values()) else ():
        _require(_finite([value]), "its metric %.80r is %.80r, neither a finite number nor an answer", name, value)


def _finite(values: Collection) -> bool:
    """Whether all are finite numbers or answers."""
    try:
        return {*map(type, values)} <= {float, int, bool} and all(map(math.isfinite, values))
    except OverflowError:  # an integer that no float holds
        return False


def _check_hashes(result: dict) -> None:
    own, name = identity(*(result[key] for key in ("measurement", "settings", "scale", "seed")))
    found = result["config_hash"]
    _require(found == own, "its config_hash is %.80r, and its measurement, settings and scale give %s", found, own)
    _require(result["id"] == name, "its id is %.80r, and its configuration and seed give %s", result["id"], name)
    _require(HASH in result, f"it lacks {HASH}")
    found, own = result[HASH], digest({key: value for key, value in result.items() if key != HASH}, 16)
    _require(found == own, f"its {HASH} is %.80r, and what it holds gives %s: it has been changed", found, own)


def _require(fine: bool, why: str, *values) -> None:
    if not fine:
        raise ValueError(why % values)
