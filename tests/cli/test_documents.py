"""Files that are not as expected, whatever the verb."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import deplda
from tests.cli.running import QUICK, TOPICS, articles, done, lines, problem, run, write_jsonl


def test_a_corpus_that_is_nowhere_is_named_with_the_data_sets(tmp_path: Path) -> None:
    said = problem(1, "train", tmp_path / "nothing.jsonl", "-o", tmp_path / "m")
    assert "nothing.jsonl: there is no such file, folder or data set" in said
    assert "newsroom, debtags" in said


def test_wrong_field_names_are_answered_by_those_found(tmp_path: Path, corpus: Path) -> None:
    said = problem(1, "train", corpus, "-o", tmp_path / "m", "--labels-field", "subjects")
    assert "no document has the field 'subjects' (found: 'id', 'text', 'labels', 'part')" in said
    assert "--labels-field" in said
    said = problem(1, "train", corpus, "-o", tmp_path / "m", "--text-field", "body")
    assert "line 1: it has none of 'body', 'tokens' and 'counts' (found: 'id', 'text" in said
    said = problem(1, "train", corpus, "-o", tmp_path / "m", "--where", "part=dev")
    assert "no document has part=dev (found: part is one of train, test)" in said
    table = tmp_path / "a.csv"
    table.write_text("key,body\n1,court\n")
    said = problem(1, "train", table, "-o", tmp_path / "m")
    assert "there is no column 'text' (found: 'key', 'body')" in said


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("verb", ["train", "learn", "convert", "compare"])
def test_a_field_that_no_document_has_is_an_error_where_labels_are_read(
    verb: str, ending: str, tmp_path: Path, model: Path
) -> None:
    rows = [{" Title ": "court", "text": row["text"], "labels": "LAW"} for row in articles()]
    path, target = tmp_path / f"a.{ending}", tmp_path / "new.jsonl"
    if ending == "csv":
        path.write_text(
            " Title ,text,labels\n" + "".join(",".join(row.values()) + "\n" for row in rows)
        )
    else:
        write_jsonl(path, rows)
    words: dict[str, list[Any]] = {
        "train": ["train", path, "-o", target], "learn": ["learn", model, path, "-o", target],
        "convert": ["datasets", "convert", path, target], "compare": ["compare", path],
    }  # fmt: skip
    fields = ["--text-field", "Titel", "--text-field", "text"]
    found = "did you mean ' Title '? (found: ' Title ', 'text', 'labels')"
    said = problem(1, *words[verb], *fields)
    assert f"'Titel': {found}" in said
    fields = ["--text-field", "title", "--labels-field", "label"]
    said = problem(1, *words[verb], *fields)
    assert "'label': did you mean 'labels'? (found: ' Title ', 'text', 'labels')" in said
    assert not target.exists()


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_text_field_that_no_document_to_predict_has_is_a_warning(
    ending: str, tmp_path: Path, model: Path
) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text(
        " Text ,n\nthe court,1\n" if ending == "csv" else '{" Text ": "the court", "n": 1}\n'
    )
    ended = run("predict", model, path, "--text-field", "text", "--text-field", "texte")
    assert ended.exit_code == 0, ended.output
    assert len(lines(ended.stdout)) == 1
    assert "no document has the text field 'texte': did you mean ' Text '?" in ended.stderr
    assert "(found: ' Text ', 'n')" in ended.stderr


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.jsonl"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert "line 1: byte 0x89 at column 1 is not utf-8" in problem(
        1, "train", path, "-o", tmp_path / "m"
    )
    path = tmp_path / "broken.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a"}' * 1000)[:40])
    assert "the gzip data is damaged" in problem(1, "train", path, "-o", tmp_path / "m")


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_documents_is_refused(content: bytes, tmp_path: Path, model: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    for verb in (
        ["train", path, "-o", tmp_path / "m"], ["predict", model, path],
        ["evaluate", model, path], ["explain", model, path], ["datasets", "stats", path],
        ["datasets", "convert", path, tmp_path / "b.jsonl"],
    ):  # fmt: skip
        assert "there is no document in it" in problem(1, *verb)
    assert not (tmp_path / "b.jsonl").exists()
    assert "standard input: there is no document in it" in problem(
        1, "predict", model, "-", input=""
    )


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    windows = tmp_path / "windows.jsonl"
    windows.write_bytes(b"\xef\xbb\xbf" + corpus.read_bytes().replace(b"\n", b"\r\n"))
    assert done("predict", model, windows) == done("predict", model, corpus)
    assert done("predict", model, "-", input=windows.read_bytes()) == done("predict", model, corpus)
    text = tmp_path / "windows.txt"
    text.write_bytes(b"\xef\xbb\xbfcourt\r\njudge\r\n")
    labels = json.loads(done("predict", model, text))["labels"]
    text.write_bytes(b"court\njudge\n")
    assert json.loads(done("predict", model, text))["labels"] == labels


def test_latin_1_is_refused_with_byte_and_remedy_and_read_when_named(
    tmp_path: Path, model: Path
) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"text": "König court", "labels": ["LAW"]}\n'.encode("latin-1"))
    for verb in (["train", path, "-o", tmp_path / "m"], ["predict", model, path]):
        said = problem(1, *verb)
        assert "line 1: byte 0xf6 at column 12 is not utf-8" in said
        assert "--encoding latin-1" in said
    done("predict", model, path, "--encoding", "latin-1")
    done("train", path, "-o", tmp_path / "m", "--encoding", "latin-1", *QUICK)
    assert "the encoding 'klingon' is unknown" in problem(
        1, "predict", model, path, "--encoding", "klingon"
    )


def test_one_long_document_is_no_trouble(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("the court heard the judge \n" * 100_000)  # 2.7 MB
    assert json.loads(done("predict", model, path, "-k", 1))["labels"][0]["label"] == "LAW"


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ('{"text": "court", "labels": ["a"]}', ["--token-pattern", "a("], "at position 1"),
        ('{"text": "court", "labels": ["a"]}', ["--token-pattern", "x*"], "one character at least"),
        ('{"text": " ", "labels": ["a"]}', [], "no word has 1 token or more in 1 document"),
        ('{"text": "the of", "labels": ["a"]}', [], "no word has 1 token or more in 1 document"),
        ('{"text": "court", "labels": []}', [], "none of 1 document has a label"),
        ('{"counts": {}, "labels": ["a"]}', [], "no document has both words and labels"),
    ],
)
@pytest.mark.parametrize("model", ["flat", "tfidf-svm"])
def test_nothing_to_learn_from_is_one_line(
    content: str, options: list[str], said: str, model: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    assert said in problem(1, "train", path, "-o", tmp_path / "m", "--model", model, *options)
    assert not (tmp_path / "m").exists()


def test_what_is_neither_file_nor_folder_is_named(tmp_path: Path, model: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for verb in (["train", pipe, "-o", tmp_path / "m"], ["predict", model, pipe]):
        assert f"{pipe}: a pipe is read only once; say its format" in problem(1, *verb)
    for verb in (
        ["train", "/dev/zero", "-o", tmp_path / "m"], ["predict", model, "/dev/zero"],
        ["explain", model, "/dev/zero"], ["datasets", "convert", "/dev/zero", tmp_path / "b.jsonl"],
    ):  # fmt: skip
        assert "/dev/zero: cannot tell its format" in problem(1, *verb)
        said = problem(1, *verb, "--format", "lines", env={"DEPLDA_MAX_RECORD": "1MiB"})
        assert "/dev/zero, line 1: this line has more than 1 MiB" in said
    assert "this is a folder" in problem(1, "explain", model, tmp_path)


# Several fields, and a model that remembers them --------------------------------------------------

FIELDS = ("--text-field", "title", "--text-field", "body", "--field-weight", "title=2",
          "--labels-field", "subjects", "--separator", "|", "--id-field", "key")  # fmt: skip


def _titled() -> list[dict[str, str]]:
    return [
        {"key": row["id"], "title": f"{row['labels'][0]}s", "body": row["text"],
         "subjects": "|".join(row["labels"])}
        for row in articles()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with titles, which tell the label in a word that stands nowhere else."""
    path = tmp_path_factory.mktemp("titled") / "titled.csv"
    rows = [",".join(row.values()) for row in _titled()]
    path.write_text("\n".join([",".join(_titled()[0]), *rows]))
    return path


