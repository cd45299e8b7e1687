"""Reports of experiments: one HTML page, the same as Markdown, and a leaderboard."""

from deplda.report.board import leaderboard
from deplda.report.demonstration import demo
from deplda.report.writers import write_markdown, write_report

__all__ = ["demo", "leaderboard", "write_markdown", "write_report"]
