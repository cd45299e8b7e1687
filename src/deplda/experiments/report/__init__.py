"""Reports of experiments: one HTML page, its short form as Markdown, and a leaderboard."""

from deplda.experiments.report.demonstration import demo
from deplda.experiments.report.overview import leaderboard
from deplda.experiments.report.pages import write_markdown, write_report
from deplda.experiments.report.standing import Standing, standing

__all__ = ["Standing", "demo", "leaderboard", "standing", "write_markdown", "write_report"]
