import pickle
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from deplda import InputError, ReadError, WordCounter
from deplda.data.collocations import auto_min_count
from deplda.data.languages import languages

TEXTS = ["The cat sat. The cat ran!", "A dog ran; the dog's 2 bones", "Über Äpfel und Über Birnen"]


def test_words_are_letters_folded_and_without_stop_words() -> None:
    counter = WordCounter(language=None)
    counts = counter.fit_transform(TEXTS)
    assert counter.vocabulary_ == (
        "birnen", "bones", "cat", "dog", "ran", "sat", "und", "äpfel", "über",
    )  # fmt: skip
    assert counts.toarray()[0].tolist() == [0, 0, 2, 0, 1, 1, 0, 0, 0]
    assert counts.dtype == "int32"


def test_transform_ignores_unknown_words() -> None:
    counter = WordCounter().fit(TEXTS)
    assert counter.transform(["zebra cat", ""]).toarray().sum(axis=1).tolist() == [1, 0]
    assert counter.get_feature_names_out().tolist() == list(counter.vocabulary_)


def test_stop_words_come_from_a_language_a_file_or_a_list(tmp_path: Path) -> None:
    file = tmp_path / "stop.txt"
    file.write_text("über\n\ncat\n", encoding="utf-8")
    assert "und" not in WordCounter(stop_words="german").fit(TEXTS).vocabulary_
    for source in (file, str(file), ["über", "cat"]):
        assert not {"über", "cat"} & set(WordCounter(stop_words=source).fit(TEXTS).vocabulary_)
    assert "the" in WordCounter(stop_words=None).fit(TEXTS).vocabulary_
    assert "french" in languages()


def test_a_stop_word_is_compared_as_it_is_tokenized() -> None:
    counter = WordCounter(stop_words=["don't"]).fit(["don't stay, don"])
    assert counter.vocabulary_ == ("stay",)


@pytest.mark.parametrize(
    ("n_tokens", "expected"),
    [(0, 1), (49_999, 1), (100_000, 2), (149_999, 2), (150_000, 3), (10**9, 3)],
)
def test_auto_min_count_is_3_from_150_000_tokens_on(n_tokens: int, expected: int) -> None:
    assert auto_min_count(n_tokens) == expected


def test_min_count_counts_training_tokens_not_documents() -> None:
    counter = WordCounter(min_count=2).fit(TEXTS)
    assert counter.vocabulary_ == ("cat", "dog", "ran", "über")
    assert WordCounter().fit(TEXTS * 20_000).min_count_ == 3


def test_a_given_vocabulary_is_kept_as_it_is() -> None:
    counter = WordCounter(vocabulary=["dog", "cat", "cow"])
    assert counter.fit_transform(TEXTS).toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]


# More texts ---------------------------------------------------------------------------------------


def test_new_words_stand_after_the_old_ones_in_the_order_of_fit() -> None:
    counter = WordCounter(language=None).fit(["zebra cat"])
    more = ["Äpfel, the zebra", "bones and äpfel; a cat"]
    grown = counter.extended(more)
    assert grown.vocabulary_ == ("cat", "zebra", "bones", "äpfel")
    assert set(grown.vocabulary_[2:]) <= set(WordCounter(language=None).fit(more).vocabulary_)
    assert grown.transform(more).toarray().tolist() == [[0, 1, 0, 1], [1, 0, 1, 1]]
    assert counter.vocabulary_ == ("cat", "zebra")


def test_a_new_word_needs_the_tokens_that_the_first_texts_asked_for() -> None:
    counter = WordCounter(min_count=2).fit(TEXTS)
    grown = counter.extended(["birnen cow cow", "birnen pig sat"])  # sat was too rare before
    assert grown.vocabulary_ == (*counter.vocabulary_, "birnen", "cow")
    assert grown.min_count_ == 2
    # "auto" is what it was for the first texts, however few the new ones are.
    many = WordCounter().fit(TEXTS * 20_000)
    assert many.extended(["cow " * 2 + "pig " * 3]).vocabulary_ == (*many.vocabulary_, "pig")


