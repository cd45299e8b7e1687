import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deplda import Fields, ReadError, WordCounter, concat, read_corpus, read_shards
from deplda.data.readers.json_files import _elements
from deplda.data.sizes import VARIABLE

PLAIN = WordCounter(stop_words=None, min_count=1, language=None)
ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "bee zebrä", "labels": ["x", "y"]},
    {"id": "b", "text": None, "labels": []},
]


def written(path: Path, value: Any, encoding: str = "utf-8", **options: Any) -> Path:
    path.write_bytes(json.dumps(value, ensure_ascii=False, **options).encode(encoding))
    return path


def problem(path: Path, **options: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, **options)
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_an_array_is_what_the_same_documents_are_in_json_lines(
    tmp_path: Path, indent: int | None, encoding: str
) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    expected = read_corpus(lines, counter=PLAIN)
    for name in ("a.json", "documents"):
        path = written(tmp_path / name, ROWS, encoding, indent=indent)
        assert read_corpus(path, counter=PLAIN) == expected
        assert concat(read_shards(path, 1, counter=PLAIN)) == expected


def test_another_encoding_of_an_array_may_be_said(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", ROWS, "latin-1")
    assert "zebrä" in read_corpus(path, encoding="latin-1", counter=PLAIN).vocabulary


def test_one_object_over_several_lines_is_a_document(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", ROWS[0], indent=1)
    assert read_corpus(path, counter=PLAIN).ids == ("a",)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([ROWS[0], 5], ", document 2: expected a JSON object, found int"),
        ([ROWS[0], {"id": "b"}], ", document 2: it has none of 'text'"),
        ([ROWS[0], ROWS[0]], ", document 2: the id 'a' stands on document 1 already"),
        ([{"text": "bee"}], ": no document has the field 'labels' (found: 'text')"),
        ([], ": there is no document in it"),
        (
            {"articles": [ROWS[0]], "n": 1},
            ": it is one object, and no document (found: 'articles', 'n'); are the documents under "
            "'articles'? save that array as a file of its own, for example with: jq '.[",
        ),
        ({"body": {"0": "bee"}}, ": it is one object, and no document (found: 'body'); write"),
    ],
)
def test_what_holds_no_documents_says_what_to_do(tmp_path: Path, value: Any, said: str) -> None:
    assert problem(written(tmp_path / "a.json", value, indent=1)).startswith(said)


def test_what_is_no_json_says_what_a_file_may_be(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"text": "bee"}\n{"text": "cat"}]')
    assert problem(path).endswith("name it .jsonl if it has one a line")


def test_a_field_of_another_name_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", {"Body": "bee", "tags": "x"}, indent=1)
    assert read_corpus(path, fields=Fields(text="body", labels="tags")).label_names == ("x",)


def test_an_array_above_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1K")
    path = written(tmp_path / "a.json", [ROWS[0]] * 1000)
    assert ": this file has more than 16 KiB" in problem(path)


def test_an_array_is_parted_as_its_elements_are(tmp_path: Path) -> None:
    chance = random.Random(0)  # noqa: S311
    pieces = ['{"a":"]}"}', "{}", "[1,[]]", '"x\\"],"', "5", "null", ",", "[", "]", "}", " ", '"']
    pieces += ['{"b":{"c":[{}]}}', "\\", "\n"]
    n_sound = 0
    for _ in range(3_000):
        inside = ", ".join(chance.choices(pieces[:6] + pieces[-3:-2], k=chance.randrange(4)))
        for _ in range(chance.randrange(2)):
            at = chance.randrange(len(inside) + 1)
            inside = inside[:at] + chance.choice(pieces) + inside[at:]
        content = f" [{inside}] ".encode()
        try:
            expected = msgspec.json.decode(content, type=list[msgspec.Raw])
        except msgspec.DecodeError:
            expected = None
        try:
            found = [part.strip() for part in _elements("a.json", content, 2)]
            for part in found:
                msgspec.json.decode(part)
        except (ReadError, msgspec.DecodeError):
            assert expected is None or any(not is_json(bytes(each)) for each in expected), content
        else:
            assert expected is not None, content
            assert found == [bytes(each).strip() for each in expected]
            n_sound += 1
    assert n_sound > 500


def is_json(content: bytes) -> bool:
    try:
        msgspec.json.decode(content)
    except msgspec.DecodeError:
        return False
    return True


def test_elements_that_are_no_documents_are_not_all_taken_up_first(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1, 1, 1 and no end")
    assert ", document 1: expected a JSON object, found int" in problem(tmp_path / "a.json")


def test_each_document_of_an_array_is_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1K")
    small = {"text": "bee " * 100, "labels": ["x"]}
    path = written(tmp_path / "a.json", [small] * 10)
    assert len(read_corpus(path, counter=PLAIN)) == 10
    large = {"text": "bee " * 400, "labels": ["x"]}
    assert ", document 3: it has 1.59 KiB" in problem(
        written(tmp_path / "b.json", [small, small, large])
    )
    assert "no array of documents" in problem(written(tmp_path / "c.json", large, indent=1))
