"""Languages: their names, which of them a text is in, and their stop words."""

from __future__ import annotations

import os
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from deplda.data.encodings import decode
from deplda.data.files import read_lines
from deplda.errors import InputError

UNDETERMINED = "und"
"""The code of a language that has neither stop words nor a normaliser here."""

# ISO 639-1 codes and the names that stop words and stemmers go by.
NAMES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "cy": "welsh",
    "da": "danish", "de": "german", "el": "greek", "en": "english", "eo": "esperanto",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "gl": "galician", "gu": "gujarati", "he": "hebrew",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "is": "icelandic",
    "it": "italian", "ja": "japanese", "ka": "georgian", "ko": "korean", "la": "latin",
    "lt": "lithuanian", "lv": "latvian", "mk": "macedonian", "ms": "malaysian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "nynorsk", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "se": "sami", "sk": "slovak", "sl": "slovenian",
    "sq": "albanian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "sw": "swahili",
    "ta": "tamil", "th": "thai", "tr": "turkish", "uk": "ukrainian", "vi": "vietnamese",
    "yi": "yiddish", "zh": "chinese", UNDETERMINED: "undetermined",
}  # fmt: skip
_CODES = {name: code for code, name in NAMES.items()} | {"no": "nb"}

_MOST_TEXTS, _MOST_CHARACTERS, _OF_A_TEXT = 1000, 10_000_000, 2000


class Detected(NamedTuple):
    """The language that most texts are in."""

    code: str
    n_texts: int
    """How many of the texts looked at are in it, or in the commonest."""
    n_seen: int

    def __str__(self) -> str:
        if self.code == UNDETERMINED:
            most = f" (the commonest has {self.n_texts:,} of {self.n_seen:,} texts)"
            return f"undetermined, words are counted as they are{most if self.n_texts else ''}"
        return f"{NAMES[self.code]} ({self.code}), by {self.n_texts:,} of {self.n_seen:,} texts"


def language_code(language: str) -> str:
    """Return the code of a language that is given by code or English name."""
    given = language.lower() if isinstance(language, str) else ""
    given = re.split("[-_]", given)[0]  # de-AT is de
    code = given if given in NAMES else _CODES.get(given)
    if code is None:
        raise InputError(
            f"language is {reprlib.repr(language)}; it must be auto, none, or one of "
            f"{', '.join(f'{code} ({name})' for code, name in NAMES.items())}"
        )
    return code


def first_texts(texts: Iterator[str]) -> list[str]:
    """Return the texts to tell the language by: a thousand at most, and no more than fit."""
    found: list[str] = []
    n_characters = 0
    for text in islice(texts, _MOST_TEXTS):
        found.append(text)
        n_characters += len(text)
        if n_characters > _MOST_CHARACTERS:
            break
    return found


def detect(texts: Iterable[str]) -> Detected:
    """Return the language of the texts; undetermined where not even half of them are in one."""
    import py3langid

    known = [text[:_OF_A_TEXT] for text in texts if any(map(str.isalpha, text[:_OF_A_TEXT]))]
    try:
        found = Counter(_known(py3langid.classify(text)[0]) for text in known)
    except OSError as error:  # its model is unpacked into a temporary file
        raise InputError(
            f"the language cannot be told ({error.strerror}): there is no room for temporary "
            "files; say it (--language)"
        ) from error
    if not found:
        return Detected(UNDETERMINED, 0, 0)
    code, n_texts = min(found.items(), key=lambda item: (-item[1], item[0]))
    is_most = 2 * n_texts >= len(known)
    return Detected(code if is_most else UNDETERMINED, n_texts, len(known))


def chances(text: str, codes: Iterable[str]) -> tuple[dict[str | None, float], int]:
    """Return how likely a text is in each of some languages, None any other, the likeliest first.

    And how many of its characters were looked at. Where there are no letters, nothing is known.
    """
    known, read = languages_told(), text[:_OF_A_TEXT]
    asked = {code: _CODES.get(code.lower(), code.lower()) for code in codes}
    for code, language in asked.items():
        if language not in known:
            raise InputError(
                f"languages has {code!r}, which is not one of those that can be told: "
                f"{', '.join(known)}"
            )
    found: Counter[str] = Counter()
    if any(map(str.isalpha, read)):
        for code, chance in _identifier().rank(read):
            found[_CODES.get(code, code)] += chance
    told: dict[str | None, float] = {code: float(found[each]) for code, each in asked.items()}
    told[None] = max(0.0, 1.0 - sum(found[each] for each in set(asked.values())))
    likeliest = sorted(told.items(), key=lambda each: (-each[1], each[0] is None, each[0] or ""))
    return dict(likeliest), len(read)


@cache
def languages_told() -> list[str]:
    """Return the codes of the languages that can be told of a text."""
    return sorted({_CODES.get(code, code) for code in _identifier().labels})


@cache
def _identifier() -> Any:
    """Return what tells languages with probabilities, which is read from a file once."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _known(code: str) -> str:
    code = _CODES.get(code, code)
    return code if code in NAMES else UNDETERMINED


def languages() -> list[str]:
    """Return the languages that have a list of stop words."""
    from stop_words import AVAILABLE_LANGUAGES

    return sorted(AVAILABLE_LANGUAGES)


def stop_words_of(source: str | os.PathLike[str] | Iterable[str] | None) -> Iterable[str]:
    """Return the words that `stop_words` of a WordCounter stands for."""
    if source is None:
        return ()
    if isinstance(source, os.PathLike) or (isinstance(source, str) and source.endswith(".txt")):
        path = Path(os.fspath(source))
        lines = (decode(path, number, line, "utf-8") for number, line in read_lines(path))
        return [line.strip() for line in lines if line.strip()]
    if not isinstance(source, str):
        return strings(source)
    if source == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if source not in languages():
        raise InputError(
            f"there are no stop words for {source!r}; give a file (*.txt), a list of words, None, "
            f"or one of: {', '.join(languages())}"
        )
    from stop_words import get_stop_words

    words: list[str] = get_stop_words(source)
    return words


def strings(texts: Iterable[str]) -> Iterable[str]:
    """Yield the texts, or say which is none."""
    if isinstance(texts, str):
        raise InputError("expected several texts, got one string; put it in a list")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {row} is {type(text).__name__}, not a string")
        yield text
