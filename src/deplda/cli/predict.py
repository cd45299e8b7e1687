"""``deplda predict``: documents in, labels out, a batch in memory at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, is_readable, reading_options, records_of
from deplda.cli.external import ExternalArrays, ExternalFiles, arrays_for, external_options
from deplda.cli.options import (
    OneOf,
    cutoff_option,
    device_option,
    engine_option,
    jobs_option,
    limit_option,
    threshold_option,
)
from deplda.cli.output import force, note, saved_model, show, trusts_models, waiting
from deplda.cli.predictions import (
    OUTPUT_FORMATS,
    Answered,
    Output,
    open_output,
    output_format,
)
from deplda.cli.thesaurus import told_in, told_language_option
from deplda.data.wording import counted
from deplda.errors import InputError

if TYPE_CHECKING:
    from deplda.data.readers import Record
    from deplda.models.suggesting import Asked

_BATCH = 256
_STANDARD_OUTPUT = Path("-")
_FLAGS = ("out_of_vocabulary", "empty")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("documents", nargs=-1, required=True, type=click.Path(allow_dash=True))
@cutoff_option
@limit_option
@threshold_option
@click.option(
    "--output",
    "-o",
    type=click.Path(allow_dash=True, path_type=Path),
    help="A file in the format of its name (.jsonl, .csv, .tsv, .xlsx, .parquet), a folder, or - "
    "for standard output.",
)
@click.option(
    "--output-format",
    "asked_format",
    type=OneOf(OUTPUT_FORMATS),
    help="Output format, if the name does not tell. annif: a file NAME.annif for each document"
    " in the folder -o, as Annif's index does; also the default of --format annif -o "
    "FOLDER.",
)
@click.option("--resume", is_flag=True, help="Continue a partly written output.")
@jobs_option
@engine_option
@device_option
@told_language_option
@external_options
@reading_options
@force
def predict(
    model: Path,
    documents: tuple[str, ...],
    cutoff: str | None,
    limit: int | None,
    threshold: float | None,
    output: Path | None,
    asked_format: str | None,
    resume: bool,
    jobs: int | None,
    engine: str,
    device: str,
    label_language: str | None,
    external: ExternalFiles,
    reading: Reading,
    force: bool,
) -> None:
    """Suggest labels for DOCUMENTS, the likeliest label first.

    The output is JSON lines; a table with one row per label in a .csv, .tsv, .xlsx or .parquet
    file; or one file per document in Annif's format. --format is the format of the input.

    Each label comes with its probability. For a model without probabilities (trained on shards, or
    by an earlier version) labels are given with their scores, as many as the median training
    document has. If --threshold and --cutoff are both given, both must be met.

    DOCUMENTS are files (JSONL, CSV, Parquet, svmlight, Annif's), text files (.txt, .md: one
    document each), folders of .txt files, or - for standard input: JSON lines, or one text per
    line. Documents without an id are numbered, from 0. Every document gets an answer, in the order
    of the input. A document gets no labels if none is likely enough (see --cutoff), if it has no
    word that the model knows, or if it is empty; the last two are marked.

    In a folder of JSONL, CSV, Parquet or svmlight files every file is a shard, and -o is the
    folder for the results, one file per shard; a second run keeps finished parts.

    \b
    deplda predict model new.jsonl -k 5 -o labels.jsonl
    deplda predict model new.jsonl -o labels.xlsx
    deplda predict model texts --output-format annif -o texts
    echo 'stocks fell on fears of recession' | deplda predict model -
    deplda predict model shards -o parts --engine tcp://10.0.0.1:8786
    """
    from deplda.models.cutting import read_cutoff
    from deplda.models.suggesting import WITHOUT_PROBABILITIES, Asked

    output = None if output == _STANDARD_OUTPUT else output
    asked = Asked(None if cutoff is None else read_cutoff(cutoff), threshold, limit)
    asked.check()
    if _is_folder_of_shards(documents, reading):
        others = (threshold, label_language, None if device == "cpu" else device, force or None,
                  asked_format, external or None)  # fmt: skip
        if output is None or any(other is not None for other in others):
            raise click.UsageError(
                "A folder of shards needs -o FOLDER; it takes --cutoff, but no --threshold, "
                "--force, --device, --label-language, --scores, --embeddings or --output-format: "
                "its parts are JSON lines."
            )
        _predict_shards(model, documents[0], output, asked, reading, jobs, engine)
        return
    from deplda.data.rows import column_numbers

    if resume and (output is None or force):
        raise click.UsageError("--resume needs --output, and not --force.")
    format = output_format(output, asked_format, reading.format)
    _check_apart(output, documents)
    classifier: Any = saved_model(model).set_params(
        n_jobs=jobs, engine=engine, device=device, verbose=False
    )
    arrays = arrays_for(classifier, external)
    told_in(classifier, label_language)
    value = "probability" if classifier.has_probabilities else "score"
    target = open_output(output, format, value=value, resume=resume, force=force)
    if not classifier.has_probabilities:
        note(f"Note: {WITHOUT_PROBABILITIES}.")
    # Other processes are sent the model once a batch, and a GPU is full with many documents only.
    size = _BATCH if engine == "threads" and device == "cpu" else 64 * _BATCH
    predicted = partial(_answered, classifier, column_numbers(classifier.words_), asked, arrays)
    records = records_of(documents, reading, classifier, in_bulk=True)
    if arrays is not None:
        records = arrays.numbered(records)
    records = target.remaining(records, predicted)
    written = _write(target, output, _batches(predicted, records, size))
    n_done = counted(target.n_before + written["documents"], "document")
    for flag, why in (("out_of_vocabulary", "no word that the model knows"), ("empty", "no text")):
        if written[flag]:
            note(f'Warning: no labels for {written[flag]:,} of {n_done}: {why} ("{flag}": true).')
    if (told := target.others()) is not None:
        note(f"Note: {told}")
    if output is not None:
        show(f"{n_done}: {output}")


def _write(target: Output, output: Path | None, batches: Iterator[list[Answered]]) -> Counter[str]:
    """Write what is predicted; return how many documents, and of how many a flag is told."""
    n = Counter[str]()
    # An output is replaced only when there is something to write.
    first = list(islice(batches, 1))
    try:
        with target.opened() as write, waiting("predicting", beside=output is None) as done:
            for batch in chain(first, batches):
                write(batch)
                n["documents"] += len(batch)
                n.update(flag for each in batch for flag in _FLAGS if flag in each.answer)
                done(len(batch))
    except OSError as error:
        if output is None or isinstance(error, BrokenPipeError):
            raise
        problem = f"{error.strerror} after {_progress(target, n['documents'])}"
        raise OSError(error.errno, problem, error.filename or str(output)) from error
    except KeyboardInterrupt:
        if output is None:
            raise
        message = f"interrupted after {_progress(target, n['documents'])}"
        raise KeyboardInterrupt(message) from None
    return n


def _progress(target: Output, n_predicted: int) -> str:
    """Say what remains of an unfinished output."""
    if target.part is None:
        n_done = counted(n_predicted, "document")
        return f"{n_done}; nothing was written, but .jsonl, .csv and .tsv can be resumed"
    if not (n := target.n_before + target.n_written):
        return "0 documents; nothing was written"
    return f"{counted(n, 'document')}, which {target.part} holds; --resume continues after them"


def _check_apart(output: Path | None, documents: tuple[str, ...]) -> None:
    """Raise if the output would be written over the documents; beside texts in a folder it may."""
    if output is None or not output.is_file():
        return
    if any(output.resolve() == Path(each).resolve() for each in documents):
        raise InputError(f"{output} holds the documents; choose another output")


def _is_folder_of_shards(documents: tuple[str, ...], reading: Reading) -> bool:
    from deplda.data.readers.shard_files import format_of

    folder = Path(documents[0])
    if len(documents) > 1 or not folder.is_dir() or is_readable(folder, reading):
        return False
    return any(map(format_of, folder.iterdir()))


def _predict_shards(
    model: Path,
    source: str,
    output: Path,
    asked: Asked,
    reading: Reading,
    jobs: int | None,
    engine: str,
) -> None:
    from deplda.data.readers import Written
    from deplda.models.card import read_card
    from deplda.models.predict_shards import predict_shards

    if reading.format is not None or reading.written != Written():
        raise click.UsageError(
            "Shards are read by their names: no --format, --encoding, --delimiter, --sheet."
        )
    manifest = predict_shards(
        model, source, output, k=asked.k, cutoff=asked.cutoff,
        fields=reading.fields(read_card(model, trusted=trusts_models()).fields, labelled=False),
        engine=engine, n_jobs=jobs, trusted=trusts_models(),
    )  # fmt: skip
    for bad in manifest.failed_documents:
        where = f"line {bad.line}" if bad.id is None else f"document {bad.id!r}"
        note(f"Warning: {bad.shard}, {where} is left out: {bad.problem}")
    parts = counted(len(manifest.parts), "part")
    show(f"{counted(manifest.documents, 'document')} in {parts}: {output}")
    if manifest.failed:
        name, reason = next(iter(manifest.failed.items()))
        raise InputError(
            f"without a part: {counted(len(manifest.failed), 'shard')} (see manifest.json); "
            f"{name}: {reason}"
        )


def _batches(
    predict: Callable[[list[Record]], list[Answered]], records: Iterator[Record], size: int
) -> Iterator[list[Answered]]:
    """Yield what is said of some documents after the other."""
    while batch := list(islice(records, size)):
        yield predict(batch)


def _answered(
    model: Any, words: dict[str, int], asked: Asked, arrays: ExternalArrays | None,
    batch: list[Record],
) -> list[Answered]:  # fmt: skip
    """Return what is said of each document, counted by the model's words."""
    from deplda.data.readers import CorpusBuilder
    from deplda.models.suggesting import answers_of

    if not batch:
        return []
    builder = CorpusBuilder(words, ())
    for record in batch:
        builder.add(record.counts, ())
    rows: Any = builder.corpus()
    if arrays is not None:
        rows = arrays.of(rows, [str(record.id) for record in batch], model.classes_)
    answers = answers_of(model, rows, asked, [record.is_empty for record in batch])
    return [Answered(str(r.id), answer) for r, answer in zip(batch, answers, strict=True)]
