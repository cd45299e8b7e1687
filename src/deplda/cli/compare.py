"""``deplda compare``: which model is best on one's own documents."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from deplda.cli.documents import (
    Loaded,
    Reading,
    Words,
    corpus_argument,
    is_readable,
    load_corpus,
    reading_options,
    recounted,
    word_options,
)
from deplda.cli.options import device_option, jobs_option
from deplda.cli.output import as_json, note, show, show_json
from deplda.errors import InputError
from deplda.models.registry import MODELS

if TYPE_CHECKING:
    from deplda.comparison import Results
    from deplda.comparison.results import Unit
    from deplda.data.datasets import Dataset
    from deplda.data.datasets.described import Part
    from deplda.data.fields import Fields
    from deplda.data.splits import TrainingPart
    from deplda.data.text import WordCounter

_USUAL = "hybrid,tfidf-svm,dependency"
_SHARE = 0.25
_FEWER = "topic models have fewer sets of topics here than by deplda train, which takes longer"


class _Splitting(NamedTuple):
    """How documents are parted, as options say it; one of the first four at most."""

    holdout: float | None
    folds: int | None
    test: Path | None
    split_field: str | None
    group_field: str | None
    seed: int

    @property
    def fields(self) -> list[str]:
        """The fields of documents that it needs."""
        return [name for name in (self.split_field, self.group_field) if name is not None]

    def training(self, n_splits: int = 0) -> TrainingPart | None:
        """Return which documents train; None if not the same ones in all splits."""
        from deplda.data.splits import TrainingPart

        if self.folds is not None or self.fields:
            return None
        if n_splits and self.holdout is None:
            return TrainingPart(split="0") if n_splits == 1 else None
        share = _SHARE if self.holdout is None else self.holdout
        return TrainingPart(holdout=None if self.test is not None else share, seed=self.seed)

    def check(self) -> None:
        """Raise if it is said in more than one way."""
        names = ("holdout", "folds", "test", "split_field")
        given = [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) is not None]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} are different ways to split; give one.")


def _estimators(ctx: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    verbs = {entry.verb: estimator for estimator, entry in MODELS.items()}
    if text.strip().lower() == "all":
        return list(MODELS)
    asked = [name.strip().lower() for name in text.split(",")]
    for name in asked:
        if name not in verbs:
            raise click.UsageError(
                f"--models has {name!r}; known are {', '.join(verbs)}, and all for all of them."
            )
    return list(dict.fromkeys(verbs[name] for name in asked))


@click.command()
@corpus_argument
@click.option(
    "--models",
    default=_USUAL,
    callback=_estimators,
    metavar="MODEL,MODEL…|all",
    help=f"Of {', '.join(entry.verb for entry in MODELS.values())}.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Test with a random share of the documents.",
    show_default=f"{_SHARE}, or the splits of a data set",
)
@click.option("--folds", type=click.IntRange(2, 100), help="Number of folds for cross-validation.")
@click.option(
    "--test",
    type=click.Path(exists=True, path_type=Path),
    help="Test with the documents of this file, and train with all of CORPUS.",
)
@click.option(
    "--split-field",
    help="A field that is 'test' for test documents; or each of its values is a fold.",
)
@click.option(
    "--group-field",
    help="A field, such as the source: documents with the same value are never split.",
)
@click.option("--splits", help="Run only these splits or folds, such as 0,1.")
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for results and report; a second run continues the first, and may add models.",
    show_default="the corpus’s name and -comparison",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    help="Random seed; the same seed gives the same bits.",
)
@jobs_option
@device_option
@reading_options
@word_options
@as_json
def compare(
    corpus: str, models: list[str], holdout: float | None, folds: int | None, test: Path | None,
    split_field: str | None, group_field: str | None, splits: str | None,
    output: Path | None, seed: int, jobs: int | None, device: str, reading: Reading, words: Words,
    as_json: bool,
) -> None:  # fmt: skip
    """Compare models on CORPUS: train them on a part, test them on the rest.

    CORPUS is anything that `deplda train` accepts. Each model runs in its own process on the same
    documents. A table shows the results, FOLDER/report.html has the details, and the last lines
    say which model is best, whether beyond noise, and how to train it on all documents.

    \b
    deplda compare articles.csv --text-field body --labels-field subjects
    deplda compare articles.csv --folds 5 --group-field source --models hybrid,tfidf-svm
    deplda compare newsroom --models all
    """
    from deplda.comparison import compare_models, leaderboard, run, standing, write_page
    from deplda.comparison.comparison import TITLES

    how = _Splitting(holdout, folds, test, split_field, group_field, seed)
    how.check()
    folder = Path(f"{_stem(corpus)}-comparison") if output is None else output
    data = _dataset(corpus, reading, words, how)
    _tell_parts(data)
    # All models, so that a later run may add those that are not asked for now.
    least = words.min_count if data.counter is not None or words.min_count != "auto" else 1
    comparison = compare_models(data.name, corpus, min_count=least, seed=seed)
    titles = [TITLES[estimator] for estimator in models]
    results = run(
        comparison, folder, data, splits=_split_numbers(splits), models=titles, device=device,
        n_jobs=jobs, ended=_tell_ended,
    )  # fmt: skip
    failed = [u for u in results.units if u.status == "failed" and u.model in titles]
    if not results.done:
        _end(failed, results)
    report = folder / "report.html"
    write_page(folder, report)
    found = standing(folder)
    best = MODELS[comparison.models[found.leaders[0]].estimator].verb
    train = _train_line(corpus, best, is_set=not _is_file(corpus, reading))
    if as_json:
        show_json(
            {
                "results": str(folder), "report": str(report), "best": list(found.leaders),
                "is_tie": len(found.leaders) > 1, "found": list(found.sentences),
                "models": found.models, "train": train,
                "failed": [{"model": u.model, "split": u.split, "error": u.error} for u in failed],
            }
        )  # fmt: skip
    else:
        show(leaderboard(folder))
        note(_FEWER)
        show("\n" + "\n".join([*found.sentences, f"The whole report: {report}"]))
        others = [e.verb for name, e in MODELS.items() if not _has_run(TITLES[name], results)]
        if others:
            note(f"other models: --models {','.join(others)} adds them to {folder}")
        show(f"Next: {train}")
    if failed:
        _end(failed, results)


def _split_numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise click.UsageError(f"--splits is {text!r}; it must be numbers such as 0,1.")
    return [int(part) for part in parts]


def _stem(corpus: str) -> str:
    return "documents" if corpus == "-" else Path(corpus).absolute().name.partition(".")[0]


def _has_run(model: str, results: Results) -> bool:
    return any(unit.model == model for unit in results.units)


def _end(failed: list[Unit], results: Results) -> None:
    """Name what failed; the others stay."""
    for unit in failed:
        note(f"{unit.model} on split {unit.split}: {unit.error}")
    raise InputError(
        f"{len(failed)} of {len(results.units)} units failed, the others are kept; run again to "
        "retry"
    )


def _tell_parts(data: Dataset) -> None:
    first = data.splits[0]
    several = f", the first of {len(data.splits)} splits" if len(data.splits) > 1 else ""
    note(
        f"{len(data.corpus):,} documents, {data.corpus.n_labels:,} labels: "
        f"{len(first.train):,} train, {len(first.test):,} test{several}"
    )


def _tell_ended(unit: Unit) -> None:
    if sys.stderr.isatty():  # where progress is shown
        return
    if unit.results is None:
        note(f"{unit.model}, split {unit.split}: failed, {unit.error}")
        return
    seconds = sum(unit.results["cpu_seconds"].values())
    reached = unit.results["metrics"]["document"]["ranking"]["average_precision"]
    note(
        f"{unit.model}, split {unit.split}: average precision {reached:.3f} in {seconds:.2g} CPU s"
    )


# Documents and their parts ------------------------------------------------------------------------


def _is_file(source: str, reading: Reading) -> bool:
    """Return whether it is documents, and not a data set."""
    from deplda.data.datasets import is_described

    if source == "-":
        return True
    return is_readable(Path(source), reading) and not is_described(Path(source))


def _dataset(source: str, reading: Reading, words: Words, how: _Splitting) -> Dataset:
    """Return the documents with their splits: those asked for, or those that they come with."""
    from dataclasses import replace

    from deplda.data import datasets
    from deplda.data.datasets.described import drawn, train_and_test
    from deplda.data.splits import by_values

    name = _stem(source)
    if _is_file(source, reading):
        part, fields = _part(source, reading, words.counter(), how, training=how.training())
        if how.test is not None:
            counter = part.counter or words.counter()
            other, _ = _part(str(how.test), reading, counter, how, fields)
            return train_and_test(name, part, other, how.group_field)
        groups = tuple(part.columns[how.group_field]) if how.group_field is not None else ()
        data = datasets.Dataset(
            name, part.corpus, texts=part.texts, counter=part.counter, groups=groups
        )
        if how.split_field is not None:
            return replace(data, splits=by_values(part.columns[how.split_field]))
    else:
        if how.fields or how.test is not None:
            raise click.UsageError(
                f"--test, --split-field and --group-field are for files; {source} is a data set, "
                "whose dataset.toml may say the same."
            )
        data = datasets.load(source, reading.data_dir)
        if data.texts and data.counter is None:  # counted as `train` will
            loaded = recounted(data, words.counter(), how.training(len(data.splits)))
            data = replace(data, corpus=loaded.corpus, counter=loaded.counter)
        if data.splits and how.holdout is None and how.folds is None:
            return data
    return replace(data, splits=drawn(data, folds=how.folds, holdout=how.holdout, seed=how.seed))


def _part(
    source: str, reading: Reading, counter: WordCounter, how: _Splitting,
    remembered: Fields | None = None, training: TrainingPart | None = None,
) -> tuple[Part, Fields | None]:  # fmt: skip
    """Return a file's documents, counted, with their texts and other fields; and how it is read."""
    from deplda.data.datasets.described import Part, read_beside
    from deplda.data.readers import guess_format

    if source == "-" and how.fields:  # it cannot be read twice
        raise click.UsageError("--split-field and --group-field are for files, not for -.")
    loaded: Loaded = load_corpus(source, reading, counter, remembered, training)
    if source == "-":
        return Part(loaded.corpus, loaded.counter, (), {}), loaded.fields
    path = Path(source)
    fields = loaded.fields or reading.fields()
    format = reading.format or guess_format(path)
    texts, columns = read_beside(path, format, fields, how.fields, **reading.written._asdict())
    texts = texts if loaded.counter is not None else ()
    return Part(loaded.corpus, loaded.counter, texts, columns), loaded.fields


# What to do next ----------------------------------------------------------------------------------


def _train_line(corpus: str, model: str, *, is_set: bool) -> str:
    """Return the command that trains a model on all the documents, read as they were here."""
    context = click.get_current_context()
    line = ["deplda", "train", corpus, "-o", "model", "--model", model]
    if is_set:
        line += ["--split", "none"]
    shared = {*Reading._fields, *Words._fields, "seed"}
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in shared and given is ParameterSource.COMMANDLINE:
            line += _as_given(parameter.opts[0], context.params[str(parameter.name)])
    return shlex.join(line)


def _as_given(option: str, value: Any) -> list[str]:
    """Return an option as it stands on a command line."""
    if value is True:
        return [option]
    if isinstance(value, dict):
        value = [f"{name}={each}" for name, each in value.items()]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for each in values for word in (option, str(each))]
