"""The end of a Parquet file: how many values and bytes the columns of its row groups say they have.

pyarrow's own view of it ends the interpreter where a file is damaged; this one trusts no length.
"""

from __future__ import annotations

import os
import struct
from typing import IO, Any, NamedTuple

_BOOLEANS, _BYTE, _WHOLE, _DOUBLE, _BYTES, _LISTS, _MAP, _STRUCT = (
    (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 11, 12
)  # fmt: skip
_ROW_GROUPS, _COLUMNS, _N_ROWS, _COLUMN, _PATH, _N_VALUES, _SIZE = 4, 1, 3, 3, 3, 5, 6


class Column(NamedTuple):
    """A column of a row group."""

    path: str
    n_values: int
    size: int
    """Bytes when unpacked, a value that is repeated counted once."""


class RowGroup(NamedTuple):
    """Rows that are stored together."""

    n_rows: int
    columns: list[Column]


def row_groups(source: IO[bytes]) -> list[RowGroup]:
    """Return what the file says of its row groups; raise ValueError if it says nothing."""
    source.seek(-8, os.SEEK_END)
    size = struct.unpack("<I4x", source.read(8))[0]
    source.seek(-8 - size, os.SEEK_END)
    try:
        found = _Compact(source.read(size)).struct()
        return [_row_group(group) for group in found[_ROW_GROUPS]]
    except (IndexError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("its end is damaged") from error


def _row_group(group: dict[int, Any]) -> RowGroup:
    columns = []
    for chunk in group[_COLUMNS]:
        column = chunk[_COLUMN]
        path = ".".join(bytes(part).decode("utf-8", "replace") for part in column[_PATH])
        columns.append(Column(path, int(column[_N_VALUES]), int(column[_SIZE])))
    return RowGroup(int(group[_N_ROWS]), columns)


class _Compact:
    """Values in the compact protocol of Thrift, structs by the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            fields[number] = kind == 1 if kind in _BOOLEANS else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _BOOLEANS or kind == _BYTE:
            return self._byte()
        if kind in _WHOLE:
            return self._whole()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BYTES:
            return self._bytes(self._unsigned())
        if kind in _LISTS:
            head = self._byte()
            n = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15) for _ in range(n)]
        if kind == _MAP:
            n = self._unsigned()
            kinds = self._byte() if n else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(n)]
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(f"its end has a value of kind {kind}")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, n: int) -> bytes:
        self._at += n
        if self._at > len(self._data):
            raise IndexError
        return self._data[self._at - n : self._at]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) >> 7:
            value |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("its end has a number of more than 64 bits")
        return value | byte << shift

    def _whole(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
