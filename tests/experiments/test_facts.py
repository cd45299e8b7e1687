"""What is said of the data: counted on a split's training part."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from deplda import Corpus
from deplda.data.datasets import Dataset, load_own
from deplda.data.splits import Split
from deplda.experiments.facts import data_facts
from deplda.experiments.protocol import Experiment


def test_facts_are_counted_on_the_training_part(small: Experiment) -> None:
    labels = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]]
    corpus = Corpus([[2, 1], [0, 3], [1, 1], [5, 0]], labels, ["a", "b"], ["x", "y", "z"])
    data = Dataset("tiny", corpus, (Split(np.arange(3), np.array([3])),))
    facts = data_facts(data, small, 0)
    assert (facts.split, facts.n_train, facts.n_test) == (0, 3, 1)
    assert facts.statistics["n_documents"] == 4
    assert facts.labels_by_frequency == [(1, 1), (3, 1)]
    assert facts.documents_by_labels == [(1, 2), (2, 1)]
    assert facts.shown_labels == {"x": 3, "y": 1}
    assert facts.n_training_words == 2
    fewer = msgspec.structs.replace(small, min_count=4)
    assert data_facts(data, fewer, 0).n_training_words == 1


def test_the_text_of_the_explained_document_is_kept_long_ones_in_part(
    small: Experiment, tmp_path: Path
) -> None:
    long = "The judges met. " * 600
    rows = [
        {"text": "A judge in court", "labels": ["x"]},
        {"text": long, "labels": ["x", "y", "z"]},
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    data = replace(load_own(path), splits=(Split(np.array([0]), np.array([1])),), generated=True)
    facts = data_facts(data, small, 0)
    assert facts.generated
    assert facts.document is not None
    assert facts.document.id == "1"
    assert not facts.document.is_whole
    text = facts.document.text
    assert 5_900 < len(text) <= 6_000
    assert long.startswith(text)
    begin, end, word = facts.document.spans[0]
    assert (text[begin:end], word) == ("judges", "judges")
    plain = data_facts(replace(data, counter=None), small, 0).document
    assert plain is not None
    assert plain.text == text
    bare = replace(data, texts=())
    assert data_facts(bare, small, 0).document is None
