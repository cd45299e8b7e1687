"""The counter-based generator all kernels draw from: a number is a function of (stream, counter).

A stream is a pair (key, gamma) of 64-bit words; its n-th number is the SplitMix64 finalizer of
key + n·gamma. There is no state to keep: a sweep can be repeated, resumed or cut in pieces, by any
number of workers, and every token still gets the same number.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Stream = npt.NDArray[np.uint64]

# What a stream is for. Numbers, never reused: they are part of what a seed means.
WORD_CHAIN = 1
TOPIC_CHAIN = 2
DOCUMENT = 3
CHAIN_PHI = 4
CHAIN_TOPICS = 5


def stream(seed: int, purpose: int, number: int) -> Stream:
    """Return the stream of one chain: (key, gamma), gamma odd."""
    sequence = np.random.SeedSequence(seed, spawn_key=(purpose, number))
    words = sequence.generate_state(2, np.uint64).astype(np.uint64)
    words[1] |= np.uint64(1)
    return words


@njit(inline="always")
def _mixed(x):  # type: ignore[no-untyped-def]
    """Return SplitMix64's finalizer of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(inline="always")
def uniform(key, gamma, counter):  # type: ignore[no-untyped-def]
    """Return the counter-th number of a stream, in (0, 1): 53 bits, never 0 and never 1."""
    x = _mixed(key + np.uint64(counter) * gamma)
    return (np.float64(x >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@njit(nogil=True, cache=True)
def document_key(words, times):  # type: ignore[no-untyped-def]
    """Return 64 bits that tell one document's content from another's."""
    key = np.uint64(0x243F6A8885A308D3)
    for k in range(words.size):
        content = np.uint64(words[k]) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(times[k])
        key = _mixed(key ^ content)
    return key


@njit(nogil=True, cache=True)
def own_stream(key, content, chain):  # type: ignore[no-untyped-def]
    """Return the key of a chain's stream in a document, by the document's content."""
    return key ^ (content + np.uint64(chain) * np.uint64(0xD1342543DE82EF95))
