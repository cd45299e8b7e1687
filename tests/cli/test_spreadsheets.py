"""What people have: spreadsheets, and what Excel and Word save, whatever the verb."""

import csv
import io
import json
from pathlib import Path

import pytest

import deplda
from tests.cli.running import QUICK, articles, done, lines, problem, run, write_jsonl
from tests.data.readers.office_files import docx, pdf, xlsx

FIELDS = ("--id-field", "Nr", "--text-field", "Text", "--labels-field", "Schlagwörter")
HEADER = ("Nr", "Text", "Schlagwörter")
SAID = "labels are separated by ', ': 'LAW, SPORT' is taken as 2 labels"


def rows() -> list[tuple[str, str, str]]:
    return [(r["id"], f"{r['text']} für Gebühren", ", ".join(r["labels"])) for r in articles()]


def as_csv(delimiter: str, encoding: str) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerows([HEADER, *rows()])
    return buffer.getvalue().encode(encoding)


SAVED_BY_EXCEL = {
    "CSV (Macintosh, Windows).csv": as_csv(";", "cp1252"),
    "CSV UTF-8.csv": as_csv(";", "utf-8-sig"),
    "Unicode text.txt": as_csv("\t", "utf-16"),
    "US.csv": as_csv(",", "cp1252"),
    "Workbook.xlsx": xlsx([HEADER, *rows()]),
}


@pytest.fixture(scope="module")
def of_excel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("of_excel")
    (folder / "a.xlsx").write_bytes(SAVED_BY_EXCEL["Workbook.xlsx"])
    result = run("train", folder / "a.xlsx", "-o", folder / "model", *FIELDS, *QUICK)
    assert result.exit_code == 0, result.output
    assert SAID in result.stderr
    return folder / "model"


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
@pytest.mark.filterwarnings("ignore::deplda.GuessedEncodingWarning")
@pytest.mark.parametrize("name", SAVED_BY_EXCEL)
def test_whatever_excel_saves_is_read_alike_by_every_verb(
    tmp_path: Path, of_excel: Path, name: str
) -> None:
    path, workbook = tmp_path / name, of_excel.parent / "a.xlsx"
    path.write_bytes(SAVED_BY_EXCEL[name])
    assert deplda.load(of_excel).classes_.tolist() == ["LAW", "MUSIC", "SPORT"]
    told = lines(done("predict", of_excel, path))
    assert [line["id"] for line in told] == [row[0] for row in rows()]
    assert told == lines(done("predict", of_excel, workbook))
    for verb in (["evaluate", "--json"], ["explain", "--pick", "d7", "--json"]):
        assert done(verb[0], of_excel, path, *verb[1:]) == done(
            verb[0], of_excel, workbook, *verb[1:]
        )
    done("learn", of_excel, path, "-o", tmp_path / "grown")
    assert deplda.load(tmp_path / "grown").classes_.tolist() == ["LAW", "MUSIC", "SPORT"]
    done("datasets", "convert", path, tmp_path / "a.jsonl", *FIELDS)
    first = lines((tmp_path / "a.jsonl").read_text(encoding="utf-8"))[0]
    assert first == {"id": "d0", "text": rows()[0][1], "labels": ["LAW", "SPORT"]}
    assert "30" in done("datasets", "stats", path, *FIELDS)


