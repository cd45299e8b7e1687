"""Multi-label document classification with topic models that stay good on rare labels."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deplda import evaluation as evaluation
    from deplda import inference as inference
    from deplda.data import datasets, splits
    from deplda.data.corpus import Corpus, concat
    from deplda.data.external import Documents
    from deplda.data.readers import (
        Fields,
        Where,
        read_corpus,
        read_shards,
        write_annif,
        write_jsonl,
        write_svmlight,
    )
    from deplda.data.readers.score_files import read_scores
    from deplda.data.readers.vocabularies import read_vocabulary, write_vocabulary
    from deplda.data.splits import Split
    from deplda.data.statistics import Statistics, describe
    from deplda.data.targets import label_array
    from deplda.data.text import WordCounter
    from deplda.data.vocabulary import Concept, Vocabulary
    from deplda.errors import (
        ApproximateCountsWarning,
        DataUnavailableError,
        DepldaError,
        EngineError,
        FractionalCountsWarning,
        GuessedEncodingWarning,
        GuessedSeparatorWarning,
        InputError,
        LearnedFromWarning,
        NoKnownWordsWarning,
        NotCountsWarning,
        NothingHeldOutWarning,
        ReadError,
    )
    from deplda.evaluation import Evaluation, compare, evaluate, scorecard
    from deplda.models.dependency import DependencyLDA
    from deplda.models.flat import FlatLDA
    from deplda.models.hybrid import HybridLDA
    from deplda.models.linear import TfidfSVM, TunedSVM, VanillaSVM
    from deplda.models.predict_shards import predict_shards
    from deplda.models.prior import PriorLDA
    from deplda.models.registry import load
    from deplda.training.chains import Schedule
    from deplda.training.diagnostics import Diagnostics, Traces
    from deplda.training.estimates import LabelWords, TopicLabels
    from deplda.training.label_words import (
        expect_label_words,
        train_label_words,
        update_label_words,
    )
    from deplda.training.topic_labels import prior_topic_labels, train_topic_labels

# Where each name lives. Nothing is imported before it is asked for: a command line starts fast.
_HOMES = {
    "data.corpus": "Corpus concat",
    "data.external": "Documents",
    "data.readers": "Fields Where read_corpus read_shards write_annif write_jsonl write_svmlight",
    "data.splits": "Split",
    "data.statistics": "Statistics describe",
    "data.targets": "label_array",
    "data.text": "WordCounter",
    "data.readers.score_files": "read_scores",
    "data.readers.vocabularies": "read_vocabulary write_vocabulary",
    "data.vocabulary": "Concept Vocabulary",
    "errors": (
        "ApproximateCountsWarning DataUnavailableError DepldaError EngineError "
        "FractionalCountsWarning GuessedEncodingWarning GuessedSeparatorWarning InputError "
        "LearnedFromWarning NoKnownWordsWarning NotCountsWarning NothingHeldOutWarning ReadError"
    ),
    "evaluation": "Evaluation compare evaluate scorecard",
    "models.dependency": "DependencyLDA",
    "models.flat": "FlatLDA",
    "models.hybrid": "HybridLDA",
    "models.linear": "TfidfSVM TunedSVM VanillaSVM",
    "models.predict_shards": "predict_shards",
    "models.prior": "PriorLDA",
    "models.registry": "load",
    "training.chains": "Schedule",
    "training.diagnostics": "Diagnostics Traces",
    "training.estimates": "LabelWords TopicLabels",
    "training.label_words": "expect_label_words train_label_words update_label_words",
    "training.topic_labels": "prior_topic_labels train_topic_labels",
}
_PACKAGES = {
    "datasets": "data.datasets",
    "evaluation": "evaluation",
    "inference": "inference",
    "splits": "data.splits",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

__version__ = "1.0.0"
__all__ = [
    "ApproximateCountsWarning",
    "Concept",
    "Corpus",
    "DataUnavailableError",
    "DependencyLDA",
    "DepldaError",
    "Diagnostics",
    "Documents",
    "EngineError",
    "Evaluation",
    "Fields",
    "FlatLDA",
    "FractionalCountsWarning",
    "GuessedEncodingWarning",
    "GuessedSeparatorWarning",
    "HybridLDA",
    "InputError",
    "LabelWords",
    "LearnedFromWarning",
    "NoKnownWordsWarning",
    "NotCountsWarning",
    "NothingHeldOutWarning",
    "PriorLDA",
    "ReadError",
    "Schedule",
    "Split",
    "Statistics",
    "TfidfSVM",
    "TopicLabels",
    "Traces",
    "TunedSVM",
    "VanillaSVM",
    "Vocabulary",
    "Where",
    "WordCounter",
    "compare",
    "concat",
    "datasets",
    "describe",
    "evaluate",
    "expect_label_words",
    "label_array",
    "load",
    "predict_shards",
    "prior_topic_labels",
    "read_corpus",
    "read_scores",
    "read_shards",
    "read_vocabulary",
    "scorecard",
    "splits",
    "train_label_words",
    "train_topic_labels",
    "update_label_words",
    "write_annif",
    "write_jsonl",
    "write_svmlight",
    "write_vocabulary",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f"deplda.{_MODULES[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"deplda.{_PACKAGES[name]}")
    raise AttributeError(f"module 'deplda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "evaluation", "inference", "__version__"]
