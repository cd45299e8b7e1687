"""Compare models on one's own documents: fit each on the same splits, score, and report.

`Comparison` says what to compare, `run` stores one file for each model and split in a folder, and
`write_page` and `leaderboard` show the folder's results.
"""

from deplda.comparison.comparison import Comparison, Model, compare_models
from deplda.comparison.page import write_page
from deplda.comparison.results import Results, read_results
from deplda.comparison.runner import run
from deplda.comparison.standing import Standing, leaderboard, standing

__all__ = [
    "Comparison",
    "Model",
    "Results",
    "Standing",
    "compare_models",
    "leaderboard",
    "read_results",
    "run",
    "standing",
    "write_page",
]
