"""Splits: which documents train and which test, as row numbers; every one is seeded.

Examples
--------
>>> import deplda
>>> corpus = deplda.datasets.newsroom(100).corpus
>>> rows = deplda.splits.random_split(corpus, 0.25, seed=0)
>>> len(rows.train), len(rows.test)
(75, 25)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data import checks
from deplda.data.corpus import Corpus
from deplda.errors import InputError

MOST_FOLDS = 100
"""That the values of a field may be."""


class Split(NamedTuple):
    """Row numbers of the training and of the test documents: ``corpus[split.train]``.

    Examples
    --------
    >>> import deplda
    >>> split = deplda.Split([0, 1, 2], [3])
    >>> corpus = deplda.datasets.newsroom(4).corpus
    >>> len(corpus[split.train]), len(corpus[split.test])
    (3, 1)
    """

    train: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def k_fold(
    corpus: Corpus, k: int = 10, *, seed: int = 0, groups: Sequence[str] = ()
) -> Iterator[Split]:
    """Yield k splits; each document is in exactly one test part, all of about the same size.

    Documents of one of the `groups` are in the same part; one whose group is "" stands alone.
    """
    checks.whole("k", k, least=2, most=len(corpus))
    rng = np.random.default_rng(seed)
    if not groups:
        folds = np.empty(len(corpus), dtype=np.int64)
        folds[rng.permutation(len(corpus))] = np.arange(len(corpus)) % k
        yield from by_fold(folds)
        return
    group_of = group_numbers(groups, len(corpus))
    sizes = np.bincount(group_of)
    checks.whole("k", k, most=len(sizes))
    # The largest first, each to the fold that has fewest documents yet.
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.empty(len(sizes), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for group in order:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    yield from by_fold(fold_of[group_of])


def group_numbers(groups: Sequence[str], n: int) -> npt.NDArray[np.int64]:
    """Return the number of each document's group; one whose group is "" is a group by itself."""
    if len(groups) != n:
        raise InputError(f"there are {len(groups):,} groups for {n:,} documents; give one for each")
    names = [("", row) if group == "" else (group, -1) for row, group in enumerate(groups)]
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], dtype=np.int64)


def by_values(values: Sequence[str]) -> tuple[Split, ...]:
    """Return the splits that a field of the documents tells.

    Where some say "test", these test and all others train; else each value is a fold.
    """
    said = np.array([value.strip().lower() for value in values])
    in_test, found = said == "test", sorted(set(said.tolist()))
    if in_test.all() or len(found) == 1:
        raise InputError(
            f"all {len(said):,} documents say {found[0]!r}; those that say 'test' test and "
            "others train, or each value is a fold"
        )
    if in_test.any():
        return (Split(np.flatnonzero(~in_test), np.flatnonzero(in_test)),)
    if len(found) > MOST_FOLDS:
        raise InputError(
            f"there are {len(found):,} values such as {found[0]!r}, none of which is 'test', and "
            f"of folds there may be {MOST_FOLDS}"
        )
    return tuple(by_fold(np.unique(said, return_inverse=True)[1]))


def by_fold(folds: npt.NDArray[np.int64]) -> Iterator[Split]:
    """Yield one split for each fold number, in their order: that fold tests, the others train."""
    for fold in np.unique(folds):
        yield Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))


def random_split(
    corpus: Sized, test_share: float = 0.2, *, seed: int = 0, groups: Sequence[str] = ()
) -> Split:
    """Return a random split with `test_share` of the documents in the test part.

    Documents of one of the `groups` are in the same part, so that the share is nearly that.
    """
    _check_share("test_share", test_share)
    rng = np.random.default_rng(seed)
    if not groups:
        order = rng.permutation(len(corpus))
        n_test = round(test_share * len(corpus))
        return Split(np.sort(order[n_test:]), np.sort(order[:n_test]))
    group_of = group_numbers(groups, len(corpus))
    sizes = np.bincount(group_of)
    if len(sizes) < 2:
        raise InputError("all documents are of one group, which cannot be parted")
    order = rng.permutation(len(sizes))
    n_groups = 1 + int(np.abs(np.cumsum(sizes[order])[:-1] - test_share * len(corpus)).argmin())
    in_test = np.isin(group_of, order[:n_groups])
    return Split(np.flatnonzero(~in_test), np.flatnonzero(in_test))


def split_at(splits: Sequence[Split], number: str) -> Split:
    """Return the split with this number, as it stands on a command line."""
    if not number.isdecimal() or int(number) >= len(splits):
        last = len(splits) - 1
        raise InputError(f"there is no split {number}; they are 0 to {last}, or none for all")
    return splits[int(number)]


class TrainingPart(NamedTuple):
    """Which documents train: those of a split, but for a share that is held out for testing."""

    split: str | None = None
    holdout: float | None = None
    seed: int = 0

    def rows(self, n: int, splits: Sequence[Split] = ()) -> npt.NDArray[np.int64]:
        """Return the rows of n documents that train."""
        is_split = splits and self.split is not None
        rows = split_at(splits, str(self.split)).train if is_split else np.arange(n)
        if self.holdout is None:
            return rows
        return rows[random_split(rows, self.holdout, seed=self.seed).train]


def split_by_ids(corpus: Corpus, test_ids: Iterable[str]) -> Split:
    """Return the split whose test part is the documents with these ids."""
    rows = {name: row for row, name in enumerate(corpus.ids)}
    wanted = list(dict.fromkeys(test_ids))
    unknown = [name for name in wanted if name not in rows]
    if unknown:
        raise InputError(
            f"{len(unknown):,} of {len(wanted):,} ids are not in the corpus, "
            f"the first is {unknown[0]!r}; ids look like {list(corpus.ids[:3])}"
        )
    in_test = np.zeros(len(corpus), dtype=bool)
    in_test[[rows[name] for name in wanted]] = True
    return Split(np.flatnonzero(~in_test), np.flatnonzero(in_test))


def _check_share(name: str, share: float) -> None:
    """Raise if a share leaves one part without documents."""
    checks.positive(**{name: checks.share(name, share)})
