"""Training φ: each kernel against its twin, enumeration and Geweke's test; mistakes are found."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from deplda.kernels import train_words as words
from tests import naive
from tests.kernels.checks import Array, Kernel, geweke_scores, mutant, p_value
from tests.kernels.worlds import WordWorld, corpus_of, layout_of, random_documents


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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("background", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_the_expectation_pass_is_its_twin(seed: int, background: float, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.3, 0.5, 1.0], 10) if weighted else np.ones(10)
    documents = random_documents(rng, 10, 8, 5, length=15)
    world = WordWorld(corpus_of(documents, 8, 5), eta=2.0, beta=0.1)
    layout = world.layout
    shares = np.empty(len(layout.cells), dtype=np.float32)
    cell_counts, label_counts = np.empty(len(layout.cell_words)), np.empty(5)
    words.expected_start(layout, weights, shares, cell_counts, label_counts)
    for _ in range(4):
        words.expect(
            layout, world.swept, weights, shares, cell_counts, label_counts, 2.0, 0.1, 8, background
        )
    expected = naive.expected_words(
        documents, 2.0, 0.1, 8, 5, n_sweeps=4, background=background, own_weights=weights.tolist()
    )
    for c in range(5):
        own = slice(layout.cell_starts[c], layout.cell_starts[c + 1])
        found = np.zeros(8)
        found[layout.cell_words[own]] = cell_counts[own]
        assert found == pytest.approx(np.array(expected[c]), abs=1e-5)  # shares are float32
    assert label_counts == pytest.approx(np.array(expected).sum(axis=1), abs=1e-5)


WORD_DOCUMENTS: naive.Documents = [([0, 0, 1], [0, 1, 2]), ([1, 2], [0, 2]), ([2], [1])]
WRONG_WORDS = [
    ("n_cd[old] - 1 + alpha", "n_cd[old] + alpha"),
    ("n_c[old] - 1 + w_beta", "n_c[old] + w_beta"),
    ("cell_counts[layout.cells[row + old]] -= 1\n", "cell_counts[layout.cells[row + old]] -= 0\n"),
    ("alpha = eta / n_labels", "alpha = eta"),
    ("range(n_labels - 1)", "range(n_labels - 2)"),
]


def word_p_value(sweep: Kernel, n: int = 30_000, thin: int = 4) -> float:
    eta, beta = 1.5, 0.4
    world = WordWorld(corpus_of(WORD_DOCUMENTS, 3, 3), eta, beta, seed=11, sweep=sweep)
    ranges = [range(len(own)) for tokens, own in WORD_DOCUMENTS for _ in tokens]
    log_weights = {}
    for state in product(*ranges):
        z = [list(state[0:3]), list(state[3:5]), list(state[5:6])]
        log_weights[state] = naive.word_log_likelihood(WORD_DOCUMENTS, z, eta, beta, 3, 3)
    counts: Counter[tuple[int, ...]] = Counter()
    for number in range(1, n * thin + 1):
        world.sweep(number)
        if number % thin == 0:
            counts[tuple(world.z.tolist())] += 1
    return p_value(counts, log_weights)


def test_the_word_chain_visits_every_state_as_often_as_it_should() -> None:
    assert word_p_value(words.sweep) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_WORDS)
def test_enumeration_finds_a_wrong_word_kernel(right: str, wrong: str) -> None:
    assert word_p_value(mutant(words.sweep, right, wrong), n=10_000) < 1e-6


LABEL_SETS = [[0, 1], [1, 2], [0, 1, 2], [2]]
LENGTH = 5
ETA, BETA, N_WORDS = 1.2, 0.5, 4


def words_given_z(rng: np.random.Generator, z: list[list[int]]) -> list[list[int]]:
    """Draw φ | nothing but z's sizes, i.e. from its prior, then the words: P(w | z)."""
    phi = rng.dirichlet([BETA] * N_WORDS, size=3)
    return [
        [int(rng.choice(N_WORDS, p=phi[own[k]])) for k in places]
        for own, places in zip(LABEL_SETS, z, strict=True)
    ]


def word_moments(z: list[list[int]], tokens: list[list[int]]) -> list[float]:
    labels_of = [[own[k] for k in places] for own, places in zip(LABEL_SETS, z, strict=True)]
    pairs = Counter(
        (w, c)
        for ws, cs in zip(tokens, labels_of, strict=True)
        for w, c in zip(ws, cs, strict=True)
    )
    totals = Counter(c for cs in labels_of for c in cs)
    return [
        sum(n * n for n in pairs.values()),
        sum(n * n for n in totals.values()),
        pairs[0, 1],
        pairs[0, 1] ** 2,
        totals[2],
        float(np.mean([len(set(places)) for places in z])),
        sum(places.count(0) ** 2 for places in z),
    ]


def word_geweke(sweep: Kernel, n: int = 4_000) -> Array:
    rng = np.random.default_rng(3)

    def prior() -> list[list[int]]:
        return [
            rng.choice(len(own), LENGTH, p=rng.dirichlet([ETA / len(own)] * len(own))).tolist()
            for own in LABEL_SETS
        ]

    direct = []
    for _ in range(n):
        z = prior()
        direct.append(word_moments(z, words_given_z(rng, z)))
    z, chain = prior(), []
    for number in range(n):
        tokens = words_given_z(rng, z)
        order = [np.argsort(ws, kind="stable") for ws in tokens]
        documents = [
            ([ws[i] for i in o], own) for ws, o, own in zip(tokens, order, LABEL_SETS, strict=True)
        ]
        world = WordWorld(corpus_of(documents, N_WORDS, 3), ETA, BETA, seed=9, sweep=sweep)
        sorted_z = [[places[i] for i in o] for places, o in zip(z, order, strict=True)]
        world.z[:] = [k for places in sorted_z for k in places]
        world.tally()
        world.sweep(number + 1)
        z = world.places()
        chain.append(word_moments(z, [tokens for tokens, _ in documents]))
    return geweke_scores(direct, chain)


@pytest.mark.slow
def test_the_word_chain_passes_gewekes_test() -> None:
    assert np.abs(word_geweke(words.sweep)).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), [WRONG_WORDS[0], WRONG_WORDS[2]])
def test_gewekes_test_finds_a_wrong_word_kernel(right: str, wrong: str) -> None:
    assert np.abs(word_geweke(mutant(words.sweep, right, wrong), n=2_000)).max() > 5


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_changes_of_several_shards_are_added_up(dtype: type) -> None:
    rng = np.random.default_rng(0)
    before: Array = (10 * rng.random(20)).astype(dtype)
    counts, has_changed = before.copy(), np.zeros(20, bool)
    changes: list[list[float]] = [[] for _ in before]
    for _ in range(3):
        where = np.sort(rng.choice(20, 12, replace=False))
        values = before[where] + np.where(rng.random(12) < 0.5, 10 * rng.random(12), 0)
        values = values.astype(dtype)
        words.add_changes(counts, before, has_changed, where, values)
        for place, value in zip(where.tolist(), values, strict=True):
            if value != before[place]:
                changes[place].append(value)
    for place, own in enumerate(changes):
        first = own[0] if own else before[place]
        assert counts[place] == first + sum(value - before[place] for value in own[1:])
    assert max(map(len, changes)) > 1
