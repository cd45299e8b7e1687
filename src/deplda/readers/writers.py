"""Corpus → files that the readers give back as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import IO, Any

import msgspec

from deplda.corpus import Corpus
from deplda.errors import InputError
from deplda.files import StrPath, write_together, write_whole
from deplda.readers.svmlight import sidecars


def write_jsonl(corpus: Corpus, path: StrPath) -> None:
    """Write one ``{"id", "counts", "labels"}`` a line; a name ending in ``.gz`` is packed.

    Read back, the corpus has the words and labels that stand in a document, sorted; pass the same
    `vocabulary` and `label_names` to `read_corpus` to have the columns as they were.
    """
    words, labels = corpus.vocabulary, corpus.label_names
    for name in (*words, *labels, *corpus.ids):
        _check_unicode(name)
    if "" in labels:
        raise InputError("a label has the empty name ''; rename it, or write svmlight instead")
    with write_whole(path) as file:
        for id, (indices, counts), (chosen, _) in zip(
            corpus.ids, _rows(corpus.counts), _rows(corpus.labels), strict=True
        ):
            row = {
                "id": id,
                "counts": {words[i]: count for i, count in zip(indices, counts, strict=True)},
                "labels": [labels[i] for i in chosen],
            }
            file.write(msgspec.json.encode(row) + b"\n")


def write_svmlight(corpus: Corpus, path: StrPath) -> None:
    """Write svmlight text with a header, and the names beside it, all of which the reader takes up.

    For ``x.svm`` or ``x.svm.gz`` the names go to ``x.vocab.txt``, ``x.labels.txt``, ``x.ids.txt``.
    """
    names = (corpus.vocabulary, corpus.label_names, corpus.ids)
    with write_together([*sidecars(path), path]) as (*beside, file):
        for given, other in zip(names, beside, strict=True):
            _write_names(given, other)
        file.write(b"%d %d %d\n" % (len(corpus), corpus.n_words, corpus.n_labels))
        for (words, counts), (labels, _) in zip(
            _rows(corpus.counts), _rows(corpus.labels), strict=True
        ):
            pairs = (f" {word}:{count}" for word, count in zip(words, counts, strict=True))
            file.write(f"{','.join(map(str, labels))}{''.join(pairs)}\n".encode())


def _rows(matrix: Any) -> Iterator[tuple[list[int], list[int]]]:
    ends = matrix.indptr.tolist()
    for start, end in pairwise(ends):
        yield matrix.indices[start:end].tolist(), matrix.data[start:end].tolist()


def _write_names(names: Sequence[str], file: IO[bytes]) -> None:
    for name in names:
        _check_unicode(name)
        if "\n" in name or name.endswith("\r") or name.startswith("\ufeff"):
            raise InputError(
                f"the name {name!r} holds a line break or a byte-order mark; write JSONL instead"
            )
    file.write("".join(f"{name}\n" for name in names).encode())


def _check_unicode(name: str) -> None:
    if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InputError(
            f"the name {name!r} holds a lone surrogate, which UTF-8 cannot write; rename it"
        )
