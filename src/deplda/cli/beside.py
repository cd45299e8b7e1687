"""What documents come with beside their words: suggestions of other programs, and vectors."""

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
    from deplda.data.readers import Record


def _named_files(
    ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise click.UsageError(f"--expert is {text!r}; it must be NAME=FILE.")
        if name in found:
            raise click.UsageError(f"--expert names {name!r} twice; give each another name.")
        found[name] = Path(path)
    return found


embeddings_option = click.option(
    "--embeddings",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A vector for each document, in the same order (.npy, .safetensors; hybrid).",
)


def beside_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of what documents come with, as one value, `beside`."""

    @functools.wraps(verb)
    def call(*args: Any, **given: Any) -> None:
        beside = Beside(given.pop("expert"), given.pop("embeddings"))
        verb(*args, beside=beside, **given)

    of_experts = click.option(
        "--expert",
        multiple=True,
        metavar="NAME=FILE",
        callback=_named_files,
        help="Suggestions of another program for the documents, matched by id (JSONL, CSV, TSV); "
        "can be repeated (hybrid).",
    )
    return of_experts(embeddings_option(call))


class Beside(NamedTuple):
    """The files that documents come with."""

    experts: dict[str, Path]
    embeddings: Path | None

    def __bool__(self) -> bool:
        return bool(self.experts) or self.embeddings is not None

    def opened(self) -> Known:
        """Return what is in them."""
        from deplda.data.readers.expert_files import read_suggestions
        from deplda.data.readers.vector_files import read_vectors

        experts = {name: read_suggestions(path) for name, path in self.experts.items()}
        return Known(experts, None if self.embeddings is None else read_vectors(self.embeddings))


class Known:
    """What is known of documents beside their words, by their ids."""

    def __init__(self, experts: dict[str, Any], vectors: Any) -> None:
        self._experts, self._vectors = experts, vectors
        self._rows: dict[str, int] = {}

    def number(self, ids: Sequence[str]) -> None:
        """Take these for all documents there are: the vectors are theirs, in this order."""
        if self._vectors is not None and len(self._vectors) != len(ids):
            raise InputError(
                f"there are {len(self._vectors):,} embeddings for {counted(len(ids), 'document')}; "
                "give one for each, in the same order"
            )
        self._rows = {id: row for row, id in enumerate(ids)}

    def numbered(self, records: Iterator[Record]) -> Iterator[Record]:
        """Yield documents that are read one after the other, and take their vectors in turn."""
        if self._vectors is None:
            yield from records
            return
        for row, record in enumerate(records):
            id = str(record.id)
            if id in self._rows or row >= len(self._vectors):
                problem = (
                    f"document {id!r} is there twice, so that its embedding is not known"
                    if id in self._rows
                    else f"there are more documents than the {len(self._vectors):,} embeddings"
                )
                raise InputError(f"{problem}; give one embedding for each document, and ids once")
            self._rows[id] = row
            yield record
        if len(self._rows) < len(self._vectors):
            raise InputError(
                f"there are {len(self._vectors):,} embeddings for "
                f"{counted(len(self._rows), 'document')}; see whether they are of the same ones"
            )

    def of(self, documents: Any, ids: Sequence[str]) -> Any:
        """Return some of the documents with what is known of them."""
        from deplda.data.evidence import Documents

        own = None
        if self._vectors is not None:
            own = self._vectors[[self._rows[id] for id in ids]]
        return Documents(documents, ids=ids, embeddings=own, experts=self._experts or None)

    def of_corpus(self, corpus: Corpus) -> Any:
        """Return the documents of a corpus with what is known of them."""
        return self.of(corpus, corpus.ids)


def asked_by(model: Any, beside: Beside) -> tuple[Any, Known | None]:
    """Return the model as it can be asked, and what documents come with.

    A model with experts of which nothing is given decides by words alone, and that is said.
    """
    if beside:
        known = beside.opened()
        if model.experts_:
            return model, known
        note("Note: the model weighs no experts or embeddings; what was given is not used.")
        return model, None
    if model.experts_:
        note(
            f"Note: labels are suggested by words alone; the model also weighs "
            f"{', '.join(model.experts_)} (predict and evaluate take --expert NAME=FILE and "
            "--embeddings FILE)."
        )
    return model.by_words_alone(), None
