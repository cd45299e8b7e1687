"""The hybrid of shards: with one it is `fit`, and nothing that happens on the way changes a bit."""

import errno
import json
import shutil
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import (
    Corpus,
    EngineError,
    HybridLDA,
    InputError,
    ReadError,
    WordCounter,
    load,
    read_corpus,
)
from deplda.data.vocabulary import Vocabulary
from deplda.models import shard_features
from deplda.models.linear import shard_svms
from deplda.models.predict_shards import predict_shards
from deplda.training import passes, shard_layouts, shards
from tests.drawn_news import drawn_news
from tests.engine.clusters import kill_a_worker, separate_cluster
from tests.models.test_knows_names import world
from tests.training.worlds import in_shards, same

ONE_FOLD: dict[str, Any] = {"n_held_out": 40, "candidates": 8}


def quick(**others: Any) -> HybridLDA:
    return HybridLDA(**{"n_topic_chains": 2, "n_topic_sweeps": 10} | others)


@cache
def news() -> Corpus:
    return drawn_news(240).corpus


def assert_same(one: HybridLDA, other: HybridLDA) -> None:
    """Assert that two models are equal to the bit, but for the types of indices."""
    assert same(one.label_words_, other.label_words_)
    for left, right in (
        (one.weights_, other.weights_),
        (one._centroids.nearby.matrix, other._centroids.nearby.matrix),
        (one.label_sets_, other.label_sets_),
    ):
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
    assert (one.C_, one.n_candidates_, one.mixture_) == (
        other.C_, other.n_candidates_, other.mixture_
    )  # fmt: skip
    assert one.measures_ == other.measures_
    assert one.held_out_ == other.held_out_
    assert one.settings_ == other.settings_
    assert one.n_tokens_ == other.n_tokens_
    scores, expected = (model.decision_function(news()[:50]) for model in (one, other))
    np.testing.assert_array_equal(scores, expected)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return in_shards(news(), tmp_path_factory.mktemp("three") / "in", 3)


@cache
def undisturbed(source: Path) -> HybridLDA:
    return quick(**ONE_FOLD, n_jobs=1).fit_shards(source, source.parent / "undisturbed")


@pytest.mark.parametrize(
    "how",
    [
        ONE_FOLD,
        {"n_held_out": 120, "C": 1.0},
        {"n_held_out": 0},
        {"n_held_out": 40, "background": 0.0, "word_counts": "raw", "C": 0.3},
    ],
)
def test_one_shard_is_fit_bit_by_bit(how: Any, tmp_path: Path) -> None:
    source = in_shards(news(), tmp_path / "in", 1)
    ordinary = quick(**how).fit(read_corpus(source / "docs-0.jsonl"))
    from_disk = quick(**how).fit_shards(source, tmp_path / "scratch")
    assert_same(from_disk, ordinary)
    if how["n_held_out"]:
        found, expected = (model.predict_proba(news()[:20]) for model in (from_disk, ordinary))
        np.testing.assert_array_equal(found, expected)


