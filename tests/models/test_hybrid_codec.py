"""A saved hybrid: both parents come back, and no damage gets in."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deplda import HybridLDA, ReadError, load
from deplda.models import card as store
from tests.models.worlds import pairs


@cache
def fitted() -> HybridLDA:
    return HybridLDA(n_topic_chains=2, n_topic_sweeps=20, C=1.0).fit(pairs(200, seed=0))


def test_a_loaded_model_gives_the_same_bits(tmp_path: Path) -> None:
    test = pairs(60, seed=1)
    fitted().save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, HybridLDA)
    assert again.mixture_ == fitted().mixture_
    for method in ("decision_function", "predict_proba"):
        expected = getattr(fitted(), method)(test)
        np.testing.assert_array_equal(getattr(again, method)(test), expected)
    assert (again.predict(test) != fitted().predict(test)).nnz == 0
    assert again.explain(test[[1]], k=2) == fitted().explain(test[[1]], k=2)


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    _, card, arrays, _ = store.load(tmp_path / "model")
    arrays = {name: np.array(array) for name, array in arrays.items()}
    arrays["probabilities.values"][0] = 2.0
    store.save(tmp_path / "wrong", card, arrays)
    with pytest.raises(ReadError, match="not rising probabilities"):
        load(tmp_path / "wrong")
    card.learned["mixture"]["floor"] = -1.0
    store.save(tmp_path / "worse", card, arrays)
    with pytest.raises(ReadError, match="mixture"):
        load(tmp_path / "worse")
