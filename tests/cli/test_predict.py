"""``deplda predict``, of documents and of a folder of shards."""

import json
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import deplda
from deplda import datasets
from tests.cli.running import (
    ENVIRONMENT,
    QUICK,
    articles,
    done,
    in_shards,
    lines,
    problem,
    run,
    start,
    write_jsonl,
)


def test_predictions_are_those_of_python(tmp_path: Path, model: Path, corpus: Path) -> None:
    found = lines(done("predict", model, corpus, "-k", 2))
    loaded = deplda.load(model)
    expected = loaded.suggest([row["text"] for row in articles()], 2, "validated")
    assert [line["id"] for line in found] == [row["id"] for row in articles()]
    for line, (labels, chances) in zip(found, expected, strict=True):
        assert [label["label"] for label in line["labels"]] == labels.tolist()
        assert [label["probability"] for label in line["labels"]] == chances.tolist()


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_a_gpu_is_used_where_there_is_one_and_missed_where_it_must_be(
    model: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deplda.kernels.cuda.device.problem", lambda: "CuPy is not installed")
    usual = done("predict", model, corpus)
    assert done("predict", model, corpus, "--device", "auto") == usual
    for verb in ("predict", "evaluate"):
        assert "but CuPy is not installed" in problem(1, verb, model, corpus, "--device", "cuda")


def test_every_kind_of_document_gives_the_same_labels(tmp_path: Path, model: Path) -> None:
    text = "the judge and the jury"
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text(text)
    (tmp_path / "a.csv").write_text(f'id,body\na,"{text}"\n')
    write_jsonl(tmp_path / "a.jsonl", [{"id": "a", "body": text}])
    write_jsonl(tmp_path / "b.jsonl", [{"tokens": ["judge", "jury"]}])
    write_jsonl(tmp_path / "c.jsonl", [{"counts": {"judge": 1, "jury": 1}}])
    named = ("--text-field", "body")
    done("datasets", "convert", tmp_path / "a.jsonl", tmp_path / "a.parquet", *named,
         "--labels-field", "")  # fmt: skip
    expected = lines(done("predict", model, "-", "--cutoff", 1, input=text))[0]["labels"]
    assert expected[0]["label"] == "LAW"
    for given, options in (
        ("folder", ()), ("folder/a.txt", ()), ("a.csv", named), ("a.jsonl", named),
        ("b.jsonl", ()), ("c.jsonl", ()), ("a.parquet", ()),
    ):  # fmt: skip
        found = lines(done("predict", model, tmp_path / given, "--cutoff", 1, *options))
        assert found[0]["labels"] == expected
    several = done(
        "predict", model, tmp_path / "b.jsonl", tmp_path / "folder", tmp_path / "c.jsonl"
    )
    ids = [line["id"] for line in lines(several)]
    assert ids == ["0", str(tmp_path / "folder" / "a.txt"), "2"]


def test_line_n_of_standard_input_gives_answer_n(tmp_path: Path, model: Path) -> None:
    text = "judge\n\nopera\n   \nteam"
    found = lines(done("predict", model, "-", "--cutoff", 1, input=text))
    assert [line["id"] for line in found] == ["0", "1", "2", "3", "4"]
    labels = [[own["label"] for own in line["labels"]] for line in found]
    assert labels == [["LAW"], [], ["MUSIC"], [], ["SPORT"]]
    assert [line.get("empty", False) for line in found] == [False, True, False, True, False]
    (tmp_path / "a.log").write_text(text)
    again = done("predict", model, tmp_path / "a.log", "--format", "lines", "--cutoff", 1)
    assert lines(again) == found


def test_a_text_file_has_the_same_id_alone_and_in_its_folder(tmp_path: Path, model: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("judge")
    of_folder = done("predict", model, tmp_path / "texts")
    assert of_folder == done("predict", model, tmp_path / "texts" / "a.txt")
    assert json.loads(of_folder)["id"] == str(tmp_path / "texts" / "a.txt")


def test_one_document_is_told_in_the_singular(tmp_path: Path, model: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": "a", "text": "judge"}])
    assert done("predict", model, path, "-o", tmp_path / "o.csv").startswith("1 document: ")


def test_svmlight_is_predicted_by_the_names_beside_it(tmp_path: Path, counts_model: Path) -> None:
    news = datasets.newsroom(200).corpus
    deplda.write_svmlight(news[:20], tmp_path / "a.svm")
    deplda.write_jsonl(news[:20], tmp_path / "a.jsonl")
    found = done("predict", counts_model, tmp_path / "a.svm")
    assert found == done("predict", counts_model, tmp_path / "a.jsonl")
    assert [line["id"] for line in lines(found)] == list(news.ids[:20])


def test_words_without_names_are_known_by_their_place(tmp_path: Path) -> None:
    counts, labels = np.array([[3, 0], [0, 3]]), np.array([[1, 0], [0, 1]])
    deplda.FlatLDA().fit(counts, labels).save(tmp_path / "m")
    (tmp_path / "a.svm").write_text(" 1:3\n 0:2\n")
    found = lines(done("predict", tmp_path / "m", tmp_path / "a.svm", "-k", 1))
    assert [line["labels"][0]["label"] for line in found] == [1, 0]


def test_an_output_is_neither_packed_nor_the_documents_themselves(
    tmp_path: Path, model: Path
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", articles())
    before = path.read_bytes()
    said = problem(1, "predict", model, path, "-o", path, "--force")
    assert said == f"{path} holds the documents; choose another output"
    assert path.read_bytes() == before
    assert "predictions are not packed" in problem(
        2, "predict", model, path, "-o", tmp_path / "b.jsonl.gz"
    )


def test_only_labels_above_the_threshold_are_given(model: Path, corpus: Path) -> None:
    every = lines(done("predict", model, corpus, "-t", 0))
    n_labels = len(deplda.load(model).classes_)
    assert {len(line["labels"]) for line in every} == {n_labels}
    some = lines(done("predict", model, corpus, "--threshold", 0.5))
    kept = [[x for x in line["labels"] if x["probability"] >= 0.5] for line in every]
    assert [line["labels"] for line in some] == kept
    assert lines(done("predict", model, corpus, "--cutoff", 0.5)) == some
    told = problem(1, "predict", model, corpus, "-t", 1.5)
    assert "threshold is 1.5; it must be a probability from 0 to 1, such as 0.5" in told


def test_a_cut_off_says_how_many_labels_are_given(model: Path, corpus: Path) -> None:
    two = lines(done("predict", model, corpus, "--cutoff", 2))
    assert {len(line["labels"]) for line in two} == {2}
    assert {
        len(x["labels"]) for x in lines(done("predict", model, corpus, "--cutoff", 2, "-k", 1))
    } == {1}
    usual = done("predict", model, corpus)
    assert done("predict", model, corpus, "--cutoff", "validated") == usual
    for name, fewest in (
        ("validated", 0), ("expected-f1", 0), ("macro-f1", 0), ("at-least-one", 1),
        ("proportional", 1),
    ):  # fmt: skip
        found = lines(done("predict", model, corpus, "--cutoff", name))
        assert min(len(line["labels"]) for line in found) == fewest
    assert "cutoff is 'best'; it must be one of" in problem(
        1, "predict", model, corpus, "--cutoff", "best"
    )


def test_a_model_without_probabilities_gives_labels_by_score_and_says_so(
    tmp_path: Path, corpus: Path
) -> None:
    path = tmp_path / "plain"
    done("train", corpus, "-o", path, "--model", "flat", "--set", "n_held_out=0")
    ended = run("predict", path, corpus)
    assert "no probabilities, and scores are shown; train it again, or calibrate" in ended.stderr
    model = deplda.load(path)
    ranking = model.rank([row["text"] for row in articles()], 1)  # as the median document has
    assert (np.diff(model.label_sets_.indptr) > 0).all()
    assert np.median(np.diff(model.label_sets_.indptr)) == 1
    for line, labels, scores in zip(lines(ended.stdout), *ranking, strict=True):
        assert [label["label"] for label in line["labels"]] == labels.tolist()
        assert [label["score"] for label in line["labels"]] == scores.tolist()
    for options in (("-t", 0.5), ("--cutoff", "validated")):
        told = problem(1, "predict", path, corpus, *options)
        assert "this model has no probabilities; train it again" in told
    assert len(lines(done("predict", path, corpus, "--cutoff", 2))[0]["labels"]) == 2


def test_texts_are_refused_by_a_model_of_counts(counts_model: Path, corpus: Path) -> None:
    for verb in ("predict", "evaluate", "explain"):
        assert "the model was trained on counts" in problem(1, verb, counts_model, corpus)
    assert "the model was trained on counts" in problem(1, "explain", counts_model, "some text")


def test_documents_of_one_batch_are_in_memory_at_a_time(
    model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What stands before a broken line, a batch earlier, is out when the error comes."""
    monkeypatch.setattr(import_module("deplda.cli.predict"), "_BATCH", 4)
    path = write_jsonl(tmp_path / "a.jsonl", articles()[:10])
    with path.open("a") as file:
        file.write("{oops\n")
    result = run("predict", model, path)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 8
    assert "line 11: this is not JSON" in result.stderr


def test_a_partly_written_output_is_completed_to_the_same_bytes(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    output = tmp_path / "out.jsonl"
    done("predict", model, corpus, "-o", output)
    whole = output.read_bytes()
    cuts = [0, 1, len(whole) // 2, whole.index(b"\n") + 1, len(whole) - 1, len(whole)]
    for cut in cuts:
        output.write_bytes(whole[:cut])
        done("predict", model, corpus, "-o", output, "--resume")
        assert output.read_bytes() == whole
    output.unlink()
    done("predict", model, corpus, "-o", output, "--resume")
    assert output.read_bytes() == whole


def test_an_output_is_replaced_only_by_a_complete_one(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    output, part, bad = tmp_path / "o.csv", tmp_path / "o.csv.part", tmp_path / "bad.jsonl"
    rows = [row | {"id": str(number)} for number, row in enumerate(articles() * 20)]
    bad.write_bytes(write_jsonl(tmp_path / "good.jsonl", rows).read_bytes() + b'{"text": 5}\n')
    done("predict", model, tmp_path / "good.jsonl", "-o", tmp_path / "expected.csv")
    done("predict", model, corpus, "-o", output)
    before = output.read_bytes()
    asked = ("-o", output, "--force")
    assert "'text' is 5" in problem(1, "predict", model, bad, *asked)
    assert (output.read_bytes(), part.exists()) == (before, True)
    output.unlink()
    said = problem(1, "predict", model, tmp_path / "good.jsonl", "-o", output)
    assert f"{part} holds the predictions of an unfinished run; add --resume" in said
    output.write_bytes(before)
    done("predict", model, tmp_path / "good.jsonl", "-o", output, "--resume")
    assert output.read_bytes() == (tmp_path / "expected.csv").read_bytes()
    assert not part.exists()


def test_links_in_a_folder_of_texts_are_refused(tmp_path: Path, model: Path) -> None:
    (tmp_path / "secret").write_text("a court")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").symlink_to(tmp_path / "secret")
    said = problem(1, "predict", model, tmp_path / "texts")
    assert "a.txt: this is not a plain file; links and pipes are not followed" in said


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("predict {model} - <&-", 1, "Error: standard input is closed; open it, or name a file"),
        ("explain {model} <&-", 1, "Error: standard input is closed; open it, or name a file"),
        ("predict {model} {corpus} -o - >&-", 1, "Error: standard output is closed; open it, or"),
        ("predict {model} {corpus} -o {out} >&-", 0, ""),
        ("predict {model} {corpus} -o {out} 2>&-", 0, ""),
        ("predict {model} {corpus} -o {out} <&- >&- 2>&-", 0, ""),
    ],
)
def test_closed_streams_are_named_or_not_needed(
    tmp_path: Path, model: Path, corpus: Path, command: str, code: int, said: str
) -> None:
    out = tmp_path / "out.jsonl"
    line = command.format(model=model, corpus=corpus, out=out)
    shell = ["sh", "-c", f"{sys.executable} -m deplda {line}"]
    ended = subprocess.run(shell, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert ended.returncode == code
    assert ended.stderr.startswith(said)
    assert len(ended.stderr.splitlines()) == bool(said)
    if not code:
        assert [row["id"] for row in lines(out.read_text())] == [row["id"] for row in articles()]


def test_a_link_as_an_output_stays_a_link(tmp_path: Path, model: Path, corpus: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "o.jsonl").symlink_to("there/labels.jsonl")
    done("predict", model, corpus, "-o", tmp_path / "o.jsonl")
    assert (tmp_path / "o.jsonl").is_symlink()
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["labels.jsonl"]


def test_an_output_of_other_documents_is_not_gone_on_with(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    output = tmp_path / "out.jsonl"
    done("predict", model, corpus, "-o", output)
    shorter = write_jsonl(tmp_path / "shorter.jsonl", articles()[:3])
    other = write_jsonl(tmp_path / "other.jsonl", articles()[5:])
    asked = ("-o", output, "--resume")
    before = output.read_bytes()
    assert "line 4: it is of document 'd3', but there are fewer documents" in problem(
        1, "predict", model, shorter, *asked
    )
    assert "line 1: it is of document 'd0', but document 'd5' is next" in problem(
        1, "predict", model, other, *asked
    )
    assert output.read_bytes() == before
    output.write_text("my diary\n")
    assert "line 1: this is not a line of predictions" in problem(
        1, "predict", model, corpus, *asked
    )
    assert output.read_text() == "my diary\n"
    assert "--resume needs --output" in problem(2, "predict", model, corpus, "--resume")


def test_an_output_of_another_model_or_other_options_is_not_gone_on_with(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    output = tmp_path / "out.jsonl"
    done("predict", model, corpus, "-o", output)
    half = b"".join(output.read_bytes().splitlines(keepends=True)[:7])
    done("train", corpus, "-o", tmp_path / "other", "--model", "flat")
    for other in (
        (tmp_path / "other", corpus),
        (model, corpus, "--cutoff", "3"),
        (model, corpus, "-t", "0.01"),
    ):
        output.write_bytes(half)
        assert "it is not what this model and these options give" in problem(
            1, "predict", *other, "-o", output, "--resume"
        )
        assert output.read_bytes() == half


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path, model: Path) -> None:
    path = write_jsonl(tmp_path / "many.jsonl", articles() * 100)
    ended = start("predict", model, path)
    assert ended.stdout is not None
    assert ended.stderr is not None
    assert json.loads(ended.stdout.readline())["id"] == "d0"
    ended.stdout.close()
    assert ended.stderr.read() == ""
    assert ended.wait(60) == 0
    ended.stderr.close()


@pytest.mark.slow
def test_ctrl_c_in_predicting_leaves_whole_lines_to_go_on_from(tmp_path: Path, model: Path) -> None:
    rows = [row | {"id": str(number)} for number, row in enumerate(articles() * 300)]
    path, output = write_jsonl(tmp_path / "many.jsonl", rows), tmp_path / "out.jsonl"
    ended = start("predict", model, path, "-o", output)
    part = tmp_path / "out.jsonl.part"
    while not part.exists() or not part.stat().st_size:
        assert ended.poll() is None
        time.sleep(0.01)
    ended.send_signal(signal.SIGINT)
    _, err = ended.communicate(timeout=600)
    written = part.read_bytes().splitlines(keepends=True)
    assert ended.returncode == 130
    assert err.strip() == (
        f"Error: interrupted after {len(written):,} documents, which {part} holds; "
        "--resume continues after them"
    )
    assert 0 < len(written) < len(rows)
    assert written[-1].endswith(b"\n")
    done("predict", model, path, "-o", output, "--resume")
    assert [line["id"] for line in lines(output.read_text())] == [row["id"] for row in rows]


# Shards -------------------------------------------------------------------------------------------


def test_of_a_folder_every_text_is_read_and_what_is_none_is_named(
    tmp_path: Path, model: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "LAW.TXT").write_text("the judge and the jury")
    for name in ("old.doc", "LAW.annif", ".hidden"):
        (folder / name).write_text("the game")
    result = run("predict", model, folder, "-k", 1)
    (found,) = lines(result.stdout)
    assert found["id"].endswith("LAW.TXT")
    assert "left out, as in a folder .txt, .pdf, .docx are read: 1 other file (old.doc)" in (
        result.stderr
    )


def test_a_text_in_place_of_a_file_is_told_where_it_goes(tmp_path: Path, model: Path) -> None:
    said = problem(1, "predict", model, "the judge and the jury")
    assert said == (
        "the judge and the jury: there is no such file or folder; a text by itself is given on "
        "standard input, named -"
    )
    (tmp_path / "a.csv").write_text("text\n")
    said = problem(1, "predict", tmp_path / "a.csv", model)
    assert "a.csv: this is a file; give the folder of a saved model" in said


def test_a_folder_of_shards_becomes_a_folder_of_parts(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    shards = in_shards(tmp_path / "in")
    said = done("predict", model, shards, "-o", tmp_path / "out", "-k", 2)
    assert said.startswith("30 documents in 2 parts")
    parts = [tmp_path / "out" / f"{name}.jsonl.labels.jsonl" for name in "ab"]
    found = [line for part in parts for line in lines(part.read_text())]
    assert found == lines(done("predict", model, corpus, "-k", 2))
    times = [part.stat().st_mtime_ns for part in parts]
    done("predict", model, shards, "-o", tmp_path / "out", "-k", 2)
    assert [part.stat().st_mtime_ns for part in parts] == times


def test_what_is_left_out_of_a_shard_is_said(tmp_path: Path, model: Path) -> None:
    shards = in_shards(tmp_path / "in")
    with (shards / "a.jsonl").open("a") as file:
        file.write('{"id": "odd", "text": 7}\n')
    (shards / "c.csv").write_text("a,b\n")
    result = run("predict", model, shards, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "a.jsonl, document 'odd' is left out" in result.stderr
    assert "without a part: 1 shard (see manifest.json); c.csv" in result.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["documents"] == 30


@pytest.mark.slow
def test_processes_train_and_predict_the_same(tmp_path: Path, model: Path, corpus: Path) -> None:
    far = ("--engine", "processes", "-j", 1)
    done("train", corpus, "-o", tmp_path / "model", "--where", "part=train", *QUICK, *far)
    near = done("predict", model, corpus)
    assert done("predict", tmp_path / "model", corpus, *far) == near
