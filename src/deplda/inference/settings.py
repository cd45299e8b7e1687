"""How labels of a new document are inferred, as one checked value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from deplda.data import checks
from deplda.data.weighting import WORD_COUNTS, WordCounts
from deplda.errors import InputError
from deplda.training.chains import Schedule

Method = Literal["sampled", "proper", "deterministic"]
Estimate = Literal["counts", "conditionals"]
Combine = Literal["blend", "counts", "posterior"]
METHODS: tuple[Method, ...] = ("sampled", "proper", "deterministic")
ESTIMATES: tuple[Estimate, ...] = ("counts", "conditionals")
COMBINES: tuple[Combine, ...] = ("blend", "counts", "posterior")


@dataclass(frozen=True, slots=True)
class Inference:
    """How labels of a new document are inferred, and how they are scored.

    Parameters
    ----------
    eta : float
        Weight of the topics' share in a document's prior over labels, η; 0 for Flat-LDA.
    alpha : float
        Σα: total weight of the flat share.
    gamma : float
        Σγ: total weight of a document's prior over topics.
    method : {"sampled", "proper", "deterministic"}
        The paper's fast inference by Gibbs sampling; Gibbs sampling of the whole model, its label
        tokens too; or fast inference with expectations instead of draws.
    n_chains : int
        Chains on each set of topics (sampled, proper).
    schedule : Schedule
        When a chain gives samples; the paper's is ``Schedule(50, n_samples=15, lag=5)``.
    estimate : {"counts", "conditionals"}
        Of a sample, the drawn labels, or each token's whole conditional (θ_p): the same on average,
        with less noise.
    combine : {"blend", "counts", "posterior"}
        The score of a label: ``normalise(mean α′) + normalise(mean N)``, the paper's; N alone; or
        (N + α′)/(N_d + Σα′).
    n_label_tokens : int
        M, the label tokens of a document (proper). Flat-LDA has none.
    word_counts : {"raw", "log"}
        What a word that occurs n times in a document counts: n, or 1 + ln n (less than once: n).
        Expectations take fractions as they are; sampling draws whole tokens, the nearest number.
    tolerance, max_cycles : float, int
        The deterministic cycle stops when it moves less than this share of the tokens.
    """

    eta: float
    alpha: float
    gamma: float
    method: Method = "sampled"
    n_chains: int = 1
    schedule: Schedule = field(default_factory=lambda: Schedule(50, n_samples=15, lag=5))
    estimate: Estimate = "counts"
    combine: Combine = "blend"
    n_label_tokens: int = 1000
    word_counts: WordCounts = "raw"
    tolerance: float = 1e-2
    max_cycles: int = 60

    def __post_init__(self) -> None:
        for name in ("eta", "alpha", "tolerance"):
            checks.number(name, getattr(self, name), above=False)
        checks.positive(gamma=self.gamma)  # or a topic could never begin
        checks.at_least_one(
            n_chains=self.n_chains, n_label_tokens=self.n_label_tokens, max_cycles=self.max_cycles
        )
        checks.choice("method", self.method, METHODS)
        checks.choice("estimate", self.estimate, ESTIMATES)
        checks.choice("combine", self.combine, COMBINES)
        checks.choice("word_counts", self.word_counts, WORD_COUNTS)
        if self.eta + self.alpha <= 0:
            raise InputError(
                "eta and alpha are both 0; a document needs some prior over its labels"
            )
        if self.method == "proper" and self.alpha == 0:
            raise InputError(
                "alpha is 0; proper inference needs it above 0, or a word could never take a label "
                "that has no label token"
            )
