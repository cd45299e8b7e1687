"""Opening files and standard input."""

import gzip
import io
import json
import os
from pathlib import Path
from threading import Thread

import pytest

from deplda import ReadError, read_corpus
from deplda.data.encodings import decode
from deplda.data.files import MOST_TOML, StandardInput, decode_toml, read_lines, read_plain
from tests.data.readers.documents import PLAIN, write_lines


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_stands_in_the_place_of_a_file(packed: bool, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl")
    data = path.read_bytes()
    stream = StandardInput(io.BytesIO(gzip.compress(data) if packed else data))
    assert read_corpus(stream, "jsonl", counter=PLAIN) == read_corpus(path, counter=PLAIN)


def test_a_pipe_is_read_when_its_format_is_said(tmp_path: Path) -> None:
    pipe, data = tmp_path / "pipe", write_lines(tmp_path / "a.jsonl").read_bytes()
    os.mkfifo(pipe)
    with pytest.raises(ReadError, match="a pipe is read only once; say its format="):
        read_corpus(pipe)
    writer = Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert len(read_corpus(pipe, "jsonl")) == 3
    writer.join()


def test_an_error_on_standard_input_is_called_so() -> None:
    with pytest.raises(ReadError, match=r"^standard input, line 2: this is not JSON"):
        read_corpus(StandardInput(io.BytesIO(b'{"text":"a","labels":[]}\n{oops\n')), "jsonl")


def test_lines_come_with_numbers_and_without_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\ntwo")
    assert list(read_lines(path)) == [(1, b"one"), (2, b""), (3, b"two")]
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_lines(path)) == [(1, b"one"), (2, b""), (3, b"two")]


def test_a_byte_of_another_encoding_is_named_with_its_column() -> None:
    with pytest.raises(ReadError, match=r"^a, line 7: byte 0xf6 at column 2 is not utf-8"):
        decode("a", 7, b"k\xf6nig", "utf-8")


def test_only_plain_files_are_read_as_our_own(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("plain")
    os.mkfifo(tmp_path / "pipe")
    assert read_plain(tmp_path / "plain") == b"abc"
    for name in ("link", "pipe", "."):
        with pytest.raises(ReadError, match="this is not a plain file"):
            read_plain(tmp_path / name)
    with pytest.raises(ReadError, match="3 bytes are more than 2"):
        read_plain(tmp_path / "plain", 2)
    with pytest.raises(ReadError, match="No such file"):
        read_plain(tmp_path / "none")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = 1\na" + b".a" * 200_000 + b" = 1", "x.toml, line 2: a key has more than 16 parts"),
        (b"[a" + b" .\ta" * 200_000 + b"]", "a key has more than 16 parts"),
        (rb"'='" + rb'."\"="' * 100_000 + b"= 1", "a key has more than 16 parts"),
        (b"a = " + b"[" * 100_000, "no TOML: "),
        (b"a = " + b"9" * 5_000, "no TOML: .*5000 digits"),
        (b'a = "\xff"', "no TOML: .*can't decode"),
        (b"#" * (MOST_TOML + 1), "this TOML has more than 1,048,576 bytes"),
    ],
)
def test_toml_that_would_take_all_memory_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        decode_toml("x.toml", content, dict, "this is no TOML: {}")


def test_numbers_and_sentences_in_toml_are_no_long_keys() -> None:
    said = {"a.b": [0.5, 1.5] * 20, "b": "One. Two three. " * 20, "c": "x" * 1000}
    content = "\n".join(f"{json.dumps(name)} = {json.dumps(each)}" for name, each in said.items())
    assert decode_toml("x.toml", content.encode(), dict, "{}") == said
