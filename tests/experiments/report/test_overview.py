"""The leaderboard."""

from pathlib import Path

from rich.console import Console

from deplda.experiments.report import leaderboard


def test_the_leaderboard_fits_a_terminal(folders: list[Path]) -> None:
    console = Console(width=80, record=True)
    console.print(leaderboard(folders))
    text = console.export_text()
    assert text.count("Leaderboard of") == 2
    assert "Dependency-LDA" in text
    assert "…" not in text
