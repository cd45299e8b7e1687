"""A small corpus, and documents in shards, for the tests of training."""

from pathlib import Path

import numpy as np

from deplda import Corpus, LabelWords, write_jsonl


def small() -> Corpus:
    rng = np.random.default_rng(0)
    return Corpus(rng.integers(0, 4, (30, 12)), rng.random((30, 6)) < 0.4)


def same(left: LabelWords, right: LabelWords) -> bool:
    return (
        np.array_equal(left.weights.indices, right.weights.indices)
        and left.weights.data.tobytes() == right.weights.data.tobytes()
        and left.base.tobytes() == right.base.tobytes()
    )


def in_shards(corpus: Corpus, folder: Path, n: int) -> Path:
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(corpus)), n)):
        write_jsonl(corpus[rows], folder / f"docs-{number}.jsonl")
    return folder
