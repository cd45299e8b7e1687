"""``deplda evaluate`` and ``deplda tune``: how good a model is, and where it is best cut off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, corpus_argument, reading_options
from deplda.cli.external import ExternalFiles, arrays_for, external_options
from deplda.cli.measuring import (
    Measured,
    columns_of,
    in_columns,
    labelled,
    measure,
    opened,
    warn_of_learned,
)
from deplda.cli.options import (
    cutoff_option,
    device_option,
    jobs_option,
    limit_option,
    split_option,
    threshold_option,
)
from deplda.cli.output import (
    as_json,
    check_output,
    force,
    note,
    show,
    show_json,
    waiting,
)
from deplda.data.wording import counted
from deplda.errors import InputError

if TYPE_CHECKING:
    from deplda.evaluation import (
        CutGrid,
        HierarchicalMetrics,
    )
    from deplda.models.suggesting import Asked

_MOST_TRIED = 100


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@corpus_argument
@click.option(
    "--all", "show_all", is_flag=True, help="Print all metrics, and a table by label frequency."
)
@click.option(
    "--by-subject",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a table with a line for each label (TSV), as annif eval does.",
)
@cutoff_option
@limit_option
@threshold_option
@split_option
@jobs_option
@device_option
@click.option(
    "--hierarchical",
    is_flag=True,
    help="Also give credit for broader terms of the model's thesaurus.",
)
@external_options
@reading_options
@force
@as_json
def evaluate(
    model: Path,
    corpus: str,
    show_all: bool,
    by_subject: Path | None,
    cutoff: str | None,
    limit: int | None,
    threshold: float | None,
    split: str,
    jobs: int | None,
    device: str,
    hierarchical: bool,
    external: ExternalFiles,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """Measure how good MODEL is on the labelled documents of CORPUS.

    If CORPUS is a data set with splits, the test part is used. The metrics cover the labels that
    `deplda predict` suggests with the same --cutoff, --limit and --threshold, the best five, and
    the ranking of all labels. A label that the model does not know counts as not found; ranking
    metrics (--all) leave it out. Concepts of the vocabulary without training documents are known
    by name, and count like all others.

    \b
    deplda evaluate model test.jsonl
    deplda evaluate model test.jsonl -k 10 --threshold 0 --by-subject subjects.tsv
    """
    from deplda.models.cutting import read_cutoff
    from deplda.models.suggesting import Asked

    asked = Asked(None if cutoff is None else read_cutoff(cutoff), threshold, limit)
    asked.check()
    if by_subject is not None:
        check_output(by_subject, force)
    classifier = opened(model, jobs, device)
    arrays = arrays_for(classifier, external)
    if hierarchical:
        _check_hierarchy(classifier, model)
    test = labelled(classifier, corpus, reading, split, arrays)
    with waiting(f"evaluating on {counted(len(test), 'document')}"):
        found = measure(classifier, test, asked, arrays)
    near = _near(classifier, found) if hierarchical else None
    if by_subject is not None:
        _write_by_subject(by_subject, classifier, found)
    if as_json:
        told = found.to_dict() | {"by_frequency": found.ranking.by_frequency().to_dict()}
        if near is not None:
            told["hierarchical"] = {"cutoff": _cutoff_of(classifier, asked)} | near.to_dict()
        show_json(told)
        return
    show(str(found.headline))
    if show_all:
        _show_all(found)
    if near is not None:
        show("")
        show(near)
        show(
            f"Labels are given by the {_cutoff_of(classifier, asked)} cut-off; top terms are "
            "credited as all others are."
        )
    if by_subject is not None:
        show(f"{counted(len(found.names), 'label')}: {by_subject}")
    if not show_all:
        note("(--all prints all metrics)")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@corpus_argument
@click.option(
    "--limit",
    "-k",
    type=click.IntRange(1, _MOST_TRIED),
    default=15,
    help="Largest number of labels to try.",
)
@split_option
@jobs_option
@device_option
@external_options
@reading_options
@as_json
def tune(
    model: Path,
    corpus: str,
    limit: int,
    split: str,
    jobs: int | None,
    device: str,
    external: ExternalFiles,
    reading: Reading,
    as_json: bool,
) -> None:
    """Find the limit and the threshold that are best for the labelled documents of CORPUS.

    It tries every number of labels up to --limit with every threshold from 0 to 0.95, as
    `annif optimize` does. The best has the highest F1, averaged over documents. CORPUS must be
    documents that MODEL has not learned from; measure the result on yet other documents.

    \b
    deplda tune model validation.jsonl
    """
    from deplda.evaluation import tune_cut
    from deplda.models.suggesting import WITHOUT_PROBABILITIES, Asked, suggested

    classifier = opened(model, jobs, device)
    arrays = arrays_for(classifier, external)
    if not classifier.has_probabilities:
        raise InputError(f"there is no threshold to find: {WITHOUT_PROBABILITIES}")
    test = labelled(classifier, corpus, reading, split, arrays)
    warn_of_learned(classifier, test)
    names = columns_of(classifier, test)
    usual, best = (
        in_columns(each, classifier, names)
        for each in suggested(
            classifier,
            test if arrays is None else arrays.of_corpus(test, classifier.classes_),
            Asked(),
            Asked(threshold=0.0, k=limit),
        )
    )
    truth = test.align(labels=names).labels
    if not (truth.multiply(best > 0)).nnz:
        raise InputError(
            f"of the labels of {counted(len(test), 'document')}, such as "
            f"{test.label_names[0][:80]!r}, the model suggests none; see whether they are its own"
        )
    grid = tune_cut(best, truth, limits=range(1, limit + 1))
    today = _f1_by_document(usual, truth)
    if as_json:
        show_json(grid.to_dict() | {"f1_by_default": today})
        return
    show(grid)
    show("")
    show(_best_in_words(grid, today))


def _best_in_words(grid: CutGrid, by_default: float) -> str:
    """Return which options are best, ready to be pasted."""
    from deplda.evaluation.frames import percent

    def told(measure: str, name: str, then: str = "") -> str:
        best = grid.best(measure)
        options = f"{then}-k {best.limit} --threshold {best.threshold:g}"
        return f"Best {name}, {percent(best.value)} %: {options}"

    f1 = f"{told('f1', 'F1 (mean of documents)', 'predict with ')}."
    if grid.best("f1").value <= by_default:
        f1 = f"{told('f1', 'F1 (mean of documents)')}, no better than without options."
    return "\n".join(
        (
            f1,
            f"Without options: {percent(by_default)} %.",
            f"{told('precision', 'precision')}.",
            f"{told('recall', 'recall')}.",
            "Choose by documents that the model has not learned from, as these must be; how good",
            "the choice is, others again say: deplda evaluate with the same options.",
        )
    )


def _f1_by_document(suggestions: Any, truth: Any) -> float:
    from deplda.evaluation import suggestion_metrics

    return suggestion_metrics(suggestions, truth)["document_f1"]


def _near(model: Any, found: Measured) -> HierarchicalMetrics:
    """Return how near the labels that documents are given come to theirs."""
    from deplda.evaluation import hierarchical_metrics

    broader = model.vocabulary_.hierarchy.copy()
    broader.resize((len(found.names), len(found.names)))
    return hierarchical_metrics(found.suggestions > 0, found.truth, broader)


def _check_hierarchy(classifier: Any, path: Path) -> None:
    """Raise, before any work is done, if the model knows no broader terms."""
    known = classifier.vocabulary_
    if known is None or not known.hierarchy.nnz:
        lacks = "no vocabulary" if known is None else "a vocabulary without broader terms"
        raise InputError(
            f"--hierarchical credits broader terms, but {path} has {lacks}; train it with "
            "--vocabulary and a SKOS file (.ttl or .rdf) that has them"
        )


def _cutoff_of(model: Any, asked: Asked) -> str:
    """Return the cut-off's name, as people are told it."""
    if not model.has_probabilities:
        return str(asked.cutoff or ("proportional" if asked.k is None else "best by score"))
    return str(asked.cutoff or ("validated" if asked.threshold is None else asked.threshold))


def _show_all(found: Measured) -> None:
    """Print the metrics of what is given and of the ranking, and rare labels apart."""
    for part in (found.given, found.ranking, found.ranking.by_frequency()):
        show("")
        show(part)
    if found.ranking.n_unseen:
        show(
            f"\n{counted(found.ranking.n_unseen, 'time')} a document has a label that the model "
            "does not know."
        )


def _write_by_subject(path: Path, model: Any, found: Measured) -> None:
    from deplda.data.atomic import write_whole
    from deplda.evaluation.suggestions import subject_lines

    shown = [str(model.told_label(name)["label"]) for name in found.names]
    with write_whole(path) as file:
        for line in subject_lines(found.given.labels, found.names, shown):
            file.write(line.encode() + b"\n")
