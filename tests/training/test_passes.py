"""Training on shards that stay on disk: with one it is the ordinary trainer, bit by bit."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import (
    Corpus,
    FlatLDA,
    InputError,
    PriorLDA,
    ReadError,
    expect_label_words,
    read_corpus,
    train_label_words,
)
from deplda.data.datasets import newsroom
from deplda.engine.execution import Execution
from deplda.training import passes as sharded
from deplda.training.chains import Schedule
from deplda.training.passes import expect_shards, train_shards
from deplda.training.shards import prepare
from tests.engine.clusters import kill_a_worker
from tests.training.worlds import in_shards, same

QUICK: dict[str, Any] = {"n_chains": 2, "n_sweeps": 5}


@pytest.fixture(scope="module")
def news() -> Corpus:
    return newsroom(300, seed=4).corpus


@pytest.mark.parametrize("method", ["deterministic", "sampled"])
def test_one_shard_is_the_ordinary_trainer_bit_by_bit(
    method: Any, news: Corpus, tmp_path: Path
) -> None:
    source = in_shards(news, tmp_path / "in", 1)
    corpus = read_corpus(source / "docs-0.jsonl")
    for kind in (FlatLDA, PriorLDA):
        ordinary = kind(fit_method=method, **QUICK, n_held_out=0).fit(corpus)
        from_disk = kind(fit_method=method, **QUICK).fit_shards(source, tmp_path / "scratch")
        assert same(from_disk.label_words_, ordinary.label_words_)
        assert from_disk.settings_ == ordinary.settings_
        assert from_disk.n_tokens_ == ordinary.n_tokens_
        assert (from_disk.rank(news, 3).labels == ordinary.rank(news, 3).labels).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["deterministic", "sampled"])
def test_engines_and_lost_workers_change_no_bit(
    method: str, news: Corpus, client: Any, tmp_path: Path
) -> None:
    source = in_shards(news, tmp_path / "in", 4)
    plan: dict[str, Any] = {"fit_method": method, "n_chains": 1, "n_sweeps": 15}
    near = FlatLDA(**plan).fit_shards(source, tmp_path / "near")

    def kill_in_the_middle() -> None:
        pattern = f"shard-00003/*-{1 if method == 'deterministic' else 4:05}.npz"
        deadline = time.monotonic() + 600
        while not list((tmp_path / "far").glob(pattern)):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        kill_a_worker(client)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    far = FlatLDA(**plan, engine=client).fit_shards(source, tmp_path / "far")
    killer.join()
    assert same(far.label_words_, near.label_words_)


def test_a_run_that_was_cut_off_goes_on_to_the_same_bits(
    news: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = in_shards(news, tmp_path / "in", 3)
    ready = prepare(source, tmp_path / "whole")
    undisturbed = train_shards(tmp_path / "whole", ready, n_sweeps=6)
    prepare(source, tmp_path / "cut")
    sweep, calls = sharded._sweep_shard, 0

    def cut_off(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 11:  # the second shard of a pass
            raise KeyboardInterrupt
        return sweep(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(sharded, "_sweep_shard", cut_off)
        with pytest.raises(KeyboardInterrupt):
            train_shards(tmp_path / "cut", ready, n_sweeps=6, execution=Execution(n_jobs=1))
    swept = []

    def noted(*arguments: Any) -> Any:
        swept.append(arguments[1])
        return sweep(*arguments)

    monkeypatch.setattr(sharded, "_sweep_shard", noted)
    assert same(train_shards(tmp_path / "cut", ready, n_sweeps=6), undisturbed)
    assert min(swept) == 3


def test_what_is_sent_is_what_changed(news: Corpus, tmp_path: Path) -> None:
    source = in_shards(news, tmp_path / "in", 3)
    ready = prepare(source, tmp_path / "scratch")
    plan = sharded._plan(tmp_path / "scratch", ready, "sampled", 50.0, 0.01, 0, 0, ())
    passes = list(sharded.run_passes(plan, 30))
    assert passes[0].sent == 0
    assert passes[-1].returned < 0.7 * passes[0].returned  # chains settle: most counts stay
    totals = {int(done.cell_counts.sum()) for done in passes}
    assert totals == {int(news.document_lengths[news.labels_per_document > 0].sum())}
    for done in passes:  # the counts of words add up to those of labels
        starts = sharded.cells_of(plan).starts
        sums = np.add.reduceat(np.append(done.cell_counts, 0), starts[:-1])
        sums[np.diff(starts) == 0] = 0
        assert (sums == done.label_counts).all()


def test_shards_without_labels_are_legal_and_all_of_them_are_not(
    news: Corpus, tmp_path: Path
) -> None:
    source = in_shards(news[:40], tmp_path / "in", 1)
    (source / "unlabelled.jsonl").write_text('{"counts": {"tax": 2}, "labels": []}\n')
    ready = prepare(source, tmp_path / "scratch")
    phi = expect_shards(tmp_path / "scratch", ready)
    assert phi.dense().sum(axis=0) == pytest.approx(1, abs=1e-5)
    (source / "docs-0.jsonl").unlink()
    with pytest.raises(InputError, match="nothing to learn"):
        FlatLDA().fit_shards(source, tmp_path / "other")


@pytest.mark.slow
def test_many_shards_are_as_good_as_one(news: Corpus, tmp_path: Path) -> None:
    source = in_shards(news, tmp_path / "in", 4)
    ready = prepare(source, tmp_path / "scratch")
    aligned = news.align(Corpus(np.zeros((0, len(ready.words))), np.zeros((0, len(ready.labels))),
                                ready.words, ready.labels))  # fmt: skip
    for ours, theirs in (
        (expect_shards(tmp_path / "scratch", ready), expect_label_words(aligned)),
        (
            train_shards(tmp_path / "scratch", ready, n_chains=2, n_sweeps=20),
            train_label_words(aligned, n_chains=2, schedule=Schedule(20)),
        ),
    ):
        distance = 0.5 * np.abs(ours.dense() - theirs.label_words.dense()).sum(axis=0)
        assert np.median(distance) < 0.25


def crafted(name: str, change: Any) -> Any:
    def craft(arrays: dict[str, Any]) -> None:
        arrays[name] = change(arrays[name])

    return craft


CRAFTED: dict[str, list[Any]] = {
    "shard-00001/layout.npz": [
        crafted("cells", lambda cells: cells + 10**8),
        crafted("labels", lambda labels: labels - 1),
        crafted("times", lambda times: times * 1000),
        crafted("entry_starts", lambda starts: starts[::-1]),
        crafted("grid_starts", lambda starts: starts // 2 * 2),
        crafted("cell_words", lambda words: words + 10**6),
        lambda arrays: arrays.pop("token_starts"),
    ],
    "shard-00001/places.npz": [
        crafted("places", lambda places: places + 10**8),
        crafted("places", lambda places: places[:-1]),
    ],
    "shard-00001/{name}-00002.npz": [
        crafted("tokens", lambda tokens: tokens + 60_000),
        crafted("tokens", lambda tokens: tokens[1:]),
        crafted("seen_cells", lambda counts: -counts - 1),
        crafted("seen_labels", lambda counts: counts[1:]),
    ],
    "{name}-00002.npz": [
        crafted("all_cells", lambda counts: counts[1:]),
        crafted("labels", lambda labels: labels + 10**6),
        lambda arrays: arrays.pop("cell_counts"),
    ],
}


def test_crafted_shards_are_refused_before_a_kernel_sees_them(news: Corpus, tmp_path: Path) -> None:
    source, folder = in_shards(news, tmp_path / "in", 2), tmp_path / "scratch"
    ready = prepare(source, folder)
    plan = sharded._plan(folder, ready, "sampled", 50.0, 0.01, 0, 0, (3,))
    list(sharded.run_passes(plan, 2))
    for place, crafts in CRAFTED.items():
        file = folder / place.format(name=plan.name)
        whole = file.read_bytes()
        with np.load(file) as saved:
            arrays = dict(saved)
        for craft in crafts:
            changed = dict(arrays)
            craft(changed)
            np.savez(file, **changed)
            with pytest.raises(ReadError, match="prepare them anew"):
                list(sharded.run_passes(plan, 3))
        file.write_bytes(whole)
    keys = np.load(folder / "cells.npy")
    np.save(folder / "cells.npy", keys[::-1])
    with pytest.raises(ReadError, match="do not rise from 0"):
        sharded.cells_of(plan)
