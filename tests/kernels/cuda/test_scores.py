"""Scores on a GPU are those of N and α′ as fetched, and the best of them the head of a sort."""

from typing import Any

import numpy as np
import pytest

from deplda import Corpus, Schedule
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.scores import scores
from deplda.inference.settings import COMBINES, METHODS, Inference
from deplda.kernels.cuda.device import Gpu
from tests.inference.inferred import score_matrix
from tests.kernels.benches import some_label_words, some_topic_labels


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("combine", COMBINES)
def test_scores_are_those_of_what_is_inferred(gpu: Gpu, method: Any, combine: Any) -> None:
    rng = np.random.default_rng(0)
    tables = Tables(some_label_words(rng, 20, 301), [some_topic_labels(rng, 300, 4)], 0.2)
    documents = rng.poisson(0.8, size=(7, 20)) * (np.arange(7) != 2)[:, None]
    corpus = Corpus(documents, np.zeros((7, 300)))
    inference = Inference(
        5.0, 2.0, 1.0, method=method, combine=combine, n_label_tokens=20, schedule=Schedule(3, 2, 1)
    )
    inferred = next(infer(corpus, tables, inference, device="cuda"))
    found = score_matrix(corpus, tables, inference, device="cuda")
    assert found == pytest.approx(scores(inferred, combine, 300), rel=1e-12)
