"""Small files that unpack to gigabytes are refused before they fill the memory."""

import gzip
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from deplda import ReadError, read_corpus, read_shards
from deplda.data.sizes import VARIABLE
from tests.abuse.conftest import Amount
from tests.data.readers.office_files import pdf_of

MIB = 1 << 20


def packed(path: Path, n: int, head: bytes, body: bytes, tail: bytes = b"") -> None:
    """Write gzip of `n` bytes of the same, with a beginning and an end."""
    block = (body * (MIB // len(body) + 1))[: MIB // len(body) * len(body)]
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        for _ in range(n // len(block) + 1):
            file.write(block)
        file.write(tail)


def repeated_text(path: Path, n: int, *, rows: int) -> None:
    """Write Parquet whose one text stands once in the file, and `rows` times in its table."""
    texts = pyarrow.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["a " * (n // rows // 2)])
    table = pyarrow.table({"text": texts, "labels": [["x"]] * rows})
    pyarrow.parquet.write_table(table, path, compression="zstd", store_schema=False)


def long_list(path: Path, n: int) -> None:
    """Write Parquet with one document of tokens, all the same, that take `n` bytes."""
    n //= 8
    tokens = pyarrow.ListArray.from_arrays(np.array([0, n], np.int32), np.zeros(n, np.int64))
    table = pyarrow.table({"tokens": tokens, "labels": [["x"]]})
    pyarrow.parquet.write_table(table, path, compression="zstd")


def zipped(path: Path, n: int, *, part: str, head: bytes) -> None:
    """Write an archive with a part of `n` bytes of the same, as .xlsx and .docx are."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(part, "w", force_zip64=True) as file,
    ):
        file.write(head)
        for _ in range(n // MIB):
            file.write(b"a" * MIB)


def page(path: Path, n: int) -> None:
    """Write a PDF whose one page is packed, and has a sixteenth of `n` letters."""
    packer = zlib.compressobj(1)
    parts = [packer.compress(b"BT /F1 12 Tf (")]
    parts += [packer.compress(b"a" * (n // 16))]
    stream = b"".join([*parts, packer.compress(b") Tj ET"), packer.flush()])
    path.write_bytes(pdf_of(stream, filter="/Filter /FlateDecode"))


Bomb = Callable[[Path, int], None]
BOMBS: dict[str, tuple[str, Bomb]] = {
    "a line of JSONL": ("x.jsonl.gz", partial(packed, head=b'{"text":"', body=b"a")),
    "a line of CSV": ("x.csv.gz", partial(packed, head=b'text,labels\n"', body=b"a")),
    "a row of CSV": ("x.csv.gz", partial(packed, head=b'text,labels\n"', body=b"a" * 99 + b"\n")),
    "a line of TSV": ("x.tsv.gz", partial(packed, head=b"text\tlabels\n", body=b"a\t")),
    "a line of svmlight": ("x.svm.gz", partial(packed, head=b"1 ", body=b"1:1 ")),
    "names beside svmlight": ("x.vocab.txt", partial(packed, head=b"", body=b"a")),
    "a text": ("x.text", partial(packed, head=b"", body=b"words\n")),
    "a line of text": ("x.lines", partial(packed, head=b"", body=b"words ")),
    "one text in all rows": ("x.parquet", partial(repeated_text, rows=20)),
    "one long row": ("x.parquet", partial(repeated_text, rows=1)),
    "a long list": ("x.parquet", long_list),
    "an array": ("x.json.gz", partial(packed, head=b'[{"text":"', body=b"a")),
    "a line of UTF-16": ("x.csv.gz", partial(packed, head=b"\xff\xfet\0", body=b"a\0")),
    "a sheet": ("x.xlsx", partial(zipped, part="xl/worksheets/sheet1.xml", head=b"<worksheet>")),
    "a Word file": ("x.docx", partial(zipped, part="word/document.xml", head=b"<w>")),
    "a page": ("x.pdf", page),
}


def refused(path: Path, format: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, format)
    with pytest.raises(ReadError):
        list(read_shards(path, 2, format))
    return str(caught.value)


@pytest.mark.parametrize("kind", BOMBS)
def test_a_record_above_the_limit_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, write = BOMBS[kind]
    write(tmp_path / name, 4 * MIB)
    if name == "x.vocab.txt":
        (tmp_path / "x.svm").write_text("0 0:1\n")
        name = "x.svm"
    monkeypatch.setenv(VARIABLE, "100KiB")
    format = name.removeprefix("x.") if name in ("x.text", "x.lines") else None
    message = refused(tmp_path / name, format)
    assert "100 KiB" in message
    assert VARIABLE in message
    assert str(tmp_path) in message


def test_parquet_that_repeats_a_text_is_bounded_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "100KiB")  # of which 16 are the limit of a whole file
    repeated_text(tmp_path / "few.parquet", 1_400 << 10, rows=1_400)
    assert len(read_corpus(tmp_path / "few.parquet")) == 1_400
    repeated_text(tmp_path / "many.parquet", 16 * MIB, rows=1 << 10)
    message = refused(tmp_path / "many.parquet", None)
    assert "the text of the rows so far has more than 1.56 MiB" in message


@pytest.mark.parametrize(
    "format",
    ["jsonl", "json", "csv", "xlsx", "svmlight", "parquet", "text", "lines", "pdf", "docx"],
)
def test_a_file_without_an_end_is_refused(format: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "100KiB")
    refused(Path("/dev/zero"), format)


def test_many_lines_within_the_limit_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "40")
    path = tmp_path / "x.jsonl.gz"
    line = b'{"text":"many words","labels":["a"]}\n'
    path.write_bytes(gzip.compress(line * 5000))
    assert sum(len(shard) for shard in read_shards(path, 1000)) == 5000
    (tmp_path / "x.csv").write_bytes(b"text,labels\n" + b'"many\nwords",a\n' * 100)
    assert len(read_corpus(tmp_path / "x.csv")) == 100


READ = """
import resource, sys, warnings
from deplda import DepldaError, read_corpus
import pyarrow.parquet
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    read_corpus(sys.argv[1], sys.argv[2] or None)
except DepldaError as error:
    print(type(error).__name__, error)
# Not getrusage: its maximum is that of the process which started this one, if that is larger.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.parametrize("kind", BOMBS)
def test_two_thousand_megabytes_are_refused_in_little_memory(
    kind: str, tmp_path: Path, amount: Amount
) -> None:
    if not amount(0, 1) or sys.platform != "linux":
        pytest.skip("takes a minute; make test-abuse runs it, on Linux")
    name, write = BOMBS[kind]
    write(tmp_path / name, 1900 * MIB)
    if name == "x.vocab.txt":
        (tmp_path / "x.svm").write_text("0 0:1\n")
        name = "x.svm"
    format = name.removeprefix("x.") if name in ("x.text", "x.lines") else ""
    command = [sys.executable, "-c", READ, str(tmp_path / name), format, str(8 << 30)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    message, kilobytes = done.stdout.splitlines()
    assert message.startswith("ReadError")
    # What the interpreter and its packages need, and sixteen times the limit.
    assert int(kilobytes) < (300 + 1400) * 1024, message
