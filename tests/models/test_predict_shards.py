"""A folder of shards predicted: parts that are whole, kept, and the same whoever made them."""

import json
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client

from deplda import (
    Corpus,
    FlatLDA,
    InputError,
    PriorLDA,
    ReadError,
    WordCounter,
    write_jsonl,
    write_svmlight,
)
from deplda.data.datasets import newsroom
from deplda.engine import dask as engine_dask
from deplda.errors import EngineError
from deplda.models.base import LabelClassifier
from deplda.models.predict_shards import Manifest, predict_shards
from deplda.models.suggesting import Asked, answers_of
from tests.engine.clusters import Cluster, kill_a_worker
from tests.models.lethal import LethalJob


@pytest.fixture(scope="module")
def news() -> Corpus:
    return newsroom(300, seed=4).corpus


@pytest.fixture(scope="module")
def model(news: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "news"
    PriorLDA(inference="sampled", n_test_chains=2, burn_in=20, n_samples=5).fit(news).save(path)
    return path


@pytest.fixture
def shards(news: Corpus, tmp_path: Path) -> Path:
    """Make six JSONL shards of 50 documents."""
    (tmp_path / "in").mkdir()
    for number in range(6):
        rows = news[50 * number : 50 * (number + 1)]
        write_jsonl(rows, tmp_path / "in" / f"docs-{number}.jsonl{'.gz' * (number % 2)}")
    return tmp_path / "in"


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.labels.jsonl"))}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.slow
def test_every_engine_writes_the_same_parts_and_they_are_what_the_model_says(
    model: Path, shards: Path, news: Corpus, client: Any, tmp_path: Path
) -> None:
    near = predict_shards(model, shards, tmp_path / "near", k=3)
    far = predict_shards(model, shards, tmp_path / "far", k=3, engine=client)
    other = predict_shards(model, shards, tmp_path / "other", k=3, engine="processes")
    assert parts(tmp_path / "near") == parts(tmp_path / "far") == parts(tmp_path / "other")
    assert near.parts == far.parts == other.parts
    assert near.documents == len(news) == 300
    assert json.loads((tmp_path / "far" / "manifest.json").read_bytes())["documents"] == 300
    for part in near.parts:
        assert sha256((tmp_path / "near" / part.file).read_bytes()).hexdigest() == part.sha256
    said = answers_of(PriorLDA.load(model), news.counts, Asked(k=3))
    found = [line for part in near.parts for line in lines(tmp_path / "near" / part.file)]
    assert found == [{"id": id} | own for id, own in zip(news.ids, said, strict=True)]
    assert all("probability" in each for line in found for each in line["labels"])


def test_finished_parts_are_kept_and_those_that_are_no_longer_good_are_made_again(
    model: Path, shards: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    first = predict_shards(model, shards, target, k=2)
    before = {path: path.stat().st_mtime_ns for path in target.glob("*.jsonl")}

    def made_again() -> set[str]:
        times = {path: path.stat().st_mtime_ns for path in target.glob("*.jsonl")}
        changed = {path.name for path in times if times[path] != before[path]}
        before.update(times)
        return changed

    assert predict_shards(model, shards, target, k=2) == first
    assert made_again() == set()
    write_jsonl(newsroom(10, seed=8).corpus, shards / "docs-0.jsonl")
    (target / "docs-2.jsonl.labels.jsonl").write_bytes(b"cut off")
    assert predict_shards(model, shards, target, k=2).documents == 300 - 50 + 10
    assert made_again() == {"docs-0.jsonl.labels.jsonl", "docs-2.jsonl.labels.jsonl"}
    predict_shards(model, shards, target, k=1)
    fewer = lines(target / "docs-0.jsonl.labels.jsonl")
    assert max(len(line["labels"]) for line in fewer) == 1
    predict_shards(model, shards, target, cutoff=3)
    more = lines(target / "docs-0.jsonl.labels.jsonl")
    assert {len(line["labels"]) for line in more} == {3}
    assert len(made_again()) == 6
    PriorLDA(random_state=9).fit(newsroom(100, seed=9).corpus).save(tmp_path / "other")
    predict_shards(tmp_path / "other", shards, target, cutoff=3)
    assert len(made_again()) == 6


def test_svmlight_and_parquet_shards_are_read_by_names_or_by_numbers(
    news: Corpus, model: Path, tmp_path: Path
) -> None:
    pandas = pytest.importorskip("pandas")
    source, some = tmp_path / "in", news[:40]
    source.mkdir()
    # Beside the first are its own words, in another order; the second has the model's numbers.
    words = sorted(some.vocabulary, key=lambda word: word[::-1])
    empty = Corpus(np.zeros((1, len(words))), np.zeros((1, 0)), words)
    write_svmlight(some.align(empty), source / "named.svm")
    write_svmlight(some, source / "numbered.svm")
    for name in ("vocab", "ids", "labels"):
        (source / f"numbered.{name}.txt").unlink()
    rows = [
        {"id": id, "tokens": [some.vocabulary[w] for w in np.repeat(row.indices, row.data)]}
        for id, row in ((id, some.counts[[d]]) for d, id in enumerate(some.ids))
    ]
    pandas.DataFrame(rows).to_parquet(source / "table.parquet")
    predict_shards(model, source, tmp_path / "out", k=2)
    expected = [one.labels.tolist() for one in PriorLDA.load(model).suggest(some, 2, "validated")]
    for name in ("named.svm", "numbered.svm", "table.parquet"):
        found = lines(tmp_path / "out" / f"{name}.labels.jsonl")
        assert [[each["label"] for each in line["labels"]] for line in found] == expected, name


@pytest.mark.slow
def test_a_lost_worker_costs_no_document(
    model: Path, shards: Path, client: Any, tmp_path: Path
) -> None:
    predict_shards(model, shards, tmp_path / "near")

    def kill_in_the_middle() -> None:
        wait_for(tmp_path / "far" / ".finished" / "docs-2.jsonl.journal")
        kill_a_worker(client)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    manifest = predict_shards(model, shards, tmp_path / "far", engine=client)
    killer.join()
    assert manifest.failed_documents == []
    assert parts(tmp_path / "far") == parts(tmp_path / "near")
    assert not list((tmp_path / "far" / ".finished").glob("*.journal"))


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 600
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.002)


# Failed documents -------------------------------------------------------------------------------


def test_lines_that_hold_no_document_are_named_and_the_rest_is_predicted(
    model: Path, shards: Path, tmp_path: Path
) -> None:
    whole = predict_shards(model, shards, tmp_path / "whole", k=2)
    path = shards / "docs-0.jsonl"
    good = path.read_bytes().splitlines(keepends=True)
    twice = json.dumps({"id": json.loads(good[0])["id"], "counts": {}}).encode()
    bad = [b"{oops\n", b'{"id": "x7", "counts": {"tax": -1}}\n', b"\xff\n", twice + b"\n"]
    path.write_bytes(b"".join([*good[:9], *bad, *good[9:]]))
    manifest = predict_shards(model, shards, tmp_path / "out", k=2)
    assert parts(tmp_path / "out") == parts(tmp_path / "whole")
    assert manifest.documents == whole.documents
    found = {(each.shard, each.line, each.id) for each in manifest.failed_documents}
    names = [None, "x7", None, json.loads(good[0])["id"]]
    assert found == {("docs-0.jsonl", 10 + n, id) for n, id in enumerate(names)}
    assert "counts must be whole numbers" in manifest.failed_documents[1].problem


def test_empty_documents_are_answered_without_labels(
    model: Path, shards: Path, tmp_path: Path
) -> None:
    for name, content in (
        ("a.jsonl", '{"id": "e", "counts": {}}\n{"id": "u", "counts": {"zzz": 1}}\n'),
        ("b.svm", "0\n0 0:1\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text(content)
        predict_shards(model, tmp_path / name, tmp_path / "out", k=1)
        empty, other = map(
            json.loads, (tmp_path / "out" / f"{name}.labels.jsonl").read_text().splitlines()
        )
        assert empty.pop("id") in ("e", "0")
        assert empty == {"labels": [], "n_known": 0, "empty": True}
        if name.endswith("jsonl"):
            assert other == {"id": "u", "labels": [], "n_known": 0, "out_of_vocabulary": True}
        else:
            assert len(other["labels"]) == 1


def test_numbered_words_are_known_by_their_numbers_where_training_dropped_some(
    tmp_path: Path,
) -> None:
    corpus = Corpus(np.eye(8)[[1, 3, 7, 7]], np.eye(3)[[0, 1, 2, 2]])
    model = FlatLDA().fit(corpus.keep_words(1))
    model.save(tmp_path / "model")
    (tmp_path / "in").mkdir()
    write_svmlight(corpus, tmp_path / "in" / "a.svm")
    for beside in (tmp_path / "in").glob("a.*.txt"):
        beside.unlink()
    manifest = predict_shards(tmp_path / "model", tmp_path / "in", tmp_path / "out", k=1)
    assert manifest.failed_documents == []
    found = lines(tmp_path / "out" / "a.svm.labels.jsonl")
    assert [line["labels"][0]["label"] for line in found] == [
        "label0",
        "label1",
        "label2",
        "label2",
    ]


def test_bad_lines_of_svmlight_are_named_by_row_and_the_rest_is_predicted(
    news: Corpus, model: Path, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    source.mkdir()
    write_svmlight(news[:20], source / "a.svm")
    predict_shards(model, source, tmp_path / "whole", k=2)
    rows = (source / "a.svm").read_text().splitlines()
    rows[5] = "1 2:x"
    (source / "a.svm").write_text("\n".join(rows) + "\n")
    manifest = predict_shards(model, source, tmp_path / "out", k=2)
    assert [(each.line, each.id) for each in manifest.failed_documents] == [(6, news.ids[4])]
    expected = parts(tmp_path / "whole")["a.svm.labels.jsonl"].splitlines()
    assert parts(tmp_path / "out")["a.svm.labels.jsonl"].splitlines() == expected[:4] + expected[5:]


def test_a_shard_that_cannot_be_read_is_named_and_the_others_are_predicted(
    model: Path, shards: Path, tmp_path: Path
) -> None:
    (shards / "docs-3.jsonl.gz").write_bytes(b"\x1f\x8b damaged")
    (shards / "bad.csv").write_text("a,b\n1,2\n")
    manifest = predict_shards(model, shards, tmp_path / "out", k=1)
    assert manifest.documents == 250
    assert manifest.failed.keys() == {"docs-3.jsonl.gz", "bad.csv"}
    assert "gzip data is damaged" in manifest.failed["docs-3.jsonl.gz"]


def test_a_document_that_makes_the_model_fail_is_named(
    model: Path, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggest = LabelClassifier._likeliest

    def fail(self: Any, x: Any, *asked: Any) -> Any:
        if (x.data == 666).any():
            raise MemoryError("no room")
        return suggest(self, x, *asked)

    monkeypatch.setattr(LabelClassifier, "_likeliest", fail)
    with_a_beast(shards)
    manifest = predict_shards(model, shards, tmp_path / "out", k=1)
    assert [(each.shard, each.id) for each in manifest.failed_documents] == [
        ("docs-4.jsonl", "beast")
    ]
    assert manifest.failed_documents[0].problem == "MemoryError: no room"
    assert manifest.documents == 300


def with_a_beast(shards: Path) -> None:
    """Put a document in the middle of a shard at which workers are made to fail."""
    path = shards / "docs-4.jsonl"
    good = path.read_bytes().splitlines(keepends=True)
    beast = b'{"id": "beast", "counts": {"tax": 666}}\n'
    path.write_bytes(b"".join([*good[:30], beast, *good[30:]]))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes", "cluster"])
def test_a_document_that_ends_workers_is_named_and_the_rest_is_predicted(
    engine: str, model: Path, shards: Path, tmp_path: Path, cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    expected = predict_shards(model, shards, tmp_path / "near", k=1)
    with_a_beast(shards)
    monkeypatch.setattr("deplda.models.predict_shards._Job", LethalJob)
    monkeypatch.setattr(engine_dask, "_LONGEST_WAIT", 5)

    def predict() -> Manifest:
        where = cluster.client() if engine == "cluster" else engine
        return predict_shards(model, shards, tmp_path / "far", k=1, engine=where, n_jobs=1)

    try:
        manifest = predict()
    except EngineError:  # Dask may give up workers killed as they start: take others, go on
        manifest = predict()
    assert [(each.shard, each.id) for each in manifest.failed_documents] == [
        ("docs-4.jsonl", "beast")
    ]
    assert "the worker ended, twice" in manifest.failed_documents[0].problem
    assert manifest.documents == expected.documents
    assert parts(tmp_path / "far") == parts(tmp_path / "near")


# The scheduler ------------------------------------------------------------------------------------


def dask(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.mark.slow
def test_a_lost_scheduler_is_named_and_what_was_finished_is_kept(
    model: Path, shards: Path, tmp_path: Path
) -> None:
    address_file = tmp_path / "scheduler.json"
    place = ("--scheduler-file", str(address_file))
    scheduler = dask(
        "distributed.cli.dask_scheduler", "--port", "0", "--dashboard-address", ":0", *place
    )
    wait_for(address_file)
    worker = dask("distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", *place)
    target = tmp_path / "out"

    def kill_in_the_middle() -> None:
        wait_for(target / ".finished" / "docs-1.jsonl.gz.json")
        scheduler.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    try:
        address = json.loads(address_file.read_text())["address"]
        with Client(address, set_as_default=False, timeout="120s") as client:
            client.wait_for_workers(1)
            with pytest.raises(EngineError, match=r"the Dask scheduler at tcp://.* is lost"):
                predict_shards(model, shards, target, engine=client)
    finally:
        killer.join()
        for process in (scheduler, worker):
            process.kill()
            process.wait()
    kept = {path: path.stat().st_mtime_ns for path in target.glob("*.labels.jsonl")}
    assert len(kept) >= 2
    predict_shards(model, shards, target)
    predict_shards(model, shards, tmp_path / "near")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert parts(target) == parts(tmp_path / "near")


# Bad input ----------------------------------------------------------------------------------------


def test_what_cannot_be_is_named(model: Path, shards: Path, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such folder"):
        predict_shards(model, tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(ReadError, match="give the folder of a saved model"):
        predict_shards(tmp_path / "nowhere", shards, tmp_path / "out")
    with pytest.raises(InputError, match="name another for the parts"):
        predict_shards(model, shards, shards)
    with pytest.raises(InputError, match="k is 0"):
        predict_shards(model, shards, tmp_path / "out", k=0)
    with pytest.raises(ReadError, match="there is no shard in it"):
        predict_shards(model, model, tmp_path / "out")


def test_texts_need_a_model_that_counts_words(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.jsonl").write_text('{"text": "cats purr"}\n{"text": "dogs bark"}\n')
    refused = predict_shards(model, source, tmp_path / "refused")
    assert [each.line for each in refused.failed_documents] == [1, 2]
    assert "the model was trained on counts" in refused.failed_documents[0].problem
    counter = WordCounter()
    counts = counter.fit_transform(["cats purr", "dogs bark"])
    FlatLDA().fit(counts, [["cat"], ["dog"]], counter=counter).save(tmp_path / "texts")
    manifest = predict_shards(tmp_path / "texts", source, tmp_path / "out", k=1)
    assert manifest.failed_documents == []
    found = lines(tmp_path / "out" / "a.jsonl.labels.jsonl")
    assert [line["labels"][0]["label"] for line in found] == ["cat", "dog"]
