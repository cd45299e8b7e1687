"""A mixture of signals: the log-odds of a label, as a sum of parts that people can read.

Several forms are fitted to documents held out and judged by cross-fitting: each half of these
documents is scored by what the other half taught. The chosen one is additive: the log-odds are the
sum of what each signal gives, so that a reason for a label is a number that adds up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.data.corpus import sparse_rows
from deplda.engine.execution import HERE, Execution
from deplda.evaluation import rank_metrics
from deplda.kernels.logistic import slope_and_curvature
from deplda.models.candidates import Labels

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Values = Mapping[str, Floats]
"""Signals by name, each with a value for every pair."""
Term = tuple[str, ...]
"""Signals whose product is a term; () is the constant."""

BASE = "base"
"""What is not a signal's: the log-odds of an average candidate."""
MODERATOR = "frequency"
"""The signal that tells how far to trust others: a product with it is the other's part."""
LIKENESS = "likeness"
"""The signal that goes far beyond its values in documents held out where a document was learned
from, or is nearly equal to one that was: a label that no other has is as like it as can be."""
NAME, NAMED = "name", "named"
"""Signals of one thing, the label's name: 0 where it does not stand in the text, which then has no
part in the log-odds. Parts of both are the name's."""
GIVEN = " given"
"""Suffix of the signal that says whether a label has an external score. The two signals of a score
are as those of names."""

_LINEAR: tuple[Term, ...] = ((), ("margin",), ("share",), ("likeness",), ("frequency",))
_CROSSED: tuple[Term, ...] = (
    *_LINEAR, ("margin", "frequency"), ("share", "frequency"), ("share", "share"),
    ("margin", "share"), ("likeness", "frequency"), ("likeness", "likeness"),
    ("likeness", "margin"), ("likeness", "share"),
)  # fmt: skip
_SQUARED: tuple[Term, ...] = (*_CROSSED, ("margin", "margin"), ("margin", "margin", "frequency"))
_FULL: tuple[Term, ...] = (
    *_SQUARED, ("frequency", "frequency"), ("margin", "margin", "share"),
    ("share", "share", "frequency"),
)  # fmt: skip
FORMS = {"linear": _LINEAR, "crossed": _CROSSED, "squared": _SQUARED, "full": _FULL}
_OF_NAMES: tuple[Term, ...] = (
    (NAMED,), (NAME,), (NAMED, "frequency"), (NAME, "frequency"), (NAMED, "margin"),
    (NAME, "margin"), (NAMED, "share"), (NAME, "share"), (NAME, NAME),
)  # fmt: skip
OF_EXTERNAL: dict[str, tuple[Term, ...]] = {
    "linear": ((),), "by frequency": ((), ("frequency",)),
    "crossed": ((), ("frequency",), ("margin",), ("share",)),
}  # fmt: skip
"""What each external signal is multiplied by: its weight may depend on the label's frequency, its
SVM's margin and its share in the topic model."""

_RIDGE = 10.0
_KNOWN = 0.99
"""Share of the true labels held out whose likeness counts in full. Larger ones count as the largest
of these: a square that was fitted to smaller ones would have them speak against the label."""
LEAST_SCALE = 1e-9
"""A signal that varies by less is the same for all."""
_MOST_STEPS = 50
_LONGEST_STEP, _SMALL_STEP = 10.0, 1e-5
_SURELY_LEARNED, _OF_OTHERS, _ENOUGH_OTHERS = 25, 8, 100_000
_LARGEST_T, _CLEARLY_WORSE = 3.0, -2.0


class Terms(msgspec.Struct, frozen=True, tag="terms"):
    """A weighted sum of products of signals, each less its mean and divided by its deviation."""

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    means: dict[str, float]
    scales: dict[str, float]
    most: dict[str, float] = {}
    """What a signal counts as where it is larger; earlier versions had no such limits."""

    def log_odds(self, values: Values) -> Floats:
        """Return the log-odds of each pair, the sum of its parts."""
        return _sum(self.parts(values).values())

    def parts(self, values: Values) -> dict[str, Floats]:
        """Return what the average candidate has and what each signal adds to it.

        A product of signals counts for all of them alike; frequency alone, which says how far to
        trust the others, has no part in it.
        """
        scaled = {
            name: (value - self.means[name]) / self.scales[name]
            for name, value in _limited(values, self.most).items()
        }
        shape = next(iter(scaled.values())).shape
        found = {BASE: np.zeros(shape)} | {name: np.zeros(shape) for name in values}
        for term, weight in zip(self.terms, self.weights, strict=True):
            owners = [name for name in term if name != MODERATOR] or list(term) or [BASE]
            value = np.full(shape, weight / len(owners))
            for name in term:
                value = value * scaled[name]
            for owner in owners:
                found[owner] = found[owner] + value
        for name in [name for name in found if _is_presence(name)]:
            found[_of_presence(name)] = found[_of_presence(name)] + found.pop(name)
        return found


