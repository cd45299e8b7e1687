"""What is counted of names: their words, how early they stand, and their sequences."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import Concept, Vocabulary, WordCounter, read_corpus
from deplda.data.fields import Fields
from deplda.data.names import AFTER_TITLE, MARK, MOST_EARLY, Name, NameWords, names_of


def test_codes_in_names_are_words() -> None:
    analyze = WordCounter(stop_words=None).name_analyzer()
    assert Name.of("vitamin B12", analyze).words == ["vitamin", "b12"]
    assert Name.of("vitamin D", analyze).words == []


@pytest.mark.parametrize(
    ("text", "words", "qualifier"),
    [
        ("Bronze Age", ["bronze", "age"], []),
        ("Mercury (planet)", ["mercury"], ["planet"]),
        ("cold [illness] (people)", ["cold"], ["illness", "people"]),
        ("implemented-in::python", ["python"], ["implemented", "in"]),
        ("(only this)", ["only", "this"], ["only", "this"]),
        ("5573", [], []),
        ("Industry 4.0", [], []),
        ("vitamin D", [], []),
        ("SPSS-X (program)", [], ["program"]),
        ("a cat in 3D", [], []),
        ("law of a sea", ["law", "of", "sea"], []),
        (" ".join(["word"] * 13), [], []),
    ],
)
def test_a_name_is_its_words_and_its_qualifier(
    text: str, words: list[str], qualifier: list[str]
) -> None:
    plain = WordCounter(stop_words=None, token_pattern="words")  # noqa: S106
    found = Name.of(text, plain.name_analyzer())
    assert found == (words, qualifier)
    assert found.sequence == (" ".join(words) if len(words) > 1 else None)


def test_names_are_those_in_the_language_of_the_texts_or_else_all() -> None:
    concept = Concept(
        uri="u",
        names={"en": "dogs", "de": "Hunde"},
        synonyms={"en": ("canines",), "": ("Canis",), "fr": ("chiens",)},
    )
    assert names_of(concept, "en") == ["dogs", "canines", "Canis"]
    assert names_of(concept, "de") == ["Hunde", "Canis"]
    for language in (None, "sv"):
        assert set(names_of(concept, language)) == {"dogs", "Hunde", "canines", "Canis", "chiens"}


def test_columns_tell_what_is_looked_for() -> None:
    names = NameWords.of_names(
        ["Bronze Age", "bronze", "Mercury (planet)"], WordCounter().name_analyzer()
    )
    columns = names.columns_beside(["bronze", "other"])
    assert columns == (
        "age", "mercury", "planet",
        f"age{MARK}", f"bronze{MARK}", f"mercury{MARK}", f"planet{MARK}",
        f"bronze age{MARK}",
    )  # fmt: skip
    assert NameWords.of_columns(("bronze", "other", *columns)) == names


def test_early_words_are_told_and_every_sequence() -> None:
    names = NameWords.of_names(["a b", "a b c", "x"], str.split)
    text = ["x", "a", "b", "c", "a", "b", "x"]
    early = [(f"{word}{MARK}", MOST_EARLY) for word in "xabc"]
    together = [(f"{sequence}{MARK}", 1) for sequence in ("a b", "a b c", "a b")]
    assert list(names.found_in(text)) == early + together
    for place, level in ((7, 4), (8, 3), (15, 3), (16, 2), (32, 1), (63, 1), (64, None)):
        found = dict(names.found_in(["other"] * place + ["x"]))
        assert found.get(f"x{MARK}") == level
    (after,) = (early for word, early in names.found_in(["x"], AFTER_TITLE) if word == f"x{MARK}")
    assert after == 1


def test_a_counter_counts_names_beside_the_words_that_are_kept() -> None:
    texts = ["the bronze age and iron", "iron iron dolmens", "iron"]
    plain = WordCounter(language="en", min_count=2)
    named = WordCounter(language="en", min_count=2, names=["Bronze Age", "dolmen", "menhirs"])
    before, after = plain.fit_transform(texts), named.fit_transform(texts)
    assert plain.vocabulary_ == ("iron",)
    assert plain.names_at_ == range(1, 1)
    assert named.vocabulary_[:1] == plain.vocabulary_
    assert named.names_at_ == range(1, len(named.vocabulary_))
    np.testing.assert_array_equal(before.toarray(), after[:, :1].toarray())
    rows = [dict(zip(named.vocabulary_, row, strict=True)) for row in after.toarray().tolist()]
    assert rows[0][f"bronz age{MARK}"] == 1
    assert rows[0][f"bronz{MARK}"] == MOST_EARLY
    assert rows[1]["dolmen"] == 1  # too rare to be kept, but for its name
    assert not any(row["menhir"] for row in rows)
    np.testing.assert_array_equal(named.transform(texts).toarray(), after.toarray())
    again = named.with_words(named.vocabulary_)  # knows by its columns what to look for
    np.testing.assert_array_equal(again.transform(texts).toarray(), after.toarray())
    assert named.without_names().vocabulary_ == plain.vocabulary_
    assert named.without_names().transform(texts).toarray().tolist() == before.toarray().tolist()


def test_a_vocabulary_gives_the_names_that_are_still_in_use() -> None:
    concepts = [
        Concept(uri="1", names={"en": "dogs", "de": "Hunde"}),
        Concept(uri="2", names={"en": "cats"}, deprecated=True),
    ]
    counter = WordCounter(language="de", names=Vocabulary(concepts)).fit(["Ein Hund"])
    assert f"hund{MARK}" in counter.vocabulary_
    assert not any(word.startswith(("dog", "cat")) for word in counter.vocabulary_)


def test_new_words_come_after_the_names() -> None:
    counter = WordCounter(names=["dolmen"]).fit(["iron"])
    grown = counter.extended(["steel dolmen"])
    assert grown.vocabulary_ == (*counter.vocabulary_, "steel")
    assert grown.names_at_ == counter.names_at_
    assert grown.without_names().vocabulary_ == ("iron", "steel")


@pytest.mark.parametrize("ngrams", [1, 2])
def test_what_is_counted_for_names_is_no_word_to_be_kept(ngrams: int) -> None:
    texts = ["bronze age"] * 20 + ["bronze"] * 3
    plain = WordCounter(ngrams=ngrams).fit(texts)
    named = WordCounter(ngrams=ngrams, names=["bronze age"]).fit(texts)
    assert named.without_names().vocabulary_ == plain.vocabulary_


def test_of_several_fields_the_first_is_the_title(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"title": "Dolmens", "text": "A dolmen and a menhir", "labels": ["a"]}\n')
    counter = WordCounter(language="en", names=["dolmen", "menhir"])
    corpus = read_corpus(path, fields=Fields(text=("title", "text")), counter=counter)
    row: dict[str, Any] = dict(
        zip(corpus.vocabulary, corpus.counts.toarray()[0].tolist(), strict=True)
    )
    assert row["dolmen"] == 2
    assert row[f"dolmen{MARK}"] == MOST_EARLY + 1
    assert row[f"menhir{MARK}"] == 1


@pytest.mark.parametrize("pattern", [r"\S+", r"[^ ]+ @|\w+"])
def test_no_word_of_a_text_is_taken_for_what_is_counted_of_names(pattern: str) -> None:
    texts = ["a dolmen @ home and @ sea @"] * 10
    counter = WordCounter(token_pattern=pattern, stop_words=None, names=["dolmen @ home"])
    counts = counter.fit_transform(texts)
    assert len(set(counter.vocabulary_)) == counts.shape[1]
    again = counter.with_words(counter.vocabulary_)
    assert (again.transform(texts) != counts).nnz == 0
    assert all(word.endswith(MARK) for word in counter.vocabulary_[counter.marks_at_.start :])
