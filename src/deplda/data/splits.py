"""Splits: which documents train and which test, as row numbers; every one is seeded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import Corpus
from deplda.errors import InputError


class Split(NamedTuple):
    """Row numbers of the training and of the test documents: ``corpus[split.train]``."""

    train: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def k_fold(corpus: Corpus, k: int = 10, *, seed: int = 0) -> Iterator[Split]:
    """Yield k splits; each document is in exactly one test part, all of about the same size."""
    if not 2 <= k <= len(corpus):
        raise InputError(f"k is {k}; it must be from 2 to the number of documents, {len(corpus):,}")
    folds = np.empty(len(corpus), dtype=np.int64)
    folds[np.random.default_rng(seed).permutation(len(corpus))] = np.arange(len(corpus)) % k
    yield from by_fold(folds)


def by_fold(folds: npt.NDArray[np.int64]) -> Iterator[Split]:
    """Yield one split for each fold number, in their order: that fold tests, the others train."""
    for fold in np.unique(folds):
        yield Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))


def random_split(corpus: Corpus, test_share: float = 0.2, *, seed: int = 0) -> Split:
    """Return a random split with `test_share` of the documents in the test part."""
    _check_share("test_share", test_share)
    order = np.random.default_rng(seed).permutation(len(corpus))
    n_test = round(test_share * len(corpus))
    return Split(np.sort(order[n_test:]), np.sort(order[:n_test]))


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


def nyt_split(
    corpus: Corpus, *, min_labels: int = 3, train_share: float = 0.4, seed: int = 0
) -> Split:
    """Return the paper's split of the New York Times corpus (appendix A).

    Documents with fewer than `min_labels` labels are in neither part; of the others `train_share`
    train, and so does each test document that carries a label the training part never shows.
    """
    _check_share("train_share", train_share)
    eligible = np.flatnonzero(corpus.labels_per_document >= min_labels)
    order = np.random.default_rng(seed).permutation(eligible)
    n_train = round(train_share * len(eligible))
    train, test = order[:n_train], order[n_train:]
    unseen = corpus[train].label_counts == 0
    moves = corpus.labels[test] @ unseen.astype(np.int64) > 0
    return Split(np.sort(np.concatenate([train, test[moves]])), np.sort(test[~moves]))


def _check_share(name: str, share: float) -> None:
    """Raise if a share leaves one part without documents."""
    if not 0 < share < 1:
        raise InputError(f"{name} is {share}; it must lie between 0 and 1")
