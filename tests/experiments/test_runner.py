"""Experiments as data, run unit by unit: what ended stays, what failed is said."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from deplda import DependencyLDA, InputError
from deplda.experiments import BUDGETS, presets, read_experiment, read_results, run
from deplda.experiments.protocol import Experiment, Model, make_estimator
from deplda.experiments.results import Unit, write_unit
from deplda.experiments.unit import Task, run_unit

SMALL = """
name = "small"
data = "newsroom"

[models.Flat]
estimator = "FlatLDA"

[models."Dependency (few)"]
estimator = "DependencyLDA"
parameters = { n_topics = 8, n_topic_chains = 1, n_topic_sweeps = 20 }
"""


@pytest.fixture
def small(tmp_path: Path) -> Experiment:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return read_experiment(path)


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
    assert "device" not in make_estimator(Model("VanillaSVM"), "paper", 3, 2, "auto").get_params()
    assert set(BUDGETS) == {"quick", "standard", "paper"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("FlatLDA", "SharpLDA"), "model 'Flat' is a 'SharpLDA'; it must be one of FlatLDA"),
        (("n_topics", "n_topix"), r"model 'Dependency \(few\)' has no parameter 'n_topix'"),
        (('name = "small"', 'nome = "small"'), "this is no experiment"),
        (('estimator = "FlatLDA"', 'estimator = "FlatLDA"\npaper = "moon"'), "of 'moon'; there"),
        (("[models.Flat]", "[models.Flat"), "this is no experiment"),
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


def test_units_are_kept_as_they_end_and_never_run_twice(
    small: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results"
    results = run(small, folder, budget="quick", progress=True)
    assert "2/2 units" in capsys.readouterr().err
    assert [(unit.model, unit.split, unit.status) for unit in results.units] == [
        ("Flat", 0, "done"), ("Dependency (few)", 0, "done"),
    ]  # fmt: skip
    found: dict[str, Any] = results.done[1].found or {}
    assert found["metrics"]["document"]["ranking"]["average_precision"] > 0.9
    assert found["settings"]["n_topics"] == 8
    assert len(found["showcase"]["top"]) == 10
    assert found["seconds"]["fit"] > 0
    assert found["peak_mb"] > 10
    assert found["showcase"]["top_words"]["VIDEO GAMES"][0][0] == "gamers"
    times = {path: path.stat().st_mtime_ns for path in (folder / "units").iterdir()}
    (folder / "data.json").unlink()
    again = run(small, folder, budget="quick", progress=False)
    assert again == results
    assert again.data is not None
    assert again.data.statistics["n_documents"] == 2000
    assert again.data.shown_labels["VIDEO GAMES"] == 1
    assert sum(n for _, n in again.data.documents_by_labels) == again.data.n_train
    assert {path: path.stat().st_mtime_ns for path in (folder / "units").iterdir()} == times
    with pytest.raises(InputError, match=r"results of another run .its budget is 'quick', not"):
        run(small, folder, budget="paper")
    other = msgspec.structs.replace(small, seed=1)
    with pytest.raises(InputError, match="its experiment is another one"):
        run(other, folder, budget="quick")


def test_a_run_may_do_some_of_the_models_and_a_later_one_the_others(
    small: Experiment, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    one = run(small, folder, budget="quick", models=["Flat"], device="auto", progress=False)
    assert [unit.model for unit in one.done] == ["Flat"]
    assert (one.done[0].found or {})["parameters"]["device"] == "auto"
    other = run(small, folder, budget="quick", progress=False)
    assert [unit.model for unit in other.done] == ["Flat", "Dependency (few)"]
    assert other.done[0] == one.done[0]
    with pytest.raises(InputError, match="there is no model 'flat'; small has Flat, Dependency"):
        run(small, folder, budget="quick", models=["flat"])
    with pytest.raises(InputError, match="device is 'gpu'; it must be"):
        run(small, folder, budget="quick", device="gpu")


def test_a_unit_that_fails_does_not_stop_the_others_and_is_tried_again(
    small: Experiment, tmp_path: Path
) -> None:
    bad = Model("DependencyLDA", parameters={"n_topics": -1})
    broken = msgspec.structs.replace(small, models={"Bad": bad, "Flat": small.models["Flat"]})
    folder = tmp_path / "results"
    results = run(broken, folder, budget="quick", progress=False)
    assert [unit.status for unit in results.units] == ["failed", "done"]
    assert "n_topics is -1" in str(results.units[0].error)
    assert [unit.model for unit in results.done] == ["Flat"]
    write_unit(folder, Unit("Bad", 0, "failed", error="an older one"))
    again = run(broken, folder, budget="quick", progress=False)
    assert "n_topics is -1" in str(again.units[0].error)


def test_a_folder_of_something_else_is_left_alone(small: Experiment, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("…", encoding="utf-8")
    with pytest.raises(InputError, match="is not empty and holds no results"):
        run(small, tmp_path / "mine", budget="quick")
    with pytest.raises(InputError, match="there are no results here"):
        read_results(tmp_path / "mine")
    with pytest.raises(InputError, match="there is no split 7; newsroom has 1"):
        run(small, tmp_path / "new", splits=[7])


def test_a_unit_gives_the_same_figures_for_any_number_of_threads(small: Experiment) -> None:
    one, two = (
        run_unit(Task(small, "Dependency (few)", 0, "quick", n_jobs=n))["metrics"] for n in (1, 2)
    )
    assert one == two
