"""φ from shards on disk, by synchronous passes: one shard at a time in a worker's memory.

In a pass every shard is swept against the counts of all shards after the last pass and its own
changes (AD-LDA of Newman et al. 2009, for draws and for expectations). It leaves its counts on
disk; then the changes of all shards are added up, a block of labels at a time, and what each shard
has to see of them in the next pass is put aside for it. With one shard this is the ordinary
trainer, bit by bit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import compact_rows
from deplda.engine.execution import HERE, Execution
from deplda.engine.pool import Stop, check_stop
from deplda.engine.progress import passes, sweeps
from deplda.errors import ReadError
from deplda.training.checkpoint import load_arrays, save_arrays, save_state
from deplda.training.estimates import LabelWords
from deplda.training.label_words import learning_words_of, without_small
from deplda.training.shard_layouts import Kind, Laid, read_block, read_layout
from deplda.training.shards import PREPARE_ANEW, shard_folder
from deplda.training.slices import OnDisk, save_array
from deplda.training.word_chain import labels_of_tokens, swept_pieces

Numbers = npt.NDArray[np.int64]

# Counts by cell and by label, as the kernels have them.
_TYPES: dict[Kind, Any] = {"expected": (np.float64, np.float64), "sampled": (np.int32, np.int64)}
_NONE = np.zeros(0, np.int64)
_STATE = ("cells.npy", "tokens.npy", "labels.npz")
"""What a shard leaves after a pass, the last of which says that all is there. Large arrays have
files of their own: those of an archive are copied and summed up while other threads wait."""


class Pass(NamedTuple):
    """What a pass of all shards came to; the counts by cell are on disk."""

    number: int
    label_counts: npt.NDArray[Any]
    moved: float
    """Of expectations: Σ times · |change of shares|, over all tokens."""
    mass: float
    """How many tokens a pass updates."""


class Plan(NamedTuple):
    """What a worker has to know of a run; sent there once a pass."""

    laid: Laid
    name: str
    kind: Kind
    eta: float
    beta: float
    background: float = 0.0
    seed: int = 0
    chain: int = 0
    left_out: Numbers = _NONE
    """Documents, those of all shards numbered through, that expectations do not learn from."""

    def state(self, shard: int, number: int, what: str) -> Path:
        """Return where a shard keeps its state after a pass."""
        return shard_folder(Path(self.laid.folder), shard) / f"{self.name}-{number:05}-{what}"

    def counts(self, number: int) -> Path:
        """Return where the counts by label after a pass are kept."""
        return Path(self.laid.folder) / f"{self.name}-{number:05}.npz"

    def cells(self, block: int, number: int, what: str) -> Path:
        """Return where the counts of a block's cells after a pass are kept.

        `what` is "all", or "seen", as the shards see them, one after the other.
        """
        return Path(self.laid.folder) / f"{self.name}-{number:05}-{what}-{block:05}.npy"


def expect_shards(
    laid: Laid,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    background: float = 0.0,
    left_out: Numbers = _NONE,
    tolerance: float = 0.1,
    max_sweeps: int = 100,
    execution: Execution = HERE,
) -> LabelWords:
    """Return the deterministic φ of shards; parameters are as in `expect_label_words`.

    `left_out` are documents that nothing is learned from.
    """
    meaning = (eta, beta, background, left_out.tobytes(), tolerance, max_sweeps)
    plan = _plan(laid, "expected", eta, beta, meaning, background=background, left_out=left_out)
    name = learning_words_of(laid.n_labels - laid.has_background)
    with passes(name, max_sweeps, execution.progress) as report:
        for done in run_passes(plan, max_sweeps, execution):
            if done.number:
                report(done.number, done.moved / max(tolerance * done.mass, 1e-9))
            if done.number and done.moved <= tolerance * done.mass:
                break
    _forget_states(plan, done.number)
    return estimate([(plan, done)], execution)


def train_shards(
    laid: Laid,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    n_chains: int = 1,
    n_sweeps: int = 100,
    seed: int = 0,
    execution: Execution = HERE,
) -> LabelWords:
    """Return φ of shards averaged over the last samples of chains, one after the other.

    Parameters are as in `train_label_words` with ``Schedule(n_sweeps)``.
    """
    plans = [
        _plan(laid, "sampled", eta, beta, (eta, beta, seed, chain, n_sweeps), seed=seed,
              chain=chain)
        for chain in range(n_chains)
    ]  # fmt: skip
    found = []
    name = learning_words_of(laid.n_labels)
    with sweeps(name, n_chains, n_sweeps, execution.progress) as report:
        for chain, plan in enumerate(plans):
            for done in run_passes(plan, n_sweeps, execution):
                if report is not None:
                    report(chain, done.number)
            found.append((plan, done))
    return estimate(found, execution)


def _plan(
    laid: Laid, kind: Kind, eta: float, beta: float, meaning: tuple[Any, ...], **others: Any
) -> Plan:
    """Return the plan of a run; `meaning` is all that its result depends on beside the layout."""
    # Runs with other parameters may share the folder, and are never taken for one another.
    told = repr((laid.name, *meaning)).encode()
    return Plan(laid, f"{kind}-{blake2b(told, digest_size=6).hexdigest()}", kind, eta, beta,
                **others)  # fmt: skip


def estimate(runs: Sequence[tuple[Plan, Pass]], execution: Execution = HERE) -> LabelWords:
    """Return φ of the counts after a pass, averaged over several chains; block by block."""
    laid = runs[0][0].laid
    parts = execution.map(_estimate_block, laid.blocks, tuple(runs))
    words, values, sizes, base = (list(part) for part in zip(*parts, strict=True))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    by_label = compact_rows(
        np.concatenate(values), np.concatenate(words), starts, (laid.n_labels, laid.n_words)
    )
    words.clear()
    values.clear()
    return LabelWords(by_label.T.tocsr(), np.concatenate(base))


def _estimate_block(
    runs: tuple[tuple[Plan, Pass], ...], number: int, stop: Stop
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], Numbers, npt.NDArray[np.float64]]:
    """Return words and values of φ of a block's labels, how many each has, and their b."""
    laid, n = runs[0][0].laid, len(runs)
    block = read_block(laid, number)
    labels = slice(*laid.cuts[number : number + 2])
    weights, base = np.zeros(len(block.words)), np.zeros(len(block.starts) - 1)
    for plan, done in runs:
        cells = block.cells(laid.n_words, plan.beta)
        counts: Any = _all_cells(plan, done.number, number, len(block.words))
        counts = counts, done.label_counts[labels]
        if plan.kind == "expected":
            counts = without_small(cells, *counts)
        more_weights, more_base = cells.shares_of(*counts)
        weights += more_weights
        base += more_base
    found = (weights / n).astype(np.float32)
    is_kept = found != 0
    sizes = np.bincount(cells.owners[is_kept], minlength=len(base))
    return block.words[is_kept], found[is_kept], sizes, base / n


