"""Documents as Annif has them, in all of its formats."""

import gzip
import io
import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from deplda import Corpus, Fields, ReadError, Where, concat, read_corpus, read_shards
from deplda.data.files import StandardInput
from deplda.data.readers import read_rows
from deplda.data.readers.annif import has_full_texts, is_address
from tests.data.readers.documents import PLAIN

A, B = "http://y/p1", "http://y/p2"
TSV = f"apple bee\t<{A}> <{B}>\nbee cat\nWörter\t<{B}>\t<{A}>\n"
CSV = f'document_id,title,text,subject_uris\na,Eins,apple bee,<{A}> {B}\nb,Zwei,"bee\ncat",\n'
JSON: list[dict[str, Any]] = [
    {"document_id": "a", "text": "apple bee", "subjects": [{"uri": A}, {"uri": B, "label": "x"}]},
    {"document_id": "b", "text": "bee cat", "metadata": {"title": "Zwei"}, "subjects": []},
    {"text": "cat", "subjects": [{"label": "a name"}]},
]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def full_texts(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        write(folder / name, content)
    return folder


def rows(path: Path, fields: Fields | None = None, encoding: str = "utf-8") -> list[Any]:
    return [row for _, row in read_rows(path, "annif", fields, encoding)]


def problem(path: Path, fields: Fields | None = None) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, "annif", counter=PLAIN, fields=fields)
    assert str(path) in str(caught.value)
    return str(caught.value).removeprefix(str(path))


def in_labels(corpus: Corpus) -> list[list[str]]:
    return [[corpus.label_names[place] for place in row.indices] for row in corpus.labels]


# TSV ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", "a", "a.txt"])
def test_lines_of_tsv_are_a_text_and_its_subjects(tmp_path: Path, name: str) -> None:
    content = ("\ufeff" + TSV.replace("\n", "\r\n")).encode()
    path = write(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    corpus = read_corpus(path, "annif", counter=PLAIN)
    assert corpus.vocabulary == ("apple", "bee", "cat", "wörter")
    assert in_labels(corpus) == [[A, B], [], [A, B]]
    assert corpus.ids == ("0", "1", "2")
    assert corpus == read_corpus(path, counter=PLAIN)
    assert corpus == concat(read_shards(path, 2, "annif", counter=PLAIN))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"text\thttp://y/1", "expected a subject as <URI>; found 'http://y/1': write addresses"),
        (b"text\t<a><b>", "expected a subject as <URI>; found '<a><b>'"),
        (b" \t<http://y/1>", "there is no text before the tab, but '<http://y/1>' after it"),
        (b"\xe4\t<a>", "byte 0xe4 at column 1 is not utf-8; pass encoding='latin-1'"),
    ],
)
def test_a_line_of_tsv_that_is_no_document_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    path = write(tmp_path / "a.tsv", b"first\t<a>\n\n" + line + b"\n")
    assert problem(path).startswith(f", line 3: {said}")


def test_another_encoding_is_read_when_it_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "Wörter\t<a>".encode("latin-1"))
    assert rows(path, encoding="latin-1") == [{"text": "Wörter", "labels": ["a"]}]


def test_without_labels_what_stands_after_the_tab_is_not_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "text\tmore text\n")
    assert rows(path, Fields(labels=None)) == [{"text": "text"}]


def test_a_text_without_fields_is_the_text_that_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "text\t<a>\n")
    several = Fields(text=["title", "body"], weights={"title": 2})
    assert rows(path, several) == [{"body": "text", "labels": ["a"]}]
    assert rows(path, Fields(text=["title", "text"])) == [{"text": "text", "labels": ["a"]}]


# CSV ----------------------------------------------------------------------------------------------


def test_a_csv_has_ids_subjects_and_metadata_that_may_be_texts(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "\ufeff" + CSV)
    corpus = read_corpus(path, counter=PLAIN)
    assert (corpus.ids, in_labels(corpus)) == (("a", "b"), [[A, B], []])
    assert corpus.vocabulary == ("apple", "bee", "cat")
    titled = read_corpus(path, counter=PLAIN, fields=Fields(text=["Title", "text"]))
    assert titled.vocabulary == ("apple", "bee", "cat", "eins", "zwei")
    chosen = Fields(where=[Where("title", "Zwei")])
    assert read_corpus(path, counter=PLAIN, fields=chosen).ids == ("b",)
    assert read_corpus(path, counter=PLAIN, fields=Fields(id="title")).ids == ("Eins", "Zwei")
    assert read_corpus(path, counter=PLAIN, fields=Fields(id=None)).ids == ("0", "1")


