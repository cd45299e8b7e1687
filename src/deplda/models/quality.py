"""What a model reached on training documents held out: a few figures for people."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from deplda.evaluation import rank_metrics


def held_out_quality(scores: Any, truth: Any) -> dict[str, float]:
    """Return means over documents held out, and over their labels; empty if they have none.

    `scores` are those of all labels, or a sparse matrix of those of candidates.
    """
    known = csr_array(truth).astype(bool)
    known.eliminate_zeros()
    if not known.nnz:
        return {}
    tested = np.flatnonzero(known.sum(axis=0))
    by_document = rank_metrics(scores, known, ks=(5,))
    by_label = rank_metrics(scores[:, tested], known[:, tested], pivot="label", ks=())
    found = {
        "average_precision": by_document["average_precision"],
        "one_error": by_document["one_error"],
        "precision@5": by_document["precision@5"],
        "label_average_precision": by_label["average_precision"],
    }
    means = {name: float(np.nanmean(values)) for name, values in found.items()}
    return {"documents": float(known.shape[0])} | means
