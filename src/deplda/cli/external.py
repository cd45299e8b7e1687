"""The options ``--scores`` and ``--embeddings``: external arrays of documents, from files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deplda.cli.output import note
from deplda.data.wording import counted
from deplda.errors import InputError

if TYPE_CHECKING:
    from deplda.data.corpus import Corpus
    from deplda.data.external import Documents
    from deplda.data.readers import Record
    from deplda.data.readers.score_files import ScoreFile


def _named_files(
    ctx: click.Context, parameter: click.Parameter, options: tuple[str, ...]
) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in options:
        name, _, path = text.partition("=")
        if not name or not path:
            raise click.UsageError(f"--scores is {text!r}; it must be NAME=FILE.")
        if name in files:
            raise click.UsageError(f"--scores has {name!r} twice; use another name.")
        files[name] = Path(path)
    return files


embeddings_option = click.option(
    "--embeddings",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A vector for each document, in the same order (.npy, .safetensors; hybrid).",
)
_scores_option = click.option(
    "--scores",
    multiple=True,
    metavar="NAME=FILE",
    callback=_named_files,
    help="Scores of another program for the documents, matched by id (JSONL, CSV, TSV, XLSX); can "
    "be repeated (hybrid).",
)


def external_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command both options as one value, `external`."""

    @functools.wraps(command)
    def call(*args: Any, scores: dict[str, Path], embeddings: Path | None, **others: Any) -> None:
        command(*args, external=ExternalFiles(scores, embeddings), **others)

    return _scores_option(embeddings_option(call))


class ExternalFiles(NamedTuple):
    """The files of external arrays."""

    scores: dict[str, Path]
    embeddings: Path | None

    def __bool__(self) -> bool:
        return bool(self.scores) or self.embeddings is not None

    def read(self) -> ExternalArrays:
        """Return the arrays in the files."""
        from deplda.data.readers.score_files import ScoreFile
        from deplda.data.readers.vector_files import read_vectors

        scores = {name: ScoreFile.read(path) for name, path in self.scores.items()}
        return ExternalArrays(
            scores, None if self.embeddings is None else read_vectors(self.embeddings)
        )


class ExternalArrays:
    """External arrays, from which those of some documents are taken by document id."""

    def __init__(self, scores: dict[str, ScoreFile], embeddings: Any) -> None:
        self._scores, self._embeddings = scores, embeddings
        self._rows: dict[str, int] = {}
        self._is_checked = False

    def number(self, ids: Sequence[str]) -> None:
        """Set the ids of all documents, in the order of the embeddings."""
        self._check_number(len(ids))
        self._rows = {id: row for row, id in enumerate(ids)}

    def numbered(self, records: Iterator[Record]) -> Iterator[Record]:
        """Yield records, and set the ids of the embeddings meanwhile."""
        if self._embeddings is None:
            yield from records
            return
        for row, record in enumerate(records):
            id = str(record.id)
            if id in self._rows:
                raise InputError(f"document {id!r} is there twice, but embeddings need unique ids")
            self._rows[id] = row
            if row >= len(self._embeddings):
                raise InputError(
                    f"there are more documents than the {len(self._embeddings):,} embeddings"
                )
            yield record
        self._check_number(len(self._rows))

    def _check_number(self, n_documents: int) -> None:
        if self._embeddings is not None and len(self._embeddings) != n_documents:
            raise InputError(
                f"there are {len(self._embeddings):,} embeddings for "
                f"{counted(n_documents, 'document')}; give one for each, in the same order"
            )

    def of(self, documents: Any, ids: Sequence[str], labels: Sequence[Any]) -> Documents:
        """Return some of the documents with their arrays, for these labels."""
        from deplda.data.external import Documents

        embeddings = None
        if self._embeddings is not None:
            embeddings = self._embeddings[[self._rows[id] for id in ids]]
        names = [str(label) for label in labels]
        if not self._is_checked:  # a later batch may well be of documents without scores
            for file in self._scores.values():
                file.check(ids, names)
            self._is_checked = True
        scores = {name: file.of(ids, names) for name, file in self._scores.items()}
        return Documents(documents, embeddings=embeddings, scores=scores or None)

    def of_corpus(self, corpus: Corpus, labels: Sequence[Any]) -> Documents:
        """Return the documents of a corpus with their arrays, for these labels."""
        return self.of(corpus, corpus.ids, labels)


def arrays_for(model: Any, files: ExternalFiles) -> ExternalArrays | None:
    """Return the arrays for documents of a model, or None if it uses no external arrays."""
    if not files:
        return None
    if not model.external_:
        note("Note: the model uses no scores or embeddings; the options are ignored.")
        return None
    return files.read()