def test_a_csv_without_ids_is_numbered_or_has_those_of_another_column(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"text,subject_uris\nbee,{A}\n")
    assert read_corpus(path, counter=PLAIN).ids == ("0",)
    path = write(tmp_path / "b.csv", f"id,text,subject_uris\nk,bee,{A}\n")
    assert read_corpus(path, counter=PLAIN).ids == ("k",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "text,labels\nbee,x\n",
            "line 1: there is no column 'subject_uris' (found: 'text', 'lab",
        ),
        ("body,subject_uris\nbee,\n", "line 1: there is no column 'text' (found: 'body', 'subject"),
        (
            "text,subject_uris\nbee,climate change\n",
            "line 2: expected a subject as <URI>; found 'c",
        ),
        ("text,subject_uris\nbee\n", "line 2: this row has 1 cells but the header names 2"),
    ],
)
def test_a_csv_that_is_not_annifs_is_named(tmp_path: Path, content: str, said: str) -> None:
    assert problem(write(tmp_path / "a.csv", content)).startswith(f", {said}")


# JSON ---------------------------------------------------------------------------------------------


def test_json_lines_have_subjects_by_address_or_name(tmp_path: Path) -> None:
    content = "\n".join(map(json.dumps, JSON))
    path = write(tmp_path / "a.jsonl", content)
    corpus = read_corpus(path, counter=PLAIN)
    assert corpus.ids == ("a", "b", "2")
    assert in_labels(corpus) == [[A, B], [], ["a name"]]
    titled = Fields(text=["title", "text"])
    assert "zwei" in read_corpus(path, counter=PLAIN, fields=titled).vocabulary
    assert corpus == read_corpus(write(tmp_path / "b", content), "annif", counter=PLAIN)


def test_a_json_file_is_one_document_named_by_itself_or_by_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "d1.json", "\ufeff" + json.dumps(JSON[2], indent=1))
    corpus = read_corpus(path, counter=PLAIN)
    assert (corpus.ids, in_labels(corpus)) == (("d1",), [["a name"]])
    path = write(tmp_path / "d2.json", json.dumps(JSON[0], indent=1))
    assert read_corpus(path, "annif", counter=PLAIN).ids == ("a",)
    path = write(tmp_path / "d3.json", json.dumps(JSON[0]) + "\n" + json.dumps(JSON[1]))
    assert problem(path).endswith(
        "a .json file is one document: name it .jsonl if it has one a line"
    )


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"id": "a", "text": "b", "labels": []}, "it has the field 'id', but Annif's documents"),
        ({"document_id": "a"}, "it has none of 'text'"),
        ({"text": 7}, "'text' is 7; it must be a string"),
        ({"text": "b", "metadata": "c"}, "'metadata' is 'c'; it must be an object"),
        ({"text": "b", "subjects": "c"}, "'subjects' is 'c'; it must be a list of objects"),
        ({"text": "b", "subjects": ["c"]}, "'subjects' holds c; a subject is an object"),
        ({"text": "b", "subjects": [{}]}, "'subjects' holds {}; a subject is an object"),
        ({"text": "b", "subjects": [{"uri": "a b"}]}, "'subjects' holds {'uri': 'a b'}; a subject"),
        ({"text": "b", "subjects": [{"label": " "}]}, "'subjects' holds {'label': ' '}; a sub"),
        ({"text": "b", "document_id": 1.5}, "'id' is 1.5; an id must be a string"),
    ],
)
def test_json_that_is_no_document_is_named(
    tmp_path: Path, document: dict[str, Any], said: str
) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "first"}\n' + json.dumps(document))
    assert problem(path).startswith(f", line 2: {said}")
    assert said in problem(write(tmp_path / "a.json", json.dumps(document)))


# Folders ------------------------------------------------------------------------------------------


