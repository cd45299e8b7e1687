"""A map of labels: those that go together, or have the same words, lie in one region.

Labels are points in the space of the documents that have them and of the words that tell them from
others (a truncated SVD), put into regions by k-means. In a region each label is a disc, as large as
it has documents, the largest placed first and none on another; regions that are alike lie near.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, hstack
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from deplda.data.targets import Indicator
from deplda.training.estimates import LabelWords

MOST_LABELS = 5_000
"""On the map, the most frequent."""
_DIMENSIONS, _MOST_REGIONS, _N_NAMES = 32, 36, 3
_GAP, _REGION_GAP, _FILLED, _ROUNDS = 0.6, 8.0, 0.75, 400
_WIDE = (0.07, 0.35)
"""How strongly regions are drawn to the middle: the map is wider than high."""

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


class LabelMap(NamedTuple):
    """Discs of labels, and the discs of regions around them; the whole has its middle at 0."""

    labels: Numbers
    """Which labels are shown, the most frequent first."""
    places: Floats
    """x and y of each."""
    radii: Floats
    regions: Numbers
    """Which region each is in."""
    centres: Floats
    region_radii: Floats
    names: list[list[int]]
    """The labels that each region is called by, the most telling first."""
    together: Numbers
    """Documents that have labels of two regions; of a region and itself, of that region."""


def label_map(
    label_sets: Indicator, words: LabelWords | None, usual: Floats | None, seed: int = 0
) -> LabelMap:
    """Return the map of the labels of training documents.

    `words` are φ, in a model that has it, and `usual` how likely each word is of any label.
    """
    frequency = np.bincount(label_sets.indices, minlength=label_sets.shape[1])
    labels = np.argsort(-frequency, kind="stable")[:MOST_LABELS]
    labels = labels[frequency[labels] > 0]
    own = frequency[labels].astype(np.float64)
    if not len(labels):
        nowhere, none = np.zeros((0, 2)), np.zeros(0)
        return LabelMap(labels, nowhere, none, labels, nowhere, none, [], labels.reshape(0, 0))
    directions = _directions(label_sets, words, usual, labels, seed)
    n_distinct = len(np.unique(directions.round(6), axis=0))
    n_regions = min(_MOST_REGIONS, max(1, round(np.sqrt(len(labels)))), n_distinct)
    found = KMeans(n_regions, n_init=1, random_state=seed).fit(
        directions, sample_weight=np.sqrt(own)
    )
    used, regions = np.unique(found.labels_, return_inverse=True)  # a region has a label at least
    n_regions = len(used)
    order = np.argsort(-np.bincount(regions, own, n_regions), kind="stable")
    regions = np.argsort(order)[regions]
    middles = found.cluster_centers_[used][order]
    radii = np.sqrt(own + 1.0)
    places, region_radii = np.zeros((len(labels), 2)), np.zeros(n_regions)
    for region in range(n_regions):
        members = np.flatnonzero(regions == region)
        wanted = _spread(directions[members] - middles[region])
        places[members], region_radii[region] = _packed(radii[members], wanted)
    centres = _apart(middles, region_radii)
    nearness = own * np.maximum((directions * middles[regions]).sum(axis=1), 0)
    names = [
        sorted(np.flatnonzero(regions == region).tolist(), key=lambda i: -nearness[i])[:_N_NAMES]
        for region in range(n_regions)
    ]
    return LabelMap(
        labels, places + centres[regions], radii, regions, centres, region_radii,
        [[int(labels[i]) for i in several] for several in names],
        _together(label_sets[:, labels], regions, n_regions),
    )  # fmt: skip


def _together(label_sets: Indicator, regions: Numbers, n_regions: int) -> Numbers:
    """Return how many documents have labels of two regions."""
    n = len(regions)
    member = csr_array((np.ones(n, np.int64), regions, np.arange(n + 1)), shape=(n, n_regions))
    has = csr_array(label_sets.astype(np.int64) @ member)
    has.data[:] = 1
    return np.asarray((has.T @ has).toarray())


def _directions(
    label_sets: Indicator,
    words: LabelWords | None,
    usual: Floats | None,
    labels: Numbers,
    seed: int,
) -> Floats:
    """Return labels as points of few dimensions, of length one."""
    parts: list[Any] = [normalize(csr_array(label_sets.T)[labels].astype(np.float64))]
    if words is not None and usual is not None:
        phi = csr_array(words.weights.T)[labels].astype(np.float64)
        # What tells a label from others, φ log(φ / usual φ), where that is above 0.
        phi.data *= np.maximum(np.log(np.maximum(phi.data, 1e-300) / usual[phi.indices]), 0)
        parts.append(normalize(phi))
    matrix = csr_array(hstack(parts))
    n = min(_DIMENSIONS, *(size - 1 for size in matrix.shape))
    if n < 2:
        return np.ones((len(labels), 1))
    left, values, _ = randomized_svd(matrix, n, n_iter=3, random_state=seed)
    return np.asarray(normalize(left * values))


def _spread(points: Floats) -> Floats:
    """Return points in the plane of their two largest directions, evenly far from the middle."""
    if len(points) < 3 or points.shape[1] < 2:
        return np.zeros((len(points), 2))
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    flat = centred @ _signed(axes[:, -2:])
    far = np.hypot(*flat.T)
    rank = np.argsort(np.argsort(far, kind="stable"), kind="stable")
    return flat * (np.sqrt((rank + 0.5) / len(flat)) / np.maximum(far, 1e-12))[:, None]


def _signed(axes: Floats) -> Floats:
    """Return axes with the sign that makes the largest entry of each positive."""
    largest = np.abs(axes).argmax(axis=0)
    return axes * np.sign(axes[largest, np.arange(axes.shape[1])])


def _packed(radii: Floats, wanted: Floats) -> tuple[Floats, float]:
    """Return places of discs that do not overlap, and the radius of the disc around them all.

    The largest is placed first, each at the free place that is nearest to where it is wanted, in a
    disc of radius one.
    """
    around = np.sqrt((radii**2).sum() / _FILLED)
    step = max(radii.min(), around / 40)
    line = np.arange(-1.5 * around, 1.5 * around, step)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    room, places = np.full(len(grid), np.inf), np.zeros((len(radii), 2))
    for i in np.argsort(-radii, kind="stable"):
        free = np.flatnonzero(room >= radii[i] + _GAP)
        if not len(free):
            free = np.array([np.argmax(room)])
        away = grid[free] - wanted[i] * (around - radii[i]) * 0.6
        places[i] = grid[free[np.argmin((away**2).sum(axis=1))]]
        room = np.minimum(room, np.hypot(*(grid - places[i]).T) - radii[i])
    places -= _middle_of(places, radii)
    return places, float((np.hypot(*places.T) + radii).max())


def _middle_of(places: Floats, radii: Floats) -> Floats:
    """Return about the middle of the smallest disc around all discs."""
    middle = places.mean(axis=0)
    for step in range(1, 200):  # towards the farthest, by ever less
        away = places - middle
        far = np.hypot(*away.T) + radii
        middle = middle + away[np.argmax(far)] / (step + 1)
    return np.asarray(middle)


def _apart(middles: Floats, radii: Floats) -> Floats:
    """Return centres of discs that do not overlap, those of like regions near each other."""
    n, scale = len(middles), np.sqrt((radii**2).sum())
    alike = np.maximum(normalize(middles) @ normalize(middles).T, 0)
    np.fill_diagonal(alike, 0)
    # From a spiral, bent to the two main directions of what is alike.
    turn, far = np.arange(n) * 2.399963, np.sqrt((np.arange(n) + 0.5) / n)
    places = scale * far[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    if n > 3:
        _, axes = np.linalg.eigh(alike - alike.mean(axis=0) - alike.mean(axis=1)[:, None])
        main = _signed(axes[:, -2:])
        places = scale * 1.2 * main / np.abs(main).max(axis=0) + 0.05 * places
    pull = alike / max(alike.sum(axis=1).max(), 1e-9)
    for round in range(_ROUNDS):
        strength = 0.06 * max(0.0, 1 - round / (_ROUNDS * 0.8))  # at last, room is all that counts
        between = places[None] - places[:, None]
        far = np.maximum(np.hypot(between[..., 0], between[..., 1]), 1e-6)
        moved = strength * ((pull[..., None] * between).sum(axis=1) - places * _WIDE)
        over = np.maximum(radii[:, None] + radii[None] + _REGION_GAP - far, 0)
        np.fill_diagonal(over, 0)
        gives_way = radii[None] / (radii[:, None] + radii[None])  # the smaller one
        moved -= ((over * gives_way / far)[..., None] * between).sum(axis=1) * 0.5
        places = places + moved
    return places - (places.min(axis=0) + places.max(axis=0)) / 2
