"""Texts to word counts."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import chain
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from deplda.data import checks
from deplda.data.collocations import chosen_of, chosen_words, resolve_min_count
from deplda.data.corpus import check_distinct, renamed_columns
from deplda.data.documented import Documented
from deplda.data.forms import Forms, Normalizer, resolve, shared_forms
from deplda.data.languages import (
    NAMES,
    Detected,
    detect,
    first_texts,
    language_code,
    languages,
    stop_words_of,
    strings,
)
from deplda.data.names import AFTER_TITLE, MARK, NameWords, names_of
from deplda.data.rows import column_numbers
from deplda.data.targets import Indicator, read_targets
from deplda.data.text_rows import TextRows, WeightedText, WordNumbers
from deplda.data.tokens import NAMED_PATTERNS, Tokenizer
from deplda.data.vocabulary import Vocabulary
from deplda.data.word_frames import frame_of
from deplda.data.word_settings import Candidates, Choice, Document, WordSettings, choose
from deplda.errors import InputError

MOST_NGRAMS = 5
DEFAULT_PATTERN = "codes"


class WordCounter(Documented, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts the words of texts; a scikit-learn transformer whose vocabulary comes from training.

    Parameters
    ----------
    language : str or None, default "auto"
        Language of the texts: an ISO code or an English name ("fi", "finnish"). It sets stop words
        and normaliser if these are "auto". "auto" detects the language of most of the first
        thousand training texts; `detected_` has the result. With None, and with "auto" before
        training, words are not normalised, and stop words are English.
    normalize : "auto", "snowball", "lemma" or "none", default "auto"
        Merge the forms of a word: by the language's Snowball stemmer, by simplemma's dictionary,
        or not. "auto" is the dictionary in Finnish, and the stemmer of other languages if there is
        one.
    stop_words : str, path, iterable of str, or None, default "auto"
        Words to ignore: a language (see `languages`), a file with one word per line (a `Path`,
        or a string that ends in ``.txt``), the words themselves, or None to keep all. "auto" are
        those of the language, if there are any, and English ones if no language is given. They
        are compared before words are normalised.
    min_count : int or "auto", default "auto"
        Words with fewer tokens than this in the training texts are dropped. The paper uses 20;
        "auto" is one for every 50,000 tokens, at least 1 and at most 3 (see `auto_min_count`).
    token_pattern : "auto", "words", "codes" or str, default "auto"
        Words have two letters or more; in scripts without spaces (Chinese, Japanese, Thai, Lao,
        Burmese, Khmer) each pair of adjacent characters is a word. "codes" also matches whole
        tokens with digits: "covid-19", "B12", "2007/49/EC", "1997". "auto" is chosen by labels, or
        else "codes". Or a regular expression; each match, or its one group, is a token. A pattern
        that can match in very many ways may take very long: do not use patterns of strangers.
    fold_accents : bool, default False
        Remove accents: "é" is "e". Words are normalised before.
    lowercase : bool, default True
        Fold case before matching.
    ngrams : int or "auto", default "auto"
        The longest sequence of words that is counted as a word. Sequences are kept if they occur
        more often than by chance (log-likelihood ratio above 10.83), at most as many as words;
        stop words in between are ignored. "auto" is 1 or 2, chosen by labels, or else 1.
    vocabulary : iterable of str, optional
        Use exactly these words, in this order, and learn none. They are words as they are counted:
        after normalising, if `language` or `normalize` sets that.
    names : Vocabulary or iterable of str, optional
        Names of labels to look for in texts, counted in separate columns after the words that are
        kept: the words of names, however rare, how early each of them occurs in a text, and their
        words in sequence. From a vocabulary, the names and synonyms in the language of the texts
        are used, if it has any.
    max_words : int, default 1_000_000
        For shards on disk (`fit_shards`): the most distinct words that are counted, and as many
        sequences and forms. Each takes some 200 bytes. If there are more, counts may be too small,
        by at most 2 / max_words of all tokens: no word with fewer than `min_count` is kept, and
        every word with that many more is. An `ApproximateCountsWarning` reports the error.

    Attributes
    ----------
    vocabulary_ : tuple of str
        The words kept, in the order of the columns, as they are counted.
    min_count_ : int
        The threshold used.
    choice_ : Choice or None
        What was chosen by labels: `fit` with y ranks the labels of held-out texts by the words of
        others, with each of the settings that are "auto". None if nothing was.
    names_at_ : range
        The columns of `vocabulary_` that are counted only for names.

    Examples
    --------
    >>> import deplda
    >>> counter = deplda.WordCounter(language="en", min_count=1)
    >>> counts = counter.fit_transform(["Judges heard the judge.", "The team won."])
    >>> counter.get_feature_names_out().tolist()
    ['heard', 'judg', 'team', 'won']
    >>> counts.toarray().tolist()
    [[1, 2, 0, 0], [0, 0, 1, 1]]
    """

    detected_: Detected
    """The language detected, if `language` is "auto"."""
    names_at_ = range(0)
    choice_: Choice | None = None
    _surface_words: tuple[str, ...] | None = None
    _name_words: NameWords | None = None
    _numbers: WordNumbers | None = None

    def __init__(
        self,
        *,
        language: str | None = "auto",
        normalize: Normalizer = "auto",
        stop_words: str | os.PathLike[str] | Iterable[str] | None = "auto",
        min_count: int | Literal["auto"] = "auto",
        token_pattern: str = "auto",  # noqa: S107
        fold_accents: bool = False,
        lowercase: bool = True,
        ngrams: int | Literal["auto"] = "auto",
        vocabulary: Iterable[str] | None = None,
        names: Vocabulary | Iterable[str] | None = None,
        max_words: int = 1_000_000,
    ) -> None:
        self.language = language
        self.normalize = normalize
        self.stop_words = stop_words
        self.min_count = min_count
        self.token_pattern = token_pattern
        self.fold_accents = fold_accents
        self.lowercase = lowercase
        self.ngrams = ngrams
        self.vocabulary = vocabulary
        self.names = names
        self.max_words = max_words

    @property
    def forms_met_(self) -> Counter[str]:
        """How often each form of a word was met in training texts, where words are normalised."""
        found: Counter[str] = self.__dict__.setdefault("_forms_met", Counter())
        return found

    def analyzer(self) -> Analyzer:
        """Return what turns a text into its words: called, into a list; or counted."""
        for name in ("fold_accents", "lowercase"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be True or False")
        tokenize = self._tokenizer()
        met = None if hasattr(self, "vocabulary_") else self.forms_met_
        plain = Analyzer(tokenize, self._stops(tokenize), self._forms(), self.ngrams_, met)
        return plain.with_names(self.name_words_)

    @property
    def name_words_(self) -> NameWords | None:
        """What is looked for in texts for the sake of names; None where there are none."""
        if self._name_words is None and self.names_at_:
            self._name_words = NameWords.of_columns(self.vocabulary_)
        if self._name_words is None and self.names is not None:
            self._name_words = NameWords.of_names(self._told_names(), self.name_analyzer())
        return self._name_words

    def _told_names(self) -> Iterable[str]:
        if not isinstance(self.names, Vocabulary):
            return strings(self.names or ())
        code = self.language_code_
        concepts = (concept for concept in self.names if not concept.deprecated)
        return (name for concept in concepts for name in names_of(concept, code))

    def name_analyzer(self) -> Analyzer:
        """Return what turns a name into its words, normalised as those of texts are."""
        tokenize = self._tokenizer()
        return Analyzer(tokenize, self._stops(tokenize), self._forms())

    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self.token_pattern_, self.lowercase, self.language_code_)

    def detect_language(self, texts: Iterable[str]) -> None:
        """Tell the language by texts, if it is to be told."""
        if self.language == "auto":
            self.detected_ = detect(texts)
            self.__dict__.pop("_name_words", None)  # of no language

    @property
    def language_code_(self) -> str | None:
        """The code of the language; None without a language, or before it is detected."""
        if self.language == "auto":
            return self.detected_.code if hasattr(self, "detected_") else None
        return None if self.language is None else language_code(self.language)

    @property
    def normalizer_(self) -> str:
        """What normalises words: "snowball", "lemma" or "none"."""
        return resolve(self.normalize, self.language_code_)

    @property
    def token_pattern_(self) -> str:
        """What counts as a word: "words", "codes" or a regular expression."""
        pattern = self._set_or_chosen("token_pattern")
        return DEFAULT_PATTERN if pattern == "auto" else pattern

    @property
    def ngrams_(self) -> int:
        """The longest sequence of words that is counted."""
        ngrams = self._set_or_chosen("ngrams")
        if ngrams == "auto":
            return 1
        _check_ngrams(ngrams)
        return int(ngrams)

    def _set_or_chosen(self, name: str) -> Any:
        if self.choice_ is not None and self._is_auto(name):
            return getattr(self.choice_.settings, name)
        return getattr(self, name)

    def _is_auto(self, name: str) -> bool:
        value = getattr(self, name)
        return isinstance(value, str) and value == "auto"

    def choose(
        self, documents: Iterable[Document], weighted_fields: Collection[str] = ()
    ) -> Choice | None:
        """Choose the settings that are "auto", and weights of text fields, by labelled documents.

        Returns None, and chooses nothing, if there are too few documents or no setting is "auto".
        """
        patterns = NAMED_PATTERNS if self._is_auto("token_pattern") else ()
        ngrams = (1, 2) if self._is_auto("ngrams") else ()
        if self.vocabulary is not None or not (patterns or ngrams or weighted_fields):
            return None
        tokenize = type(self)(**self._settings() | {"ngrams": 1}).analyzer()
        candidates = Candidates(patterns, ngrams, weighted_fields)
        default = WordSettings(self.token_pattern_, self.ngrams_)
        self.choice_ = choose(documents, tokenize, default, candidates)
        return self.choice_

    @property
    def stop_words_(self) -> str | os.PathLike[str] | Iterable[str] | None:
        """What `stop_words` stands for: of "auto" a language that has a list, or None."""
        if not isinstance(self.stop_words, str) or self.stop_words != "auto":
            return self.stop_words
        name = "english" if self.language_code_ is None else NAMES[self.language_code_]
        return name if name in ("english", *languages()) else None

    def _stops(self, tokenize: Tokenizer) -> set[str]:
        """Return the stop words as tokens: the pattern makes "don" of "don't"."""
        return {token for word in stop_words_of(self.stop_words_) for token in tokenize(word)}

    def _forms(self) -> Forms | None:
        """Return what normalises words, None where nothing does."""
        normalizer, fold = self.normalizer_, self.fold_accents
        if normalizer == "none" and not fold:
            return None
        return shared_forms(normalizer, self.language_code_, fold)

    def _surfaces(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the commonest form of each word: as known from before, or met in these texts."""
        known = self._surface_words
        best = {} if known is None else dict(zip(self.vocabulary_, known, strict=True))
        forms = self._forms()
        if forms is not None:
            for token, _ in self.forms_met_.most_common():
                best.setdefault(forms[token], token)
        return tuple(
            best.get(word) or " ".join(best.get(part, part) for part in word.split(" "))
            for word in words
        )

    @property
    def surface_words_(self) -> tuple[str, ...]:
        """The words as people read them: of each the commonest form in the training texts."""
        if not hasattr(self, "vocabulary_"):
            return ()
        if self._surface_words is None:
            self._surface_words = self._surfaces(self.vocabulary_)
            self.__dict__.pop("_forms_met", None)
        return self._surface_words

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the vocabulary from training texts; y are labels, to choose what is "auto"."""
        self.learn(texts, _label_sets_in(y))
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> Any:
        """Learn the vocabulary and return the counts, as `transform` does."""
        return self._as_set(self.learn(texts, _label_sets_in(y)))

    def learn(self, texts: Iterable[str], labels: Sequence[Collection[Any]] | None = None) -> Any:
        """Learn the vocabulary and return the counts (documents × words, csr int32)."""
        for name in ("vocabulary_", "_surface_words", "_forms_met", "detected_", "names_at_",
                     "_name_words", "_numbers", "choice_"):  # of a fit before  # fmt: skip
            self.__dict__.pop(name, None)
        texts = self._seen(texts)
        if labels is not None:
            texts = list(texts)
            if len(texts) != len(labels):
                raise InputError(
                    f"there are {len(texts):,} texts, but labels of {len(labels):,} documents; "
                    "both need one row for each document"
                )
            self.choose(({"text": text}, own) for text, own in zip(texts, labels, strict=True))
        if self.vocabulary is not None:
            if self.names is not None:
                raise InputError("vocabulary and names are both given; names need words of texts")
            words = _checked_words(self.vocabulary)
            self._check_countable(words)
            self.vocabulary_ = words
            self.min_count_ = 1
            return self.count(texts)
        counts, words = self._counted(texts)
        if not words:
            raise InputError(
                "no words are left in the training texts; check stop_words and token_pattern"
            )
        totals = np.asarray(counts.sum(axis=0, dtype=np.int64)).ravel()
        kept, self.min_count_ = chosen_words(words, totals, self.min_count)
        if not len(kept):
            raise InputError(
                f"no word has {self.min_count_} tokens or more; lower min_count "
                f"(the most frequent word has {totals.max()})"
            )
        chosen = tuple(words[place] for place in kept)
        columns = () if self.name_words_ is None else self.name_words_.columns_beside(chosen)
        self._surface_words = self._surfaces((*chosen, *columns))
        self.vocabulary_ = (*chosen, *columns)
        self.names_at_ = range(len(chosen), len(self.vocabulary_))
        return counts[:, kept] if not columns else renamed_columns(counts, words, self.vocabulary_)

    def _check_countable(self, words: tuple[str, ...]) -> None:
        """Raise if no text can have one of the words given, as they are normalised otherwise."""
        analyze = self.of_all_words().analyzer()
        if not any(word in analyze(word) for word in words):
            counted = ", ".join(map(repr, analyze(words[0]))) or "nothing"
            raise InputError(
                f"none of the words of vocabulary can be counted: {words[0]!r} is counted as "
                f"{counted}; give words as they are counted, or another language and normalize"
            )

    def transform(self, texts: Iterable[str]) -> Any:
        """Return the counts of texts over the fitted vocabulary; other words are ignored.

        After ``set_output(transform="pandas")`` they are a frame of sparse columns, called by the
        words; after ``"polars"`` of dense ones, as polars has no others.
        """
        return self._as_set(self.count(texts))

    def _as_set(self, counts: Any) -> Any:
        """Return counts in the container that `set_output`, or scikit-learn's own option, asks."""
        container = _get_output_config("transform", self)["dense"]
        return counts if container == "default" else frame_of(counts, self.vocabulary_, container)

    def count(self, texts: Iterable[str]) -> Any:
        """Return the counts of texts over the fitted vocabulary, always csr int32."""
        check_is_fitted(self, "vocabulary_")
        return self._counted(strings(texts))[0]

    def numbers(self) -> WordNumbers:
        """Return the numbers of the words to count: of new ones, before it is fitted."""
        if not hasattr(self, "vocabulary_"):
            return WordNumbers(None, self.ngrams_, self.name_words_)
        if self._numbers is None:
            columns = column_numbers(self.vocabulary_)
            self._numbers = WordNumbers(columns, self.ngrams_, self.name_words_)
        return self._numbers

    def _counted(self, texts: Iterable[str]) -> tuple[Any, tuple[str, ...]]:
        """Return the counts of texts, and the words they are of."""
        rows = self.analyzer().rows(self.numbers())
        for text in texts:
            rows.add(rows.passages([(text, 1)]))
        counts, names = rows.matrix(partial(resolve_min_count, self.min_count))
        if not hasattr(self, "vocabulary_"):
            self.forms_met_.update(rows.forms())
        return counts, names

    def _seen(self, texts: Iterable[str]) -> Iterable[str]:
        """Return texts that are texts; the language is told by the first of them."""
        if self.language != "auto":
            return strings(texts)
        rest = iter(strings(texts))
        first = first_texts(rest)
        self.detect_language(first)
        return chain(first, rest)

    def with_words(
        self,
        words: Iterable[str],
        min_count: int = 1,
        surface_words: Iterable[str] | None = None,
        names_at: range | None = None,
    ) -> Self:
        """Return a fitted counter of exactly these words, which had `min_count` tokens or more.

        `surface_words` are the words as people read them; by default as this counter met them.
        `names_at` are those counted for the sake of names alone; by default this counter's.
        """
        words = tuple(words)
        counter = self._alike(vocabulary=words)
        if surface_words is not None:
            counter._surface_words = tuple(surface_words)
        elif self._surface_words is not None:
            counter._surface_words = self._surfaces(words)
        else:  # most words are not kept: the forms of those that are can be looked up later
            counter._forms_met = self.forms_met_
        counter.vocabulary_, counter.min_count_ = words, min_count
        counter.names_at_ = self.names_at_ if names_at is None else names_at
        return counter

    def with_words_and_names(self, words: Iterable[str], min_count: int) -> Self:
        """Return `with_words`, and what is counted for the sake of names after them."""
        words, names = tuple(words), self.name_words_
        columns = (*words, *(() if names is None else names.columns_beside(words)))
        return self.with_words(columns, min_count, names_at=range(len(words), len(columns)))

    @property
    def marks_at_(self) -> range:
        """The columns of `vocabulary_` that are no words: earliness and sequences of names."""
        first = bisect_left(
            self.names_at_, True, key=lambda at: self.vocabulary_[at].endswith(MARK)
        )
        return self.names_at_[first:]

    @property
    def is_sequence_(self) -> npt.NDArray[np.bool_] | None:
        """Which words are sequences of words, of those learned from; None if none are counted."""
        if self.ngrams_ == 1:
            return None
        words = chain(
            self.vocabulary_[: self.names_at_.start], self.vocabulary_[self.names_at_.stop :]
        )
        return np.array([" " in word for word in words], bool)

    def without_names(self) -> Self:
        """Return a fitted counter of the words alone that are learned from."""
        if not self.names_at_:
            return self
        kept = [place for place in range(len(self.vocabulary_)) if place not in self.names_at_]
        words, shown = ([each[p] for p in kept] for each in (self.vocabulary_, self.surface_words_))
        counter = self.with_words(words, self.min_count_, shown, range(0))
        counter._name_words = None
        return counter

    def of_all_words(self) -> Self:
        """Return a counter that counts as this one does, and is to learn all words of its texts."""
        return self._alike(vocabulary=None, min_count=1)

    def _alike(self, **others: Any) -> Self:
        """Return a counter with these settings, and the language and the names that were told."""
        counter = type(self)(**self._settings() | others)
        counter._name_words = self.name_words_
        return counter

    def _settings(self) -> dict[str, Any]:
        """Return the parameters with what was detected and chosen, and without names."""
        return self.get_params() | {
            "language": self.language_code_, "normalize": self.normalizer_,
            "token_pattern": self.token_pattern_, "ngrams": self.ngrams_, "names": None,
        }  # fmt: skip

    def extended(self, texts: Iterable[str]) -> Self:
        """Return a counter of these words in their places and, after them, the texts' new words.

        They are those with `min_count_` tokens or more in these texts alone, in the order of `fit`;
        also where this counter was given its vocabulary.
        """
        check_is_fitted(self, "vocabulary_")
        learner, known = self.of_all_words(), set(self.vocabulary_)
        count, totals = learner.analyzer().counts, Counter[str]()
        for text in strings(texts):
            totals.update(count(text))
        kept, _ = chosen_of(totals, self.min_count_)
        new = tuple(word for word in kept if word not in known)
        shown = (*self.surface_words_, *learner._surfaces(new))
        return self.with_words((*self.vocabulary_, *new), self.min_count_, shown)

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return where the single words of the vocabulary stand in a text: begin, end, word.

        The word is that of `surface_words_`, whichever of its forms stands there. Where two
        overlap, as those of scripts without blanks do, the first ends where the second begins.
        """
        check_is_fitted(self, "vocabulary_")
        shown = dict(zip(self.vocabulary_, self.surface_words_, strict=True))
        found = [
            (begin, end, shown[word]) for begin, end, word in self.places(text) if word in shown
        ]
        return [
            (begin, min(end, found[number][0] if number < len(found) else end), word)
            for number, (begin, end, word) in enumerate(found, start=1)
        ]

    def places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield where words stand in a text: begin, end, and the word as it is counted."""
        tokenize = self._tokenizer()
        stops, forms = self._stops(tokenize), self._forms()
        for begin, end, token in tokenize.spans(text):
            if token and token not in stops:
                yield begin, end, token if forms is None else forms[token]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the words of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(self.vocabulary_, dtype=object)


class Analyzer:
    """Turns a text into its words: tokens, stop words left out, normalised, and their sequences.

    `met` counts how often each form of a word is met, to know the commonest.
    """

    def __init__(
        self,
        tokenize: Tokenizer,
        stops: Collection[str] = (),
        forms: Forms | None = None,
        ngrams: int = 1,
        met: Counter[str] | None = None,
    ) -> None:
        self._tokenize, self._stops, self._forms = tokenize, stops, forms
        self._ngrams, self._met = ngrams, met
        self._names: NameWords | None = None

    def with_names(self, names: NameWords | None) -> Self:
        """Return it with what is counted for the sake of names."""
        found = copy(self)
        found._names = names
        return found

    def rows(self, numbers: WordNumbers) -> TextRows:
        """Return what counts many texts."""
        return TextRows(self._tokenize, self._stops, self._forms, numbers)

    def __call__(self, text: str) -> list[str]:
        """Return the words, and after them their sequences."""
        tokens = self._words(text)
        return tokens + self._sequences(tokens)

    def _words(self, text: str) -> list[str]:
        stops, forms = self._stops, self._forms
        tokens = [token for token in self._tokenize(text) if token not in stops]
        if forms is None:
            return tokens
        if self._met is not None:
            self._met.update(tokens)
        return [forms[token] for token in tokens]

    def _sequences(self, tokens: list[str]) -> list[str]:
        longer = (tokens[place:] for place in range(self._ngrams))
        shifted, found = [next(longer)], list[str]()
        for tail in longer:
            shifted.append(tail)
            found += map(" ".join, zip(*shifted, strict=False))
        return found

    def document_counts(self, texts: Iterable[WeightedText]) -> Mapping[str, int]:
        """Return the counts of the words of a document's text fields."""
        total: Counter[str] = Counter()
        for number, (text, weight) in enumerate(texts):
            words = self.counts(text, AFTER_TITLE if number else 0)
            total.update({word: n * weight for word, n in words.items()} if weight > 1 else words)
        return total

    def counts(self, text: str, begins_at: int = 0) -> Mapping[str, int]:
        """Return how often each word, or sequence of words, stands in a text.

        `begins_at` are the words that stand before it in its document: of a title, for instance.
        """
        if self._names is not None:
            words = self._words(text)
            both = Counter(words)
            if self._ngrams > 1:
                both.update(self._sequences(words))
            for column, n in self._names.found_in(words, begins_at):
                both[column] = both.get(column, 0) + n
            return both
        if self._ngrams > 1:
            return Counter(self(text))
        tokens: Counter[str] = Counter()
        for piece in self._tokenize.pieces(text):
            tokens.update(self._tokenize(piece))
        stops, forms, met = self._stops, self._forms, self._met
        if forms is None:
            return {token: n for token, n in tokens.items() if token not in stops}
        found: dict[str, int] = {}
        for token, n in tokens.items():
            if token not in stops:
                word = forms[token]
                found[word] = found.get(word, 0) + n
                if met is not None:
                    met[token] += n
        return found


class CountsOnly(WordCounter):
    """Stands for the counter of a model that has none: a text is an error."""

    def __init__(self) -> None:
        super().__init__(language=None)

    def analyzer(self) -> Analyzer:
        """Return what raises."""
        return _NoText(Tokenizer(self.token_pattern))


class _NoText(Analyzer):
    def __call__(self, text: str, begins_at: int = 0) -> list[str]:
        raise InputError(
            "this is text, but the model was trained on counts and does not know how words are "
            "counted; give counts, or train it from text: fit(..., counter=...)"
        )

    counts = __call__  # type: ignore[assignment]

    passages = __call__

    def rows(self, numbers: WordNumbers) -> TextRows:
        return self  # type: ignore[return-value]


def _label_sets_in(y: Any) -> list[npt.NDArray[np.int32]] | None:
    return None if y is None else label_sets(read_targets(y)[0])


def label_sets(labels: Indicator) -> list[npt.NDArray[np.int32]]:
    """Return the numbers of the labels of each document."""
    return np.split(labels.indices, labels.indptr[1:-1])


def _check_ngrams(ngrams: int) -> None:
    if not 1 <= checks.whole("ngrams", ngrams) <= MOST_NGRAMS:
        raise InputError(f"ngrams is {ngrams}; it must be from 1 to {MOST_NGRAMS}")


def _checked_words(words: Iterable[str]) -> tuple[str, ...]:
    found = tuple(strings(words))
    if not found:
        raise InputError("vocabulary is empty; give one word at least, or None to learn them")
    check_distinct(found, "vocabulary")
    return found
