"""A hybrid whose words include sequences: its topic model learns from single words alone."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import HybridLDA, WordCounter, datasets, load
from deplda.data.text import label_sets

TEXTS, NEW = slice(0, 200), slice(200, 240)


@cache
def news() -> Any:
    return datasets.newsroom(240)


def counter() -> WordCounter:
    return WordCounter(language="en", ngrams=2, min_count=2, token_pattern="words")  # noqa: S106


def labels(part: slice) -> list[list[str]]:
    corpus = news().corpus
    return [[corpus.label_names[n] for n in each] for each in label_sets(corpus.labels)][part]


@cache
def fitted() -> HybridLDA:
    model = HybridLDA(n_topic_chains=2, n_topic_sweeps=10, random_state=0)
    return model.fit(news().texts[TEXTS], labels(TEXTS), counter=counter())


def sequences(model: HybridLDA) -> Any:
    return np.array([" " in word for word in model.words_])


def test_the_topic_model_knows_no_sequences_and_the_svms_do() -> None:
    model = fitted()
    is_sequence = sequences(model)
    assert is_sequence.any()
    n_weights = np.diff(model.topic_model_.label_words_.weights.indptr)
    assert not n_weights[is_sequence].any()
    assert n_weights[~is_sequence].all()
    assert model.weights_[:, np.flatnonzero(is_sequence)].nnz


def test_sequences_do_not_change_what_the_topic_model_says() -> None:
    model = fitted()
    assert model.counter_ is not None
    counts = model.counter_.transform(news().texts[NEW])
    without = counts.multiply(~sequences(model)).tocsr()
    scorer, _ = model._scorer(counts, model._here())
    for rows in (counts, without):
        rows.eliminate_zeros()
    np.testing.assert_array_equal(
        scorer.shortlister.all_shares(counts), scorer.shortlister.all_shares(without)
    )


def test_an_explanation_names_sequences_and_adds_up() -> None:
    explanation = fitted().explain(news().texts[0], k=3)
    words = {word.word for word in explanation.words}
    assert any(" " in word for word in words)
    assert any(" " not in word for word in words)
    for number, reason in enumerate(explanation.reasons):
        assert reason.score == pytest.approx(sum(reason.parts.values()))
        for word in explanation.words:
            assert " " not in word.word or word.tokens[number] == 0


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    texts = news().texts[NEW]
    expected = fitted().decision_function(texts)
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(texts), expected)


def test_shards_teach_the_same(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    rows = zip(news().texts[TEXTS], labels(TEXTS), strict=True)
    lines = [json.dumps({"text": text, "labels": own}) for text, own in rows]
    (tmp_path / "in" / "all.jsonl").write_text("\n".join(lines))
    model = HybridLDA(n_topic_chains=2, n_topic_sweeps=10, random_state=0)
    model.fit_shards(tmp_path / "in", tmp_path / "work", counter=counter())
    texts = news().texts[NEW]
    assert model.words_ == fitted().words_
    np.testing.assert_array_equal(model.decision_function(texts), fitted().decision_function(texts))


def test_new_sequences_are_learned_by_the_svms_alone() -> None:
    model = HybridLDA(n_topic_chains=2, n_topic_sweeps=10, random_state=0)
    model.fit(news().texts[TEXTS], labels(TEXTS), counter=counter())
    n_words = model.n_features_in_
    model.partial_fit(["a heat pump, a heat pump and a heat pump"] * 3, [["HEATING"]] * 3)
    new = sequences(model) & (np.arange(len(model.words_)) >= n_words)
    assert "heat pump" in np.array(model.words_)[new]
    assert not np.diff(model.topic_model_.label_words_.weights.indptr)[new].any()
    assert model.classes_[model.decision_function(["a heat pump"]).argmax()] == "HEATING"


def test_a_topic_model_that_knows_sequences_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of models do that version 1.0.0 saved."""
    with monkeypatch.context() as patched:
        patched.setattr(HybridLDA, "_single_words", None)
        model = HybridLDA(n_topic_chains=2, n_topic_sweeps=10, random_state=0)
        model.fit(news().texts[TEXTS], labels(TEXTS), counter=counter())
        model.save(tmp_path / "model")
        expected = model.decision_function(news().texts[NEW])
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(news().texts[NEW]), expected)
    loaded.partial_fit(news().texts[NEW], labels(NEW))
    assert loaded._topic_words is None
