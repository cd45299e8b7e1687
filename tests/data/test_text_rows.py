"""Counts in bulk are those of one document after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deplda import Vocabulary, WordCounter
from deplda.data import text_rows
from deplda.data.readers import CorpusBuilder
from deplda.data.rows import SparseRows
from deplda.data.text_rows import WordNumbers
from deplda.data.vocabulary import Concept

WORDS = ["the", "jury", "court", "of", "appeal", "sea", "fishing", "fish", "B12", "and", "courts"]
NAMES = ["court of appeal", "sea fishing", "fish", "jury court appeal sea", "dolmen", "B12 (code)"]


def documents(seed: int, n: int = 40) -> list[list[tuple[str, int]]]:
    """Return documents of up to three fields, some of them empty, with weights."""
    rng = np.random.default_rng(seed)
    return [
        [
            (" ".join(rng.choice(WORDS, rng.integers(0, 90))), int(rng.integers(1, 6)))
            for _ in range(rng.integers(1, 4))
        ]
        for _ in range(n)
    ]


def counter_of(ngrams: int, *, names: bool) -> WordCounter:
    concepts = [Concept(uri=f"c{n}", names={"en": name}) for n, name in enumerate(NAMES)]
    vocabulary = Vocabulary(concepts) if names else None
    return WordCounter(language="en", min_count=1, ngrams=ngrams, names=vocabulary)


def one_by_one(
    counter: WordCounter, texts: list[list[tuple[str, int]]], columns: Any = None
) -> tuple[Any, tuple[str, ...]]:
    """Return the counts of each document by itself: the slow twin."""
    rows, count = SparseRows(columns), counter.analyzer().document_counts
    for each in texts:
        rows.add(count(each))
    return rows.matrix()


@pytest.mark.parametrize("most_tokens", [1 << 21, 50])
@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("ngrams", [1, 2, 3])
def test_all_words_are_counted_as_one_by_one(
    ngrams: int, names: bool, most_tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_rows, "_MOST_TOKENS", most_tokens)
    counter, texts = counter_of(ngrams, names=names), documents(ngrams)
    rows = counter.analyzer().rows(counter.numbers())
    for each in texts:
        rows.add(rows.passages(each))
    counts, columns = rows.matrix()
    expected, expected_columns = one_by_one(counter, texts)
    assert columns == expected_columns
    assert (counts != expected).nnz == 0
    assert rows.forms() == counter.forms_met_


@pytest.mark.parametrize("ngrams", [1, 2, 3])
def test_the_words_of_a_fitted_counter_are_counted_as_one_by_one(ngrams: int) -> None:
    fitted = counter_of(ngrams, names=True).fit([text for each in documents(1) for text, _ in each])
    texts = [*documents(2), [("a word of no column between court unseen of appeal", 2)]]
    rows = fitted.analyzer().rows(fitted.numbers())
    for _ in range(2):  # one batch after the other
        for each in texts:
            rows.add(rows.passages(each))
        counts, columns = rows.matrix()
        assert columns == fitted.vocabulary_
        places = {word: place for place, word in enumerate(columns)}
        assert (counts != one_by_one(fitted, texts, places)[0]).nnz == 0


def test_sequences_that_are_met_too_rarely_have_no_column() -> None:
    counter = counter_of(3, names=False)
    rows = counter.analyzer().rows(counter.numbers())
    for text in ("jury court sea", "jury court fish", "sea fish"):
        rows.add(rows.passages([(text, 1)]))
    counts, columns = rows.matrix(lambda n: 2 if n == 8 else 1)
    assert columns == ("court", "fish", "juri", "juri court", "sea")
    assert counts.toarray().tolist() == [[1, 0, 1, 1, 1], [1, 1, 1, 1, 0], [0, 1, 0, 0, 1]]


def test_words_with_blanks_are_counted_in_sequence() -> None:
    counter = WordCounter(
        token_pattern="[^;]+", normalize="none", stop_words=None, min_count=1, ngrams=2,  # noqa: S106
        vocabulary=["new york", "new york times", "times"],
    )  # fmt: skip
    counts = counter.fit_transform(["new york;times;new york", "new york times;times"])
    assert counts.toarray().tolist() == [[2, 1, 1], [0, 1, 1]]


def test_documents_of_texts_and_of_counts_make_one_corpus() -> None:
    counter, builder = counter_of(1, names=False), CorpusBuilder()
    rows = counter.analyzer().rows(counter.numbers())
    builder.add({"jury": 2}, ["LAW"])
    passages = rows.passages([("the court", 3)])
    assert passages is not None
    builder.add(passages, ["LAW"])
    builder.add({"court": 1, "sea": 4}, ["SEA"])
    corpus = builder.corpus()
    assert corpus.vocabulary == ("court", "jury", "sea")
    assert corpus.counts.toarray().tolist() == [[0, 2, 0], [3, 0, 0], [1, 0, 4]]


def test_many_forms_are_forgotten_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_rows, "_MOST_FORMS", 3)
    numbers = WordNumbers({"court": 0, "sea": 1}, 1, None)
    rows = WordCounter(language="en").analyzer().rows(numbers)
    for _ in range(3):
        rows.add(rows.passages([("sea court courts jury fish", 1)]))
        assert rows.matrix()[0].toarray().tolist() == [[2, 1]]
