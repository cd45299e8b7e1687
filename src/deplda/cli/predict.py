"""``deplda predict``: documents in, labels out, a batch in memory at a time."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, reading_options, records_of
from deplda.cli.options import (
    cutoff_option,
    device_option,
    engine_option,
    jobs_option,
    limit_option,
    set_device,
    threshold_option,
)
from deplda.cli.output import (
    as_line,
    check_output,
    force,
    note,
    saved_model,
    show,
    trusts_models,
)
from deplda.cli.thesaurus import told_in, told_language_option
from deplda.errors import InputError, ReadError

if TYPE_CHECKING:
    from deplda.data.readers import Record
    from deplda.data.rows import Places
    from deplda.models.suggesting import Asked

_BATCH = 256
_BY_PRIOR = b'"by_prior": true}\n'
_CHECKED = 256
"""How many lines of an output are predicted again before it is gone on with."""


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("documents", nargs=-1, required=True, type=click.Path(allow_dash=True))
@cutoff_option
@limit_option
@threshold_option
@click.option("--output", "-o", type=click.Path(path_type=Path), help="JSONL file, or folder.")
@click.option("--resume", is_flag=True, help="Go on with a partly written output.")
@jobs_option
@engine_option
@device_option
@told_language_option
@reading_options
@force
def predict(
    model: Path,
    documents: tuple[str, ...],
    cutoff: str | None,
    limit: int | None,
    threshold: float | None,
    output: Path | None,
    resume: bool,
    jobs: int | None,
    engine: str,
    device: str,
    label_language: str | None,
    reading: Reading,
    force: bool,
) -> None:
    """Suggest labels for DOCUMENTS, as JSON lines, the likeliest label first.

    Each label comes with its probability. Of a model that has none (trained on shards, or by an
    earlier version) the ten best labels are given with their scores. With --threshold and --cutoff
    both have to be met.

    DOCUMENTS are files (JSONL, CSV, Parquet, svmlight), text files (.txt, .md: one document each),
    folders of .txt files, or - for standard input: JSON lines, or one text a line. Documents
    without an id are numbered.

    Of one folder of JSONL, CSV, Parquet or svmlight files every file is a shard, and -o the folder
    that gets its part; a second run keeps finished parts.

    \b
    deplda predict model new.jsonl -k 5 -o labels.jsonl
    echo 'stocks fell on fears of recession' | deplda predict model -
    deplda predict model shards -o parts --engine tcp://10.0.0.1:8786
    """
    from deplda.models.cutting import read_cutoff
    from deplda.models.suggesting import WITHOUT_PROBABILITIES, Asked

    asked = Asked(None if cutoff is None else read_cutoff(cutoff), threshold, limit)
    asked.check()
    if _is_folder_of_shards(documents):
        others = (threshold, label_language, None if device == "cpu" else device, force or None)
        if output is None or any(other is not None for other in others):
            raise click.UsageError(
                "A folder of shards needs -o; it takes --cutoff, but no --threshold, --force, "
                "--device or --label-language."
            )
        _predict_shards(model, documents[0], output, asked, reading, jobs, engine)
        return
    from deplda.data.rows import Places
    from deplda.engine.progress import counted

    if resume and (output is None or force):
        raise click.UsageError("--resume needs --output, and not --force.")
    if output is not None:
        check_output(output, force or resume)
        _check_apart(output, documents)
    classifier: Any = saved_model(model).set_params(n_jobs=jobs, engine=engine, verbose=False)
    set_device(classifier, device, model)
    told_in(classifier, label_language)
    if not classifier.has_probabilities:
        note(f"Note: {WITHOUT_PROBABILITIES}.")
    # Other processes are sent the model once a batch, and a GPU is full with many documents only.
    size = _BATCH if engine == "threads" and device == "cpu" else 64 * _BATCH
    records = records_of(documents, reading, classifier)
    predicted = partial(_lines, classifier, Places(classifier.words_), asked)
    n_done = 0
    if resume and output is not None and output.exists():
        n_done = _skip_done(output, records, predicted)
    found, n_unknown = _predicted(predicted, records, size), 0
    # An output is replaced only when there is something to write.
    first = list(islice(found, 1))
    with _opened(output, resume) as file, counted("predicting", None, "documents", None) as done:
        try:
            for lines in chain(first, found):
                file.write(b"".join(lines))
                file.flush()
                n_done += len(lines)
                n_unknown += sum(line.endswith(_BY_PRIOR) for line in lines)
                done(len(lines))
        except OSError as error:
            if output is None:
                raise
            problem = f"{error.strerror} after {n_done:,} documents; --resume goes on with it"
            raise OSError(error.errno, problem, str(output)) from error
        except KeyboardInterrupt:
            if output is None:
                raise
            message = f"interrupted after {n_done:,} documents; --resume goes on with {output}"
            raise KeyboardInterrupt(message) from None
    if n_unknown:
        note(
            f"Warning: {n_unknown:,} of {n_done:,} documents without a word that the model knows; "
            'their labels are those that are likely of any document ("by_prior": true).'
        )
    if output is not None:
        show(f"{n_done:,} documents: {output}")


def _check_apart(output: Path, documents: tuple[str, ...]) -> None:
    """Raise if the output would be written over the documents, or in a format it is not."""
    if output.suffix == ".gz":
        raise click.UsageError(f"{output}: predictions are not packed; pack them afterwards.")
    if any(output.exists() and output.resolve() == Path(each).resolve() for each in documents):
        raise InputError(f"{output} holds the documents; choose another output")


def _is_folder_of_shards(documents: tuple[str, ...]) -> bool:
    from deplda.data.readers.shard_files import format_of

    folder = Path(documents[0])
    return len(documents) == 1 and folder.is_dir() and any(map(format_of, folder.iterdir()))


def _predict_shards(
    model: Path,
    source: str,
    output: Path,
    asked: Asked,
    reading: Reading,
    jobs: int | None,
    engine: str,
) -> None:
    from deplda.models.card import read_card
    from deplda.models.predict_shards import predict_shards

    if reading.format is not None or reading.encoding != "utf-8":
        raise click.UsageError("Shards are read by their names, as UTF-8: no --format, --encoding.")
    manifest = predict_shards(
        model, source, output, k=asked.k, cutoff=asked.cutoff,
        fields=reading.fields(read_card(model).fields, labelled=False),
        engine=engine, n_jobs=jobs, trusted=trusts_models(),
    )  # fmt: skip
    for bad in manifest.failed_documents:
        where = f"line {bad.line}" if bad.id is None else f"document {bad.id!r}"
        note(f"Warning: {bad.shard}, {where} is left out: {bad.problem}")
    show(f"{manifest.documents:,} documents in {len(manifest.parts):,} parts: {output}")
    if manifest.failed:
        name, reason = next(iter(manifest.failed.items()))
        raise InputError(
            f"{len(manifest.failed):,} shards have no part (see manifest.json); {name}: {reason}"
        )


def _predicted(
    predict: Callable[[list[Record]], Iterator[bytes]], records: Iterator[Record], size: int
) -> Iterator[list[bytes]]:
    """Yield the lines of some documents after the other."""
    while batch := list(islice(records, size)):
        yield list(predict(batch))


def _lines(model: Any, words: Places, asked: Asked, batch: list[Record]) -> Iterator[bytes]:
    """Yield the line of each document, counted by the model's words."""
    from deplda.data.readers import CorpusBuilder
    from deplda.models.suggesting import answers_of

    builder = CorpusBuilder(words, ())
    for record in batch:
        builder.add(record.counts, ())
    for record, answer in zip(batch, answers_of(model, builder.corpus(), asked), strict=True):
        yield as_line({"id": record.id} | answer).encode() + b"\n"


