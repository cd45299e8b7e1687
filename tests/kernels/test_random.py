"""The generator against its twin, and the streams it is given."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda.kernels import random
from tests import naive


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1), st.integers(0, 2**48))
@settings(derandomize=True, deadline=None)
def test_uniform_is_its_twin(key: int, half_gamma: int, counter: int) -> None:
    gamma = 2 * half_gamma + 1
    drawn = random.uniform(np.uint64(key), np.uint64(gamma), counter)
    assert drawn == naive.uniform(key, gamma, counter)
    assert 0 < drawn < 1


def test_streams_differ_by_seed_purpose_and_number() -> None:
    streams = [random.stream(s, p, n) for s in (0, 1) for p in (1, 2) for n in (0, 1)]
    firsts = {tuple(int(word) for word in stream) for stream in streams}
    assert len(firsts) == 8
    assert all(int(stream[1]) % 2 == 1 for stream in streams)


def test_uniform_is_uniform() -> None:
    key, gamma = random.stream(7, 1, 3)
    drawn = np.array([random.uniform(key, gamma, n) for n in range(100_000)])
    observed, _ = np.histogram(drawn, bins=100, range=(0, 1))
    chi_square = ((observed - 1_000) ** 2 / 1_000).sum()
    assert 60 < chi_square < 149  # 99 degrees of freedom: outside once in a thousand
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01


def test_a_documents_key_is_its_twin_and_tells_contents_apart() -> None:
    words, times = np.array([3, 5, 9], np.int32), np.array([1, 2, 4], np.int32)
    assert int(random.document_key(words, times)) == naive.document_key([3, 5, 9], [1, 2, 4])
    others = [words[:2], words[::-1].copy(), np.array([3, 5, 8], np.int32)]
    keys = {int(random.document_key(own, times)) for own in (words, *others)}
    assert len(keys) == 4


def test_each_chain_has_a_stream_of_its_own_in_a_document() -> None:
    key, content = np.uint64(2**63 + 5), np.uint64(2**62 + 7)
    keys = {int(random.own_stream(key, content, chain)) for chain in range(100)}
    assert len(keys) == 100
    assert int(key ^ content) in keys
