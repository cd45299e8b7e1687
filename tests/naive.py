"""A slow, obvious twin of every kernel: plain Python or whole matrices, a formula a line."""

from collections import Counter
from collections.abc import Sequence
from math import lgamma
from typing import Any

import numpy as np

MASK = 2**64 - 1
FLAT_CYCLES = 5

Array = np.ndarray[Any, Any]

Documents = list[tuple[list[int], list[int]]]
"""Each document: its word tokens, types ascending, and its labels."""


def uniform(key: int, gamma: int, counter: int) -> float:
    return ((mixed(key + counter * gamma) >> 11) + 0.5) / 2**53


def mixed(x: int) -> int:
    """Return SplitMix64's finalizer of x."""
    x &= MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def document_key(words: Sequence[int], times: Sequence[int]) -> int:
    key = 0x243F6A8885A308D3
    for w, x in zip(words, times, strict=True):
        key = mixed(key ^ (w * 0x9E3779B97F4A7C15 + x & MASK))
    return key


def word_sweep(
    documents: Documents, z: list[list[int]], eta: float, beta: float, n_words: int,
    stream: tuple[int, int], counter: int,
) -> list[list[int]]:  # fmt: skip
    """Return z after one sweep; z[d][i] is a place among the labels of document d."""
    z = [list(places) for places in z]
    n_wc: Counter[tuple[int, int]] = Counter()
    n_c: Counter[int] = Counter()
    for (tokens, labels), places in zip(documents, z, strict=True):
        if labels:
            n_wc.update((w, labels[k]) for w, k in zip(tokens, places, strict=True))
            n_c.update(labels[k] for k in places)
    for (tokens, labels), places in zip(documents, z, strict=True):
        for i, word in enumerate(tokens):
            if len(labels) > 1:
                n_wc[word, labels[places[i]]] -= 1
                n_c[labels[places[i]]] -= 1
                n_cd = Counter(places[:i] + places[i + 1 :])
                weights = [
                    (n_wc[word, c] + beta)
                    * ((n_cd[k] + eta / len(labels)) / (n_c[c] + n_words * beta))
                    for k, c in enumerate(labels)
                ]
                places[i] = draw(weights, uniform(*stream, counter))
                n_wc[word, labels[places[i]]] += 1
                n_c[labels[places[i]]] += 1
            counter += 1
    return z


def draw(weights: Sequence[float], u: float) -> int:
    upto = running_sums(weights)
    return sum(s < u * upto[-1] for s in upto[:-1])


def running_sums(weights: Sequence[float]) -> list[float]:
    sums, total = [], 0.0
    for weight in weights:
        total += weight
        sums.append(total)
    return sums


def word_log_likelihood(
    documents: Documents, z: list[list[int]], eta: float, beta: float, n_words: int, n_labels: int
) -> float:
    """Return log P(w, z): Dirichlet-multinomials of the words of labels and labels of documents."""
    total = 0.0
    for c in range(n_labels):
        words = Counter(
            w
            for (tokens, labels), places in zip(documents, z, strict=True)
            for w, k in zip(tokens, places, strict=True)
            if labels[k] == c
        )
        total += dirichlet_multinomial([words[w] for w in range(n_words)], [beta] * n_words)
    for (_, labels), places in zip(documents, z, strict=True):
        if labels:
            counts = [places.count(k) for k in range(len(labels))]
            total += dirichlet_multinomial(counts, [eta / len(labels)] * len(labels))
    return total


def dirichlet_multinomial(counts: Sequence[int], alphas: Sequence[float]) -> float:
    """Return the log-probability of a sequence with these counts."""
    total = lgamma(sum(alphas)) - lgamma(sum(alphas) + sum(counts))
    return total + sum(lgamma(n + a) - lgamma(a) for n, a in zip(counts, alphas, strict=True))


