"""Compare models on the same splits of a data set, and report."""

from deplda.comparison.comparison import Comparison, Model, compare_models
from deplda.comparison.page import write_page
from deplda.comparison.results import Results, read_results
from deplda.comparison.runner import run
from deplda.comparison.standing import leaderboard, standing

__all__ = [
    "Comparison",
    "Model",
    "Results",
    "compare_models",
    "leaderboard",
    "read_results",
    "run",
    "standing",
    "write_page",
]
