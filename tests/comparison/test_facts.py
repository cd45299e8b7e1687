"""The description of the data."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from deplda import Corpus
from deplda.comparison import Comparison
from deplda.comparison.facts import describe_data, statistics_of
from deplda.data.datasets import Dataset, load_own
from deplda.data.splits import Split


def test_the_sizes_are_those_of_the_split(small: Comparison) -> None:
    labels = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]]
    corpus = Corpus([[2, 1], [0, 3], [1, 1], [5, 0]], labels, ["a", "b"], ["x", "y", "z"])
    data = Dataset("tiny", corpus, (Split(np.arange(3), np.array([3])),))
    facts = describe_data(data, small, 0)
    assert (facts.split, facts.n_train, facts.n_test) == (0, 3, 1)
    assert statistics_of(facts).n_documents == 4


def test_the_text_of_the_explained_document_is_stored_and_a_long_one_is_cut(
    small: Comparison, tmp_path: Path
) -> None:
    long = "The judges met. " * 600
    rows = [
        {"text": "A judge in court", "labels": ["x"]},
        {"text": long, "labels": ["x", "y", "z"]},
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    data = replace(load_own(path), splits=(Split(np.array([0]), np.array([1])),), generated=True)
    facts = describe_data(data, small, 0)
    assert facts.generated
    assert facts.document is not None
    assert facts.document.id == "1"
    assert not facts.document.is_whole
    text = facts.document.text
    assert 5_900 < len(text) <= 6_000
    assert long.startswith(text)
    begin, end, word = facts.document.spans[0]
    assert (text[begin:end], word) == ("judges", "judges")
    plain = describe_data(replace(data, counter=None), small, 0).document
    assert plain is not None
    assert plain.text == text
    assert describe_data(replace(data, texts=()), small, 0).document is None
