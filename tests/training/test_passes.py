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
from deplda.training.shard_layouts import Kind, Laid, lay_out_shards, read_block
from deplda.training.shards import prepare, read_labels, without_words
from tests.engine.clusters import kill_a_worker
from tests.training.worlds import in_shards, same

QUICK: dict[str, Any] = {"n_chains": 2, "n_sweeps": 5}


def laid_out(source: Path, folder: Path, kind: Kind = "expected", **how: Any) -> Laid:
    return lay_out_shards(folder, prepare(source, folder), kind, **how)


@pytest.fixture(scope="module")
def news() -> Corpus:
    return newsroom(300, seed=4).corpus


@pytest.mark.parametrize("method", ["deterministic", "sampled"])
def test_one_shard_is_the_ordinary_trainer_bit_by_bit(
    method: Any, news: Corpus, tmp_path: Path
) -> None:
    source = in_shards(news, tmp_path / "in", 1)
    corpus = read_corpus(source / "docs-0.jsonl")
    quick = QUICK if method == "sampled" else {}
    for kind in (FlatLDA, PriorLDA):
        ordinary = kind(fit_method=method, **quick, n_held_out=0).fit(corpus)
        from_disk = kind(fit_method=method, **quick).fit_shards(source, tmp_path / "scratch")
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
        pattern = f"shard-00003/*-{1 if method == 'deterministic' else 4:05}-tokens.npy"
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
    undisturbed = train_shards(laid_out(source, tmp_path / "whole", "sampled"), n_sweeps=6)
    laid = laid_out(source, tmp_path / "cut", "sampled")
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
            train_shards(laid, n_sweeps=6, execution=Execution(n_jobs=1))
    swept = []

    def noted(*arguments: Any) -> Any:
        swept.append(arguments[1])
        return sweep(*arguments)

    monkeypatch.setattr(sharded, "_sweep_shard", noted)
    assert same(train_shards(laid, n_sweeps=6), undisturbed)
    assert min(swept) == 3


def test_of_all_passes_the_counts_of_the_last_are_left(news: Corpus, tmp_path: Path) -> None:
    laid = laid_out(in_shards(news, tmp_path / "in", 3), tmp_path / "scratch")
    before = {*(tmp_path / "scratch").rglob("*")}
    expect_shards(laid, max_sweeps=4, tolerance=0.0)
    left = {path.name for path in {*(tmp_path / "scratch").rglob("*")} - before}
    (name,) = {path.rpartition("-00004")[0] for path in left}
    blocks = {f"{name}-00004-all-{block:05}.npy" for block in laid.blocks}
    assert left == {f"{name}-00004.npz", *blocks}


def test_the_counts_of_words_add_up_to_those_of_labels(news: Corpus, tmp_path: Path) -> None:
    source = in_shards(news, tmp_path / "in", 3)
    laid = laid_out(source, tmp_path / "scratch", "sampled")
    n_tokens = int(news.document_lengths[news.labels_per_document > 0].sum())
    plan = sharded._plan(laid, "sampled", 50.0, 0.01, ())
    for done in sharded.run_passes(plan, 5):
        assert int(done.label_counts.sum()) == n_tokens
        for block in laid.blocks:
            starts = read_block(laid, block).starts
            cells = np.load(plan.cells(block, done.number, "all"))
            sums = np.add.reduceat(np.append(cells, 0), starts[:-1])
            sums[np.diff(starts) == 0] = 0
            own = slice(*laid.cuts[block : block + 2])
            np.testing.assert_array_equal(sums, done.label_counts[own])


@pytest.mark.parametrize(
    "how", [{"word_counts": "log"}, {"word_counts": "raw", "background": 0.2}, {}]
)
def test_documents_left_out_teach_nothing(how: Any, news: Corpus, tmp_path: Path) -> None:
    source = in_shards(news, tmp_path / "in", 1)
    corpus = read_corpus(source / "docs-0.jsonl")
    left_out = np.arange(0, 300, 7)
    ready = prepare(source, tmp_path / "scratch")
    every = read_labels(tmp_path / "scratch", ready)
    rest = np.delete(np.arange(300), left_out)
    ordinary = PriorLDA(**how, n_held_out=0).fit(corpus[rest])
    model = PriorLDA(**how, n_held_out=0)
    model._begin_fit(without_words(ready, every)[rest], None, None)
    model._learn_shards(tmp_path / "scratch", ready, every, left_out)
    assert same(model.label_words_, ordinary.label_words_)
    assert model.settings_ == ordinary.settings_


