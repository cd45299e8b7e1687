"""Corpus → files that the readers give back as they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import IO, Any

import msgspec

from deplda.data.atomic import write_together, write_whole
from deplda.data.corpus import Corpus
from deplda.data.files import StrPath
from deplda.data.readers.svmlight import sidecars
from deplda.errors import InputError, needs_extra


def write_jsonl(corpus: Corpus, path: StrPath) -> None:
    """Write one ``{"id", "counts", "labels"}`` a line; a name ending in ``.gz`` is packed.

    Read back, the corpus has the words and labels that stand in a document, sorted; pass the same
    `vocabulary` and `label_names` to `read_corpus` to have the columns as they were.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(20).corpus
    >>> deplda.write_jsonl(corpus, "news.jsonl.gz")
    >>> len(deplda.read_corpus("news.jsonl.gz"))
    20
    """
    for name in (*corpus.vocabulary, *corpus.label_names, *corpus.ids):
        check_unicode(name)
    if "" in corpus.label_names:
        raise InputError("a label has the empty name ''; rename it, or write svmlight instead")
    _write_lines(rows_of(corpus), path)


def write_rows(rows: Iterable[Mapping[str, Any]], path: StrPath) -> int:
    """Write named values, a document a line, as JSONL or Parquet by the name; return how many.

    One batch of rows is in memory at a time.
    """
    if str(path).endswith(".parquet"):
        return _write_parquet(rows, path)
    return _write_lines(rows, path)


def _write_lines(rows: Iterable[Mapping[str, Any]], path: StrPath) -> int:
    n = 0
    with write_whole(path) as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")
            n += 1
    return n


def rows_of(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Yield the documents of a corpus as they stand in JSONL."""
    _check_whole(corpus)
    words, labels = corpus.vocabulary, corpus.label_names
    for id, (indices, counts), (chosen, _) in zip(
        corpus.ids, _rows(corpus.counts), _rows(corpus.labels), strict=True
    ):
        yield {
            "id": id,
            "counts": {words[i]: count for i, count in zip(indices, counts, strict=True)},
            "labels": [labels[i] for i in chosen],
        }


def _write_parquet(rows: Iterable[Mapping[str, Any]], path: StrPath) -> int:
    with needs_extra("writing Parquet", "pyarrow", "arrow"):
        import pyarrow
        import pyarrow.parquet
    text, source, n = pyarrow.string(), iter(rows), 0
    types = {
        "id": text,
        "text": text,
        "tokens": pyarrow.list_(text),
        "counts": pyarrow.map_(text, pyarrow.int32()),
        "labels": pyarrow.list_(text),
    }
    first = list(islice(source, _PARQUET_ROWS))
    names = [name for name in types if any(name in row for row in first)]
    schema = pyarrow.schema([(name, types[name]) for name in names])
    with write_whole(path) as file, pyarrow.parquet.ParquetWriter(file, schema) as writer:
        batch = first
        while batch:
            plain = [_plain(row, names) for row in batch]
            writer.write_batch(pyarrow.RecordBatch.from_pylist(plain, schema=schema))
            n += len(batch)
            batch = list(islice(source, _PARQUET_ROWS))
    return n


_PARQUET_ROWS = 1000


def _plain(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the row with maps as pairs; raise if it has another column than the first ones."""
    for name in row:
        if name not in names:
            raise InputError(
                f"a document has {name!r}, but the first ones have only {', '.join(names)}; "
                "write JSONL instead"
            )
    return {n: list(v.items()) if isinstance(v, Mapping) else v for n, v in row.items()}


def write_svmlight(corpus: Corpus, path: StrPath) -> None:
    """Write svmlight text with a header, and the names beside it, all of which the reader takes up.

    For ``x.svm`` or ``x.svm.gz`` the names go to ``x.vocab.txt``, ``x.labels.txt``, ``x.ids.txt``.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(20).corpus
    >>> deplda.write_svmlight(corpus, "news.svm")
    >>> deplda.read_corpus("news.svm").n_labels == corpus.n_labels
    True
    """
    _check_whole(corpus)
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
        check_unicode(name)
        if "\n" in name or name.endswith("\r") or name.startswith("\ufeff"):
            raise InputError(
                f"the name {name!r} holds a line break or a byte-order mark; write JSONL instead"
            )
    file.write("".join(f"{name}\n" for name in names).encode())


def _check_whole(corpus: Corpus) -> None:
    """Raise if a count is a fraction."""
    data = corpus.counts.data
    parts = data[data != data.round()]
    if len(parts):
        raise InputError(
            f"the corpus holds the count {parts[0]:g}; files hold whole counts: round them first"
        )


def check_unicode(name: str) -> None:
    """Raise if a name cannot be written."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"the name {name!r} holds a lone surrogate, which UTF-8 cannot write; rename it"
        ) from None
