"""Shortlists and the SVMs that learn from them, against dense algebra and plain Python."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, random_array
from sklearn.svm import LinearSVC

from deplda import Corpus
from deplda.kernels import shortlists as kernels
from deplda.training.word_chain import lay_out

shortlists: Any = kernels
Array = np.ndarray[Any, Any]

N_ROWS, N_WORDS = 40, 25


def arrays(matrix: Any) -> tuple[Array, Array, Array]:
    rows = csr_array(matrix)
    return (
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float32),
    )  # fmt: skip


def documents(seed: int = 1) -> Any:
    matrix = random_array((N_ROWS, N_WORDS), density=0.2, rng=np.random.default_rng(seed))
    return csr_array(matrix.astype(np.float32))


class Svm(NamedTuple):
    """One label: documents, their signs, and where it starts."""

    x: Any
    rows: Array
    signs: Array
    before: Array

    def costs(self, cost: float) -> Array:
        """Return C of each document, by a weight of its own."""
        return cost * np.resize([1.0, 0.5, 3.0], self.x.shape[0])

    def minimum(self, cost: float) -> Array:
        """Return the weights that a general minimiser finds for the objective as it is written."""
        x, before = self.x.toarray().astype(float)[self.rows], self.before.astype(float)
        costs = self.costs(cost)[self.rows]

        def objective(w: Array) -> tuple[float, Array]:
            slack = np.maximum(1 - self.signs * (x @ w - 1), 0)
            value = ((w - before) ** 2).sum() / 2 + (costs * slack**2).sum()
            return float(value), w - before - 2 * (costs * slack * self.signs) @ x

        found = minimize(objective, before, jac=True, method="BFGS", options={"gtol": 1e-9})
        return np.asarray(found.x)

    def solved(self, cost: float, alpha: Array | None = None) -> tuple[Array, Array, int]:
        """Return the kernel's weights, its α, and its sweeps."""
        a = np.zeros(len(self.rows)) if alpha is None else alpha.copy()
        w = self.before + (a * self.signs) @ self.x.toarray()[self.rows]
        sweeps = shortlists.solve(
            *arrays(self.x), squares(self.x), self.rows, self.signs, self.costs(cost), 1e-9,
            10_000, 7, a, w,
        )  # fmt: skip
        return w, a, sweeps


def squares(x: Any) -> Array:
    return np.asarray(x.multiply(x).sum(axis=1), np.float64).ravel()


def some_svm(seed: int, has_before: bool) -> Svm:
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(N_ROWS, 24, replace=False))
    signs = np.where(rng.random(24) < 0.3, 1, -1).astype(np.int8)
    return Svm(documents(seed), rows, signs, rng.normal(size=N_WORDS) * has_before)


# One label's SVM ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("has_before", [False, True])
def test_the_solution_is_the_minimum_of_the_objective(cost: float, has_before: bool) -> None:
    for seed in range(3):
        svm = some_svm(seed, has_before)
        w, alpha, sweeps = svm.solved(cost)
        assert sweeps < 10_000
        assert (alpha >= 0).all()
        np.testing.assert_allclose(w, svm.minimum(cost), atol=1e-5)


def test_it_is_liblinears_solution_where_a_word_that_all_have_makes_up_for_the_bias() -> None:
    svm = some_svm(3, has_before=False)
    x = csr_array(np.hstack([svm.x.toarray(), np.ones((N_ROWS, 1), np.float32)]))
    w, _, _ = svm._replace(x=x, before=np.eye(N_WORDS + 1)[-1]).solved(1.0)
    reference = LinearSVC(C=1.0, dual=True, tol=1e-10, max_iter=1_000_000, random_state=0)
    reference.fit(svm.x[svm.rows], svm.signs, sample_weight=svm.costs(1.0)[svm.rows])
    np.testing.assert_allclose(x @ w - 1, reference.decision_function(svm.x), atol=1e-6)


def test_a_start_from_another_solution_gives_the_same_one_sooner() -> None:
    svm = some_svm(4, has_before=True)
    w, alpha, sweeps = svm.solved(1.0)
    _, near, _ = svm.solved(0.9)
    again, _, fewer = svm.solved(1.0, near)
    np.testing.assert_allclose(again, w, atol=1e-7)
    assert fewer < sweeps
    assert svm.solved(1.0, alpha)[2] < fewer


