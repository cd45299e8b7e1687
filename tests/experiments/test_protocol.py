"""Experiments as data: presets, the user's own files, and wrong ones."""

from pathlib import Path

import pytest

from deplda import DependencyLDA, InputError
from deplda.experiments import BUDGETS, presets, read_experiment
from deplda.experiments.protocol import Model, make_estimator
from tests.experiments.worlds import SMALL


def test_every_preset_can_be_read() -> None:
    assert set(presets()) >= {
        "newsroom", "yahoo-arts", "yahoo-health", "eurlex", "rcv1", "debtags", "nyt",
    }  # fmt: skip
    kin = {"eurlex20k": "eurlex", "rcv1-subset1": "rcv1"}
    for name, paper in kin.items():
        ours, theirs = read_experiment(name), read_experiment(paper)
        assert (ours.models, ours.paper) == (theirs.models, theirs.paper)
        assert ours.note is not None
    for name in presets():
        experiment = read_experiment(name)
        assert experiment.name == name
        assert len(experiment.models) >= 6


def test_the_papers_budget_is_the_papers_protocol() -> None:
    model = read_experiment("eurlex").models["Dependency-LDA"]
    paper = make_estimator(model, "paper", 3, 2)
    expected = DependencyLDA.paper("eurlex", random_state=3, n_jobs=2)
    assert paper.get_params() == expected.get_params()
    standard = make_estimator(model, "standard", 3, 2)
    assert (standard.n_chains, standard.n_topic_chains, standard.n_test_chains) == (8, 10, 1)
    assert standard.eta == expected.eta
    assert make_estimator(Model("FlatLDA"), "standard", 0, 1).n_test_chains == 10
    assert make_estimator(model, "paper", 3, 2, "auto").device == "auto"
    assert paper.n_held_out == standard.n_held_out == 0
    assert make_estimator(Model("TfidfSVM"), "standard", 0, 1).n_held_out == 0
    assert make_estimator(Model("HybridLDA"), "standard", 0, 1).n_held_out == 3000
    assert make_estimator(Model("VanillaSVM"), "paper", 3, 2, "auto").device == "auto"
    assert set(BUDGETS) == {"quick", "standard", "paper"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("FlatLDA", "SharpLDA"), "model 'Flat' is a 'SharpLDA'; it must be one of DependencyLDA"),
        (
            ("n_topics", "n_topix"),
            r"'Dependency \(few\)' has no parameter 'n_topix': did you mean 'n_t",
        ),
        (('name = "small"', 'nome = "small"'), r"unknown field `nome`; known: name, data"),
        (('estimator = "FlatLDA"', 'estimator = "FlatLDA"\npaper = "moon"'), "of 'moon'; there"),
        (("[models.Flat]", "[models.Flat"), "this is not an experiment"),
        (("[models.Flat]", f"[models.Flat{'.a' * 99_999}]"), "a key has more than 16 parts"),
        (("n_topics = 8", f"n_topics = {'[' * 99_999}"), "this is not an experiment"),
        (
            ("n_topics = 8", "engine = 'tcp://10.0.0.1:1'"),
            "where work runs.*use --device",
        ),
        (("n_topics = 8", "n_jobs = 64"), "'n_jobs'; where work runs"),
        (("n_topics = 8", "n_topics = -8"), "n_topics is -8"),
        (('data = "newsroom"', 'data = "newsroom"\nseed = -1'), "seed is -1"),
        (('data = "newsroom"', 'data = "newsroom"\nmin_count = 0'), "min_count is 0"),
        (("[models.Flat]", "[models.'Dependency, few']"), "would share a file of results"),
        (("[models.Flat]", "[models.'../…']"), "would share a file|names must differ"),
    ],
)
def test_a_wrong_experiment_is_refused(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(SMALL.replace(*change, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_experiment(path)


def test_an_unknown_experiment_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"there is no experiment 'moon'; .* debtags, eurlex"):
        read_experiment("moon")
