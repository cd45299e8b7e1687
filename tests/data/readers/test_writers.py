import errno
import gzip
import os
import stat
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda import Corpus, Fields, InputError, read_corpus, read_shards, write_jsonl, write_svmlight
from deplda.data.readers import (
    plain_row,
    read_rows,
    rows_of,
    write_rows,
)
from tests.data.readers.documents import PLAIN, write_lines

WRITERS = [(write_jsonl, "documents.jsonl"), (write_svmlight, "documents.svm")]
Writer = Callable[[Corpus, Path], None]


def small() -> Corpus:
    return Corpus(
        [[2, 0, 1], [0, 0, 0], [0, 2**31 - 1, 1]],
        [[1, 0], [0, 0], [1, 1]],
        ["apple", "bee", "cat"],
        ["fruit", "animal"],
        ["a", "b", "c"],
    )


@st.composite
def corpora(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Corpus:
    n, w, c = draw(st.integers(1, 5)), draw(st.integers(0, 5)), draw(st.integers(0, 5))
    counts = st.one_of(st.just(0), st.integers(0, 3), st.just(2**31 - 1))
    label_names = names.filter(bool)
    return Corpus(
        np.reshape(draw(st.lists(counts, min_size=n * w, max_size=n * w)), (n, w)).astype(np.int64),
        np.reshape(draw(st.lists(st.booleans(), min_size=n * c, max_size=n * c)), (n, c)).astype(
            np.bool_
        ),
        draw(st.lists(names, min_size=w, max_size=w, unique=True)),
        draw(st.lists(label_names, min_size=c, max_size=c, unique=True)),
        draw(st.lists(names, min_size=n, max_size=n, unique=True)),
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
ONE_LINE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\ufeff"), max_size=4
)


@given(corpora(TEXT), st.sampled_from(["documents.jsonl", "documents.jsonl.gz"]))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_jsonl_gives_back_what_was_written(corpus: Corpus, name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        write_jsonl(corpus, path)
        words, labels = corpus.vocabulary, corpus.label_names
        assert read_corpus(path, vocabulary=words, label_names=labels) == corpus
        # Without the names, the same documents over those that really stand in one.
        found = read_corpus(path)
        assert found.vocabulary == tuple(
            sorted(np.array(corpus.vocabulary, dtype=object)[corpus.word_counts > 0])
        )
        assert found == corpus.align(found)


@given(corpora(ONE_LINE), st.sampled_from(["documents.svm", "documents.svm.gz", "documents"]))
@settings(derandomize=True, deadline=None, max_examples=150)
def test_svmlight_gives_back_what_was_written(corpus: Corpus, name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        write_svmlight(corpus, path)
        assert read_corpus(path, "svmlight") == corpus


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_the_same_corpus_gives_the_same_bytes_packed_or_not(
    tmp_path: Path, write: Writer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first" / f"{name}.gz", tmp_path / "second" / f"other-{name}.gz"
    for path, time in ((first, 1.0), (second, 2.0)):
        path.parent.mkdir()
        monkeypatch.setattr("time.time", lambda time=time: time)
        write(small(), path)
    assert first.read_bytes() == second.read_bytes()
    write(small(), tmp_path / name)
    assert gzip.decompress(first.read_bytes()) == (tmp_path / name).read_bytes()


def test_the_jsonl_that_is_written_is_what_people_expect(tmp_path: Path) -> None:
    write_jsonl(small(), tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_text().splitlines()[:2] == [
        '{"id":"a","counts":{"apple":2,"cat":1},"labels":["fruit"]}',
        '{"id":"b","counts":{},"labels":[]}',
    ]


def test_the_svmlight_that_is_written_is_what_people_expect(tmp_path: Path) -> None:
    write_svmlight(small(), tmp_path / "a.svm")
    assert (tmp_path / "a.svm").read_text() == "3 3 2\n0 0:2 2:1\n\n0,1 1:2147483647 2:1\n"
    assert (tmp_path / "a.vocab.txt").read_text() == "apple\nbee\ncat\n"
    assert (tmp_path / "a.labels.txt").read_text() == "fruit\nanimal\n"
    assert (tmp_path / "a.ids.txt").read_text() == "a\nb\nc\n"


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_a_written_file_has_the_rights_of_any_other(
    tmp_path: Path, write: Writer, name: str
) -> None:
    (tmp_path / "other").touch()
    write(small(), tmp_path / name)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == stat.S_IMODE(
        (tmp_path / "other").stat().st_mode
    )


@pytest.mark.parametrize(
    ("write", "name", "failing_call"),
    [(write_jsonl, "documents.jsonl.gz", 1)]
    + [(write_svmlight, "documents.svm.gz", number) for number in (1, 2, 3, 4)],
)
def test_a_failing_write_leaves_everything_as_it_was(
    tmp_path: Path, write: Writer, name: str, failing_call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    real = os.fsync

    def full_disk(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls == failing_call:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file)

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write(small(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []

    calls = failing_call
    write(small()[:1], tmp_path / name)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    calls = 0
    with pytest.raises(OSError, match="No space left"):
        write(small(), tmp_path / name)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(("write", "name"), WRITERS)
def test_an_interrupted_write_leaves_nothing_behind(
    tmp_path: Path, write: Writer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(matrix: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("deplda.data.readers.writers._rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(small(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\nb", "a\r", "\ufeffa", "\n"])
@pytest.mark.parametrize("what", ["vocabulary", "label_names", "ids"])
def test_a_name_that_a_line_cannot_hold_is_refused_and_nothing_written(
    tmp_path: Path, name: str, what: str
) -> None:
    corpus = Corpus([[1]], [[1]], **{what: [name]})
    with pytest.raises(InputError, match="write JSONL instead"):
        write_svmlight(corpus, tmp_path / "a.svm")
    assert list(tmp_path.iterdir()) == []
    write_jsonl(corpus, tmp_path / "a.jsonl")
    assert getattr(read_corpus(tmp_path / "a.jsonl"), what) == (name,)


@pytest.mark.parametrize(("write", "name"), WRITERS)
@pytest.mark.parametrize("what", ["vocabulary", "label_names", "ids"])
def test_a_name_that_is_no_text_is_refused_and_nothing_written(
    tmp_path: Path, write: Writer, name: str, what: str
) -> None:
    corpus = Corpus([[1]], [[1]], **{what: ["a\ud800"]})
    with pytest.raises(InputError, match="holds a lone surrogate"):
        write(corpus, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_label_name_is_refused_where_it_could_not_be_read_back(tmp_path: Path) -> None:
    corpus = Corpus([[1]], [[1]], label_names=[""])
    with pytest.raises(InputError, match="empty name ''; rename it, or write svmlight"):
        write_jsonl(corpus, tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []
    write_svmlight(corpus, tmp_path / "a.svm")
    assert read_corpus(tmp_path / "a.svm").label_names == ("",)


def test_what_is_written_is_also_read_in_shards(tmp_path: Path) -> None:
    corpus = small()
    write_svmlight(corpus, tmp_path / "a.svm")
    assert list(read_shards(tmp_path / "a.svm", 2)) == [corpus[:2], corpus[2:]]


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.gz", "b.parquet"])
def test_rows_are_written_with_the_names_that_are_read_by_default(
    tmp_path: Path, name: str
) -> None:
    rows = [
        {"key": 7, "body": "bee cat", "tags": "x;y"},
        {"key": 8, "body": "cat", "tags": ""},
    ]
    fields = Fields(id="key", text="body", labels="tags")
    path, target = write_lines(tmp_path / "a.jsonl", rows), tmp_path / name
    plain = (plain_row(row, fields) for _, row in read_rows(path, "jsonl", fields))
    assert write_rows(plain, target) == 2
    assert read_corpus(target, counter=PLAIN) == read_corpus(path, fields=fields, counter=PLAIN)


def test_counts_and_tokens_survive_parquet(tmp_path: Path) -> None:
    corpus = Corpus([[2, 0], [1, 3]], [[1, 0], [1, 1]], ["bee", "cat"], ["x", "y"], ["a", "b"])
    target = tmp_path / "a.parquet"
    assert write_rows(rows_of(corpus), target) == 2
    assert read_corpus(target) == corpus
    write_rows([{"tokens": ["bee", "bee"], "labels": ["x"]}], target)
    assert read_corpus(target).counts.toarray().tolist() == [[2]]


def test_parquet_of_more_rows_than_a_batch_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deplda.data.readers.writers._PARQUET_ROWS", 2)
    rows: Any = [{"id": str(i), "text": "bee", "labels": []} for i in range(5)]
    assert write_rows(rows, tmp_path / "a.parquet") == 5
    assert len(read_corpus(tmp_path / "a.parquet")) == 5
    rows[4] = {"id": "4", "counts": {"bee": 1}, "labels": []}
    with pytest.raises(InputError, match="has 'counts', but the first ones have only id, text"):
        write_rows(rows, tmp_path / "b.parquet")
    assert not (tmp_path / "b.parquet").exists()
