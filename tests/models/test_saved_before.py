"""Models saved by earlier versions: one of each kind, which loads and predicts as it did then."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import DependencyLDA, load

SAVED = Path(__file__).parent / "fixtures" / "saved"
NAMES = sorted(path.stem for path in SAVED.glob("*.json"))


def same_bits(found: Any, told: list[list[str]]) -> None:
    """Compare to the last bits: exp and log may differ by one between processors."""
    expected = np.array([[float.fromhex(value) for value in row] for row in told])
    np.testing.assert_array_almost_equal_nulp(np.atleast_2d(found), expected, nulp=4)


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_model_saved_before_predicts_the_same(name: str) -> None:
    told, model = json.loads((SAVED / f"{name}.json").read_bytes()), load(SAVED / name)
    counts = np.array(told["counts"])
    same_bits(model.decision_function(counts), told["scores"])
    assert model.rank(counts, 2).labels.tolist() == told["labels"]
    if model.cutoff == "validated":
        model.set_params(cutoff="at-least-one")  # the rule of 1.0.0
    has_words = counts.sum(axis=1) > 0  # others get no labels since
    predicted = model.predict(counts)
    dense = np.asarray(getattr(predicted, "toarray", lambda: predicted)())
    np.testing.assert_array_equal(dense[has_words], np.array(told["predicted"])[has_words])
    if told["texts"] is not None:
        same_bits(model.decision_function(told["texts"]), told["scores"])
    if "probabilities" in told:
        same_bits(model.predict_proba(counts), told["probabilities"])
    assert model.has_probabilities == ("probabilities" in told)
    if "top_words" in told:
        words = model.top_words(model.classes_[0], 3)
        assert [str(word.name) for word in words] == told["top_words"]
    assert model.metrics_ == {"average_precision": 0.5}


def test_every_class_is_among_them() -> None:
    from deplda.models.registry import MODELS

    assert {name.partition("-")[0] for name in NAMES} == set(MODELS)


OLD_SCORES = [
    [1.371445820, 0.373941928, 0.254612252],
    [1.392079397, 0.355336675, 0.252583928],
]


def test_a_model_from_an_old_version_still_loads_and_ranks_the_same() -> None:
    model = load(SAVED.with_name("model-v1"))
    assert type(model) is DependencyLDA
    assert model.metrics_ == {"note": "kept to see that later versions still read it"}
    ranking = model.rank(["the pitcher in an inning", "patients and their doctor"], 3)
    assert ranking.labels.tolist() == [
        ["baseball", "crime", "medicine"],
        ["medicine", "crime", "baseball"],
    ]
    assert ranking.scores == pytest.approx(np.array(OLD_SCORES), rel=1e-6)
