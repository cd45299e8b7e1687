"""The same bits from threads, processes and a cluster, whatever happens to its workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import pytest

from deplda import (
    Corpus,
    DependencyLDA,
    FlatLDA,
    HybridLDA,
    InputError,
    PriorLDA,
    Schedule,
    TfidfSVM,
    TunedSVM,
    load,
    train_label_words,
    train_topic_labels,
)
from deplda.data.datasets import newsroom
from deplda.engine.execution import Execution
from deplda.errors import EngineError
from tests.engine import work
from tests.engine.clusters import kill_a_worker


@pytest.fixture(scope="module")
def news() -> Corpus:
    return newsroom(200, seed=4).corpus


QUICK: dict[str, Any] = {"n_chains": 3, "n_sweeps": 5}
SAMPLES: dict[str, Any] = {"burn_in": 3, "n_samples": 2, "lag": 2}
MODELS: dict[str, Any] = {
    "flat": lambda **options: FlatLDA(**QUICK, **options),
    "prior": lambda **options: PriorLDA(**QUICK, **options),
    "dependency": lambda **options: DependencyLDA(
        n_topics=6, n_topic_chains=2, n_topic_sweeps=10, **QUICK, **options
    ),
}


def learned(model: Any) -> bytes:
    parts = [model.label_words_, *model.topic_labels_]
    return b"".join(part.weights.data.tobytes() + part.base.tobytes() for part in parts)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", ["processes", "cluster"])
def test_every_engine_gives_the_same_bits(
    name: str, engine: str, news: Corpus, client: Any
) -> None:
    where = client if engine == "cluster" else engine
    near = MODELS[name](fit_method="sampled").fit(news)
    far = MODELS[name](fit_method="sampled", engine=where).fit(news)
    assert learned(far) == learned(near)
    for inference in ("deterministic", "sampled"):
        near.set_params(inference=inference, **SAMPLES)
        far.set_params(inference=inference, **SAMPLES)
        assert far.decision_function(news).tobytes() == near.decision_function(news).tobytes()
        ours, theirs = near.rank(news, k=3), far.rank(news, k=3)
        assert ours.scores.tobytes() == theirs.scores.tobytes()
        assert (ours.labels == theirs.labels).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [TunedSVM, TfidfSVM, HybridLDA])
@pytest.mark.parametrize("engine", ["processes", "cluster"])
def test_every_engine_gives_the_same_svms(
    kind: Any, engine: str, news: Corpus, client: Any
) -> None:
    less: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5} if kind is HybridLDA else {}
    near = kind(**less).fit(news)
    far = kind(**less, engine=client if engine == "cluster" else engine).fit(news)
    assert far.decision_function(news).tobytes() == near.decision_function(news).tobytes()
    assert (far.rank(news, k=3).labels == near.rank(news, k=3).labels).all()


def test_an_address_will_do_and_a_model_forgets_its_cluster_when_saved(
    news: Corpus, client: Any, tmp_path: Path
) -> None:
    model = FlatLDA(engine=client.scheduler.address).fit(news)
    scores = model.decision_function(news)
    model.set_params(engine=client).save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    assert again.engine == "threads"
    assert again.decision_function(news).tobytes() == scores.tobytes()


@pytest.mark.slow
def test_chains_resume_on_a_cluster_from_what_was_saved_on_threads(
    news: Corpus, client: Any, tmp_path: Path
) -> None:
    plan: dict[str, Any] = {"n_chains": 2, "schedule": Schedule(20), "n_topics": 5}
    near = train_topic_labels(news, checkpoint=tmp_path / "run", **plan)
    (tmp_path / "run" / "chain-0001.npz").unlink()
    far = train_topic_labels(news, checkpoint=tmp_path / "run", resume=True, engine=client, **plan)
    assert (tmp_path / "run" / "chain-0001.npz").exists()
    for ours, theirs in zip(near.topic_labels, far.topic_labels, strict=True):
        assert ours.dense().tobytes() == theirs.dense().tobytes()


@pytest.mark.slow
def test_an_error_at_a_worker_is_the_one_that_is_raised(client: Any) -> None:
    with pytest.raises(InputError, match="n_jobs is -7"):
        list(Execution(client, 1).map(work.failing, [-7]))


def test_work_on_a_cluster_ends_when_it_is_no_longer_wanted(client: Any, tmp_path: Path) -> None:
    def interrupt() -> None:
        try:
            wait_until((tmp_path / "begun").exists)
        finally:  # whatever happens, the test must not wait for ever
            os.kill(os.getpid(), signal.SIGINT)

    usual = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a test runner may have its own
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            next(Execution(client).map(work.until_stopped, [0], tmp_path))
    finally:
        signal.signal(signal.SIGINT, usual)
    wait_until((tmp_path / "stopped").exists)


@pytest.mark.slow
def test_a_lost_worker_costs_no_bits(news: Corpus, client: Any) -> None:
    plan: dict[str, Any] = {"n_chains": 4, "schedule": Schedule(3_000), "seed": 2}
    near = train_label_words(news, **plan).label_words
    killer = threading.Timer(0.5, kill_a_worker, [client])
    killer.start()
    far = train_label_words(news, engine=client, **plan).label_words
    assert not killer.is_alive(), "it was killed while chains were running"
    assert far.weights.data.tobytes() == near.weights.data.tobytes()


@pytest.mark.slow
def test_data_lost_with_every_worker_are_sent_again(client: Any) -> None:
    results = Execution(client).map(work.slowly, range(6), 1.0)
    assert next(results) == 0
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)
    assert list(results) == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_work_that_kills_every_worker_is_given_up(client: Any) -> None:
    with pytest.raises(EngineError, match="worker"):  # lost ones, or by then none at all
        list(Execution(client).map(work.deadly, range(1)))


def test_a_cluster_that_does_not_answer_is_named() -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(EngineError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"),
    ):
        list(Execution("tcp://127.0.0.1:9").map(work.slowly, [1], 0.0))


def test_without_dask_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["distributed"] = None
from deplda.engine.execution import Execution
try:
    next(Execution("tcp://127.0.0.1:9").map(print, [1]))
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("InputError")
    assert "pip install 'deplda[dask]'" in done.stdout


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
