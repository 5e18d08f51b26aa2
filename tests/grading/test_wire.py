"""The frames between grader and worker: what is sent arrives, and what is no frame is refused."""

import json
import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest
import torch

from course_grading.wire import (
    HEAD,
    MAGIC,
    MOST_HEADER,
    MOST_REPLY,
    Decoder,
    Forged,
    Labelled,
    Other,
    Reader,
    WireError,
    as_sent,
    encode,
    pack,
)  # fmt: skip

NONCE = bytes(range(16))


def there_and_back(value):
    buffers = []
    reader = Reader()
    reader.feed(pack(NONCE, {"value": encode(value, buffers)}, buffers))
    nonce, header, payload = reader.frame()
    assert nonce == NONCE
    return Decoder(payload).value(header["value"])


VALUES = [None, True, 3, -(2**80), 0.1, math.inf, "ä\n", [], [1, [2.5, None]], (1, "x"), {"a": (1,), 2: []}, Ellipsis]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values(value):
    back = there_and_back(value)
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 0), (2, 3, 4)])
def test_tensors(dtype, shape):
    tensor = torch.arange(math.prod(shape)).reshape(shape).to(getattr(torch, dtype))
    turned = tensor.transpose(0, -1) if shape else tensor  # not contiguous
    thinned = torch.stack([tensor, tensor], -1)[..., 0]  # in steps of two, a single number too
    for one, other in zip(there_and_back([tensor, turned, thinned]), [tensor, turned, thinned], strict=True):
        assert torch.equal(one, other) and one.dtype == other.dtype and not one.requires_grad


def test_arrays_and_gradients():
    array = np.arange(6.0).reshape(2, 3)[:, ::2]
    back, scalar, tensor = there_and_back([array, np.array(2.0), torch.ones(2, requires_grad=True)])
    assert isinstance(back, np.ndarray) and np.array_equal(back, array) and scalar.shape == ()
    assert tensor.requires_grad and tensor.is_leaf


def test_pandas_labels_arrive():
    series, frame = (
        pandas.Series({"a": 1, "b": 2.5}),
        pandas.DataFrame({"x": [1, 2], "y": ["u", "v"]}, index=["p", "q"]),
    )
    back, rows = there_and_back([series, frame])
    assert back == {"a": 1, "b": 2.5} and isinstance(back, Labelled) and as_sent(back) == back
    assert rows == {"x": {"p": 1, "q": 2}, "y": {"p": "u", "q": "v"}} and isinstance(rows["x"], Labelled)
    for plain in (series.set_axis([0, 1]), series.set_axis(["a", "a"]), pandas.Series(dtype=float), series.index):
        assert not isinstance(there_and_back(plain), dict)


def test_what_is_not_sent():
    loop = []
    loop.append(loop)
    assert there_and_back(lambda: 0) == Other("function")
    assert there_and_back(torch.eye(2).to_sparse()).type_name.startswith("tensor of float32")
    assert there_and_back(np.array([1], "M8[s]")).type_name.startswith("array")
    for large in (list(range(20_000)), [[0.5] * 100] * 200, "x" * 10**6, {"a": ["x" * 60_000, "y" * 60_000]}):
        assert there_and_back(large) == Other(f"{type(large).__name__} with too much in it")
    assert "Other" in repr(there_and_back(loop))


@pytest.mark.parametrize(
    ("number", "arrived"),
    [
        (Fraction(1, 2), 0.5), (Decimal("0.5"), 0.5), (Fraction(10**400), math.inf), (Decimal("-1e999"), -math.inf),
        (10**5_000, math.inf), (-(10**5_000), -math.inf), (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5), (np.int8(3), 3), (np.bool_(True), True), (np.longdouble(0.5), 0.5),
        (np.float16(2), 2.0), (True, True),
    ],
    ids=lambda number: type(number).__name__,
)  # fmt: skip
def test_numbers_of_other_kinds(number, arrived):
    back = there_and_back(number)
    assert back == arrived == as_sent(number) and type(back) is type(arrived)
    assert math.isnan(there_and_back(Decimal("sNaN")))


def test_the_nonce_comes_first():
    """A frame for another request is refused by its head: nothing of it is waited for, kept or parsed."""
    reader = Reader()
    reader.expected = NONCE[::-1]
    reader.feed(HEAD.pack(MAGIC, NONCE, MOST_HEADER, MOST_REPLY))
    with pytest.raises(Forged):
        reader.wanted()


def test_pieces():
    data = pack(NONCE, {"a": 1}, [b"xyz"]) + pack(NONCE, {"b": 2}, [])
    reader, frames = Reader(), []
    for byte in data:
        reader.feed(bytes([byte]))
        frame = reader.frame()
        frames += [frame] if frame else []
    assert frames == [(NONCE, {"a": 1}, b"xyz"), (NONCE, {"b": 2}, b"")]


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK",
        b"c",
        HEAD.pack(MAGIC, NONCE, MOST_HEADER + 1, 0),
        HEAD.pack(MAGIC, NONCE, 4, MOST_REPLY + 1),
        HEAD.pack(MAGIC, NONCE, 3, 0) + b"[1]",
        HEAD.pack(MAGIC, NONCE, 3, 0) + b"\xff\xfe{",
        HEAD.pack(MAGIC, NONCE, 200_000, 0) + b"[" * 200_000,
        HEAD.pack(MAGIC, NONCE, 9_000, 0) + b'{"a":' + b"1" * 8_994 + b"}",
    ],
)
def test_what_is_no_frame(data):
    reader = Reader()
    reader.feed(data)
    if data == b"c":  # may still become one
        assert reader.frame() is None
        reader.feed(b"x")
    with pytest.raises(WireError):
        reader.frame()


@pytest.mark.parametrize(
    "node",
    [
        {"tensor": ["float32", [2], 4, False]},
        {"tensor": ["float32", [2], 8, False]},
        {"tensor": ["float32", [-1, -1], 4, False]},
        {"tensor": ["float32", [2**40, 0], 0, False]},
        {"tensor": ["float32", [2**28, 2**28, 2**28, 0], 0, False]},
        {"array": ["float32", [2**28, 2**28, 0], 0, False]},
        {"tensor": ["object", [1], 4, False]},
        {"tensor": ["float32", [1.0], 4, False]},
        {"tensor": ["float32", [True], 4, False]},
        {"tensor": ["float32", [1] * 99, 4, False]},
        {"tensor": 3},
        {"array": ["bfloat16", [2], 4, False]},
        {"list": 3},
        {"list": [{"list": []}] * 20_000},
        {"dict": [[1]]},
        {"labelled": [[1]]},
        {"labelled": 3},
        {"dict": [[{"list": []}, 1]]},
        {"pickle": []},
        {"list": [], "tuple": []},
        [1],
        {},
    ],
    ids=lambda node: json.dumps(node)[:40],
)
def test_what_is_no_value(node):
    with pytest.raises(WireError):
        Decoder(b"1234").value(node)


def test_broken_frames_never_raise_anything_else():
    """One byte changed, anywhere: a value, or a WireError."""
    buffers = []
    good = pack(NONCE, {"value": encode([torch.ones(3), {"a": (1, "x")}, np.ones(2)], buffers)}, buffers)
    draw = random.Random(0)
    for _ in range(2_000):
        data = bytearray(good)
        data[draw.randrange(len(data))] = draw.randrange(256)
        reader = Reader()
        reader.feed(bytes(data))
        try:
            frame = reader.frame()
            if frame is not None:
                Decoder(frame[2]).value(frame[1].get("value"))
        except WireError:
            pass