def test_shards_without_labels_are_legal_and_all_of_them_are_not(
    news: Corpus, tmp_path: Path
) -> None:
    source = in_shards(news[:40], tmp_path / "in", 1)
    (source / "unlabelled.jsonl").write_text('{"counts": {"tax": 2}, "labels": []}\n')
    phi = expect_shards(laid_out(source, tmp_path / "scratch"))
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
        (expect_shards(laid_out(source, tmp_path / "scratch")), expect_label_words(aligned)),
        (
            train_shards(
                laid_out(source, tmp_path / "scratch", "sampled"), n_chains=2, n_sweeps=20
            ),
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
    "shard-00001/{layout}-cells.npy": [lambda cells: cells + 10**8],
    "shard-00001/{layout}-labels.npy": [lambda labels: labels - 1],
    "shard-00001/{layout}-times.npy": [lambda times: times * 1000, lambda times: times[1:]],
    "shard-00001/{layout}-entry_starts.npy": [lambda starts: starts[::-1]],
    "shard-00001/{layout}-grid_starts.npy": [lambda starts: starts // 2 * 2],
    "shard-00001/{layout}-token_starts.npy": [lambda starts: np.sort(starts // 2 * 2)],
    "shard-00001/{layout}-cell_words.npy": [lambda words: words + 10**6, lambda words: words[:-1]],
    "shard-00001/{layout}-cell_starts.npy": [
        lambda starts: starts[::-1],
        lambda starts: starts[1:],
    ],
    "shard-00001/{name}-00002-tokens.npy": [
        lambda tokens: tokens + np.uint16(60_000),
        lambda tokens: tokens[1:],
    ],
    "{name}-00002-seen-00000.npy": [lambda counts: counts[1:], lambda counts: counts / 2],
    "{name}-00002.npz": [
        crafted("labels", lambda labels: labels[1:]),
        lambda arrays: arrays.pop("moved"),
    ],
    # From here on both shards are swept, and what they leave is added up.
    "{layout}-block-00000-places.npy": [
        lambda places: places + 10**8,
        lambda places: places[:-1],
    ],
    "{layout}-block-00000-words.npy": [lambda words: words + 10**6],
    "{layout}-block-00000-starts.npy": [lambda starts: starts[::-1]],
    "shard-00000/{layout}-cell_starts.npy": [lambda starts: np.maximum(starts - 1, 0)],
    "{name}-00002-all-00000.npy": [lambda counts: counts[1:], lambda counts: counts[:, None]],
}


def test_crafted_shards_are_refused_before_a_kernel_sees_them(news: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    laid = laid_out(in_shards(news, tmp_path / "in", 2), folder, "sampled")
    plan = sharded._plan(laid, "sampled", 50.0, 0.01, (3,))
    list(sharded.run_passes(plan, 2))

    def assert_refused() -> None:
        with pytest.raises(ReadError, match="prepare them anew"):
            list(sharded.run_passes(plan, 3))

    for place, crafts in CRAFTED.items():
        file = folder / place.format(name=plan.name, layout=laid.name)
        whole = file.read_bytes()
        for craft in crafts:
            if file.suffix == ".npy":
                np.save(file, craft(np.load(file)))
            else:
                with np.load(file) as saved:
                    changed = dict(saved)
                craft(changed)
                np.savez(file, **changed)
            assert_refused()
            file.write_bytes(whole)
        file.write_bytes(whole[: len(whole) // 2])
        assert_refused()
        file.write_bytes(whole)
    assert [done.number for done in sharded.run_passes(plan, 3)] == [2, 3]
