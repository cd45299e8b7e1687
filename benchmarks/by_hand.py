"""What is written by hand beside the library that does the same: damaged files, odd ones, time.

Run: ``python -m benchmarks.by_hand [--data-dir DIR]``; with real data (tib_core) encodings too.
docs/design.md says what came of it. Linux alone: each damaged file is read in a fork.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import random
import resource
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.common import cpu_seconds
from deplda import ReadError

Read = Callable[[bytes], object]
_MOST_MEMORY, _MOST_SECONDS = 8 << 30, 20
_FILES, _RECORDS = 100, 20
_ENDS = {0: "read", 1: "refused", 2: "out of memory"}


def after_damage(read: Read, whole: bytes, first: int, n: int) -> dict[str, int]:
    """Count how a reader ends with files in which up to 8 bytes from `first` on are others."""
    ends: Counter[str] = Counter()
    for seed in range(n):
        rng, content = random.Random(seed), bytearray(whole)  # noqa: S311
        for _ in range(rng.randint(1, 8)):
            content[rng.randrange(first, len(content))] = rng.randrange(256)
        ends[_end_of(read, bytes(content))] += 1
    return dict(ends.most_common())


def _end_of(read: Read, content: bytes) -> str:
    if not (process := os.fork()):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        signal.alarm(_MOST_SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        warnings.simplefilter("ignore")
        try:
            read(content)
        except MemoryError:
            os._exit(2)
        except Exception:  # noqa: BLE001, RUF100
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return _ENDS[os.WEXITSTATUS(status)]


def opened(content: bytes) -> Any:
    return io.BytesIO(content)


def parquet() -> tuple[bytes, int, Read, Read]:
    import pyarrow
    from pyarrow.parquet import ParquetFile, write_table

    from deplda.data.readers.footer import row_groups

    def pyarrows(content: bytes) -> None:
        found = ParquetFile(io.BytesIO(content)).metadata
        for group in (found.row_group(number) for number in range(found.num_row_groups)):
            for column in (group.column(number) for number in range(group.num_columns)):
                _ = column.path_in_schema, column.num_values, column.total_uncompressed_size

    buffer = io.BytesIO()
    table = {"text": ["a b", "c"] * 50, "labels": [["x"], ["y", "z"]] * 50}
    write_table(pyarrow.table(table), buffer)
    whole = buffer.getvalue()
    return whole, len(whole) - 1200, lambda content: row_groups(io.BytesIO(content)), pyarrows


def encodings(data_dir: Path, encoding: str) -> dict[str, Counter[str]]:
    """Count how files of German records in an encoding are read, without being told which."""
    from charset_normalizer import from_bytes

    from deplda.data.encodings import AUTO, Decoder

    def ours(lines: Sequence[bytes]) -> list[str] | None:
        decoder = Decoder("records", AUTO)
        try:
            return [decoder(number, line) for number, line in enumerate(lines, 1)]
        except ReadError:
            return None

    def theirs(lines: Sequence[bytes]) -> list[str] | None:
        best = from_bytes(b"\n".join(lines)).best()
        return None if best is None else str(best).split("\n")

    with gzip.open(data_dir / "tib_core" / "dev-de.tsv.gz", "rt", encoding="utf-8") as file:
        every = [line.partition("\t")[0] for line in file]
    records = [text for text in every if not text.isascii() and _is_western(text)]
    found: dict[str, Counter[str]] = {"deplda": Counter(), "charset-normalizer": Counter()}
    for start in range(0, _FILES * _RECORDS, _RECORDS):
        texts = records[start : start + _RECORDS]
        for name, read in (("deplda", ours), ("charset-normalizer", theirs)):
            got = read([text.encode(encoding) for text in texts])
            found[name]["refused" if got is None else "right" if got == texts else "wrong"] += 1
    return found


def _is_western(text: str) -> bool:
    return text.encode("cp1252", "ignore").decode("cp1252") == text


def statistics() -> dict[str, tuple[float, float]]:
    """Return CPU seconds of ours and of scipy for the same numbers."""
    from scipy.stats import bootstrap, chi2_contingency

    from deplda.data.collocations import log_likelihood_ratio
    from deplda.evaluation.estimate import bootstrap as ours
    from deplda.evaluation.estimate import mean_of

    rng, total = np.random.default_rng(0), 1_000_000
    metrics = {f"metric {k}": mean_of(rng.random(5000)) for k in range(16)}
    ways: dict[str, Any] = {"paired": True, "vectorized": True, "method": "percentile"}

    def theirs() -> None:
        for top, bottom in metrics.values():
            bootstrap((top, bottom), lambda x, y, axis: x.sum(axis) / y.sum(axis), **ways,
                      n_resamples=1000, batch=100, rng=rng)  # fmt: skip

    both = rng.integers(5, 50, 10_000)
    first, second = (both + rng.integers(0, 500, 10_000) for _ in range(2))

    def tables() -> None:
        for b, f, s in zip(both, first, second, strict=True):
            table = [[b, f - b], [s - b, total - f - s + b]]
            chi2_contingency(table, correction=False, lambda_="log-likelihood")

    return {
        "intervals of 16 metrics": (cpu_seconds(lambda: ours(metrics)), cpu_seconds(theirs)),
        "G² of 10,000 pairs of words": (
            cpu_seconds(lambda: log_likelihood_ratio(both, first, second, total)),
            cpu_seconds(tables),
        ),
    }


def forms(n: int = 20_000_000) -> tuple[float, float]:
    """Return CPU seconds of ours and of Python's for a form of percent signs."""
    from urllib.parse import parse_qsl

    from deplda.web.annif.urlencoded import read_form

    body = b"text=" + b"%" * n
    return cpu_seconds(lambda: read_form(body, ["text"])), cpu_seconds(lambda: parse_qsl(body))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("-n", type=int, default=3000, help="damaged files of each kind")
    asked, out = parser.parse_args(), Console(width=120)
    whole, first, ours, theirs = parquet()
    out.print(f"Parquet, {asked.n:,} damaged files")
    out.print("  deplda", after_damage(ours, whole, first, asked.n))
    out.print("  pyarrow", after_damage(theirs, whole, first, asked.n))
    for what, (mine, peers) in statistics().items():
        out.print(f"{what}: deplda {mine:.4f} s, scipy {peers:.2f} s")
    out.print("a form of 20 MB of percent signs: deplda {:.1f} s, Python {:.1f} s".format(*forms()))
    if asked.data_dir is not None:
        warnings.simplefilter("ignore")
        for encoding in ("cp1252", "utf-8"):
            out.print(f"{_FILES} files in {encoding}:", encodings(asked.data_dir, encoding))


if __name__ == "__main__":
    main()
