"""Sparse rows that grow one by one."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from deplda.data.corpus import check_distinct


def column_numbers(names: Iterable[str], what: str = "names") -> dict[str, int]:
    """Return the column number of each name; raise if a name occurs twice."""
    columns = tuple(names)
    check_distinct(columns, what)
    return {name: number for number, name in enumerate(columns)}


class SparseRows:
    """Growing sparse rows over names, learned as they come or fixed at the start.

    Rows over the same names can share their `column_numbers`.
    """

    def __init__(self, names: Iterable[str] | None = None, what: str = "names") -> None:
        self.fixed = names is not None
        if self.fixed:
            self.places = names if isinstance(names, dict) else column_numbers(names or (), what)
        else:
            self.places = defaultdict[str, int]()
            self.places.default_factory = self.places.__len__
        self.data, self.indices, self.ends = array("i"), array("i"), array("q", [0])

    def add(self, row: Mapping[str, int]) -> None:
        """Append a row."""
        if not self.fixed:
            self.indices.extend(map(self.places.__getitem__, row))
            self.data.extend(row.values())
        else:
            places = zip(map(self.places.get, row), row.values(), strict=True)
            kept = [(place, value) for place, value in places if place is not None]
            self.indices.extend([place for place, _ in kept])
            self.data.extend([value for _, value in kept])
        self.ends.append(len(self.data))

    def matrix(self) -> tuple[Any, tuple[str, ...]]:
        """Return the rows, and the names of their columns; those learned are sorted."""
        names = tuple(self.places)
        indices = np.frombuffer(self.indices, dtype=np.int32)
        if not self.fixed:
            names = tuple(sorted(names))
            rank = np.empty(len(names), dtype=np.int32)
            rank[[self.places[name] for name in names]] = np.arange(len(names), dtype=np.int32)
            indices = rank[indices]
        data = np.frombuffer(self.data, dtype=np.int32)
        ends = np.frombuffer(self.ends, dtype=np.int64)
        rows = csr_array((data, indices, ends), shape=(len(ends) - 1, len(names)))
        if not data.all():
            rows.eliminate_zeros()
        return rows, names
