"""``deplda learn``."""

import json
from pathlib import Path
from typing import Any

import pytest

import deplda
from deplda import WordCounter, datasets, read_corpus
from deplda.data.versions import version_id
from deplda.web.feedback import Feedback, Labelled
from tests.cli.running import QUICK, articles, done, problem, run, write_jsonl

NEW = [
    {"id": "n1", "text": "the senate voted on the lawsuit", "labels": ["POLITICS", "LAW"]},
    {"id": "n2", "text": "senators of the senate", "labels": ["POLITICS"]},
    {"id": "n3", "text": "the jury and the judge", "labels": ["LAW"]},
    {"id": "n4", "text": "a concert", "labels": []},
    {"id": "n5", "text": "and so on", "labels": ["LAW"]},
]
CAME_IN = {
    "documents": 5,
    "without_labels": 1,
    "without_words": 1,
    "known_labels": 1,
    "new_labels": ["POLITICS"],
    "new_words": 3,
}


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "new.jsonl", NEW)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_model_takes_up_new_documents_labels_and_words(
    tmp_path: Path, model: Path, new: Path
) -> None:
    before = files_of(model)
    said = json.loads(done("learn", model, new, "-o", tmp_path / "m", "--json"))
    assert said["learned"] == CAME_IN
    old, grown = (deplda.load(path) for path in (model, tmp_path / "m"))
    assert said["documents"] == grown.label_sets_.shape[0] == old.label_sets_.shape[0] + 5
    assert (said["words"], said["labels"]) == (len(grown.words_), len(grown.classes_))
    assert grown.words_ == (*old.words_, "senate", "senators", "voted")
    assert grown.rank(["the senate"], 1).labels.tolist() == [["POLITICS"]]
    assert (grown.verbose, grown.n_jobs) == (False, None)
    assert files_of(model) == before


@pytest.mark.parametrize("kind", ["dependency", "hybrid"])
def test_new_words_are_shown_as_they_are_written(kind: str, tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "m", "--model", kind, "--language", "en")
    rows = [{"id": "n", "text": "happily politicians ran policies", "labels": ["POLITICS"]}]
    new = write_jsonl(tmp_path / "new.jsonl", rows)
    done("learn", tmp_path / "m", new, "-o", tmp_path / "n")
    grown = deplda.load(tmp_path / "n")
    assert {"politician", "polici"} < set(grown.words_)
    assert {"politicians", "policies", "happily"} < set(grown.surface_words_)
    python: Any = deplda.load(tmp_path / "m")
    python.partial_fit([rows[0]["text"]], [["POLITICS"]])
    assert python.surface_words_ == grown.surface_words_


def test_labels_none_of_which_is_known_are_warned_of(tmp_path: Path, model: Path) -> None:
    rows = [{"id": "n", "text": "umpire pitcher inning", "labels": "LAW / SPORT"}]
    ended = run("learn", model, write_jsonl(tmp_path / "new.jsonl", rows), "-o", tmp_path / "m")
    assert "the model knows none of the labels of " in ended.stderr
    assert "set --separator" in ended.stderr
    assert "1 new one ('LAW / SPORT')" in ended.stdout


def test_what_came_in_is_said(tmp_path: Path, model: Path, new: Path) -> None:
    first, second, last = done("learn", model, new, "-o", tmp_path / "m").splitlines()
    assert first == (
        "learned from 5 documents (1 without labels, 1 without words): 1 known label, "
        "1 new one ('POLITICS'), 3 new words"
    )
    assert second.startswith("DependencyLDA of 29 documents, ")
    assert last == f"Next: deplda evaluate {tmp_path / 'm'} labelled.jsonl"
    assert "1 known label, 0 new ones, 3 new words" in done(
        "learn", tmp_path / "m", write_jsonl(tmp_path / "one.jsonl", [
            {"id": "n6", "text": "umpire pitcher inning", "labels": ["LAW"]}
        ]), "-o", tmp_path / "n",
    )  # fmt: skip


