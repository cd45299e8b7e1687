"""The largest of each row on a GPU: those of a whole sort, whatever the length of the row."""

from pathlib import Path

import numpy as np
import pytest

from deplda.kernels.cuda.device import Gpu
from deplda.kernels.cuda.largest import largest
from tests.kernels.cuda.emulator import emulated


def are_right(gpu: Gpu, n: int, n_kept: int) -> bool:
    rng = np.random.default_rng(n)
    rows = np.array([
        np.exp(rng.normal(0, 40, n)), rng.gamma(0.3, size=n), rng.integers(0, 3, n), np.zeros(n),
        np.nextafter(1.0, rng.integers(0, 3, n)), 1 / rng.permutation(np.arange(1, n + 1)),
        np.arange(n) > n - 5, rng.normal(size=n), rng.choice([-0.0, 0.0, -1e-9], n),
    ], np.float64)  # fmt: skip
    names, place = (gpu.get(each) for each in largest(gpu, gpu.put(rows), n_kept))
    expected = np.sort(np.argsort(-rows, axis=1, kind="stable")[:, :n_kept], axis=1)
    places = np.full(rows.shape, -1)
    np.put_along_axis(places, expected, np.arange(n_kept)[None], axis=1)
    return bool((names == expected).all() and (place == places).all())


@pytest.mark.parametrize(
    ("n", "n_kept"), [(1, 1), (31, 5), (256, 256), (257, 256), (300, 7), (5_000, 256)]
)
def test_they_are_the_head_of_a_stable_sort(gpu: Gpu, n: int, n_kept: int) -> None:
    assert are_right(gpu, n, n_kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("own_equal < ties", "true"),
        ("wanted - (upto - own)", "wanted - upto"),
        ("(key ^ least) >> (shift + BITS) == 0", "true"),
        ("bits >> 63 ? ~bits", "bits >> 63 ? bits"),
        ("min(own_equal, ties)", "own_equal"),
    ],
)
def test_a_wrong_kernel_is_found(folder: Path, right: str, wrong: str) -> None:
    assert not are_right(emulated(folder, changed=(right, wrong)), 300, 7)
