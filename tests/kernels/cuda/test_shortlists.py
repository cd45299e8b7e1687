"""Shortlists on a GPU against the CPU's kernels; deliberate mistakes are found."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from deplda.inference.scores import Inferred, scores
from deplda.kernels import shortlists as kernels
from deplda.kernels.cuda import shortlists
from deplda.kernels.cuda.device import Gpu, GpuFullError
from deplda.kernels.cuda.shortlists import Svms
from tests.kernels.cuda.emulator import emulated
from tests.kernels.test_shortlists import Svm, arrays, documents, some_lists, some_svms, squares

cpu: Any = kernels
Array = np.ndarray[Any, Any]

# Lists and margins --------------------------------------------------------------------------------


def some_rows(n_words: int, n_labels: int, seed: int = 0, whole: bool = False) -> tuple[Any, Any]:
    """Return documents, one of them empty, and an index; of small whole numbers many are equals."""
    rng = np.random.default_rng(seed)
    x = random_array((25, n_words), density=0.2, rng=rng).toarray()
    index = random_array((n_words, n_labels), density=0.3, rng=rng).toarray()
    if whole:
        x, index = np.ceil(3 * x), np.ceil(2 * index)
    x[3] = 0
    return csr_array(x.astype(np.float32)), csr_array(index.astype(np.float32))


def on_cpu(x: Any, index: Any, k: int, budget: int) -> tuple[Array, Array]:
    starts, words, values = arrays(x)
    owner = np.repeat(np.arange(x.shape[0]), np.diff(starts))
    order = np.lexsort((words, -values, owner))
    labels, scores = np.empty((x.shape[0], k), np.int32), np.empty((x.shape[0], k), np.float32)
    cpu.nearest(
        starts, words[order], values[order], *arrays(index), index.shape[1], budget, labels, scores
    )
    return labels, scores


def on_gpu(gpu: Gpu, x: Any, index: Any, k: int, budget: int) -> tuple[Array, Array]:
    return shortlists.nearest(gpu, arrays(x), gpu.struct(arrays(index)), index.shape[1], budget, k)


def check_nearest(gpu: Gpu, x: Any, index: Any, k: int, budget: int = 100_000) -> None:
    asked = x, index, k, budget
    for found, expected in zip(on_gpu(gpu, *asked), on_cpu(*asked), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("k", [1, 7, 64, 300])
@pytest.mark.parametrize("budget", [1, 200, 100_000])
def test_the_nearest_are_those_of_the_cpu_to_the_bit(
    gpu: Gpu, k: int, budget: int, whole: bool
) -> None:
    x, index = some_rows(40, 200, whole=whole)
    check_nearest(gpu, x, index, k, budget)


@pytest.mark.parametrize("n_labels", [4096, 4097])
def test_more_labels_than_shared_memory_holds_are_no_limit(gpu: Gpu, n_labels: int) -> None:
    x, index = some_rows(12, n_labels, whole=True)
    check_nearest(gpu, x[:6], index, 50)


@pytest.mark.parametrize("k", [1024, 1025, 1300])
def test_longer_lists_than_a_block_sorts_are_no_limit(gpu: Gpu, k: int) -> None:
    x, index = some_rows(12, 1200, whole=True)
    check_nearest(gpu, x[:4], index, k)


def test_more_words_than_are_looked_up_together_are_no_limit(gpu: Gpu) -> None:
    rng = np.random.default_rng(4)
    x = csr_array(rng.random((2, 600)).astype(np.float32))
    index = csr_array(random_array((600, 30), density=0.2, rng=rng).astype(np.float32))
    for budget in (2_000, 100_000):
        check_nearest(gpu, x, index, 9, budget)


def test_with_little_memory_the_lists_are_the_same(folder: Path) -> None:
    x, index = some_rows(40, 200)
    whole, tiled = (
        on_gpu(emulated(folder, room=room), x, index, 7, 100_000) for room in (1 << 30, 1_000)
    )
    np.testing.assert_array_equal(whole[0], tiled[0])
    np.testing.assert_array_equal(whole[1], tiled[1])
    with pytest.raises(GpuFullError):
        on_gpu(emulated(folder, room=100), x, index, 7, 100_000)


def test_products_are_those_of_dense_algebra(gpu: Gpu) -> None:
    x, index = some_rows(40, 30)
    found = shortlists.products(gpu, arrays(x), gpu.struct(arrays(index)), 30)
    np.testing.assert_allclose(found, x.toarray() @ index.toarray(), rtol=1e-5)


@pytest.mark.parametrize("n_labels", [30, 4097])
def test_what_is_below_is_ranked_by_share_and_likeness(gpu: Gpu, n_labels: int) -> None:
    rng = np.random.default_rng(8)
    x, index = some_rows(12, n_labels)
    x = x[:5]
    counts, alpha = rng.random((2, 5, n_labels + 1))
    counts[1] = 0
    found = shortlists.rank_below(
        gpu, arrays(x), gpu.struct(arrays(index)), n_labels, counts, alpha, 1e-6, 1e-3
    )
    shares = scores(Inferred(counts, alpha, counts), "blend", n_labels) / 2
    likeness = x.toarray().astype(float) @ index.toarray()
    expected = np.log(np.minimum((shares + 1e-6) * (likeness + 1e-3), 1.0))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_is_kept_is_put_on_the_gpu_once_and_anew_where_it_changed(gpu: Gpu) -> None:
    class Owner:
        """One that can go."""

    owner, made = Owner(), list[int]()

    def put() -> int:
        made.append(len(made))
        return made[-1]

    first, second = object(), object()
    assert [gpu.keep(owner, "it", each, put) for each in (first, first, second)] == [0, 0, 1]
    assert gpu.keep(owner, "other", first, put) == 2
    before = len(gpu.kept)
    del owner
    assert len(gpu.kept) == before - 1


def check_margins(gpu: Gpu) -> None:
    rng = np.random.default_rng(5)
    x, weights = documents(), csr_array(random_array((12, 25), density=0.5, rng=rng))
    weights = csr_array(np.where(weights.toarray() > 0.7, -0.5, weights.toarray()))
    candidates = some_lists(rng, x.shape[0], 5, 12, share=0.7)
    expected = np.empty(candidates.shape)
    cpu.margins(*arrays(x), candidates, *arrays(weights), 25, expected)
    found = shortlists.margins(gpu, arrays(x), candidates, gpu.struct(arrays(weights)), 25)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found[candidates < 0] == -1).all()


def test_margins_are_those_of_the_cpu(gpu: Gpu) -> None:
    check_margins(gpu)


def test_margins_of_more_documents_than_blocks_are_the_same(folder: Path) -> None:
    check_margins(emulated(folder, room=3 * 4 * 25))
    with pytest.raises(GpuFullError):
        check_margins(emulated(folder, room=99))


# SVMs ---------------------------------------------------------------------------------------------


class Solved(NamedTuple):
    """What was found of some labels, the weights as ordinary arrays."""

    weights: Array
    alpha: Array
    unsolved: int


def large_svms(n: int, n_rows: int = 300, n_words: int = 400, seed: int = 0) -> list[Svm]:
    """Return labels with more documents and words than a warp has lanes; some words tell."""
    rng = np.random.default_rng(seed)
    lengths = np.where(np.arange(n_rows) % 50, 0.1, 0.7)  # some are longer than what is held
    x = rng.random((n_rows, n_words)) * (rng.random((n_rows, n_words)) < lengths[:, None])
    svms = []
    for c in range(n):
        rows = np.sort(rng.choice(n_rows, rng.integers(30, n_rows), replace=False))
        signs = np.where(rng.random(len(rows)) < 0.2, 1, -1).astype(np.int8)
        x[rows[signs > 0], 5 * c : 5 * c + 5] += 0.7
        before = rng.normal(size=n_words) * (c % 2)
        svms.append((rows, signs, before.astype(np.float32)))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    sparse = csr_array(x.astype(np.float32))
    return [Svm(sparse, *svm) for svm in svms]


def lesson(svms: list[Svm]) -> tuple[Any, ...]:
    starts = np.cumsum([0, *(len(svm.rows) for svm in svms)])
    rows = np.concatenate([svm.rows for svm in svms])
    signs = np.concatenate([svm.signs for svm in svms])
    return starts, rows, signs, arrays(csr_array(np.stack([svm.before for svm in svms])))


def solved_on_cpu(svms: list[Svm], cost: float, alpha: Array | None = None, **how: Any) -> Solved:
    starts, rows, signs, before = lesson(svms)
    x, own = svms[0].x, np.zeros(len(rows)) if alpha is None else alpha.copy()
    ends, words, values, unsolved = cpu.solve_labels(
        *arrays(x), squares(x), starts, rows, signs, np.arange(len(svms)), *before, x.shape[1],
        svms[0].costs(cost), *_how(**how), own,
    )  # fmt: skip
    weights = csr_array((values, words, ends), shape=(len(svms), x.shape[1])).toarray()
    return Solved(weights, own, unsolved)


def _how(
    tolerance: float = 1e-9, most: int = 10_000, least: float = 0.0
) -> tuple[float, int, float]:
    return tolerance, most, least


def check_solution(gpu: Gpu, svms: list[Svm], cost: float, **how: Any) -> None:
    found, expected = solved_on_gpu(gpu, svms, cost, **how), solved_on_cpu(svms, cost, **how)
    np.testing.assert_allclose(found.alpha, expected.alpha, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-5, atol=1e-6)
    assert found.unsolved == expected.unsolved


def solved_on_gpu(
    gpu: Gpu, svms: list[Svm], cost: float, alpha: Array | None = None,
    numbers: Array | None = None, **how: Any,
) -> Solved:  # fmt: skip
    starts, rows, signs, before = lesson(svms)
    x = svms[0].x
    n_words = x.shape[1]
    problem = Svms(
        gpu, arrays(x), squares(x), starts, rows, signs, before, n_words,
        np.zeros(len(rows)) if alpha is None else alpha,
    )  # fmt: skip
    asked = np.arange(len(svms)) if numbers is None else numbers
    places = np.arange(n_words, dtype=np.int32)
    found = problem.solve(asked, svms[0].costs(cost), *_how(**how), places)
    weights = csr_array((found.values, found.words, found.starts), shape=(len(asked), n_words))
    assert weights.has_sorted_indices
    return Solved(weights.toarray(), problem.alpha, found.unsolved)


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
def test_the_solutions_are_those_of_the_cpu(gpu: Gpu, cost: float) -> None:
    for svms in (some_svms(6), large_svms(3)):
        # The same steps are taken, so that they agree long before they have come to an end.
        for how in ({"tolerance": 0.3}, {"most": 3}, {"tolerance": 1e-4}):
            check_solution(gpu, svms, cost, **how)


def test_a_solution_starts_from_another(gpu: Gpu) -> None:
    svms = large_svms(3)
    start = solved_on_cpu(svms, 0.3, tolerance=0.3).alpha
    check_solution(gpu, svms, 1.0, alpha=start, tolerance=0.1)


def test_weights_that_are_small_beside_the_largest_are_left_out(gpu: Gpu) -> None:
    svms = some_svms(5)
    whole, pruned = (solved_on_gpu(gpu, svms, 1.0, least=least).weights for least in (0.0, 0.3))
    size = np.abs(whole)
    is_kept = size > 0.3 * size.max(axis=1, keepdims=True)
    assert 0 < is_kept.sum() < np.count_nonzero(whole)
    np.testing.assert_array_equal(pruned, np.where(is_kept, whole, 0))


def test_a_label_has_the_same_bits_beside_any_others_and_in_any_memory(folder: Path) -> None:
    svms = large_svms(4)
    whole = solved_on_gpu(emulated(folder), svms, 1.0, tolerance=0.3)
    room = 12 * svms[0].x.nnz + 20 * sum(len(svm.rows) for svm in svms) + 8 * 400
    tight = emulated(folder, room=room + 2 * 16 * 400)
    np.testing.assert_array_equal(
        solved_on_gpu(tight, svms, 1.0, tolerance=0.3).weights, whole.weights
    )
    for order in ([3, 0], [2]):
        found = solved_on_gpu(tight, svms, 1.0, numbers=np.array(order), tolerance=0.3).weights
        np.testing.assert_array_equal(found, whole.weights[order])
    with pytest.raises(GpuFullError):
        solved_on_gpu(emulated(folder, room=room), svms, 1.0)


def test_no_labels_have_no_weights(gpu: Gpu) -> None:
    found = solved_on_gpu(gpu, some_svms(3), 1.0, numbers=np.zeros(0, np.int64))
    assert found.weights.shape == (0, 25)


WRONG = [
    ("own.order[s] = other.k;", ";"),
    ("back[last - (active - 1)]", "back[0]"),
    ("first = s + 1, 1, lane, front", "first = s + 1, 2, lane, front"),
    ("slope * pair.step", "slope * 0.9 * pair.step"),
    ("own % (u64)(k - lane + 1)", "own % (u64)(k - lane)"),
    ("w[held.words[b]] = own[b] + factor", "w[held.words[b]] = own[b] + 0.9 * factor"),
    ("w[rows.columns[pair.begin + e]] +=", "w[rows.columns[pair.begin + e]] ="),
    ("budget -= ends[u] - begins[u];", "budget -= 1;"),
    ("0xffffffffu - (unsigned)label", "(unsigned)label"),
    ("x[rows->columns[e]] = 0.0f;", ";"),
    ("left = n - before", "left = n"),
]  # fmt: skip


def check(gpu: Gpu, tight: Gpu) -> None:
    x, index = some_rows(40, 200, whole=True)
    for budget in (200, 100_000):
        check_nearest(gpu, x, index, 7, budget)
    check_margins(tight)
    check_solution(gpu, large_svms(3), 1.0, tolerance=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_a_wrong_kernel_is_found(folder: Path, right: str, wrong: str) -> None:
    rooms = 1 << 20, 3 * 4 * 25
    gpus = (emulated(folder, changed=(right, wrong), room=room) for room in rooms)
    with pytest.raises(AssertionError):
        check(*gpus)