@pytest.fixture(scope="module")
def of_titles(tmp_path_factory: pytest.TempPathFactory, titled: Path) -> Path:
    folder = tmp_path_factory.mktemp("of_titles") / "model"
    done("train", titled, "-o", folder, *FIELDS, *QUICK)
    return folder


@pytest.mark.filterwarnings("ignore::deplda.errors.LearnedFromWarning")
@pytest.mark.filterwarnings("ignore::deplda.errors.MissingFieldWarning")
def test_a_model_reads_files_by_the_fields_it_was_trained_with(
    tmp_path: Path, of_titles: Path, titled: Path
) -> None:
    assert {f"{label.lower()}s" for label in TOPICS} < set(deplda.load(of_titles).surface_words_)
    told = lines(done("predict", of_titles, titled))
    assert [line["id"] for line in told] == [row["key"] for row in _titled()]
    assert told == lines(done("predict", of_titles, titled, *FIELDS))
    as_lines = write_jsonl(tmp_path / "a.jsonl", [{"Title": r["title"]} for r in _titled()])
    for line, row in zip(lines(done("predict", of_titles, as_lines)), _titled(), strict=True):
        assert line["labels"][0]["label"] == row["subjects"].partition("|")[0]
    found = json.loads(done("evaluate", of_titles, titled, "--json"))
    assert found == json.loads(done("evaluate", of_titles, titled, *FIELDS, "--json"))
    grown = tmp_path / "grown"
    told = json.loads(done("learn", of_titles, titled, "-o", grown, "--json"))
    assert told["learned"]["known_labels"] == 3
    assert told["learned"]["new_words"] == 0
    assert deplda.load(grown).fields_ == deplda.load(of_titles).fields_


