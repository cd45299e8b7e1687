"""Where predictions go: files in the format of their name, and folders as Annif has them."""

import csv
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import openpyxl
import pandas
import pytest

from tests.cli.running import QUICK, TOPICS, articles, done, lines, problem, run, write_jsonl

ANNIF = ("--output-format", "annif")
RESUMED = ["out.jsonl", "out.csv", "out.tsv"]


@pytest.fixture(scope="module")
def concepts(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    """A model whose labels are concepts."""
    folder = tmp_path_factory.mktemp("concepts")
    names = "".join(f"<http://y/{n.lower()}>\t{n.title()}\t{len(n)}\n" for n in TOPICS)
    (folder / "names.tsv").write_text(names)
    done("train", corpus, "-o", folder / "m", "--vocabulary", folder / "names.tsv", *QUICK)
    return folder / "m"


def flat(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (line["id"], rank, own["label"], own.get("uri"), own.get("notation"), own["probability"],
         line["n_known"])
        for line in found for rank, own in enumerate(line["labels"], start=1)
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["o.csv", "o.TSV", "o.xlsx", "o.parquet"])
def test_a_table_has_what_the_json_lines_have(
    tmp_path: Path, concepts: Path, corpus: Path, name: str
) -> None:
    expected = flat(lines(done("predict", concepts, corpus, "-t", 0.05)))
    path = tmp_path / name
    assert done("predict", concepts, corpus, "-t", 0.05, "-o", path) == f"30 documents: {path}\n"
    if name == "o.xlsx":
        rows = [row[:-1] for row in openpyxl.load_workbook(path).active.iter_rows(
            min_row=2, values_only=True)]  # fmt: skip
        for row, own in zip(rows, expected, strict=True):
            assert row[5] == pytest.approx(own[5], rel=1e-15)
            assert (row[:5], row[6]) == (own[:5], own[6])
        return
    read = {"o.csv": pandas.read_csv, "o.TSV": pandas.read_table}.get(name, pandas.read_parquet)
    how = {} if name == "o.parquet" else {"dtype": {"notation": str}}
    table = read(path, **how)
    assert [tuple(row)[:-1] for row in table.itertuples(index=False)] == expected
    assert expected[0][3:5] == ("http://y/law", "3")


def test_an_output_of_no_known_format_is_refused_before_any_work(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    for name in ("o.txt", "o", "o.docx"):
        said = problem(2, "predict", model, corpus, "-o", tmp_path / name)
        assert "is of no format that is known; its name must end in .jsonl" in said
        assert "--output-format" in said
    done("predict", model, corpus, "-o", tmp_path / "o.txt", "--output-format", "jsonl")
    assert len(lines((tmp_path / "o.txt").read_text())) == 30
    (tmp_path / "o.csv").mkdir()
    said = problem(1, "predict", model, corpus, "-o", tmp_path / "o.csv")
    assert "is a folder; name a file, or say --output-format annif" in said


@pytest.mark.parametrize("format", ["xlsx", "parquet", "annif"])
def test_what_cannot_be_printed_needs_an_output(model: Path, corpus: Path, format: str) -> None:
    said = problem(2, "predict", model, corpus, "--output-format", format)
    assert f"--output-format {format} needs --output" in said


def test_a_table_is_printed_without_what_a_terminal_obeys(tmp_path: Path, model: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": "\x1b[2J=a", "text": "judge"}])
    printed = done("predict", model, path, "--output-format", "csv", "--cutoff", 1)
    header, row = csv.reader(printed.splitlines())
    assert (header[0], row[0], row[2]) == ("id", "\N{REPLACEMENT CHARACTER}[2J=a", "LAW")


def test_a_model_without_probabilities_has_scores_in_its_table(
    tmp_path: Path, corpus: Path
) -> None:
    path = tmp_path / "plain"
    done("train", corpus, "-o", path, "--model", "flat", "--set", "n_held_out=0")
    done("predict", path, corpus, "-k", 1, "-o", tmp_path / "o.tsv")
    assert pandas.read_table(tmp_path / "o.tsv").columns[5] == "score"
    done("predict", path, corpus, "-k", 1, *ANNIF, "-o", tmp_path / "o")
    assert float((tmp_path / "o" / "d0.annif").read_text().split("\t")[1]) != 0


# Going on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESUMED)
def test_a_part_of_an_output_is_completed_to_the_same_bytes(
    tmp_path: Path, model: Path, corpus: Path, name: str
) -> None:
    output = tmp_path / name
    asked = ("predict", model, corpus, "-t", 0.05, "-o", output)
    done(*asked)
    whole = output.read_bytes()
    for cut in (0, 2, 60, len(whole) // 2, len(whole) * 2 // 3 + 5, len(whole) - 1, len(whole)):
        output.write_bytes(whole[:cut])
        assert done(*asked, "--resume") == f"30 documents: {output}\n"
        assert output.read_bytes() == whole


def test_a_table_of_other_documents_or_of_another_model_is_not_gone_on_with(
    tmp_path: Path, model: Path, concepts: Path, corpus: Path
) -> None:
    output = tmp_path / "o.csv"
    done("predict", model, corpus, "-o", output)
    before = output.read_bytes()
    other = write_jsonl(tmp_path / "other.jsonl", articles()[5:])
    said = problem(1, "predict", model, other, "-o", output, "--resume")
    assert "line 2: it is of document 'd0', but document 'd5' is next" in said
    said = problem(1, "predict", concepts, corpus, "-o", output, "--resume")
    assert "it is not what this model and these options give" in said
    assert output.read_bytes() == before


@pytest.mark.parametrize("name", ["o.xlsx", "o.parquet"])
def test_what_is_written_as_a_whole_is_not_gone_on_with(
    tmp_path: Path, model: Path, corpus: Path, name: str
) -> None:
    said = problem(2, "predict", model, corpus, "-o", tmp_path / name, "--resume")
    assert "--resume goes on with .jsonl, .csv, .tsv and files of Annif's" in said


@pytest.mark.parametrize("name", ["o.jsonl", "o.csv", "o.xlsx", "folder"])
def test_ctrl_c_says_what_became_of_the_predictions(
    tmp_path: Path, model: Path, corpus: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    predict = import_module("deplda.cli.predict")
    monkeypatch.setattr(predict, "_BATCH", 8)
    usual, n = predict._answered, 0

    def answered(*given: Any) -> Any:
        nonlocal n
        n += 1
        if n == 3:
            raise KeyboardInterrupt
        return usual(*given)

    asked = ("predict", model, corpus, "-o", tmp_path / name) + ANNIF * (name == "folder")
    with monkeypatch.context() as patched:
        patched.setattr(predict, "_answered", answered)
        result = run(*asked)
    assert result.exit_code == 130
    assert "interrupted after 16 documents" in result.stderr
    if name == "o.xlsx":
        assert "nothing was written, but .jsonl, .csv and .tsv can be resumed" in result.stderr
        assert list(tmp_path.iterdir()) == []
        return
    assert result.stderr.endswith(" holds; --resume continues after them\n")
    assert done(*asked, "--resume") == f"30 documents: {tmp_path / name}\n"


# Annif's files ------------------------------------------------------------------------------------


def test_annifs_files_are_replaced_only_when_all_are_written(
    tmp_path: Path, concepts: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predict, folder = import_module("deplda.cli.predict"), tmp_path / "out"
    monkeypatch.setattr(predict, "_BATCH", 8)
    asked = ("predict", concepts, corpus, "-o", folder, *ANNIF)
    done(*asked, "-k", 1, "-t", 0)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done("predict", concepts, corpus, "-o", tmp_path / "expected", *ANNIF, "-k", 3, "-t", 0)
    usual, batches = predict._answered, iter(range(3))

    def answered(*given: Any) -> Any:
        if next(batches) == 2:
            raise KeyboardInterrupt
        return usual(*given)

    with monkeypatch.context() as patched:
        patched.setattr(predict, "_answered", answered)
        assert run(*asked, "-k", 3, "-t", 0, "--force").exit_code == 130
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert len(list((tmp_path / "out.part").iterdir())) == 16
    done(*asked, "-k", 3, "-t", 0, "--resume")
    assert not (tmp_path / "out.part").exists()
    expected = {path.name: path.read_bytes() for path in (tmp_path / "expected").iterdir()}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == expected


def test_each_document_gets_a_file_as_annif_writes_it(
    tmp_path: Path, concepts: Path, corpus: Path
) -> None:
    expected = lines(done("predict", concepts, corpus, "-t", 0.05))
    said = done("predict", concepts, corpus, "-t", 0.05, *ANNIF, "-o", tmp_path / "out")
    assert said == f"30 documents: {tmp_path / 'out'}\n"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(
        f"{row['id']}.annif" for row in articles()
    )
    for line in expected:
        told = [
            f"<{x['uri']}>\t{x['label']}\t{x['notation']}\t{x['probability']:.4f}\n"
            for x in line["labels"]
        ]
        assert (tmp_path / "out" / f"{line['id']}.annif").read_text() == "".join(told)


def test_labels_without_addresses_are_names(tmp_path: Path, model: Path, corpus: Path) -> None:
    done("predict", model, corpus, "-k", 1, *ANNIF, "-o", tmp_path / "out")
    name, score = (tmp_path / "out" / "d3.annif").read_text().strip().split("\t")
    assert name == "LAW"
    assert 0 < float(score) <= 1


def test_files_lie_beside_texts_where_that_folder_is_named(tmp_path: Path, model: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in ("a.txt", "b.c.txt"):
        (texts / name).write_text("judge and jury")
    done("predict", model, texts, *ANNIF, "-o", texts)
    assert sorted(p.name for p in texts.iterdir()) == ["a.annif", "a.txt", "b.c.annif", "b.c.txt"]
    done("predict", model, texts, "--format", "annif", "-o", tmp_path / "other")
    assert sorted(p.name for p in (tmp_path / "other").iterdir()) == ["a.annif", "b.c.annif"]
    for name in ("a.annif", "b.c.annif"):
        assert (texts / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_format_that_is_asked_for_goes_before_that_of_the_documents(
    tmp_path: Path, model: Path
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("judge and jury\t<http://y/1>\n")
    done("predict", model, path, "--format", "annif", "-o", tmp_path / "o.jsonl")
    assert len(lines((tmp_path / "o.jsonl").read_text())) == 1
    asked = ("--format", "annif", "--output-format", "csv", "-o", tmp_path / "table")
    done("predict", model, path, *asked)
    assert (tmp_path / "table").read_text("utf-8-sig").startswith("id,rank,label")


def test_a_folder_with_such_files_is_refused_completed_or_replaced(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    out = tmp_path / "out"
    asked = ("predict", model, corpus, *ANNIF, "-o", out)
    done(*asked)
    whole = {path.name: path.read_bytes() for path in out.iterdir()}
    assert "holds 30 .annif files already; choose another folder" in problem(1, *asked)
    for name in ("d0", "d7", "d29"):
        (out / f"{name}.annif").unlink()
    (out / "d3.annif").touch()
    assert done(*asked, "--resume") == f"30 documents: {out}\n"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole
    (out / "other.annif").write_text("")
    result = run(*asked, "--force")
    assert f"{out} also holds 1 .annif file of other documents." in result.stderr
    assert {path.name for path in out.iterdir()} == {*whole, "other.annif"}


def test_files_of_another_model_are_not_gone_on_with(
    tmp_path: Path, model: Path, concepts: Path, corpus: Path
) -> None:
    out = tmp_path / "out"
    done("predict", model, corpus, *ANNIF, "-o", out)
    (out / "d29.annif").unlink()
    said = problem(1, "predict", concepts, corpus, *ANNIF, "-o", out, "--resume")
    assert "d0.annif: it is not what this model and these options give" in said
    assert not (out / "d29.annif").exists()


def test_two_documents_do_not_share_a_file(tmp_path: Path, model: Path) -> None:
    rows = [{"id": "x/a.txt", "text": "judge"}, {"id": "y/a.txt", "text": "opera"}]
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    said = problem(1, "predict", model, path, *ANNIF, "-o", tmp_path / "out")
    assert "a.annif would be of the documents 'x/a.txt' and 'y/a.txt'" in said
    done("predict", model, path, *ANNIF, "-o", tmp_path / "numbered", "--id-field", "")
    assert sorted(p.name for p in (tmp_path / "numbered").iterdir()) == ["0.annif", "1.annif"]


def test_shards_become_parts_of_json_lines_alone(tmp_path: Path, model: Path) -> None:
    (tmp_path / "in").mkdir()
    write_jsonl(tmp_path / "in" / "a.jsonl", articles())
    said = problem(2, "predict", model, tmp_path / "in", *ANNIF, "-o", tmp_path / "out")
    assert "its parts are JSON lines" in said


def test_what_is_read_as_annifs_and_is_not_says_which_format_to_name(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    said = problem(1, "predict", model, corpus, "--format", "annif", "-o", tmp_path / "out")
    assert "it has the field 'id', but Annif's documents have document_id" in said
    assert "--format jsonl" in said
    assert not (tmp_path / "out").exists()


def test_a_document_without_known_words_is_flagged(tmp_path: Path, model: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": "z", "text": "zzz"}])
    done("predict", model, path, "-o", tmp_path / "o.csv", "-k", 1)
    row = pandas.read_csv(tmp_path / "o.csv").iloc[0]
    assert (row["flags"], row["n_known"]) == ("out_of_vocabulary", 0)
    assert json.loads(done("predict", model, path))["out_of_vocabulary"]


ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "judge"},
    {"id": "b", "text": ""},
    {"id": "c", "text": " \n"},
    {"id": "d", "text": None},
    {"id": "e", "text": "zzz"},
]


@pytest.mark.parametrize("name", ["o.jsonl", "o.csv", "o.tsv", "o.xlsx", "o.parquet"])
def test_empty_texts_are_answered_in_their_place_and_flagged(
    tmp_path: Path, model: Path, name: str
) -> None:
    source, path = write_jsonl(tmp_path / "a.jsonl", ROWS), tmp_path / name
    result = run("predict", model, source, "--cutoff", 1, "-o", path)
    assert result.stdout == f"5 documents: {path}\n"
    assert 'Warning: no labels for 3 of 5 documents: no text ("empty": true).' in result.stderr
    if name == "o.jsonl":
        found = lines(path.read_text())
        assert [line["id"] for line in found] == list("abcde")
        assert found[1] == {"id": "b", "labels": [], "n_known": 0, "empty": True}
        return
    reader = {".csv": pandas.read_csv, ".tsv": pandas.read_table, ".xlsx": pandas.read_excel}
    table = reader.get(path.suffix, pandas.read_parquet)(path)
    assert table["id"].tolist() == list("abcde")
    assert table["flags"].tolist()[1:] == ["empty"] * 3 + ["out_of_vocabulary"]
    assert table["label"].isna().tolist() == [False, True, True, True, True]


def test_an_empty_text_gets_a_file_of_annifs_without_a_label(tmp_path: Path, model: Path) -> None:
    source, folder = write_jsonl(tmp_path / "a.jsonl", ROWS), tmp_path / "out"
    done("predict", model, source, "--cutoff", 1, "-o", folder, "--output-format", "annif")
    sizes = {file.stem: len(file.read_text().splitlines()) for file in folder.iterdir()}
    assert sizes == {"a": 1, "b": 0, "c": 0, "d": 0, "e": 0}


def test_an_output_with_empty_documents_is_completed_to_the_same_bytes(
    tmp_path: Path, model: Path
) -> None:
    source, path = write_jsonl(tmp_path / "a.jsonl", ROWS), tmp_path / "o.csv"
    done("predict", model, source, "-o", path)
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    done("predict", model, source, "-o", path, "--resume")
    assert path.read_bytes() == whole


def test_a_dash_is_standard_output(tmp_path: Path, model: Path, corpus: Path) -> None:
    printed = done("predict", model, corpus)
    result = run("predict", model, corpus, "-o", "-")
    assert (result.stdout, result.stderr) == (printed, "")
    table = done("predict", model, corpus, "-o", "-", "--output-format", "csv")
    done("predict", model, corpus, "-o", tmp_path / "o.csv")
    assert table == (tmp_path / "o.csv").read_text(encoding="utf-8-sig")
    assert not Path("-").exists()
    assert "--output-format xlsx needs --output" in problem(
        2, "predict", model, corpus, "-o", "-", "--output-format", "xlsx"
    )
