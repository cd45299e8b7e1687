import io
import math
from pathlib import Path

import numpy as np
import pytest
from paper.data import load
from rich.console import Console

from deplda import Corpus, describe


def shown(value: object) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(value)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_figures_are_those_of_a_hand_count() -> None:
    labels = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    figures = describe(Corpus(np.diag([1, 2, 3, 4, 0]), labels)).to_dict()
    assert figures == {
        "n_documents": 5,
        "n_words": 5,
        "n_tokens": 10,
        "tokens_per_document": 2.0,
        "median_tokens": 2.0,
        "n_labels": 3,
        "n_labels_unused": 1,
        "cardinality": pytest.approx(6 / 5),
        "density": pytest.approx(6 / 5 / 3),
        "label_frequency_mean": 2.0,
        "label_frequency_median": 2.0,
        "label_frequency_mode": None,
        "distinct_label_sets": 3,
        "label_set_frequency": pytest.approx(4 / 3),
        "unique_label_sets": pytest.approx(2 / 4),
    }


def test_the_mode_is_the_smallest_of_the_most_common_frequencies() -> None:
    labels = [[1, 1, 1, 1, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]
    assert describe(Corpus(np.ones((3, 1)), labels)).label_frequency_mode == 1


def test_a_corpus_without_labels_or_documents_has_no_averages() -> None:
    unlabelled = describe(Corpus([[1]], np.zeros((1, 2))))
    assert (unlabelled.n_labels, unlabelled.n_labels_unused, unlabelled.cardinality) == (0, 2, 0.0)
    assert math.isnan(unlabelled.label_frequency_median)
    empty = describe(Corpus(np.zeros((0, 3)), np.zeros((0, 2))))
    assert math.isnan(empty.tokens_per_document)
    assert "nan" in shown(empty)


def test_the_table_names_every_figure() -> None:
    figures = describe(Corpus([[1]], [[1]]))
    assert shown(figures).count("│") == len(figures.to_dict())
    assert "documents per label, mode" in shown(figures)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("yahoo-arts", [19, 7441, 1.6, 0.0855, 636, 530, None, 527, 14.1, 0.0406]),
        ("yahoo-health", [14, 9109, 1.6, 0.1149, 1047, 500, None, 241, 37.8, 0.0113]),
    ],
)
def test_the_papers_table_comes_out(name: str, expected: list[float], data_dir: Path) -> None:
    figures = describe(load(name, data_dir).corpus)
    assert [
        figures.n_labels,
        figures.n_documents,
        round(figures.cardinality, 1),
        round(figures.density, 4),
        round(figures.label_frequency_mean),
        round(figures.label_frequency_median),
        figures.label_frequency_mode,
        figures.distinct_label_sets,
        round(figures.label_set_frequency, 1),
        round(figures.unique_label_sets, 4),
    ] == expected
