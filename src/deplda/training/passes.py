"""φ from shards on disk, by synchronous passes: one shard at a time in a worker's memory.

In a pass every shard is swept against the counts of all shards after the last pass and its own
changes (AD-LDA of Newman et al. 2009, for draws and for expectations). It gives back the counts
that it changed, and those alone; the sum of all changes is what the shards see in the next pass.
With one shard this is the ordinary trainer, bit by bit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.files import StrPath
from deplda.engine.execution import HERE, Execution
from deplda.engine.pool import Stop, Stopped
from deplda.engine.progress import passes, sweeps
from deplda.errors import InputError, ReadError
from deplda.training.checkpoint import SavedArrays, load_arrays, save_arrays
from deplda.training.estimates import LabelWords
from deplda.training.label_words import learning_words_of, without_small
from deplda.training.shards import (
    KEYS,
    LAYOUT,
    PLACES,
    PREPARE_ANEW,
    Ready,
    count_keys,
    narrow,
    read_keys,
    read_layout,
    shard_folder,
)
from deplda.training.word_chain import Cells, labels_of_tokens, swept_pieces

Kind = Literal["expected", "sampled"]

# Counts by cell and by label, as the kernels have them.
_TYPES: dict[Kind, Any] = {"expected": (np.float64, np.float64), "sampled": (np.int32, np.int64)}


class Change(NamedTuple):
    """Counts that are no longer what they were: which, and what they are now."""

    cells: npt.NDArray[Any]
    cell_counts: npt.NDArray[Any]
    labels: npt.NDArray[np.int64]
    label_counts: npt.NDArray[Any]

    @property
    def nbytes(self) -> int:
        """What it takes to send it."""
        return sum(array.nbytes for array in self)


_NOTHING = Change(*(np.empty(0, np.int64) for _ in range(4)))


class Pass(NamedTuple):
    """What a pass of all shards came to."""

    number: int
    cell_counts: npt.NDArray[Any]
    label_counts: npt.NDArray[Any]
    moved: float
    """Of expectations: Σ times · |change of shares|, over all tokens."""
    sent: int
    """Bytes of the change that every worker is sent before the pass."""
    returned: int
    """Bytes of the changes that came back from the shards."""


class Plan(NamedTuple):
    """What a worker has to know of a run; sent there once a pass."""

    folder: Path
    name: str
    kind: Kind
    eta: float
    beta: float
    n_words: int
    n_labels: int
    seed: int
    chain: int
    first_tokens: tuple[int, ...]
    """The number of each shard's first token when those of all are numbered through, and the end"""

    def state(self, shard: int, number: int) -> Path:
        """Return where a shard keeps its state after a pass."""
        return shard_folder(self.folder, shard) / f"{self.name}-{number:05}.npz"

    def counts(self, number: int) -> Path:
        """Return where the counts of all shards after a pass are kept."""
        return self.folder / f"{self.name}-{number:05}.npz"


def expect_shards(
    folder: StrPath,
    ready: Ready,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    tolerance: float = 0.1,
    max_sweeps: int = 100,
    execution: Execution = HERE,
) -> LabelWords:
    """Return the deterministic φ of prepared shards; parameters are as in `expect_label_words`."""
    meaning = (eta, beta, tolerance, max_sweeps)
    plan = _plan(folder, ready, "expected", eta, beta, 0, 0, meaning)
    n_swept, cells = sum(shard.swept for shard in ready.shards), cells_of(plan)
    name = learning_words_of(len(ready.labels))
    with passes(name, max_sweeps, execution.progress) as report:
        for done in run_passes(plan, max_sweeps, execution):
            if done.number:
                report(done.number, done.moved / max(tolerance * n_swept, 1e-9))
            if done.number and done.moved <= tolerance * n_swept:
                break
    return estimate(cells, done, "expected")


