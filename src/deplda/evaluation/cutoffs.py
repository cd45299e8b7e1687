"""How many candidates to say yes to, for every item: proportional, and break-even."""

from __future__ import annotations

import numpy as np

from deplda.evaluation.matrices import Ints, Sparse
from deplda.evaluation.ties import TieGroups


def proportional_for_documents(train_labels: Sparse) -> int:
    """Return the median labels of a training document that has labels, a half rounded up."""
    sizes = np.diff(train_labels.indptr)
    return int(np.ceil(np.median(sizes[sizes > 0])))


def proportional_for_labels(train_counts: Ints, n_train: int, n_test: int) -> Ints:
    """Return ⌈N_c · D_test / D_train⌉ of every label, exact in whole numbers."""
    return -(-train_counts * n_test // n_train)


def break_even(groups: TieGroups) -> Ints:
    """Return the smallest number that gives an item its best F1; 0 for one without positives.

    Tied candidates are taken together or not at all: F1 within a tie group, in expectation, lies
    between those at its two ends. So only the ends of groups that hold a positive need be tried.
    """
    ends = groups.above + groups.size
    f1 = 2 * (groups.hits_above + groups.hits) / (ends + groups.positives[groups.item])
    order = np.lexsort((ends, -f1, groups.item))
    item, first = np.unique(groups.item[order], return_index=True)
    cut = np.zeros(groups.n_items, dtype=np.int64)
    cut[item] = ends[order[first]]
    return cut
