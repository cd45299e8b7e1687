"""A model on labelled documents: what it gives them, how it ranks, and what it knows already."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deplda.cli.documents import Reading, load_corpus, part_of
from deplda.cli.output import saved_model
from deplda.cli.thesaurus import as_the_model_has_them
from deplda.data.wording import counted
from deplda.errors import InputError

if TYPE_CHECKING:
    from deplda.cli.external import ExternalArrays
    from deplda.data.corpus import Corpus
    from deplda.evaluation import Evaluation, Headline, SuggestionMetrics
    from deplda.models.suggesting import Asked, Suggested

_BEST = 5


def opened(path: Path, jobs: int | None, device: str) -> Any:
    """Return a saved model that works on so many cores, or on a device."""
    verbose = sys.stderr.isatty()
    return saved_model(path).set_params(n_jobs=jobs, device=device, verbose=verbose)


def labelled(
    classifier: Any, corpus: str, reading: Reading, split: str, arrays: ExternalArrays | None = None
) -> Corpus:
    """Return the labelled documents of a corpus, or of the test part of a data set."""
    from deplda.data.text import CountsOnly

    counter = classifier.counter_ or CountsOnly()
    loaded = load_corpus(corpus, reading, counter, classifier.fields_)
    if arrays is not None:
        arrays.number(loaded.corpus.ids)
    test = part_of(loaded, split, "test")
    if not test.labels.nnz:
        raise InputError(
            f"none of {counted(len(test), 'document')} of {corpus} has a label to compare with; "
            "see whether --labels-field is right"
        )
    if classifier.vocabulary_ is not None:
        test = as_the_model_has_them(test, classifier)
    return test


class Measured(NamedTuple):
    """A model on labelled documents: what it gives, and how it ranks."""

    ranking: Evaluation
    given: SuggestionMetrics
    best: SuggestionMetrics
    headline: Headline
    n_learned: int
    names: list[str]
    """The labels of the columns, and which of them documents were given and have."""
    suggestions: Suggested
    truth: Any

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics by name."""
        return self.ranking.to_dict() | {
            "suggestions": self.given.to_dict(),
            f"best_{self.best.limit}": self.best.to_dict(),
            "headline": self.headline.to_dict(),
            "n_learned_from": self.n_learned,
        }


def measure(
    model: Any,
    test: Corpus,
    asked: Asked | None = None,
    arrays: ExternalArrays | None = None,
) -> Measured:
    """Return how good a model is on labelled documents, and warn if it has learned from them.

    `arrays` are the external arrays of the documents.
    """
    import numpy as np

    from deplda.evaluation import headline, rare_labels, suggestion_metrics
    from deplda.models.suggesting import Asked, suggested

    asked = asked or Asked()
    n_learned = warn_of_learned(model, test)
    documents: Any = test if arrays is None else arrays.of_corpus(test, model.classes_)
    ranking, names = _ranking_of(model, test, documents), columns_of(model, test)
    truth = test.align(labels=names).labels
    some = Asked(threshold=0.0 if model.has_probabilities else None, k=_BEST)
    given, best = (
        in_columns(each, model, names) for each in suggested(model, documents, asked, some)
    )
    n_trained = np.bincount(model.label_sets_.indices, minlength=len(model.classes_))
    trained = np.full(len(names), -1)
    trained[_places(model, names)] = np.where(model.is_known_, n_trained, -1)
    of_given, of_best = (
        suggestion_metrics(given, truth), suggestion_metrics(best, truth, limit=_BEST)
    )  # fmt: skip
    found = headline(
        ranking, of_given, of_best, rare_labels(given, truth, trained),
        n_unknown=int(truth[:, trained < 0].nnz),
        n_by_name=int(np.count_nonzero(truth[:, trained == 0].sum(axis=0))),
        asked=_as_options(asked),
    )  # fmt: skip
    return Measured(ranking, of_given, of_best, found, n_learned, names, given, truth)


def _ranking_of(model: Any, test: Corpus, documents: Any) -> Evaluation:
    """Return the metrics of a model's ranking of labelled documents."""
    from dataclasses import replace

    from deplda.evaluation import evaluate

    names = [str(label) for label in model.classes_]
    known = test.align(labels=names)
    found = evaluate(
        model.scores_to_evaluate(documents),
        known.labels,
        model.label_sets_,
        labels="train" if model.n_learned_labels_ == len(names) else "all",
        label_names=names,
        ids=test.ids,
    )
    return replace(found, n_unseen=found.n_unseen + int(test.labels.nnz - known.labels.nnz))


def columns_of(model: Any, test: Corpus) -> list[str]:
    """Return all labels there are: a vocabulary's concepts, then the model's, then the documents'.

    What stands above a label in a vocabulary may be no label of the model, and a document's label
    may be one that it has never seen. A deprecated concept is there only if one of these has it:
    Annif is given none, and averages over labels are over the same ones there.
    """
    concepts = [each.uri for each in model.vocabulary_ or () if not each.deprecated]
    return list(dict.fromkeys([*concepts, *map(str, model.classes_), *test.label_names]))


def _places(model: Any, names: list[str]) -> Any:
    """Return the columns of the model's labels."""
    import numpy as np

    place = {name: column for column, name in enumerate(names)}
    return np.array([place[str(label)] for label in model.classes_])


def in_columns(suggestions: Suggested, model: Any, names: list[str]) -> Any:
    """Return what documents are given, in the columns of all labels."""
    from deplda.data.corpus import map_columns

    return map_columns(suggestions, _places(model, names), len(names))


def warn_of_learned(model: Any, test: Corpus) -> int:
    """Return how many of the documents the model has learned from; warn if there are any."""
    from deplda.models.learned_from import warn_of

    n_learned = int(model.learned_from(test).sum())
    warn_of(n_learned, len(test))
    return n_learned


def _as_options(asked: Asked) -> str:
    """Return what is asked as one would ask `deplda predict`."""
    given = {"--cutoff": asked.cutoff, "-k": asked.k, "--threshold": asked.threshold}
    parts = [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in given.items()
        if value is not None
    ]
    return " ".join(["predict", *parts])
