"""Support vector machines, to compare topic models with."""

from deplda.models.linear.svm import TfidfSVM, TunedSVM, VanillaSVM

__all__ = ["TfidfSVM", "TunedSVM", "VanillaSVM"]