class FloorAndSum(msgspec.Struct, frozen=True, tag="floor"):
    """log(exp(o) + δ) + λ log P: below the floor δ margins are noise, and the share decides.

    o is linear in the margin, with ln f and their product.
    """

    weights: tuple[float, float, float, float]
    """Of 1, the margin, ln f, and margin × ln f."""
    floor: float
    share: float
    """λ."""
    mean_share: float = 0.0
    """Of candidates, to which a share is compared."""

    def log_odds(self, values: Values) -> Floats:
        """Return the log-odds of each pair, the sum of its parts."""
        return _sum(self.parts(values).values())

    def parts(self, values: Values) -> dict[str, Floats]:
        """Return what the average share gives, and margin and share beside it."""
        one, slope, frequency, both = self.weights
        margin, often = values["margin"], values["frequency"]
        odds = (slope + both * often) * margin + (one + frequency * often)
        supported = np.logaddexp(odds, np.log(self.floor)) if self.floor else odds
        return {
            BASE: np.full(odds.shape, self.share * self.mean_share),
            "margin": supported,
            "share": self.share * (values["share"] - self.mean_share),
        }


class Alone(msgspec.Struct, frozen=True, tag="alone"):
    """One signal and nothing else, on its own scale."""

    signal: str
    weight: float = 1.0
    intercept: float = 0.0
    mean: float = 0.0
    """Of candidates, to which the signal is compared."""

    def log_odds(self, values: Values) -> Floats:
        """Return the log-odds of each pair."""
        return _sum(self.parts(values).values())

    def parts(self, values: Values) -> dict[str, Floats]:
        """Return what the average candidate has, and what the signal adds."""
        own = self.weight * (values[self.signal] - self.mean)
        return {BASE: np.full(own.shape, self.intercept), self.signal: own}


Mixture = Terms | FloorAndSum | Alone

BY_DOCUMENT = ("document average precision", "one-error", "ranking loss", "precision@5")
"""Those of the measures that are values of documents."""

UNTAUGHT = FloorAndSum((0.0, 4.0, 0.0, 0.0), 0.01, 0.2)
"""What is taken where nothing could be held out."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Signals of candidates of documents that were not learned from, and the truth of them."""

    labels: Labels
    """Documents × candidates, −1 where there are fewer."""
    values: dict[str, Floats]
    truth: csr_array[Any, tuple[int, int]]
    """Documents × all labels."""

    @property
    def is_given(self) -> Bools:
        """Which candidates there are."""
        return self.labels >= 0

    @cached_property
    def is_true(self) -> Bools:
        """Which candidates the documents have."""
        if not self.labels.size:  # SciPy gives one value for no places
            return np.zeros(self.labels.shape, bool)
        rows = np.repeat(np.arange(len(self.labels)), self.labels.shape[1])
        found = np.asarray(self.truth[rows, np.maximum(self.labels, 0).ravel()])
        return found.reshape(self.labels.shape).astype(bool) & self.is_given

    @cached_property
    def learned_from(self) -> tuple[tuple[Any, ...], Floats]:
        """The pairs that a mixture is fitted to, and how many pairs each stands for."""
        return _learned_from(self)

    def in_halves(self) -> list[Half]:
        """Return both halves, with those to learn from for each."""
        found = []
        for half in halves(len(self.labels)):
            other = self.only(~half)
            teacher = other if other.is_true.any() else self
            teacher.learned_from  # noqa: B018 (before several threads ask for it)
            found.append(Half(half, self.only(half).values, teacher))
        return found

    def matrix(self, values: Floats) -> csr_array[Any, tuple[int, int]]:
        """Return values of the candidates as a sparse matrix, documents × all labels."""
        found: csr_array[Any, tuple[int, int]] = sparse_rows(
            self.labels, values, self.is_given, self.truth.shape[1]
        )
        return found

    def only(self, rows: Any) -> HeldOut:
        """Return some of the documents."""
        values = {name: value[rows] for name, value in self.values.items()}
        return HeldOut(self.labels[rows], values, self.truth[rows])