def test_shards_are_read_by_the_fields_of_the_model(tmp_path: Path, of_titles: Path) -> None:
    (tmp_path / "shards").mkdir()
    write_jsonl(tmp_path / "shards" / "a.jsonl", _titled())
    done("predict", of_titles, tmp_path / "shards", "-o", tmp_path / "parts")
    part = lines((tmp_path / "parts" / "a.jsonl.labels.jsonl").read_text())
    assert part == lines(done("predict", of_titles, tmp_path / "shards" / "a.jsonl"))
    deplda.predict_shards(of_titles, tmp_path / "shards", tmp_path / "again", n_jobs=1)
    assert lines((tmp_path / "again" / "a.jsonl.labels.jsonl").read_text()) == part


def test_a_model_of_shards_remembers_their_fields(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", _titled())
    done("train", folder, "-o", tmp_path / "m", "--scratch", tmp_path / "s", *FIELDS, *QUICK)
    fields = deplda.load(tmp_path / "m").fields_
    assert fields is not None
    assert (fields.texts, fields.weights) == (("title", "body"), {"title": 2})


def test_options_win_over_what_a_model_remembers(
    tmp_path: Path, of_titles: Path, model: Path, corpus: Path
) -> None:
    done("predict", of_titles, corpus, "--text-field", "text")
    done("evaluate", of_titles, corpus, "--text-field", "text", "--labels-field", "labels")
    said = problem(1, "predict", of_titles, corpus)
    assert "it has none of 'title', 'body', 'tokens' and 'counts' (found: 'id', 'text" in said
    path = write_jsonl(tmp_path / "a.jsonl", [{"title": "court", "body": "opera"}])
    once = ("--cutoff", 1, "--text-field", "title", "--text-field", "body")
    (plain,) = lines(done("predict", model, path, *once))
    (weighted,) = lines(done("predict", model, path, *once, "--field-weight", "title=9"))
    (text,) = lines(done("predict", model, "-", "--cutoff", 1, input="court " * 9 + "opera"))
    assert weighted["labels"] == text["labels"] != plain["labels"]


def test_an_explanation_reads_the_fields_of_the_model(tmp_path: Path, of_titles: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"key": "x", "title": "laws", "body": "the court"}])
    page = tmp_path / "why.html"
    found = json.loads(done("explain", of_titles, path, "--pick", "x", "--json", "--html", page))
    assert found["n_tokens"] == 3  # the title counts twice
    assert found["labels"][0]["label"] == "LAW"
    assert ">laws</" in page.read_text()
    said = json.loads(done("explain", of_titles, "nothing that is known", "--json"))
    assert (said["n_tokens"], said["n_unknown"]) == (0, 1)


