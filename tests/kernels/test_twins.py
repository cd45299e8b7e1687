"""Each kernel against its slow twin: the same draws give the same state, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda.kernels import random
from deplda.kernels import train_labels as labels
from deplda.kernels import train_words as words
from tests import naive
from tests.kernels.worlds import TopicWorld, WordWorld, corpus_of, layout_of, random_documents


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1), st.integers(0, 2**48))
@settings(derandomize=True, deadline=None)
def test_uniform_is_its_twin(key: int, half_gamma: int, counter: int) -> None:
    gamma = 2 * half_gamma + 1
    drawn = random.uniform(np.uint64(key), np.uint64(gamma), counter)
    assert drawn == naive.uniform(key, gamma, counter)
    assert 0 < drawn < 1


def test_streams_differ_by_seed_purpose_and_number() -> None:
    streams = [random.stream(s, p, n) for s in (0, 1) for p in (1, 2) for n in (0, 1)]
    firsts = {tuple(int(word) for word in stream) for stream in streams}
    assert len(firsts) == 8
    assert all(int(stream[1]) % 2 == 1 for stream in streams)


def test_uniform_is_uniform() -> None:
    key, gamma = random.stream(7, 1, 3)
    drawn = np.array([random.uniform(key, gamma, n) for n in range(100_000)])
    observed, _ = np.histogram(drawn, bins=100, range=(0, 1))
    chi_square = ((observed - 1_000) ** 2 / 1_000).sum()
    assert 60 < chi_square < 149  # 99 degrees of freedom: outside once in a thousand
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("seed", range(6))
def test_the_layout_finds_every_pair_that_meets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corpus = corpus_of(random_documents(rng, 9, 11, 6), 11, 6)
    layout = layout_of(corpus)
    meet = (corpus.labels.T.astype(int) @ corpus.counts.astype(int)).tocsr()
    meet.sort_indices()
    assert layout.cell_starts.tolist() == meet.indptr.tolist()
    assert layout.cell_words.tolist() == meet.indices.tolist()
    for d in range(len(corpus)):
        types = corpus.counts[[d]].indices
        own = corpus.labels[[d]].indices
        grid = layout.cells[layout.grid_starts[d] : layout.grid_starts[d + 1]]
        for (i, w), (j, c) in ((a, b) for a in enumerate(types) for b in enumerate(own)):
            cell = grid[i * len(own) + j]
            assert layout.cell_words[cell] == w
            assert layout.cell_starts[c] <= cell < layout.cell_starts[c + 1]


@pytest.mark.parametrize("seed", range(6))
def test_the_word_sweep_is_its_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, 12, 9, 6, length=20)
    world = WordWorld(corpus_of(documents, 9, 6), eta=2.0, beta=0.1, seed=seed)
    stream = (int(world.key), int(world.gamma))
    for number in range(1, 6):
        expected = naive.word_sweep(
            documents, world.places(), 2.0, 0.1, 9, stream, number * len(world.z)
        )
        world.sweep(number)
        assert world.places() == expected
    swept = world.cell_counts.tolist(), world.label_counts.tolist()
    world.tally()
    assert swept == (world.cell_counts.tolist(), world.label_counts.tolist())


def test_a_sweep_in_pieces_is_the_same_sweep() -> None:
    rng = np.random.default_rng(1)
    corpus = corpus_of(random_documents(rng, 40, 9, 6), 9, 6)
    whole, pieces = (WordWorld(corpus, 1.0, 0.1) for _ in range(2))
    whole.sweep(1)
    documents = pieces.swept
    for piece in np.array_split(documents, 5):
        pieces.swept = piece
        pieces.sweep(1)
    assert whole.z.tolist() == pieces.z.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_the_word_log_likelihood_is_its_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, 10, 7, 5)
    documents.append(([3] * 700, [1]))  # more than the table of small counts holds
    world = WordWorld(corpus_of(documents, 7, 5), eta=3.0, beta=0.2, seed=seed)
    places = [p if labels else [] for p, (_, labels) in zip(world.places(), documents, strict=True)]
    labelled = [(tokens if own else [], own) for tokens, own in documents]
    expected = naive.word_log_likelihood(labelled, places, 3.0, 0.2, 7, 5)
    assert world.log_likelihood() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("background", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_the_expectation_pass_is_its_twin(seed: int, background: float) -> None:
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, 10, 8, 5, length=15)
    world = WordWorld(corpus_of(documents, 8, 5), eta=2.0, beta=0.1)
    layout = world.layout
    shares = np.empty(len(layout.cells), dtype=np.float32)
    cell_counts, label_counts = np.empty(len(layout.cell_words)), np.empty(5)
    words.expected_start(layout, shares, cell_counts, label_counts)
    for _ in range(4):
        words.expect(
            layout, world.swept, shares, cell_counts, label_counts, 2.0, 0.1, 8, background
        )
    expected = naive.expected_words(documents, 2.0, 0.1, 8, 5, n_sweeps=4, background=background)
    for c in range(5):
        own = slice(layout.cell_starts[c], layout.cell_starts[c + 1])
        found = np.zeros(8)
        found[layout.cell_words[own]] = cell_counts[own]
        assert found == pytest.approx(np.array(expected[c]), abs=1e-5)  # shares are float32
    assert label_counts == pytest.approx(np.array(expected).sum(axis=1), abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_topic_sweep_is_its_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, 30, 2, 7)
    own = [labels for _, labels in documents]
    world = TopicWorld(corpus_of(documents, 2, 7), 4, gamma=0.3, beta=0.2, seed=seed)
    stream = (int(world.key), int(world.gamma))
    z = world.places()
    topics = naive.Topics(7, 4)
    for labels_of, topics_of in zip(own, z, strict=True):
        for c, t in zip(labels_of, topics_of, strict=True):
            topics.add(c, t)
    for number in range(1, 8):
        world.sweep(number)
        naive.topic_sweep(own, z, topics, 0.3, 0.2, stream, number * len(world.z))
        assert world.places() == z
        assert world.topics.topic_counts.tolist() == topics.total
        for c in range(7):
            first = world.topics.slot_starts[c]
            slots = world.topics.slots.reshape(-1, 2)[first : first + world.topics.used[c]]
            assert slots.tolist() == topics.of[c]


@pytest.mark.parametrize("seed", range(4))
def test_the_topic_log_likelihood_is_its_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, 12, 2, 6)
    world = TopicWorld(corpus_of(documents, 2, 6), 5, gamma=0.3, beta=0.2, seed=seed)
    found = labels.log_likelihood(world.starts, world.labels, world.z, world.topics, 0.3, 0.2)
    own = [labels for _, labels in documents]
    expected = naive.topic_log_likelihood(own, world.places(), 0.3, 0.2, 6, 5)
    assert found == pytest.approx(expected, rel=1e-12)
