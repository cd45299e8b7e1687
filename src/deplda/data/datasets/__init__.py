"""Data sets: generated articles, Debian packages, folders, and files with a description.

Examples
--------
>>> import deplda
>>> deplda.datasets.newsroom(100).corpus
Corpus(100 documents, 1,465 words, 161 labels, 8,618 tokens)
>>> [entry.name for entry in deplda.datasets.list()]
['newsroom', 'debtags']
"""

from deplda.data.datasets.catalogue import Entry, fetch, is_here, is_known, load, own_path
from deplda.data.datasets.catalogue import entries as list  # noqa: A004
from deplda.data.datasets.dataset import Dataset
from deplda.data.datasets.described import is_described, load_own
from deplda.data.datasets.folder import load_folder, save_folder
from deplda.data.datasets.newsroom import Newsroom, newsroom

__all__ = [
    "Dataset",
    "Entry",
    "Newsroom",
    "fetch",
    "is_described",
    "is_here",
    "is_known",
    "list",
    "load",
    "load_folder",
    "load_own",
    "newsroom",
    "own_path",
    "save_folder",
]
