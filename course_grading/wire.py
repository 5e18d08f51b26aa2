"""How the grader and its worker talk: frames of JSON and raw bytes. Nothing here can run code that arrives.

A frame is a fixed head with the nonce of its request, a JSON header and a payload in which the header's arrays lie one
after the other. Whoever reads trusts nothing: first the nonce and the sizes are checked, then types, shapes and
offsets, and what does not fit is a `WireError`.
"""

import json
import math
import struct
import sys
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from numbers import Real

HEAD = struct.Struct("<4s16sIQ")  # magic, nonce, bytes of the header, bytes of the payload
MAGIC = b"cgr2"
MOST_HEADER = 4 * 2**20  # bytes
MOST_REQUEST, MOST_REPLY = 256 * 2**20, 64 * 2**20  # bytes of a payload
MOST_DEPTH, MOST_ITEMS, MOST_LETTERS, MOST_DIMENSIONS = 8, 10_000, 100_000, 16
MOST_BITS = 4_096  # of a whole number; Python refuses to write long ones out
SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
PLAIN = (bool, int, float, str)

_dumps, _loads = json.dumps, json.loads  # kept, so that a worker whose json was patched still answers


class WireError(ValueError):
    """What arrived is no frame, or not one of this protocol."""


class Forged(WireError):
    """A frame that answers no request that was made."""


@dataclass(frozen=True)
class Other:
    """Stands for a value of a type that is not sent: a function, an object of a class."""

    type_name: str


class Labelled(dict):
    """A pandas Series or DataFrame whose labels, or columns, are different words: what stands under each.

    Where a dict is asked for it is one, and where numbers in a row are, it is these.
    """


def pack(nonce: bytes, header: dict, buffers: list[bytes]) -> bytes:
    """One frame; `buffers` are what `encode` collected."""
    text = _dumps(header).encode()
    payload = b"".join(buffers)
    return HEAD.pack(MAGIC, nonce, len(text), len(payload)) + text + payload


class Reader:
    """Bytes in, frames out. `frame()` is None until a whole one has arrived.

    expected : the nonce that the next frame must have; None takes any.
    """

    def __init__(self, most_payload: int = MOST_REPLY):
        self.expected: bytes | None = None
        self._bytes, self._most = bytearray(), most_payload

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def wanted(self) -> int:
        """How many bytes are missing before there can be a frame."""
        return max(self._size() - len(self._bytes), 0)

    def frame(self) -> tuple[bytes, dict, bytes] | None:
        """Nonce, header, payload."""
        size = self._size()
        if len(self._bytes) < HEAD.size or len(self._bytes) < size:
            return None
        _, nonce, header_size, _ = HEAD.unpack_from(self._bytes)
        text = bytes(self._bytes[HEAD.size : HEAD.size + header_size])
        payload = bytes(self._bytes[HEAD.size + header_size : size])
        del self._bytes[:size]
        try:
            header = _loads(text)
        except (ValueError, RecursionError) as error:
            raise WireError("the header is not JSON") from error
        if not isinstance(header, dict):
            raise WireError("the header is not an object")
        return nonce, header, payload

    def _size(self) -> int:
        """Bytes of the frame that has begun, as far as they are known."""
        if len(self._bytes) < HEAD.size:
            if not MAGIC.startswith(bytes(self._bytes[: len(MAGIC)])):
                raise WireError("these are not the bytes of a frame")
            return HEAD.size
        magic, nonce, header, payload = HEAD.unpack_from(self._bytes)
        if magic != MAGIC or header > MOST_HEADER or payload > self._most:
            raise WireError("these are not the bytes of a frame")
        if self.expected is not None and nonce != self.expected:
            raise Forged("the nonce is not the request's")
        return HEAD.size + header + payload


def encode(value, buffers: list[bytes]):
    """`value` as JSON; the bytes of tensors and arrays are appended to `buffers`. Unknown types become `Other`."""
    encoder = _Encoder()
    try:
        node = encoder.node(value)
    except _TooLarge:
        return {"other": f"{type(value).__name__} with too much in it"}
    buffers += encoder.buffers
    return node


def as_sent(value):
    """`value` as it arrives on the other side, so that here and there the same is judged."""
    buffers: list[bytes] = []
    node = encode(value, buffers)
    return Decoder(b"".join(buffers)).value(node)


class _TooLarge(Exception):
    pass