def test_the_encoding_that_was_guessed_is_said(tmp_path: Path, of_excel: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(SAVED_BY_EXCEL["US.csv"])
    with pytest.warns(deplda.GuessedEncodingWarning, match="it is read as cp1252, with words such"):
        deplda.read_corpus(path, fields=deplda.Fields(text="Text", labels=None))
    done("predict", of_excel, path, "--encoding", "cp1252")


def test_the_separator_that_was_told_is_remembered(tmp_path: Path, of_excel: Path) -> None:
    fields = deplda.load(of_excel).fields_
    assert fields is not None
    assert fields.separator == ","
    assert json.loads(done("show", of_excel, "--json"))["fields"]["separator"] == ","
    path = tmp_path / "a.csv"
    path.write_text('Nr,Text,Schlagwörter\n1,court,"LAW,SPORT"\n2,opera,MUSIC\n', "utf-8")
    result = run("evaluate", of_excel, path, "--json")
    assert "separated" not in result.stderr
    assert json.loads(result.stdout)["n_unseen"] == 0


def test_a_separator_that_is_given_wins(tmp_path: Path, of_excel: Path) -> None:
    workbook = of_excel.parent / "a.xlsx"
    result = run("train", workbook, "-o", tmp_path / "m", "--separator", ";", *FIELDS, *QUICK)
    assert "separated" not in result.stderr
    assert "LAW, SPORT" in deplda.load(tmp_path / "m").classes_


def test_labels_on_standard_input_are_separated_as_in_a_file(tmp_path: Path) -> None:
    result = run(
        "train", "-", "-o", tmp_path / "m", "--format", "csv", *FIELDS, *QUICK,
        input=as_csv(";", "utf-8-sig"),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert SAID in result.stderr
    assert len(deplda.load(tmp_path / "m").classes_) == 3


def test_a_missing_column_names_the_likely_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id;title;text\n1;a;b\n")
    said = problem(1, "train", path, "-o", tmp_path / "m", "--delimiter", ",")
    assert "looks as if its columns were separated by ';': delimiter=';' (--delimiter ';')" in said
    assert "delimiter is 'semicolon'; it must be one character" in problem(
        1, "train", path, "-o", tmp_path / "m", "--delimiter", "semicolon"
    )


def test_a_sheet_is_chosen_and_what_is_wrong_in_it_named(tmp_path: Path, of_excel: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(xlsx([("Note",), ("see the other sheet",)], "Empty"))
    said = problem(1, "predict", of_excel, path)
    assert "a.xlsx, sheet 'Articles', row 1: there is no column 'Text' (found: 'Note')" in said
    assert "or another sheet: 'Empty' (--sheet)" in said
    assert "the sheet 'Empty' is empty" in problem(1, "predict", of_excel, path, "--sheet", 2)
    assert "there is no sheet 'x'; say one of 'Articles', 'Empty', or 1 to 2" in problem(
        1, "predict", of_excel, path, "--sheet", "x"
    )


def test_what_was_predicted_into_a_table_can_be_read_back(tmp_path: Path, of_excel: Path) -> None:
    from deplda.data.readers.score_files import ScoreFile

    files = []
    for name in ("labels.csv", "labels.tsv", "labels.xlsx"):
        done("predict", of_excel, of_excel.parent / "a.xlsx", "-o", tmp_path / name)
        files.append(ScoreFile.read(tmp_path / name))
        assert [*files[-1].rows] == [row[0] for row in rows()]
        assert (files[-1].scores.toarray() == files[0].scores.toarray()).all()


def test_pdf_and_word_files_are_predicted_and_explained(tmp_path: Path, model: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf("the court and the judge", "a verdict of the jury"))
    (folder / "b.docx").write_bytes(docx("The orchestra", "played an opera"))
    (folder / "c.txt").write_bytes("the team won the match".encode("utf-16"))
    told = lines(done("predict", model, folder, "--cutoff", 1))
    assert {Path(line["id"]).name: line["labels"][0]["label"] for line in told} == {
        "a.pdf": "LAW", "b.docx": "MUSIC", "c.txt": "SPORT",
    }  # fmt: skip
    found = json.loads(done("explain", model, folder / "a.pdf", "--json"))
    assert found["labels"][0]["label"] == "LAW"
    court = pdf("the court and the judge")
    (sent,) = lines(done("predict", model, "-", "--cutoff", 1, input=court))
    assert sent["labels"][0]["label"] == "LAW"


def test_a_folder_of_word_files_with_subjects_beside_them_is_learned_from(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for row in articles():
        (folder / f"{row['id']}.docx").write_bytes(docx(row["text"]))
        (folder / f"{row['id']}.key").write_text("\n".join(row["labels"]))
    done("train", folder, "-o", tmp_path / "m", *QUICK)
    assert len(deplda.load(tmp_path / "m").classes_) == 3


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.xls", b"\xd0\xcf\x11\xe0", ".xls is not read; save it as .xlsx, or as CSV UTF-8"),
        ("a.doc", b"\xd0\xcf\x11\xe0", ".doc is not read; save it as .docx or .txt"),
        ("a.odt", b"PK\x03\x04", ".odt is not read; save it as .docx or .txt"),
        ("a.rtf", b"{\\rtf1", ".rtf is not read; save it as .docx or .txt"),
        ("a.html", b"<html>", ".html is not read; save it as .txt, or as .pdf"),
        ("a.ods", b"PK\x03\x04", ".ods is not read; save it as .xlsx, or as CSV UTF-8"),
        ("a.zip", b"PK\x03\x04", ".zip is not read; save it as the files that are in it"),
        ("a.pdf", pdf(""), "there is no text in it; it may be scanned"),
    ],
)
@pytest.mark.parametrize("verb", ["predict", "explain", "train"])
def test_what_is_not_read_says_what_to_save_it_as(
    verb: str, name: str, content: bytes, said: str, tmp_path: Path, model: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    first = [path, "-o", tmp_path / "m"] if verb == "train" else [model, path]
    assert said in problem(1, verb, *first)


def test_documents_without_a_text_are_counted_and_said(tmp_path: Path) -> None:
    given = [*articles(), {"id": "x", "text": None, "labels": ["LAW"]}]
    path = write_jsonl(tmp_path / "a.jsonl", given)
    result = run("train", path, "-o", tmp_path / "m", *QUICK)
    assert result.exit_code == 0, result.output
    assert "1 of 31 documents has no text" in result.stderr


def test_a_titled_table_with_one_label_per_column_is_trained_on_and_remembered(
    tmp_path: Path,
) -> None:
    table: list[tuple[str, ...]] = [("Export",), (), ("Nr", " Text ", "Subject 1", "Subject 2 ")]
    subjects = [[*row["labels"], ""][:2] for row in articles()]
    path = tmp_path / "a.xlsx"
    for row, two in zip(rows(), subjects, strict=True):
        table.append((*row[:2], *two))
    path.write_bytes(xlsx(table))
    fields = ["--id-field", "Nr", "--text-field", "text", "--header-row", "3"]
    labels = ("--labels-field", "Subject 1", "--labels-field", "subject 2")
    done("train", path, "-o", tmp_path / "m", *fields, *labels, *QUICK)
    model = deplda.load(tmp_path / "m")
    assert model.classes_.tolist() == ["LAW", "MUSIC", "SPORT"]
    assert model.fields_ is not None
    assert model.fields_.label_fields == ("Subject 1", "subject 2")
    done("learn", tmp_path / "m", path, "-o", tmp_path / "m2")
    said = problem(1, "train", path, "-o", tmp_path / "x", *fields, "--labels-field", "Subjects")
    assert "row 3: there is no column 'Subjects': did you mean 'Subject 2'? (found: 'Nr'" in said
