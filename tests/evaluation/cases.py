"""Scores and truths to evaluate: random ones, with and without equal scores."""

import io
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rich.console import Console

Matrix = npt.NDArray[Any]


def random_case(n_documents: int, n_labels: int, seed: int = 0) -> tuple[Matrix, Matrix, Matrix]:
    """Return scores without ties, a truth that they know something of, and training labels."""
    rng = np.random.default_rng(seed)
    rates = 1 / np.arange(2, n_labels + 2)
    truth = rng.random((n_documents, n_labels)) < rates
    train = rng.random((3 * n_documents, n_labels)) < rates
    train[0] = True  # every label is known
    return truth + rng.normal(size=truth.shape), truth, train


@st.composite
def tied_cases(draw: st.DrawFn, max_items: int = 4) -> tuple[Matrix, Matrix]:
    """Return few candidates, many of equal score, for each of some items."""
    shape = (draw(st.integers(1, max_items)), draw(st.integers(1, 6)))
    scores = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 3)))
    return scores.astype(float), draw(hnp.arrays(np.bool_, shape))


def same(ours: dict[str, Matrix], theirs: dict[str, Matrix]) -> None:
    """Check that two sets of metrics agree, NaN with NaN."""
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-9, err_msg=name)


def shown(value: object) -> str:
    """Return what ``rich.print`` shows."""
    console = Console(file=io.StringIO(), width=140)
    console.print(value)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
