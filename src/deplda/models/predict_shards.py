"""Predict a folder of shards, each by one worker: parts that are whole, skipped when finished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack

import msgspec

from deplda.data import wording
from deplda.data.atomic import write_whole
from deplda.data.corpus import Corpus, are_numbered
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.readers.shard_files import Shard, names_in
from deplda.data.text import CountsOnly
from deplda.engine.execution import Execution, Where
from deplda.engine.journal import Journal
from deplda.engine.pool import Stop, check_stop
from deplda.engine.progress import counted
from deplda.errors import DepldaError, InputError, WorkerLostError, read_errors
from deplda.models.base import LabelClassifier
from deplda.models.card import ARRAYS, CARD, read_card
from deplda.models.cutting import Cutoff
from deplda.models.external import in_words
from deplda.models.registry import load
from deplda.models.suggesting import Asked, answers_of

MANIFEST, _FINISHED = "manifest.json", ".finished"
_READ, _BATCH = 2_048, 256


class FailedDocument(msgspec.Struct, frozen=True):
    """A document that could not be predicted."""

    shard: str
    line: int | None
    """Its line (in Parquet its row) where it could not be read."""
    id: str | None
    problem: str


class Part(msgspec.Struct, frozen=True):
    """What is known of the part that was made of a shard."""

    shard: str
    stamp: list[int]
    """Size and time of the shard: of one that has changed since, the part is made again."""
    job: str
    """Fingerprint of the model and of what was asked of it."""
    file: str
    documents: int
    bytes: int
    sha256: str
    failed_documents: list[FailedDocument]


class Manifest(msgspec.Struct, frozen=True):
    """What a run gave: all parts, and what could not be predicted."""

    documents: int
    failed_documents: list[FailedDocument]
    failed: dict[str, str]
    """Shards without a part, and why."""
    parts: list[Part]


def predict_shards(
    model: StrPath,
    source: StrPath,
    target: StrPath,
    *,
    k: int | None = None,
    cutoff: Cutoff | None = None,
    fields: Fields | None = None,
    trusted: bool = False,
    **where: Unpack[Where],
) -> Manifest:
    """Write the likeliest labels of all documents in a folder of shards; return what was written.

    Parameters
    ----------
    model : path
        A saved model. Every worker loads it once.
    source : path
        A folder of JSONL, CSV, TSV, svmlight or Parquet files, plain or gzip. A cluster must see
        this and the other paths as this machine does.
    target : path
        Gets a part ``NAME.labels.jsonl`` for each shard NAME, a line for each document, and at the
        end ``manifest.json``. Parts are whole or not there. Those of an earlier run are kept if
        they are of the same model, the same `k`, `cutoff` and `fields`, and a shard that has not
        changed.
    k : int, optional
        How many labels a document is given at most.
    cutoff : optional
        As the parameter of the models; "validated" by default. Of a model without probabilities
        it is "proportional", and labels are written with their scores.
    fields : Fields, optional
        Which fields hold the id and the text, as the model remembers by default; labels are not
        read.
    trusted : bool
        See `load`.
    engine, n_jobs, progress
        See `Execution`.

    A document that cannot be read or predicted, even one that ends the worker, is left out and
    named in the manifest with its shard; a shard that cannot be read at all is named as well.

    Examples
    --------
    >>> import deplda
    >>> from pathlib import Path
    >>> corpus = deplda.datasets.newsroom(100).corpus
    >>> deplda.FlatLDA(random_state=0).fit(corpus).save("model")
    >>> Path("incoming").mkdir()
    >>> deplda.write_jsonl(corpus[:30], "incoming/part-1.jsonl")
    >>> deplda.predict_shards("model", "incoming", "labelled", k=3).documents
    30
    """
    asked = Asked(cutoff, k=k)
    asked.check()
    execution = Execution(**where)
    fields = fields or read_card(model, trusted=trusted).fields or Fields()
    job = _Job(Path(model), Path(source), Path(target), asked, fields, trusted)
    names = names_in(job.source)
    if job.target.resolve() == job.source.resolve():
        raise InputError(f"{target} is the folder of the shards; name another for the parts")
    loaded = job.load()  # what is wrong with it is said before any worker is asked
    if execution.is_here:
        job.model = loaded
    del loaded  # other processes load it themselves
    (job.target / _FINISHED).mkdir(parents=True, exist_ok=True)
    parts: dict[str, Part] = {name: part for name in names if (part := job.finished(name))}
    failed: dict[str, str] = {}
    waiting = [name for name in names if name not in parts]
    what = f"predicting {wording.counted(len(waiting), 'file')}"
    with counted(what, len(waiting), execution.progress) as done:
        for name, found in _run(job, waiting, execution):
            done(1)
            if isinstance(found, Part):
                parts[name] = found
            else:
                failed[name] = found
    ordered = [parts[name] for name in names if name in parts]
    manifest = Manifest(
        sum(part.documents for part in ordered),
        [each for part in ordered for each in part.failed_documents], failed, ordered,
    )  # fmt: skip
    _write_json(job.target / MANIFEST, manifest)
    return manifest


def _run(job: _Job, names: list[str], execution: Execution) -> Iterator[tuple[str, Part | str]]:
    """Yield each shard's part, or why there is none; go on after a document that ends workers.

    Every end of a worker is in the journal of its shard and narrows down whose fault it was. Where
    the journals say nothing new, no document is to blame.
    """
    waiting, known = list(names), None
    while waiting:
        try:
            for found in execution.map(_predict, tuple(waiting), job):
                yield waiting.pop(0), found
        except WorkerLostError:
            before, known = known, [job.journal(name).text() for name in waiting]
            if known == before or not any(known):
                raise


class _Job:
    """What a worker has to know; it is sent there once, and loads the model once."""

    def __init__(
        self, model: Path, source: Path, target: Path, asked: Asked, fields: Fields, trusted: bool
    ) -> None:
        # Workers need not have our working directory.
        self.path, self.source, self.target = (p.absolute() for p in (model, source, target))
        self.trusted = trusted
        self.asked, self.fields = asked, replace(fields, labels=None, label_columns=())
        digest = sha256(repr((tuple(asked), self.fields)).encode())
        # The card tells the arrays by their fingerprint, if it is not an old one.
        for name in (CARD,) if read_card(model, trusted=trusted).id else (CARD, ARRAYS):
            digest.update(_checksum(self.path / name).encode())
        self.fingerprint = digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "model"}

    def load(self) -> LabelClassifier:
        """Return the model; it works on one core, since every worker has its own shard."""
        model = load(self.path, trusted=self.trusted)
        if model.external_:
            raise InputError(
                f"this model requires {in_words(model.external_)}, which shards do not have; train "
                "a model without them"
            )
        return model.set_params(n_jobs=1, verbose=False)

    @cached_property
    def model(self) -> LabelClassifier:
        """The model, loaded once."""
        return self.load()

    def part(self, name: str) -> Path:
        return self.target / f"{name}.labels.jsonl"

    def journal(self, name: str) -> Journal:
        return Journal(self.target / _FINISHED / f"{name}.journal")

    def receipt(self, name: str) -> Path:
        return self.target / _FINISHED / f"{name}.json"

    def finished(self, name: str) -> Part | None:
        """Return what is known of a part if it is there and still good."""
        try:
            part = msgspec.json.decode(self.receipt(name).read_bytes(), type=Part)
        except (OSError, msgspec.DecodeError):
            return None
        is_same = (part.job, part.stamp) == (self.fingerprint, _stamp(self.source / name))
        try:
            return part if is_same and self.part(name).stat().st_size == part.bytes else None
        except OSError:
            return None


def _predict(job: _Job, name: str, stop: Stop) -> Part | str:
    """Write the part of one shard; return what it holds, or why it could not be made."""
    if (part := job.finished(name)) is not None:  # by a worker that was lost before it could say so
        return part
    stamp, journal = _stamp(job.source / name), job.journal(name)
    failures: list[FailedDocument] = []
    n = 0
    try:
        with write_whole(job.part(name)) as file:
            for id, answer in _documents(job, name, journal, failures, stop):
                file.write(msgspec.json.encode({"id": id} | answer) + b"\n")
                n += 1
    except DepldaError as error:
        journal.forget()
        return str(error)
    except BaseException:
        journal.leave()
        raise
    path = job.part(name)
    part = Part(name, stamp, job.fingerprint, path.name, n, path.stat().st_size, _checksum(path),
                failures)  # fmt: skip
    _write_json(job.receipt(name), part)
    journal.forget()
    return part


def _documents(
    job: _Job, name: str, journal: Journal, failures: list[FailedDocument], stop: Stop
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and answer of the documents of a shard; those that fail are added to `failures`."""
    first, empty = 0, set[str]()
    for corpus in _corpora(job, name, empty, failures):
        for begin in range(0, len(corpus), _BATCH):
            check_stop(stop)
            batch = corpus[begin : begin + _BATCH]
            for piece in journal.pieces(first + begin, len(batch)):
                rows = batch[piece.first - first - begin : piece.last - first - begin]
                if piece.has_crashed:
                    problem = "the worker ended, twice, while it was working on this document"
                    failures.append(FailedDocument(name, None, rows.ids[0], problem))
                else:
                    yield from _labelled(job, name, rows, empty, failures)
        empty.clear()
        first += len(corpus)


