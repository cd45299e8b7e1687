"""How a sampler is judged: against exact weights, by Geweke's test, and by mistakes put into it."""

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from scipy.stats import chi2

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]


def mutant(kernel: Any, right: str, wrong: str) -> Kernel:
    """Return the kernel with one piece of its source replaced."""
    source = inspect.getsource(kernel.py_func)
    source = source[source.index("def ") :]
    assert right in source
    scope = dict(inspect.getmodule(kernel.py_func).__dict__)
    exec(source.replace(right, wrong), scope)  # noqa: S102
    compiled: Kernel = njit(error_model="numpy")(scope[kernel.py_func.__name__])
    return compiled


def chi_square_p(observed: Array, weights: Array) -> float:
    """Return the p-value of counts of states against their exact weights.

    States that are expected less than 5 times are taken together.
    """
    expected = weights / weights.sum() * observed.sum()
    small = expected < 5
    observed = np.append(observed[~small], observed[small].sum())
    expected = np.append(expected[~small], expected[small].sum())
    kept = expected > 0
    assert observed[~kept].sum() == 0
    statistic = ((observed[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    return float(chi2.sf(statistic, max(kept.sum() - 1, 1)))


def p_value(counts: Counter[Any], log_weights: dict[Any, float]) -> float:
    """Return the chi-square p-value of sampled states against their exact probabilities."""
    weights = np.exp(np.array(list(log_weights.values())) - max(log_weights.values()))
    return chi_square_p(np.array([counts[state] for state in log_weights]), weights)


def geweke_scores(direct: list[list[float]], chain: list[list[float]]) -> Array:
    """Return the difference of each moment in standard errors, the chain's by batch means."""
    a, b = np.array(direct), np.array(chain)
    batches = b.reshape(50, -1, b.shape[1]).mean(axis=1)
    error = np.sqrt(a.var(axis=0) / len(a) + batches.var(axis=0, ddof=1) / len(batches))
    return (a.mean(axis=0) - b.mean(axis=0)) / error
