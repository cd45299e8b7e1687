"""``deplda learn``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, load_corpus, part_of, reading_options
from deplda.cli.external import ExternalFiles, embeddings_option
from deplda.cli.options import jobs_option, split_option
from deplda.cli.output import (
    as_json,
    check_output,
    force,
    note,
    saved_model,
    show,
    show_json,
)
from deplda.cli.thesaurus import as_the_model_has_them
from deplda.cli.train import made, summary_of
from deplda.data.files import read_lines
from deplda.data.wording import counted
from deplda.errors import InputError
from deplda.models.registry import can, verbs_that_can

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deplda.data.corpus import Corpus
    from deplda.data.fields import Fields

_MOST_NAMED = 10
_SEPARATORS = (",", ";", "|")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(allow_dash=True))
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to save the result in.",
)
@split_option
@jobs_option
@embeddings_option
@reading_options
@force
@as_json
def learn(
    model: Path,
    new: str,
    output: Path,
    split: str,
    jobs: int | None,
    embeddings: Path | None,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """Update MODEL with the labelled documents of NEW, and save the result.

    NEW is anything that `deplda train` reads. MODEL is not changed, unless the output is MODEL
    itself (--force). New labels and new words are added; words are counted as in MODEL. A document
    that the model has already learned from counts twice.

    \b
    deplda learn model new.jsonl -o model-2
    deplda learn model new.jsonl -o model --force
    """
    from deplda.data.text import CountsOnly
    from deplda.models import card as store

    check_output(output, force)
    store.check_target(output)
    classifier = saved_model(model)
    _check_able(classifier, model)
    begin = time.perf_counter()
    counter = CountsOnly() if classifier.counter_ is None else classifier.counter_.of_all_words()
    loaded = load_corpus(new, reading, counter, _fields_of(new, classifier.fields_))
    if classifier.counter_ is not None:  # new words are shown as they are met here
        classifier.counter_.forms_met_.update(counter.forms_met_)
    documents = _last_versions(part_of(loaded, split, "train")).keep_labels_met()
    if reading.separator is None:
        _check_separator(documents.label_names, classifier, loaded.fields)
    if classifier.vocabulary_ is not None:
        documents = as_the_model_has_them(documents, classifier)
    n_labels, n_words = classifier.n_learned_labels_, classifier.n_features_in_
    arrays = ExternalFiles({}, embeddings).read()
    arrays.number(loaded.corpus.ids)
    classifier.set_params(n_jobs=jobs, verbose=sys.stderr.isatty())
    if n_before := int(classifier.learned_from(documents).sum()):
        note(
            f"{n_before:,} of {counted(len(documents), 'document')} have the same words as "
            "documents that the model has learned from: they count twice"
        )
    classifier.partial_fit(
        documents if embeddings is None else arrays.of_corpus(documents, documents.label_names)
    )
    came_in = _came_in(documents, classifier, n_labels, n_words)
    if not came_in["known_labels"]:
        note(
            f"Warning: the model knows none of the labels of {new}; see whether --labels-field is "
            "right, and set --separator if one of them is a list of labels"
        )
    # How it was run this time is nothing to remember.
    classifier.set_params(verbose=False, n_jobs=None).save(output)
    summary = summary_of(output, classifier, None, round(time.perf_counter() - begin, 1))
    if as_json:
        show_json(summary | {"learned": came_in})
        return
    names = [str(classifier.told_label(label)["label"]) for label in came_in["new_labels"]]
    show(_in_words(came_in, names))
    show(made("learned on", summary))
    if classifier.has_probabilities:
        show("Its probabilities are weighed as before; to see whether they still hold:")
    show(f"Next: deplda evaluate {output} labelled.jsonl")


def _check_able(classifier: Any, path: Path) -> None:
    if not can(classifier, "learn"):
        raise InputError(
            f"{path} is a {type(classifier).__name__}, which weighs all documents against each "
            "other and cannot learn on from new ones alone; train it anew on the old and the new "
            f"ones together (deplda train), or train one of {verbs_that_can('learn')}, which can"
        )


def _fields_of(new: str, remembered: Fields | None) -> Fields | None:
    """Return the fields of the model, or those of what a service was sent (`serve --learn`)."""
    from dataclasses import replace

    from msgspec import DecodeError, json

    if remembered is None or not Path(new).is_file():
        return remembered
    _, line = next(read_lines(new), (0, b""))
    try:
        first = json.decode(line)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return remembered  # a file of another format, or what is wrong is said when it is read
    if not isinstance(first, dict) or not {"text", "labels", "received"} <= first.keys():
        return remembered
    if first.keys() >= {*remembered.label_fields, *remembered.texts}:
        return replace(remembered, id="id")
    return replace(remembered, id="id", text="text", weights={}, labels="labels", label_columns=())


def _last_versions(corpus: Corpus) -> Corpus:
    """Return the corpus without what was decided anew later, and say how many that are."""
    from deplda.data.versions import last_versions

    kept = last_versions(corpus.ids)
    if len(kept) == len(corpus):
        return corpus
    n = counted(len(corpus) - len(kept), "document")
    note(f"decided on again: {n}; the last decision counts")
    return corpus[kept]


def _check_separator(labels: Iterable[str], classifier: Any, fields: Fields | None) -> None:
    """Raise if new labels are several labels of the model in one string."""
    from deplda.data.readers.separators import USUAL

    known, vocabulary = set(classifier.classes_.tolist()), classifier.vocabulary_

    def is_known(label: str) -> bool:
        return label in known or (vocabulary is not None and bool(vocabulary.find(label)))

    new = [label for label in labels if not is_known(label)]
    for separator in _SEPARATORS:
        parts = {label: [part.strip() for part in label.split(separator)] for label in new}
        joined = [
            label for label in new if len(parts[label]) > 1 and all(map(is_known, parts[label]))
        ]
        if joined:
            current = (fields and fields.separator) or USUAL
            other = current if current != separator else "\\n"
            raise InputError(
                f"{counted(len(joined), 'new label')} would be known labels joined by "
                f"{separator!r}, such as {joined[0]!r}; read them with --separator {separator!r}, "
                f"or learn them as they are with --separator '{other}'"
            )


def _came_in(documents: Corpus, classifier: Any, n_labels: int, n_words: int) -> dict[str, Any]:
    """Return what a model has learned from documents; raise if that is nothing."""
    has_names = hasattr(classifier, "feature_names_in_")
    known = documents.align(classifier.words_) if has_names else documents
    has_words, has_labels = known.document_lengths > 0, documents.labels_per_document > 0
    if not (has_words & has_labels).any():
        raise InputError(
            f"none of {counted(len(documents), 'document')} has both labels and words that are "
            "counted: there is nothing to learn from; see whether --labels-field and --text-field "
            "are right"
        )
    new_labels = classifier.classes_[n_labels : classifier.n_learned_labels_].tolist()
    return {
        "documents": len(documents),
        "without_labels": int((~has_labels).sum()),
        "without_words": int((~has_words).sum()),
        "known_labels": documents.n_labels - len(new_labels),
        "new_labels": new_labels,
        "new_words": classifier.n_features_in_ - n_words,
    }


def _in_words(came_in: dict[str, Any], names: list[str]) -> str:
    """Return what came in as a sentence; new labels are named, since one may be a slip."""
    named = ", ".join(map(repr, names[:_MOST_NAMED])) + (", …" if len(names) > _MOST_NAMED else "")
    return (
        f"learned from {counted(came_in['documents'], 'document')} "
        "({without_labels:,} without labels, {without_words:,} without words): ".format_map(came_in)
        + f"{counted(came_in['known_labels'], 'known label')}, "
        + f"{counted(len(names), 'new one')}{f' ({named})' if names else ''}, "
        + counted(came_in["new_words"], "new word")
    )
