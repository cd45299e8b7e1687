"""Labels are found by whatever they are called, and listed in the order that is asked for."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from deplda.data.vocabulary import Concept, Vocabulary
from deplda.models.label_index import LabelIndex, Order
from tests.web.serving import text_model

ADDRESSES = {"LAW": "http://x/law", "SPORT": "http://x/sport", "COMPANIES": "http://x/säde"}
THESAURUS = Vocabulary(
    [
        Concept(uri=ADDRESSES["LAW"], names={"fi": "laki"}, synonyms={"fi": ("Oikeus",)},
                notation="34"),
        Concept(uri=ADDRESSES["SPORT"], names={"fi": "urheilulaki", "en": "Sport"}),
        Concept(uri=ADDRESSES["COMPANIES"], names={"fi": "Säde"}, synonyms={"fi": ("sädekehä",)}),
    ]
)  # fmt: skip


def index(documents: list[int] | None = None, precision: list[float] | None = None) -> LabelIndex:
    """Return the index of a model with names in Finnish; its labels are in order of addresses."""
    model: Any = text_model(ADDRESSES)
    model.vocabulary_, model.label_language_ = THESAURUS, "fi"
    model.label_quality_ = None
    if documents is not None:
        model.label_quality_ = SimpleNamespace(
            documents=np.array(documents), average_precision=np.array(precision)
        )
    return LabelIndex(model)


def found(search: str, sort: Order = "frequency", of: LabelIndex | None = None) -> list[Any]:
    of = of or index()
    return [(of.names[c], matched) for c, matched in of.find(search, sort).items()]


def names(sort: Order, of: LabelIndex) -> list[str]:
    return [label for label, _ in found("", sort, of)]


def test_what_was_matched_is_told_where_it_is_not_the_name() -> None:
    assert found("LAKI") == [("urheilulaki", None), ("laki", None)]
    assert found("oikeus") == [("laki", "Oikeus")]
    assert found("34") == [("laki", "34")]
    assert found("sport") == [("urheilulaki", "Sport")]


def test_all_words_of_a_search_are_of_one_name() -> None:
    assert found("sä hä") == [("Säde", "sädekehä")]
    assert found("laki oikeus") == []


def test_accents_are_left_out_of_account_where_nothing_is_found_with_them() -> None:
    assert found("sade") == [("Säde", None)]
    assert found("sadekeha") == [("Säde", "sädekehä")]
    assert found("läki") == [("urheilulaki", None), ("laki", None)]
    assert found("säde") == [("Säde", None)]


def test_the_nearest_match_is_first_where_that_is_asked_for() -> None:
    assert found("laki", "match") == [("laki", None), ("urheilulaki", None)]
    assert [label for label, _ in found("", "match")] == names("frequency", index())


def test_labels_are_listed_by_frequency_and_by_quality() -> None:
    of = index([0, 2, 4], [0.0, 0.25, 0.75])  # laki, urheilulaki, Säde
    assert names("name", of) == ["laki", "Säde", "urheilulaki"]
    quality = {of.names[c]: of.quality(c) for c in of.find("", "name")}
    assert quality == {"laki": (None, 0), "urheilulaki": (0.25, 2), "Säde": (0.75, 4)}
    order = names("frequency", of)
    assert order == ["urheilulaki", "laki", "Säde"]
    assert names("rarest", of) == order[::-1]
    assert names("quality", of) == ["Säde", "urheilulaki", "laki"]
    assert names("worst", of) == ["urheilulaki", "Säde", "laki"]


def test_without_documents_held_out_nothing_is_said_of_quality() -> None:
    assert [index().quality(c) for c in range(3)] == [(None, None)] * 3


def test_a_search_of_very_many_words_looks_for_each_once() -> None:
    assert found("l la lak laki " * 40) == found("laki")
    assert found("sä " * 60 + "hä") == found("sä hä")


def test_a_line_end_in_a_name_leaves_others_in_their_place() -> None:
    model: Any = text_model(ADDRESSES)
    concept = Concept(
        uri=ADDRESSES["LAW"], names={"fi": "la\nki"}, synonyms={"fi": ("a\nb", "Oikeus")}
    )
    model.vocabulary_, model.label_language_ = Vocabulary([concept]), "fi"
    of = LabelIndex(model)
    assert [*of.find("oikeus", "match").values()] == ["Oikeus"]
    assert [*of.find("ki la", "frequency").values()] == [None]
