"""How good is a score matrix against the truth? Two pivots, two tasks, rare labels apart.

This package knows a score matrix and a truth matrix, and nothing of models.
"""

from deplda.evaluation.binary import binary_metrics
from deplda.evaluation.comparison import Comparison, compare
from deplda.evaluation.estimate import Estimate
from deplda.evaluation.evaluation import Evaluation, Metrics, evaluate
from deplda.evaluation.frequency import FrequencyBin, FrequencyTable, PairedTest
from deplda.evaluation.grid import Cut, CutGrid, tune_cut
from deplda.evaluation.headline import Headline, RareLabels, headline, rare_labels
from deplda.evaluation.hierarchy import Agreement, HierarchicalMetrics, hierarchical_metrics
from deplda.evaluation.ranking import rank_metrics
from deplda.evaluation.reliability import ReliabilityBin, reliability
from deplda.evaluation.scorecard import Scorecard, scorecard
from deplda.evaluation.suggestions import LabelCounts, SuggestionMetrics, suggestion_metrics

__all__ = [
    "Agreement",
    "Comparison",
    "Cut",
    "CutGrid",
    "Estimate",
    "Evaluation",
    "FrequencyBin",
    "FrequencyTable",
    "Headline",
    "HierarchicalMetrics",
    "LabelCounts",
    "Metrics",
    "PairedTest",
    "RareLabels",
    "ReliabilityBin",
    "Scorecard",
    "SuggestionMetrics",
    "binary_metrics",
    "compare",
    "evaluate",
    "headline",
    "hierarchical_metrics",
    "rank_metrics",
    "rare_labels",
    "reliability",
    "scorecard",
    "suggestion_metrics",
    "tune_cut",
]
