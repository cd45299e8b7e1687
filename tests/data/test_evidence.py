"""Documents carry what is known of them."""

from deplda.data.evidence import Documents


def test_documents_are_taken_as_they_are_and_anything_else_is_wrapped() -> None:
    given = Documents(["a text"], embeddings=[[1.0]])
    assert Documents.of(given) is given
    plain = Documents.of(["a text"])
    assert plain.X == ["a text"]
    assert (plain.ids, plain.embeddings, plain.experts) == (None, None, None)
