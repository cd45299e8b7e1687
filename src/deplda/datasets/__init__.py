"""Data sets: generated ones, the paper's, and others to compare on."""

from deplda.datasets.folder import load_folder, save_folder
from deplda.datasets.newsroom import Newsroom, newsroom
from deplda.datasets.power_law import power_law
from deplda.datasets.registry import Entry, fetch, load
from deplda.datasets.registry import entries as list  # noqa: A004
from deplda.datasets.sources import Dataset

__all__ = [
    "Dataset",
    "Entry",
    "Newsroom",
    "fetch",
    "list",
    "load",
    "load_folder",
    "newsroom",
    "power_law",
    "save_folder",
]