class _Encoder:
    """Encodes one value and keeps count of what is in it."""

    def __init__(self):
        self.buffers: list[bytes] = []
        self._items = self._letters = 0

    def node(self, value, depth: int = 0):
        self._items += 1
        if self._items > MOST_ITEMS:
            raise _TooLarge
        value = _as_data(value)
        if value is None or isinstance(value, PLAIN):
            return self._plain(value)
        if value is Ellipsis:
            return {"blank": True}
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None and isinstance(value, torch.Tensor):
            return self._tensor(value)
        if numpy is not None and isinstance(value, numpy.bool_ | numpy.integer | numpy.floating):
            return self._plain(_plain_number(value))
        if numpy is not None and isinstance(value, numpy.ndarray):
            return self._array(value)
        if isinstance(value, (Real, Decimal)):  # fractions.Fraction(1, 2), say
            return _float(value)
        if isinstance(value, dict) and depth < MOST_DEPTH:
            kind = "labelled" if isinstance(value, Labelled) else "dict"
            return {kind: [[self.node(part, depth + 1) for part in pair] for pair in value.items()]}
        if isinstance(value, (list, tuple)) and depth < MOST_DEPTH:
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.node(item, depth + 1) for item in value]}
        return {"other": type(value).__name__}

    def _plain(self, value):
        kind = next((kind for kind in PLAIN if isinstance(value, kind)), None)
        if kind is None:
            return None
        plain = str.__str__(value) if kind is str else kind(value)  # of an enumeration too, its value
        if kind is str:
            self._letters += len(plain)
            if self._letters > MOST_LETTERS:
                raise _TooLarge
        if kind is int and plain.bit_length() > MOST_BITS:
            return math.copysign(math.inf, plain > 0 or -1)
        return plain

    def _tensor(self, tensor):
        import torch

        dtype = str(tensor.dtype).removeprefix("torch.")
        if tensor.is_meta:
            return {"other": "tensor on the device meta, which has no numbers"}
        if dtype not in SIZES or tensor.layout != torch.strided:
            return {"other": f"tensor of {dtype}, {tensor.layout}"}
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        flat = flat.as_strided(flat.shape, (1,))  # of a single number, contiguous() leaves any step as it is
        data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        self.buffers.append(data)
        return {"tensor": [dtype, list(tensor.shape), len(data), tensor.requires_grad]}

    def _array(self, array):
        if array.dtype.name not in SIZES:
            return {"other": f"array of {array.dtype.name}"}
        data = array.astype(array.dtype.newbyteorder("="), copy=False).tobytes()
        self.buffers.append(data)
        return {"array": [array.dtype.name, list(array.shape), len(data), False]}


def _as_data(value):
    """An enumeration's value, and what NumPy and pandas hold: by its labels, an array, or a list where it is text."""
    if isinstance(value, Enum):
        return value.value
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Series | pandas.Index | pandas.DataFrame):
        if not isinstance(value, pandas.Index) and _in_words(value.keys()):
            return Labelled(value.items())
        array = value.to_numpy()
        return array if array.dtype.name in SIZES or array.size > MOST_ITEMS else array.tolist()
    if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind == "U" and value.size <= MOST_ITEMS:
        return value.tolist()
    return value


def _in_words(labels) -> bool:
    """Whether the labels, few enough to be looked at, are words, and each another one."""
    words = len(labels) <= MOST_ITEMS and all(isinstance(label, str) for label in labels)
    return words and 0 < len(labels) == len(set(labels))


def _plain_number(value):
    """A numpy scalar as Python's own kind of number."""
    return {"b": bool, "i": int, "u": int}.get(value.dtype.kind, float)(value)


def _float(number) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number > 0 or -1)
    except ValueError:  # Decimal("sNaN")
        return math.nan


class Decoder:
    """Turns what `encode` made back into values; the arrays' bytes are taken from the payload in order."""

    def __init__(self, payload: bytes):
        self._payload, self._at, self._items = payload, 0, 0

    def value(self, node, depth: int = 0):
        self._items += 1
        if depth > MOST_DEPTH or self._items > MOST_ITEMS:
            raise WireError("the value is too deep or has too many parts")
        if node is None or type(node) in PLAIN:
            return node
        if type(node) is not dict or len(node) != 1:
            raise WireError("a part of the value is malformed")
        ((kind, content),) = node.items()
        if kind == "blank":
            return Ellipsis
        if kind == "other":
            return Other(str(content)[:80])
        if type(content) is not list:
            raise WireError("a part of the value is malformed")
        if kind in ("list", "tuple"):
            items = [self.value(item, depth + 1) for item in content]
            return tuple(items) if kind == "tuple" else items
        if kind in ("dict", "labelled"):
            found = self._dict(content, depth)
            return Labelled(found) if kind == "labelled" else found
        if kind in ("tensor", "array"):
            return self._array(kind, *self._described(content))
        raise WireError("a part of the value is of no known kind")

    def _dict(self, content, depth):
        found = {}
        for pair in content:
            if type(pair) is not list or len(pair) != 2:
                raise WireError("a dict is malformed")
            key, value = (self.value(part, depth + 1) for part in pair)
            if not isinstance(key, PLAIN):
                raise WireError("a dict has a key that is neither text nor a number")
            found[key] = value
        return found

    def _described(self, content):
        """The checked dtype, shape, bytes and gradient flag of an array."""
        if len(content) != 4:
            raise WireError("an array is malformed")
        dtype, shape, size, grad = content
        sound = type(dtype) is str and dtype in SIZES and type(shape) is list and type(size) is int
        sound = sound and len(shape) <= MOST_DIMENSIONS
        if not sound or not all(type(side) is int and 0 <= side <= MOST_REQUEST for side in shape):
            raise WireError("an array is malformed")
        if math.prod(max(side, 1) for side in shape) > MOST_REQUEST:  # also where one side is 0
            raise WireError("an array is too large")
        if math.prod(shape) * SIZES[dtype] != size or self._at + size > len(self._payload):
            raise WireError("an array's bytes do not fit its shape")
        data = self._payload[self._at : self._at + size]
        self._at += size
        return dtype, shape, data, grad is True

    def _array(self, kind, dtype, shape, data, grad):
        import torch

        flat = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
        tensor = (flat != 0) if dtype == "bool" else flat.view(getattr(torch, dtype))
        tensor = tensor.reshape(shape)
        if kind == "array":
            if dtype == "bfloat16":
                raise WireError("numpy has no bfloat16")
            return tensor.numpy()
        return tensor.requires_grad_() if grad and (tensor.is_floating_point() or tensor.is_complex()) else tensor
