"""Text corpora of the EUR-Lex shape as folders of shards, of any size, a shard in memory at a time.

Labels, words and lengths are those of `power_law`: label frequencies follow a power law,
so that most labels are rare, some five labels a document go together by topics, and words are
Zipf-distributed, of labels and of a background. Here words are written out, and some are met
only once or twice, as misspelt ones and names are: there are always more of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from benchmarks.power_law import power_law
from deplda.data.atomic import write_whole

_SYLLABLES = ["".join(pair) for pair in product("bcdfghjklmnprstvwxz", "aeiou")]
_RARE_SHARE = 0.002
_OF_ALL = 10**7  # rare words there are to draw from


class Shape(NamedTuple):
    """How large a corpus is, and of how many labels and words; the same shape, the same bytes."""

    documents: int
    labels: int
    words: int = 50_000
    tokens: float = 200.0
    """Of a document, on average."""
    shard: int = 10_000
    """Documents drawn together, which are a file, or several."""
    parts: int = 1
    """Files that documents drawn together are divided into, whatever else is the same."""
    seed: int = 0

    @property
    def per_file(self) -> int:
        """How many documents a file has, but for the last of those drawn together."""
        return -(-self.shard // self.parts)

    @property
    def sizes(self) -> list[int]:
        """How many documents are drawn together each time."""
        firsts = range(0, self.documents, self.shard)
        return [min(self.shard, self.documents - first) for first in firsts]

    @property
    def shards(self) -> int:
        """How many files there are."""
        return sum(-(-size // self.per_file) for size in self.sizes)


def write_shards(folder: Path, shape: Shape) -> Path:
    """Write the files that are not there yet, as JSONL; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names = np.array([spelled(number) for number in range(shape.words)], dtype=object)
    paths = iter([folder / f"{number:05}.jsonl" for number in range(shape.shards)])
    for number, size in enumerate(shape.sizes):
        own = list(islice(paths, -(-size // shape.per_file)))
        if all(path.exists() for path in own):
            continue
        lines = _lines(shape, names, number)
        for path in own:
            part = list(islice(lines, shape.per_file))
            if not path.exists():
                with write_whole(path) as file:
                    file.writelines(part)
    return folder


def spelled(number: int) -> str:
    """Return a word of three syllables or more for a number, another one for each."""
    rest, found = divmod(number, len(_SYLLABLES))
    syllables = [_SYLLABLES[found]]
    while rest or len(syllables) < 3:
        rest, found = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[found])
    return "".join(syllables)


def _lines(shape: Shape, names: npt.NDArray[np.object_], number: int) -> Iterator[bytes]:
    """Yield the documents that are drawn together as lines of JSON."""
    first, n = number * shape.shard, shape.sizes[number]
    corpus = power_law(
        n, shape.labels, shape.words, tokens_per_document=shape.tokens,
        seed=shape.seed * 1_000_003 + number,
    )  # fmt: skip
    x, y = corpus.counts, corpus.labels
    words = np.repeat(names[x.indices], x.data).tolist()
    ends = np.cumsum(corpus.document_lengths)
    rng = np.random.default_rng((shape.seed, number, 1))
    n_rare = rng.poisson(_RARE_SHARE * corpus.document_lengths)
    rare = iter(rng.integers(0, _OF_ALL, n_rare.sum()).tolist())
    labels = [f"label {label}" for label in y.indices.tolist()]
    begin = 0
    for row in range(n):
        own = words[begin : ends[row]] + [
            spelled(shape.words + next(rare)) for _ in range(n_rare[row])
        ]
        begin = ends[row]
        document = {
            "id": str(first + row),
            "text": " ".join(own),
            "labels": labels[y.indptr[row] : y.indptr[row + 1]],
        }
        yield msgspec.json.encode(document) + b"\n"
