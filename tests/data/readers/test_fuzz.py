"""Whatever a file holds, reading it gives a corpus or an error of ours; warnings are errors."""

import gzip
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from deplda import Corpus, DepldaError, concat, read_corpus, read_shards
from tests.data.readers.mat_files import contents

FORMATS = ["jsonl", "csv", "tsv", "parquet", "svmlight", "mat"]
CSV = 'id,text,labels\nr,"hello, there\nbig ""world""",a;b\ns,small wörld,c\n,nothing,\n'
JSONL = (
    '{"id":"r","text":"hello there wörld","labels":"a;b"}\n'
    '{"text":"small zebra","labels":["c",5]}\n'
    '{"counts":{"a":2,"b":30,"\\u00e4":1.0},"labels":null,"id":7}\r\n'
    '\n{"tokens":["a","b"],"labels":[]}\n'
)
SVMLIGHT = ("4 5 3\n0 0:2 2:1\n\n0,1 1:12 2:1\n 3:1\n", "# c\n1,2 3:1 4:2\n\n 3:1.0\n2 # end\n")


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


def mat(compress: bool) -> bytes:
    buffer = BytesIO()
    savemat(buffer, contents(), do_compression=compress)  # type: ignore[arg-type]
    return buffer.getvalue()


@cache
def valid(format: str) -> list[bytes]:
    match format:
        case "jsonl":
            return [JSONL.encode()]
        case "csv":
            return [CSV.encode()]
        case "tsv":
            return [CSV.replace(",", "\t").encode()]
        case "svmlight":
            return [text.encode() for text in SVMLIGHT]
        case "parquet":
            return [parquet(), parquet(compression="none", use_dictionary=False)]
        case _:
            return [mat(compress=False), mat(compress=True)]


def read_both_ways(content: bytes, format: Any) -> Corpus | None:
    """Read as a whole and in shards, which must agree; None stands for an error of ours."""
    whole = shards = None
    with TemporaryDirectory() as folder:
        path = Path(folder, "documents")
        path.write_bytes(content)
        with suppress(DepldaError):
            whole = read_corpus(path, format)
        with suppress(DepldaError):
            shards = concat(read_shards(path, 2, format))
    assert whole == shards
    return whole


@st.composite
def damaged(draw: st.DrawFn, files: list[bytes]) -> bytes:
    content = bytearray(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, max(len(content) - 1, 0)))
        end = start + draw(st.sampled_from([1, 2, 8, 50]))
        match draw(st.sampled_from(["flip", "set", "insert", "delete", "repeat", "truncate"])):
            case "flip":
                content[start : start + 1] = bytes(
                    byte ^ (1 << draw(st.integers(0, 7))) for byte in content[start : start + 1]
                )
            case "set":
                content[start : start + 1] = draw(st.binary(min_size=1, max_size=1))
            case "insert":
                content[start:start] = draw(st.binary(min_size=1, max_size=4))
            case "delete":
                del content[start:end]
            case "repeat":
                content[start:start] = content[start:end]
            case _:
                del content[start:]
    return bytes(content)


@pytest.mark.parametrize("format", FORMATS)
def test_the_undamaged_files_are_read(format: str) -> None:
    for content in valid(format):
        corpus = read_both_ways(content, format)
        assert corpus is not None
        assert corpus == read_both_ways(gzip.compress(content), format)
        assert corpus == read_both_ways(content, None)


@pytest.mark.parametrize("format", [*FORMATS, None])
@given(content=st.binary(max_size=200))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_random_bytes_are_a_corpus_or_an_error_of_ours(content: bytes, format: Any) -> None:
    read_both_ways(content, format)
    read_both_ways(gzip.compress(content), format)


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
@settings(derandomize=True, deadline=None, max_examples=200)
def test_a_damaged_file_is_a_corpus_or_an_error_of_ours(data: st.DataObject, format: Any) -> None:
    content = data.draw(damaged(valid(format)))
    read_both_ways(content, format)


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
@settings(derandomize=True, deadline=None, max_examples=50)
def test_damage_inside_or_around_gzip_is_a_corpus_or_an_error_of_ours(
    data: st.DataObject, format: Any
) -> None:
    inside = gzip.compress(data.draw(damaged(valid(format))))
    read_both_ways(inside, format)
    around = data.draw(damaged([gzip.compress(content, mtime=0) for content in valid(format)]))
    read_both_ways(around, format)


@given(data=st.data())
@settings(derandomize=True, deadline=None, max_examples=200)
def test_a_damaged_file_of_unknown_format_is_a_corpus_or_an_error_of_ours(
    data: st.DataObject,
) -> None:
    read_both_ways(data.draw(damaged([c for format in FORMATS for c in valid(format)])), None)
