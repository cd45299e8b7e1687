"""Who is best, and whether that is beyond noise, in words."""

from pathlib import Path

import msgspec
from rich.console import Console

from deplda.comparison import standing
from deplda.comparison.metrics import BY_DOCUMENT
from deplda.comparison.standing import Cell, leaderboard, mean_cell, read_run
from tests.comparison.folders import make


def drawn(folder: Path, values: dict[str, list[float]]) -> Path:
    """Give models these average precisions in draws of the test documents."""
    for path in folder.glob("units/*.json"):
        unit = msgspec.json.decode(path.read_bytes())
        if unit["model"] in values:
            found = unit["found"]
            mine = values[unit["model"]]
            found["metrics"]["document"]["ranking"]["average_precision"] = sum(mine) / len(mine)
            found["resampled"]["document"]["ranking"]["average_precision"] = mine
        path.write_bytes(msgspec.json.encode(unit))
    return folder


LOW = {"Flat-LDA": [0.1] * 10, "Tuned-SVM": [0.2] * 10}
NOISY = [0.5, 0.7] * 5


def test_models_whose_difference_is_within_noise_tie(tmp_path: Path) -> None:
    close = {"Dependency-LDA": NOISY, "tf-idf SVM": [0.6] * 9 + [0.59]}
    folder = drawn(make(tmp_path / "r", n_splits=1), LOW | close)
    found = standing(folder)
    assert found.leaders == ("Dependency-LDA", "tf-idf SVM")
    assert found.sentences[0] == (
        "Dependency-LDA and tf-idf SVM tie at ranking labels for a document (average precision "
        ".600, .599): the difference is within noise."
    )
    run = read_run(folder)
    assert mean_cell(run, "Dependency-LDA", BY_DOCUMENT) == Cell(".600 ± .100", "tied")
    assert mean_cell(run, "Flat-LDA", BY_DOCUMENT) == Cell(".100 ± .000")


def test_a_model_that_is_better_in_every_draw_is_best_however_much_both_vary(
    tmp_path: Path,
) -> None:
    apart = {"Dependency-LDA": NOISY, "tf-idf SVM": [value - 0.01 for value in NOISY]}
    folder = drawn(make(tmp_path / "r", n_splits=1), LOW | apart)
    found = standing(folder)
    assert found.leaders == ("Dependency-LDA",)
    assert found.sentences[0] == (
        "Dependency-LDA is best at ranking labels for a document, beyond noise: average precision "
        ".600, then tf-idf SVM with .590."
    )
    run = read_run(folder)
    assert mean_cell(run, "Dependency-LDA", BY_DOCUMENT) == Cell(".600 ± .100", "best")
    assert [row["model"] for row in found.models][:2] == ["Dependency-LDA", "tf-idf SVM"]


def test_the_leaderboard_fits_a_terminal(tmp_path: Path) -> None:
    console = Console(width=80, record=True)
    console.print(leaderboard(make(tmp_path / "r")))
    text = console.export_text()
    assert "Leaderboard of tiny" in text
    assert "Dependency-LDA" in text
    assert "…" not in text
