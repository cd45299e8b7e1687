"""One label's SVM, solved: LinearSVC's solution, alone or beside others."""

from threading import Event

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.engine.pool import Stopped
from deplda.models.linear.solver import Features, Machine, never, solve
from tests.models.linear.worlds import reference, shares, world


def machines(features: Features, costs: tuple[float, float]) -> list[Machine]:
    start = never(features, costs[0], 1e-6)
    return [
        Machine(features, np.where(y, 1, -1).astype(np.int8), costs, start)
        for y in world().labels.toarray().T
    ]


@pytest.mark.parametrize("costs", [(1.0, 1.0), (0.5, 4.0)])
def test_a_machine_is_solved_as_linear_svc_solves_it(costs: tuple[float, float]) -> None:
    x = shares(world())
    together, alone = (machines(Features.of(csr_array(x)), costs) for _ in range(2))
    solve(together, 1e-6, Event())
    for machine, single, y in zip(together, alone, world().labels.toarray().T, strict=True):
        solve([single], 1e-6, Event())
        expected = reference(x, y, costs[1] / costs[0], costs[0]).decision_function(x)
        np.testing.assert_allclose(machine.scores, expected, atol=1e-4)
        np.testing.assert_allclose(single.scores, machine.scores, atol=1e-5)


def test_documents_of_neither_sign_teach_nothing_but_are_scored() -> None:
    x, y = shares(world()), world().labels.toarray()[:, 0]
    signs = np.where(y, 1, -1).astype(np.int8)
    signs[:30] = 0
    machine = Machine(Features.of(csr_array(x)), signs, (1.0, 1.0), None)
    solve([machine], 1e-6, Event())
    expected = reference(x[30:], y[30:]).decision_function(x)
    np.testing.assert_allclose(machine.scores, expected, atol=1e-4)


def test_work_that_is_no_longer_wanted_stops() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Stopped):
        solve(machines(Features.of(csr_array(shares(world()))), (1.0, 1.0)), 1e-6, stop)