# All shards ---------------------------------------------------------------------------------------


def run_passes(plan: Plan, n_passes: int, execution: Execution = HERE) -> Iterator[Pass]:
    """Yield pass 0, the start, and then up to n_passes more, from where an earlier run was."""
    done = _last_pass(plan)
    if done is not None:
        yield done
    else:
        done = Pass(-1, np.zeros(plan.laid.n_labels, _TYPES[plan.kind][1]), 0.0, 0.0)
    while done.number < n_passes:
        number = done.number + 1
        results = execution.map(_sweep_shard, plan.laid.shards, plan, number, done.label_counts)
        done = _united(done, results)
        for _ in execution.map(_unite_block, plan.laid.blocks, plan, number):
            pass
        _save_pass(plan, done)
        yield done


def _united(before: Pass, results: Iterable[tuple[npt.NDArray[Any], float, float]]) -> Pass:
    """Return the counts by label after all shards' changes are applied."""
    from deplda.kernels.train_words import add_changes

    labels, every = before.label_counts.copy(), np.arange(len(before.label_counts))
    has_changed, moved, mass = np.zeros(len(labels), bool), 0.0, 0.0
    for own, own_moved, own_mass in results:
        moved += own_moved
        mass += own_mass
        add_changes(labels, before.label_counts, has_changed, every, own)
    return Pass(before.number + 1, labels, moved, mass)


