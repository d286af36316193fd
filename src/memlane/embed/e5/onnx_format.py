"""Writing an ONNX model: the few messages of its protocol-buffer format that a plain graph needs.

The field numbers are those of onnx.proto (ONNX, Apache 2.0), which are fixed for good. Writing them
here spares the package `onnx`, which only graph-making tools need.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IR_VERSION = 9
_KINDS = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
_FLOAT, _INT, _INTS = 1, 2, 7
"""Types of an attribute."""

Attribute = int | float | Sequence[int]


class GraphWriter:
    """Collects nodes and constants and gives the model's bytes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._count = 0

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant; gives the name to use it by."""
        name = self._next()
        dimensions = b"".join(_number(1, size) for size in values.shape)
        kind = _number(2, _KINDS[values.dtype.name])
        raw = values.astype(values.dtype.newbyteorder("<")).tobytes()
        self._constants.append(dimensions + kind + _text(8, name) + _field(9, raw))
        return name

    def apply(self, operation: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        """Add an operation of one output; gives the output's name."""
        (name,) = self._node(operation, inputs, 1, domain, attributes)
        return name

    def split(self, value: str, sizes: str, *, count: int, axis: int) -> list[str]:
        """Cut a value into `count` parts along an axis; gives their names."""
        return self._node("Split", (value, sizes), count, "", {"axis": axis})

    def model(
        self,
        inputs: Sequence[tuple[str, Sequence[str | int]]],
        output: tuple[str, Sequence[str | int]],
        *,
        operations: Sequence[tuple[str, int]],
        kind: str = "float32",
    ) -> bytes:
        """The whole model.

        Inputs (of a `kind`) and output (float32) are given by name and shape; a named dimension is free. The
        output's name is that of a node's output. `operations` are the sets of operations in use, by domain
        and version.
        """
        graph = b"".join(_field(1, node) for node in self._nodes) + _text(2, self._name)
        graph += b"".join(_field(5, constant) for constant in self._constants)
        graph += b"".join(_field(11, _tensor(*value, kind)) for value in inputs) + _field(
            12, _tensor(*output, "float32")
        )
        imported = b"".join(
            _field(8, _text(1, domain) + _number(2, version)) for domain, version in operations
        )
        return _number(1, _IR_VERSION) + _field(7, graph) + imported

    def _node(
        self,
        operation: str,
        inputs: Sequence[str],
        outputs: int,
        domain: str,
        attributes: Mapping[str, Attribute],
    ) -> list[str]:
        names = [self._next() for _ in range(outputs)]
        node = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in names)
        node += _text(4, operation)
        node += b"".join(_field(5, _attribute(name, value)) for name, value in attributes.items())
        self._nodes.append(node + (_text(7, domain) if domain else b""))
        return names

    def _next(self) -> str:
        self._count += 1
        return f"v{self._count}"


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + b"\x15" + struct.pack("<f", value) + _number(20, _FLOAT)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _INT)
    return _text(1, name) + b"".join(_number(8, item) for item in value) + _number(20, _INTS)


def _tensor(name: str, shape: Sequence[str | int], kind: str) -> bytes:
    sizes = (_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape)
    dimensions = b"".join(_field(1, size) for size in sizes)
    tensor = _number(1, _KINDS[kind]) + _field(2, dimensions)
    return _text(1, name) + _field(2, _field(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value & (1 << 64) - 1)


def _text(field: int, text: str) -> bytes:
    return _field(field, text.encode())


def _field(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
