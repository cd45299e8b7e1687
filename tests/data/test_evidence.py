"""Documents carry what is known of them."""

import pytest

from deplda import InputError
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
