"""Fast inference over all labels against its twin: the same draws, bit for bit."""

import numpy as np
import pytest

from deplda import Corpus, Schedule
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels import random
from tests import naive
from tests.kernels.benches import some_label_words, some_topic_labels


@pytest.mark.parametrize("n_topics", [1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_a_chain_is_its_twin(seed: int, n_topics: int) -> None:
    rng = np.random.default_rng(seed)
    label_words, topics = some_label_words(rng, 15, 6), some_topic_labels(rng, 6, n_topics)
    x = rng.poisson(1, size=15)
    inference = Inference(9.0, 3.0, 2.0, n_chains=1, schedule=Schedule(7))
    corpus = Corpus(x[None], np.zeros((1, 6)))
    found = next(infer(corpus, Tables(label_words, [topics]), inference, seed=seed))
    key, gamma = random.stream(seed, random.DOCUMENT, 0)
    types = np.flatnonzero(x)
    own = int(key) ^ naive.document_key(types.tolist(), x[types].tolist())
    z, z_topic, prior = naive.fast_inference(
        label_words.dense().tolist(), topics.dense().tolist(), np.repeat(types, x[types]).tolist(),
        9.0, 3.0 / 6, 2.0 / n_topics, 7, (own, int(gamma)),
    )  # fmt: skip
    assert found.counts[0].tolist() == np.bincount(z, minlength=6).tolist()
    tokens = np.bincount(z_topic, minlength=n_topics)
    assert found.topics[0] == pytest.approx((tokens + 2.0 / n_topics) / (x.sum() + 2.0))
    assert found.alpha[0] == pytest.approx(prior)
