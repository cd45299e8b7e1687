"""Why a label is suggested, as values: its words, the topics behind it, the labels it goes with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from deplda.inference.scores import Inferred
from deplda.inference.settings import Combine
from deplda.training.estimates import LabelWords, TopicLabels

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


class WordTokens(Struct, frozen=True, rename={"name": "word", "weight": "tokens"}):
    """A word, and how many of its tokens are expected to be the label's."""

    name: str
    weight: float


class WordEvidence(Struct, frozen=True, rename={"name": "word"}):
    """A word, and what it adds to a label's log-odds in a hybrid: by the margin, by the share."""

    name: str
    margin: float
    share: float


class Companion(Struct, frozen=True, rename={"name": "label", "weight": "share"}):
    """Another label of the document, and its share in making this one likely."""

    name: str
    weight: float
    added: float | None = None
    """What it adds to the log-odds, in a hybrid."""


class NameInText(Struct, frozen=True):
    """A name of the label that stands in the document."""

    name: str
    """Without what tells it from others, in brackets."""
    added: float
    """What it adds to the log-odds."""
    is_synonym: bool = False
    places: tuple[tuple[int, int], ...] = ()
    """Where it, or each of its words, begins and ends in the text, if there is one."""
    as_written: str | None = None
    """What stands at the first of these."""
    is_whole: bool = True
    """Whether its words stand together, as far as that is known."""


class Example(Struct, frozen=True):
    """A training document of the label: its title or first words, and how similar it is, 0 to 1."""

    title: str
    similarity: float


class TopicBehind(Struct, frozen=True, rename={"number": "topic", "weight": "share"}):
    """A topic that made a label likely, its share in that, and its strongest labels."""

    set: int
    number: int
    weight: float
    labels: tuple[str, ...]


class Reason(Struct, frozen=True):
    """Why one label is suggested: the score is the sum of its parts."""

    label: str | int | float
    score: float
    parts: dict[str, float]
    """By name: "words" and "prior" of a topic model; of a hybrid its signals, in log-odds."""
    tokens: float
    """How many of the document's tokens the label is expected to have."""
    words: tuple[WordTokens, ...]
    """The words that argue for it in the topic model."""
    topics: tuple[TopicBehind, ...] = ()
    companions: tuple[Companion, ...] = ()
    """The document's other labels that brought these topics up."""
    evidence: tuple[WordEvidence, ...] = ()
    """The words that give most in a hybrid, for or against, in log-odds."""
    probability: float | None = None
    """How likely the label is; None in a model without probabilities."""
    other_prior: float = 0.0
    """What a hybrid's share has of the topic model's prior beside what the companions added."""
    uri: str | None = None
    """The address of the label's concept, and its notation, in a model with a vocabulary."""
    notation: str | None = None
    by_name: bool = False
    """Whether no training document has the label: it is known by its name alone."""
    named: NameInText | None = None
    """Its name, if that stands in the document and the model looks at names."""
    examples: tuple[Example, ...] = ()
    """The most similar of its training documents, in a model that was trained to keep examples."""

    def told_name(self) -> str | None:
        """Return the sentence on its name; None where that is not in the document."""
        if self.named is None:
            return None
        named, what = self.named, "synonym" if self.named.is_synonym else "name"
        if not named.is_whole:
            told = f"the words of its {what} “{named.name}” stand in the text, but apart"
        else:
            told = f"its {what} “{named.name}” stands in the text"
        if named.places:
            form = "" if named.as_written == named.name else f"as “{named.as_written}”, "
            told += f" ({form}from character {named.places[0][0] + 1:,})"
        return f"{told} {named.added:+.2f}"

    def rounded_parts(self, digits: int = 3) -> dict[str, float]:
        """Return the parts to be shown: the last takes what rounding leaves, so they add up."""
        *names, last = self.parts
        found = {name: round(self.parts[name], digits) + 0.0 for name in names}
        rest = round(self.score, digits) - sum(found.values())
        return found | {last: round(rest, digits) + 0.0}


