"""MATLAB 5 files: the structs, cells, strings and numbers in them.

scipy's parser takes the interpreter down with it when a file is damaged; this one reads no more
than the authors' files need, and trusts no length it finds.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np

from deplda.errors import InputError

_HEADER_SIZE = 128
_COMPRESSED, _MATRIX = 15, 14
_CELL, _STRUCT, _CHAR, _FIRST_NUMBER, _LAST_NUMBER = 1, 2, 4, 6, 15
_COMPLEX = 0x800
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"
}  # fmt: skip
_ENCODINGS = {1: "ascii", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}

Element = tuple[int, memoryview]


def read_matlab5(content: bytes) -> dict[str, Any]:
    """Return the variables by name: a struct as dict, a cell array as list, str and arrays.

    None stands for what has no place here: objects, functions, sparse and complex numbers.
    """
    order = {b"IM": "<", b"MI": ">"}.get(content[126:_HEADER_SIZE])
    if order is None:
        raise InputError("this is not a MATLAB 5 file: its header does not end in 'IM' or 'MI'")
    if struct.unpack_from(order + "H", content, 124) != (0x0100,):
        raise InputError("this is not a MATLAB 5 file; save it with: save(..., '-v7')")
    try:
        return dict(_matrix(element, order) for element in _unpacked(content[_HEADER_SIZE:], order))
    except (zlib.error, struct.error, ValueError) as error:
        raise InputError(
            f"this MATLAB 5 file is cut off or damaged ({error}); copy it again"
        ) from error
    except RecursionError as error:
        raise InputError("the cells of this MATLAB 5 file are nested too deeply") from error


def _unpacked(data: bytes, order: str) -> list[Element]:
    unpacked = []
    for kind, part in _elements(memoryview(data), order):
        packed = kind == _COMPRESSED
        inner = _elements(memoryview(zlib.decompress(part)), order) if packed else [(kind, part)]
        unpacked.extend(inner)
    return unpacked


def _elements(data: memoryview, order: str) -> list[Element]:
    """Return the kind and the bytes of each element that stands in these bytes."""
    elements, at = [], 0
    while at < len(data):
        first, size = struct.unpack_from(order + "II", data, at)
        if first >> 16:  # small: size and kind in four bytes, at most four of data behind them
            kind, size, start, at = first & 0xFFFF, first >> 16, at + 4, at + 8
        else:
            kind, start = first, at + 8
            at = start + size + (0 if kind == _COMPRESSED else -size % 8)
        if start + size > min(at, len(data)):
            raise ValueError("an element is longer than its place")
        elements.append((kind, data[start : start + size]))
    return elements


def _matrix(element: Element, order: str) -> tuple[str, Any]:
    """Return the name and the value of a variable, a cell or a field."""
    kind, data = element
    if kind != _MATRIX:
        raise ValueError(f"an element is of kind {kind}")
    if not data:
        return "", np.empty(0)
    (_, flags), sizes, (_, name), *parts = _elements(data, order)
    word = struct.unpack_from(order + "I", flags)[0]
    n = math.prod(_numbers(sizes, order).tolist())
    return str(name, "latin-1"), _value(word & 0xFF, bool(word & _COMPLEX), n, parts, order)


def _value(form: int, is_complex: bool, n: int, parts: list[Element], order: str) -> Any:
    if form == _CELL:
        return [_matrix(part, order)[1] for part, _ in zip(parts, range(n), strict=True)]
    if form == _STRUCT:
        return _struct(n, parts, order)
    if form == _CHAR:
        (kind, data), *_ = parts
        if kind not in _ENCODINGS:
            raise ValueError(f"a text is of kind {kind}")
        wide = "" if kind not in (4, 17, 18) else "-le" if order == "<" else "-be"
        return str(data, _ENCODINGS[kind] + wide)
    if not _FIRST_NUMBER <= form <= _LAST_NUMBER or is_complex:
        return None
    values, *_ = parts
    numbers = _numbers(values, order)
    if len(numbers) != n:
        raise ValueError(f"{len(numbers)} numbers stand for {n}")
    return numbers


def _struct(n: int, parts: list[Element], order: str) -> dict[str, Any] | None:
    if n != 1:
        return None
    width, (_, names), *values = parts
    size = int(_numbers(width, order).max(initial=0))
    starts = range(0, len(names), size)
    fields = [bytes(names[at : at + size]).rstrip(b"\0").decode("latin-1") for at in starts]
    return {field: _matrix(value, order)[1] for field, value in zip(fields, values, strict=True)}


def _numbers(element: Element, order: str) -> Any:
    kind, data = element
    if kind not in _NUMBERS:
        raise ValueError(f"numbers are of kind {kind}")
    return np.frombuffer(data, np.dtype(order + _NUMBERS[kind]))
