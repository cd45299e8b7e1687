"""Small hybrids, fitted once, for the tests of their parts."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import HybridLDA, ReadError, load
from deplda.models import card as store
from tests.models.worlds import pairs

Damage = dict[str, tuple[Callable[[Any, Any], Any], str]]
"""What is done to a saved card and its arrays, and what is said then."""

N_CANDIDATES = 3
"""Few of 12 labels: documents have labels that are not among their candidates."""


def quick(**others: Any) -> HybridLDA:
    few: Any = {"n_topic_chains": 2, "n_topic_sweeps": 20, "C": 1.0, "n_held_out": 60}
    return HybridLDA(**few | others)


@cache
def fitted(candidates: Any = N_CANDIDATES) -> HybridLDA:
    return quick(candidates=candidates).fit(pairs(300, seed=0))


def assert_refused(
    model: HybridLDA, damage: tuple[Callable[[Any, Any], Any], str], folder: Path
) -> None:
    """Assert that a saved model is not loaded once it is damaged."""
    model.save(folder / "model")
    _, card, arrays, _ = store.load(folder / "model")
    arrays = {name: np.array(array) for name, array in arrays.items()}
    spoil, said = damage
    spoil(card, arrays)
    store.save(folder / "wrong", card, arrays)
    with pytest.raises(ReadError, match=said):
        load(folder / "wrong")
