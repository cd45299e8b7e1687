"""Proper inference on a GPU: as fast inference, with memory for label tokens beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.kernels.cuda import fast
from deplda.kernels.cuda.device import Gpu, Struct
from deplda.kernels.cuda.fast import LANES, Documents, Plan, Samples
from deplda.kernels.layouts import Int64, Prior

_TABLE_WORDS, _THREADS = 256, 256


def workspace_sizes(
    n_types: Int64, n_tokens: Int64, n_labels: int, n_topics: int, conditionals: bool,
    n_label_tokens: int,
) -> Int64:  # fmt: skip
    """Return the words of memory that a chain needs for each document, as the kernel deals them."""
    places = -(-np.minimum(n_tokens, n_labels) // LANES) * LANES
    own = (n_topics + 4) * places + 2 * fast.slots_of(n_tokens + n_label_tokens, n_labels)
    own = own + n_label_tokens + n_labels
    rest = fast.workspace_sizes(
        n_types, n_tokens + n_label_tokens, n_labels, n_topics, conditionals
    )
    return np.asarray(own + rest + 7 & ~7)


def sample(
    gpu: Gpu,
    words: Struct,
    sets: Struct,
    set_starts: Int64,
    n_labels: int,
    prior: Prior,
    documents: Documents,
    plan: Plan,
    n_label_tokens: int,
) -> Samples:
    """Return the sums over all samples, those of n_c too. `prior.gamma` is Σγ.

    A document without words has none.
    """
    sizes = workspace_sizes(
        np.diff(documents.starts), fast.lengths_of(documents), n_labels,
        int(np.diff(set_starts).max()), plan.conditionals, n_label_tokens,
    )  # fmt: skip
    table = gpu.xp.empty((_TABLE_WORDS, n_label_tokens + 1), np.float32)
    gpu.launch(
        "proper", "excesses", _TABLE_WORDS, _THREADS, prior.eta / n_label_tokens, prior.alpha,
        n_label_tokens, table,
    )  # fmt: skip
    labels: Any = gpu.xp.zeros((len(documents.starts) - 1, n_labels), np.uint64)
    sums = fast.run_chains(
        gpu, "proper", words, sets, set_starts, n_labels, prior, documents, plan, sizes,
        n_label_tokens, table, labels,
    )  # fmt: skip
    return sums._replace(labels=labels)
