"""How good is a score matrix against the truth? Two pivots, two tasks, rare labels apart.

This package knows a score matrix and a truth matrix, and nothing of models.
"""

from deplda.evaluation.binary import binary_metrics
from deplda.evaluation.comparison import Comparison, compare
from deplda.evaluation.estimate import Estimate
from deplda.evaluation.evaluation import Evaluation, Metrics, evaluate
from deplda.evaluation.frequency import FrequencyBin, FrequencyTable, PairedTest
from deplda.evaluation.ranking import rank_metrics
from deplda.evaluation.reliability import ReliabilityBin, reliability
from deplda.evaluation.scorecard import Scorecard, scorecard

__all__ = [
    "Comparison",
    "Estimate",
    "Evaluation",
    "FrequencyBin",
    "FrequencyTable",
    "Metrics",
    "PairedTest",
    "ReliabilityBin",
    "Scorecard",
    "binary_metrics",
    "compare",
    "evaluate",
    "rank_metrics",
    "reliability",
    "scorecard",
]
