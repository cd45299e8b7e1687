"""Forms of a word made one: by a stemmer (Snowball) or by a dictionary (simplemma)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from threading import Lock
from typing import Literal, get_args

from deplda.data import checks
from deplda.data.languages import NAMES
from deplda.data.tokens import without_accents
from deplda.errors import InputError

Normalizer = Literal["auto", "snowball", "lemma", "none"]
NORMALIZERS: tuple[str, ...] = get_args(Normalizer)
_DICTIONARIES = {"sr": "hbs"}
"""Names of simplemma's that are not ISO 639-1 codes."""
_BETTER_BY_LEMMAS = ("fi",)
"""Languages in which lemmas label documents better than stems (docs/how-to/languages.md)."""
_MOST_KEPT, _LONGEST_KEPT = 1_000_000, 100


class Forms(dict[str, str]):
    """The normal form of each word met so far; a word is normalised once, not at every token."""

    def __init__(self, normalize: Callable[[str], str]) -> None:
        super().__init__()
        self._normalize, self._lock = normalize, Lock()

    def __missing__(self, word: str) -> str:
        with self._lock:  # a stemmer has a state of its own
            form = self._normalize(word) or word
        if len(self) < _MOST_KEPT and len(word) <= _LONGEST_KEPT:
            self[word] = form
        return form


def resolve(normalize: str, code: str | None) -> str:
    """Return the normaliser that is meant: "snowball", "lemma" or "none".

    "auto" is the stemmer of the language, in some the dictionary, or where there is none "none".
    """
    checks.choice("normalize", normalize, NORMALIZERS)
    if normalize == "none" or (normalize == "auto" and (code is None or not _has_stemmer(code))):
        return "none"
    if code is None:
        raise InputError(
            f"normalize is {normalize!r}, which needs a language, such as language='de' "
            "(--language de)"
        )
    by_default = "lemma" if code in _BETTER_BY_LEMMAS else "snowball"
    found = by_default if normalize == "auto" else normalize
    if found == "snowball" and not _has_stemmer(code):
        raise InputError(
            f"there is no stemmer for {NAMES[code]}; use normalize='none' (--normalize none)"
        )
    return found


@cache
def shared_forms(normalizer: str, code: str | None, fold_accents: bool) -> Forms:
    """Return the one that all counters of this process share, with the words it has met."""
    return forms_of(normalizer, code, fold_accents)


def forms_of(normalizer: str, code: str | None, fold_accents: bool = False) -> Forms:
    """Return what normalises words of a language; accents are folded last, stemmers need them."""
    normalize = str if code is None else _normalize(normalizer, code)
    return Forms((lambda word: without_accents(normalize(word))) if fold_accents else normalize)


def _normalize(normalizer: str, code: str) -> Callable[[str], str]:
    if normalizer == "none":
        return str
    if normalizer == "snowball":
        stem: Callable[[str], str] = import_module("Stemmer").Stemmer(NAMES[code]).stemWord
        return stem
    simplemma, name = import_module("simplemma"), _DICTIONARIES.get(code, code)

    def lemma(word: str) -> str:
        return str(simplemma.lemmatize(word, lang=name)).lower()

    try:
        lemma("a")
    except ValueError as error:
        other = "'snowball'" if _has_stemmer(code) else "'none'"
        raise InputError(
            f"simplemma has no dictionary for {NAMES[code]}; use normalize={other}"
        ) from error
    return lemma


def package_of(normalizer: str) -> str | None:
    """Return the package that normalises, and its version; None where nothing does."""
    name = {"snowball": "PyStemmer", "lemma": "simplemma"}.get(normalizer)
    return None if name is None else f"{name} {version(name)}"


def _has_stemmer(code: str) -> bool:
    return NAMES[code] in import_module("Stemmer").algorithms()