def expected_words(
    documents: Documents, eta: float, beta: float, n_words: int, n_labels: int, n_sweeps: int,
    known: Sequence[Sequence[float]] | None = None, background: float = 0.0,
    own_weights: Sequence[float] | None = None,
) -> list[list[float]]:  # fmt: skip
    """Return N_wc (labels × words) after some CVB0 passes, types of a document taken together.

    Counts that are known from elsewhere are added from the start. A background, a document's last
    label, has a share of η. In N_wc a document counts by its weight.
    """

    def alpha(j: int, n: int) -> float:
        if background == 0 or n == 1:
            return eta / n
        return eta * background if j == n - 1 else eta * (1 - background) / (n - 1)

    types = [(sorted(Counter(tokens).items()), labels) for tokens, labels in documents]
    shares = [{w: [1 / len(labels)] * len(labels) for w, _ in ws} for ws, labels in types if labels]
    times = own_weights if own_weights is not None else [1.0] * len(types)
    times = [m for m, (_, labels) in zip(times, types, strict=True) if labels]
    types = [(ws, labels) for ws, labels in types if labels]
    n = [list(known[c]) if known else [0.0] * n_words for c in range(n_labels)]
    for (ws, labels), mine, m in zip(types, shares, times, strict=True):
        for w, x in ws:
            for j, c in enumerate(labels):
                n[c][w] += m * x * mine[w][j]
    for _ in range(n_sweeps):
        for (ws, labels), mine, m in zip(types, shares, times, strict=True):
            for w, x in ws:
                weights = []
                for j, c in enumerate(labels):
                    r = x * mine[w][j]
                    n_cd = sum(v_times * mine[v][j] for v, v_times in ws)
                    weights.append(
                        (n[c][w] - m * r + beta) / (sum(n[c]) - m * r + n_words * beta)
                        * (n_cd - r + alpha(j, len(labels)))
                    )  # fmt: skip
                for j, c in enumerate(labels):
                    share = weights[j] / sum(weights)
                    n[c][w] += m * x * (share - mine[w][j])
                    mine[w][j] = share
    return n


class Topics:
    """Topics of each label as lists [topic, count], in the order in which a chain keeps them."""

    def __init__(self, n_labels: int, n_topics: int) -> None:
        self.of: list[list[list[int]]] = [[] for _ in range(n_labels)]
        self.total = [0] * n_topics

    def add(self, c: int, t: int) -> None:
        self.total[t] += 1
        for slot in self.of[c]:
            if slot[0] == t:
                slot[1] += 1
                return
        self.of[c].append([t, 1])

    def remove(self, c: int, t: int) -> None:
        self.total[t] -= 1
        place = [slot[0] for slot in self.of[c]].index(t)
        self.of[c][place][1] -= 1
        if self.of[c][place][1] == 0:
            self.of[c][place] = self.of[c][-1]
            self.of[c].pop()


def topic_sweep(
    documents: list[list[int]], z: list[list[int]], topics: Topics, gamma: float, beta: float,
    stream: tuple[int, int], counter: int,
) -> None:  # fmt: skip
    """Change z and topics by one sweep: buckets of the label, of the document, of nobody."""
    c_beta = len(topics.of) * beta
    for labels, own in zip(documents, z, strict=True):
        for i, c in enumerate(labels):
            old = own[i]
            beside = own[:i] + own[i + 1 :]
            n_dt = Counter(beside)

            def scale(t: int, old: int = old) -> float:
                return 1.0 / (topics.total[t] - (t == old) + c_beta)

            mine = [(t, (n - (t == old)) * ((n_dt[t] + gamma) * scale(t))) for t, n in topics.of[c]]
            shared = [(t, beta * scale(t)) for t in beside]
            rest = [(t, beta * gamma * scale(t)) for t in range(len(topics.total))]
            buckets = [*mine, *shared, *rest]
            sums = running_sums([weight for _, weight in buckets])
            r = uniform(*stream, counter) * sums[-1]
            new = next(t for (t, _), s in zip(buckets, sums, strict=True) if r < s)
            if new != old:
                topics.remove(c, old)
                topics.add(c, new)
                own[i] = new
            counter += 1


