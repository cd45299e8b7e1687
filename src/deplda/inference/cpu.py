"""Inference on the CPU: some documents given to the kernels, on the core that calls."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.weighting import weighed, whole
from deplda.inference.layout import Tables
from deplda.inference.scores import Floats, Inferred, Labels, scores
from deplda.inference.settings import Inference

# A batch is never more than this many documents × labels, so that memory stays bounded.
_BATCH_CELLS = 2_000_000
_BATCH_DOCUMENTS = 256
_TINY = 1e-300


def batch_size(n_labels: int) -> int:
    """Return how many documents are scored at a time."""
    return max(1, min(_BATCH_DOCUMENTS, _BATCH_CELLS // n_labels))


class Cpu(NamedTuple):
    """Infers on the CPU; can be sent to other processes."""

    tables: Tables
    inference: Inference
    seed: int

    @property
    def batch_size(self) -> int:
        """How many documents are inferred at a time."""
        return batch_size(self.tables.n_labels)

    def infer(self, counts: Any, chosen: Labels | None = None) -> Inferred:
        """Return what is inferred of the documents, averaged over chains and topic sets.

        And, entry by entry, the tokens that words give to `chosen` labels, documents × k.
        """
        times = weighed(counts.data, self.inference.word_counts)
        n, k = counts.shape[0], 0 if chosen is None else chosen.shape[1]
        is_expected = self.inference.method == "deterministic"
        batch = _Batch(
            counts.indptr.astype(np.int64),
            _read_only(counts.indices.astype(np.int32, copy=False)),
            _read_only(times if is_expected else whole(times)),
            np.zeros((n, 0), np.int64) if chosen is None else np.array(chosen),
            np.zeros((n, self.tables.n_labels)),
            np.zeros((n, self.tables.topic_starts[-1])),
            np.zeros((counts.nnz, k)),
        )
        run = _expect if is_expected else _sample
        alpha = run(batch, self.tables, self.inference, self.seed)
        return Inferred(batch.counts, alpha, batch.topics, batch.words)

    def scores(self, counts: Any) -> Floats:
        """Return the scores of the documents, documents × labels to be ranked."""
        return scores(self.infer(counts), self.inference.combine, self.tables.n_ranked)

    def shares_among(self, counts: Any, candidates: Labels) -> Floats:
        """Return the share of each document's candidates, by expectations: all others are pooled.

        A share is ½ normalise(α′) + ½ normalise(N) over all labels. Candidates differ.
        """
        from deplda.kernels.expected import expect_among

        tables, inference = self.tables, self.inference
        eta, flat = weights_of(tables, inference)
        times = weighed(counts.data, inference.word_counts).astype(np.float32)
        names = with_background(candidates, tables).astype(np.int64)
        tokens, alpha = np.empty(names.shape), np.empty(names.shape)
        expect_among(
            tables.expected_words, tables.sets, eta, flat, float(inference.gamma),
            counts.indptr.astype(np.int64), counts.indices.astype(np.int32), times,
            float(inference.tolerance), inference.max_cycles, names, tokens, alpha,
        )  # fmt: skip
        return shares_of(candidates.shape[1], counts, times, tokens, alpha, tables, inference)


def with_background(candidates: Labels, tables: Tables) -> Labels:
    """Return the candidates of each document, and behind them the background, if there is one."""
    n_background = tables.n_labels - tables.n_ranked
    background = np.full((len(candidates), n_background), tables.n_ranked)
    return np.concatenate([candidates, background], axis=1)


def shares_of(
    k: int, counts: Any, times: Any, tokens: Floats, alpha: Floats, tables: Tables,
    inference: Inference,
) -> Floats:  # fmt: skip
    """Return ½ normalise(α′) + ½ normalise(N) of k candidates: of all labels they sum to 1.

    `tokens` and `alpha` are N and α′ of the candidates and, behind them, of the background, which
    has no part in it; `times` what each entry of the counts counts as.
    """
    eta, flat = weights_of(tables, inference)
    owner = np.repeat(np.arange(len(tokens)), np.diff(counts.indptr))
    all_tokens = np.bincount(owner, times, len(tokens))
    others = all_tokens - tokens[:, k:].sum(axis=1)
    all_alpha = eta + flat * tables.n_labels - alpha[:, k:].sum(axis=1)
    of_words = tokens[:, :k] / np.maximum(others, _TINY)[:, None]
    return 0.5 * (of_words + alpha[:, :k] / np.maximum(all_alpha, _TINY)[:, None])


class _Batch(NamedTuple):
    """Some documents, the labels whose words are asked for, and what is found of them."""

    starts: npt.NDArray[np.int64]
    types: npt.NDArray[np.int32]
    times: npt.NDArray[np.int32] | npt.NDArray[np.float32]
    chosen: Labels
    counts: Floats
    topics: Floats
    words: Floats


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array as those of a corpus are: kernels are compiled for such ones."""
    view = array.view()
    view.flags.writeable = False
    return view