def _unite_block(plan: Plan, number: int, block: int, stop: Stop) -> None:
    """Write the counts of a block's cells after a pass, and what each shard sees of them."""
    from deplda.kernels.train_words import add_changes

    laid, target = plan.laid, plan.cells(block, number, "all")
    if os.path.lexists(target):  # what was done before, `seen` first
        return
    cells = read_block(laid, block)
    n, kind = len(cells.words), _TYPES[plan.kind][0]
    before = np.zeros(n, kind) if number == 0 else _all_cells(plan, number - 1, block, n)
    after, has_changed = before.copy(), np.zeros(n, bool)
    ends = laid.ends[block]
    for shard in laid.shards:
        where = cells.places[ends[shard] : ends[shard + 1]]
        values = laid.own_values(plan.state(shard, number, "cells.npy"), kind, shard, block)
        add_changes(after, before, has_changed, where, values)
    save_array(plan.cells(block, number, "seen"), after[cells.places], synced=False)
    save_array(target, after, synced=False)
    # All shards have seen the first by now, and nobody reads the second any more.
    plan.cells(block, number - 1, "seen").unlink(missing_ok=True)
    plan.cells(block, number - 2, "all").unlink(missing_ok=True)


def _all_cells(plan: Plan, number: int, block: int, n: int) -> npt.NDArray[Any]:
    path = plan.cells(block, number, "all")
    return OnDisk(path, _TYPES[plan.kind][0], n, PREPARE_ANEW).finite()


def _save_pass(plan: Plan, done: Pass) -> None:
    """Say that a pass is done, no longer the one before."""
    save_arrays(
        plan.counts(done.number), labels=done.label_counts,
        moved=np.array([done.moved, done.mass]),
    )  # fmt: skip
    plan.counts(done.number - 1).unlink(missing_ok=True)


def _forget_states(plan: Plan, last: int) -> None:
    """Remove what only another pass would need."""
    for shard in plan.laid.shards:
        for number, what in product((last - 1, last), _STATE):
            plan.state(shard, number, what).unlink(missing_ok=True)
    for block in plan.laid.blocks:
        plan.cells(block, last, "seen").unlink(missing_ok=True)
        plan.cells(block, last - 1, "all").unlink(missing_ok=True)


def _last_pass(plan: Plan) -> Pass | None:
    """Return the last pass that all shards finished, if any."""
    files = sorted(Path(plan.laid.folder).glob(f"{plan.name}-{'[0-9]' * 5}.npz"))
    if not files:
        return None
    saved, number = load_arrays(files[-1], PREPARE_ANEW), int(files[-1].stem[-5:])
    labels = saved.counts("labels", _TYPES[plan.kind][1], (plan.laid.n_labels,))
    moved, mass = saved.finite("moved", (2,)).tolist()
    return Pass(number, labels, moved, mass)


# One shard ----------------------------------------------------------------------------------------


def _sweep_shard(
    plan: Plan, number: int, labels: npt.NDArray[Any], shard: int, stop: Stop
) -> tuple[npt.NDArray[Any], float, float]:
    """Bring a shard from pass number − 1 to number; return its counts by label, and how much moved.

    The state after the last pass stays until the next, so that this can be done again by another
    worker, to the same bits; a state that is there already is what was done before.
    """
    target = plan.state(shard, number, "labels.npz")
    by_label = _TYPES[plan.kind][1]
    if os.path.lexists(target):
        saved = load_arrays(target, PREPARE_ANEW)
        moved, mass = saved.finite("moved", (2,)).tolist()
        return saved.counts("labels", by_label, labels.shape), moved, mass
    layout = read_layout(plan.laid, shard)
    work = (
        _Expected(plan, layout, shard) if plan.kind == "expected" else _Sampled(plan, layout, shard)
    )
    if number == 0:
        (tokens, cells, labels), moved = work.start(), 0.0
    else:
        tokens = work.saved_tokens(plan.state(shard, number - 1, "tokens.npy"))
        cells = _seen(plan, shard, number - 1)
        if len(cells) != len(layout.cell_words):  # kernels do not look where they write
            problem = f"it does not fit the cells of shard {shard}; {PREPARE_ANEW}"
            raise ReadError(plan.laid.ends_file, None, problem)
        labels = labels.copy()
        moved = work.sweep(tokens, cells, labels, number, stop)
    save_array(plan.state(shard, number, "cells.npy"), cells, synced=False)
    save_array(plan.state(shard, number, "tokens.npy"), tokens, synced=False)
    save_state(target, labels=labels, moved=np.array([moved, work.mass]))
    plan.state(shard, number - 1, "cells.npy").unlink(missing_ok=True)  # they are added up
    for what in _STATE:
        plan.state(shard, number - 2, what).unlink(missing_ok=True)
    return labels, moved, work.mass


