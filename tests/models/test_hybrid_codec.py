"""A saved hybrid: all of it comes back, and no damage gets in."""

import mmap
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from deplda import HybridLDA, load
from deplda.models import card as store
from tests.models.hybrids import Damage, assert_refused
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
    assert again.measures_ == fitted().measures_
    assert again.held_out_ == fitted().held_out_
    np.testing.assert_array_equal(again.label_quality_, fitted().label_quality_)
    for method in ("decision_function", "predict_proba"):
        expected = getattr(fitted(), method)(test)
        np.testing.assert_array_equal(getattr(again, method)(test), expected)
    assert (again.predict(test) != fitted().predict(test)).nnz == 0
    assert again.explain(test[[1]], k=2) == fitted().explain(test[[1]], k=2)


def test_a_loaded_model_reads_its_matrices_where_they_lie_in_the_file(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    phi = again.topic_model_.label_words_.weights
    for matrix in (again.weights_, again._centroids.nearby.matrix, phi):
        assert isinstance(_owner(matrix.indices), mmap.mmap)
    assert isinstance(_owner(phi.data), mmap.mmap)


def test_weights_are_saved_in_half_precision_where_that_loses_nothing(tmp_path: Path) -> None:
    model = copy(fitted())
    model.save(tmp_path / "half")
    finer = model.weights_.copy()
    finer.data *= np.float32(1 / 3)
    model.weights_ = finer
    model.save(tmp_path / "single")
    again = load(tmp_path / "single")
    np.testing.assert_array_equal(again.weights_.data, finer.data)
    sizes = [(tmp_path / name / "arrays.safetensors").stat().st_size for name in ("half", "single")]
    assert sizes[1] - sizes[0] == 2 * finer.nnz


def _owner(array: Any) -> Any:
    """Return what holds the memory of an array."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def test_a_last_stage_comes_back(tmp_path: Path) -> None:
    model = HybridLDA(n_topic_chains=2, n_topic_sweeps=20, C=1.0).fit(pairs(200, seed=0))
    assert model.calibration_ is not None
    model._last_stage, model.calibration_ = model.calibration_, model.calibration_.of_log_odds()
    model.save(tmp_path / "model")
    test = pairs(60, seed=1)
    for method in ("decision_function", "predict_proba"):
        expected = getattr(model, method)(test)
        np.testing.assert_array_equal(getattr(load(tmp_path / "model"), method)(test), expected)
    np.testing.assert_allclose(model.predict_proba(test), fitted().predict_proba(test))


def terms(card: Any) -> Any:
    return card.learned["mixture"] | {"terms": [["smell"]], "weights": [1.0]}


DAMAGE: Damage = {
    "weights": (lambda card, arrays: arrays["weights.data"].fill(np.nan), "not finite"),
    "columns": (lambda card, arrays: arrays["centroids.indices"].fill(10**6), "not from 0"),
    "idf": (lambda card, arrays: arrays.update(idf=arrays["idf"][:-1]), "finite numbers"),
    "huge": (
        lambda card, arrays: card.learned["mixture"]["means"].update(margin=1e7), "no number from"
    ),
    "tiny scale": (
        lambda card, arrays: card.learned["mixture"]["scales"].update(margin=1e-300), "scale"
    ),
    "many terms": (
        lambda card, arrays: card.learned["mixture"].update(
            terms=[["margin"]] * 300, weights=[1.0] * 300
        ),
        "more than 250",
    ),
    "form": (lambda card, arrays: card.learned["mixture"].update(type="spell"), "spell"),
    "signal": (lambda card, arrays: card.learned.update(mixture=terms(card)), "smell"),
    "infinite": (
        lambda card, arrays: card.learned["mixture"]["means"].update(margin=float("inf")), "mixture"
    ),
    "limit": (
        lambda card, arrays: card.learned["mixture"].update(most={"sound": 1.0}), "sound"
    ),
    "infinite limit": (
        lambda card, arrays: card.learned["mixture"].update(most={"likeness": -1e7}),
        "no number from",
    ),
    "scale": (lambda card, arrays: card.learned["mixture"]["scales"].update(share=0.0), "scale"),
    "cost": (lambda card, arrays: card.learned.update(C=0.0), "C"),
    "none": (lambda card, arrays: card.learned.update(candidates=0), "candidates"),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_model_is_refused(tmp_path: Path, what: str) -> None:
    assert_refused(fitted(), DAMAGE[what], tmp_path)


def test_a_hybrid_from_before_likeness_had_a_limit_scores_as_it_did(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    _, card, arrays, _ = store.load(tmp_path / "model")
    del card.learned["mixture"]["most"]
    store.save(tmp_path / "before", card, arrays)
    before = load(tmp_path / "before")
    assert before.mixture_ == structs.replace(fitted().mixture_, most={})
