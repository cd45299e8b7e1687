"""Why a label was suggested: its words, the topics behind it and the labels it goes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Group
from rich.table import Table
from rich.text import Text

from deplda.estimates import LabelWords, TopicLabels
from deplda.inference import Combine, Inferred

Floats = npt.NDArray[np.float64]


class Weighted(NamedTuple):
    """A name and its weight."""

    name: Any
    weight: float


class Topic(NamedTuple):
    """A topic: the set it is of, its number there, a weight, and its strongest labels."""

    set: int
    number: int
    weight: float
    labels: tuple[Weighted, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one label was suggested."""

    label: Any
    score: float
    from_words: float
    """The part of the score that the document's words gave."""
    from_prior: float
    """The part that was there before: by the labels it goes with, and by chance."""
    tokens: float
    """How many of the document's tokens the label is expected to have."""
    words: tuple[Weighted, ...]
    """The words that argue for it, with their expected tokens."""
    topics: tuple[Topic, ...]
    """The topics that made it likely, each with its share of the prior part."""
    companions: tuple[Weighted, ...]
    """The document's other labels that brought these topics up, with their share in them."""
    from_svm: float | None = None
    """The part of a hybrid's score that its SVM gave; the rest is the topic model's."""
    svm_words: tuple[Weighted, ...] = ()
    """The words that speak for it in the SVM, with what they add to the margin."""


class Word(NamedTuple):
    """A word of the document, how often it occurs, and its expected tokens for each reason."""

    word: str
    times: float
    tokens: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A document's best labels with their reasons, and every known word of it."""

    reasons: tuple[Reason, ...]
    words: tuple[Word, ...]
    n_tokens: int
    """Tokens of known words."""
    n_unknown: int
    """Tokens that the model does not know and left out."""
    text: str | None = None
    spans: tuple[tuple[int, int, str], ...] = ()
    """Where the known words stand in the text."""
    n_background: float = 0.0
    """Expected tokens of the background, which is no label and is never ranked."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        return {
            "n_tokens": self.n_tokens,
            "n_unknown": self.n_unknown,
            "n_background": self.n_background,
            "labels": [_reason_dict(reason) for reason in self.reasons],
        }

    def __rich__(self) -> Group:
        table = Table(title="suggested labels", title_justify="left")
        table.add_column("label", overflow="fold")
        for name in ("score", "words", "prior"):
            table.add_column(name, justify="right")
        table.add_column("words that argue for it", overflow="fold")
        table.add_column("goes with", overflow="fold")
        if is_hybrid := any(reason.from_svm is not None for reason in self.reasons):
            table.add_column("SVM", justify="right")
            table.add_column("words that speak for it in the SVM", overflow="fold")
        for reason in self.reasons:
            of_svm = (f"{reason.from_svm:.3f}", _listed(reason.svm_words)) if is_hybrid else ()
            table.add_row(
                Text(str(reason.label)),
                f"{reason.score:.3f}",
                f"{reason.from_words:.3f}",
                f"{reason.from_prior:.3f}",
                Text(", ".join(f"{w.name} {w.weight:.1f}" for w in reason.words)),
                Text(", ".join(f"{c.name} {c.weight:.0%}" for c in reason.companions)),
                *of_svm,
            )
        known = f"{self.n_tokens:,} tokens of known words"
        unknown = f", {self.n_unknown:,} of unknown ones left out" if self.n_unknown else ""
        shared = f"; the background has {self.n_background:.1f}" if self.n_background else ""
        return Group(table, Text(known + unknown + shared + "."))

    def to_html(self) -> str:
        """Return a page of its own: the labels, and the words coloured by label."""
        from deplda.explain_page import page

        return page(self)

    def _repr_html_(self) -> str:
        from deplda.explain_page import body

        return body(self)


def reasons(
    numbers: npt.NDArray[np.int64],
    inferred: Inferred,
    tokens: Floats,
    words: Sequence[str],
    topic_labels: Sequence[TopicLabels],
    classes: npt.NDArray[Any],
    combine: Combine,
    *,
    n_words: int,
) -> tuple[Reason, ...]:
    """Return the reasons of one document's labels.

    `inferred` is of this document alone; `tokens` are its words × these labels.
    """
    counts, alpha = inferred.counts[0], inferred.alpha[0]
    from_words, from_prior = _parts(counts, alpha, combine)
    found = []
    for k, c in enumerate(numbers):
        topics, companions = _topics_behind(int(c), inferred, topic_labels, classes)
        found.append(
            Reason(
                classes[c],
                float(from_words[c] + from_prior[c]),
                float(from_words[c]),
                float(from_prior[c]),
                float(counts[c]),
                _strongest(tokens[:, k], words, n_words, 0.05),
                topics,
                companions,
            )
        )
    return tuple(found)


def top_words(label_words: LabelWords, c: int, vocabulary: Sequence[str], n: int) -> list[Weighted]:
    """Return the likeliest words of a label, P(w | c)."""
    column = label_words.weights[:, [c]].toarray().ravel() + label_words.base[c]
    return list(_strongest(column, vocabulary, n))


def topics_of(
    topic_labels: Sequence[TopicLabels], classes: npt.NDArray[Any], n: int
) -> list[Topic]:
    """Return every topic of every set with its n likeliest labels; its weight is 1/T."""
    found = []
    for number, topics in enumerate(topic_labels):
        columns, n_topics = topics.weights.tocsc(), len(topics.base)
        for t in range(n_topics):
            labels = _labels_of(columns[:, [t]], topics.base[t], classes, n)
            found.append(Topic(number, t, 1 / n_topics, labels))
    return found


def similar_by_words(
    label_words: LabelWords, c: int, classes: npt.NDArray[Any], n: int
) -> list[Weighted]:
    """Return the labels that use the same words: the cosine of their φ without smoothing."""
    by_label = label_words.weights.T.tocsr()[: len(classes)].astype(np.float64)
    own = by_label[[c]]
    norms = np.sqrt(by_label.multiply(by_label).sum(axis=1))
    dots = (by_label @ own.T).toarray().ravel()
    cosine = dots / np.maximum(norms * norms[c], 1e-300)
    return _others(cosine, c, classes, n)


def similar_by_topics(
    topic_labels: Sequence[TopicLabels], c: int, classes: npt.NDArray[Any], n: int
) -> list[Weighted]:
    """Return the labels it goes with: their mean probability under the label's own topics."""
    likely = np.zeros(len(classes))
    for topics in topic_labels:
        row = topics.weights[[c]].toarray().ravel() + topics.base
        share = row / row.sum()
        likely += topics.weights @ share + topics.base @ share
    return _others(likely / max(len(topic_labels), 1), c, classes, n)


