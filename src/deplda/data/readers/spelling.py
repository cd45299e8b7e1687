"""Fields that a file spells with other capitals or blanks than they are requested with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deplda.data.fields import Fields
from deplda.errors import InputError


def folded(name: str) -> str:
    """Return what two names of the same field have in common."""
    return name.strip().casefold()


class Spelling:
    """Finds wanted fields by their exact names, or else by the only one that differs in case.

    Blanks around a name are ignored as case is.
    """

    def __init__(self, fields: Fields) -> None:
        labels = tuple(fields.label_columns) or fields.label_fields
        where = (condition.field for condition in fields.where)
        named = (fields.id, *fields.texts, *labels, *where)
        self._wanted = [name for name in named if name is not None]
        # Another field of the same letters may be meant by its own name: it stands for no other.
        self._taken = {*self._wanted, fields.tokens, fields.counts}
        self._names: tuple[str, ...] = ()
        self._others: dict[str, str] = {}

    def others(self, names: Iterable[str]) -> dict[str, str]:
        """Return what the wanted fields that are not among these names are called there."""
        names = tuple(names)
        if names != self._names:  # rows of a file mostly have the same
            self._others = self._found(names)
            self._names = names
        return self._others

    def read_of(self, names: Iterable[str]) -> set[str]:
        """Return those of the names whose fields are read."""
        names = tuple(names)
        return {*self.others(names).values(), *self._taken.intersection(names)}

    def applied(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row, with the wanted names as well."""
        others = self.others(row)
        return row | {wanted: row[name] for wanted, name in others.items()} if others else row

    def _found(self, names: tuple[str, ...]) -> dict[str, str]:
        there = set(names)
        missing = [name for name in self._wanted if name not in there]
        alike: dict[str, list[str]] = {}
        for name in names if missing else ():
            if name not in self._taken:
                alike.setdefault(folded(name), []).append(name)
        found = {}
        for wanted in missing:
            candidates = alike.get(folded(wanted), [])
            if len(candidates) > 1:
                raise InputError(
                    f"there is no field {wanted!r}, but there are "
                    f"{' and '.join(map(repr, candidates))}; name the one that is meant exactly so"
                )
            if candidates:
                found[wanted] = candidates[0]
        return found