def train_shards(
    folder: StrPath,
    ready: Ready,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    n_chains: int = 1,
    n_sweeps: int = 100,
    seed: int = 0,
    execution: Execution = HERE,
) -> LabelWords:
    """Return φ of prepared shards averaged over the last samples of chains, one after the other.

    Parameters are as in `train_label_words` with ``Schedule(n_sweeps)``.
    """
    plans = [
        _plan(folder, ready, "sampled", eta, beta, seed, chain, (eta, beta, seed, chain, n_sweeps))
        for chain in range(n_chains)
    ]
    cells = cells_of(plans[0])
    weights, base = np.zeros(len(cells.words)), np.zeros(len(cells.starts) - 1)
    name = learning_words_of(len(ready.labels))
    with sweeps(name, n_chains, n_sweeps, execution.progress) as report:
        for chain, plan in enumerate(plans):
            for done in run_passes(plan, n_sweeps, execution):
                if report is not None:
                    report(chain, done.number)
            own_weights, own_base = cells.shares_of(done.cell_counts, done.label_counts)
            weights += own_weights
            base += own_base
    return cells.estimate(weights / n_chains, base / n_chains)


def estimate(cells: Cells, done: Pass, kind: Kind) -> LabelWords:
    """Return φ of the counts after a pass."""
    counts = done.cell_counts, done.label_counts
    if kind == "expected":
        counts = without_small(cells, *counts)
    return cells.estimate(*cells.shares_of(*counts))


def _plan(
    folder: StrPath,
    ready: Ready,
    kind: Kind,
    eta: float,
    beta: float,
    seed: int,
    chain: int,
    meaning: tuple[Any, ...],
) -> Plan:
    """Return the plan of a run; `meaning` is all that its result depends on beside the shards."""
    firsts = np.concatenate([[0], np.cumsum([shard.tokens for shard in ready.shards])])
    # Runs with other parameters may share the folder, and are never taken for one another.
    name = f"{kind}-{blake2b(repr(meaning).encode(), digest_size=6).hexdigest()}"
    return Plan(
        Path(folder).absolute(), name, kind, eta, beta, len(ready.words), len(ready.labels), seed,
        chain, tuple(firsts.tolist()),
    )  # fmt: skip


def cells_of(plan: Plan) -> Cells:
    """Return the cells of all shards."""
    keys = read_keys(plan.folder)
    if not len(keys):
        raise InputError("no document has both words and labels; there is nothing to learn from")
    if keys[-1] >= plan.n_labels * plan.n_words:
        raise ReadError(plan.folder / KEYS, None, f"it has cells of no label; {PREPARE_ANEW}")
    starts = np.searchsorted(keys, np.arange(plan.n_labels + 1) * plan.n_words)
    return Cells(starts, (keys % plan.n_words).astype(np.int32), plan.n_words, plan.beta)


# All shards ---------------------------------------------------------------------------------------


def run_passes(plan: Plan, n_passes: int, execution: Execution = HERE) -> Iterator[Pass]:
    """Yield pass 0, the start, and then up to n_passes more, from where an earlier run was."""
    done, change = _last_pass(plan)
    if done is not None:
        yield done
    else:
        by_cell, by_label = _TYPES[plan.kind]
        cells = np.zeros(count_keys(plan.folder), by_cell)
        done = Pass(-1, cells, np.zeros(plan.n_labels, by_label), 0.0, 0, 0)
    while done.number < n_passes:
        number = done.number + 1
        shards = range(len(plan.first_tokens) - 1)
        results = execution.map(_sweep_shard, shards, plan, number, change)
        done, change = _united(done, results, change.nbytes)
        _save_pass(plan, done, change)
        yield done


def _united(
    before: Pass, results: Iterable[tuple[Change, float]], sent: int
) -> tuple[Pass, Change]:
    """Return the counts after all shards' changes are applied, and what that changed."""
    cells, labels = before.cell_counts.copy(), before.label_counts.copy()
    has_cell, has_label = np.zeros(len(cells), bool), np.zeros(len(labels), bool)
    moved, returned = 0.0, 0
    for change, own in results:
        moved += own
        returned += change.nbytes
        _add(cells, before.cell_counts, has_cell, change.cells, change.cell_counts)
        _add(labels, before.label_counts, has_label, change.labels, change.label_counts)
    names = np.arange(len(cells), dtype=narrow(len(cells)))
    change = _change(names, before.cell_counts, cells, before.label_counts, labels)
    return Pass(before.number + 1, cells, labels, moved, sent, returned), change


