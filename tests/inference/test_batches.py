"""Documents batch by batch: rankings, score matrices, words of labels, and what cannot be."""

from typing import Any

import numpy as np
import pytest

from deplda import Corpus, InputError
from deplda.inference.batches import attribute, infer, rank, score_matrix
from deplda.inference.settings import Inference
from tests.inference.worlds import MODELS, News


def test_a_ranking_is_the_head_of_the_sorted_scores(
    news: News, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, test = news
    inference = Inference(**MODELS["dependency"], method="deterministic")
    matrix = score_matrix(test, tables["dependency"], inference)
    monkeypatch.setattr("deplda.inference.cpu._BATCH_DOCUMENTS", 7)
    batches = list(rank(test, tables["dependency"], inference, 5, n_jobs=2))
    assert {len(batch.labels) for batch in batches} == {7, len(test) % 7}
    labels, values = (np.vstack(parts) for parts in zip(*batches, strict=True))
    assert (labels == np.argsort(-matrix, axis=1, kind="stable")[:, :5]).all()
    assert (values == np.take_along_axis(matrix, labels, axis=1)).all()


def test_no_documents_give_no_scores(news: News) -> None:
    tables, test = news
    inference = Inference(0.0, 9.0, 1.0)
    assert score_matrix(test[:0], tables["flat"], inference).shape == (0, test.n_labels)
    assert list(rank(test[:0], tables["flat"], inference, 3)) == []


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[0, 1]], r"labels have the shape \(1, 2\); 2 documents need a row each"),
        ([[0, 1], [2, 9999]], "labels go from 0 to 9999; the model's are 0 to"),
        ([[0, 1], [2, 2]], "must differ from each other"),
    ],
)
def test_words_are_given_to_labels_that_exist(news: News, labels: Any, message: str) -> None:
    tables, test = news
    with pytest.raises(InputError, match=message):
        list(attribute(test[:2], tables["flat"], Inference(0.0, 9.0, 1.0), labels))


def test_a_matrix_too_large_is_refused(news: News, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, test = news
    monkeypatch.setattr("deplda.inference.batches.MATRIX_CELLS", 1_000)
    with pytest.raises(InputError, match=r"150 documents × .* labels would take .* best labels"):
        score_matrix(test, tables["flat"], Inference(0.0, 9.0, 1.0))
    with pytest.raises(InputError, match="k is 0"):
        rank(test, tables["flat"], Inference(0.0, 9.0, 1.0), 0)


def test_progress_is_told(news: News, capsys: pytest.CaptureFixture[str]) -> None:
    tables, test = news
    list(rank(test, tables["flat"], Inference(0.0, 9.0, 1.0), 3, progress=True))
    assert "inferring labels of 150 documents" in capsys.readouterr().err


def test_words_must_be_those_of_the_model(news: News) -> None:
    other = Corpus([[1, 2]], [[1]])
    with pytest.raises(InputError, match=r"2 words but the model [\d,]+; align it"):
        infer(other, news[0]["flat"], Inference(1.0, 1.0, 1.0))
