import io

import numpy as np
import pytest
from rich.console import Console

from deplda import Schedule, train_label_words
from deplda.data.datasets import newsroom
from deplda.training.diagnostics import diagnose


def test_chains_that_agree_have_an_r_hat_of_one() -> None:
    rng = np.random.default_rng(0)
    found = diagnose(("level",), rng.normal(size=(4, 400, 1)))
    assert found.rhat[0] == pytest.approx(1, abs=0.02)
    assert 500 < found.ess[0] < 1_100  # 4 × 200 judged draws, all independent


def test_chains_that_disagree_are_seen() -> None:
    rng = np.random.default_rng(0)
    traces = rng.normal(size=(2, 100, 1)) + np.array([0, 10])[:, None, None]
    found = diagnose(("level",), traces)
    assert found.rhat[0] > 1.5
    assert found.ess[0] < 10


def test_what_is_too_short_or_never_moves_is_not_judged() -> None:
    assert np.isnan(diagnose(("level",), np.zeros((2, 3, 1))).rhat[0])
    assert np.isnan(diagnose(("level",), np.ones((2, 50, 1))).ess[0])


def test_training_traces_the_likelihood_and_telling_words() -> None:
    corpus = newsroom(200).corpus
    found = train_label_words(corpus, n_chains=2, schedule=Schedule(20)).diagnostics
    assert found is not None
    assert found.traces.shape == (2, 20, 9)
    assert found.log_likelihood[:, -1].min() > found.log_likelihood[:, 0].max()
    assert found.names[0] == "log-likelihood"
    assert found.names[1].startswith("φ(")
    assert set(found.to_dict()) == set(found.names)
    console = Console(file=io.StringIO(), width=100)
    console.print(found)
    assert isinstance(console.file, io.StringIO)
    assert "effective samples" in console.file.getvalue()


def test_the_figure_is_drawn() -> None:
    rng = np.random.default_rng(0)
    figure = diagnose(("level", "other"), rng.normal(size=(3, 40, 2))).figure()
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg")
    assert len(drawn.getvalue()) > 10_000
    assert len(figure.axes[0].lines) == 3
