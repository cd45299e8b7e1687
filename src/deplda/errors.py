"""The one family of exceptions: each message names the value, the limit and the next step."""

from __future__ import annotations

import os
import sys
import warnings

_NOT_THE_USERS = {"contextlib", "deplda", "joblib", "sklearn"}


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: the first outside this library and those that call it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)  # noqa: TID251


class DepldaError(Exception):
    """Base class of all errors that this library raises.

    Examples
    --------
    >>> import deplda
    >>> try:
    ...     deplda.HybridLDA(candidates=-1).fit(deplda.datasets.newsroom(20).corpus)
    ... except deplda.DepldaError as error:
    ...     print(error)
    candidates is -1; it must be 'auto', 'all' or a whole number from 1 to 1,000,000
    """


class InputError(DepldaError, ValueError):
    """A value passed to the library is invalid.

    Examples
    --------
    >>> import deplda
    >>> try:
    ...     deplda.datasets.newsroom(0)
    ... except deplda.InputError as error:
    ...     print(error)
    n_documents is 0; it must be a whole number from 1
    """


class Place(int):
    """A number of what a file has in place of lines, such as the rows of a sheet."""

    what: str

    def __new__(cls, number: int, what: str) -> Place:
        """Return the number, which knows of what it is."""
        made = super().__new__(cls, number)
        made.what = what
        return made

    def __reduce__(self) -> tuple[type[Place], tuple[int, str]]:
        return type(self), (int(self), self.what)


def place_of(line: int) -> str:
    """Return which line, or other part of a file, a number is of."""
    return f"{line.what if isinstance(line, Place) else 'line'} {int(line)}"


class ReadError(InputError):
    r"""A file cannot be read as a corpus; says which file, and which line where there is one.

    Examples
    --------
    >>> import deplda
    >>> from pathlib import Path
    >>> _ = Path("broken.jsonl").write_text('{"text": "A"}\n{"text": \n', encoding="utf-8")
    >>> try:
    ...     deplda.read_corpus("broken.jsonl")
    ... except deplda.ReadError as error:
    ...     print(error.line)
    2
    """

    def __init__(self, path: str | os.PathLike[str], line: int | None, problem: str) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.problem = problem
        where = self.path if line is None else f"{self.path}, {place_of(line)}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type[ReadError], tuple[str, int | None, str]]:
        # The default would hand __init__ the finished message alone when a worker sends this back.
        return type(self), (self.path, self.line, self.problem)


class DataUnavailableError(DepldaError):
    """A data set is not on this machine and cannot be downloaded.

    Examples
    --------
    >>> import deplda
    >>> try:
    ...     deplda.datasets.load("nyt", data_dir=".")
    ... except deplda.DataUnavailableError as error:
    ...     print(error)
    New York Times Annotated Corpus, ... put your files under nyt
    """


class EngineError(DepldaError):
    """The workers or the scheduler cannot be reached, or can no longer be reached.

    Examples
    --------
    >>> import dask
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(20).corpus
    >>> with dask.config.set({"distributed.comm.timeouts.connect": "100ms"}):
    ...     try:
    ...         _ = deplda.FlatLDA(engine="tcp://127.0.0.1:1").fit(corpus)
    ...     except deplda.EngineError as error:
    ...         print(error)
    no Dask scheduler answers at tcp://127.0.0.1:1 ...
    """


class WorkerLostError(EngineError):
    """A piece of work ended every worker that it was given to."""


class NothingHeldOutWarning(UserWarning):
    """No document could be held out to learn the mixture, so fixed weights are used.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = deplda.HybridLDA().fit(["a judge", "a team"], [["LAW"], ["SPORT"]])
    >>> caught[0].category.__name__, model.has_probabilities
    ('NothingHeldOutWarning', False)
    """


class FractionalCountsWarning(UserWarning):
    """Fractional counts were rounded, since sampling needs whole tokens.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> model = deplda.FlatLDA(fit_method="sampled", n_sweeps=5, n_held_out=0, word_counts="raw")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = model.fit([[2.5, 1], [0, 2]], [["LAW"], ["SPORT"]])
    >>> [each.category.__name__ for each in caught]
    ['FractionalCountsWarning']
    """


