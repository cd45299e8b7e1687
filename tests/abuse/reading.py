"""Damaged files of every format read in a process of their own, which may crash or hang.

``python -m tests.abuse.reading FOLDER FIRST LAST KIND…`` reads the damaged files FIRST to LAST of
each kind. What a file holds follows from its kind and number; the
one that is being read is in FOLDER. Printed is the most memory that was used, in kilobytes.
"""

import faulthandler
import gzip
import random
import resource
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow
import pyarrow.parquet

from deplda import (
    Corpus,
    Fields,
    GuessedEncodingWarning,
    GuessedSeparatorWarning,
    InputError,
    concat,
    read_corpus,
    read_shards,
    write_svmlight,
)
from deplda.data.readers import Format
from deplda.data.readers.shard_files import Shard
from tests.abuse.mutation import mutated_bytes
from tests.data.readers.office_files import docx, pdf, xlsx

SECONDS = 10
CSV = 'id,text,labels\nr,"hello, there\nbig ""world""",a;b\ns,small wörld,c\n,nothing,\n'
JSONL = (
    '{"id":"r","text":"hello there wörld","labels":"a;b"}\n'
    '{"text":"small zebra","labels":["c",5]}\n'
    '{"counts":{"a":2,"b":30,"\\u00e4":1.0},"labels":null,"id":7}\r\n'
    '\n{"tokens":["a","b"],"labels":[]}\n'
)
SVMLIGHT = ("4 5 3\n0 0:2 2:1\n\n0,1 1:12 2:1\n 3:1\n", "# c\n1,2 3:1 4:2\n\n 3:1.0\n2 # end\n")
ANNIF = (
    "hello there\t<http://a/1> <http://a/2>\nbig wörld\n\nzebra\t<http://a/2>\n",
    'document_id,text,subject_uris\nr,"hello ""there""",<http://a/1> http://a/2\n,wörld,\n',
    '{"document_id":"r","text":"hello","subjects":[{"uri":"http://a/1"},{"label":"ö"}]}\n'
    '{"text":"wörld","metadata":{"title":"zebra"},"subjects":[]}\n',
)
NAMES = ("vocab", "labels", "ids")


def parquet(**options: Any) -> bytes:
    pairs = [[("a", 1), ("b", 2)], [], [("b", 1)]]
    table = pyarrow.table(
        {
            "id": ["r", None, "t"],
            "counts": pyarrow.array(pairs, pyarrow.map_(pyarrow.string(), pyarrow.int64())),
            "labels": [["x"], [], ["x", "y"]],
        }
    )
    buffer = BytesIO()
    pyarrow.parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


@cache
def valid(format: str) -> list[bytes]:
    """Return files that can be read."""
    match format:
        case "jsonl":
            return [JSONL.encode()]
        case "json":
            rows = JSONL.strip().replace("\r", "").replace("\n\n", "\n").split("\n")
            return [f"[{','.join(rows)}]".encode()]
        case "csv":
            return [CSV.encode(), CSV.replace(",", "\t").encode("cp1252"), CSV.encode("utf-16")]
        case "tsv":
            return [CSV.replace(",", "\t").encode()]
        case "xlsx":
            return [xlsx([("id", "text", "labels"), ("r", "wörld", "a;b"), (7, None, True)])]
        case "pdf":
            return [pdf("hello there", "big world")]
        case "docx":
            return [docx("hello there", "big wörld")]
        case "svmlight":
            return [text.encode() for text in SVMLIGHT]
        case "parquet":
            plain = parquet(compression="none", use_dictionary=False)
            return [parquet(), plain, parquet(compression="zstd", data_page_version="2.0")]
        case "annif":
            return [text.encode() for text in ANNIF]
        case _:
            return ["hello there\n\nbig wörld\n".encode()]


