"""What a model has learned: the words of some labels, and topics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from deplda.data.corpus import Corpus
from deplda.models.registry import can

_SHOWN_TOPICS = 12
_TOPIC_LABELS = 8


def learned(model: Any, train: Corpus) -> dict[str, Any]:
    """Return the likeliest words of some labels, and the topics with their coherence."""
    if not can(model, "explain"):
        return {}
    topics = [
        [[str(label.name), label.weight] for label in topic.labels]
        for topic in model.topics(_TOPIC_LABELS)[:_SHOWN_TOPICS]
    ]
    return {
        "top_words": {
            name: [[w.name, w.weight] for w in model.top_words(name, 10)]
            for name in telling_labels(train)
        },
        "topics": topics,
        "coherence": [coherence(topic, train) for topic in topics],
    }


def coherence(topic: Sequence[Sequence[Any]], train: Corpus) -> float | None:
    """Return how a topic's likeliest labels go together in the training documents.

    It is the mean NPMI of every two of them, weighted by the product of their shares in the topic:
    1 if they always occur together, 0 as by chance, −1 if never. None of a topic of one label.
    """
    place = {name: column for column, name in enumerate(train.label_names)}
    known = [(place[name], weight) for name, weight in topic if weight > 0]
    columns = train.labels.tocsc()[:, [column for column, _ in known]].astype(np.float64)
    both = (columns.T @ columns).toarray() / len(train)
    values, weights = [], []
    for (i, (_, one)), (j, (_, other)) in combinations(enumerate(known), 2):
        values.append(_npmi(both[i, j], both[i, i], both[j, j]))
        weights.append(one * other)
    return float(np.average(values, weights=weights)) if values else None


def _npmi(both: float, one: float, other: float) -> float:
    """Return the normalised pointwise mutual information of two events, by their frequencies."""
    if both <= 0:
        return -1.0
    if both >= 1:
        return 1.0
    return float(np.log(both / (one * other)) / -np.log(both))


def telling_labels(train: Corpus) -> list[str]:
    """Return the names of some labels: frequent ones, of middling frequency, of one document."""
    order = np.argsort(-train.label_counts, kind="stable")
    order = order[train.label_counts[order] > 0]
    middle = len(order) // 2
    alone = train.labels[:, train.label_counts == 1].tocsr()
    single = np.flatnonzero(train.label_counts == 1)[alone.indices][:2]  # of the first documents
    chosen = [*order[:2], *order[middle : middle + 2], *single]
    return list(dict.fromkeys(train.label_names[c] for c in chosen))
