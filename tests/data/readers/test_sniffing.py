"""Which format a file is told to be in; those of Annif from ours."""

import gzip
import io
import json
import os
from pathlib import Path

import pytest

from deplda import ReadError
from deplda.data.files import StandardInput
from deplda.data.readers import guess_format
from deplda.data.readers.sniffing import format_by_name, suffix_of

ANNIF = {
    "a.tsv": "text\t<http://y/1>\n",
    "b.tsv": "no subjects\nno\t\ntext\t<http://y/1> <http://y/2>\t<urn:3>",
    "a.csv": '"text",subject_uris\n',
    "b.csv": "title,subject_uris,text,document_id\n",
    "a.jsonl": '{"text": "a", "subjects": [{"uri": "x"}]}\n',
    "b.jsonl": '{"text": "a", "subjects": []}\n{"text": "a", "subjects": [{"label": "x"}]}\n',
    "c.jsonl": '{"document_id": "1", "text": "a"}\n',
    "d.jsonl": '{"text": "a", "metadata": {"title": "b"}}\n',
    "a.json": json.dumps({"text": "a", "subjects": [{"uri": "x"}]}, indent=1),
    "b.json": '{"text": "a", "subjects": [{"uri": "x"}]}',
}
OURS = {
    "a.tsv": "text\tlabels\nbee\t<x>\n",
    "b.tsv": "text\nno tabs at all\n",
    "c.tsv": "text\t<http://y/1>\ntext\t<http://y/1> and words\n",
    "d.tsv": "text\t\n",
    "a.csv": "text,labels\n",
    "b.csv": "body,subject_uris\n",
    "a.jsonl": '{"text": "a", "labels": []}\n',
    "b.jsonl": '{"text": "a", "subjects": ["x"]}\n',
    "c.jsonl": '{"text": "a"}\n',
    "d.jsonl": '{"document_id": "1", "text": "a", "labels": ["x"]}\n',
    "e.jsonl": '{"text": "a", "subjects": "x;y"}\n',
    "f.jsonl": "{broken\n",
    "g.jsonl": "\n",
}


@pytest.mark.parametrize("name", ANNIF)
def test_annifs_files_are_told_by_what_ours_do_not_have(tmp_path: Path, name: str) -> None:
    for file in (tmp_path / name, tmp_path / "nameless"):
        file.write_text(ANNIF[name])
        # A file of one document over several lines is told by its name alone.
        assert guess_format(file) == ("jsonl" if file.name + name == "namelessa.json" else "annif")
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(ANNIF[name].encode()))
    assert guess_format(tmp_path / f"{name}.gz") == "annif"


@pytest.mark.parametrize("name", OURS)
def test_what_could_be_ours_is_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(OURS[name])
    assert guess_format(tmp_path / name) == format_by_name(name)


def test_a_line_that_the_sample_cuts_off_is_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\t<http://y/1>\n" + "x" * 2_000_000 + "\t<http://y/2>\n")
    assert guess_format(path) == "annif"
    path.write_text("text\t<http://y/1>\nx" + "\t<y>" * 2_000_000)
    assert guess_format(path) == "annif"


def test_standard_input_is_looked_into() -> None:
    for content, format in ((ANNIF["a.tsv"], "annif"), (OURS["a.csv"], "csv")):
        assert guess_format(StandardInput(io.BytesIO(content.encode()))) == format


def test_a_pipe_is_told_by_its_name_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    assert guess_format(tmp_path / "a.jsonl") == "jsonl"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="a pipe is read only once"):
        guess_format(tmp_path / "pipe")


def test_a_folder_is_annifs(tmp_path: Path) -> None:
    assert guess_format(tmp_path) == "annif"


def test_the_end_of_a_name_is_known_packed_and_in_capitals() -> None:
    assert [suffix_of(name) for name in ("a.TSV.gz", "a.b.csv", "a", "a.gz")] == [
        ".tsv", ".csv", "", "",
    ]  # fmt: skip
