"""SVMs on a GPU against the CPU's kernels and plain matrices; deliberate mistakes are found."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse import csr_array, random_array

from deplda.kernels import linear
from deplda.kernels.cuda.device import Gpu, GpuFullError
from deplda.kernels.cuda.linear import Documents, Machines, hold_out, padded, score_labels
from deplda.models.linear import tuning
from deplda.models.linear.solver import EASE, Features, Machine
from tests.kernels.cuda.emulator import emulated

N, N_WORDS, N_LABELS = 300, 23, 40
"""More documents than one piece of a word's row has, and more labels than a warp has lanes."""


class World:
    """Documents, and machines of some labels somewhere on their way, on a GPU and on the CPU."""

    def __init__(self, gpu: Gpu) -> None:
        rng, self.gpu = np.random.default_rng(0), gpu
        matrix: Any = csr_array(random_array((N, N_WORDS), density=0.3, rng=rng))
        matrix.data[matrix.indptr[5] : matrix.indptr[6]] = 0  # stored, and 0
        self.features = Features.of(matrix, rng.uniform(0.5, 2, N))
        rare = rng.uniform(0.05, 0.5, N_LABELS)
        self.signs = np.where(rng.random((N, N_LABELS)) < rare, 1, -1).astype(np.int8)
        self.signs[rng.random((N, N_LABELS)) < 0.1] = 0
        self.costs = rng.uniform(0.1, 5, (2, N_LABELS))
        w, self.dense = 0.3 * rng.normal(size=(N_WORDS + 1, N_LABELS)), np.ones((N, N_WORDS + 1))
        self.dense[:, :-1] = matrix.astype(np.float32).toarray()
        self.w, self.scores = w, self.dense @ w
        self.documents = Documents(gpu, matrix, self.features.lengths, self.features.weights)

    def there(self, array: npt.NDArray[Any]) -> Any:
        """Return a matrix on the GPU, as wide as it must be."""
        wide = np.zeros((len(array), padded(array.shape[1])), array.dtype)
        wide[:, : array.shape[1]] = array
        return self.gpu.put(wide)

    def machines(self, held: npt.NDArray[Any] | None = None) -> Machines:
        there = None if held is None else self.there(held)
        states = self.there(self.w), self.there(self.scores)
        return Machines(
            self.documents, self.there(self.signs), self.costs, *states, EASE, held=there
        )

    def machine(self, label: int) -> Machine:
        """Return the same of one label, on the CPU."""
        none = Machine(self.features, self.signs[:, label], (1.0, 1.0), None)
        none.w, none.scores = self.w[:, label], self.scores[:, label].copy()
        costs = (self.costs[0, label], self.costs[1, label])
        return Machine(self.features, self.signs[:, label], costs, none)


NEAR = {"weights": 1e-10, "errors": 1e-10, "w": 1e-5, "scores": 1e-5, "lengths": 1e-7}


def differences(world: World) -> dict[str, float]:
    """Return how far the GPU is from the CPU after a look and after a step.

    Of w and scores for nine labels in ten: conjugate gradients can blow up roundings.
    """
    machines, every = world.machines(), np.ones(N_LABELS, bool)
    alone = [world.machine(label) for label in range(N_LABELS)]
    get, off = world.gpu.get, {}

    def compare(what: str, found: Any, expected: Any) -> None:
        by_label = np.atleast_2d(np.abs(found - np.asarray(expected))).max(axis=0)
        off[what] = float(np.quantile(by_label, 0.9 if what in ("w", "scores") else 1.0))

    def columns(name: str) -> npt.NDArray[np.float64]:
        return np.stack([getattr(machine, name) for machine in alone], axis=-1)

    machines._views()[1].fill(np.nan)  # factors of documents that are not within are never read
    machines.look(every)
    compare("weights", get(machines.weights)[:, :N_LABELS], columns("weights"))
    compare("errors", machines.errors, columns("error"))
    machines.step(every, 200, 50)
    for machine in alone:
        direction = machine.direction()
        machine.step(direction, world.dense @ direction)
    compare("w", get(machines.w)[:, :N_LABELS], columns("w"))
    compare("scores", get(machines.scores)[:, :N_LABELS], columns("scores"))
    with np.errstate(invalid="ignore"):  # of wrong kernels
        directions = (get(machines.w)[:, :N_LABELS] - world.w) / get(machines.lengths)[:N_LABELS]
    lengths = [
        linear.line_minimum(
            world.scores[:, c], world.dense @ d, world.signs[:, c], world.features.weights,
            world.w[:, c] @ d, d @ d, world.costs[:, c], 50,
        )
        for c, d in enumerate(directions.T)
    ]  # fmt: skip
    compare("lengths", get(machines.lengths)[:N_LABELS], lengths)
    return off


