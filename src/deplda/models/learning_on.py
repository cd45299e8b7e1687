"""Models that learn on from more documents, with labels and words not seen before."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, Self

from deplda.models.parameters import checked


class LearnsOn:
    """What a model that learns on shares: a failure leaves it as it was."""

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Learn from more labelled documents, with labels and words not seen before.

        X is texts (where the model has a counter), a Corpus, or counts over the model's words. New
        words of texts and of a Corpus that has names get places after those known, if they have so
        many tokens in X as the counter asks for (`min_count_`; 1 without a counter).
        Hyperparameters stay those of the first call. If it fails, the model is as it was.

        The first call is `fit`, or, with `classes` given, `fit` with these labels, in which all of
        y must be; later calls need no `classes`.
        """
        model: Any = self
        if not model.__sklearn_is_fitted__():
            model.fit(X, y, classes=classes)
            return self
        checked(model.get_params(deep=False))
        grown = copy(self)
        grown._learn_on(X, y)
        self.__dict__.update(grown.__dict__)
        return self

    @abstractmethod
    def _learn_on(self, X: Any, y: Any) -> None:
        """Learn from more documents; where this fails, the model is of no use."""
