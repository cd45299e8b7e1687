"""What is said of documents where many are asked about: labels, and how likely each is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data import checks
from deplda.data.corpus import sparse_rows
from deplda.errors import InputError
from deplda.models import cutting
from deplda.models.base import Floats, LabelClassifier, Numbers
from deplda.models.cutting import Cutoff

WITHOUT_PROBABILITIES = (
    "this model has no probabilities, and scores are shown; train it again, or calibrate(X, y) it "
    "in Python with labelled documents that it has not learned from, and save it"
)

Suggested = csr_array[Any, tuple[int, int]]
_Kept = tuple[Numbers, Floats, list[npt.NDArray[np.bool_]]]


class Asked(NamedTuple):
    """Which labels are wanted; by default those that the validated cut-off gives."""

    cutoff: Cutoff | None = None
    threshold: float | None = None
    """The least probability. Alone it is the cut-off."""
    k: int | None = None
    """How many at most."""

    def of_likely(self, n_labels: int) -> Cutoff:
        """Return the cut-off of a model that has probabilities and so many labels."""
        if self.cutoff is None:
            return "validated" if self.threshold is None else n_labels
        return self.cutoff

    def check(self) -> None:
        """Raise if this cannot be asked of any model."""
        if self.k is not None:
            checks.at_least_one(k=self.k)
        if self.cutoff is not None:
            cutting.check_cutoff(self.cutoff)
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise InputError(
                f"threshold is {self.threshold:g}; it must be a probability from 0 to 1, "
                "such as 0.5"
            )


def answers_of(
    model: LabelClassifier,
    documents: Any,
    asked: Asked,
    is_empty: Sequence[bool] | None = None,
    *,
    with_line: bool = False,
) -> list[dict[str, Any]]:
    """Return what is said of each document: its labels, and the words it was known by.

    ``labels`` are the likeliest first, each with its probability; of a model that has none the best
    with their scores, as many as the median training document has unless a number is asked for.
    ``n_known`` are its tokens of vocabulary words. A document without any gets no labels, unless
    it has external arrays; ``out_of_vocabulary`` marks it, or ``empty`` if it `is_empty`.
    ``with_line`` adds ``n_given``: how many labels, the likeliest first, the model itself would
    give, whatever is asked for.
    """
    asked.check()
    counts = model._read_counts(documents, reset=False)
    answers = (_by_chance if model.has_probabilities else _by_score)(
        model, counts, asked, with_line
    )
    n_known, has_evidence = model._n_tokens_in(counts).tolist(), model._has_evidence(counts)
    for number, answer in enumerate(answers):
        answer["n_known"] = n_known[number]
        if not has_evidence[number]:
            answer["labels"] = []
            answer["empty" if is_empty and is_empty[number] else "out_of_vocabulary"] = True
            if with_line:
                answer["n_given"] = 0
    return answers


def suggested(
    model: LabelClassifier,
    documents: Any,
    *asked: Asked,
) -> list[Suggested]:
    """Return what documents are given for each of what is asked, as `answers_of` tells it.

    Documents × labels: probabilities, or 1/rank in a model that has none; what is not given is 0.
    """
    for each in asked:
        each.check()
    counts = model._read_counts(documents, reset=False)
    some = (_likeliest if model.has_probabilities else _best)(model, counts, asked)
    n_labels = len(model.classes_)
    rows = [[csr_array((0, n_labels))] for _ in asked]
    for numbers, values, kept in some:
        for own, which in zip(rows, kept, strict=True):
            own.append(sparse_rows(numbers, values, which, n_labels))
    found = [csr_array(vstack(own)) for own in rows]
    without_evidence = ~model._has_evidence(counts)
    for given in found:
        given.data[np.repeat(without_evidence, np.diff(given.indptr))] = 0
        given.eliminate_zeros()
    return found


def _likeliest(model: LabelClassifier, counts: Any, asked: tuple[Asked, ...]) -> Iterator[_Kept]:
    """Yield labels, probabilities, and which are given for each of what is asked."""
    calibration, n_labels = model._calibration(), len(model.classes_)
    cutoffs = [each.of_likely(n_labels) for each in asked]
    n_ranked = [cutting.most_labels(cutoff, model.label_sets_) for cutoff in cutoffs]
    for numbers, _, chances in model._likeliest(counts, max(n_ranked)):
        kept = []
        for each, cutoff, most in zip(asked, cutoffs, n_ranked, strict=True):
            own = np.zeros(chances.shape, bool)
            first = numbers[:, :most], chances[:, :most]
            own[:, :most] = cutting.given(cutoff, *first, calibration) & (first[0] >= 0)
            if each.k is not None:
                own &= np.cumsum(own, axis=1) <= each.k
            kept.append(own & (chances >= (each.threshold or 0.0)) & (chances > 0))
        yield numbers, chances, kept


def _best(model: LabelClassifier, counts: Any, asked: tuple[Asked, ...]) -> Iterator[_Kept]:
    """Yield labels, 1/rank, and which are given for each of what is asked."""
    numbers_of = [_n_by_score(model, each) for each in asked]
    for numbers, _ in model._rank_counts(counts, max(numbers_of)):
        ranks = np.broadcast_to(np.arange(1, numbers.shape[1] + 1), numbers.shape)
        yield numbers, 1 / ranks, [ranks <= n for n in numbers_of]


def _by_chance(
    model: LabelClassifier, counts: Any, asked: Asked, with_line: bool
) -> list[dict[str, Any]]:
    found = []
    for numbers, chances, kept in _likeliest(model, counts, (asked, *[Asked()] * with_line)):
        for row, (own, values) in enumerate(zip(numbers, chances, strict=True)):
            given, *line = (which[row] for which in kept)
            told = zip(model.classes_[own[given]].tolist(), values[given].tolist(), strict=True)
            labels = [model.told_label(label) | {"probability": chance} for label, chance in told]
            found.append({"labels": labels} | ({"n_given": int(line[0].sum())} if line else {}))
    return found


def _n_by_score(model: LabelClassifier, asked: Asked) -> int:
    """Return how many labels a model without probabilities gives; raise if it needs them."""
    if asked.threshold is not None or (
        asked.cutoff is not None and cutting.needs_probabilities(asked.cutoff)
    ):
        name, value = (
            ("cutoff", asked.cutoff) if asked.threshold is None else ("threshold", asked.threshold)
        )
        raise InputError(
            f"{name} is {value!r}, but this model has no probabilities; train it again, or "
            "calibrate(X, y) it with labelled documents, or ask for a number of labels"
        )
    if asked.k is not None and asked.cutoff is None:
        return asked.k
    most = cutting.most_labels(asked.cutoff or "proportional", model.label_sets_)
    return most if asked.k is None else min(asked.k, most)


def _by_score(
    model: LabelClassifier, counts: Any, asked: Asked, with_line: bool
) -> list[dict[str, Any]]:
    ranking = model._ranking(counts, _n_by_score(model, asked))
    usual = cutting.most_labels("proportional", model.label_sets_)
    line = {"n_given": usual} if with_line else {}
    return [
        {
            "labels": [
                model.told_label(label) | {"score": score}
                for label, score in zip(labels.tolist(), scores.tolist(), strict=True)
            ]
        }
        | line
        for labels, scores in zip(ranking.labels, ranking.scores, strict=True)
    ]