def test_learning_here_is_learning_in_python(tmp_path: Path, model: Path, new: Path) -> None:
    done("learn", model, new, "-o", tmp_path / "m", "--jobs", 1)
    python: Any = deplda.load(model)
    python.partial_fit([row["text"] for row in NEW], [row["labels"] for row in NEW])
    whole = read_corpus(new, counter=WordCounter(language=None))
    test = whole[:4]  # the last has no vocabulary words
    scores = deplda.load(tmp_path / "m").decision_function(test)
    assert (scores == python.decision_function(test)).all()


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_a_model_is_replaced_only_when_asked(tmp_path: Path, corpus: Path, new: Path) -> None:
    folder = tmp_path / "m"
    done("train", corpus, "-o", folder, "--model", "prior", "--holdout", 0.3)
    before = files_of(folder)
    assert "m exists" in problem(1, "learn", folder, new, "-o", folder)
    bad = write_jsonl(tmp_path / "bad.jsonl", [{"id": "x", "labels": ["LAW"]}])
    problem(1, "learn", folder, bad, "-o", folder, "--force")
    assert files_of(folder) == before
    done("learn", folder, new, "-o", folder, "--force")
    told = json.loads(done("show", folder, "--json"))
    assert told["statistics"]["n_documents"] == 21 + 5
    assert told["metrics"] is None  # they were of the model as it was


def test_documents_are_read_as_in_training(tmp_path: Path, model: Path) -> None:
    rows = [
        {"key": f"n{n}", "body": row["text"], "subjects": "/".join(row["labels"]), "part": n % 2}
        for n, row in enumerate(NEW)
    ]
    said = json.loads(done(
        "learn", model, "-", "-o", tmp_path / "m", "--format", "jsonl", "--text-field", "body",
        "--labels-field", "subjects", "--separator", "/", "--id-field", "key", "--where", "part=1",
        "--json", input="".join(json.dumps(row) + "\n" for row in rows),
    ))["learned"]  # fmt: skip
    assert (said["documents"], said["new_labels"]) == (2, ["POLITICS"])


@pytest.mark.parametrize(
    ("labels", "separator"),
    [("LAW, SPORT", ","), ("SPORT | LAW", "|"), (["LAW; SPORT"], ";"), ("LAW,SPORT,MUSIC", ",")],
)
def test_labels_of_the_model_in_one_string_are_not_learned_as_a_new_label(
    tmp_path: Path, corpus: Path, labels: Any, separator: str
) -> None:
    fields = ("--separator", "/")
    done("train", corpus, "-o", tmp_path / "m", *QUICK, *fields)
    rows = [
        {"text": "the judge of the league", "labels": labels},
        {"text": "a", "labels": "NEW, LAW"},
    ]
    new, target = write_jsonl(tmp_path / "new.jsonl", rows), tmp_path / "grown"
    said = problem(1, "learn", tmp_path / "m", new, "-o", target)
    joined = labels if isinstance(labels, str) else labels[0]
    assert (
        f"1 new label would be known labels joined by {separator!r}, such as {joined!r}; read them "
        f"with --separator {separator!r}, or learn them as they are with --separator '/'"
    ) in said
    assert not target.exists()
    done("learn", tmp_path / "m", new, "-o", target, "--separator", "/")
    assert {joined, "NEW, LAW"} < set(deplda.load(target).classes_)


def test_a_new_word_needs_the_tokens_that_words_needed_in_training(
    tmp_path: Path, corpus: Path
) -> None:
    done("train", corpus, "-o", tmp_path / "m", "--model", "flat", "--min-count", 2,
         "--language", "none")  # fmt: skip
    rows = [{"id": "n", "text": "senate senate voted", "labels": ["POLITICS"]}]
    new = write_jsonl(tmp_path / "new.jsonl", rows)
    done("learn", tmp_path / "m", new, "-o", tmp_path / "n")
    words = deplda.load(tmp_path / "n").words_
    assert ("senate" in words, "voted" in words) == (True, False)


def test_a_model_of_counts_takes_counts_with_names(
    tmp_path: Path, counts_model: Path, new: Path
) -> None:
    counts = {"quokka": 3, deplda.load(counts_model).words_[0]: 1}
    rows = [{"id": "n", "counts": counts, "labels": ["SENATE"]}]
    more = write_jsonl(tmp_path / "more.jsonl", rows)
    said = json.loads(done("learn", counts_model, more, "-o", tmp_path / "m", "--json"))
    assert (said["learned"]["new_words"], said["learned"]["new_labels"]) == (1, ["SENATE"])
    said = problem(1, "learn", counts_model, new, "-o", tmp_path / "n")
    assert "the model was trained on counts and does not know how words are counted" in said