def _expect(batch: _Batch, tables: Tables, inference: Inference, seed: int) -> Floats:
    """Fill the batch with expectations; return α′. There is no chance in it: no seed is used."""
    from deplda.kernels.expected import expect

    eta, flat = weights_of(tables, inference)
    alpha = np.empty_like(batch.counts)
    expect(
        tables.expected_words, tables.sets, eta, flat, float(inference.gamma), batch.starts,
        batch.types, batch.times, float(inference.tolerance), inference.max_cycles, batch.chosen,
        batch.counts, alpha, batch.topics, batch.words,
    )  # fmt: skip
    return alpha


def _sample(batch: _Batch, tables: Tables, inference: Inference, seed: int) -> Floats:
    """Fill the batch with means over all samples of all topic sets; return α′."""
    eta, flat = weights_of(tables, inference)
    is_proper = inference.method == "proper" and tables.topic_starts[-1] > 0
    label_tokens = np.zeros_like(batch.counts) if is_proper else None
    n_sets = len(tables.topic_starts) - 1
    for number in range(n_sets):
        _sample_set(batch, tables, number, inference, seed, label_tokens)
    n_samples = inference.n_chains * inference.schedule.n_samples
    batch.topics[:] /= n_samples
    batch.counts[:] /= n_samples * n_sets
    batch.words[:] /= n_samples * n_sets
    if label_tokens is not None:
        return flat + eta * label_tokens / (n_samples * n_sets)
    return tables.mean_prior(batch.topics, eta, flat)


def _sample_set(
    batch: _Batch,
    tables: Tables,
    number: int,
    inference: Inference,
    seed: int,
    label_tokens: Floats | None,
) -> None:
    """Add one topic set's samples to the batch, and in proper inference to the label tokens."""
    from deplda.kernels import dense, fast, proper, random
    from deplda.kernels.layouts import Prior

    eta, flat = weights_of(tables, inference)
    begin, end = tables.topic_starts[number : number + 2]
    key, stride = random.stream(seed, random.DOCUMENT, 0)
    plan = inference.schedule
    asked = (
        Prior(eta, flat, inference.gamma / max(end - begin, 1)), batch.starts, batch.types,
        batch.times, key, stride, np.arange(inference.n_chains) + number * inference.n_chains,
        plan.burn_in, plan.n_samples, plan.lag, inference.estimate == "conditionals",
    )  # fmt: skip
    shares = np.zeros((len(batch.counts), end - begin))
    results = (batch.chosen, batch.counts, shares, batch.words)
    if label_tokens is not None:
        proper.sample(
            tables.words, tables.topics[number], *asked, inference.n_label_tokens, *results,
            label_tokens,
        )  # fmt: skip
    elif tables.is_tiny:
        dense.sample(*tables.dense[number], *asked, *results)
    else:
        fast.sample(tables.words, tables.topics[number], *asked, *results)
    batch.topics[:, begin:end] = shares


def weights_of(tables: Tables, inference: Inference) -> tuple[float, float]:
    """Return η, which is 0 where there are no topics, and Σα/C."""
    eta = float(inference.eta) if tables.topic_starts[-1] else 0.0
    return eta, inference.alpha / tables.n_ranked
