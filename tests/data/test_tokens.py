"""Tokens of texts in every script, and where they stand."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deplda.data.tokens import Tokenizer, without_accents

WORDS, CODES = Tokenizer("words"), Tokenizer("codes")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat’s 2 hats", ["the", "cat", "hats"]),
        ("Äpfel über ÖL", ["äpfel", "über", "öl"]),
        ("cafe\u0301 café", ["café", "café"]),  # in two ways
        ("Wort\u00adende", ["wortende"]),
        ("ΟΔΟΣ δρόμος", ["οδος", "δρόμος"]),
        ("हिन्दी में किताब", ["हिन्दी", "में", "किताब"]),
        ("می\u200cخواهم کتاب", ["می\u200cخواهم", "کتاب"]),
        ("도서관은 문을", ["도서관은", "문을"]),
        ("\u1103\u1169\u1109\u1165", ["도서"]),  # letters in parts
        ("图书馆 tea 茶", ["图书", "书馆", "tea", "茶"]),
        ("日本語の本です", ["日本", "本語", "語の", "の本", "本で", "です"]),
        ("カフェーへ", ["カフ", "フェ", "ェー", "ーへ"]),
        ("ห้องสมุด๑๒", ["ห้", "้อ", "อง", "งส", "สม", "มุ", "ุด"]),
        ("Python编程", ["python", "编程"]),
        ("a b_c 42", []),
        ("", []),
    ],
)
def test_words_of_all_scripts_are_found(text: str, tokens: list[str]) -> None:
    assert WORDS(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("covid-19, B12.", ["covid-19", "b12"]),
        ("Directive 2007/49/EC of 1997", ["directive", "2007/49/ec", "of", "1997"]),
        ("3.14 and 5 and 5/7 or 5-", ["3.14", "and", "and", "5/7", "or"]),
        ("1,000,000 or 1997, 20", ["1,000,000", "or", "1997", "20"]),
        ("well-known e-mail", ["well", "known", "mail"]),
        ("x-y-z1", ["x-y-z1"]),
        ("图书馆2024年", ["图书", "书馆", "2024", "年"]),
        ("1-2-3-4-5-6-7-8-9-10", ["1-2-3-4-5-6-7-8", "9-10"]),
    ],
)
def test_codes_are_kept_where_they_are_asked_for(text: str, tokens: list[str]) -> None:
    assert CODES(text) == tokens


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\U0001d165\u0327"])
def test_marks_in_great_numbers_take_no_time(marks: str) -> None:
    """They would be put in order in quadratic time."""
    text = f"a{marks * 100_000}b word"
    assert WORDS(text)[-1] == "word"
    assert list(WORDS.spans(text))[-1] == (len(text) - 4, len(text), "word")


def test_turkish_has_two_letters_i() -> None:
    assert Tokenizer("words", True, "tr")("ILIK İstanbul") == ["ılık", "istanbul"]
    assert WORDS("İstanbul") == ["i̇stanbul"]


def test_case_is_left_where_it_matters() -> None:
    assert Tokenizer("words", False)("The Öl") == ["The", "Öl"]


def test_any_pattern_finds_what_it_says() -> None:
    tokenize = Tokenizer(r"#(\w+)")
    assert tokenize("#One two #3") == ["one", "3"]
    assert list(tokenize.spans("#One two")) == [(1, 4, "one")]


@given(st.text(alphabet=st.sampled_from("aBé́ İßΣç\u00ad日本のท้ก1-/._ \u1103\u1169हिन्")))
def test_tokens_stand_where_they_are_said_to(text: str) -> None:
    for tokenize in (WORDS, CODES):
        spans = list(tokenize.spans(text))
        assert [token for _, _, token in spans] == tokenize(text)
        begins = [begin for begin, _, _ in spans]
        assert begins == sorted(begins)
        assert all(0 <= begin < end <= len(text) for begin, end, _ in spans)


@given(st.text(alphabet="abcXYZ _,.;09é"))
def test_plain_texts_have_the_words_that_a_plain_pattern_finds(text: str) -> None:
    assert WORDS(text) == re.findall(r"[^\W\d_]{2,}", text.lower())


@given(st.text(max_size=30), st.integers(1, 7))
def test_pieces_are_the_whole(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deplda.data.tokens._PIECE", size)
        pieces = list(WORDS.pieces(text))
        assert "".join(pieces) == text
        assert [token for piece in pieces for token in WORDS(piece)] == WORDS(text)


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("café", "cafe"),
        ("Čapek", "Capek"),
        ("øl", "øl"),
        ("ή", "η"),
        ("हिन्दी", "हिन्दी"),
        ("abc", "abc"),
    ],
)
def test_accents_are_left_out(word: str, plain: str) -> None:
    assert without_accents(word) == plain
