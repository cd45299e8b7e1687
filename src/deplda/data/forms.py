"""Forms of a word made one: by a stemmer (Snowball) or by a dictionary (simplemma)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from threading import Lock
from typing import Literal, get_args

from deplda.errors import InputError

Normalizer = Literal["auto", "snowball", "lemma", "none"]
NORMALIZERS: tuple[str, ...] = get_args(Normalizer)
_PACKAGES = {"snowball": "snowballstemmer", "lemma": "simplemma"}
_MOST_KEPT = 1_000_000

# ISO 639-1 codes and the names that stop words and stemmers go by.
_NAMES = {
    "ar": "arabic", "bg": "bulgarian", "ca": "catalan", "cs": "czech", "da": "danish",
    "de": "german", "el": "greek", "en": "english", "es": "spanish", "et": "estonian",
    "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "gu": "gujarati", "he": "hebrew", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "ms": "malaysian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sk": "slovak", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "uk": "ukrainian", "vi": "vietnamese",
}  # fmt: skip
_CODES = {name: code for code, name in _NAMES.items()} | {"no": "nb"}


class Forms(dict[str, str]):
    """The normal form of each word met so far; a word is normalised once, not at every token."""

    def __init__(self, normalize: Callable[[str], str]) -> None:
        super().__init__()
        self._normalize, self._lock = normalize, Lock()

    def __missing__(self, word: str) -> str:
        with self._lock:  # a stemmer has a state of its own
            form = self._normalize(word) or word
        if len(self) < _MOST_KEPT:
            self[word] = form
        return form


def language_code(language: str) -> str:
    """Return the code of a language that is given by code or English name."""
    given = language.lower() if isinstance(language, str) else language
    code = given if given in _NAMES else _CODES.get(given)
    if code is None:
        raise InputError(
            f"language is {language!r}; it must be one of "
            f"{', '.join(f'{code} ({name})' for code, name in _NAMES.items())}, or None"
        )
    return code


def language_name(code: str) -> str:
    """Return the English name of a language."""
    return _NAMES[code]


def resolve(normalize: str, code: str | None) -> str:
    """Return the normaliser that is meant: "snowball", "lemma" or "none".

    "auto" is the stemmer of the language, or where there is none "none". It does not depend on what
    else is installed, so that the same call counts the same words everywhere.
    """
    if normalize not in NORMALIZERS:
        raise InputError(f"normalize is {normalize!r}; it must be one of {', '.join(NORMALIZERS)}")
    if normalize == "none" or (normalize == "auto" and (code is None or not _has_stemmer(code))):
        return "none"
    if code is None:
        raise InputError(f"normalize is {normalize!r}, which needs a language")
    found = "snowball" if normalize == "auto" else normalize
    if found == "snowball" and not _has_stemmer(code):
        raise InputError(
            f"there is no stemmer for {_NAMES[code]}; normalize='lemma' may have it, or 'none'"
        )
    if found == "lemma" and find_spec("simplemma") is None:
        raise InputError("normalize is 'lemma', which needs simplemma: pip install 'deplda[lemma]'")
    return found


def forms_of(normalizer: str, code: str) -> Forms:
    """Return what normalises words of a language."""
    if normalizer == "snowball":
        stemmer = import_module("snowballstemmer").stemmer(_NAMES[code])
        return Forms(stemmer.stemWord)
    simplemma = import_module("simplemma")

    def lemma(word: str) -> str:
        return str(simplemma.lemmatize(word, lang=code)).lower()

    try:
        lemma("a")
    except ValueError as error:
        raise InputError(
            f"simplemma has no dictionary for {_NAMES[code]}; normalize='snowball' may, or 'none'"
        ) from error
    return Forms(lemma)


@cache
def shared_forms(normalizer: str, code: str) -> Forms:
    """Return the one that all counters of this process share, with the words it has met."""
    return forms_of(normalizer, code)


def package_of(normalizer: str) -> str | None:
    """Return the package that normalises, and its version; None where nothing does."""
    name = _PACKAGES.get(normalizer)
    return None if name is None else f"{name} {version(name)}"


def _has_stemmer(code: str) -> bool:
    return _NAMES[code] in import_module("snowballstemmer").algorithms()
