"""Which models there are, what each can do, and loading a saved one. A new model is one line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from deplda.data.files import StrPath
from deplda.errors import ReadError

if TYPE_CHECKING:
    from deplda.models.base import LabelClassifier

Ability = Literal[
    "checkpoint", "explain", "external", "learn", "mix", "names", "paper", "shards"
]  # fmt: skip


class Entry(NamedTuple):
    """A model: where its class lives, what the command line calls it, and what it can do."""

    module: str
    verb: str
    abilities: frozenset[Ability] = frozenset()


_TOPIC_MODEL: frozenset[Ability] = frozenset({"checkpoint", "explain", "learn", "paper", "shards"})
_HYBRID: frozenset[Ability] = frozenset({"explain", "external", "learn", "mix", "names", "shards"})
MODELS = {
    "DependencyLDA": Entry("dependency", "dependency", _TOPIC_MODEL),
    "PriorLDA": Entry("prior", "prior", _TOPIC_MODEL),
    "FlatLDA": Entry("flat", "flat", _TOPIC_MODEL),
    "VanillaSVM": Entry("linear.svm", "vanilla-svm"),
    "TunedSVM": Entry("linear.svm", "tuned-svm"),
    "TfidfSVM": Entry("linear.svm", "tfidf-svm"),
    "HybridLDA": Entry("hybrid", "hybrid", _HYBRID),
}
WHICH_MODEL = (
    "Use the hybrid to suggest labels. Use Dependency-LDA for the paper's topic model alone. Use "
    "the other models as baselines."
)


def model_class(name: str) -> type[LabelClassifier]:
    """Return the class of a model, which is imported now."""
    found: type[LabelClassifier] = getattr(
        import_module(f"deplda.models.{MODELS[name].module}"), name
    )
    return found


def can(model: object, ability: Ability) -> bool:
    """Return whether a model, or its class, has an ability."""
    kind = model if isinstance(model, type) else type(model)
    known = (MODELS[each.__name__] for each in kind.__mro__ if each.__name__ in MODELS)
    return any(ability in entry.abilities for entry in known)


def verbs_that_can(ability: Ability) -> str:
    """Return what the command line calls the models with an ability, as a list in a sentence."""
    *most, last = (entry.verb for entry in MODELS.values() if ability in entry.abilities)
    return f"{', '.join(most)} and {last}" if most else last


def load(path: StrPath, *, trusted: bool = False) -> LabelClassifier:
    """Return a saved model of any class; no code from the folder is ever run.

    Where it works (engine, device, n_jobs) is never taken from the folder. A model that asks for
    very much work, or splits words by a pattern that could take for ever, is loaded only if it is
    `trusted`.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(100).corpus
    >>> deplda.FlatLDA(random_state=0).fit(train).save("model")
    >>> model = deplda.load("model")
    >>> len(model.classes_) == train.n_labels
    True
    """
    from deplda.models import card as saved

    stored = saved.load(path, trusted=trusted)
    if (model := stored.card.model) not in MODELS:
        known = ", ".join(MODELS)
        raise ReadError(path, None, f"it is a {model!r}; this library knows {known}")
    return model_class(model)._from_store(stored)