def test_info_says_which_fields_a_model_reads(
    tmp_path: Path, of_titles: Path, counts_model: Path
) -> None:
    fields = json.loads(done("show", of_titles, "--json"))["fields"]
    assert fields == {
        "id": "key", "text": ["title", "body"], "tokens": "tokens", "counts": "counts",
        "labels": "subjects", "separator": "|", "label_columns": [], "weights": {"title": 2},
    }  # fmt: skip
    assert "['title', 'body']" in done("show", of_titles)
    assert json.loads(done("show", counts_model, "--json"))["fields"] is None


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--field-weight", "title"], 2, "--field-weight is 'title'; it must be FIELD=N"),
        (["--field-weight", "title=-1"], 2, "--field-weight is 'title=-1'; it must be FIELD=N"),
        (["--field-weight", "title=0"], 1, "the weight of the field 'title' is 0; it must be a"),
        (["--field-weight", "key=2"], 1, "'key' has a weight, but is no text field; those are"),
        (["--text-field", "title"], 1, "name one field at least and each once"),
    ],
)
def test_weights_and_fields_that_cannot_be_are_one_line(
    options: list[str], code: int, said: str, tmp_path: Path, titled: Path
) -> None:
    fields = FIELDS[:4] + FIELDS[6:]
    assert said in problem(code, "train", titled, "-o", tmp_path / "m", *fields, *options)


def test_a_converted_text_has_all_fields_but_no_weights(tmp_path: Path, titled: Path) -> None:
    fields = FIELDS[:4] + FIELDS[6:]
    done("datasets", "convert", titled, tmp_path / "a.jsonl", *fields)
    first = lines((tmp_path / "a.jsonl").read_text())[0]
    assert first["text"] == f"{_titled()[0]['title']}\n{_titled()[0]['body']}"
    said = problem(2, "datasets", "convert", titled, tmp_path / "b.jsonl", *FIELDS)
    assert "--field-weight is for counts, but" in said
    done("datasets", "convert", titled, tmp_path / "b.svm", *FIELDS, "--min-count", 1)
    assert deplda.read_corpus(tmp_path / "b.svm").counts.max() >= 2


def test_a_configuration_file_may_name_one_field_or_several(
    tmp_path: Path, corpus: Path, titled: Path
) -> None:
    config = tmp_path / "c.toml"
    config.write_text('[datasets.stats]\ntext-field = "text"\n')
    done("--config", config, "datasets", "stats", corpus)
    config.write_text('[datasets.stats]\ntext-field = ["title", "body"]\nlabels-field = "subjects"')
    done("--config", config, "datasets", "stats", titled)


