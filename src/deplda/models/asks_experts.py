"""A classifier that asks experts: what they and vectors say of documents comes with the counts."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from deplda.data.evidence import Documents, ids_of
from deplda.data.targets import Indicator, Targets
from deplda.errors import InputError
from deplda.models import vectors
from deplda.models.base import Counts, Floats, LabelClassifier, Numbers, Ranking, Suggestion
from deplda.models.cutting import Cutoff
from deplda.models.expert_signals import Expert, Told, counts_in
from deplda.models.experts import Asked, Evidence, named_experts, said_by
from deplda.models.vectors import Vectors


class AsksExperts(LabelClassifier):
    """A classifier that weighs what experts and vectors say beside words."""

    experts: Any
    _n_learned: int
    _experts: tuple[Expert, ...]
    """Those of use, and how they are read; those of vectors are the last two."""
    _without_experts: Any
    """How it decides where they say nothing; None where there are none."""
    _sources: dict[str, Any]
    """Experts by name, files and objects, that can be asked."""
    _vectors: Vectors | None

    @abstractmethod
    def _learned(self, labels: Indicator) -> Indicator:
        """Return the labels that are learned, without those that are known by name alone."""

    @abstractmethod
    def _decide_by(self, decision: Any) -> None:
        """Decide so from now on."""

    @property
    def experts_(self) -> tuple[str, ...]:
        """The experts that are of use, by name; those of vectors are the last."""
        return tuple(expert.name for expert in self._experts)

    def by_words_alone(self) -> Self:
        """Return the model for documents of which no expert says anything, and no vector is known.

        It weighs words, topics and names as if it had been fitted without any of these.
        """
        check_is_fitted(self)
        if self._without_experts is None:
            return self
        model = copy(self)
        model._decide_by(self._without_experts)
        model._experts, model._without_experts, model._sources, model._vectors = (), None, {}, None
        return model

    def decision_function(self, X: Any, *, embeddings: Any = None) -> Floats:
        """Return the score of each label, documents × labels; `embeddings` as in `fit`."""
        return super().decision_function(Documents.of(X, embeddings))

    def predict(self, X: Any, *, embeddings: Any = None) -> Any:
        """Return the labels of each document, in the form of y; `embeddings` as in `fit`."""
        return super().predict(Documents.of(X, embeddings))

    def predict_proba(self, X: Any, *, embeddings: Any = None) -> Floats:
        """Return the probability of each label, documents × labels; `embeddings` as in `fit`."""
        return super().predict_proba(Documents.of(X, embeddings))

    def rank(self, X: Any, k: int = 10, *, embeddings: Any = None) -> Ranking:
        """Return the k best labels of each document and their scores; `embeddings` as in `fit`."""
        return super().rank(Documents.of(X, embeddings), k)

    def suggest(
        self,
        X: Any,
        k: int | None = None,
        cutoff: Cutoff | None = None,
        *,
        embeddings: Any = None,
    ) -> list[Suggestion]:
        """Return the labels of each document, k at most, the likeliest first.

        `cutoff` is as the parameter, which it is by default; `embeddings` are as in `fit`.
        """
        return super().suggest(Documents.of(X, embeddings), k, cutoff)

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, embeddings: Any = None
    ) -> float:
        """Return the quality of the ranking, as other models do; `embeddings` are as in `fit`."""
        return super().score(Documents.of(X, embeddings), y, sample_weight)

    def _read_labels(self, X: Any, y: Any) -> tuple[Indicator, Targets]:
        return super()._read_labels(Documents.of(X).X, y)

    def _read_counts(self, X: Any, *, reset: bool) -> Any:
        """Return X as counts over the words of the model, with what experts say of it."""
        given = Documents.of(X)
        counts = self._counts_alone(given, reset=reset)
        if reset or not self._experts:
            return counts
        asked = self._asked(given, self._words_in(counts))
        sources = self._sources | named_experts(given.experts)
        wanted = [name for name in self.experts_ if name not in vectors.OF_VECTORS]
        missing = [name for name in wanted if name not in sources]
        if missing:
            given_names = ", ".join(map(repr, sources)) or "none"
            raise InputError(
                f"this model was fitted with the expert {missing[0]!r}, but of experts there is "
                f"{given_names}; give what it says of these documents (--expert "
                f"{missing[0]}=FILE, Documents(X, experts={{{missing[0]!r}: ...}})), or give "
                "nothing beside words (by_words_alone())"
            )
        said = tuple(said_by(name, sources[name], asked) for name in wanted)
        return Told(counts, said, self._directions_of(given, counts.shape[0]))

    def _counts_of(self, X: Any) -> Counts:
        return self._counts_alone(Documents.of(X))

    def _counts_alone(self, given: Documents, *, reset: bool = False) -> Counts:
        return super()._read_counts(given.X, reset=reset)

    def _directions_of(self, given: Documents, n: int) -> vectors.Directions | None:
        """Return the vectors of documents, where the model knows such."""
        if self._vectors is None:
            return None
        if given.embeddings is None:
            raise InputError(
                "this model was fitted with embeddings; give those of these documents, "
                "embeddings=... (--embeddings FILE), or leave them out: "
                "by_words_alone()"
            )
        found, n_dimensions = vectors.directions(given.embeddings, n), self._vectors.n_dimensions
        if found.shape[1] != n_dimensions:
            raise InputError(
                f"embeddings have {found.shape[1]:,} dimensions, but the model's have "
                f"{n_dimensions:,}; encode with the same encoder"
            )
        return found

    def _has_evidence(self, counts: Any) -> npt.NDArray[np.bool_]:
        has_words = super()._has_evidence(counts_in(counts))
        return counts.has_evidence | has_words if isinstance(counts, Told) else has_words

    def _n_tokens_in(self, counts: Any) -> Numbers:
        return super()._n_tokens_in(counts_in(counts))

    def _evidence(self, given: Documents, counts: Counts, labels: Indicator) -> Evidence:
        """Return what is known of the training documents beside their words."""
        own = given.embeddings
        n, learned = counts.shape[0], self._learned(labels)
        experts = named_experts(self.experts) | named_experts(given.experts)
        directions = None if own is None else vectors.directions(own, n)
        return Evidence(experts, self._asked(given, counts), learned, directions)

    def _asked(self, given: Documents, counts: Counts) -> Asked:
        ids = ids_of(given, counts.shape[0])
        return Asked(counts, ids, self.classes_[: self._n_learned])

    def _keep(self, evidence: Evidence) -> None:
        """Keep of the evidence what new documents are asked about."""
        self._sources, self._vectors = evidence.taught_by_all() if self._experts else ({}, None)
