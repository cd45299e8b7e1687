"""Experiments: a data set's splits × models, run unit by unit into a folder of results."""

from deplda.experiments.protocol import BUDGETS, Experiment, presets, read_experiment
from deplda.experiments.results import Results, read_results
from deplda.experiments.runner import run

__all__ = [
    "BUDGETS",
    "Experiment",
    "Results",
    "presets",
    "read_experiment",
    "read_results",
    "run",
]
