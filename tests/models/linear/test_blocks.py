"""SVMs in blocks on the CPU: what is learned of a label does not depend on its block."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from deplda.engine.execution import Execution
from deplda.models.linear.blocks import Blocks
from deplda.models.linear.solver import Features, Problem
from deplda.models.linear.tuning import shuffled
from tests.models.linear.worlds import shares, world


def test_blocks_of_any_size_give_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = world()
    labels, features = csc_array(corpus.labels), Features.of(csr_array(shares(corpus)))
    order = shuffled(len(corpus), 0)
    blocks = Blocks(Problem(features, labels.indptr, labels.indices, order, 1e-3), Execution())
    found = []
    for size in (2, 6):
        monkeypatch.setattr("deplda.models.linear.blocks._BLOCK_LABELS", size)
        every = list(blocks.learned(np.arange(6), 1.0, np.ones((2, 6)), 0.0, [np.arange(9)]))
        assert [label for own, _ in every for label in own] == list(range(6))
        found.append(every)
    assert [len(every) for every in found] == [3, 1]
    (_, whole), = found[1]  # fmt: skip
    intercepts = [value for _, solved in found[0] for value in solved.intercepts]
    assert intercepts == whole.intercepts
    assert whole.held_out[0].shape == (9, 6)
    assert sum(solved.unsolved for _, solved in found[0]) == 0
