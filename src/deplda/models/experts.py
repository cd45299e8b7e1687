"""Suggestions of other programs, experts, as evidence beside words.

An expert is a file of suggestions, or an object that ranks labels. What it says of a document is a
sparse row of scores over labels. How far each is to be trusted, for frequent labels and for rare
ones, is learned from documents held out, of which it must not have learned: a file's suggestions
are taken to be such, and an object that has ``fit`` is fitted without them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.base import clone

from deplda.data.corpus import sparse_rows
from deplda.data.readers.expert_files import MOST_SCORE, Suggestions, read_suggestions
from deplda.data.targets import Indicator
from deplda.errors import InputError, MissingSuggestionsWarning, warn
from deplda.models.candidates import Sparse
from deplda.models.expert_signals import ranked
from deplda.models.mixture import BASE, GIVEN
from deplda.models.signals import NAME_SIGNALS, SIGNALS
from deplda.models.vectors import OF_VECTORS, Directions, Vectors

Bools = npt.NDArray[np.bool_]

MOST_EXPERTS, _LONGEST_NAME = 16, 64
_MOST_SUGGESTED = 100
"""Suggestions of an expert for a document that are looked at."""
_TAKEN = {BASE, "calibration", *OF_VECTORS, *(signal.name for signal in (*SIGNALS, *NAME_SIGNALS))}


# What users give ---------------------------------------------------------------------------------


def named_experts(given: Any) -> dict[str, Any]:
    """Return experts by name; those of a list are named by their file or their class."""
    if not given:
        return {}
    if isinstance(given, str | os.PathLike) or not isinstance(given, Iterable):
        raise InputError(f"experts are {given!r}; give a list of them, or a dict by name")
    pairs = list(given.items()) if isinstance(given, Mapping) else [_named(each) for each in given]
    found: dict[str, Any] = {}
    for name, expert in pairs:
        check_name(name)
        if name in found:
            raise InputError(f"two experts are called {name!r}; give a dict with other names")
        found[name] = _opened(name, expert)
    if len(found) > MOST_EXPERTS:
        raise InputError(f"there are {len(found):,} experts; give {MOST_EXPERTS} at most")
    return found


def check_name(name: Any) -> None:
    """Raise if an expert cannot be called so."""
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
        raise InputError(
            f"an expert is called {str(name)[:80]!r}; give 1 to {_LONGEST_NAME} printable letters"
        )
    if name in _TAKEN or name.endswith(GIVEN) or name != name.strip():
        raise InputError(f"an expert cannot be called {name!r}, as a signal is; give another name")


def _named(expert: Any) -> tuple[str, Any]:
    if isinstance(expert, tuple) and len(expert) == 2 and isinstance(expert[0], str):
        return expert
    if isinstance(expert, str | os.PathLike):
        return Path(expert).name.split(".")[0], expert
    return type(expert).__name__, expert


def _opened(name: str, expert: Any) -> Any:
    """Return an expert that can be asked; a file is read."""
    if isinstance(expert, str | os.PathLike):
        return read_suggestions(expert)
    if isinstance(expert, Suggestions) or callable(getattr(expert, "rank", None)):
        return expert
    raise InputError(
        f"the expert {name!r} is a {type(expert).__name__}; it must be a file of suggestions, "
        "Suggestions, or an object with rank(X, k)"
    )


class Asked(NamedTuple):
    """Documents that experts are asked about."""

    counts: Sparse
    ids: Sequence[str]
    classes: npt.NDArray[Any]


def are_known(expert: Any, ids: Sequence[str]) -> Bools:
    """Return which documents an expert can be asked about: those of its file, or all."""
    if not isinstance(expert, Suggestions):
        return np.ones(len(ids), bool)
    return np.array([id in expert.places for id in ids], bool)


def taught(expert: Any, counts: Sparse, labels: Indicator, classes: npt.NDArray[Any]) -> Any:
    """Return an expert that has learned from these documents, if it can learn at all."""
    if isinstance(expert, Suggestions) or not callable(getattr(expert, "fit", None)):
        return expert
    copied = clone(expert) if hasattr(expert, "get_params") else deepcopy(expert)
    rows = np.split(labels.indices, labels.indptr[1:-1])
    copied.fit(counts, [classes[own].tolist() for own in rows])
    return copied


def said_by(name: str, expert: Any, asked: Asked) -> Sparse:
    """Return what an expert says of documents, documents × labels."""
    if not isinstance(expert, Suggestions):
        return _most(_ranked_by(name, expert, asked))
    found, is_known = expert.of(asked.ids, asked.classes.tolist())
    missing = len(is_known) - sum(is_known)
    if missing:
        first = asked.ids[is_known.index(False)]
        told = f"the expert {name!r} lacks {missing:,} of {len(is_known):,} documents"
        if missing == len(is_known):
            raise InputError(
                f"{told} (the first is {first!r}, its own first {expert.ids[0]!r}); give a file "
                "of the same ids"
            )
        warn(f"{told}, such as {first!r}", MissingSuggestionsWarning)
    if expert.labels and {*expert.labels}.isdisjoint(map(str, asked.classes)):
        raise InputError(
            f"the expert {name!r} suggests labels such as {expert.labels[0]!r}, of which the model "
            f"knows none; its own are such as {str(asked.classes[0])!r}"
        )
    return _most(found)


def _ranked_by(name: str, expert: Any, asked: Asked) -> Sparse:
    """Return what an object that ranks says; labels that the model does not know are left out."""
    labels, scores = expert.rank(asked.counts, _MOST_SUGGESTED)
    labels, scores = np.asarray(labels, dtype=object), np.asarray(scores, dtype=np.float64)
    shape = len(asked.ids), labels.shape[1] if labels.ndim == 2 else -1
    if not labels.shape == scores.shape == shape or not (np.abs(scores) <= MOST_SCORE).all():
        raise InputError(
            f"rank of the expert {name!r} gave labels {labels.shape} and scores {scores.shape} for "
            f"{len(asked.ids):,} documents; it must give both, documents × k, all scores from "
            f"{-MOST_SCORE:g} to {MOST_SCORE:g}"
        )
    places = {label: place for place, label in enumerate(asked.classes.tolist())}
    columns = np.array([places.get(label, -1) for label in labels.ravel()], np.int64)
    columns = columns.reshape(shape)
    found: Sparse = sparse_rows(columns, scores, columns >= 0, len(asked.classes))
    if not found.has_canonical_format:
        raise InputError(f"rank of the expert {name!r} gave a document the same label twice")
    return found


def _most(suggested: Sparse) -> Sparse:
    """Return the best suggestions of each document, as many as are looked at."""
    own, _, rank = ranked(suggested)
    is_kept = rank < _MOST_SUGGESTED
    ends = np.concatenate([[0], np.cumsum(np.bincount(own[is_kept], minlength=suggested.shape[0]))])
    kept = suggested.data[is_kept], suggested.indices[is_kept], ends
    return csr_array(kept, shape=suggested.shape)


class Evidence(NamedTuple):
    """What is known of training documents beside their words."""

    experts: dict[str, Any]
    asked: Asked
    labels: Indicator
    directions: Directions | None

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that say something of documents, those of vectors last."""
        return (*self.experts, *(() if self.directions is None else OF_VECTORS))

    def are_known(self) -> Bools:
        """Return which documents all experts can be asked about."""
        found = np.ones(len(self.asked.ids), bool)
        for name, expert in self.experts.items():
            own = are_known(expert, self.asked.ids)
            found &= own
            if not found.any():
                raise InputError(
                    f"the expert {name!r} has no suggestions for any of {len(own):,} training "
                    f"documents, whose ids are such as {self.asked.ids[0]!r} (numbers where the "
                    "documents have none); give a file with these ids"
                )
        return found

    def of_held_out(self, fold: Any, rest: Any) -> tuple[Sparse, ...]:
        """Return what is said of documents held out, by what all others teach."""
        counts, ids, classes = self.asked
        asked = Asked(counts[fold], [ids[row] for row in fold], classes)
        found = tuple(
            said_by(name, taught(expert, counts[rest], self.labels[rest], classes), asked)
            for name, expert in self.experts.items()
        )
        if self.directions is None:
            return found
        known = Vectors.of(self.directions[rest], self.labels[rest])
        return found + known.said_of_many(self.directions[fold])

    def taught_by_all(self) -> tuple[dict[str, Any], Vectors | None]:
        """Return the experts, and the vectors, as all documents teach them."""
        counts, _, classes = self.asked
        experts = {
            name: taught(expert, counts, self.labels, classes)
            for name, expert in self.experts.items()
        }
        own = self.directions
        return experts, None if own is None else Vectors.of(own, self.labels)
