"""Labels are found by whatever they are called, and listed in the order that is asked for."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from deplda.data.vocabulary import Concept, Vocabulary
from deplda.web.label_index import LabelIndex
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
    if documents is not None:
        model.label_quality_ = SimpleNamespace(
            documents=np.array(documents), average_precision=np.array(precision)
        )
    frequency = np.bincount(model.label_sets_.indices, minlength=3)
    return LabelIndex(model, list(model.shown_labels_), frequency)


def found(search: str, sort: str = "frequency", of: LabelIndex | None = None) -> list[Any]:
    answer = (of or index()).find(search, sort, 1, 50)
    return [(each.label, each.matched) for each in answer.labels]


def names(sort: str, of: LabelIndex) -> list[str]:
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
    entries = {each.label: each for each in of.find("", "name", 1, 9).labels}
    assert [*entries] == ["laki", "Säde", "urheilulaki"]
    order = names("frequency", of)
    assert order == ["urheilulaki", "laki", "Säde"]
    assert names("rarest", of) == order[::-1]
    unmeasured = next(name for name, each in entries.items() if each.quality is None)
    assert entries[unmeasured].n_held_out == 0
    best = sorted(
        (name for name in entries if name != unmeasured), key=lambda name: -entries[name].quality
    )
    assert names("quality", of) == [*best, unmeasured]
    assert names("worst", of) == [*best[::-1], unmeasured]


def test_without_documents_held_out_nothing_is_said_of_quality() -> None:
    for each in index().find("", "quality", 1, 9).labels:
        assert (each.quality, each.n_held_out) == (None, None)