def test_a_folder_has_texts_with_their_subjects_beside_them(tmp_path: Path) -> None:
    folder = full_texts(
        tmp_path / "f",
        {
            "b.txt": "\ufeffbee\ncat\r\n", "b.tsv": f"\ufeff<{B}>\tzwei\n\n<{A}>\n", "b.key": "no",
            "a.txt": "apple", "a.key": f" eins \nzwei\twords\n<{A}>\n\n",
            "c.txt": "", ".d.txt": "hidden", "README.md": "about",
            "e.json": json.dumps(JSON[2]), "f.json": json.dumps(JSON[1] | {"document_id": "z"}),
        },
    )  # fmt: skip
    corpus = read_corpus(folder, counter=PLAIN)
    assert corpus.ids == ("a", "b", "c", "e", "z")
    assert in_labels(corpus) == [["eins", A, "zwei"], [A, B], [], ["a name"], []]
    assert corpus.counts.sum(axis=1).tolist() == [1, 2, 0, 1, 2]
    assert corpus == concat(read_shards(folder, 2, counter=PLAIN))
    assert has_full_texts(folder)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.md": ""}, ": there is no document in it: no file of .txt, .pdf, .docx, .json"),
        ({"a.txt": "x", "b.tsv": "<u>"}, "/b.tsv: there are subjects, but no b.txt with the text"),
        ({"a.txt": "x", "b.key": "u"}, "/b.key: there are subjects, but no b.txt with the text"),
        ({"a.txt": "x", "a.json": "{}"}, "/a.json: a.txt is there too; rename one"),
        ({"a.txt": "x", "a.tsv": "<u>\nv"}, "/a.tsv, line 2: expected a subject as <URI>; found"),
        ({"a.json": "{"}, "/a.json: this is not JSON"),
        ({"a.json": "{}"}, ", line 1: it has none of 'text'"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    assert problem(full_texts(tmp_path / "f", files)).startswith(said)


@pytest.mark.parametrize("name", ["b.txt", "a.tsv", "c.json"])
def test_links_in_a_folder_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("<u>")
    folder = full_texts(tmp_path / "f", {"a.txt": "x", "a.key": "u"})
    (folder / name).symlink_to(tmp_path / "secret")
    assert "this is not a plain file; links and pipes are not followed" in problem(folder)


def test_subjects_are_not_needed_where_labels_are_not_read(tmp_path: Path) -> None:
    folder = full_texts(tmp_path / "f", {"a.txt": "x", "a.tsv": "no address", "b.tsv": ""})
    assert rows(folder, Fields(labels=None)) == [{"text": "x", "id": "a"}]


def test_a_folder_of_other_files_is_not_taken_for_full_texts(tmp_path: Path) -> None:
    assert not has_full_texts(full_texts(tmp_path / "texts", {"a.txt": "x", "b.txt": "y"}))
    data = {"all.svm.gz": "", "labels.txt": "x", "vocab.txt": "y", "all.docs.tsv": "z"}
    assert not has_full_texts(full_texts(tmp_path / "data", data))
    assert not has_full_texts(full_texts(tmp_path / "model", {"card.json": '{"class": "x"}'}))
    assert has_full_texts(full_texts(tmp_path / "json", {"a.json": json.dumps(JSON[0])}))


def test_a_document_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLDA_MAX_RECORD", "1K")
    for name in ("a.txt", "a.json"):
        folder = full_texts(tmp_path / name.replace(".", "-"), {name: "x\n" * 600})
        assert problem(folder).startswith(f"/{name}: this text has more than 1 KiB; the limit is")


# Streams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [TSV, CSV, json.dumps(JSON[0])])
def test_standard_input_is_told_by_its_first_line(content: str) -> None:
    stream = StandardInput(io.BytesIO(content.encode()))
    assert in_labels(read_corpus(stream, "annif", counter=PLAIN))[0] == [A, B]


def test_a_pipe_without_a_name_is_tsv(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=write, args=(tmp_path / "pipe", TSV))
    writer.start()
    corpus = read_corpus(tmp_path / "pipe", "annif", counter=PLAIN)
    writer.join()
    assert in_labels(corpus) == [[A, B], [], [A, B]]


def test_an_address_has_a_scheme_and_no_blank() -> None:
    assert all(map(is_address, (A, "urn:nbn:fi:1", "gnd:4")))
    assert not any(map(is_address, ("LAW", "climate change", "<http://a>", ":x", "http: //a", "")))
