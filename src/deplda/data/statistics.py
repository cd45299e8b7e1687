"""The statistics of the paper's data-set table, for any corpus."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from deplda.data.corpus import Corpus


def _row(title: str, form: str) -> Any:
    """Return a field with its name in words and how a table shows it."""
    return field(metadata={"title": title, "format": form})


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of the paper's data-set table (its section 4), and document lengths.

    Label frequencies are over the labels that at least one document carries, label sets over the
    documents that carry at least one label; where there is nothing to average the value is NaN.

    Examples
    --------
    >>> import deplda
    >>> found = deplda.describe(deplda.datasets.newsroom(100).corpus)
    >>> found.rows()[0]
    ('documents', '100')
    """

    n_documents: int = _row("documents", ",d")
    n_words: int = _row("word types", ",d")
    n_tokens: int = _row("word tokens", ",d")
    tokens_per_document: float = _row("tokens per document, mean", ",.1f")
    """Mean number of word tokens of a document."""
    median_tokens: float = _row("tokens per document, median", ",.0f")
    n_labels: int = _row("labels", ",d")
    """Labels carried by at least one document."""
    n_labels_unused: int = _row("labels of no document", ",d")
    cardinality: float = _row("labels per document (cardinality)", ".2f")
    """Mean number of labels of a document."""
    density: float = _row("density", ".4f")
    """Cardinality divided by the number of labels."""
    label_frequency_mean: float = _row("documents per label, mean", ",.1f")
    label_frequency_median: float = _row("documents per label, median", ",.0f")
    label_frequency_mode: int | None = _row("documents per label, mode", ",d")
    """The most common frequency, the smallest of several; None if no two labels share one."""
    distinct_label_sets: int = _row("distinct label sets", ",d")
    label_set_frequency: float = _row("documents per label set", ",.2f")
    """Mean number of documents that share a label set."""
    unique_label_sets: float = _row("documents with a unique label set", ".4f")
    """Proportion of documents whose label set no other document has."""

    def to_dict(self) -> dict[str, int | float | None]:
        """Return the statistics by name."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return each statistic's name in words, and its value as a table shows it."""
        values = [(*each.metadata.values(), getattr(self, each.name)) for each in fields(self)]
        return [(title, "–" if v is None else format(v, form)) for title, form, v in values]

    def __rich__(self) -> Table:
        """Return the statistics as a table for ``rich.print``."""
        table = Table("statistic", show_edge=False)
        table.add_column("value", justify="right")
        for row in self.rows():
            table.add_row(*row)
        return table


def describe(corpus: Corpus) -> Statistics:
    """Return the statistics of the corpus.

    Examples
    --------
    >>> import deplda
    >>> found = deplda.describe(deplda.datasets.newsroom(100).corpus)
    >>> found.n_labels, found.label_frequency_median
    (161, 1.0)
    """
    lengths = corpus.document_lengths
    frequencies = corpus.label_counts
    used = frequencies[frequencies > 0]
    sizes = corpus.labels_per_document
    labelled = int(np.count_nonzero(sizes))
    sets = _label_sets(corpus)
    cardinality = _mean(sizes)
    return Statistics(
        n_documents=len(corpus),
        n_words=corpus.n_words,
        n_tokens=corpus.n_tokens,
        tokens_per_document=_mean(lengths),
        median_tokens=_median(lengths),
        n_labels=len(used),
        n_labels_unused=len(frequencies) - len(used),
        cardinality=cardinality,
        density=_ratio(cardinality, len(used)),
        label_frequency_mean=_mean(used),
        label_frequency_median=_median(used),
        label_frequency_mode=_mode(used),
        distinct_label_sets=len(sets),
        label_set_frequency=_ratio(labelled, len(sets)),
        unique_label_sets=_ratio(sum(n == 1 for n in sets.values()), labelled),
    )


def _label_sets(corpus: Corpus) -> Counter[bytes]:
    indices, ends = corpus.labels.indices, corpus.labels.indptr.tolist()
    return Counter(indices[start:end].tobytes() for start, end in pairwise(ends) if end > start)


def _ratio(part: float, n: int) -> float:
    return part / n if n else float("nan")


def _mean(values: npt.NDArray[np.int64]) -> float:
    return _ratio(float(values.sum()), len(values))


def _median(values: npt.NDArray[np.int64]) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _mode(frequencies: npt.NDArray[np.int64]) -> int | None:
    values, times = np.unique(frequencies, return_counts=True)
    if not len(values) or times.max() < 2:
        return None
    return int(values[times.argmax()])