def _add(
    counts: npt.NDArray[Any],
    before: npt.NDArray[Any],
    has_changed: npt.NDArray[np.bool_],
    where: npt.NDArray[Any],
    values: npt.NDArray[Any],
) -> None:
    """Mutate counts: the first change of a count is taken as it is, others by their difference.

    A sum of differences alone would be off in the last bit where there is only one.
    """
    again = has_changed[where]
    counts[where[again]] += values[again] - before[where[again]]
    counts[where[~again]] = values[~again]
    has_changed[where] = True


def _change(
    names: npt.NDArray[Any],
    old_cells: npt.NDArray[Any],
    cells: npt.NDArray[Any],
    old_labels: npt.NDArray[Any],
    labels: npt.NDArray[Any],
) -> Change:
    moved_cells, moved_labels = (
        np.flatnonzero(cells != old_cells),
        np.flatnonzero(labels != old_labels),
    )
    return Change(names[moved_cells], cells[moved_cells], moved_labels, labels[moved_labels])


def _save_pass(plan: Plan, done: Pass, change: Change) -> None:
    save_arrays(
        plan.counts(done.number), all_cells=done.cell_counts, all_labels=done.label_counts,
        moved=np.array([done.moved, done.sent, done.returned]), **change._asdict(),
    )  # fmt: skip
    plan.counts(done.number - 1).unlink(missing_ok=True)


def _last_pass(plan: Plan) -> tuple[Pass | None, Change]:
    """Return the last pass that all shards finished, if any, and what it changed."""
    files = sorted(plan.folder.glob(f"{plan.name}-?????.npz"))
    if not files:
        return None, _NOTHING
    saved, number = load_arrays(files[-1], PREPARE_ANEW), int(files[-1].stem[-5:])
    by_cell, by_label = _TYPES[plan.kind]
    cells = saved.counts("all_cells", by_cell, (count_keys(plan.folder),))
    labels = saved.counts("all_labels", by_label, (plan.n_labels,))
    moved, sent, returned = saved.finite("moved", (3,)).tolist()
    done = Pass(number, cells, labels, moved, int(sent), int(returned))
    return done, _saved_change(saved, plan, len(cells))


def _saved_change(saved: SavedArrays, plan: Plan, n_cells: int) -> Change:
    by_cell, by_label = _TYPES[plan.kind]
    cells = saved.below("cells", (np.int32, np.int64), (None,), n_cells)
    labels = saved.below("labels", np.int64, (None,), plan.n_labels)
    return Change(
        cells, saved.counts("cell_counts", by_cell, cells.shape), labels,
        saved.counts("label_counts", by_label, labels.shape),
    )  # fmt: skip


# One shard ----------------------------------------------------------------------------------------


def _sweep_shard(
    plan: Plan, number: int, change: Change, shard: int, stop: Stop
) -> tuple[Change, float]:
    """Bring a shard from pass number − 1 to number; return what it changed, and how much.

    The state after the last pass stays until the next, so that this can be done again by another
    worker, to the same bits; a state that is there already is what was done before.
    """
    target = plan.state(shard, number)
    n_cells = count_keys(plan.folder)
    if os.path.lexists(target):
        saved = load_arrays(target, PREPARE_ANEW)
        return _saved_change(saved, plan, n_cells), float(saved.finite("moved", (1,))[0])
    here = shard_folder(plan.folder, shard)
    layout = read_layout(here / LAYOUT, plan.n_words, plan.n_labels)
    places = load_arrays(here / PLACES, PREPARE_ANEW).below(
        "places", narrow(n_cells), layout.cell_words.shape, n_cells
    )
    work = _Expected(plan, layout) if plan.kind == "expected" else _Sampled(plan, layout, shard)
    if number == 0:
        tokens, cells, labels = work.start()
        seen_cells, seen_labels, moved = np.zeros_like(cells), np.zeros_like(labels), 0.0
    else:
        state = load_arrays(plan.state(shard, number - 1), PREPARE_ANEW)
        by_cell, by_label = _TYPES[plan.kind]
        tokens = work.saved_tokens(state)
        seen_cells = state.counts("seen_cells", by_cell, places.shape)
        seen_labels = state.counts("seen_labels", by_label, (plan.n_labels,))
        _see(places, seen_cells, seen_labels, change)
        cells, labels = seen_cells.copy(), seen_labels.copy()
        moved = work.sweep(tokens, cells, labels, number, stop)
    own = _change(places, seen_cells, cells, seen_labels, labels)
    save_arrays(
        target, tokens=tokens, seen_cells=seen_cells, seen_labels=seen_labels,
        moved=np.array([moved]), **own._asdict(),
    )  # fmt: skip
    plan.state(shard, number - 2).unlink(missing_ok=True)
    return own, moved