# Many labels --------------------------------------------------------------------------------------


class Found(NamedTuple):
    """What `solve_labels` found, the weights as ordinary arrays."""

    weights: Array
    n_weights: Array
    unsolved: int
    alpha: Array


def solved(
    svms: list[Svm], numbers: list[int], tolerance: float = 1e-9, least: float = 0.0,
    most: int = 10_000,
) -> Found:  # fmt: skip
    """Solve the labels one after the other; all are of the same documents."""
    x = svms[0].x
    starts = np.cumsum([0, *(len(svm.rows) for svm in svms)])
    rows = np.concatenate([svm.rows for svm in svms])
    signs = np.concatenate([svm.signs for svm in svms])
    before = arrays(csr_array(np.stack([svm.before for svm in svms])))
    alpha = np.zeros(len(rows))
    ends, words, values, unsolved = shortlists.solve_labels(
        *arrays(x), squares(x), starts, rows, signs, np.array(numbers), *before, x.shape[1],
        svms[0].costs(1.0), tolerance, most, least, alpha,
    )  # fmt: skip
    found = csr_array((values, words, ends), shape=(len(svms), x.shape[1]))
    return Found(found.toarray(), np.diff(ends), unsolved, alpha)


def some_svms(n: int, seed: int = 0) -> list[Svm]:
    """Return labels of the same documents, the last of which has none."""
    each = [some_svm(seed + c, has_before=c % 2 > 0) for c in range(n)]
    x, none = each[0].x, slice(0)
    svms = [svm._replace(x=x, before=svm.before.astype(np.float32)) for svm in each]
    return [*svms[:-1], svms[-1]._replace(rows=svms[-1].rows[none], signs=svms[-1].signs[none])]


def test_every_label_has_its_own_minimum_and_one_without_documents_what_it_had() -> None:
    svms = some_svms(6)
    found = solved(svms, [*range(6)])
    assert found.unsolved == 0
    for w, svm in zip(found.weights, svms, strict=True):
        np.testing.assert_allclose(w, svm.minimum(1.0), atol=1e-5)
    np.testing.assert_array_equal(found.weights[-1], svms[-1].before)


def test_same_bits_whatever_the_block_a_label_is_solved_in() -> None:
    svms, numbers = some_svms(6), [3, 14, 15, 92, 65, 35]
    together = solved(svms, numbers, tolerance=0.1).weights
    for order in ([5, 4, 3, 2, 1, 0], [2, 0], [4]):
        found = solved([svms[c] for c in order], [numbers[c] for c in order], 0.1).weights
        np.testing.assert_array_equal(found, together[order])


def test_more_weights_than_there_was_room_for_at_first_are_kept() -> None:
    n = 80
    svms = [some_svms(2)[0]] * n
    found = solved(svms, [0] * n)
    assert found.n_weights.sum() > 1024
    np.testing.assert_array_equal(found.weights, np.tile(found.weights[0], (n, 1)))


def test_weights_below_a_share_of_the_largest_are_left_out() -> None:
    svms = some_svms(4)
    whole, pruned = (solved(svms, [*range(4)], least=least) for least in (0.0, 0.3))
    size = np.abs(whole.weights)
    is_kept = size > 0.3 * size.max(axis=1, keepdims=True)
    assert 0 < is_kept.sum() < np.count_nonzero(whole.weights)
    np.testing.assert_array_equal(pruned.weights, np.where(is_kept, whole.weights, 0))
    np.testing.assert_array_equal(pruned.n_weights, is_kept.sum(axis=1))


def test_labels_that_were_not_solved_in_so_many_sweeps_are_counted() -> None:
    assert solved(some_svms(4), [*range(4)], most=2).unsolved == 3


# Margins and lists --------------------------------------------------------------------------------


def some_lists(rng: np.random.Generator, n: int, k: int, n_labels: int, share: float) -> Array:
    """Return lists of labels that differ, some −1 at the end of each."""
    lists = np.array([rng.permutation(n_labels)[:k] for _ in range(n)], np.int32)
    lists[np.arange(k)[None] >= rng.binomial(k, share, n)[:, None]] = -1
    return lists


