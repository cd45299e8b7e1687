"""Presets, and the parameters that budgets and the paper's settings give their models."""

from typing import Any

import pytest

from deplda import DependencyLDA, InputError
from deplda.models.registry import model_class
from paper.data import entries
from paper.protocol import (
    BUDGETS,
    Budget,
    Experiment,
    PaperModel,
    presets,
    read_preset,
    with_budget,
)


def test_every_preset_can_be_read() -> None:
    assert set(presets()) >= {
        "newsroom", "yahoo-arts", "yahoo-health", "eurlex", "rcv1", "debtags", "nyt",
    }  # fmt: skip
    kin = {"eurlex20k": "eurlex", "rcv1-subset1": "rcv1"}
    for name, paper in kin.items():
        ours, theirs = read_preset(name), read_preset(paper)
        assert (ours.models, ours.paper) == (theirs.models, theirs.paper)
        assert ours.note is not None
    known = {"newsroom", "debtags"} | {entry.name for entry in entries()}
    for name in presets():
        experiment = read_preset(name)
        assert experiment.name == name
        assert experiment.data in known
        assert len(experiment.models) >= 6
        for budget in BUDGETS:
            for model in with_budget(experiment, budget).models.values():
                model_class(model.estimator)(**model.parameters)


def made(model: PaperModel, budget: Budget) -> Any:
    experiment = Experiment(name="one", data="one", models={"Model": model})
    parameters = with_budget(experiment, budget).models["Model"].parameters
    return model_class(model.estimator)(**parameters)


def test_the_papers_budget_is_the_papers_protocol() -> None:
    model = read_preset("eurlex").models["Dependency-LDA"]
    expected = DependencyLDA.paper("eurlex", n_held_out=0)
    assert made(model, "paper").get_params() == expected.get_params()
    standard = made(model, "standard")
    assert (standard.n_chains, standard.n_topic_chains, standard.n_test_chains) == (8, 10, 1)
    assert standard.eta == expected.eta
    assert made(PaperModel("FlatLDA"), "standard").n_test_chains == 10
    assert standard.n_held_out == made(PaperModel("TfidfSVM"), "standard").n_held_out == 0
    assert made(PaperModel("HybridLDA"), "standard").n_held_out == 3000
    both = PaperModel("TunedSVM", {"weights": "both"}, published="Tuned-SVM")
    assert made(both, "quick").weights == "both"


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="there is no preset 'moon'; there are bibtex, debtags"):
        read_preset("moon")
