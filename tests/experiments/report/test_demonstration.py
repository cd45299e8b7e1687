"""The demonstration."""

from pathlib import Path

import pytest
from rich.console import Console

from deplda.experiments import Experiment, read_experiment
from deplda.experiments.protocol import Model
from deplda.experiments.report import demo
from deplda.models.registry import WHICH_MODEL
from tests.experiments.report.folders import experiment, make


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
    assert "VIDEO GAMES has a single training document" in text
    assert "gamers, console, arcade, video" in text
    assert "words that argue for it" in text
    assert "Leaderboard of newsroom" in text
    assert WHICH_MODEL in " ".join(text.split())
    assert str(report) in text.replace("\n", "")
    assert "VIDEO GAMES" in report.read_text(encoding="utf-8")