@contextmanager
def _opened(output: Path | None, resume: bool) -> Iterator[IO[bytes]]:
    if output is None:
        yield sys.stdout.buffer
        return
    # Unbuffered: a disk that is full is told of where lines are written, not once more at the end.
    with open(output, "ab" if resume else "wb", buffering=0) as file:
        yield file


def _skip_done(
    output: Path, records: Iterator[Record], predict: Callable[[list[Record]], Iterator[bytes]]
) -> int:
    """Pass over the documents whose lines are there already, and cut off a line that is torn.

    Lines spread over the whole output are predicted again: the same model, documents and options
    give the same bytes.
    """
    with open(output, "rb") as file:
        n = sum(line.endswith(b"\n") for line in file)
    chosen = set(range(0, n, -(-n // _CHECKED) or 1)) | {n - 1}
    whole = 0
    again: list[Record] = []
    expected: list[tuple[int, bytes]] = []
    with open(output, "rb") as file:
        for number, line in enumerate(islice(file, n)):
            record = next(records, None)
            _check_same_document(output, number + 1, line, record)
            whole += len(line)
            if number in chosen and record is not None:
                again.append(record)
                expected.append((number + 1, line))
    for (number, line), new in zip(expected, predict(again), strict=True):
        if line != new:
            raise InputError(
                f"{output}, line {number}: it is not what this model and these options give for "
                "that document; resume with those it was begun with, choose another output, or "
                "--force to replace it"
            )
    os.truncate(output, whole)
    return n


def _check_same_document(output: Path, number: int, line: bytes, record: Record | None) -> None:
    try:
        found = json.loads(line)["id"]
    except (ValueError, KeyError, TypeError) as error:
        problem = "this is not a line of predictions; choose another output, or --force"
        raise ReadError(output, number, problem) from error
    if record is None or found != record.id:
        other = "there are fewer documents" if record is None else f"document {record.id!r} is next"
        raise InputError(
            f"{output}, line {number}: it is of document {found!r}, but {other}; the output is of "
            "other documents: choose another one, or --force to replace it"
        )
