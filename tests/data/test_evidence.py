"""Documents carry what is known of them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, issparse

from deplda import Corpus, InputError
from deplda.data.evidence import Documents, ids_of


def test_documents_are_taken_as_they_are_and_anything_else_is_wrapped() -> None:
    given = Documents(["a text"], embeddings=[[1.0]])
    assert Documents.of(given) is given
    plain = Documents.of(["a text"])
    assert plain.X == ["a text"]
    assert (plain.ids, plain.embeddings, plain.experts) == (None, None, None)


def test_ids_are_those_given_or_the_rows_numbers() -> None:
    assert [*ids_of(Documents([[1], [2], [3]]), 3)] == ["0", "1", "2"]
    assert ids_of(Documents([[1], [2], [3]], ids=["a", "b", "c"]), 3) == ["a", "b", "c"]
    with pytest.raises(InputError, match="2 ids for 3 documents"):
        ids_of(Documents([[1], [2], [3]], ids=["a", "b"]), 3)


@pytest.mark.parametrize(
    "rows", [slice(1, 4, 2), [1, 3], np.array([1, 3]), np.array([0, 1, 0, 1], bool), [1, -1]]
)
@pytest.mark.parametrize(
    "form", [list, np.array, pd.Series, pl.Series, lambda texts: csr_array(np.eye(4))]
)
def test_documents_are_split_with_their_vectors_and_keep_their_ids(form: Any, rows: Any) -> None:
    texts, expert = form(["a", "b", "c", "d"]), object()
    documents = Documents(texts, embeddings=np.arange(8).reshape(4, 2), experts={"e": expert})
    assert len(documents) == documents.shape[0] == 4
    some = documents[rows]
    assert len(some) == 2
    assert some.ids == ["1", "3"]
    assert some.embeddings.tolist() == [[2, 3], [6, 7]]
    assert some.experts == {"e": expert}
    assert some[[1]].ids == ["3"]
    if issparse(texts):
        assert some.X.toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    else:
        assert [*some.X] == ["b", "d"]


def test_documents_of_a_corpus_are_split_by_its_ids() -> None:
    corpus = Corpus(np.eye(3, dtype=int), np.eye(3, dtype=bool), ids=["x", "y", "z"])
    some = Documents(corpus)[1:]
    assert some.X.ids == ("y", "z")
    assert some.ids == ["y", "z"]


def test_a_single_document_is_taken_by_a_list() -> None:
    with pytest.raises(InputError, match=r"documents\[1\] is a single document; use "):
        Documents(["a", "b"])[1]
    with pytest.raises(InputError, match="there are 1 values, none of document 1"):
        Documents(["a", "b"], embeddings=[[1.0]])[[1]]