def test_an_extended_counter_counts_as_the_first_did() -> None:
    counter = WordCounter(stop_words=["cow"], lowercase=False, ngrams=2).fit(["Old cat"] * 9)
    assert counter.extended(["New cow new"] * 9).vocabulary_ == (
        "Old", "Old cat", "cat", "New", "New new", "new",
    )  # fmt: skip


def test_a_counter_of_all_words_counts_as_the_first_did() -> None:
    counter = WordCounter(stop_words=["cow"], min_count=2).fit(["cat cat dog"])
    other = counter.of_all_words()
    assert other.fit(["cow pig cat"]).vocabulary_ == ("cat", "pig")
    assert counter.extended([]).of_all_words().fit(["pig"]).vocabulary_ == ("pig",)


def test_texts_without_new_words_extend_nothing() -> None:
    counter = WordCounter().fit(TEXTS)
    for texts in ([], ["the cat", ""]):
        assert counter.extended(texts).vocabulary_ == counter.vocabulary_
    with pytest.raises(InputError, match="put it in a list"):
        counter.extended("one text")
    with pytest.raises(NotFittedError):
        WordCounter().extended(TEXTS)


def test_it_works_in_a_pipeline() -> None:
    pipeline = make_pipeline(WordCounter(), Binarizer()).fit(TEXTS)
    assert pipeline.transform(["cat cat"]).sum() == 1


@pytest.mark.parametrize(
    ("options", "texts", "message"),
    [
        ({"stop_words": "klingon"}, TEXTS, "no stop words for 'klingon'.*english, .*turkish"),
        ({"min_count": 0}, TEXTS, "min_count is 0"),
        ({"min_count": 99}, TEXTS, "no word has 99 tokens or more.*most frequent word has 2"),
        ({"language": None}, ["the", "and"], "no words are left"),
        ({}, ["fine", None], "text 1 is NoneType, not a string"),
        ({}, "one text", "put it in a list"),
    ],
)
def test_bad_settings_and_texts_are_named(options: Any, texts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        WordCounter(**options).fit(texts)


def test_a_missing_file_of_stop_words_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"none\.txt: No such file"):
        WordCounter(stop_words=tmp_path / "none.txt").fit(TEXTS)


