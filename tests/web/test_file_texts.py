"""Files that a client sends are read as those on the command line are."""

from typing import Any

import httpx
import pytest
from starlette.exceptions import HTTPException

from deplda.data.fields import Fields
from deplda.web import Limits
from deplda.web.file_texts import texts_in
from tests.data.readers.office_files import docx, pdf, xlsx
from tests.web.serving import running, text_model

TABLE = "id,title,text\n7,First,The court\n8,,a jury\n9,Empty,\n"


def read(client: httpx.Client, name: str, content: bytes | str, **how: Any) -> httpx.Response:
    kind = {"Content-Type": "application/octet-stream"}
    return client.post("/v1/read", params={"name": name}, content=content, headers=kind, **how)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", "The court", [("a", "", "The court")]),
        ("b.md", "# The court", [("b", "", "# The court")]),
        ("c.pdf", pdf("The court"), [("c", "", "The court")]),
        ("d.docx", docx("The court", "a jury"), [("d", "", "The court\na jury")]),
        ("e.csv", TABLE, [("7", "First", "The court"), ("8", "", "a jury")]),
        ("f.tsv", TABLE.replace(",", "\t"), [("7", "First", "The court"), ("8", "", "a jury")]),
        ("g.xlsx", xlsx([["id", "text"], [7, "The court"]]), [("7", "", "The court")]),
        ("h.jsonl", '{"text": "a"}\n{"text": "b"}', [("1", "", "a"), ("2", "", "b")]),
        ("i.csv", "text\nder Müller\n".encode("cp1252"), [("2", "", "der Müller")]),
        ("j.txt", "der Müller".encode("utf-16"), [("j", "", "der Müller")]),
        ("../../etc/i.txt", "The court", [("i", "", "The court")]),
        (f"k.{'a' * 253}", "text,id\ncourt,7\n", [("7", "", "court")]),
    ],
)  # fmt: skip
def test_documents_of_every_format_are_read(
    name: str, content: Any, expected: Any, client: httpx.Client
) -> None:
    answer = read(client, name, content)
    assert answer.status_code == 200, answer.text
    found = [(each["id"], each["title"], each["text"]) for each in answer.json()["documents"]]
    assert found == expected


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", b"no PDF", "a.pdf: this is no readable PDF"),
        (
            "a.csv",
            "id,body\n1,court\n",
            "there is no column 'text' (found: 'id', 'body'); rename the",
        ),
        ("a.jsonl", "{", "a.jsonl, line 1: "),
        ("a.txt", " ", "a.txt: there is no text in it"),
        ("a.svm", "1 1:2\n", "a.svm: it holds numbers of words"),
        ("a.zip", b"PK\x03\x04", "a.zip: "),
        ("a.doc", b"\xd0\xcf\x11\xe0", "a.doc: "),
        ("a.b", "court", "a.b: cannot tell its format; let its name end with it, such as .txt"),
        ("a.xlsx", xlsx([["body"], ["court"]]), "there is no column 'text'"),
        ("a.xlsx", xlsx([]), "its first row must name the columns"),
    ],
)
def test_what_cannot_be_read_is_told_without_a_path_of_the_server(
    name: str, content: Any, said: str, client: httpx.Client
) -> None:
    answer = read(client, name, content)
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert "/tmp" not in answer.text  # noqa: S108
    assert "--" not in answer.text


def test_tables_are_read_by_the_fields_of_the_model() -> None:
    model = text_model()
    model.fields_ = Fields(text=("title", "body"), labels="subjects")
    with running(model) as address, httpx.Client(base_url=address, timeout=60) as client:
        (found,) = read(client, "a.csv", "title,body\nA title,court\n").json()["documents"]
    assert (found["title"], found["text"]) == ("A title", "A title\ncourt")


@pytest.mark.parametrize(
    ("name", "content", "missing"),
    [
        ("a.csv", "Title,Abstract\nA title,court\n", []),
        ("a.csv", "Export\n\n Title ;Text\nA title;court\n", ["Abstract"]),
        ("a.xlsx", xlsx([["Abstract"], ["court"]]), ["Title"]),
        ("a.jsonl", '{"Title": "court"}\n{"Abstract": ""}', []),
        ("a.jsonl", '{"Title": "court"}\n{"Title": "jury"}', ["Abstract"]),
        ("a.txt", "court", []),
    ],
)
def test_text_fields_that_a_file_lacks_are_named(name: str, content: Any, missing: Any) -> None:
    fields = Fields(text=("Title", "Abstract"), labels=("Subject 1", "Subject 2"))
    body = content if isinstance(content, bytes) else content.encode()
    answer = texts_in(body, name, fields, Limits())
    assert answer.missing_text_fields == missing
    texts = fields.texts[:1] if name == "a.txt" else fields.texts
    assert answer.text_fields == [each for each in texts if each not in missing]


def test_long_texts_are_cut_and_too_much_text_is_refused() -> None:
    limits = Limits(characters=10, large_body_bytes=40)
    (found,) = texts_in(b"x" * 15, "a.txt", None, limits).documents
    assert (found.text, found.n_left_out) == ("x" * 10, 5)
    with (
        running(text_model(), limits) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        assert read(client, "a.txt", "x" * 41).status_code == 413
    packed = xlsx([["text"], *[["court " * 9]] * 9])
    with pytest.raises(HTTPException, match="its texts have more than 40 characters"):
        texts_in(packed, "a.xlsx", None, limits)


def test_a_file_of_very_many_documents_is_refused() -> None:
    limits = Limits(file_documents=2)
    assert len(texts_in(b"text\na\nb\n", "a.csv", None, limits).documents) == 2
    with pytest.raises(HTTPException, match=r"a.csv: it has more than 2 documents; send a part"):
        texts_in(b"text\na\nb\nc\n", "a.csv", None, limits)


def test_ids_and_titles_count_as_texts_do() -> None:
    limits = Limits(large_body_bytes=40)
    for row in ("a,court," + "x" * 40, "x" * 40 + ",court,a"):
        with pytest.raises(HTTPException, match="more than 40 characters"):
            texts_in(f"id,text,title\n{row}\n".encode(), "a.csv", None, limits)


def test_the_text_of_a_whole_file_is_not_its_title() -> None:
    fields = Fields(text=("title", "text"))
    (found,) = texts_in(b"The court", "a.txt", fields, Limits()).documents
    assert (found.id, found.title, found.text) == ("a", "", "The court")


def test_the_file_must_be_named_and_be_sent_as_it_is(client: httpx.Client) -> None:
    kind = {"Content-Type": "application/octet-stream"}
    assert client.post("/v1/read", content=b"x", headers=kind).status_code == 422
    assert client.post("/v1/read?name=a.txt", json={}).status_code == 415
