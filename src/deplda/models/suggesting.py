"""What is said of documents where many are asked about: labels, and how likely each is."""

from __future__ import annotations

from typing import Any, NamedTuple

from deplda.data import checks
from deplda.data.targets import Indicator
from deplda.errors import InputError
from deplda.models import cutting
from deplda.models.base import LabelClassifier
from deplda.models.cutting import Cutoff

WITHOUT_PROBABILITIES = (
    "this model has no probabilities, and scores are shown; train it again, or calibrate(X, y) it "
    "in Python with labelled documents that it has not learned from, and save it"
)
_LABELS_BY_SCORE = 10


class Asked(NamedTuple):
    """Which labels are wanted; by default those that the validated cut-off gives."""

    cutoff: Cutoff | None = None
    threshold: float | None = None
    """The least probability. Alone it is the cut-off."""
    k: int | None = None
    """How many at most."""

    def check(self) -> None:
        """Raise if this cannot be asked of any model."""
        if self.k is not None:
            checks.at_least_one(k=self.k)
        if self.cutoff is not None:
            cutting.check_cutoff(self.cutoff)
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise InputError(
                f"threshold is {self.threshold:g}; it must be a probability from 0 to 1: scores "
                "are no longer shown, so take one such as 0.5, or a cut-off"
            )


def answers_of(model: LabelClassifier, documents: Any, asked: Asked) -> list[dict[str, Any]]:
    """Return what is said of each document: its labels, and the words it was known by.

    ``labels`` are the likeliest first, each with its probability; of a model that has none the
    best with their scores, ten unless so many are asked for. ``n_known`` are its tokens of words
    that the model knows; where there are none, ``by_prior`` says that the labels are those that
    are likely of any document.
    """
    asked.check()
    counts = model._read_counts(documents, reset=False)
    labels = (_by_chance if model.has_probabilities else _by_score)(model, counts, asked)
    n_known = model._n_tokens_in(counts).tolist()
    return [
        {"labels": own, "n_known": n} | ({} if n else {"by_prior": True})
        for own, n in zip(labels, n_known, strict=True)
    ]


def given_labels(model: LabelClassifier, documents: Any) -> tuple[Indicator, Cutoff]:
    """Return the labels that documents are given unless asked otherwise, and the cut-off.

    A model without probabilities gives each document as many as training documents have.
    """
    cutoff: Cutoff = "validated" if model.has_probabilities else "proportional"
    return model._given(model._read_counts(documents, reset=False), cutoff), cutoff


def _by_chance(model: LabelClassifier, counts: Any, asked: Asked) -> list[list[dict[str, Any]]]:
    cutoff = asked.cutoff
    if cutoff is None:
        cutoff = "validated" if asked.threshold is None else len(model.classes_)
    least = asked.threshold or 0.0
    return [
        [
            model.told_label(label) | {"probability": chance}
            for label, chance in zip(one.labels.tolist(), one.probabilities.tolist(), strict=True)
            if chance >= least
        ]
        for one in model._suggestions(counts, asked.k, cutoff)
    ]


def _by_score(model: LabelClassifier, counts: Any, asked: Asked) -> list[list[dict[str, Any]]]:
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
    k = asked.k or _LABELS_BY_SCORE
    if asked.cutoff is not None:
        most = cutting.most_labels(asked.cutoff, model.label_sets_)
        k = most if asked.k is None else min(k, most)
    ranking = model._ranking(counts, k)
    return [
        [
            model.told_label(label) | {"score": score}
            for label, score in zip(labels.tolist(), scores.tolist(), strict=True)
        ]
        for labels, scores in zip(ranking.labels, ranking.scores, strict=True)
    ]
