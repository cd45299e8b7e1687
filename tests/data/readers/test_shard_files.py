"""A folder of shards, and reading one that has bad lines in it."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from deplda import Fields, ReadError, WordCounter
from deplda.data.readers import shard_files
from deplda.data.readers.shard_files import Shard, format_of, names_in

WORDS = ("bee", "cat")


def read(path: Path, size: int = 2, **options: Any) -> tuple[dict[str, list[int]], list[Any]]:
    """Return the counts of the good documents by id, and what was noted of the others."""
    noted: list[Any] = []
    shard = Shard(path, Fields(labels=None))
    labels: Any = None if shard.is_numbered else ()
    found: dict[str, list[int]] = {}
    for corpus in shard.corpora(
        size,
        lambda *bad: noted.append(bad),
        counter=WordCounter(language=None),
        vocabulary=None if shard.has_words else WORDS,
        label_names=labels,
        **options,
    ):
        assert len(corpus) <= size
        found |= dict(zip(corpus.ids, corpus.align(WORDS).counts.toarray().tolist(), strict=True))
    return found, noted


def test_shards_are_known_by_their_names(tmp_path: Path) -> None:
    for name in ("b.svm.gz", "a.JSONL", "c.txt", ".d.jsonl", "f.parquet"):
        (tmp_path / name).touch()
    assert names_in(tmp_path) == ["a.JSONL", "b.svm.gz", "f.parquet"]
    assert format_of(Path("x.libsvm.gz")) == "svmlight"
    assert format_of(Path("x.pdf")) is None
    with pytest.raises(ReadError, match="there is no such folder"):
        names_in(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match=r"there is no shard in it: none ends in \.jsonl, \.nd"):
        names_in(tmp_path / "empty")


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("packed", [False, True])
def test_bad_lines_of_jsonl_are_noted_once_and_keep_their_numbers(
    tmp_path: Path, size: int, packed: bool
) -> None:
    lines = [
        b'{"counts": {"bee": 1}}',
        b"{oops",
        b"",
        b'{"id": "x", "counts": {"bee": -1}}',
        b'{"id": "x", "counts": {"cat": 2}}',
        b'{"id": "x", "counts": {"cat": 3}}',
        b"[1]",
        b"\xff",
        b'{"counts": {"bee": 4}}',
    ]
    content = b"\n".join(lines)
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    path.write_bytes(gzip.compress(content) if packed else content)
    found, noted = read(path, size)
    assert found == {"0": [1, 0], "x": [0, 2], "7": [4, 0]}
    assert [(line, id) for line, id, _ in noted] == [
        (2, None), (4, "x"), (6, "x"), (7, None), (8, None),
    ]  # fmt: skip
    assert "this is not JSON" in noted[0][2]
    assert "the count of 'bee' is -1" in noted[1][2]
    assert "the id 'x' stands on line 5 already" in noted[2][2]


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("header", ["", "6 2 9\n"])
def test_bad_lines_of_svmlight_are_noted_once_and_keep_their_rows(
    tmp_path: Path, size: int, header: str
) -> None:
    path = tmp_path / "a.svm"
    path.write_text(f"{header}0 0:1\n# passed over\n1 1:x\n\n0 7:1\n 1:2\n1 2")
    found, noted = read(path, size)
    assert found == {"0": [1, 0], "2": [0, 0], "4": [0, 2]}
    first = 2 if header else 1
    assert [(line - first, id) for line, id, _ in noted] == [(2, "1"), (4, "3"), (6, "5")]
    (tmp_path / "a.ids.txt").write_text("p\nq\nr\ns\nt\nu\n")
    (tmp_path / "a.vocab.txt").write_text("cat\nbee\n")
    found, noted = read(path, size)
    assert found == {"p": [0, 1], "r": [0, 0], "t": [2, 0]}
    assert [id for _, id, _ in noted] == ["q", "s", "u"]


def test_a_header_that_promises_more_is_noted_and_the_documents_keep_their_rows(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.svm"
    path.write_text("9 2 9\n0 0:1\n0 1:1\n")
    found, noted = read(path)
    assert found == {"0": [1, 0], "1": [0, 1]}
    problem = "the header promises 9 documents but 2 follow; is it cut off?"
    assert noted == [(1, None, problem)]


@pytest.mark.parametrize(("name", "line"), [("a.jsonl", "{oops\n"), ("a.svm", "0 x\n")])
def test_a_shard_of_bad_lines_alone_has_no_documents_and_too_many_are_an_error(
    tmp_path: Path, name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text(3 * line)
    monkeypatch.setattr(shard_files, "_MOST_BAD", 3)
    found, noted = read(path)
    assert found == {}
    assert [line for line, _, _ in noted] == [1, 2, 3]
    path.write_text(4 * line)
    with pytest.raises(ReadError, match=r"line 4: more than 3 lines hold no document; is this"):
        read(path)


def test_one_bad_document_of_another_format_fails_the_shard(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\na,bee\nb\n")
    with pytest.raises(ReadError, match="line 3: this row has 1 cells"):
        read(path)


def test_damage_that_is_not_of_a_line_fails_the_shard(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"counts": {}}\n' * 100)[:-12])
    with pytest.raises(ReadError, match="gzip data is damaged"):
        read(path)
    numbered = tmp_path / "b.svm"
    numbered.write_text("0 0:1\n")
    (tmp_path / "b.ids.txt").write_text("p\nq\n")
    with pytest.raises(ReadError, match="it has 1 documents but there are 2 ids"):
        read(numbered)
