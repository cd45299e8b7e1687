"""Documents are split with their external arrays."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array, issparse

from deplda import Corpus, InputError
from deplda.data.external import Documents


def test_documents_are_taken_as_they_are_and_anything_else_is_wrapped() -> None:
    documents = Documents(["a text"], embeddings=[[1.0]])
    assert Documents.of(documents) is documents
    plain = Documents.of(["a text"])
    assert (plain.X, plain.embeddings, plain.scores) == (["a text"], None, None)


@pytest.mark.parametrize(
    "rows", [slice(1, 4, 2), [1, 3], np.array([1, 3]), np.array([0, 1, 0, 1], bool), [1, -1]]
)
@pytest.mark.parametrize(
    "form", [list, np.array, pd.Series, pl.Series, lambda texts: csr_array(np.eye(4))]
)
def test_documents_are_split_with_their_arrays(form: Any, rows: Any) -> None:
    texts, scores = form(["a", "b", "c", "d"]), coo_array(np.diag([1.0, 2.0, 3.0, 4.0]))
    documents = Documents(texts, embeddings=np.arange(8).reshape(4, 2), scores={"mllm": scores})
    assert len(documents) == documents.shape[0] == 4
    some = documents[rows]
    assert len(some) == 2
    assert some.embeddings.tolist() == [[2, 3], [6, 7]]
    assert some.scores is not None
    assert some.scores["mllm"].toarray().tolist() == [[0, 2, 0, 0], [0, 0, 0, 4]]
    if issparse(texts):
        assert some.X.toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    else:
        assert [*some.X] == ["b", "d"]


def test_documents_of_a_corpus_keep_their_ids() -> None:
    corpus = Corpus(np.eye(3, dtype=int), np.eye(3, dtype=bool), ids=["x", "y", "z"])
    assert Documents(corpus)[1:].X.ids == ("y", "z")


def test_a_single_document_is_taken_by_a_list() -> None:
    with pytest.raises(InputError, match=r"documents\[1\] is a single document; use "):
        Documents(["a", "b"])[1]
    with pytest.raises(InputError, match="there are 1 values, none of document 1"):
        Documents(["a", "b"], embeddings=[[1.0]])[[1]]
