"""Text → word counts, on scikit-learn's CountVectorizer."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.utils.validation import check_is_fitted

from deplda.data import checks
from deplda.data.corpus import check_distinct
from deplda.data.files import decode, read_lines
from deplda.data.forms import Forms, Normalizer, language_code, language_name, resolve, shared_forms
from deplda.errors import InputError

LETTERS = r"(?u)[^\W\d_]{2,}"


class WordCounter(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts the words of texts; a scikit-learn transformer whose vocabulary comes from training.

    Parameters
    ----------
    language : str, optional
        Of the texts: an ISO code or an English name ("fi", "finnish"). It sets stop words and
        normaliser where these are "auto".
    normalize : "auto", "snowball", "lemma" or "none", default "auto"
        Make forms of a word one: by the language's Snowball stemmer, by simplemma's dictionary (the
        extra ``[lemma]``), or not. "auto" is the stemmer of the language if there is one.
    stop_words : str, path, iterable of str, or None, default "auto"
        Words to leave out: a language (see `languages`), a file with one word a line (a `Path`,
        or a string that ends in ``.txt``), the words themselves, or None to keep all. "auto" are
        those of the language, if there are any, and of English where none is given. They are
        compared before words are normalised.
    min_count : int or "auto", default "auto"
        Words with fewer tokens than this in the training texts are dropped. The paper uses 20;
        "auto" is one for every 50,000 tokens, at least 1 and at most 20 (see `auto_min_count`).
    token_pattern : str, default runs of at least two letters
        A regular expression; each match, or its one group, is a token. A pattern that can match in
        very many ways may take very long: that of others is not safe to use.
    lowercase : bool, default True
        Fold case before matching.
    ngram_range : (int, int), default (1, 1)
        Lengths of the word sequences that count as one word.
    vocabulary : iterable of str, optional
        Use exactly these words, in this order, and learn none.

    Attributes
    ----------
    vocabulary_ : tuple of str
        The words kept, in the order of the columns, as they are counted.
    surface_words_ : tuple of str
        The same words as people read them: of each the form that was commonest in the training
        texts.
    min_count_ : int
        The threshold used.
    """

    _surface_words: tuple[str, ...] | None = None
    _met: Counter[str] | None = None
    """How often each form was met in training texts."""

    def __init__(
        self,
        *,
        language: str | None = None,
        normalize: Normalizer = "auto",
        stop_words: str | os.PathLike[str] | Iterable[str] | None = "auto",
        min_count: int | Literal["auto"] = "auto",
        token_pattern: str = LETTERS,
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        vocabulary: Iterable[str] | None = None,
    ) -> None:
        self.language = language
        self.normalize = normalize
        self.stop_words = stop_words
        self.min_count = min_count
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.ngram_range = ngram_range
        self.vocabulary = vocabulary

    def analyzer(self) -> Callable[[str], list[str]]:
        """Return the function that turns one text into its tokens."""
        _check_pattern(self.token_pattern)
        _check_ngrams(self.ngram_range)
        stops, forms = self._stops(), self._forms()
        if forms is None:
            how: Any = {"token_pattern": self.token_pattern, "stop_words": sorted(stops) or None}
        else:
            how = {"token_pattern": None, "tokenizer": self._tokenizer(stops, forms)}
        full = CountVectorizer(lowercase=self.lowercase, ngram_range=self.ngram_range, **how)
        analyze: Callable[[str], list[str]] = full.build_analyzer()
        return analyze

    @property
    def language_code_(self) -> str | None:
        """The code of the language, None where none is given."""
        return None if self.language is None else language_code(self.language)

    @property
    def normalizer_(self) -> str:
        """What normalises words: "snowball", "lemma" or "none"."""
        return resolve(self.normalize, self.language_code_)

    @property
    def stop_words_(self) -> str | os.PathLike[str] | Iterable[str] | None:
        """What `stop_words` stands for: of "auto" a language that has a list, or None."""
        if not isinstance(self.stop_words, str) or self.stop_words != "auto":
            return self.stop_words
        name = "english" if self.language_code_ is None else language_name(self.language_code_)
        return name if name in ("english", *languages()) else None

    def _stops(self) -> set[str]:
        """Return the stop words as tokens: the pattern makes "don" of "don't"."""
        plain = CountVectorizer(token_pattern=self.token_pattern, lowercase=self.lowercase)
        split = plain.build_analyzer()
        return {token for word in stop_words_of(self.stop_words_) for token in split(word)}

    def _forms(self) -> Forms | None:
        """Return what normalises words, None where nothing does."""
        code, normalizer = self.language_code_, self.normalizer_
        return None if code is None or normalizer == "none" else shared_forms(normalizer, code)

    def _tokenizer(self, stops: set[str], forms: Forms) -> Callable[[str], list[str]]:
        """Return the function that makes normalised tokens of a text.

        While there is no vocabulary it counts the forms that words have, to know the commonest.
        """
        find = re.compile(self.token_pattern).findall
        if hasattr(self, "vocabulary_"):
            return lambda text: [forms[token] for token in find(text) if token not in stops]
        met = self._met = Counter() if self._met is None else self._met

        def tokens(text: str) -> list[str]:
            kept = [token for token in find(text) if token not in stops]
            met.update(kept)
            return [forms[token] for token in kept]

        return tokens

    def _surfaces(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the commonest form of each word: as known from before, or met in these texts."""
        best = dict(zip(getattr(self, "vocabulary_", ()), self.surface_words_, strict=True))
        forms = self._forms()
        if forms is not None and self._met is not None:
            for token, _ in self._met.most_common():
                best.setdefault(forms[token], token)
        return tuple(
            best.get(word) or " ".join(best.get(part, part) for part in word.split(" "))
            for word in words
        )

    @property
    def surface_words_(self) -> tuple[str, ...]:
        """The words as people read them."""
        words: tuple[str, ...] = getattr(self, "vocabulary_", ())
        return words if self._surface_words is None else self._surface_words

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the vocabulary from training texts."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> Any:
        """Learn the vocabulary and return the counts (documents × words, csr int32)."""
        for name in ("vocabulary_", "_surface_words", "_met"):  # of a fit before
            self.__dict__.pop(name, None)
        if self.vocabulary is not None:
            self.vocabulary_ = _checked_words(self.vocabulary)
            self.min_count_ = 1
            return self.transform(texts)
        vectorizer = CountVectorizer(analyzer=self.analyzer(), dtype=np.int32)
        try:
            counts = vectorizer.fit_transform(_strings(texts))
        except ValueError as error:
            if isinstance(error, InputError) or "empty vocabulary" not in str(error):
                raise
            raise InputError(
                "no words are left in the training texts; check stop_words and token_pattern"
            ) from error
        totals = np.asarray(counts.sum(axis=0, dtype=np.int64)).ravel()
        self.min_count_ = resolve_min_count(self.min_count, int(totals.sum()))
        kept = np.flatnonzero(totals >= self.min_count_)
        if not len(kept):
            raise InputError(
                f"no word has {self.min_count_} tokens or more; lower min_count "
                f"(the most frequent word has {totals.max()})"
            )
        words = tuple(vectorizer.get_feature_names_out()[kept].tolist())
        self._surface_words = self._surfaces(words)
        self.vocabulary_ = words
        return counts[:, kept]

    def transform(self, texts: Iterable[str]) -> Any:
        """Return the counts of texts over the fitted vocabulary; other words are ignored."""
        check_is_fitted(self, "vocabulary_")
        vectorizer = CountVectorizer(
            analyzer=self.analyzer(), vocabulary=self.vocabulary_, dtype=np.int32
        )
        return vectorizer.transform(_strings(texts))

    def with_words(self, words: Iterable[str], min_count: int = 1) -> Self:
        """Return a fitted counter of exactly these words, which had `min_count` tokens or more."""
        counter = clone(self).set_params(vocabulary=tuple(words))
        counter._surface_words = self._surfaces(counter.vocabulary)
        counter.vocabulary_, counter.min_count_ = counter.vocabulary, min_count
        return counter

    def of_all_words(self) -> Self:
        """Return a counter that counts as this one does, and is to learn all words of its texts."""
        counter: Self = clone(self).set_params(vocabulary=None, min_count=1)
        return counter

    def extended(self, texts: Iterable[str]) -> Self:
        """Return a counter of these words in their places and, after them, the texts' new words.

        They are those with `min_count_` tokens or more in these texts alone, in the order of `fit`;
        also where this counter was given its vocabulary.
        """
        check_is_fitted(self, "vocabulary_")
        learner, known = self.of_all_words(), set(self.vocabulary_)
        analyze = learner.analyzer()
        totals = Counter(word for text in _strings(texts) for word in analyze(text))
        frequent = (word for word, n_tokens in totals.items() if n_tokens >= self.min_count_)
        new = tuple(sorted(word for word in frequent if word not in known))
        extended = self.with_words((*self.vocabulary_, *new), self.min_count_)
        extended._surface_words = (*self.surface_words_, *learner._surfaces(new))
        return extended

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return where the single words of the vocabulary stand in a text: begin, end, word.

        The word is that of `surface_words_`, whichever of its forms stands there.
        """
        check_is_fitted(self, "vocabulary_")
        shown = dict(zip(self.vocabulary_, self.surface_words_, strict=True))
        forms = self._forms()
        stops = set[str]() if forms is None else self._stops()  # a form may be a stop word's too
        fold = str.lower if self.lowercase else str
        # A letter may become two when folded: İ does.
        places = [place for place, letter in enumerate(text) for _ in fold(letter)]
        found = []
        for match in re.finditer(self.token_pattern, fold(text)):
            group = 1 if match.re.groups else 0
            token = match[group]
            word = token if forms is None or not token else forms[token]
            if token and word in shown and token not in stops:
                begin, end = match.span(group)
                found.append((places[begin], places[end - 1] + 1, shown[word]))
        return found

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the words of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(self.vocabulary_, dtype=object)


class CountsOnly(WordCounter):
    """Stands for the counter of a model that has none: a text is an error."""

    def analyzer(self) -> Callable[[str], list[str]]:
        """Return a function that raises."""
        return _no_text


def _no_text(text: str) -> list[str]:
    raise InputError(
        "this is text, but the model was trained on counts and does not know how words are "
        "counted; give counts, or train it from text: fit(..., counter=...)"
    )


def auto_min_count(n_tokens: int) -> int:
    """Return the default threshold: 20 for a million tokens and more, less for small corpora."""
    return max(1, min(20, n_tokens // 50_000))


def resolve_min_count(min_count: int | Literal["auto"], n_tokens: int) -> int:
    """Return the threshold that `min_count` means for training texts of `n_tokens`."""
    if min_count == "auto":
        return auto_min_count(n_tokens)
    return checks.whole("min_count", min_count, or_else="'auto' or ")


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
        return _strings(source)
    if source == "english":
        return ENGLISH_STOP_WORDS
    if source not in languages():
        raise InputError(
            f"there are no stop words for {source!r}; give a file (*.txt), a list of words, None, "
            f"or one of: {', '.join(languages())}"
        )
    from stop_words import get_stop_words

    words: list[str] = get_stop_words(source)
    return words


def _check_pattern(pattern: str) -> None:
    """Raise if a pattern is no regular expression of words."""
    if not isinstance(pattern, str):
        raise InputError(f"token_pattern is {pattern!r}; it must be a regular expression")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise InputError(
            f"token_pattern is {pattern!r}, which is not a regular expression: {error.msg}{where}"
        ) from error
    except (OverflowError, RecursionError) as error:
        raise InputError(
            f"token_pattern is {pattern[:80]!r}, which is too much: {error}"
        ) from error
    if compiled.groups > 1:
        raise InputError(
            f"token_pattern is {pattern!r}, which has {compiled.groups} groups; a token is one "
            "group: write (?:…) for the others"
        )
    if any(not match[0] for match in compiled.finditer("a 1")):
        raise InputError(
            f"token_pattern is {pattern!r}, which matches where there is nothing; "
            "use + instead of *"
        )


def _check_ngrams(lengths: tuple[int, int]) -> None:
    try:
        shortest, longest = lengths
        is_good = 1 <= checks.whole("", shortest) <= checks.whole("", longest)
    except (TypeError, ValueError):
        is_good = False
    if not is_good:
        raise InputError(
            f"ngram_range is {lengths!r}; it must be two whole numbers from 1, the smaller first"
        )


def _checked_words(words: Iterable[str]) -> tuple[str, ...]:
    found = tuple(_strings(words))
    if not found:
        raise InputError("vocabulary is empty; give one word at least, or None to learn them")
    check_distinct(found, "vocabulary")
    return found


def _strings(texts: Iterable[str]) -> Iterable[str]:
    if isinstance(texts, str):
        raise InputError("expected several texts, got one string; put it in a list")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {row} is {type(text).__name__}, not a string")
        yield text