def test_a_table_of_text_may_have_a_column_counts(tmp_path: Path, model: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,labels,counts\nx,the court,LAW,5\n")
    done("datasets", "convert", tmp_path / "a.csv", tmp_path / "a.jsonl")
    (row,) = lines((tmp_path / "a.jsonl").read_text())
    assert row == {"id": "x", "text": "the court", "labels": ["LAW"]}
    assert json.loads(done("explain", model, tmp_path / "a.csv", "--json"))["n_tokens"] == 1


def test_counts_are_explained_as_they_are_predicted(tmp_path: Path, model: Path) -> None:
    row = {"text": "opera", "counts": {"court": 2}}
    path = write_jsonl(tmp_path / "a.jsonl", [row])
    found = json.loads(done("explain", model, path, "--json"))
    (predicted,) = lines(done("predict", model, path, "--cutoff", 1))
    assert found["n_tokens"] == 2
    assert found["labels"][0]["label"] == predicted["labels"][0]["label"] == "LAW"


# Annif's documents --------------------------------------------------------------------------------


def as_full_texts(folder: Path) -> Path:
    folder.mkdir()
    for row in articles():
        (folder / f"{row['id']}.txt").write_text(row["text"])
        (folder / f"{row['id']}.key").write_text("\n".join(row["labels"]))
    return folder


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_a_folder_of_full_texts_is_what_the_same_documents_are_in_jsonl(tmp_path: Path) -> None:
    folder = as_full_texts(tmp_path / "texts")
    rows = write_jsonl(tmp_path / "texts.jsonl", sorted(articles(), key=lambda row: row["id"]))
    told = []
    for name, source in (("a", folder), ("b", rows)):
        model, grown = tmp_path / name, tmp_path / f"{name}-2"
        done("train", source, "-o", model, "--language", "none", *QUICK)
        told.append(
            (
                done("learn", model, source, "-o", grown).splitlines()[0],
                done("predict", grown, source),
                done("evaluate", grown, source, "--json"),
                done("explain", model, source, "--pick", "d7", "--json"),
                done("datasets", "stats", source),
            )
        )
    assert told[0] == told[1]
    assert told[0][0].startswith("learned from 30 documents (0 without labels, 0 without words)")


def test_annifs_lines_are_predicted_without_their_subjects(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("the judge and the jury\t<http://y/goal> <http://y/match>\n")
    (expected,) = lines(done("predict", model, "-", input="the judge and the jury"))
    assert lines(done("predict", model, path)) == [expected]
    assert lines(done("predict", model, "-", input=path.read_text())) == [expected]
    text = json.dumps({"document_id": "k", "text": "the judge and the jury"})
    assert lines(done("predict", model, "-", input=text)) == [expected | {"id": "k"}]


def test_metadata_may_be_the_text(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,subject_uris,title\nopera,,judge and jury\n")
    (found,) = lines(done("predict", model, path, "--text-field", "title"))
    assert found["n_known"] == 2
    (found,) = lines(done("predict", model, path, "--text-field", "title", "--text-field", "text"))
    assert found["n_known"] == 3


def test_names_of_subjects_become_addresses_by_a_vocabulary(tmp_path: Path) -> None:
    folder, names = as_full_texts(tmp_path / "texts"), tmp_path / "names.tsv"
    names.write_text("".join(f"<http://y/{n.lower()}>\t{n}\n" for n in TOPICS))
    done("train", folder, "-o", tmp_path / "m", "--model", "flat", "--vocabulary", names)
    assert deplda.load(tmp_path / "m").classes_.tolist() == [
        f"http://y/{n.lower()}" for n in sorted(TOPICS)
    ]


def test_a_folder_without_documents_says_what_it_could_hold(tmp_path: Path, model: Path) -> None:
    (tmp_path / "f" / "train").mkdir(parents=True)
    said = problem(1, "train", tmp_path / "f", "-o", tmp_path / "m")
    assert "of full texts give the folder in which the .txt files lie" in said
    assert "there are no .txt, .pdf, .docx files in this folder" in problem(
        1, "predict", model, tmp_path / "f"
    )
    assert "no file of .txt, .pdf, .docx, .json" in problem(
        1, "predict", model, tmp_path / "f", "--format", "annif"
    )


def test_a_described_folder_is_a_data_set_to_every_verb(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "all.jsonl").write_bytes(corpus.read_bytes())
    (folder / "dataset.toml").write_text(
        'documents = "all.jsonl"\nsplit_field = "part"\nlanguage = "none"\n'
    )
    model = tmp_path / "model"
    for source in (folder, folder / "dataset.toml"):
        found = json.loads(done("datasets", "stats", source, "--json"))
        assert found["n_documents"] == 30
    found = json.loads(done("train", folder, "-o", model, *QUICK, "--json"))
    assert found["documents"] == 24  # the split is the field's
    assert found["takes_text"]
    found = json.loads(done("evaluate", model, folder, "--split", 0, "--json"))
    assert found["headline"]["documents"] == 6
    assert found["n_learned_from"] == 0
    said = problem(1, "train", folder, "-o", tmp_path / "m", "--text-field", "body")
    assert "news says it itself" in said


def test_a_converted_folder_is_a_data_set_to_every_verb(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "folder"
    done("datasets", "convert", corpus, folder)
    (folder / "dataset.toml").write_text("holdout = 0.2\n")
    found = json.loads(done("train", folder, "-o", tmp_path / "m", *QUICK, "--json"))
    assert found["documents"] == 24
    assert deplda.datasets.load("folder", tmp_path).corpus.n_labels == 3
