import io
import sys

import numpy as np
import pytest
from rich.console import Console

from deplda import InputError, Schedule, train_label_words
from deplda.data.datasets import newsroom
from deplda.training.diagnostics import Traces


def test_chains_that_agree_have_an_r_hat_of_one() -> None:
    rng = np.random.default_rng(0)
    found = Traces(("level",), rng.normal(size=(4, 400, 1))).diagnostics()
    assert found.rhat[0] == pytest.approx(1, abs=0.02)
    assert 500 < found.ess[0] < 1_100  # 4 × 200 judged draws, all independent


def test_chains_that_disagree_are_seen() -> None:
    rng = np.random.default_rng(0)
    traces = rng.normal(size=(2, 100, 1)) + np.array([0, 10])[:, None, None]
    found = Traces(("level",), traces).diagnostics()
    assert found.rhat[0] > 1.5
    assert found.ess[0] < 10


def test_what_is_too_short_or_never_moves_is_not_judged() -> None:
    assert np.isnan(Traces(("level",), np.zeros((2, 3, 1))).diagnostics().rhat[0])
    assert np.isnan(Traces(("level",), np.ones((2, 50, 1))).diagnostics().ess[0])


def test_training_traces_the_likelihood_and_telling_words() -> None:
    corpus = newsroom(200).corpus
    traces = train_label_words(corpus, n_chains=2, schedule=Schedule(20)).traces
    assert traces is not None
    assert traces.values.shape == (2, 20, 9)
    assert traces.log_likelihood[:, -1].min() > traces.log_likelihood[:, 0].max()
    assert traces.names[0] == "log-likelihood"
    assert traces.names[1].startswith("φ(")
    diagnostics = traces.diagnostics()
    assert set(diagnostics.to_dict()) == set(traces.names)
    console = Console(file=io.StringIO(), width=100)
    console.print(diagnostics)
    assert isinstance(console.file, io.StringIO)
    assert "effective samples" in console.file.getvalue()


def test_the_figure_is_drawn() -> None:
    rng = np.random.default_rng(0)
    figure = Traces(("level", "other"), rng.normal(size=(3, 40, 2))).diagnostics().figure()
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg")
    assert len(drawn.getvalue()) > 10_000
    assert len(figure.axes[0].lines) == 3


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz_stats.base.array", None)
    with pytest.raises(InputError, match=r"pip install 'deplda\[diagnostics\]'"):
        Traces(("level",), np.zeros((2, 9, 1))).diagnostics()
