"""Tables whose header is not the first row."""

from pathlib import Path
from typing import Any

import pytest

from deplda import Corpus, Fields, ReadError, WordCounter, read_corpus, read_shards
from tests.data.readers.office_files import xlsx

PLAIN = WordCounter(stop_words=None, min_count=1, language=None)
FIELDS = Fields(id="Nr", text=["Title", "Text"], labels="Subjects")
TITLES = [["Catalogue export, title; text"], [], ["Title", "2026", "", ""]]
TABLE = [["Nr", "Title", "Text", "Subjects"], ["a", "bee", "ant\ncat", "x"], ["b", "dog", "", "y"]]


def write(path: Path, rows: list[list[str]], delimiter: str = ";") -> Path:
    if path.suffix == ".xlsx":
        path.write_bytes(xlsx(rows))
    else:
        quoted = ([f'"{cell}"' if {*cell} & {*" \n;,"} else cell for cell in row] for row in rows)
        path.write_text("".join(delimiter.join(row) + "\n" for row in quoted))
    return path


def check(corpus: Corpus) -> None:
    assert corpus.ids == ("a", "b")
    assert corpus.vocabulary == ("ant", "bee", "cat", "dog")
    assert corpus.label_names == ("x", "y")


@pytest.mark.parametrize("n_above", range(4))
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.xlsx"])
@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_the_header_is_the_row_with_the_requested_names(
    tmp_path: Path, name: str, delimiter: str, n_above: int
) -> None:
    path = write(tmp_path / name, TITLES[:n_above] + TABLE, delimiter)
    check(read_corpus(path, fields=FIELDS, counter=PLAIN))
    check(read_corpus(path, fields=FIELDS, counter=PLAIN, header_row=n_above + 1))
    (shard,) = read_shards(path, fields=FIELDS, counter=PLAIN)
    check(shard)


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_a_row_is_the_header_because_it_is_set(tmp_path: Path, name: str) -> None:
    rows = [["text", "labels"], ["", ""], ["text", "labels"], ["bee", "x"]]
    path = write(tmp_path / name, rows)
    assert "text" in read_corpus(path, counter=PLAIN).vocabulary
    assert read_corpus(path, counter=PLAIN, header_row=3).vocabulary == ("bee",)
    with pytest.raises(
        ReadError, match=r"(line|row) 4: there is no column 'text' \(found: 'bee', 'x"
    ):
        read_corpus(path, header_row=4)
    with pytest.raises(ReadError, match=r"row 9 is empty or does not exist; .*--header-row"):
        read_corpus(path, header_row=9)
    with pytest.raises(ReadError, match=r"header_row is 0; it must be a whole number from 1"):
        read_corpus(path, header_row=0)


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_a_header_that_is_not_found_is_shown_below_its_title(tmp_path: Path, name: str) -> None:
    rows = [["Catalogue, 2026"], ["Titel", "Text", "Fach"], ["a", "b", "c"]]
    path = write(tmp_path / name, rows)
    said = r"(line|row) 2: .* 'labels' \(found: 'Titel', 'Text', 'Fach'\);.*--header-row"
    with pytest.raises(ReadError, match=said):
        read_corpus(path)
    path = write(path, [["note"]] * 30 + TABLE)
    with pytest.raises(ReadError, match=r"(line|row) 1: there is no column .*\(found: 'note'\)"):
        read_corpus(path, fields=FIELDS)
    check(read_corpus(path, fields=FIELDS, counter=PLAIN, header_row=31))


def test_excels_own_line_is_not_counted_as_a_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sep=;\nExport\n\ntext;labels\nbee;x\n")
    assert read_corpus(path, counter=PLAIN).label_names == ("x",)
    assert read_corpus(path, counter=PLAIN, header_row=3).label_names == ("x",)


@pytest.mark.parametrize("limit", ["200", "1G"])
def test_rows_above_the_header_do_not_count_towards_the_size_of_a_row(
    tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLDA_MAX_RECORD", limit)
    path = write(tmp_path / "a.csv", [["note " * 20]] * 5 + TABLE)
    check(read_corpus(path, fields=FIELDS, counter=PLAIN))


def test_a_header_that_lacks_a_field_is_not_mistaken_for_a_document(tmp_path: Path) -> None:
    rows: Any = [["", "text"], ["0", "bee"], *[[str(n), "cat"] for n in range(50)]]
    fields = Fields(text=["title", "text"], labels=None)
    with pytest.warns(match="no document has the text field 'title'"):
        corpus = read_corpus(write(tmp_path / "a.csv", rows), fields=fields, counter=PLAIN)
    assert (len(corpus), corpus.vocabulary) == (51, ("bee", "cat"))