class Half(NamedTuple):
    """Half of the documents, and those that teach how to score it."""

    rows: Bools
    values: Values
    teacher: HeldOut


class Judged(NamedTuple):
    """The chosen mixture, and how it and the others did."""

    name: str
    mixture: Mixture
    """Fitted to all documents held out."""
    log_odds: Floats
    """Of each pair, by what the other half taught."""
    measures: dict[str, dict[str, float]]
    """Means of all measures, by form."""


def judge(held_out: HeldOut, execution: Execution = HERE) -> Judged:
    """Return the best form by cross-fitting, fitted to all documents held out.

    The whole list of measures decides: the sum of the paired t statistics of its differences to
    the crossed form, each at most 3, so that none of them can outweigh all others. A form that is
    clearly worse than one of its parts in any of the measures (t < −2) comes after all that are
    not.
    """
    parts = held_out.in_halves()

    def tried(fit: Any) -> tuple[Floats, dict[str, Floats]]:
        odds = _cross_fitted(fit, held_out, parts)
        return odds, measures(odds, held_out)

    crossed = dict(zip(_FITS, execution.map_here(tried, _FITS.values()), strict=True))
    found = {name: measured for name, (_, measured) in crossed.items()}
    name = best_of(found, "crossed", parts=("margin", "share"))
    told = {form: {key: mean(values) for key, values in of.items()} for form, of in found.items()}
    return Judged(name, _FITS[name](held_out), crossed[name][0], told)


def with_names(form: str, held_out: HeldOut, execution: Execution = HERE) -> Judged:
    """Return a form with the signals of names, fitted to all documents held out.

    Where it is none of terms it is the crossed form.
    """
    terms = (*FORMS.get(form, _CROSSED), *_OF_NAMES)
    return _judged(f"{form}, with names", terms, held_out, execution)


def with_external(
    before: Judged, names: Sequence[str], form: str, held_out: HeldOut, execution: Execution = HERE
) -> Judged:
    """Return a form with external signals, fitted to all documents held out.

    Where it was none of terms it is the crossed one.
    """
    terms = before.mixture.terms if isinstance(before.mixture, Terms) else _CROSSED
    own = [each for name in names for each in (name + GIVEN, name)]
    terms += tuple((each, *term) for each in own for term in OF_EXTERNAL[form])
    return _judged(f"{before.name}, with {' and '.join(names)}, {form}", terms, held_out, execution)


def _judged(name: str, terms: tuple[Term, ...], held_out: HeldOut, execution: Execution) -> Judged:
    fit = _Fit(terms)
    parts = held_out.in_halves()
    teachers = [*(part.teacher for part in parts), held_out]
    *crossed, mixture = execution.map_here(fit.__call__, teachers)
    odds = np.empty(held_out.labels.shape)
    for part, fitted in zip(parts, crossed, strict=True):
        odds[part.rows] = fitted.log_odds(part.values)
    told = {key: mean(values) for key, values in measures(odds, held_out).items()}
    return Judged(name, mixture, odds, {name: told})


def measured(form: str, held_out: HeldOut) -> dict[str, Floats]:
    """Return the measures of a form by cross-fitting."""
    return measures(_cross_fitted(_Fit(FORMS[form]), held_out), held_out)


def best_of(
    found: Mapping[str, Mapping[str, Floats]], reference: str, parts: Iterable[str] = ()
) -> str:
    """Return the name with the best list of measures; of equals the reference, or the first.

    Where all of their measures are at the limit of t, lists are equals only if t without it is.
    """

    def rank(name: str) -> tuple[bool, float, float, bool]:
        own = found[name]
        is_worse = any(
            t_statistic(own[key] - found[part][key]) < _CLEARLY_WORSE
            for part in parts
            for key in own
        )
        each = [t_statistic(own[key] - found[reference][key]) for key in own]
        return not is_worse, gain(own, found[reference]), sum(each), name == reference

    return max(found, key=rank)


