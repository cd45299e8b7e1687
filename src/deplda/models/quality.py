"""What a model reached on training documents held out: a few figures for people, and by label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from scipy.sparse import csr_array

from deplda.data.wording import counted
from deplda.evaluation import rank_metrics
from deplda.evaluation.ranking import average_precision
from deplda.evaluation.ties import tie_groups

RARE = 5
"""Labels of so many training documents or fewer are called rare here."""


class LabelQuality(NamedTuple):
    """How well the documents held out are ranked for each label."""

    documents: npt.NDArray[np.int64]
    """Documents held out that have it, if others have it too, to learn it from."""
    average_precision: npt.NDArray[np.float64]
    """Of the ranking of all documents held out; 0 where none of them has the label."""

    @property
    def is_measured(self) -> npt.NDArray[np.bool_]:
        """Which labels a document held out has."""
        return self.documents > 0


class HeldOutQuality(NamedTuple):
    """What a model reached: means by name, and by label; nothing where nothing was measured."""

    figures: dict[str, float]
    labels: LabelQuality | None


NOTHING_MEASURED = HeldOutQuality({}, None)


def held_out_quality(
    scores: Any, truth: Any, n_trained: npt.NDArray[np.int64], taught: Any = None
) -> HeldOutQuality:
    """Return means over the documents held out that have labels and over their labels.

    Nothing if none has. `scores` are those of all labels, or a sparse matrix of those of
    candidates; `n_trained` are the training documents of each label, by which labels are rare.
    Labels are judged by `taught`, the truth of labels that other documents have too; by default it
    is all.
    """
    known = _true_pairs(truth)
    if not known.nnz:
        return NOTHING_MEASURED
    found = rank_metrics(scores, known, ks=(5,))
    names = ("average_precision", "one_error", "precision@5")
    n_documents = np.count_nonzero(np.diff(known.indptr))
    figures = {"documents": float(n_documents), "documents_held_out": float(known.shape[0])} | {
        name: float(np.nanmean(found[name])) for name in names
    }
    labels = _by_label(scores, known if taught is None else _true_pairs(taught))
    return HeldOutQuality(figures | _means(labels, n_trained), labels)


def held_out_in_words(figures: dict[str, float], n_documents: int) -> str:
    """Return how many of the training documents a model was judged by, and why not by all."""
    n = round(figures["documents"])
    n_held_out = round(figures.get("documents_held_out", n))  # older models do not say it
    reasons = [f"of {n_documents:,}"] if n_held_out < n_documents else []
    if n_held_out > n:
        reasons.append(f"{n_held_out - n:,} more have no label that other documents have")
    in_brackets = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{counted(n, 'training document')} held out{in_brackets}"


def _true_pairs(truth: Any) -> csr_array[Any, tuple[int, int]]:
    found = csr_array(truth).astype(bool)
    found.eliminate_zeros()
    return found


def _by_label(scores: Any, truth: csr_array[Any, tuple[int, int]]) -> LabelQuality:
    by_label = csr_array(truth.T)
    documents = np.diff(by_label.indptr).astype(np.int64)
    tested, found = np.flatnonzero(documents), np.zeros(len(documents))
    ranked = scores.T.tocsr() if hasattr(scores, "tocsr") else scores.T
    found[tested] = average_precision(tie_groups(ranked, by_label[tested], rows=tested))
    return LabelQuality(documents, np.minimum(found, 1.0))  # sums may round to a little more


def _means(labels: LabelQuality, n_trained: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the mean of all labels that were measured, and of the rare ones among them."""
    is_rare = labels.is_measured & (n_trained <= RARE)
    means = {}
    for name, chosen in (("label", labels.is_measured), ("rare_label", is_rare)):
        means[f"{name}s"] = float(np.count_nonzero(chosen))
        if chosen.any():
            means[f"{name}_average_precision"] = float(labels.average_precision[chosen].mean())
    return means


class FrequencyBand(Struct, frozen=True):
    """How well the labels of so many training documents are found, on documents held out."""

    least: int
    most: int
    """Training documents of the rarest and of the most frequent label in it."""
    n_labels: int
    n_measured: int
    """Labels that a document held out has."""
    average_precision: float | None
    """The mean over these labels, 0 to 1; None if there are none."""
    lower: float | None
    upper: float | None
    """Half of these labels are between these, their quartiles."""


def by_frequency(
    n_trained: npt.NDArray[np.integer[Any]], labels: LabelQuality | None
) -> list[FrequencyBand]:
    """Return how well labels are found, the rarest first; nothing where that was not measured."""
    if labels is None:
        return []
    bands = np.searchsorted(_BANDS, n_trained, side="right")
    found = []
    for band in range(1, len(_BANDS) + 1):
        inside = bands == band
        values = labels.average_precision[inside & labels.is_measured]
        if not inside.any():
            continue
        three = (values.mean(), *np.quantile(values, (0.25, 0.75))) if len(values) else (None,) * 3
        own = n_trained[inside]
        figures = (None if value is None else float(value) for value in three)
        found.append(FrequencyBand(int(own.min()), int(own.max()), len(own), len(values), *figures))
    return found


_BANDS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501, 1_001, 10_001)
"""Where bands of labels begin, in training documents."""
