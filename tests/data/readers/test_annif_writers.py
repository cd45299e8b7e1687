"""Documents written for Annif and read back."""

import csv
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda import Concept, InputError, Vocabulary, WordCounter, read_corpus, write_annif
from deplda.data.readers.annif_writers import file_name

A, B = "http://y/p1", "http://y/p2"
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "a", "text": "one\ttwo\r\nthree", "labels": [A, B]},
    {"id": "b", "text": 'say "no", four', "labels": []},
]
WORDS = Vocabulary([Concept(uri=A, names={"en": "first\none", "fi": "eka"})])
COUNTER = WordCounter(language=None, stop_words=None, min_count=1, token_pattern="codes")  # noqa: S106
COUNT = COUNTER.analyzer().counts

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ADDRESSES = st.from_regex(r"[a-z]+:[a-zåé/#?0-9]+", fullmatch=True)
NAMES = st.from_regex(r"[a-zåé]+( [a-zåé,;.()<>-]+)*", fullmatch=True)


@st.composite
def documents(draw: st.DrawFn, labels: st.SearchStrategy[str]) -> list[dict[str, Any]]:
    ids = draw(st.lists(TEXTS.filter(bool), min_size=1, max_size=4, unique=True))
    several = st.lists(labels, max_size=3, unique=True)
    return [{"id": id, "text": draw(TEXTS), "labels": draw(several)} for id in ids]


def check(given: list[dict[str, Any]], name: str, with_ids: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        assert write_annif(given, path) == len(given)
        found = read_corpus(path, "annif", counter=COUNTER)
    order: Iterable[int] = range(len(given))
    if name == "folder":
        order = sorted(order, key=lambda row: file_name(given[row]["id"]) + ".txt")
    assert len(found) == len(given)
    for row, at in enumerate(order):
        words = found.counts[[row]]
        counts = zip(words.indices, words.data, strict=True)
        assert {found.vocabulary[i]: n for i, n in counts} == COUNT(given[at]["text"])
        labels = {found.label_names[place] for place in found.labels[[row]].indices}
        assert labels == set(given[at]["labels"])
        if with_ids and name != "folder":
            assert found.ids[row] == given[at]["id"]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "folder"])
@given(given=documents(ADDRESSES))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_texts_and_addresses_come_back(name: str, given: list[dict[str, Any]]) -> None:
    if name.startswith("a.csv"):  # a cell of a table has line ends of the system it was made on
        given = [row | {"id": row["id"].replace("\r", "")} for row in given]
        given = [row for row in given if row["id"]] or [{"id": "x", "text": "y", "labels": []}]
        given = list({row["id"]: row for row in given}.values())
    check(given, name, with_ids=True)


@pytest.mark.parametrize("name", ["a.tsv.gz"])
@given(given=documents(ADDRESSES))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_words_and_addresses_come_back_from_lines(name: str, given: list[dict[str, Any]]) -> None:
    check([row for row in given if row["text"].strip()] or [DOCUMENTS[0]], name, with_ids=False)


@pytest.mark.parametrize("name", ["a.jsonl", "folder"])
@given(given=documents(NAMES | ADDRESSES))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_names_come_back_where_they_can_be_written(name: str, given: list[dict[str, Any]]) -> None:
    check(given, name, with_ids=True)


def test_what_is_written_is_what_annif_reads(tmp_path: Path) -> None:
    for name in ("a.tsv", "a.csv", "a.jsonl", "f"):
        assert write_annif(DOCUMENTS, tmp_path / name, vocabulary=WORDS, language="en") == 2
    lines = (tmp_path / "a.tsv").read_text().splitlines()
    assert lines == [f"one two three\t<{A}> <{B}>", 'say "no", four\t']
    with (tmp_path / "a.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["document_id", "text", "subject_uris"],
            ["a", "one\ttwo\r\nthree", f"{A} {B}"],
            ["b", 'say "no", four', ""],
        ]
    first = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    subjects = [{"uri": A, "label": "first one"}, {"uri": B}]
    assert first == {"document_id": "a", "text": DOCUMENTS[0]["text"], "subjects": subjects}
    files = {path.name: path.read_bytes().decode() for path in (tmp_path / "f").iterdir()}
    assert files == {
        "a.txt": DOCUMENTS[0]["text"], "a.tsv": f"<{A}>\tfirst one\n<{B}>\n",
        "b.txt": DOCUMENTS[1]["text"], "b.tsv": "",
    }  # fmt: skip


def test_names_stand_in_a_key_file(tmp_path: Path) -> None:
    write_annif([{"text": "x", "labels": ["a name", A]}], tmp_path / "f")
    assert (tmp_path / "f" / "0.key").read_text() == f"a name\n<{A}>\n"
    assert read_corpus(tmp_path / "f").label_names == ("a name", A)


def test_the_same_documents_give_the_same_bytes_packed_or_not(tmp_path: Path) -> None:
    write_annif(DOCUMENTS, tmp_path / "a.tsv")
    write_annif(DOCUMENTS, tmp_path / "b.tsv.gz")
    assert (
        gzip.decompress((tmp_path / "b.tsv.gz").read_bytes()) == (tmp_path / "a.tsv").read_bytes()
    )


@pytest.mark.parametrize(
    ("document", "name", "said"),
    [
        ({"id": "a", "counts": {"x": 1}}, "a.tsv", "document 'a' has no text but counts, and"),
        ({"tokens": ["x"]}, "a.jsonl", "has no text but tokens, and Annif's files hold texts"),
        ({"text": "x", "labels": ["LAW"]}, "a.tsv", "the label 'LAW' is not an address"),
        ({"text": "x", "labels": ["LAW"]}, "a.csv", "the label 'LAW' is not an address"),
        (
            {"text": "x", "labels": ["a\nb", "c"]},
            "f",
            r"the label 'a\\nb' cannot stand on one line",
        ),
        ({"id": "a", "text": " \n"}, "a.tsv", "document 'a' has an empty text, which a line of"),
        ({"id": "x" * 300, "text": "x"}, "f", "has 300 bytes as the name of a file, which may"),
        ({"id": "first", "text": "x"}, "f", "two documents have the id 'first'"),
        ({"text": "\ud800"}, "a.tsv", "holds a lone surrogate"),
        ({"text": "x"}, "a.docx", "is none of Annif's formats; its name must end in .tsv, .csv"),
        ({"text": "x"}, "f.gz", "is none of Annif's formats"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, document: dict[str, Any], name: str, said: str
) -> None:
    def given() -> Iterator[dict[str, Any]]:
        yield {"id": "first", "text": "good", "labels": []}
        yield document

    with pytest.raises(InputError, match=said):
        write_annif(given(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@given(st.lists(TEXTS, max_size=5, unique=True))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_no_two_ids_have_one_file_and_none_leads_elsewhere(ids: list[str]) -> None:
    names = [file_name(id) for id in ids]
    assert len(set(names)) == len(ids)
    for name in names:
        assert Path(name).name == name
        assert not name.startswith(".")
        assert not set(name) & set('\0\n/\\<>:"|?*')


def test_plain_ids_name_files_as_they_are() -> None:
    assert [file_name(id) for id in ("439556", "äiti 1.b", "a/b", "50%", "..", "")] == [
        "439556", "äiti 1.b", "a%2Fb", "50%25", "%2E%2E", "%",
    ]  # fmt: skip
