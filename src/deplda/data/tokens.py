"""A text to its tokens: which characters make a word, in every script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from deplda.errors import InputError

NAMED_PATTERNS = ("words", "codes")
"""The patterns of our own: words of two letters or more; these, and whatever has a digit in it."""

# Scripts that are written without blanks: Han and kana, Thai, Lao, Burmese, Khmer. Letters and the
# marks on them, no digits.
_JOINED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff\u0e01-\u0e3a\u0e40-\u0e4e"
    "\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3"
)
_LETTER, _LETTER_OR_DIGIT = rf"[^\W\d_{_JOINED}]", rf"[^\W_{_JOINED}]"
# A code is letters and digits in up to eight parts, of which one of the first four has a digit; one
# digit alone is none. Parts are limited, so that no text takes time beyond its length.
_CODE = (
    rf"(?!\d(?![-/.]?{_LETTER_OR_DIGIT}))(?=(?:{_LETTER}++[-/.]){{0,3}}+{_LETTER}*+\d)"
    rf"{_LETTER_OR_DIGIT}++(?:[-/.]{_LETTER_OR_DIGIT}++){{0,7}}+"
)
_SOFT_HYPHEN = "\u00ad"
_JAMO = "[\u1100-\u115f][\u1160-\u11ff]+"  # parts of a Korean letter
_PIECE, _BLANK = 1 << 20, re.compile(r"\s")
_TURKISH = str.maketrans({"İ": "i", "I": "ı"})


class Tokenizer:
    """Finds the tokens of a text, by a pattern of our own or any regular expression.

    Letters that can be written in two ways are made one (NFC), soft hyphens left out, and case is
    folded. By a pattern of our own marks belong to their letters (vowels of Hindi are marks, and no
    part of a word to Python), and scripts without blanks give each two characters that follow each
    other.
    """

    def __init__(self, pattern: str, lowercase: bool = True, language: str | None = None) -> None:
        self._is_named = pattern in NAMED_PATTERNS
        self._ascii = _named(pattern, True) if self._is_named else compiled(pattern)
        self._any = _named(pattern, False) if self._is_named else self._ascii
        self._lowercase, self._is_turkish = lowercase, language in ("tr", "az")

    def __call__(self, text: str) -> list[str]:
        """Return the tokens."""
        text = self._folded(text)
        if text.isascii():
            return self._ascii.findall(text)
        if self._is_named and _joined().search(text):
            return [token for _, _, token in self._places(text)]
        return self._any.findall(text)

    def pieces(self, text: str) -> Iterator[str]:
        """Yield a long text in pieces, that not all of its tokens are in memory at a time."""
        start = 0
        while self._is_named and len(text) - start > _PIECE:  # a pattern of others may have blanks
            blank = _BLANK.search(text, start + _PIECE)
            end = len(text) if blank is None else blank.start()
            yield text[start:end]
            start = end
        yield text[start:] if start else text

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield where tokens stand in a text as it is written: begin, end, token.

        They do not overlap: of two characters of a script without blanks the first is spanned.
        """
        folded = self._folded(text)
        written: Sequence[int] = range(len(text) + 1)  # where each folded character comes from
        if folded != text and not text.isascii():
            letters = [(match.start(), match[0]) for match in _letter_with_marks().finditer(text)]
            parts = [self._folded(letter) for _, letter in letters]
            written = [
                place + (number if len(part) == len(letter) else 0)
                for (place, letter), part in zip(letters, parts, strict=True)
                for number in range(len(part))
            ]
            written.append(len(text))
            if len(written) != len(folded) + 1:  # letters that became one with the one before
                folded = "".join(parts)
        for begin, end, token in self._places(folded):
            yield written[begin], max(written[end], written[begin] + 1), token

    def _folded(self, text: str) -> str:
        if not text.isascii():
            text = unicodedata.normalize("NFC", text).replace(_SOFT_HYPHEN, "")
        if not self._lowercase:
            return text
        return (text.translate(_TURKISH) if self._is_turkish else text).lower()

    def _places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield where tokens stand in a folded text."""
        group = 1 if self._any.groups else 0
        for match in self._any.finditer(text):
            begin, end = match.span(group)
            if not self._is_named or end - begin < 3 or not _joined().match(text, begin):
                yield begin, end, match[group]
                continue
            for place in range(begin, end - 1):
                is_last = place == end - 2
                yield place, end if is_last else place + 1, text[place : place + 2]


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a regular expression of words, or say why it is none."""
    if not isinstance(pattern, str):
        raise InputError(f"token_pattern is {pattern!r}; it must be a regular expression")
    try:
        found = re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise InputError(
            f"token_pattern is {pattern!r}, which is not a regular expression: {error.msg}{where}"
        ) from error
    except (OverflowError, RecursionError) as error:
        raise InputError(
            f"token_pattern is {pattern[:80]!r}, which is too much: {error}"
        ) from error
    if found.groups > 1:
        raise InputError(
            f"token_pattern is {pattern!r}, which has {found.groups} groups; a token is one "
            "group: write (?:…) for the others"
        )
    if any(not match[0] for match in found.finditer("a 1")):
        raise InputError(
            f"token_pattern is {pattern!r}, which matches where there is nothing; "
            "use + instead of *"
        )
    return found


def without_accents(word: str) -> str:
    """Return a word without accents: letters of Latin, Greek, Cyrillic without their marks."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    kept = "".join(letter for letter in apart if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", kept)


@cache
def _named(pattern: str, is_ascii: bool) -> re.Pattern[str]:
    """Return the regular expression of a pattern of our own."""
    code = f"{_CODE}|" if pattern == "codes" else ""
    if is_ascii:
        return re.compile(rf"{code}[^\W\d_]{{2,}}")
    mark = f"[{_marks()}]"
    word = rf"{_LETTER}(?:{_LETTER}|{mark}){_LETTER}*+(?:{mark}++{_LETTER}*+)*+"
    return re.compile(rf"[{_JOINED}]++|{code}{word}")


@cache
def _joined() -> re.Pattern[str]:
    return re.compile(f"[{_JOINED}]")


@cache
def _letter_with_marks() -> re.Pattern[str]:
    return re.compile(f"(?:{_JAMO}|.)[{_marks()}{_SOFT_HYPHEN}]*", re.DOTALL)


@cache
def _marks() -> str:
    """Return the ranges of marks, and of what joins letters without a width of its own."""
    numbers = [n for n in range(0x300, 0x20000) if unicodedata.category(chr(n)) in ("Mn", "Mc")]
    runs = groupby(enumerate([*numbers, 0x200C, 0x200D]), lambda pair: pair[1] - pair[0])
    ranges = ([number for _, number in run] for _, run in runs)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in ranges)
