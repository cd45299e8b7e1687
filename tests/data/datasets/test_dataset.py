"""Documents as a data set: counted alike, without words that training lacks."""

from pathlib import Path

import numpy as np
import pytest

from deplda import ReadError
from deplda.data.datasets.dataset import Document, count_documents, keep_training_words

DOCUMENTS = [
    Document("a", "the judge and the court", ["LAW"]),
    Document("b", "the opera", ["MUSIC"]),
    Document("c", "the judge at the opera house", ["LAW", "MUSIC"]),
]


def test_words_that_only_test_documents_have_are_dropped() -> None:
    corpus = count_documents(DOCUMENTS, Path("news"), "english")
    assert corpus.vocabulary == ("court", "house", "judge", "opera")
    data = keep_training_words("news", corpus, np.array([False, False, True]), DOCUMENTS)
    assert data.corpus.vocabulary == ("court", "judge", "opera")
    assert [rows.tolist() for rows in data.splits[0]] == [[0, 1], [2]]
    assert data.texts[1] == "the opera"


def test_no_documents_are_an_error() -> None:
    with pytest.raises(ReadError, match="news: there is no document in it"):
        count_documents([], Path("news"), "english")
