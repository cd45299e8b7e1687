"""A data set: a named corpus with its splits and, where available, its texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.collocations import auto_min_count
from deplda.data.corpus import Corpus
from deplda.data.readers import CorpusBuilder
from deplda.data.readers.records import located
from deplda.data.splits import Split
from deplda.data.text import WordCounter
from deplda.errors import ReadError

_PAPER_MIN_COUNT = 20


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named corpus and its splits."""

    name: str
    corpus: Corpus
    splits: tuple[Split, ...] = ()
    texts: tuple[str, ...] = ()
    """The raw documents in the order of the corpus, to count their words with other settings;
    empty for data sets without texts."""
    generated: bool = False
    """Whether a program generated the documents: model quality on them says little about
    documents that people wrote."""
    counter: WordCounter | None = None
    """The counter of the texts' words, needed to display the texts."""
    groups: tuple[str, ...] = ()
    """The group of each document, such as its source, which no split divides; "" is no group."""


class Document(NamedTuple):
    """A text and its labels; neither is empty."""

    id: str
    text: str
    labels: list[str]


def count_documents(documents: Iterable[Document], path: Path, stop_words: str) -> Corpus:
    """Return the corpus of documents, with words counted the same way whatever the defaults are."""
    counter = WordCounter(language=None, stop_words=stop_words, token_pattern="words")  # noqa: S106
    count, builder = counter.analyzer().counts, CorpusBuilder()
    for document in documents:
        builder.add(count(document.text), document.labels, document.id)
    return build_corpus(builder, path)


def build_corpus(builder: CorpusBuilder, path: Path) -> Corpus:
    """Return the corpus of a builder; errors name `path`."""
    if not len(builder):
        raise ReadError(path, None, "there is no document in it")
    with located(path, None):
        return builder.corpus()


def keep_training_words(
    name: str,
    corpus: Corpus,
    in_test: npt.NDArray[np.bool_],
    documents: Iterable[Document] = (),
) -> Dataset:
    """Return a data set of one split, without the words that are rare in its training part."""
    split = Split(np.flatnonzero(~in_test), np.flatnonzero(in_test))
    train = corpus[split.train]
    least = auto_min_count(train.n_tokens, most=_PAPER_MIN_COUNT)
    texts = tuple(document.text for document in documents)
    return Dataset(name, corpus.align(train.keep_words(least)), (split,), texts)
