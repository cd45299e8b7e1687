"""Which training documents are held out, to see how a model does on what it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import only_columns
from deplda.errors import InputError

Numbers = npt.NDArray[np.int64]

_SHARE_OF_A_FOLD, _MOST_FOLDS = 5, 5


def folds_of(n: int, n_held_out: int, groups: Any, seed: int) -> list[Numbers]:
    """Return the documents to hold out: folds of a fifth of all at most, five at most.

    There are as many folds as it takes to hold out `n_held_out` documents. A group is in one fold.
    """
    which = np.arange(n) if groups is None else np.asarray(groups)
    if which.shape != (n,):
        raise InputError(
            f"groups have the shape {which.shape}; they need one value for each of {n:,} documents"
        )
    try:
        _, group_of = np.unique(which, return_inverse=True)
    except TypeError as error:
        raise InputError(f"groups cannot be put in order ({error}); give all as text") from error
    n_groups = int(group_of.max(initial=-1)) + 1
    place = np.random.default_rng(seed).permutation(n_groups)[group_of]
    order = np.argsort(place, kind="stable")
    size = min(n // _SHARE_OF_A_FOLD, n_held_out)
    if size == 0 or n_groups < 2:
        return []
    # A group belongs to the fold in which its first document is.
    first = np.full(n_groups, n)
    np.minimum.at(first, place[order], np.arange(n))
    fold_of = np.empty(n, np.int64)
    fold_of[order] = first[place[order]] // size
    n_folds = min(_MOST_FOLDS, -(-n_held_out // size))
    folds = [np.flatnonzero(fold_of == number) for number in range(n_folds)]
    return [fold for fold in folds if 0 < len(fold) < n]


def folds_among(
    is_known: npt.NDArray[np.bool_], n_held_out: int, groups: Any, seed: int
) -> list[Numbers]:
    """Return the documents to hold out of those of which enough is known.

    Where these are few, all of them are one fold.
    """
    rows, n = np.flatnonzero(is_known), len(is_known)
    if len(rows) == n:
        return folds_of(n, n_held_out, groups, seed)
    if len(rows) <= min(n // _SHARE_OF_A_FOLD, n_held_out):
        return [rows]
    own = None if groups is None else np.asarray(groups)[rows]
    return [rows[fold] for fold in folds_of(len(rows), n_held_out, own, seed)]


def of_known_words(counts: Any, others: Any) -> Any:
    """Return the counts of documents held out without the words that no other document has.

    A counter of the others would not know them. Left in, they would make the known words of a
    document held out weigh less than those of a new document, and signals look weaker than they are
    there.
    """
    is_known = np.zeros(counts.shape[1], bool)
    is_known[others.indices[others.data > 0]] = True
    return only_columns(counts, is_known)


def others_teach(teaches: npt.NDArray[np.bool_], fold: Numbers) -> bool:
    """Return whether a document that is not in the fold teaches: it has words and labels."""
    teaches = teaches.copy()
    teaches[fold] = False
    return bool(teaches.any())