def test_margins_are_products_less_one_and_the_bias_where_there_is_no_candidate() -> None:
    rng = np.random.default_rng(5)
    weights = csr_array(random_array((12, N_WORDS), density=0.3, rng=rng).astype(np.float32))
    candidates = some_lists(rng, N_ROWS, 5, 12, share=0.7)
    found = np.empty(candidates.shape)
    shortlists.margins(*arrays(documents()), candidates, *arrays(weights), N_WORDS, found)
    every = (documents() @ weights.T).toarray() - 1
    expected = np.where(candidates < 0, -1, np.take_along_axis(every, candidates % 12, axis=1))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (found[candidates < 0] == -1).all()


def some_pairs(seed: int = 0) -> tuple[Any, Array, Any]:
    """Return labels of documents, their lists, and what each label has of them by plain Python."""
    rng = np.random.default_rng(seed)
    labels, lists = csr_array(rng.random((30, 12)) < 0.2), some_lists(rng, 30, 5, 12, share=0.7)
    own = [set(labels[[d]].indices.tolist()) for d in range(30)]
    either = [mine | {c for c in lists[d].tolist() if c >= 0} for d, mine in enumerate(own)]
    rows = [[d for d in range(30) if c in either[d]] for c in range(12)]
    return labels, lists, [[(d, 1 if c in own[d] else -1) for d in rows[c]] for c in range(12)]


def test_a_label_is_paired_with_the_documents_that_have_it_or_list_it() -> None:
    labels, lists, expected = some_pairs()
    starts, rows, signs = shortlists.pair_up(
        labels.indptr.astype(np.int64), labels.indices.astype(np.int32), lists, 12
    )
    for c, pairs in enumerate(expected):
        own = slice(starts[c], starts[c + 1])
        assert [*zip(rows[own].tolist(), signs[own].tolist(), strict=True)] == pairs
    assert starts[-1] == len(rows)


def test_alpha_is_carried_over_to_the_same_pairs() -> None:
    rng = np.random.default_rng(1)
    documents = np.flatnonzero(rng.random(30) < 0.7)
    whole, part = some_pairs()[2], some_pairs(2)[2]
    part = [[pair[0] for pair in own if pair[0] < len(documents)] for own in part]
    starts, part_starts = (np.cumsum([0, *map(len, each)]) for each in (whole, part))
    rows, part_rows = np.array([d for own in whole for d, _ in own]), np.concatenate(part)
    given, found = rng.random(len(part_rows)), np.zeros(len(rows))
    shortlists.carry_over(
        starts, rows, part_starts, part_rows.astype(np.int64), documents, given, found
    )
    told = {
        (c, documents[r]): given[part_starts[c] + place]
        for c, own in enumerate(part)
        for place, r in enumerate(own)
    }
    expected = [told.get((c, d), 0.0) for c in range(12) for d, _ in whole[c]]
    assert 0 < np.count_nonzero(expected) < len(expected)
    np.testing.assert_array_equal(found, expected)


def naive_nearest(x: Any, index: Any, k: int, budget: int) -> tuple[Array, Array]:
    """Return the best labels by plain Python: words as they come, until the budget is spent."""
    n_labels = index.shape[1]
    labels, scores = np.full((x.shape[0], k), -1), np.zeros((x.shape[0], k))
    for d in range(x.shape[0]):
        total, read = np.zeros(n_labels), 0
        for e in range(x.indptr[d], x.indptr[d + 1]):
            if read >= budget:
                break
            row = index[[x.indices[e]]]
            total += x.data[e] * row.toarray().ravel()
            read += row.nnz
        best = sorted(np.flatnonzero(total), key=lambda c: (-total[c], c))[:k]
        labels[d, : len(best)], scores[d, : len(best)] = best, total[best]
    return labels, scores


@pytest.mark.parametrize("budget", [1, 12, 10_000])
@pytest.mark.parametrize("k", [1, 4, 30])
def test_nearest_are_the_best_of_all_that_the_budget_lets_read(k: int, budget: int) -> None:
    """Weights are small whole numbers, so that many labels are equals, and sums are exact."""
    rng = np.random.default_rng(6)
    index = csr_array(rng.integers(0, 3, (N_WORDS, 20)) * (rng.random((N_WORDS, 20)) < 0.3))
    x = csr_array(rng.integers(1, 3, (N_ROWS, N_WORDS)) * (rng.random((N_ROWS, N_WORDS)) < 0.1))
    found, scores = np.empty((N_ROWS, k), np.int32), np.empty((N_ROWS, k), np.float32)
    shortlists.nearest(*arrays(x), *arrays(index), 20, budget, found, scores)
    labels, expected = naive_nearest(x, index, k, budget)
    assert ((found < 0) == (scores == 0)).all()
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_array_equal(scores, expected)


