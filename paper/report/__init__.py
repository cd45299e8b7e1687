"""Reports of the reproduction: an HTML page, its short form as Markdown, and a leaderboard."""

from paper.report.overview import leaderboard
from paper.report.pages import write_markdown, write_report

__all__ = ["leaderboard", "write_markdown", "write_report"]