def test_an_unfitted_counter_says_so() -> None:
    with pytest.raises(NotFittedError):
        WordCounter().transform(TEXTS)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a(", r"'a\(', which is not a regular expression: missing \), .* at position 1"),
        ("(a)(b)", "one group at most"),
        ("x*", "one character at least"),
        (r"\b", "one character at least"),
        ("a{99999999999999999999}", "the repetition number is too large"),
        (None, "token_pattern is None"),
    ],
)
def test_a_pattern_of_no_words_is_an_error(pattern: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        WordCounter(token_pattern=pattern).fit(["some words"])


@pytest.mark.parametrize("ngrams", [0, 6, (1, 2), "2", None, 1.5])
def test_a_length_of_sequences_that_is_none_is_an_error(ngrams: Any) -> None:
    with pytest.raises(InputError, match="ngrams is"):
        WordCounter(ngrams=ngrams).fit(["some words"])


@pytest.mark.parametrize(
    ("words", "problem"),
    [([], "vocabulary is empty"), (["a", "a"], "'a' twice"), ([1], "int"), ("word", "one string")],
)
def test_a_vocabulary_that_is_none_is_an_error(words: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        WordCounter(vocabulary=words).fit(["some words"])


# Languages ----------------------------------------------------------------------------------------

FINNISH = ["Kirjastot kirjastossa kirjastossa ja talossa", "talot talossa"]


def finnish(**others: Any) -> WordCounter:
    options: dict[str, Any] = {"language": "fi", "normalize": "snowball", "min_count": 1}
    return WordCounter(**options | others)


def test_a_language_sets_stop_words_and_normaliser() -> None:
    counter = finnish()
    counts = counter.fit_transform(FINNISH)
    assert counter.vocabulary_ == ("kirjasto", "talo")
    assert counts.toarray().tolist() == [[3, 1], [0, 2]]
    assert counter.transform(["kirjastoissa"]).toarray().tolist() == [[1, 0]]
    assert (counter.normalizer_, counter.stop_words_) == ("snowball", "finnish")


def test_the_language_is_detected_unless_it_is_set() -> None:
    counter = WordCounter()
    assert counter.analyzer()("The libraries") == ["libraries"]  # before training
    assert (counter.language_code_, counter.stop_words_) == (None, "english")
    counter.fit(["The libraries and the library of the town"])
    assert (counter.detected_.code, counter.vocabulary_) == ("en", ("librari", "town"))
    assert pickle.loads(pickle.dumps(counter)).transform(["library"]).sum() == 1  # noqa: S301
    assert clone(counter).language_code_ is None
    assert counter.fit(FINNISH).detected_.code == "fi"


def test_without_a_language_words_are_counted_as_before() -> None:
    plain = WordCounter(language=None, min_count=1).fit(["The libraries and the library"])
    assert plain.vocabulary_ == plain.surface_words_ == ("libraries", "library")
    assert (plain.normalizer_, plain.stop_words_) == ("none", "english")
    german = WordCounter(language="german", normalize="none", min_count=1)
    assert german.fit(["Die Häuser durch das Haus"]).vocabulary_ == ("haus", "häuser")


def test_people_read_the_commonest_form_and_every_form_is_found_in_a_text() -> None:
    counter = finnish().fit(FINNISH)
    assert counter.surface_words_ == ("kirjastossa", "talossa")
    assert counter.spans("Kirjastoissa oli talo ja") == [
        (0, 12, "kirjastossa"), (17, 21, "talossa"),
    ]  # fmt: skip
    pairs = finnish(ngrams=2).fit(["autot"] * 99 + FINNISH[:1] * 9)
    assert "kirjastossa talossa" in pairs.surface_words_
    assert counter.fit(["talot"]).surface_words_ == ("talot",)  # none is left of a fit before


def test_of_words_without_blanks_the_last_known_is_spanned_whole() -> None:
    counter = WordCounter(language="zh", min_count=1).fit(["图书 书馆"])
    assert counter.spans("图书柜") == [(0, 2, "图书")]
    assert counter.spans("新图书馆") == [(1, 2, "图书"), (2, 4, "书馆")]


def test_words_given_must_be_countable() -> None:
    with pytest.raises(InputError, match="'kirjastossa' is counted as 'kirjasto'; give"):
        finnish(vocabulary=["kirjastossa"]).fit(FINNISH)
    assert finnish(vocabulary=["kirjasto"]).fit_transform(FINNISH).sum() == 3


@pytest.mark.parametrize("name", ["fold_accents", "lowercase"])
def test_yes_and_no_are_no_words(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 'no'; it must be True or False"):
        finnish(**{name: "no"}).fit(FINNISH)


def test_words_learned_later_have_forms_too() -> None:
    more = finnish().fit(FINNISH).extended(["autoissa autoissa autot kirjastot"])
    assert more.vocabulary_ == ("kirjasto", "talo", "auto")
    assert more.surface_words_ == ("kirjastossa", "talossa", "autoissa")
    assert more.with_words(["auto", "talo"]).surface_words_ == ("autoissa", "talossa")


def test_mappings_of_a_fitted_counter_are_rebuilt_from_their_items() -> None:
    counter = WordCounter().fit(["the judge", "a coach"])
    counter.count(["the judge"])
    mappings = [value for value in vars(counter).values() if isinstance(value, dict)]
    assert mappings
    for mapping in mappings:
        rebuilt = type(mapping)()  # as skops does
        rebuilt.update(mapping)
        assert rebuilt == mapping