def read_both_ways(path: Path, format: Any) -> Corpus | None:
    """Read as a whole and in shards, which must agree; None stands for an error of ours."""
    whole = shards = None
    with suppress(InputError):
        whole = read_corpus(path, format, fields=_fields(format))
    with suppress(InputError):
        shards = concat(read_shards(path, 2, format, fields=_fields(format)))
    assert whole == shards
    return whole


def _fields(format: Any) -> Fields:
    return Fields(labels=None) if format in ("text", "lines", "pdf", "docx") else Fields()


def check(corpus: Corpus) -> None:
    """See that a corpus is one, whatever was in the file."""
    for matrix in (corpus.counts, corpus.labels):
        matrix.check_format(full_check=True)
        assert matrix.has_canonical_format
    assert np.isfinite(corpus.counts.data).all()
    assert (corpus.counts.data > 0).all()
    assert corpus.labels.data.all()
    assert corpus.counts.shape == (len(corpus.ids), len(corpus.vocabulary))
    assert corpus.labels.shape == (len(corpus.ids), len(corpus.label_names))


def plain(folder: Path, format: str, random: random.Random) -> None:
    path = folder / "documents"
    path.write_bytes(mutated_bytes(random.choice(valid(format)), random))
    found = read_both_ways(path, random.choice([format, format, None]))
    if found is not None:
        check(found)


def packed(folder: Path, format: str, random: random.Random) -> None:
    """Damage what is packed, or the packing."""
    path, content = folder / "documents", random.choice(valid(format))
    if random.random() < 0.5:
        path.write_bytes(gzip.compress(mutated_bytes(content, random)))
    else:
        path.write_bytes(mutated_bytes(gzip.compress(content, mtime=0), random))
    found = read_both_ways(path, format)
    if found is not None:
        check(found)


def beside(folder: Path, format: str, random: random.Random) -> None:
    """Damage the names beside an svmlight file."""
    corpus = Corpus([[1, 2], [0, 3]], [[1], [0]], ["a", "ö"], ["x"], ["r", "s"])
    write_svmlight(corpus, folder / "documents.svm")
    damaged = folder / f"documents.{random.choice(NAMES)}.txt"
    damaged.write_bytes(mutated_bytes(damaged.read_bytes(), random))
    found = read_both_ways(folder / "documents.svm", "svmlight")
    if found is not None:
        check(found)


def shard(folder: Path, format: str, random: random.Random) -> None:
    """Read what is good of a damaged shard."""
    path = folder / f"documents.{format}"
    path.write_bytes(mutated_bytes(random.choice(valid(format)), random))
    with suppress(InputError):
        for corpus in Shard(path, Fields()).corpora(2, lambda *_: None):
            check(corpus)


KINDS: dict[str, tuple[Callable[[Path, str, random.Random], None], str]] = {
    **{format: (plain, format) for format in get_args(Format)},
    **{f"packed {format}": (packed, format) for format in get_args(Format)},
    **{f"shard {format}": (shard, format) for format in ("jsonl", "csv", "parquet", "svmlight")},
    "names": (beside, "svmlight"),
}


def main(folder: str, first: str, last: str, *kinds: str) -> None:
    warnings.simplefilter("error")
    for guessed in (GuessedEncodingWarning, GuessedSeparatorWarning):
        warnings.simplefilter("ignore", guessed)
    for kind in kinds:
        read, format = KINDS[kind]
        for number in range(int(first), int(last)):
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                read(Path(folder), format, random.Random(f"{kind} {number}"))  # noqa: S311
            except Exception as error:
                raise AssertionError(f"{kind} {number}: {type(error).__name__}: {error}") from error
    faulthandler.cancel_dump_traceback_later()
    sys.stdout.write(f"{most_memory()}\n")


def most_memory() -> int:
    """Return the most memory that this program used, in kilobytes.

    What Linux counts for the process has in it what its parent had when it was forked.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(each for each in status.read_text().splitlines() if each.startswith("VmHWM:"))
        return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main(*sys.argv[1:])
