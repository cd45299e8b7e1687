"""Why the hybrid suggests a label: parts of its log-odds that add up, down to words.

The log-odds are the sum of what the signals give (`mixture.py`) and of what calibration adds. Two
of the parts are divided further:

- margin: what a document without any word of the label has, then each word's w·x, in proportion;
- share: the labels that it goes with have what the prior has of the share, its words the rest, in
  proportion to the tokens that it has of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs
from scipy.special import logit

from deplda.kernels.shortlists import BIAS
from deplda.models.base import Counts, Floats
from deplda.models.explanation import Explanation
from deplda.models.external import CountsAndArrays
from deplda.models.hybrid_scorer import HybridScorer
from deplda.models.mixture import GIVEN, NAME, Bools, Mixture
from deplda.models.reasons import Companion, NameInText, Reason, Word, WordEvidence

CALIBRATION = "calibration"
"""What calibration adds to the log-odds of the mixture."""
_LEAST_SHOWN = 0.005  # less is shown as 0.00
_TINY = 1e-300


class _Share(NamedTuple):
    """A share's part of the log-odds: the prior's, by the labels it goes with, and each word's."""

    prior: float
    words: dict[str, float]


class _Pair(NamedTuple):
    """One label of the document: its signals by name."""

    values: dict[str, Floats]

    def part(self, mixture: Mixture, signal: str, value: float | None = None) -> float:
        """Return a signal's part of the log-odds; at another value of it, if one is given."""
        values = self.values
        if value is not None:
            values = values | {signal: np.full(values[signal].shape, value)}
        found = mixture.parts(values).get(signal)
        return 0.0 if found is None else float(found[0, 0])


def explain(
    found: Explanation,
    scorer: HybridScorer,
    document: Counts | CountsAndArrays,
    labels: list[int],
    chances: list[float] | None,
    words: tuple[str, ...],
    n_words: int,
    name_of: Callable[[int, int], str],
) -> Explanation:
    """Return the topic model's explanation of these labels with the hybrid's reasons.

    `chances` are their probabilities, where the model has any; `name_of` gives the name of a label
    by its number among all names. A label that was never learned has its name for a reason alone.
    """
    shortlist, values = scorer.signals(document)
    places = {int(c): place for place, c in enumerate(shortlist.labels[0])}
    names = scorer.names_in(document)
    features, told, added = shortlist.features, list[Reason](), list[list[float]]()
    for number, (reason, c) in enumerate(zip(found.reasons, labels, strict=True)):
        pair = _Pair({name: value[:, [places[c]]] for name, value in values.items()})
        is_learned = c < scorer.shortlister.n_labels
        parts = scorer.parts(c, pair.values)
        if chances is not None:
            parts[CALIBRATION] = float(logit(chances[number])) - sum(parts.values())
        named = None
        if c in names:
            is_synonym = bool(scorer.names and scorer.names.finder.is_synonym[names[c]])
            named = NameInText(name_of(c, names[c]), parts.get(NAME, 0.0), is_synonym)
        elif NAME in parts:
            del parts[NAME]  # it is 0
        for signal in scorer.external:
            if not pair.values[signal.name + GIVEN][0, 0]:
                parts.pop(signal.name, None)  # it is 0
        reason = structs.replace(reason, score=sum(parts.values()), parts=parts, named=named)
        every: list[WordEvidence] = []
        if is_learned:
            of_label = np.asarray(scorer.weights[[c]][:, features.indices].toarray()).ravel()
            by_margin = _of_margin(pair, scorer.mixture, of_label * features.data)
            of_share = _of_share(parts.get("share", 0.0), found.reasons[number], found, number)
            companions = _with_parts(reason.companions, of_share.prior)
            every = _every_word(words, features, by_margin, found, of_share.words)
            reason = structs.replace(
                reason,
                evidence=_strongest(every, n_words),
                companions=companions,
                other_prior=of_share.prior - sum(each.added or 0.0 for each in companions),
            )
        told.append(reason)
        added.append([each.margin + each.share for each in every] or [0.0] * len(found.words))
    by_word = zip(*added, strict=True) if told else [()] * len(found.words)
    with_added = zip(found.words, by_word, strict=True)
    return structs.replace(
        found, reasons=tuple(told), scale="log-odds",
        words=tuple(structs.replace(word, added=values) for word, values in with_added),
    )  # fmt: skip


