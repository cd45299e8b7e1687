"""``deplda train``."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from safetensors.numpy import load_file

import deplda
from deplda import DependencyLDA, Fields, HybridLDA, WordCounter, read_corpus
from tests.cli.running import (
    QUICK,
    articles,
    done,
    in_shards,
    problem,
    run,
    start,
    write_jsonl,
)
from tests.web.serving import running, suggest


def test_training_on_text_makes_a_model_that_takes_texts(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "new" / "model"
    said = json.loads(done("train", corpus, "-o", folder, "--json", *QUICK))
    assert (said["documents"], said["labels"], said["takes_text"]) == (30, 3, True)
    again: Any = deplda.load(folder)
    assert again.rank(["the judge and the jury"], 1).labels.tolist() == [["LAW"]]
    assert (again.verbose, again.n_jobs, again.n_topic_sweeps) == (False, None, 20)
    assert again.counter_.min_count_ == 1


def test_a_model_trained_here_is_the_one_trained_in_python(tmp_path: Path, corpus: Path) -> None:
    done(
        "train", corpus, "-o", tmp_path / "m", "--seed", 3, "--n-topics", 2, "--jobs", 1, *QUICK,
    )  # fmt: skip
    python = DependencyLDA(n_topics=2, n_topic_chains=2, n_topic_sweeps=20, random_state=3)
    train = read_corpus(corpus)
    expected = python.fit(train).decision_function(train)
    assert (deplda.load(tmp_path / "m").decision_function(train) == expected).all()


def test_a_hybrid_trained_here_has_the_arrays_of_one_trained_in_python(
    tmp_path: Path, corpus: Path
) -> None:
    few: Any = {"C": 1.0, "n_topic_chains": 2, "n_topic_sweeps": 20}
    options = [part for name, value in few.items() for part in ("--set", f"{name}={value}")]
    said = done("train", corpus, "-o", tmp_path / "m", "--language", "en", "--seed", 3, *options)
    train = read_corpus(corpus, counter=WordCounter(language="en"))
    HybridLDA(random_state=3, **few).fit(train).save(tmp_path / "python")
    trained, python = (
        load_file(tmp_path / name / "arrays.safetensors") for name in ("m", "python")
    )
    assert trained.keys() == python.keys()
    for name, array in trained.items():
        np.testing.assert_array_equal(array, python[name])
    assert "Suggests labels from a probability of " in said


def test_texts_of_a_file_make_the_hybrid_that_they_make_in_python(tmp_path: Path) -> None:
    rows = [
        {"id": row["id"], "title": row["text"].split()[0], "text": row["text"]}
        | {"labels": row["labels"]}
        for row in articles()
    ]
    few: Any = {"C": 1.0, "n_topic_chains": 2, "n_topic_sweeps": 20}
    done(
        "train", write_jsonl(tmp_path / "a.jsonl", rows), "-o", tmp_path / "m", "--seed", 3,
        "--language", "english",
        "--text-field", "title", "--text-field", "text", "--field-weight", "title=2",
        *(part for name, value in few.items() for part in ("--set", f"{name}={value}")),
    )  # fmt: skip
    fields = Fields(text=("title", "text"), weights={"title": 2})
    train = read_corpus(
        tmp_path / "a.jsonl", fields=fields, counter=WordCounter(language="english")
    )
    HybridLDA(random_state=3, **few).fit(train).save(tmp_path / "python")
    trained, python = (
        load_file(tmp_path / name / "arrays.safetensors") for name in ("m", "python")
    )
    assert trained.keys() == python.keys()
    for name, array in trained.items():
        np.testing.assert_array_equal(array, python[name])
    one, other = (deplda.load(tmp_path / name).predict_proba(train) for name in ("m", "python"))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("name", "estimator"),
    [
        ("prior", "PriorLDA"), ("flat", "FlatLDA"), ("vanilla-svm", "VanillaSVM"),
        ("tuned-svm", "TunedSVM"), ("tfidf-svm", "TfidfSVM"),
        ("hybrid", "HybridLDA"),
    ],
)  # fmt: skip
def test_every_model_can_be_trained_and_predicts(
    name: str, estimator: str, tmp_path: Path, corpus: Path
) -> None:
    done("train", corpus, "-o", tmp_path / "m", "--model", name)
    assert json.loads(done("show", tmp_path / "m", "--json"))["model"] == estimator
    line = json.loads(done("predict", tmp_path / "m", "-", "-k", 1, input="judge jury court"))
    assert line["labels"][0]["label"] == "LAW"


def test_which_documents_a_tuned_svms_weight_is_of_can_be_said(
    tmp_path: Path, corpus: Path
) -> None:
    asked = ("train", corpus, "--model", "tuned-svm", "-o", tmp_path / "m", "--set")
    done(*asked, "weights=both")
    assert json.loads(done("show", tmp_path / "m", "--json"))["parameters"]["weights"] == "both"
    said = problem(1, *asked, "weights=none", "--force")
    assert "weights is 'none'; it must be one of 'positive', 'both'" in said


def test_the_papers_settings_and_single_parameters_go_together(
    tmp_path: Path, corpus: Path
) -> None:
    done(
        "train", corpus, "-o", tmp_path / "m", "--model", "prior", "--paper", "yahoo",
        "--set", "n_chains=2", "--set", "n_sweeps=3", "--set", "alpha=7.5",
    )  # fmt: skip
    asked = json.loads(done("show", tmp_path / "m", "--json"))["parameters"]
    assert (asked["n_chains"], asked["alpha"], asked["eta"]) == (2, 7.5, 70.0)


def test_words_are_counted_as_asked(tmp_path: Path, corpus: Path) -> None:
    done(
        "train", corpus, "-o", tmp_path / "m", "--min-count", 9, "--stop-words", "none",
        "--ngrams", 2, "--token-pattern", "[a-z]+", "--language", "none", *QUICK,
    )  # fmt: skip
    told = json.loads(done("show", tmp_path / "m", "--json"))
    assert told["text"] == {
        "stop_words": None, "token_pattern": "[a-z]+", "lowercase": True, "ngrams": 2,
        "min_count": 9, "fold_accents": False, "language": None, "normalize": "none",
        "package": None,
    }  # fmt: skip
    counter = WordCounter(
        language=None, stop_words=None, token_pattern="[a-z]+", ngrams=2, min_count=9,  # noqa: S106
    )  # fmt: skip
    assert told["words"] == read_corpus(corpus, counter=counter).n_words


def test_the_language_is_told_by_the_texts_and_said(tmp_path: Path) -> None:
    words = ["Kirjastot ovat tänään suljettuja", "Kirjastossa on uusia näyttelyitä lapsille"]
    rows = [{"text": text, "labels": [label]} for text in words for label in "ab"]
    corpus = write_jsonl(tmp_path / "a.jsonl", rows)
    result = run("train", corpus, "-o", tmp_path / "m", "--model", "flat")
    assert "language: finnish (fi), by 4 of 4 texts (--language sets another)" in result.stderr
    told = json.loads(done("show", tmp_path / "m", "--json"))["text"]
    assert (told["language"], told["normalize"], told["stop_words"]) == (
        "fi", "lemma", "finnish",
    )  # fmt: skip
    assert told["package"].startswith("simplemma ")
    assert "kirjastot" in done("show", tmp_path / "m", "a")
    result = run(
        "train", corpus, "-o", tmp_path / "n", "--model", "flat", "--language", "finnish",
        "--normalize", "none", "--fold-accents", "--token-pattern", "codes",
    )  # fmt: skip
    assert "language:" not in result.stderr
    assert "nayttelyita" in deplda.load(tmp_path / "n").words_
    assert "language is 'klingon'; it must be auto, none, or one of" in problem(
        1, "train", corpus, "-o", tmp_path / "o", "--language", "klingon"
    )


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_a_data_set_is_split_for_training_and_for_testing(tmp_path: Path, news: Path) -> None:
    result = run("train", news, "-o", tmp_path / "m", "--model", "prior")
    assert "train part of split 0: 301 of 400 documents" in result.stderr
    assert "the model will take counts only" in result.stderr
    result = run("evaluate", tmp_path / "m", news, "--json")
    assert "test part of split 0: 99 of 400 documents" in result.stderr
    found = json.loads(result.stdout)
    assert found["document"]["n_items"] == 99
    assert found["document"]["ranking"]["average_precision"] > 0.4
    said = problem(1, "evaluate", tmp_path / "m", news, "--split", 4)
    assert "there is no split 4; they are 0 to 0" in said
    result = run("evaluate", tmp_path / "m", news, "--split", "none", "--json")
    assert json.loads(result.stdout)["document"]["n_items"] == 400


@pytest.mark.parametrize("split", ["7", "first"])
def test_a_split_of_texts_that_is_not_there_is_named(tmp_path: Path, split: str) -> None:
    said = problem(1, "train", "newsroom", "-o", tmp_path / "m", "--split", split)
    assert f"there is no split {split}; they are 0 to 0, or none for all" in said


def test_a_data_set_is_known_by_its_name(tmp_path: Path) -> None:
    result = run("train", "newsroom", "-o", tmp_path / "m", "--model", "flat", "--json")
    found = json.loads(result.stdout)
    assert found["documents"] == 1500
    assert found["takes_text"]


def test_the_generated_news_can_be_trained_on_read_and_asked_as_the_readme_has_it(
    tmp_path: Path,
) -> None:
    model = tmp_path / "model"
    done("train", "newsroom", "-o", model, *QUICK)
    assert "ranking   AP of known labels" in done("evaluate", model, "newsroom")
    assert "gaming" in done("show", model, "VIDEO GAMES", "-k", 4)
    text = "stocks fell on fears of recession"
    assert "STOCKS" in done("explain", model, text)
    answer = run("predict", model, "-", "-k", 1, input=f"{text}\n")
    assert json.loads(answer.stdout)["labels"][0]["label"] == "STOCKS AND BONDS"
    with running(deplda.load(model)) as address, httpx.Client(base_url=address) as client:
        (found,) = suggest(client, {"text": text}, k=3)
    assert "STOCKS AND BONDS" in json.dumps(found)


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_documents_held_out_are_tested_and_their_metrics_kept(tmp_path: Path, corpus: Path) -> None:
    result = run("train", corpus, "-o", tmp_path / "m", "--holdout", 0.3, *QUICK)
    assert result.exit_code == 0
    assert "held out for testing: 9 of 30 documents" in result.stderr
    assert "predict on 9 documents: per cent, with 95 % intervals" in result.stdout
    assert "found" in result.stdout
    told = json.loads(done("show", tmp_path / "m", "--json"))
    assert told["metrics"]["document"]["n_items"] == 9
    assert told["statistics"]["n_documents"] == 21
    told = told["metrics"]["headline"]["average_precision"]
    shown = " ".join(done("show", tmp_path / "m").split())
    assert f"metrics: average_precision │ {told['value']:.4g} [{told['low']:.4g}," in shown
    assert "leaves 30 to learn from and 0" in problem(
        1, "train", corpus, "-o", tmp_path / "n", "--holdout", 0.001
    )


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_a_model_does_not_know_labels_that_only_documents_held_out_have(tmp_path: Path) -> None:
    rows = [
        row | {"text": f"{row['text']} town{number}", "labels": [*row["labels"], f"TOWN{number}"]}
        for number, row in enumerate(articles())
    ]
    towns = write_jsonl(tmp_path / "towns.jsonl", rows)
    asked = ("--holdout", 0.3, "--language", "none", "--min-count", 1)
    said = done("train", towns, "-o", tmp_path / "m", *asked)
    assert "unknown   42.9 of the true labels (9); AP is of the other 12, in 9 documents" in said
    model: Any = deplda.load(tmp_path / "m")
    assert (model.label_sets_.sum(axis=0) > 0).all()
    assert len(model.classes_) == 3 + 21


def test_a_checkpoint_is_gone_on_with_only_when_asked(tmp_path: Path, corpus: Path) -> None:
    asked = ("--checkpoint", tmp_path / "chains", "--set", "fit_method=sampled", *QUICK)
    done("train", corpus, "-o", tmp_path / "a", *asked)
    said = problem(1, "train", corpus, "-o", tmp_path / "b", *asked)
    assert "chains holds a checkpoint already; --resume goes on from it" in said
    (tmp_path / "chains" / "label-words" / "chain-0001.npz").unlink()
    done("train", corpus, "-o", tmp_path / "b", *asked, "--resume")
    first, second = ((tmp_path / m / "arrays.safetensors").read_bytes() for m in "ab")
    assert first == second
    assert "--resume needs --checkpoint" in problem(
        2, "train", corpus, "-o", tmp_path / "c", "--resume"
    )
    assert "TunedSVM has none" in problem(
        1, "train", corpus, "-o", tmp_path / "c", "--model", "tuned-svm", *asked[:2], "--resume"
    )


@pytest.mark.slow
def test_ctrl_c_in_training_leaves_nothing_behind_but_the_checkpoint(tmp_path: Path) -> None:
    chains = tmp_path / "chains"
    ended = start(
        "train", "newsroom", "-o", tmp_path / "m", "--set", "fit_method=sampled",
        "--set", "n_sweeps=1000000", "--checkpoint", chains,
    )  # fmt: skip
    while not (chains / "label-words" / "manifest.json").exists():
        assert ended.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)  # into the sweeps
    ended.send_signal(signal.SIGINT)
    out, err = ended.communicate(timeout=600)
    assert (ended.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "Error: interrupted"
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["chains"]


def test_a_corpus_may_come_from_standard_input(tmp_path: Path, corpus: Path) -> None:
    given = corpus.read_text(encoding="utf-8")
    for name, source in (("a", "-"), ("b", str(corpus))):
        done("train", source, "-o", tmp_path / name, *QUICK, input=given)
    first, second = ((tmp_path / m / "arrays.safetensors").read_bytes() for m in "ab")
    assert first == second


# Wrong options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "alpha"], "--set is 'alpha'; it must be NAME=VALUE"),
        (["--set", "backgroud=1"], "hybrid has no parameter 'backgroud'; it has C, background"),
        (["--set", "random_state=1"], "no parameter 'random_state'; use --seed"),
        (["--model", "flat", "--n-topics", "5"], "flat has no parameter 'n_topics'"),
        (["--model", "tfidf-svm", "--paper", "nyt"], "--paper is for dependency, prior and flat"),
        (["--where", "part"], "--where is 'part'; it must be FIELD=VALUE"),
        (["--min-count", "few"], "'few' is not a whole number"),
        (["--holdout", "20%"], "'20%' is not a number above 0 and below 1"),
        (["--holdout", "20"], "20.0 is not a number above 0 and below 1"),
        (["--modle", "flat"], "--modle"),
    ],
)
def test_wrong_options_of_train_are_named(
    options: list[str], message: str, tmp_path: Path, corpus: Path
) -> None:
    said = problem(2, "train", corpus, "-o", tmp_path / "m", *options)
    assert message in said
    assert said.endswith("See: deplda train --help")


def test_a_parameter_out_of_range_is_named_by_the_library(tmp_path: Path, corpus: Path) -> None:
    said = problem(1, "train", corpus, "-o", tmp_path / "m", "--set", "n_topics=0")
    assert said.startswith("n_topics is 0; it must be 'auto' or a whole number from 1")


def test_engines_that_cannot_be_are_named(tmp_path: Path, model: Path, corpus: Path) -> None:
    output = tmp_path / "model"
    assert "engine is 'gpu'" in problem(1, "train", corpus, "-o", output, "--engine", "gpu")
    assert "engine is 'gpu'" in problem(1, "predict", model, corpus, "--engine", "gpu")
    svm = ("--model", "vanilla-svm", "--engine", "gpu")
    assert "engine is 'gpu'" in problem(1, "train", corpus, "-o", output, *svm)
    assert "use --engine" in problem(2, "train", corpus, "-o", output, "--set", "engine=processes")
    shards = in_shards(tmp_path / "in")
    assert "A folder of shards needs -o" in problem(2, "predict", model, shards)
