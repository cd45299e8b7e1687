"""Names found in documents, against plain Python."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from deplda.kernels import name_finder

finder: Any = name_finder
Array = np.ndarray[Any, Any]
N_COLUMNS = 30


def naive(counts: Array, names: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    """Return document, name, least count, earliness, sequences, qualifier of all that are found."""
    found = set()
    for d, row in enumerate(counts):
        for number, name in enumerate(names):
            if all(row[w] > 0 for w in name["words"]):
                early = min(row[e] if e >= 0 else 0 for e in name["early"])
                in_sequence = row[name["sequence"]] if name["sequence"] >= 0 else 0
                hint = any(row[q] > 0 for q in name["qualifiers"])
                least = min(row[w] for w in name["words"])
                found.add((d, number, *map(float, (least, early, in_sequence, hint))))
    return found


def some_names(rng: np.random.Generator, n: int) -> list[dict[str, Any]]:
    names = []
    for _ in range(n):
        words = rng.choice(20, rng.integers(1, 4), replace=False)
        names.append(
            {
                "words": words,
                "early": rng.integers(-1, N_COLUMNS, len(words)),
                "sequence": int(rng.integers(-1, N_COLUMNS)),
                "qualifiers": rng.choice(20, rng.integers(0, 3), replace=False),
            }
        )
    return names


def flat(lists: list[Array]) -> tuple[Array, Array]:
    starts = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return starts, np.concatenate([np.zeros(0), *lists]).astype(np.int32)


@pytest.mark.parametrize("most", [10**6, 7])
@pytest.mark.parametrize(
    ("seed", "n_documents", "n_names"), [(0, 40, 60), (1, 100, 400), (2, 5, 0)]
)
def test_names_are_found_as_by_looking_for_each(
    seed: int, n_documents: int, n_names: int, most: int
) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_array((n_documents, N_COLUMNS), density=0.4, rng=rng)
    counts = csr_array(matrix)
    counts.data = np.ceil(counts.data * 5)
    names = sorted(some_names(rng, n_names), key=lambda each: each["words"][0])
    starts, words = flat([each["words"] for each in names])
    _, early = flat([each["early"] for each in names])
    hint_starts, hints = flat([each["qualifiers"] for each in names])
    first = np.array([each["words"][0] for each in names], dtype=np.int64)
    key_starts = np.concatenate([[0], np.cumsum(np.bincount(first, minlength=N_COLUMNS))])
    weights = rng.integers(1, 6, n_names).astype(np.float64)
    ends, found, rows, heavy = finder.find_names(
        counts.indptr.astype(np.int64), counts.indices.astype(np.int32),
        counts.data.astype(np.float32), key_starts.astype(np.int64), starts, words, early,
        np.array([each["sequence"] for each in names], dtype=np.int32), hint_starts, hints,
        weights, most,
    )  # fmt: skip
    documents = np.repeat(np.arange(n_documents), np.diff(ends))
    told = {
        (int(d), int(name), *map(float, row))
        for d, name, row in zip(documents, found, rows, strict=True)
    }
    assert len(told) == len(found)
    expected = naive(counts.toarray(), names)

    def weight(each: tuple[Any, ...]) -> float:
        is_one = len(names[each[1]]["words"]) == 1
        return float(weights[each[1]]) * (1 if is_one or each[4] else 0.5)

    assert heavy.tolist() == [
        weight((d, name, *row))
        for d, name, row in zip(documents.tolist(), found.tolist(), rows.tolist(), strict=True)
    ]
    for d in range(n_documents):
        own = sorted(
            (each for each in expected if each[0] == d), key=lambda each: (-weight(each), each[1])
        )
        assert {each for each in told if each[0] == d} == set(own[:most])