def _labelled(
    job: _Job, name: str, rows: Corpus, empty: set[str], failures: list[FailedDocument]
) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        is_empty = [id in empty for id in rows.ids]
        found = answers_of(job.model, rows.counts, job.asked, is_empty)
    except Exception as error:
        if len(rows) > 1:
            for row in range(len(rows)):
                yield from _labelled(job, name, rows[[row]], empty, failures)
        else:
            problem = f"{type(error).__name__}: {error}"
            failures.append(FailedDocument(name, None, rows.ids[0], problem))
        return
    yield from zip(rows.ids, found, strict=True)


def _corpora(
    job: _Job, name: str, empty: set[str], failures: list[FailedDocument]
) -> Iterator[Corpus]:
    """Yield the documents of a shard over the words of the model; bad lines go to `failures`.

    The ids of documents in which nothing stands go to `empty`.
    """

    def note(line: int, id: str | None, problem: str) -> None:
        failures.append(FailedDocument(name, line, id, problem))

    shard, words = Shard(job.source / name, job.fields), job.model.words_
    # Of a file without names a model of such files knows words by their numbers, and may have
    # dropped some; a model of named words knows them by their order.
    by_name = shard.has_words or (shard.is_numbered and are_numbered(words))
    for corpus in shard.corpora(
        _READ,
        note,
        on_empty=empty.add,
        counter=job.model.counter_ or CountsOnly(),
        vocabulary=None if by_name else words,
        label_names=None if shard.is_numbered else (),
    ):
        yield corpus.align(words, ())


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _checksum(path: Path) -> str:
    digest = sha256()
    with read_errors(path, "{}", OSError), path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write_json(path: Path, value: Any) -> None:
    with write_whole(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")
