"""Describe the data of a comparison for its report, which may be read without the data."""

from __future__ import annotations

import math

from deplda.comparison.comparison import Comparison
from deplda.comparison.results import DataFacts, ShownText
from deplda.comparison.unit import parts_of, shown_row
from deplda.data.datasets import Dataset
from deplda.data.statistics import Statistics, describe
from deplda.data.text import WordCounter

_MOST_CHARACTERS = 6_000
"""Of the explained document; a longer one is cut."""


def describe_data(data: Dataset, comparison: Comparison, split: int) -> DataFacts:
    """Return the statistics of the corpus, the sizes of a split, and the explained document."""
    part = data.splits[split]
    _, test = parts_of(data, split, comparison.min_count)
    return DataFacts(
        statistics=describe(data.corpus).to_dict(),
        split=split,
        n_train=len(part.train),
        n_test=len(part.test),
        generated=data.generated,
        document=_shown_text(data, int(part.test[shown_row(test)])),
    )


def statistics_of(facts: DataFacts) -> Statistics:
    """Return the statistics; JSON stores NaN as None."""
    stored: dict[str, int | float | None] = dict.fromkeys(facts.statistics, math.nan)
    stored |= {name: value for name, value in facts.statistics.items() if value is not None}
    stored["label_frequency_mode"] = facts.statistics["label_frequency_mode"]  # None is none
    return Statistics(**stored)  # type: ignore[arg-type]  # written from a Statistics


def _shown_text(data: Dataset, row: int) -> ShownText | None:
    if not data.texts:
        return None
    counter = data.counter or WordCounter(language=None, stop_words=None).with_words(
        data.corpus.vocabulary
    )
    text = data.texts[row]
    end = len(text)
    if end > _MOST_CHARACTERS:
        end = max(text.rfind(" ", 0, _MOST_CHARACTERS), _MOST_CHARACTERS // 2)
    spans = [span for span in counter.spans(text[:end]) if span[1] <= end]
    return ShownText(data.corpus.ids[row], text[:end], spans, end == len(text))
