"""MATLAB 5 files: the structs, cells, strings and numbers in them.

scipy's parser takes the interpreter down with it when a file is damaged; this one reads no more
than the authors' files need, and trusts no length it finds.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from itertools import islice
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

_MOST_DIMENSIONS, _MOST_FIELDS = 32, 10_000
_NOTHING = np.empty(0)

Element = tuple[int, memoryview]


class UnpackedTooLargeError(InputError):
    """The variables of a file have more bytes than they may."""


def read_matlab5(content: bytes | bytearray, limit: int) -> dict[str, Any]:
    """Return the variables by name: a struct as dict, a cell array as list, str and arrays.

    None stands for what has no place here: objects, functions, sparse and complex numbers.
    Unpacked, all variables together may have `limit` bytes.
    """
    order = {b"IM": "<", b"MI": ">"}.get(bytes(content[126:_HEADER_SIZE]))
    if order is None:
        raise InputError("this is not a MATLAB 5 file: its header does not end in 'IM' or 'MI'")
    if struct.unpack_from(order + "H", content, 124) != (0x0100,):
        raise InputError("this is not a MATLAB 5 file; save it with: save(..., '-v7')")
    try:
        elements = _unpacked(memoryview(content)[_HEADER_SIZE:], order, limit)
        return dict(_matrix(element, order) for element in elements)
    except InputError:
        raise
    except (zlib.error, struct.error, ValueError) as error:
        raise InputError(
            f"this MATLAB 5 file is cut off or damaged ({error}); copy it again"
        ) from error
    except RecursionError as error:
        raise InputError("the cells of this MATLAB 5 file are nested too deeply") from error


def _unpacked(data: memoryview, order: str, limit: int) -> Iterator[Element]:
    for kind, part in _elements(data, order):
        if kind != _COMPRESSED:
            yield kind, part
            continue
        unpacked = _inflated(part, order, limit)
        limit -= len(unpacked)
        yield from _elements(memoryview(unpacked), order)


def _inflated(data: memoryview, order: str, limit: int) -> bytes:
    """Return the matrix in a packed element, which says at its beginning how long it is."""
    beginning = zlib.decompressobj().decompress(data, 8)
    size = 8 + struct.unpack(order + "II", beginning)[1]
    if size > limit:
        raise UnpackedTooLargeError
    inflater = zlib.decompressobj()
    unpacked = inflater.decompress(data, size + 8)  # which may be filled up to a multiple of 8
    if not inflater.eof:
        raise ValueError("a packed element is cut off, or longer than it says")
    return unpacked


def _elements(data: memoryview, order: str) -> Iterator[Element]:
    """Yield the kind and the bytes of each element that stands in these bytes."""
    at = 0
    while at < len(data):
        first, size = struct.unpack_from(order + "II", data, at)
        if first >> 16:  # small: size and kind in four bytes, at most four of data behind them
            kind, size, start, at = first & 0xFFFF, first >> 16, at + 4, at + 8
        else:
            kind, start = first, at + 8
            at = start + size + (0 if kind == _COMPRESSED else -size % 8)
        if start + size > min(at, len(data)):
            raise ValueError("an element is longer than its place")
        yield kind, data[start : start + size]


def _matrix(element: Element, order: str) -> tuple[str, Any]:
    """Return the name and the value of a variable, a cell or a field."""
    kind, data = element
    if kind != _MATRIX:
        raise ValueError(f"an element is of kind {kind}")
    if not data:
        return "", _NOTHING
    parts = _elements(data, order)
    (_, flags), sizes, (_, name) = _first(parts, 3)
    word = struct.unpack_from(order + "I", flags)[0]
    n = math.prod(_whole_numbers(sizes, order, _MOST_DIMENSIONS))
    return str(name, "latin-1"), _value(word & 0xFF, bool(word & _COMPLEX), n, parts, order)


def _first(elements: Iterator[Element], n: int) -> list[Element]:
    found = list(islice(elements, n))
    if len(found) < n:
        raise ValueError("a variable has too few elements")
    return found


def _value(form: int, is_complex: bool, n: int, parts: Iterator[Element], order: str) -> Any:
    if form == _CELL:
        return [_matrix(part, order)[1] for part, _ in zip(parts, range(n), strict=True)]
    if form == _STRUCT:
        return _struct(n, parts, order)
    if form == _CHAR:
        ((kind, data),) = _first(parts, 1)
        if kind not in _ENCODINGS:
            raise ValueError(f"a text is of kind {kind}")
        wide = "" if kind not in (4, 17, 18) else "-le" if order == "<" else "-be"
        return str(data, _ENCODINGS[kind] + wide)
    if not _FIRST_NUMBER <= form <= _LAST_NUMBER or is_complex:
        return None
    numbers = _numbers(_first(parts, 1)[0], order)
    if len(numbers) != n:
        raise ValueError(f"{len(numbers)} numbers stand for {n}")
    return numbers


def _struct(n: int, parts: Iterator[Element], order: str) -> dict[str, Any] | None:
    if n != 1:
        return None
    width, (_, names) = _first(parts, 2)
    (size,) = _whole_numbers(width, order, 1)
    starts = range(0, len(names), size)
    if len(starts) > _MOST_FIELDS:
        raise ValueError(f"a struct has {len(starts):,} fields")
    fields = [bytes(names[at : at + size]).rstrip(b"\0").decode("latin-1") for at in starts]
    return {field: _matrix(value, order)[1] for field, value in zip(fields, parts, strict=True)}


def _numbers(element: Element, order: str) -> Any:
    kind, data = element
    if kind not in _NUMBERS:
        raise ValueError(f"numbers are of kind {kind}")
    return np.frombuffer(data, np.dtype(order + _NUMBERS[kind]))


def _whole_numbers(element: Element, order: str, most: int) -> list[int]:
    numbers = _numbers(element, order)
    if numbers.dtype.kind not in "iu" or len(numbers) > most:
        raise ValueError(f"sizes are {len(numbers):,} numbers of type {numbers.dtype}")
    return numbers.tolist()