def with_names(reason: Reason, told: Callable[[Any], dict[str, Any]]) -> Reason:
    """Return the reason with labels as they are `told`: name, and address and notation."""
    return structs.replace(
        reason,
        **told(reason.label),
        topics=tuple(
            structs.replace(topic, labels=tuple(told(label)["label"] for label in topic.labels))
            for topic in reason.topics
        ),
        companions=tuple(
            structs.replace(each, name=told(each.name)["label"]) for each in reason.companions
        ),
    )


def percent(probability: float) -> str:
    """Return a probability as it is shown: never 0 % or 100 %, which nothing is."""
    if probability < 0.01:
        return "< 1 %"
    return "> 99 %" if probability > 0.99 else f"{probability * 100:.0f} %"


def percent_of_documents(share: float) -> str:
    """Return a share of documents, which, unlike a probability, may be 0 % or 100 %."""
    return f"{share:.0%}".replace("%", " %") if share in (0, 1) else percent(share)


WITHOUT_REASONS = "The model knows no word of this document, so it suggests no labels."


class Word(Struct, frozen=True):
    """A word of the document, how often it occurs, and its expected tokens for each reason."""

    word: str
    times: float
    tokens: tuple[float, ...]
    added: tuple[float, ...]
    """What it adds to each label, all its occurrences and forms together; `scale` is the unit."""


class Explained(Struct, frozen=True, rename={"reasons": "labels"}):
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
    """Expected tokens of the background, which is not a label and is never ranked."""
    scale: Literal["log-odds", "tokens"] = "tokens"
    """What words add to: a label's log-odds in a hybrid, its expected tokens in a topic model."""

    @property
    def has_shares(self) -> bool:
        """Whether all parts are shares of the scores, not terms of either sign."""
        return all(value >= 0 for reason in self.reasons for value in reason.parts.values())


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
    parts = _parts(counts, alpha, combine)
    found = []
    for k, c in enumerate(numbers.tolist()):
        own = {name: float(values[c]) for name, values in parts.items()}
        strongest = _strongest(tokens[:, k], words, n_words, 0.05)
        behind = _topics_behind(c, inferred, topic_labels, classes)
        found.append(
            Reason(
                np.asarray(classes[c]).item(), sum(own.values()), own, float(counts[c]),
                tuple(WordTokens(*word) for word in strongest), *behind,
            )
        )  # fmt: skip
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


def _parts(counts: Floats, alpha: Floats, combine: Combine) -> dict[str, Floats]:
    """Return the words' part and the prior's part of every label's score."""
    n, a = max(counts.sum(), 1e-300), max(alpha.sum(), 1e-300)
    if combine == "counts":
        return {"words": counts / n, "prior": np.zeros_like(alpha)}
    if combine == "posterior":
        return {"words": counts / (counts.sum() + a), "prior": alpha / (counts.sum() + a)}
    return {"words": counts / n, "prior": alpha / a}


def _topics_behind(
    c: int, inferred: Inferred, topic_labels: Sequence[TopicLabels], classes: npt.NDArray[Any]
) -> tuple[tuple[TopicBehind, ...], tuple[Companion, ...]]:
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
        Companion(str(classes[others[i]]), float(brought[i])) for i in best if brought[i] >= 0.05
    )
    return tuple(_topic(topic_labels, *topic, classes) for topic in found[:5]), companions


def _topic(
    topic_labels: Sequence[TopicLabels],
    weight: float,
    number: int,
    t: int,
    classes: npt.NDArray[Any],
) -> TopicBehind:
    topics = topic_labels[number]
    labels = _labels_of(topics.weights[:, [t]].tocsc(), topics.base[t], classes, 5)
    return TopicBehind(number, t, weight, tuple(str(label.name) for label in labels))


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
