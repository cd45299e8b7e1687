import io

import numpy as np
import pytest
from rich.console import Console

from deplda import InputError
from deplda.evaluation import suggestion_metrics, tune_cut
from tests.evaluation.cases import shown
from tests.evaluation.test_suggestions import case


def test_every_cell_is_what_suggestions_cut_off_so_are_worth() -> None:
    chances, truth = case()
    grid = tune_cut(chances, truth, limits=(3, 1), thresholds=(0.4, 0.0, 0.2))
    assert (grid.limits, grid.thresholds) == ((1, 3), (0.0, 0.2, 0.4))
    for row, limit in enumerate(grid.limits):
        for column, threshold in enumerate(grid.thresholds):
            found = suggestion_metrics(chances, truth, limit=limit, threshold=threshold)
            for name in ("precision", "recall", "f1"):
                assert getattr(grid, name)[row, column] == found[f"document_{name}"]
            assert grid.ndcg[row, column] == found["given_ndcg"]


def test_by_default_it_is_the_grid_of_annif() -> None:
    grid = tune_cut(*case())
    assert (grid.limits[-1], grid.thresholds[3], grid.thresholds[-1]) == (15, 0.15, 0.95)
    assert grid.f1.shape == (15, 20)
    told = grid.to_dict()
    assert told["best"]["f1"]["value"] == max(map(max, told["f1"])) == grid.best().value


def test_of_equals_the_last_is_best() -> None:
    grid = tune_cut([[0.9, 0.1]], [[1, 0]], limits=(1, 2, 3), thresholds=(0.0, 0.5, 0.95))
    assert grid.best() == (3, 0.5, 1.0)
    assert grid.best("recall") == (3, 0.5, 1.0)


def test_the_table_is_small_and_its_best_is_seen() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((50, 120)) < 0.2
    grid = tune_cut(np.clip(truth * 0.4 + 0.6 * rng.random(truth.shape), 0, 1), truth,
                    limits=range(1, 101))  # fmt: skip
    best = grid.best()
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(grid)
    text = console.export_text()
    assert len(text.splitlines()) <= 18
    assert max(map(len, text.splitlines())) <= 80
    assert f"{best.threshold:.2f}" in text.splitlines()[1]
    (row,) = (line for line in text.splitlines() if line.startswith(f"{best.limit} "))
    assert f"{100 * best.value:.1f}" in row
    assert "mean of 50 documents" in shown(grid)


def test_cuts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="limit is 0"):
        tune_cut([[1.0]], [[1]], limits=(0, 2))
    with pytest.raises(InputError, match="threshold is inf"):
        tune_cut([[1.0]], [[1]], thresholds=(0.0, float("inf")))