def test_texts_with_the_names_of_labels_in_them_are_learned_from_as_in_fit(tmp_path: Path) -> None:
    texts, labels = world().texts, world().labels
    names = {concept.uri: concept.names["en"] for concept in world().vocabulary}
    lines = [
        json.dumps({"text": text, "labels": [names[uri] for uri in own]})
        for text, own in zip(texts, labels, strict=True)
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("\n".join(lines))
    how: Any = {"n_held_out": 260, "C": 1.0}
    told: Any = {"language": None, "min_count": 1, "stop_words": None}
    corpus = read_corpus(tmp_path / "in" / "a.jsonl", counter=WordCounter(**told))
    ordinary = quick(**how).fit(
        corpus, counter=WordCounter(**told).with_words(corpus.vocabulary, 1)
    )
    assert ordinary._names is not None
    model = quick(**how).fit_shards(tmp_path / "in", tmp_path / "s", counter=WordCounter(**told))
    new = world().new_texts[:20]
    for one, other in zip(model.suggest(new), ordinary.suggest(new), strict=True):
        assert one.labels.tolist() == other.labels.tolist()
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_threads_and_the_sizes_of_blocks_change_no_bit(
    three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = undisturbed(three)
    monkeypatch.setattr(shard_layouts, "_BLOCK_CELLS", 300)
    monkeypatch.setattr(shard_svms, "_MOST_PAIRS", 100)
    model = quick(**ONE_FOLD, n_jobs=2).fit_shards(three, tmp_path / "scratch")
    assert len(list((tmp_path / "scratch").glob("*-svms-*/block-*.npz"))) > 10
    assert_same(model, usual)
    large = model.weights_, model._centroids.nearby.matrix, model.label_words_.weights
    assert {matrix.indices.dtype for matrix in large} == {np.dtype(np.int32)}
    assert not shard_features._indexes


@pytest.mark.slow
def test_processes_change_no_bit(three: Path, tmp_path: Path) -> None:
    model = quick(**ONE_FOLD, engine="processes", n_jobs=2).fit_shards(three, tmp_path / "scratch")
    assert_same(model, undisturbed(three))


@pytest.mark.slow
def test_a_worker_killed_among_the_svms_changes_no_bit(
    three: Path, tmp_path: Path, client: Any
) -> None:
    def kill_in_the_middle() -> None:
        deadline = time.monotonic() + 600
        while not list((tmp_path / "scratch").glob("*-svms-*/block-*.npz")):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        kill_a_worker(client)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    model = quick(**ONE_FOLD, engine=client).fit_shards(three, tmp_path / "scratch")
    killer.join()
    assert_same(model, undisturbed(three))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["*/expected-*-00003-tokens.npy", "*-svms-*/block-*.npz"])
def test_a_killed_scheduler_is_told_and_the_next_run_goes_on_to_the_same_bits(
    pattern: str, three: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"

    def kill_in_the_middle(scheduler: Any) -> None:
        deadline = time.monotonic() + 600
        while not list(scratch.glob(pattern)):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        scheduler.kill()

    with separate_cluster(tmp_path / "first") as (address, scheduler):
        killer = threading.Thread(target=kill_in_the_middle, args=(scheduler,))
        killer.start()
        with pytest.raises(EngineError, match="run the same again"):
            quick(**ONE_FOLD, engine=address).fit_shards(three, scratch)
        killer.join()
    with separate_cluster(tmp_path / "second") as (address, _):
        model = quick(**ONE_FOLD, engine=address).fit_shards(three, scratch)
        assert_same(model, undisturbed(three))  # which asks both about documents


STAGES: dict[str, tuple[Any, str, int]] = {
    "numbering words": (shards, "_number", 2),
    "laying out": (shard_layouts, "_lay_out", 3),
    "indexing": (shard_layouts, "_index", 2),
    "sweeping without the fold": (passes, "_sweep_shard", 5),
    "adding up a pass": (passes, "_unite_block", 3),
    "between two passes": (passes, "_save_pass", 2),
    "weighing words": (shard_features, "_write_features", 2),
    "mean documents": (shard_features, "_write_block", 1),
    "indexes": (shard_features, "save_index", 2),
    "ranking candidates": (shard_svms, "_pair_up", 2),
    "training SVMs": (shard_svms, "_solve_block", 2),
    "weighing words of all": (shard_features, "_write_features", 5),
    "ranking candidates for all": (shard_svms, "_pair_up", 6),
}


def interrupted(function: Callable[..., Any], call: int, error: BaseException) -> Any:
    """Return a function that ends with an error the n-th time it is called."""
    calls = 0

    def work(*arguments: Any, **others: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return function(*arguments, **others)

    return work


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_was_cut_off_goes_on_to_the_same_bits(
    stage: str, three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name, call = STAGES[stage]
    with monkeypatch.context() as patch:
        patch.setattr(module, name, interrupted(getattr(module, name), call, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            quick(**ONE_FOLD, n_jobs=1).fit_shards(three, tmp_path / "scratch")
    assert_same(quick(**ONE_FOLD).fit_shards(three, tmp_path / "scratch"), undisturbed(three))


@pytest.mark.parametrize("call", [1, 30, 60])
def test_a_full_disk_is_told_and_nothing_is_lost(
    call: int, three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(np, "save", interrupted(np.save, call, full))
        with pytest.raises(OSError, match="No space left on device"):
            quick(**ONE_FOLD, n_jobs=1).fit_shards(three, tmp_path / "scratch")
    assert_same(quick(**ONE_FOLD).fit_shards(three, tmp_path / "scratch"), undisturbed(three))


@pytest.mark.parametrize(
    "pattern",
    [
        "shard-00001/words.npz", "shard-00002/labels.npz", "lesson-????????????-values.npy",
        "lesson-????????????-starts.npy", "shard-00001/lesson-*-pairs-8-rows.npy",
        "shard-00001/lesson-*-pairs-8-starts.npy", "lesson-*-near-labels.npy",
        "lesson-*-beside-starts.npy", "lesson-*-lengths.npy", "lesson-*-svms-*/block-00000.npz",
    ],
)  # fmt: skip
def test_a_damaged_file_is_named_with_what_to_do(
    pattern: str, three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed(three)
    scratch = tmp_path / "scratch"
    shutil.copytree(three.parent / "undisturbed", scratch)
    if "svms" not in pattern:  # what was made of a file is not made of it again
        for path in scratch.glob("lesson-*-svms-*"):
            shutil.rmtree(path)
        for path in scratch.glob("shard-*/lesson-*-pairs-*"):
            if "pairs" not in pattern:
                path.unlink()
    monkeypatch.setattr(shard_features, "_indexes", type(shard_features._indexes)())
    files = sorted(scratch.glob(pattern))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ReadError, match="prepare them anew"):
        quick(**ONE_FOLD).fit_shards(three, scratch)


def test_it_is_saved_and_predicts_and_explains_like_any_other(three: Path, tmp_path: Path) -> None:
    model = undisturbed(three)
    model.save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    assert_same(again, model)
    assert again.score(news()) > 0.9
    manifest = predict_shards(tmp_path / "model", three, tmp_path / "out", k=3)
    assert manifest.documents == 240
    reasons = again.explain(news()[[0]], k=2).reasons
    assert len(reasons) == 2
    ordinary = quick(**ONE_FOLD).fit(news())
    assert abs(model.score(news()) - ordinary.score(news())) < 0.02


def test_files_without_labels_are_legal(three: Path, tmp_path: Path) -> None:
    shutil.copytree(three, tmp_path / "in")
    (tmp_path / "in" / "z-unlabelled.jsonl").write_text('{"counts": {"tax": 2}, "labels": []}\n')
    model = quick(**ONE_FOLD).fit_shards(tmp_path / "in", tmp_path / "scratch")
    assert model.label_sets_.shape[0] == 241
    assert model.score(news()) > 0.9


def test_it_learns_on_from_more_documents(three: Path) -> None:
    model = deepcopy(undisturbed(three))
    model.partial_fit(news()[:20])
    assert model.label_sets_.shape[0] == 260


def test_what_shards_cannot_be_learned_with_is_named(three: Path, tmp_path: Path) -> None:
    counter = WordCounter(names=Vocabulary([]))
    with pytest.raises(InputError, match="names of a vocabulary"):
        quick().fit_shards(three, tmp_path / "s", counter=counter)
