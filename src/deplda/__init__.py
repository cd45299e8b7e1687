"""Multi-label document classification with topic models that stay good on rare labels."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deplda import datasets, splits
    from deplda.baselines import TfidfSVM, TunedSVM, VanillaSVM
    from deplda.chains import Schedule
    from deplda.corpus import Corpus, concat
    from deplda.diagnostics import Diagnostics
    from deplda.errors import (
        DataUnavailableError,
        DepldaError,
        EngineError,
        FractionalCountsWarning,
        InputError,
        NothingHeldOutWarning,
        ReadError,
    )
    from deplda.estimates import LabelWords, TopicLabels
    from deplda.evaluation import Evaluation, compare, evaluate, scorecard
    from deplda.hybrid import HybridLDA
    from deplda.models import DependencyLDA, FlatLDA, PriorLDA, load
    from deplda.readers import (
        Fields,
        Where,
        read_corpus,
        read_shards,
        write_jsonl,
        write_svmlight,
    )
    from deplda.shards import predict_shards
    from deplda.splits import Split
    from deplda.statistics import Statistics, describe
    from deplda.text import WordCounter
    from deplda.training import (
        expect_label_words,
        prior_topic_labels,
        train_label_words,
        train_topic_labels,
        update_label_words,
    )

# Where each name lives. Nothing is imported before it is asked for: a command line starts fast.
_HOMES = {
    "baselines": ["TfidfSVM", "TunedSVM", "VanillaSVM"],
    "chains": ["Schedule"],
    "corpus": ["Corpus", "concat"],
    "diagnostics": ["Diagnostics"],
    "errors": [
        "DataUnavailableError",
        "DepldaError",
        "EngineError",
        "FractionalCountsWarning",
        "InputError",
        "NothingHeldOutWarning",
        "ReadError",
    ],
    "estimates": ["LabelWords", "TopicLabels"],
    "evaluation": ["Evaluation", "compare", "evaluate", "scorecard"],
    "hybrid": ["HybridLDA"],
    "models": ["DependencyLDA", "FlatLDA", "PriorLDA", "load"],
    "readers": ["Fields", "Where", "read_corpus", "read_shards", "write_jsonl", "write_svmlight"],
    "shards": ["predict_shards"],
    "splits": ["Split"],
    "statistics": ["Statistics", "describe"],
    "text": ["WordCounter"],
    "training": [
        "expect_label_words",
        "prior_topic_labels",
        "train_label_words",
        "train_topic_labels",
        "update_label_words",
    ],
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__version__ = "0.1.0.dev0"
__all__ = [
    "Corpus",
    "DataUnavailableError",
    "DependencyLDA",
    "DepldaError",
    "Diagnostics",
    "EngineError",
    "Evaluation",
    "Fields",
    "FlatLDA",
    "FractionalCountsWarning",
    "HybridLDA",
    "InputError",
    "LabelWords",
    "NothingHeldOutWarning",
    "PriorLDA",
    "ReadError",
    "Schedule",
    "Split",
    "Statistics",
    "TfidfSVM",
    "TopicLabels",
    "TunedSVM",
    "VanillaSVM",
    "Where",
    "WordCounter",
    "compare",
    "concat",
    "datasets",
    "describe",
    "evaluate",
    "expect_label_words",
    "load",
    "predict_shards",
    "prior_topic_labels",
    "read_corpus",
    "read_shards",
    "scorecard",
    "splits",
    "train_label_words",
    "train_topic_labels",
    "update_label_words",
    "write_jsonl",
    "write_svmlight",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f"deplda.{_MODULES[name]}"), name)
    if name in __all__:
        return import_module(f"deplda.{name}")
    raise AttributeError(f"module 'deplda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