def topic_log_likelihood(
    documents: list[list[int]], z: list[list[int]], gamma: float, beta: float, n_labels: int,
    n_topics: int,
) -> float:  # fmt: skip
    """Return log P(c, z′): Dirichlet-multinomials over labels of topics and topics of documents."""
    total = 0.0
    for t in range(n_topics):
        counts = Counter(
            c
            for labels, own in zip(documents, z, strict=True)
            for c, k in zip(labels, own, strict=True)
            if k == t
        )
        total += dirichlet_multinomial([counts[c] for c in range(n_labels)], [beta] * n_labels)
    for own in z:
        total += dirichlet_multinomial([own.count(t) for t in range(n_topics)], [gamma] * n_topics)
    return total


def expected_document(
    phi: Array, sets: list[Array], x: Array, eta: float, alpha: float, gamma: float, cycles: int
) -> tuple[Array, Array]:
    """Return the expected N and α′ of a document: no label is pooled, no product shared."""
    types, n, n_labels = np.flatnonzero(x), x.sum(), phi.shape[1]
    rows, times = phi[types], x[types]

    def cycle(mass: Array) -> Array:
        return np.asarray(mass * ((times / (rows @ mass)) @ rows))

    begun = cycle(np.ones(n_labels))
    for _ in range(FLAT_CYCLES):
        begun = cycle(begun + (eta * bool(sets) + alpha) / n_labels)
    counts, priors = [], []
    for phi_prime in sets or [np.zeros((n_labels, 0))]:
        n_topics = phi_prime.shape[1]
        count, weight = begun, np.full(n_topics, (n + gamma) / max(n_topics, 1))
        for number in range(cycles + 1):
            if n_topics > 1:
                drawn = (count / (phi_prime @ weight)) @ phi_prime
                weight = weight * drawn + gamma / n_topics
            prior = alpha / n_labels + eta / (n + gamma) * (phi_prime @ weight)
            if number < cycles:
                count = cycle(count + prior)
        counts.append(count)
        priors.append(prior)
    prior = np.mean(priors, axis=0)
    return cycle(np.mean(counts, axis=0) + prior), prior


def fast_inference(
    phi: list[list[float]], phi_prime: list[list[float]], words: list[int], eta: float,
    alpha: float, gamma: float, n_cycles: int, stream: tuple[int, int],
) -> tuple[list[int], list[int], list[float]]:  # fmt: skip
    """Return z, z′ and α′ of a document after some cycles; `alpha` is Σα/C, `gamma` Σγ/T."""
    n_labels, n_topics, n, counter = len(phi_prime), len(phi_prime[0]), len(words), 0
    z, z_topic, prior = [-1] * n, [-1] * n, [alpha + eta / n_labels] * n_labels
    for cycle in range(-1, n_cycles + 1):
        for i, w in enumerate(words):
            n_dc = Counter(z[:i] + z[i + 1 :])
            weights = [phi[w][c] * (n_dc[c] + prior[c]) for c in range(n_labels)]
            z[i] = draw(weights, uniform(*stream, counter))
            counter += 1
        for _ in range(0 if cycle < 0 else 2 if cycle == 0 else 1):
            for i, c in enumerate(z):
                n_dt = Counter(z_topic[:i] + z_topic[i + 1 :])
                weights = [phi_prime[c][t] * (n_dt[t] + gamma) for t in range(n_topics)]
                z_topic[i] = draw(weights, uniform(*stream, counter))
                counter += 1
        if cycle >= 0:
            n_dt = Counter(z_topic)
            theta = [(n_dt[t] + gamma) / (n + gamma * n_topics) for t in range(n_topics)]
            shares = [[eta * theta[t] * row[t] for t in range(n_topics)] for row in phi_prime]
            prior = [running_sums([alpha, *each])[-1] for each in shares]
    return z, z_topic, prior
