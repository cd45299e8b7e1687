"""A text to its tokens: which characters make a word, in every script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
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
_SOFT_HYPHEN = "\u00ad"
_JAMO = "[\u1100-\u115f][\u1160-\u11ff]+"  # parts of a Korean letter
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_MOST_MARKS = 30
"""On one letter; no writing has more (Unicode's stream-safe text format)."""
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
        self._plain = _named(pattern, True) if self._is_named else compiled(pattern)
        self._any = _named(pattern, False) if self._is_named else self._plain
        self._lowercase, self._is_turkish = lowercase, language in ("tr", "az")

    def __call__(self, text: str) -> list[str]:
        """Return the tokens."""
        text = self._folded(text)
        if not self._is_named or text.isascii() or not _special().search(text):
            return self._plain.findall(text)
        return [token for _, _, token in self._places(text)]

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

        Those of two characters of a script without blanks overlap.
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
            # Marks in great numbers on one letter would be put in order in quadratic time.
            marks = _many_marks(bool(_ASTRAL.search(text)))
            text = unicodedata.normalize("NFC", marks.sub(r"\1", text)).replace(_SOFT_HYPHEN, "")
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
                yield place, place + 2, text[place : place + 2]


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a regular expression of words, or say why it is none."""
    if not isinstance(pattern, str):
        raise InputError(f"token_pattern is {pattern!r}; it must be a regular expression")
    try:
        found = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            f"token_pattern is {pattern[:80]!r}, which is not a regular expression: {error}"
        ) from error
    if found.groups > 1 or any(not match[0] for match in found.finditer("a 1")):
        raise InputError(
            f"token_pattern is {pattern!r}; it must match one character at least and have one "
            "group at most: use + instead of *, and (?:…) for other groups"
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
def _named(pattern: str, is_plain: bool) -> re.Pattern[str]:
    """Return the regular expression of a pattern of our own.

    The plain one finds the same in texts without special characters, and sooner: its letters are
    looked up in a table.
    """
    letter = f"[{_letters()}]" if is_plain else rf"[^\W\d_{_JOINED}]"
    either = rf"[{_letters()}\d]" if is_plain else rf"[^\W_{_JOINED}]"
    mark = f"[{_marks()}]"
    word = (
        f"{letter}{{2,}}"
        if is_plain
        else f"{letter}(?:{letter}|{mark}){letter}*+(?:{mark}++{letter}*+)*+"
    )
    joined = "" if is_plain else f"[{_JOINED}]++|"
    if pattern == "words":
        return re.compile(f"{joined}{word}")
    # A code is letters and digits in up to eight parts, of which one of the first four has a digit;
    # one digit alone is none. Parts are limited, so that no text takes time beyond its length.
    # Most words are none, which is seen by what follows them.
    joint = r"(?:[-/.]|,(?=\d{3}))"
    code = (
        rf"(?!\d(?!{joint}?{either}))(?=(?:{letter}++[-/.]){{0,3}}+{letter}*+\d)"
        rf"{either}++(?:{joint}{either}++){{0,7}}+"
    )
    return re.compile(rf"{joined}{letter}{{2,}}+(?!\d|{mark}|[-/.]{either})|{code}|{word}")


@cache
def _joined() -> re.Pattern[str]:
    return re.compile(f"[{_JOINED}]")


@cache
def _special() -> re.Pattern[str]:
    return re.compile(f"[{_JOINED}{_marks()}\U00010000-\U0010ffff]")


@cache
def _many_marks(has_astral: bool) -> re.Pattern[str]:
    """Return what finds more marks on a letter than there may be; its group is those to keep."""
    last = 0x20000 if has_astral else 0x10000  # a class of the basic plane alone is a table
    marks = _ranges(n for n in range(0x300, last) if unicodedata.combining(chr(n)))
    return re.compile(f"([{marks}]{{{_MOST_MARKS}}})[{marks}]+")


@cache
def _letter_with_marks() -> re.Pattern[str]:
    return re.compile(f"(?:{_JAMO}|.)[{_marks()}{_SOFT_HYPHEN}]*", re.DOTALL)


@cache
def _letters() -> str:
    """Return the ranges of letters of the basic plane, as Python tells them from digits."""
    return _ranges(n for n in range(0x10000) if chr(n).isalnum() and not chr(n).isdecimal())


@cache
def _marks() -> str:
    """Return the ranges of marks, and of what joins letters without a width of its own.

    Of the basic plane alone, for which a class of characters is a table.
    """
    numbers = (n for n in range(0x300, 0x10000) if unicodedata.category(chr(n)) in ("Mn", "Mc"))
    return _ranges(sorted([*numbers, 0x200C, 0x200D]))


def _ranges(numbers: Iterable[int]) -> str:
    runs = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    found = ([number for _, number in run] for _, run in runs)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in found)
