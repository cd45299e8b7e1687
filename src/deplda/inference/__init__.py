"""Inference: labels of new documents from φ and φ′ (paper §3.5)."""

from deplda.inference.batches import attribute, infer, rank, score_matrix
from deplda.inference.layout import Tables
from deplda.inference.scores import Inferred, Ranking
from deplda.inference.settings import Inference

__all__ = [
    "Inference", "Inferred", "Ranking", "Tables", "attribute", "infer", "rank", "score_matrix"
]  # fmt: skip