def with_other_words(
    explanation: Explanation, words: Counts, in_topics: Bools, names: Sequence[str]
) -> Explanation:
    """Return the topic model's explanation with the words that only the SVMs use."""
    topic_words, no_tokens = iter(explanation.words), (0.0,) * len(explanation.reasons)
    every_word = [
        next(topic_words)
        if in_topics[word]
        else Word(names[word], float(times), no_tokens, no_tokens)
        for word, times in zip(words.indices.tolist(), words.data.tolist(), strict=True)
    ]
    return structs.replace(explanation, words=tuple(every_word))


def with_never_learned(
    found: Explanation, labels: list[int], n_learned: int, names: Sequence[Any]
) -> Explanation:
    """Return the topic model's explanation with the labels that it has never learned among others.

    They have none of its tokens. `names` are the labels.
    """
    reasons, learned = list[Reason](), iter(found.reasons)
    is_learned = [c < n_learned for c in labels]
    for c, known in zip(labels, is_learned, strict=True):
        reasons.append(next(learned) if known else Reason(names[c], 0.0, {}, 0.0, ()))
    if all(is_learned):
        return found

    def tokens_of(word: Word) -> Word:
        own = iter(word.tokens)
        tokens = tuple(next(own) if k else 0.0 for k in is_learned)
        return structs.replace(word, tokens=tokens, added=tokens)

    words = tuple(map(tokens_of, found.words))
    return structs.replace(found, reasons=tuple(reasons), words=words)


def _of_margin(pair: _Pair, mixture: Mixture, added: Floats) -> Floats:
    """Return what each word of the document gives to the log-odds by the margin."""
    whole = added.sum()
    if not whole:
        return np.zeros_like(added)
    given = pair.part(mixture, "margin") - pair.part(mixture, "margin", BIAS)
    return added * (given / whole)


def _of_share(part: float, reason: Reason, found: Explanation, number: int) -> _Share:
    """Return a share's part of the log-odds as it is divided.

    The topic model's own reason says how much of the share is the prior's, and how its tokens are
    distributed over words.
    """
    prior = part * reason.parts["prior"] / max(reason.score, _TINY)
    tokens = {word.word: word.tokens[number] for word in found.words}
    whole = max(sum(tokens.values()), _TINY)
    by_word = {word: (part - prior) * value / whole for word, value in tokens.items()}
    return _Share(prior, by_word)


def _every_word(
    words: tuple[str, ...], features: Any, by_margin: Floats, found: Explanation,
    by_share: dict[str, float],
) -> list[WordEvidence]:  # fmt: skip
    """Return what each known word of the document gives, by margin and by share."""
    margins = {words[w]: float(value) for w, value in zip(features.indices, by_margin, strict=True)}
    return [
        WordEvidence(word.word, margins.get(word.word, 0.0), by_share.get(word.word, 0.0))
        for word in found.words
    ]


def _strongest(every: list[WordEvidence], n: int) -> tuple[WordEvidence, ...]:
    """Return the words that give most, for or against."""
    strongest = sorted(every, key=lambda each: -abs(each.margin + each.share))[:n]
    return tuple(w for w in strongest if abs(w.margin + w.share) >= _LEAST_SHOWN)


def _with_parts(companions: tuple[Companion, ...], given: float) -> tuple[Companion, ...]:
    """Return the labels it goes with, with what each gave to the log-odds."""
    return tuple(structs.replace(each, added=given * each.weight) for each in companions)
