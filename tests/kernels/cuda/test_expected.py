"""Deterministic inference on a GPU against the plain cycle over all labels and the CPU."""

import numpy as np
import pytest

from deplda import Corpus
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels.cuda.device import Gpu
from tests import naive
from tests.kernels.benches import some_label_words, some_topic_labels
from tests.kernels.cuda.emulator import one


@pytest.mark.parametrize("topics", [[], [1], [4], [3, 5]])
@pytest.mark.parametrize("n_labels", [12, 400])
def test_expectations_are_those_of_the_plain_cycle_and_of_the_cpu(
    gpu: Gpu, topics: list[int], n_labels: int
) -> None:
    rng = np.random.default_rng(0)
    label_words = some_label_words(rng, 21, n_labels)
    sets = [some_topic_labels(rng, n_labels, n) for n in topics]
    x = rng.poisson(3, size=(4, 21))
    x[2] = 0
    inference = Inference(8.0, 4.0, 2.0, method="deterministic", tolerance=0.0, max_cycles=6)
    tables = Tables(label_words, sets)
    found = one(x, tables, inference)
    usual = next(infer(Corpus(x, np.zeros((4, n_labels))), tables, inference))
    assert found.counts == pytest.approx(usual.counts, rel=1e-4, abs=1e-7)
    assert found.alpha == pytest.approx(usual.alpha, rel=1e-5)
    assert found.topics == pytest.approx(usual.topics, rel=1e-5)
    if n_labels == 12:
        dense = [s.dense() for s in sets]
        counts, alpha = naive.expected_document(label_words.dense(), dense, x[0], 8.0, 4.0, 2.0, 6)
        assert found.counts[0] == pytest.approx(counts, rel=1e-4)
        assert found.alpha[0] == pytest.approx(alpha, rel=1e-5)