def test_of_a_data_set_the_training_part_is_learned(
    tmp_path: Path, model: Path, news: Path
) -> None:
    result = run("learn", model, news, "-o", tmp_path / "m", "--json")
    assert "train part of split 0: 301 of 400 documents" in result.stderr
    said = json.loads(result.stdout)["learned"]
    n_new = len(said["new_labels"])
    assert (said["documents"], said["known_labels"]) == (301, 1)  # MUSIC
    assert 0 < n_new < datasets.load_folder(news, "news").corpus.n_labels
    # What no document of this part has is no new label.
    assert deplda.load(tmp_path / "m").label_sets_.sum(axis=0)[-n_new:].all()


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": "n", "text": "judge and jury", "labels": []}],
        [{"id": "n", "text": "and so on", "labels": ["LAW"]}],
        [{"id": "n", "text": "court", "labels": []}, {"id": "m", "text": "", "labels": ["LAW"]}],
    ],
)
def test_documents_that_teach_nothing_are_an_error(
    rows: list[dict[str, Any]], tmp_path: Path, model: Path
) -> None:
    said = problem(1, "learn", model, write_jsonl(tmp_path / "n.jsonl", rows), "-o", tmp_path / "m")
    n = "1 document" if len(rows) == 1 else f"{len(rows)} documents"
    assert f"none of {n} has both labels and words" in said
    assert not (tmp_path / "m").exists()


def test_a_file_without_documents_is_an_error(tmp_path: Path, model: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    problem(1, "learn", model, tmp_path / "empty.jsonl", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_an_svm_says_that_it_must_be_trained_anew(tmp_path: Path, corpus: Path, new: Path) -> None:
    done("train", corpus, "-o", tmp_path / "svm", "--model", "vanilla-svm")
    said = problem(1, "learn", tmp_path / "svm", new, "-o", tmp_path / "m")
    assert "svm is a VanillaSVM, which" in said
    assert "train it anew on the old and the new ones together (deplda train)" in said
    assert "one of dependency, prior, flat and hybrid" in said


def test_articles_learned_in_two_parts_rank_as_if_learned_at_once(
    tmp_path: Path, corpus: Path
) -> None:
    late = write_jsonl(tmp_path / "late.jsonl", articles()[20:])
    early = write_jsonl(tmp_path / "early.jsonl", articles()[:20])
    done("train", early, "-o", tmp_path / "m", "--model", "prior")
    done("learn", tmp_path / "m", late, "-o", tmp_path / "m", "--force")
    done("train", corpus, "-o", tmp_path / "whole", "--model", "prior")
    parts, whole = (deplda.load(tmp_path / name) for name in ("m", "whole"))
    test = read_corpus(corpus)
    assert set(parts.words_) == set(whole.words_)
    assert parts.score(test) == pytest.approx(whole.score(test), abs=0.02)


@pytest.mark.parametrize("body", ["body", "text"])
def test_what_a_service_was_sent_is_read_whatever_fields_the_model_was_trained_on(
    tmp_path: Path, body: str
) -> None:
    rows = [{"title": "x", body: row["text"], "labels": row["labels"]} for row in articles()]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", rows)
    fields = f"--text-field title --text-field {body} --field-weight title=2"
    model = tmp_path / "model"
    done("train", corpus, "-o", model, *QUICK, *fields.split())
    Feedback(tmp_path / "sent.jsonl").append([Labelled("the senate voted", ["POLITICS"])])
    said = json.loads(
        done("learn", model, tmp_path / "sent.jsonl", "-o", model, "--force", "--json")
    )
    assert said["learned"]["new_labels"] == ["POLITICS"]
    more = write_jsonl(tmp_path / "more.jsonl", rows[:2])  # the model still knows its own fields
    said = json.loads(done("learn", model, more, "-o", model, "--force", "--json"))
    assert said["learned"]["new_labels"] == []


def test_of_a_document_that_was_decided_on_again_the_last_decision_counts(
    tmp_path: Path, model: Path
) -> None:
    text = "the senate voted"
    rows: list[Any] = [
        {"id": version_id(text), "text": text, "labels": ["WRONG"], "received": "2026-01-01"},
        {"text": "senators of the senate", "labels": ["POLITICS"], "received": "2026-01-01"},
        {"id": version_id(text), "text": text, "labels": ["LAW"], "received": "2026-01-02"},
    ]
    new = write_jsonl(tmp_path / "new.jsonl", rows)
    result = run("learn", model, new, "-o", tmp_path / "m", "--json")
    assert result.exit_code == 0, result.stderr
    assert "decided on again: 1 document; the last decision counts" in result.stderr
    learned = json.loads(result.stdout)["learned"]
    assert (learned["documents"], learned["new_labels"]) == (2, ["POLITICS"])


def test_documents_that_were_learned_from_before_are_told_of(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    result = run("learn", model, corpus, "-o", tmp_path / "m")
    assert (
        "24 of 30 documents have the same words as documents that the model has learned from"
        in (result.stderr)
    )