def _seen(plan: Plan, shard: int, number: int) -> npt.NDArray[Any]:
    """Return the counts of all shards after a pass, of the cells that a shard has."""
    parts, kind = [], _TYPES[plan.kind][0]
    for block, ends in zip(plan.laid.blocks, plan.laid.ends, strict=True):
        own = OnDisk(plan.cells(block, number, "seen"), kind, int(ends[-1]), PREPARE_ANEW)
        parts.append(own.finite(int(ends[shard]), int(ends[shard + 1])))
    return np.concatenate(parts)


class _Expected:
    """Expectations: a token array holds the shares of each entry's labels."""

    def __init__(self, plan: Plan, layout: Any, shard: int) -> None:
        from deplda.kernels import train_words

        self._kernel, self._plan, self._layout = train_words, plan, layout
        # What is left out counts nothing, as in no cell, and is not swept.
        left_out = plan.laid.rows_of(shard, plan.left_out)
        self._pieces = swept_pieces(layout, left_out)[1]
        self._weights = np.ones(len(layout.entry_starts) - 1)
        self._weights[left_out] = 0.0

    @property
    def mass(self) -> float:
        """How many tokens a pass updates."""
        return float(sum(np.diff(self._layout.token_starts)[piece].sum() for piece in self._pieces))

    def start(self) -> tuple[npt.NDArray[Any], ...]:
        shares = np.empty(len(self._layout.cells), np.float32)
        cells, labels = np.empty(len(self._layout.cell_words)), np.empty(self._plan.laid.n_labels)
        self._kernel.expected_start(self._layout, self._weights, shares, cells, labels)
        return shares, cells, labels

    def saved_tokens(self, path: Path) -> npt.NDArray[Any]:
        return OnDisk(path, np.float32, len(self._layout.cells), PREPARE_ANEW).counts()

    def sweep(
        self, shares: npt.NDArray[Any], cells: npt.NDArray[Any], labels: npt.NDArray[Any],
        number: int, stop: Stop,
    ) -> float:  # fmt: skip
        plan, moved = self._plan, 0.0
        for piece in self._pieces:
            _check(stop)
            moved += self._kernel.expect(
                self._layout, piece, self._weights, shares, cells, labels, plan.eta, plan.beta,
                plan.laid.n_words, plan.background,
            )  # fmt: skip
        return moved


class _Sampled:
    """Draws: a token array holds z."""

    mass = 0.0

    def __init__(self, plan: Plan, layout: Any, shard: int) -> None:
        from deplda.kernels import random, train_words

        self._kernel, self._plan, self._layout = train_words, plan, layout
        self._pieces = swept_pieces(layout)[1]
        key, self._gamma = random.stream(plan.seed, random.WORD_CHAIN, plan.chain)
        # Tokens are numbered through all shards; a stream moves on by adding to its key.
        before = sum(plan.laid.tokens[:shard])
        self._key = np.uint64((int(key) + before * int(self._gamma)) % 2**64)

    def start(self) -> tuple[npt.NDArray[Any], ...]:
        z = np.empty(self._layout.token_starts[-1], np.uint16)
        cells = np.empty(len(self._layout.cell_words), np.int32)
        labels = np.empty(self._plan.laid.n_labels, np.int64)
        self._kernel.start(self._layout, z, self._key, self._gamma)
        self._kernel.tally(self._layout, z, cells, labels)
        return z, cells, labels

    def saved_tokens(self, path: Path) -> npt.NDArray[Any]:
        z = OnDisk(path, np.uint16, int(self._layout.token_starts[-1]), PREPARE_ANEW)
        return z.below(labels_of_tokens(self._layout))

    def sweep(
        self, z: npt.NDArray[Any], cells: npt.NDArray[Any], labels: npt.NDArray[Any],
        number: int, stop: Stop,
    ) -> float:  # fmt: skip
        plan = self._plan
        for piece in self._pieces:
            _check(stop)
            self._kernel.sweep(
                self._layout, piece, z, cells, labels, plan.eta, plan.beta, plan.laid.n_words,
                self._key, self._gamma, number * sum(plan.laid.tokens),
            )  # fmt: skip
        return 0.0


def _check(stop: Stop) -> None:
    check_stop(stop)
