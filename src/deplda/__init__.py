"""Multi-label document classification with topic models that stay good on rare labels."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deplda.corpus import Corpus, concat
    from deplda.errors import DataUnavailableError, DepldaError, InputError, ReadError
    from deplda.readers import (
        Fields,
        read_corpus,
        read_shards,
        write_jsonl,
        write_svmlight,
    )
    from deplda.splits import Split
    from deplda.statistics import Statistics, describe
    from deplda.text import WordCounter

# Name → module. Nothing is imported before it is asked for: the command line must start fast.
_HOMES = {
    "Corpus": "corpus",
    "concat": "corpus",
    "DepldaError": "errors",
    "InputError": "errors",
    "ReadError": "errors",
    "DataUnavailableError": "errors",
    "Fields": "readers",
    "read_corpus": "readers",
    "read_shards": "readers",
    "write_jsonl": "readers",
    "write_svmlight": "readers",
    "Split": "splits",
    "Statistics": "statistics",
    "describe": "statistics",
    "WordCounter": "text",
}

__version__ = "0.1.0.dev0"
__all__ = [
    "Corpus",
    "DataUnavailableError",
    "DepldaError",
    "Fields",
    "InputError",
    "ReadError",
    "Split",
    "Statistics",
    "WordCounter",
    "concat",
    "describe",
    "read_corpus",
    "read_shards",
    "write_jsonl",
    "write_svmlight",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"deplda.{_HOMES[name]}"), name)
    if name in {"datasets", "splits"}:
        return import_module(f"deplda.{name}")
    raise AttributeError(f"module 'deplda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "datasets", "splits"})