class NotCountsWarning(UserWarning):
    """X looks like tf-idf, but the model needs word counts.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> news = deplda.datasets.newsroom(40)
    >>> X = TfidfVectorizer().fit_transform(news.texts)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = deplda.FlatLDA(n_held_out=0).fit(X, news.corpus.labels)
    >>> [each.category.__name__ for each in caught]
    ['NotCountsWarning']
    """


class ApproximateCountsWarning(UserWarning):
    r"""Texts have more distinct words than are counted at a time: rare ones may be left out.

    Examples
    --------
    >>> import json
    >>> import pathlib
    >>> import warnings
    >>> import deplda
    >>> pathlib.Path("shards").mkdir()
    >>> texts = deplda.datasets.newsroom(60).texts
    >>> lines = [json.dumps({"text": text, "labels": ["NEWS"]}) for text in texts]
    >>> _ = pathlib.Path("shards/a.jsonl").write_text("\n".join(lines))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     counter = deplda.WordCounter(max_words=50)
    ...     model = deplda.FlatLDA().fit_shards("shards", "work", counter=counter)
    >>> "ApproximateCountsWarning" in {each.category.__name__ for each in caught}
    True
    """


class MissingFieldWarning(UserWarning):
    """Of several text fields one is in no document of a file that is read without its labels."""


class GuessedEncodingWarning(UserWarning):
    r"""A file without a byte-order mark is not UTF-8, and was read in the likeliest encoding.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> from pathlib import Path
    >>> _ = Path("cafe.csv").write_bytes("text,labels\nUn café,FOOD\n".encode("cp1252"))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     corpus = deplda.read_corpus("cafe.csv")
    >>> [each.category.__name__ for each in caught]
    ['GuessedEncodingWarning']
    """


class GuessedSeparatorWarning(UserWarning):
    r"""Labels contain commas, which may separate two labels or belong to one.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> from pathlib import Path
    >>> _ = Path("two.csv").write_text('text,labels\nA goal,"LAW, SPORT"\n', encoding="utf-8")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     corpus = deplda.read_corpus("two.csv")
    >>> [each.category.__name__ for each in caught], corpus.label_names
    (['GuessedSeparatorWarning'], ('LAW', 'SPORT'))
    """


class ShortDescriptionsWarning(UserWarning):
    """A data set was made of the few words that its source has here, not of whole texts."""


class NoKnownWordsWarning(UserWarning):
    """Some documents have no vocabulary words: their scores are those of any document.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> model = deplda.FlatLDA(n_held_out=0).fit(["a judge", "a team"], [["LAW"], ["SPORT"]])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = model.rank(["Ein anderer Text"], k=1)
    >>> [each.category.__name__ for each in caught]
    ['NoKnownWordsWarning']
    """


class MissingSuggestionsWarning(UserWarning):
    """An expert's file lacks some documents: they count as having no suggestions from it.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> news = deplda.datasets.newsroom(60).corpus
    >>> truth = deplda.Suggestions(news.ids, news.label_names, news.labels.astype(float))
    >>> model = deplda.HybridLDA(n_topic_sweeps=5, experts={"e": truth}).fit(news)
    >>> known = deplda.Suggestions(news.ids[:1], news.label_names, news.labels[:1].astype(float))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = model.rank(deplda.Documents(news[:2], experts={"e": known}), k=1)
    >>> [str(each.message) for each in caught]
    ["the expert 'e' lacks 1 of 2 documents, such as '1'"]
    """


class LearnedFromWarning(UserWarning):
    """Some test documents are among those that the model has learned from.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> from deplda.models.learned_from import warn_of  # "deplda evaluate" calls it
    >>> train = deplda.datasets.newsroom(40).corpus
    >>> model = deplda.FlatLDA(n_held_out=0).fit(train)
    >>> n_learned = int(model.learned_from(train).sum())
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of(n_learned, len(train))
    >>> [each.category.__name__ for each in caught]
    ['LearnedFromWarning']
    """


class OtherVersionWarning(UserWarning):
    """A saved model's words were normalised by another version of a package."""


class IgnoredParameterWarning(UserWarning):
    """A parameter has no effect: another setting excludes it, or a saved model may not set it.

    Examples
    --------
    >>> import warnings
    >>> import deplda
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = deplda.FlatLDA(n_sweeps=500).fit(deplda.datasets.newsroom(20).corpus)
    >>> print(caught[0].message)
    parameters without effect: n_sweeps=500 (needs fit_method='sampled'); set what they need, ...
    """
