"""Learning on: the first call is `fit`, and a failure leaves the model as it was."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from deplda import FlatLDA, HybridLDA, InputError
from deplda.models import hybrid
from tests.models.hybrids import N_CANDIDATES, fitted, quick
from tests.models.worlds import pairs

MORE, TEST = pairs(30, seed=2), pairs(20, seed=1)


def told(model: Any) -> list[Any]:
    """Return what a model says of documents, by all that it has learned."""
    best = model.explain(TEST[[0]], k=2).to_dict()
    return [model.decision_function(TEST).tolist(), model.predict_proba(TEST).tolist(), best]


def attributes(model: Any) -> dict[str, int]:
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize(
    "step", ["companions", "training_lists", "reduced.learn", "tfidf", "grown", "_log_frequencies"]
)
def test_a_failure_leaves_the_hybrid_as_it_was(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise MemoryError(step)

    model = deepcopy(fitted())
    before, known = told(model), attributes(model)
    with monkeypatch.context() as patched:
        patched.setattr(f"{hybrid.__name__}.{step}", fails)
        with pytest.raises(MemoryError, match=step):
            model.partial_fit(MORE)
    assert attributes(model) == known
    assert told(model) == before
    model.partial_fit(MORE)  # and it can learn on
    assert model.label_sets_.shape[0] == 330
    assert told(model) != before


def test_documents_that_cannot_be_read_leave_the_model_as_it_was() -> None:
    model = deepcopy(fitted())
    before = told(model)
    with pytest.raises(InputError):
        model.partial_fit(MORE.counts[:, :10], MORE.labels)
    assert told(model) == before


@pytest.mark.parametrize("model", [FlatLDA(), quick(candidates=N_CANDIDATES)], ids=["flat", "hyb"])
def test_the_first_call_is_fit_with_the_labels_named(model: Any) -> None:
    x, names = pairs(80, seed=0), np.array([f"c{c:02}" for c in range(12)])
    lists = [names[row.astype(bool)].tolist() for row in x.labels.toarray()]
    model.partial_fit(x.counts, lists, classes=[*names, "of none"])
    assert model.classes_.tolist() == [*names, "of none"]
    assert model.partial_fit(x.counts[:5], lists[:5]) is model
    assert model.label_sets_.shape == (85, 13)
    with pytest.raises(InputError, match="c11"):
        FlatLDA().partial_fit(x.counts, lists, classes=names[:-1])


def test_learning_on_is_better_on_what_was_new() -> None:
    """A model of few documents, then of many: HybridLDA keeps what it knows and takes more."""
    first, then = pairs(40, seed=0), pairs(400, seed=3)
    model: HybridLDA = quick(candidates=N_CANDIDATES, n_held_out=8).fit(first)
    before = model.score(TEST)
    assert model.partial_fit(then).score(TEST) > before
