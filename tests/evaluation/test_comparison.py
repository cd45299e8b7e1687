"""Several models on the same documents: the better one wins, others are not compared."""

import json

import numpy as np
import pytest

from deplda import InputError
from deplda.evaluation import Evaluation, compare, evaluate
from tests.evaluation.cases import random_case, shown


def two_models(seed: int) -> tuple[Evaluation, Evaluation]:
    scores, truth, train = random_case(100, 12, seed)
    return evaluate(scores + truth, truth, train), evaluate(scores, truth, train)


def test_the_better_model_wins_and_the_tests_say_so() -> None:
    good, plain = two_models(0)
    found = compare({"good": good, "plain [/a]": plain}, bins=2)
    assert found.scorecard.total("all")["good"] > found.scorecard.total("all")["plain [/a]"]
    assert all(part.tests["good", "plain [/a]"].difference > 0 for part in found.by_frequency.bins)
    text = shown(found)
    for words in ("label-pivoted", "best on how many metrics", "good", "plain [/a]"):
        assert words in text
    assert json.loads(json.dumps(found.to_dict()))["metrics"]["good"]["label"]["ranking"]


def test_with_splits_every_label_of_every_split_is_a_pair() -> None:
    splits = [two_models(seed) for seed in range(3)]
    good, plain = ([pair[which] for pair in splits] for which in (0, 1))
    found = compare({"good": good, "plain": plain}, bins=1)
    (part,) = found.by_frequency.bins
    assert part.n_labels == sum(len(one.label.indices) for one in good)
    pooled = np.concatenate([one.label.item_values("average_precision") for one in good])
    assert part.means["good"].value == pytest.approx(pooled.mean())
    key = ("document", "ranking", "auc_roc")
    assert found.metrics["good"][key] == pytest.approx(
        np.mean([one.document["auc_roc"] for one in good])
    )


def test_models_of_other_labels_or_splits_are_not_compared() -> None:
    good, plain = two_models(0)
    other, _ = two_models(1)
    with pytest.raises(InputError, match="on different splits, labels or documents"):
        compare({"good": good, "other": other})
    with pytest.raises(InputError, match="'good' and 'plain' were evaluated on different splits"):
        compare({"good": [good, other], "plain": plain})
