"""The demonstration."""

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from deplda.data import datasets
from deplda.data.corpus import Corpus
from deplda.data.datasets import Dataset
from deplda.data.readers import CorpusBuilder
from deplda.data.splits import Split
from deplda.experiments import Experiment, read_experiment
from deplda.experiments.protocol import Model
from deplda.experiments.report import demo, demonstration
from deplda.models.registry import WHICH_MODEL
from tests.cli.running import run
from tests.data.datasets.test_apt_lists import TRANSLATIONS, Apt, apt, many
from tests.experiments.report.folders import experiment, make

__all__ = ["apt"]


@pytest.mark.slow
def test_the_demonstration_tells_its_story_and_can_be_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"n_topics": 8, "n_topic_chains": 1, "n_topic_sweeps": 20}
    models = {
        "Dependency-LDA": Model("DependencyLDA", parameters=few),
        "Flat-LDA": Model("FlatLDA"),
    }

    def small(name: str) -> Experiment:
        assert name == "newsroom"
        assert set(read_experiment(name).models) > set(models)
        return Experiment(name=name, data=name, models=models)

    monkeypatch.setattr("deplda.experiments.report.demonstration.read_experiment", small)
    make(tmp_path / "demo" / "results", experiment("of another time"))
    console = Console(width=140, record=True)
    report = demo(tmp_path / "demo", console)
    text = console.export_text()
    assert "VIDEO GAMES has a single training document, which has" in text
    assert "gaming, game, designer, gamer" in text
    assert "words that argue for it" in text
    assert "Leaderboard of newsroom" in text
    assert WHICH_MODEL in " ".join(text.split())
    assert str(report) in text.replace("\n", "")
    assert "VIDEO GAMES" in report.read_text(encoding="utf-8")


def test_the_demonstration_runs_on_debian_packages(
    apt: Apt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"Dependency-LDA": Model("DependencyLDA", parameters={"n_topic_sweeps": 20})}
    monkeypatch.setattr(
        demonstration,
        "read_experiment",
        lambda name: Experiment(name=name, data=name, models=few),
    )
    monkeypatch.setattr(demonstration, "_MOST_DOCUMENTS", 150)
    apt.has("Packages", many(200))
    apt.has("Translations", TRANSLATIONS)
    console = Console(width=140, record=True)
    report = demo(tmp_path / "demo", console, data="debtags")
    text = console.export_text()
    assert "on debtags, 150 of 200 documents, drawn at random …" in text
    assert "Leaderboard of debtags" in text
    assert "a demonstration on 150 of 200 documents" in report.read_text(encoding="utf-8")


def corpus_of(*labels: set[str]) -> Dataset:
    """Return documents about letters: a word of each label, and one that all have."""
    builder = CorpusBuilder()
    for number, own in enumerate(labels):
        counts = {"thing": 1} | {f"{name.lower()}ing": 5 for name in own}
        builder.add(counts, sorted(own), f"d{number}")
    corpus = builder.corpus()
    return Dataset("letters", corpus, (Split(np.arange(len(corpus)), np.array([], int)),))


def test_a_story_is_of_a_label_of_one_document_beside_two_frequent_ones() -> None:
    frequent = [{"A", "B"}, {"A"}, {"B"}, {"A", "B"}, {"A"}, {"B"}]
    data = corpus_of({"C", "A"}, *frequent, {"D", "A", "B"})
    story = demonstration._story(data)
    assert story is not None
    assert (story.label, story.row, sorted(story.others)) == (3, 7, [0, 1])
    assert story.words[0] == "ding"
    console = Console(width=140, record=True)
    demonstration._tell_of_a_rare_label(data, console)
    told = "D has a single training document, which has A (6 documents) and B (5 documents) too"
    assert told in console.export_text()


def test_the_story_is_rather_of_a_label_whose_name_the_model_finds() -> None:
    frequent = [{"A", "B"}, {"A"}, {"B"}, {"A", "B"}, {"A"}, {"B"}]
    data = corpus_of(*frequent, {"D", "A", "B"}, {"E", "A", "B"})
    names = ["A", "B", "D", "Of eing"]
    renamed = Corpus(data.corpus.counts, data.corpus.labels, data.corpus.vocabulary, names)
    story = demonstration._story(Dataset(data.name, renamed, data.splits))
    assert story is not None
    assert (renamed.label_names[story.label], story.row) == ("Of eing", 7)


def test_where_no_label_is_rare_there_is_no_story() -> None:
    console = Console(width=140, record=True)
    demonstration._tell_of_a_rare_label(corpus_of({"A", "B"}, {"A"}, {"B"}), console)
    assert console.export_text() == ""


def test_of_a_large_data_set_some_documents_are_drawn_each_on_its_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = datasets.load("newsroom", n_documents=300)
    monkeypatch.setattr(demonstration, "_MOST_DOCUMENTS", 100)
    some, again = demonstration._some(whole), demonstration._some(whole)
    assert some.corpus.ids == again.corpus.ids
    assert len(some.corpus) == 100
    assert some.corpus.label_counts.min() > 0
    for mine, theirs in zip(some.splits[0], whole.splits[0], strict=True):
        ids = {whole.corpus.ids[row] for row in theirs}
        assert len(mine)
        assert {some.corpus.ids[row] for row in mine} <= ids
    monkeypatch.setattr(demonstration, "_MOST_DOCUMENTS", 300)
    assert len(demonstration._some(whole).corpus) == 300


def test_a_document_is_shown_as_it_is_written_where_its_text_is_there() -> None:
    data = corpus_of({"A"}, {"B"})
    assert demonstration._shown(data, 0) == "aing, thing"
    told = Dataset(data.name, data.corpus, data.splits, ("Of A.", "word " * 200))
    assert demonstration._shown(told, 0) == "Of A."
    assert demonstration._shown(told, 1).endswith("word …")
    assert len(demonstration._shown(told, 1)) <= 402


def test_an_unknown_data_set_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    ended = run("demo", "--data", "debtag", "-o", tmp_path / "demo")
    assert ended.exit_code == 1
    assert "no data set, file or folder 'debtag': did you mean 'debtags'? (" in ended.stderr
    assert not (tmp_path / "demo").exists()
