"""What a model reached on training documents held out: a few figures for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from deplda.evaluation import rank_metrics


def held_out_quality(scores: Any, truth: Any) -> dict[str, float]:
    """Return means over the documents held out that have labels, and how many these are.

    Empty if none has. `scores` are those of all labels, or a sparse matrix of those of candidates.
    """
    known = csr_array(truth).astype(bool)
    known.eliminate_zeros()
    if not known.nnz:
        return {}
    found = rank_metrics(scores, known, ks=(5,))
    names = ("average_precision", "one_error", "precision@5")
    n_documents = np.count_nonzero(np.diff(known.indptr))
    return {"documents": float(n_documents)} | {
        name: float(np.nanmean(found[name])) for name in names
    }