def test_a_step_of_all_labels_is_the_step_of_each_on_the_cpu(gpu: Gpu) -> None:
    off = differences(World(gpu))
    assert {name: value for name, value in off.items() if not value < NEAR[name]} == {}


WRONG_STEPS = [
    ("2.0 * cost * y * slack", "cost * y * slack"),
    ("(float)(2.0 * cost) * total", "(float)cost * total"),
    ("mine = wanted & within[", "mine = wanted | within["),
    ("first + p.lane < end", "first + p.lane < end - 1"),
    ("q < piece_starts[row + 1]", "q < piece_starts[row] + 1"),
    ("step[at] = rest[at] + ratio * step[at]", "step[at] = rest[at]"),
    ("rest[at] - length * image[at]", "rest[at] + length * image[at]"),
    ("pull * y * slack", "pull * slack"),
    ("ridge_slope + t * ridge_curve", "ridge_slope"),
    ("curvature = ridge_curve +", "curvature ="),
    ("slack > 0.0 ?", "slack > 0.5 ?"),
    ("half > 0; half /= 2", "half > 1; half /= 2"),
    ("document_weights[p.row] * costs[(y > 0)", "costs[(y > 0)"),
    ("document_weights[p.row] * costs[(signs", "costs[(signs"),
    ("document_weights[i] * (y > 0 ?", "(y > 0 ?"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_STEPS)
def test_a_wrong_kernel_of_steps_is_found(folder: Path, right: str, wrong: str) -> None:
    off = differences(World(emulated(folder, changed=(right, wrong))))
    assert any(not value < 3 * NEAR[name] for name, value in off.items())


def test_labels_that_are_asleep_stay_as_they_are_and_change_no_others(gpu: Gpu) -> None:
    world = World(gpu)
    some = np.arange(N_LABELS) % 3 == 0
    whole, machines = world.machines(), world.machines()
    for each, awake in ((whole, np.ones(N_LABELS, bool)), (machines, some)):
        each.look(awake)
        each.step(awake, 200, 50)
    for name, before in (("w", world.w), ("scores", world.scores)):
        found, all_awake = (gpu.get(getattr(m, name))[:, :N_LABELS] for m in (machines, whole))
        assert (found[:, some] == all_awake[:, some]).all()
        assert (found[:, ~some] == before[:, ~some]).all()
    assert (machines.n_steps == some).all()


def test_a_part_of_the_labels_goes_on_with_the_same_bits(gpu: Gpu) -> None:
    world, every = World(gpu), np.ones(N_LABELS, bool)
    whole, machines = world.machines(), world.machines()
    for each in (whole, machines):
        each.look(every)
        each.step(every, 200, 50)
    numbers = np.array([1, 7, 30, 39])
    part = machines.part(numbers)
    assert part.width < machines.width
    whole.look(every)
    part.look(np.ones(4, bool))
    machines.put_back(numbers, part)
    assert (machines.errors[numbers] == whole.errors[numbers]).all()
    for name in ("weights", "w", "scores"):
        found, expected = (gpu.get(getattr(m, name))[:, numbers] for m in (machines, whole))
        assert (found == expected).all()


def held_out(gpu: Gpu) -> tuple[Any, Any, Any, Any]:
    """Return what is left and held out of each label on a GPU, and by the rule itself."""
    rng = np.random.default_rng(3)
    signs = np.where(rng.random((60, 33)) < np.linspace(0.02, 0.9, 33), 1, -1).astype(np.int8)
    signs[:, 0], signs[:, 1] = -1, 1
    signs[7, 0], signs[8, 1] = 1, -1  # the only ones of their sides
    order = tuning.shuffled(60, 4)
    totals = np.stack([(signs < 0).sum(axis=0), (signs > 0).sum(axis=0)])
    most = np.vectorize(tuning.n_held_out)(totals)
    left = gpu.put(np.pad(signs, ((0, 0), (0, 31))))
    held = hold_out(gpu, left, gpu.put(order.astype(np.int32)), totals, most)
    expected, places = zip(*(tuning.held_out(y, order) for y in signs.T), strict=True)
    held_expected = np.zeros_like(signs)
    for c, own in enumerate(places):
        held_expected[own, c] = signs[own, c]
    return gpu.get(left)[:, :33], gpu.get(held)[:, :33], np.stack(expected, axis=1), held_expected


def test_documents_are_held_out_by_the_rule(gpu: Gpu) -> None:
    left, held, expected_left, expected_held = held_out(gpu)
    assert (left == expected_left).all()
    assert (held == expected_held).all()


def judgements(world: World) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    held = rng.integers(-1, 2, (N, N_LABELS)).astype(np.int8)
    machines, every = world.machines(held), np.ones(N_LABELS, bool)
    for _ in range(3):
        machines.look(every)
        machines.step(every, 200, 50)
    machines.look(every)
    scores = world.gpu.get(machines.scores)[:, :N_LABELS]
    is_right = (scores > 0) == (held > 0)
    is_sure = np.abs(scores) > world.features.lengths[:, None] * machines.errors
    counted = np.stack([is_right, is_sure & ~is_right, ~is_sure]) & (held != 0)
    return machines.judged(every), counted.sum(axis=1)


def test_held_out_documents_are_judged_right_wrong_or_not_sure(gpu: Gpu) -> None:
    found, expected = judgements(World(gpu))
    assert (found == expected).all()
    assert (expected.sum(axis=1) > 0).all()


def some_scores(gpu: Gpu, n_labels: int) -> tuple[Any, Any]:
    """Return scores on a GPU, and by plain matrices; one document is empty, and one long."""
    rng = np.random.default_rng(1)
    dense: Any = random_array((5, 1500), density=0.2, rng=rng).toarray()
    dense[2], dense[3] = 0, rng.random(1500)
    x = csr_array(dense)
    w: Any = random_array((1500, n_labels), density=0.2, rng=rng).tocsr().astype(np.float32)
    intercepts = rng.normal(size=n_labels)
    own = gpu.put(x.indptr.astype(np.int64)), gpu.put(x.indices.astype(np.int32)), gpu.put(x.data)
    there = gpu.put(w.indptr.astype(np.int64)), gpu.put(w.indices.astype(np.int32)), gpu.put(w.data)
    found = score_labels(gpu, *own, there, gpu.put(intercepts))
    return gpu.get(found), (x @ w.astype(np.float64)).toarray() + intercepts


@pytest.mark.parametrize("n_labels", [1, 40, 5000])
def test_scores_are_the_product_of_documents_and_weights(gpu: Gpu, n_labels: int) -> None:
    found, expected = some_scores(gpu, n_labels)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


WRONG_OTHERS = [
    ("place_in(labels, row, next, first)", "place_in(labels, row, next, first + 1)"),
    ("sums[c - first] = intercepts[c]", "sums[c - first] = 0.0"),
    ("x * weights[e]", "weights[e]"),
    ("totals[side * width + label] > 1", "totals[side * width + label] > 0"),
    ("left[side]--", "left[side] -= 2"),
    ("found[1] += is_sure && !is_right", "found[1] += !is_right"),
    ("found[2] += !is_sure", "found[2] += is_sure"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_OTHERS)
def test_a_wrong_kernel_of_scores_or_of_held_out_documents_is_found(
    folder: Path, right: str, wrong: str
) -> None:
    gpu = emulated(folder, changed=(right, wrong))
    left, held, expected_left, expected_held = held_out(gpu)
    counted, expected = judgements(World(gpu))
    scores, expected_scores = some_scores(gpu, 5000)
    assert (
        (left != expected_left).any()
        or (held != expected_held).any()
        or (counted != expected).any()
        or not np.allclose(scores, expected_scores)
    )


def test_tiles_are_as_wide_as_fits(folder: Path) -> None:
    few, many = (World(emulated(folder, room=room)).documents for room in (1 << 20, 1 << 26))
    assert 0 < few.labels_that_fit() < many.labels_that_fit()
    assert many.labels_that_fit() % 32 == 0
    with pytest.raises(GpuFullError):
        World(emulated(folder, room=1 << 12)).documents.labels_that_fit()
