"""Linear SVMs with squared hinge loss: Newton's method on the primal, and scores.

Documents are rows of a sparse matrix (starts, words, values), each with a constant 1 at its end for
the intercept. The objective is LIBLINEAR's,

    ½ ‖w‖² + Σ_i C_i ξ_i²,   ξ_i = max(0, 1 − y_i w·x_i)

whose gradient is w − Σ_i 2 C_i ξ_i y_i x_i, and whose second derivative is I + Σ 2 C_i x_i x_iᵀ
over the documents with ξ_i > 0 (Lin, Weng & Keerthi 2008).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def add_documents(starts, words, values, documents, factors, w):  # type: ignore[no-untyped-def]
    """Add to w the sum of f_i x_i over some documents."""
    last = w.size - 1
    for k in range(documents.size):
        i, factor = documents[k], factors[k]
        for e in range(starts[i], starts[i + 1]):
            w[words[e]] += factor * values[e]
        w[last] += factor


@njit(nogil=True, cache=True)
def product(a, b):  # type: ignore[no-untyped-def]
    """Return a·b without BLAS, whose own threads would be in the way of ours."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(nogil=True, cache=True)
def newton_direction(starts, words, values, documents, costs, gradient, ease, most):  # type: ignore[no-untyped-def]
    """Return d with (I + Σ 2 C_i x_i x_iᵀ) d ≈ −gradient, by conjugate gradients.

    The sum is over the documents given, with their costs. Steps end when what is left of the
    gradient has come down to `ease` of it, or after `most`.
    """
    last = gradient.size - 1
    direction, rest, step = np.zeros_like(gradient), -gradient, -gradient
    image = np.empty_like(gradient)
    square = first = product(rest, rest)
    for _ in range(most):
        if square <= ease * ease * first:
            break
        image[:] = step
        for k in range(documents.size):
            i = documents[k]
            score = step[last]
            for e in range(starts[i], starts[i + 1]):
                score += step[words[e]] * values[e]
            score *= 2.0 * costs[k]
            for e in range(starts[i], starts[i + 1]):
                image[words[e]] += score * values[e]
            image[last] += score
        length = square / product(step, image)
        for j in range(step.size):
            direction[j] += length * step[j]
            rest[j] -= length * image[j]
        before, square = square, product(rest, rest)
        for j in range(step.size):
            step[j] = rest[j] + (square / before) * step[j]
    return direction


@njit(nogil=True, cache=True)
def line_minimum(scores, changes, signs, weights, ridge_slope, ridge_curve, costs, most):  # type: ignore[no-untyped-def]
    """Return the t ≥ 0 at which the objective is least when scores move by t · changes.

    `ridge_slope` and `ridge_curve` are w·d and d·d; costs are those of y = −1 and y = 1, times the
    document's weight. The slope is piecewise linear and rising, so Newton's steps, kept between
    what is too short and too long, find its zero.
    """
    low, high, t, first = 0.0, np.inf, 0.0, np.inf
    for _ in range(most):
        slope, curve = ridge_slope + t * ridge_curve, ridge_curve
        for i in range(scores.size):
            y = signs[i]
            slack = 1.0 - y * (scores[i] + t * changes[i])
            if y != 0 and slack > 0.0:
                cost = weights[i] * (costs[1] if y > 0 else costs[0])
                slope -= 2.0 * cost * y * changes[i] * slack
                curve += 2.0 * cost * changes[i] * changes[i]
        if first == np.inf:
            first = abs(slope)
        elif abs(slope) <= 1e-3 * first:
            break
        if slope > 0.0:
            high = t
        else:
            low = t
        t -= slope / curve
        if not low < t < high:
            t = 0.5 * (low + high) if high < np.inf else 2.0 * low
    return t


@njit(nogil=True, cache=True)
def score_documents(starts, words, values, weights, scores):  # type: ignore[no-untyped-def]
    """Set scores[c, i] = w_c·x_i; weights are words × labels, those of the intercept last."""
    n_labels, last = weights.shape[1], weights.shape[0] - 1
    sums = np.empty(n_labels)
    for i in range(starts.size - 1):
        for c in range(n_labels):
            sums[c] = weights[last, c]
        for e in range(starts[i], starts[i + 1]):
            w, x = words[e], values[e]
            for c in range(n_labels):
                sums[c] += x * weights[w, c]
        for c in range(n_labels):
            scores[c, i] = sums[c]


@njit(nogil=True, cache=True)
def score_labels(starts, words, values, weight_starts, labels, weights, scores):  # type: ignore[no-untyped-def]
    """Add to scores[i, c] the product w_c·x_i; weights are sparse, words × labels."""
    for i in range(starts.size - 1):
        for e in range(starts[i], starts[i + 1]):
            w, x = words[e], values[e]
            for k in range(weight_starts[w], weight_starts[w + 1]):
                scores[i, labels[k]] += x * weights[k]