def _see(
    places: npt.NDArray[Any],
    cells: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    change: Change,
) -> None:
    """Mutate a shard's counts to those of all shards; `places` are its cells among all, sorted."""
    at = np.searchsorted(places, change.cells)
    at[at == len(places)] = 0
    is_own = places[at] == change.cells if len(places) else np.zeros(len(at), bool)
    cells[at[is_own]] = change.cell_counts[is_own]
    labels[change.labels] = change.label_counts


class _Expected:
    """Expectations: a token array holds the shares of each entry's labels."""

    def __init__(self, plan: Plan, layout: Any) -> None:
        from deplda.kernels import train_words

        self._kernel, self._plan, self._layout = train_words, plan, layout
        self._pieces = swept_pieces(layout)[1]
        self._weights = np.ones(len(layout.entry_starts) - 1)

    def start(self) -> tuple[npt.NDArray[Any], ...]:
        shares = np.empty(len(self._layout.cells), np.float32)
        cells, labels = np.empty(len(self._layout.cell_words)), np.empty(self._plan.n_labels)
        self._kernel.expected_start(self._layout, self._weights, shares, cells, labels)
        return shares, cells, labels

    def saved_tokens(self, state: SavedArrays) -> npt.NDArray[Any]:
        return state.counts("tokens", np.float32, self._layout.cells.shape)

    def sweep(
        self, shares: npt.NDArray[Any], cells: npt.NDArray[Any], labels: npt.NDArray[Any],
        number: int, stop: Stop,
    ) -> float:  # fmt: skip
        plan, moved = self._plan, 0.0
        for piece in self._pieces:
            _check(stop)
            moved += self._kernel.expect(
                self._layout, piece, self._weights, shares, cells, labels, plan.eta, plan.beta,
                plan.n_words, 0.0,
            )  # fmt: skip
        return moved


class _Sampled:
    """Draws: a token array holds z."""

    def __init__(self, plan: Plan, layout: Any, shard: int) -> None:
        from deplda.kernels import random, train_words

        self._kernel, self._plan, self._layout = train_words, plan, layout
        self._pieces = swept_pieces(layout)[1]
        key, self._gamma = random.stream(plan.seed, random.WORD_CHAIN, plan.chain)
        # Tokens are numbered through all shards; a stream moves on by adding to its key.
        self._key = np.uint64((int(key) + plan.first_tokens[shard] * int(self._gamma)) % 2**64)

    def start(self) -> tuple[npt.NDArray[Any], ...]:
        z = np.empty(self._layout.token_starts[-1], np.uint16)
        cells = np.empty(len(self._layout.cell_words), np.int32)
        labels = np.empty(self._plan.n_labels, np.int64)
        self._kernel.start(self._layout, z, self._key, self._gamma)
        self._kernel.tally(self._layout, z, cells, labels)
        return z, cells, labels

    def saved_tokens(self, state: SavedArrays) -> npt.NDArray[Any]:
        n_tokens = (int(self._layout.token_starts[-1]),)
        return state.below("tokens", np.uint16, n_tokens, labels_of_tokens(self._layout))

    def sweep(
        self, z: npt.NDArray[Any], cells: npt.NDArray[Any], labels: npt.NDArray[Any],
        number: int, stop: Stop,
    ) -> float:  # fmt: skip
        plan = self._plan
        for piece in self._pieces:
            _check(stop)
            self._kernel.sweep(
                self._layout, piece, z, cells, labels, plan.eta, plan.beta, plan.n_words,
                self._key, self._gamma, number * plan.first_tokens[-1],
            )  # fmt: skip
        return 0.0


def _check(stop: Stop) -> None:
    if stop.is_set():
        raise Stopped