def gain(own: Mapping[str, Floats], reference: Mapping[str, Floats]) -> float:
    """Return how much better a list of measures is: the sum of t, each at most 3."""
    each = np.array([t_statistic(own[key] - reference[key]) for key in own])
    return float(np.clip(each, -_LARGEST_T, _LARGEST_T).sum())


def measures(log_odds: Floats, held_out: HeldOut) -> dict[str, Floats]:
    """Return what is judged by, higher is better: values of documents, and values of labels."""
    truth, scores = held_out.truth, held_out.matrix(log_odds)
    by_document = rank_metrics(scores, truth, ks=(5,))
    tested = np.flatnonzero(truth.sum(axis=0))
    by_label = rank_metrics(scores[:, tested], truth[:, tested], pivot="label", ks=())
    own = by_label["average_precision"]
    often = truth.sum(axis=0)[tested]
    is_rare = often <= np.sort(often)[len(often) // 3] if len(often) else often > 0
    return {
        "document average precision": by_document["average_precision"],
        "one-error": -by_document["one_error"],
        "ranking loss": -by_document["ranking_loss"],
        "precision@5": by_document["precision@5"],
        "label average precision": own,
        "rare labels": own[is_rare],
    }


def t_statistic(differences: Floats) -> float:
    """Return mean over standard error of differences, 0 where all are alike."""
    known = differences[np.isfinite(differences)]
    spread = float(known.std()) if len(known) > 1 else 0.0
    return float(known.mean()) / spread * float(np.sqrt(len(known))) if spread else 0.0


def mean(values: Floats) -> float:
    """Return the mean of what is known, 0 where nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else 0.0


# Fitting ------------------------------------------------------------------------------------------


class _Fit(NamedTuple):
    """How a form of terms is fitted: a logistic regression."""

    terms: tuple[Term, ...]

    def __call__(self, held_out: HeldOut) -> Terms:
        chosen, weights = held_out.learned_from
        values = {name: value[chosen] for name, value in held_out.values.items()}
        truth = held_out.is_true[chosen]
        most = (
            {LIKENESS: float(np.quantile(values[LIKENESS][truth], _KNOWN))} if truth.any() else {}
        )
        values = _limited(values, most)
        means = {name: float(np.average(value, weights=weights)) for name, value in values.items()}
        scales = {
            name: float(np.sqrt(np.average((value - means[name]) ** 2, weights=weights)))
            for name, value in values.items()
        }
        scales = {name: scale if scale > LEAST_SCALE else 1.0 for name, scale in scales.items()}
        for name in filter(_is_presence, values):
            means |= {name: 0.0, _of_presence(name): 0.0}
        scaled = {name: (value - means[name]) / scales[name] for name, value in values.items()}
        features = np.ones((len(truth), len(self.terms)))
        for column, term in enumerate(self.terms):
            for name in term:
                features[:, column] *= scaled[name]
        found = logistic(features, truth, weights, [_RIDGE if term else 0.0 for term in self.terms])
        return Terms(self.terms, tuple(found.tolist()), means, scales, most)


def _fit_floor(held_out: HeldOut) -> FloorAndSum:
    """Return the likeliest of some floors and weights of the share; margins as a logistic has them.

    The scale does not matter to a ranking, and probabilities are calibrated afterwards.
    """
    chosen, weights = held_out.learned_from
    truth = held_out.is_true[chosen]
    margin, often, share = (
        held_out.values[name][chosen] for name in ("margin", "frequency", "share")
    )
    features = np.stack([np.ones_like(margin), margin, often, margin * often], axis=1)
    own = logistic(features, truth, weights, [0.0, _RIDGE, _RIDGE, _RIDGE])
    values = {"margin": margin, "frequency": often, "share": share}
    first: tuple[float, float, float, float] = tuple(own.tolist())
    mean_share = float(np.average(share, weights=weights))
    tried = [
        FloorAndSum(first, floor, part, mean_share)
        for floor in (0.0, 0.003, 0.01, 0.03)
        for part in (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
    ]

    def likelihood(mixture: FloorAndSum) -> float:
        odds = mixture.log_odds(values)
        line = np.stack([np.ones_like(odds), odds], axis=1)
        fitted = line @ logistic(line, truth, weights, [0.0, 0.0])
        return float((weights * np.where(truth, -_soft(-fitted), -_soft(fitted))).sum())

    return max(tried, key=likelihood)


def _fit_alone(name: str, held_out: HeldOut) -> Alone:
    chosen, weights = held_out.learned_from
    value = held_out.values[name][chosen]
    mean = float(np.average(value, weights=weights))
    value = value - mean
    line = np.stack([np.ones_like(value), value], axis=1)
    intercept, weight = logistic(line, held_out.is_true[chosen], weights, [0.0, 1e-3]).tolist()
    return Alone(name, max(weight, 1e-3), intercept, mean)


_FITS: dict[str, Any] = {
    "margin": partial(_fit_alone, "margin"), "share": partial(_fit_alone, "share"),
    "floor and sum": _fit_floor,
} | {name: _Fit(terms) for name, terms in FORMS.items()}  # fmt: skip
"""How each form is fitted to documents held out."""


def logistic(features: Floats, truth: Bools, weights: Floats, ridge: Iterable[float]) -> Floats:
    """Return the weights of a logistic regression, pairs × terms, by Newton's method."""
    penalty = np.array([*ridge])
    rows, wanted = np.ascontiguousarray(features), truth.astype(np.float64)
    found = np.zeros(len(penalty))
    for _ in range(_MOST_STEPS):
        slope, curvature = penalty * found, np.diag(penalty + 1e-9)
        slope_and_curvature(rows, wanted, weights, found, slope, curvature)
        step = np.linalg.solve(np.tril(curvature) + np.tril(curvature, -1).T, slope)
        longest = float(np.abs(step).max())
        # A full step may overshoot where classes are all but parted.
        found = found - step / max(1.0, longest / _LONGEST_STEP)
        if longest < _SMALL_STEP:
            break
    return found


def _learned_from(held_out: HeldOut) -> tuple[tuple[Any, ...], Floats]:
    """Return the pairs that a mixture is fitted to, and how many pairs each stands for.

    All that are true, those with the best margins or shares, and every eighth of the others, but
    of very many no more than are enough.
    """
    given, n_candidates = held_out.is_given, held_out.labels.shape[1]
    sure = held_out.is_true.copy()
    if n_candidates > 2 * _SURELY_LEARNED:
        for name in ("margin", "share"):
            value = np.where(given, held_out.values[name], -np.inf)
            least = np.partition(value, n_candidates - _SURELY_LEARNED, axis=1)
            sure |= value >= least[:, [n_candidates - _SURELY_LEARNED]]
        sure &= given
    else:
        sure = given
    others = np.flatnonzero((given & ~sure).ravel())
    n_others = len(others)
    others = others[:: max(_OF_OTHERS, n_others // _ENOUGH_OTHERS)]
    weights = np.zeros(given.shape)
    weights[sure] = 1.0
    weights.ravel()[others] = n_others / max(len(others), 1)
    chosen = np.nonzero(weights)
    return chosen, weights[chosen]


def halves(n: int) -> tuple[Bools, Bools]:
    """Return which of n documents are in each half: each is scored by what the other taught."""
    is_first = np.arange(n) < (n + 1) // 2
    return is_first, ~is_first


def _cross_fitted(fit: Any, held_out: HeldOut, parts: Sequence[Half] = ()) -> Floats:
    """Return the log-odds of each half of the documents by what the other half taught.

    `parts` are the halves, where they were made before.
    """
    found = np.empty(held_out.labels.shape)
    for half in parts or held_out.in_halves():
        found[half.rows] = fit(half.teacher).log_odds(half.values)
    return found


def _sum(parts: Iterable[Floats]) -> Floats:
    """Return the sum, added in the order given, as the parts of a reason are."""
    total, *others = parts
    for part in others:
        total = total + part
    return total


def _limited(values: Values, most: Mapping[str, float]) -> dict[str, Floats]:
    """Return the signals, none larger than it may be."""
    return {name: np.minimum(value, most.get(name, np.inf)) for name, value in values.items()}


def _is_presence(name: str) -> bool:
    """Return whether a signal says that there is another one."""
    return name == NAMED or name.endswith(GIVEN)


def _of_presence(name: str) -> str:
    """Return the signal that such a one is of."""
    return NAME if name == NAMED else name.removesuffix(GIVEN)


def _soft(values: Floats) -> Floats:
    return np.logaddexp(0.0, values)