def _parts(counts: Floats, alpha: Floats, combine: Combine) -> tuple[Floats, Floats]:
    """Return the words' part and the prior's part of every label's score."""
    n, a = max(counts.sum(), 1e-300), max(alpha.sum(), 1e-300)
    if combine == "counts":
        return counts / n, np.zeros_like(alpha)
    if combine == "posterior":
        return counts / (counts.sum() + a), alpha / (counts.sum() + a)
    return counts / n, alpha / a


def _topics_behind(
    c: int, inferred: Inferred, topic_labels: Sequence[TopicLabels], classes: npt.NDArray[Any]
) -> tuple[tuple[Topic, ...], tuple[Weighted, ...]]:
    """Return the topics that made label c likely, and the labels that made these topics likely.

    A topic's share is θ′_t φ′_ct; another label's share in the topic is its tokens there,
    N_j P(t | j).
    """
    counts = inferred.counts[0]
    others = np.argsort(-counts, kind="stable")[:50]
    others = others[(counts[others] > 0) & (others != c)]
    found, brought, first = list[tuple[float, int, int]](), np.zeros(len(others)), 0
    for number, topics in enumerate(topic_labels):
        n_topics = len(topics.base)
        share = inferred.topics[0, first : first + n_topics]
        first += n_topics
        row = topics.weights[[c]].toarray().ravel() + topics.base
        likely = share * row
        likely /= likely.sum() * len(topic_labels)
        strongest = np.argsort(-likely, kind="stable")[:3]
        found += [(float(likely[t]), number, int(t)) for t in strongest if likely[t] >= 0.02]
        if n_topics > 1 and len(others):
            rows = (topics.weights[others].toarray() + topics.base) * share
            in_topic = counts[others, None] * rows / rows.sum(axis=1, keepdims=True)
            brought += (in_topic / np.maximum(in_topic.sum(axis=0), 1e-300)) @ likely
    found.sort(key=lambda topic: -topic[0])
    best = np.argsort(-brought, kind="stable")[:3]
    companions = tuple(
        Weighted(classes[others[i]], float(brought[i])) for i in best if brought[i] >= 0.05
    )
    return tuple(_topic(topic_labels, *topic, classes) for topic in found[:5]), companions


def _topic(
    topic_labels: Sequence[TopicLabels],
    weight: float,
    number: int,
    t: int,
    classes: npt.NDArray[Any],
) -> Topic:
    topics = topic_labels[number]
    labels = _labels_of(topics.weights[:, [t]].tocsc(), topics.base[t], classes, 5)
    return Topic(number, t, weight, labels)


def _labels_of(column: Any, base: float, classes: npt.NDArray[Any], n: int) -> tuple[Weighted, ...]:
    """Return the likeliest labels of a topic, without those that smoothing alone gives it."""
    return _strongest(column.data + base, classes[column.indices], n)


def _strongest(weights: Floats, names: Any, n: int, least: float = 1e-9) -> tuple[Weighted, ...]:
    best = np.argsort(-weights, kind="stable")[:n]
    return tuple(Weighted(names[i], float(weights[i])) for i in best if weights[i] >= least)


def _others(weights: Floats, c: int, classes: npt.NDArray[Any], n: int) -> list[Weighted]:
    weights = weights.copy()
    weights[c] = -1.0
    return [w for w in _strongest(weights, classes, n) if w.weight > 0]


def _listed(words: tuple[Weighted, ...]) -> Text:
    return Text(", ".join(f"{w.name} {w.weight:.2f}" for w in words))


def _reason_dict(reason: Reason) -> dict[str, Any]:
    label = reason.label
    of_svm = (
        {}
        if reason.from_svm is None
        else {
            "from_svm": reason.from_svm,
            "svm_words": [{"word": str(w.name), "added": w.weight} for w in reason.svm_words],
        }
    )
    return of_svm | {
        "label": label.item() if isinstance(label, np.generic) else label,
        "score": reason.score,
        "from_words": reason.from_words,
        "from_prior": reason.from_prior,
        "tokens": reason.tokens,
        "words": [{"word": str(w.name), "tokens": w.weight} for w in reason.words],
        "topics": [
            {
                "set": topic.set,
                "topic": topic.number,
                "share": topic.weight,
                "labels": [str(label.name) for label in topic.labels],
            }
            for topic in reason.topics
        ],
        "companions": [{"label": str(c.name), "share": c.weight} for c in reason.companions],
    }
