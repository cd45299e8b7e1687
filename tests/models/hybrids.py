"""Small hybrids, fitted once, for the tests of their parts."""

from functools import cache
from typing import Any

from deplda import HybridLDA
from tests.models.worlds import pairs

N_CANDIDATES = 3
"""Few of 12 labels: documents have labels that are not among their candidates."""


def quick(**others: Any) -> HybridLDA:
    few: Any = {"n_topic_chains": 2, "n_topic_sweeps": 20, "C": 1.0, "n_held_out": 60}
    return HybridLDA(**few | others)


@cache
def fitted(candidates: Any = N_CANDIDATES) -> HybridLDA:
    return quick(candidates=candidates).fit(pairs(300, seed=0))