def test_products_too_small_for_a_number_name_no_label() -> None:
    x = csr_array(np.array([[1.0] + [1e-30] * 8], np.float32))
    index = np.full((9, 3), 1e-30, np.float32)
    index[0] = 1, 0, 0
    found, scores = np.empty((1, 3), np.int32), np.empty((1, 3), np.float32)
    shortlists.nearest(*arrays(x), *arrays(csr_array(index)), 3, 10_000, found, scores)
    assert found.tolist() == [[0, -1, -1]]


@pytest.mark.parametrize("k", [1, 5, 6, 40])
def test_united_is_half_of_the_first_then_the_second_then_the_rest(k: int) -> None:
    rng = np.random.default_rng(7)
    first, second = (some_lists(rng, 60, size, 15, share=0.8) for size in (4, 9))
    found = np.empty((60, k), np.int32)
    shortlists.unite(first, second, 15, found)
    for own, one, other in zip(found.tolist(), first.tolist(), second.tolist(), strict=True):
        wanted = dict.fromkeys(c for c in [*one[: k // 2], *other, *one[k // 2 :]] if c >= 0)
        assert own == [*wanted, *[-1] * k][:k]


def test_lists_are_filled_with_the_usual_labels_that_they_lack() -> None:
    rng = np.random.default_rng(8)
    lists, usual = some_lists(rng, 60, 7, 9, share=0.6), rng.permutation(9)
    found = lists.copy()
    shortlists.fill(found, usual, 9)
    for own, before in zip(found.tolist(), lists.tolist(), strict=True):
        given = [c for c in before if c >= 0]
        assert own == [*given, *(c for c in usual.tolist() if c not in given)][:7]


def test_rows_are_taken_counted_and_numbered_anew() -> None:
    matrix = documents()
    starts, words, values = arrays(matrix)
    rows = np.array([3, 4, 17, 39])
    begins, ends = starts[rows], starts[rows + 1]
    own, own_values = np.empty((ends - begins).sum(), np.int32), np.empty(len(words), np.float32)
    shortlists.take_rows(begins, ends, words, values, own, own_values)
    taken = matrix[rows]
    np.testing.assert_array_equal(own, taken.indices)
    np.testing.assert_array_equal(own_values[: taken.nnz], taken.data)
    counts = np.zeros(N_WORDS, np.int64)
    shortlists.count_each(own, counts)
    np.testing.assert_array_equal(counts, np.bincount(taken.indices, minlength=N_WORDS))
    number_of = np.random.default_rng(0).permutation(N_WORDS).astype(np.int32)
    shortlists.renumber(own, number_of)
    np.testing.assert_array_equal(own, number_of[taken.indices])


def test_features_are_added_up_by_label_and_word() -> None:
    rng, counts = np.random.default_rng(0), documents()
    labels = rng.random((N_ROWS, 5)) < 0.4
    labels[:, 4] = labels[:, :4].any(axis=1)  # the last has no sums
    corpus = Corpus(np.ceil(counts.toarray()), labels)
    layout, features = lay_out(corpus), csr_array(counts.toarray())
    is_left_out = rng.random(N_ROWS) < 0.3
    sums = np.zeros(len(layout.cell_words))
    shortlists.add_to_cells(
        layout.entry_starts, layout.label_starts, layout.grid_starts, layout.cells,
        features.data.astype(np.float64), is_left_out, 1, sums,
    )  # fmt: skip
    expected = (labels & ~is_left_out[:, None]).T.astype(float) @ features.toarray()
    owner = np.repeat(np.arange(5), np.diff(layout.cell_starts))
    found = np.zeros((5, N_WORDS))
    found[owner, layout.cell_words] = sums
    np.testing.assert_allclose(found[:4], expected[:4])
    assert not found[4].any()
