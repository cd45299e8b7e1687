"""Inference: labels of new documents from φ and φ′ (paper §3.5)."""

from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.scores import Inferred
from deplda.inference.settings import Inference

__all__ = ["Inference", "Inferred", "Tables", "infer"]
