import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from deplda import (
    Corpus,
    InputError,
    LabelWords,
    ReadError,
    Schedule,
    expect_label_words,
    prior_topic_labels,
    train_label_words,
    train_topic_labels,
)
from deplda.data.datasets import Newsroom, newsroom
from deplda.training.checkpoint import Checkpoint


@pytest.fixture(scope="module")
def news() -> Newsroom:
    return newsroom(1_200, seed=4)


def small() -> Corpus:
    rng = np.random.default_rng(0)
    return Corpus(rng.integers(0, 4, (30, 12)), rng.random((30, 6)) < 0.4)


def same(left: LabelWords, right: LabelWords) -> bool:
    return (
        left.weights.indices.tobytes() == right.weights.indices.tobytes()
        and left.weights.data.tobytes() == right.weights.data.tobytes()
        and left.base.tobytes() == right.base.tobytes()
    )


# The estimates ------------------------------------------------------------------------------------


def test_columns_of_phi_sum_to_one() -> None:
    for trained in (train_label_words(small(), n_chains=2), expect_label_words(small())):
        phi = trained.label_words.dense()
        assert phi.shape == trained.label_words.shape == (12, 6)
        assert phi.sum(axis=0) == pytest.approx(1, abs=1e-6)
        assert (phi > 0).all()


def test_phi_prime_sums_to_one_and_every_set_is_kept() -> None:
    trained = train_topic_labels(small(), 3, n_chains=2, schedule=Schedule(10, n_samples=3, lag=2))
    assert len(trained.topic_labels) == 6
    for topic_labels in trained.topic_labels:
        assert topic_labels.shape == (6, 3)
        assert topic_labels.dense().sum(axis=0) == pytest.approx(1)
        assert (topic_labels.dense() > 0).all()


def test_with_one_label_a_document_phi_is_a_count() -> None:
    corpus = Corpus([[2, 1, 0], [0, 3, 1]], [[1, 0], [0, 1]])
    expected = (np.array([[2, 0], [1, 3], [0, 1]]) + 0.5) / (np.array([3, 4]) + 3 * 0.5)
    for trained in (
        train_label_words(corpus, beta=0.5, schedule=Schedule(2)),
        expect_label_words(corpus, beta=0.5),
    ):
        assert trained.label_words.dense() == pytest.approx(expected, abs=1e-7)


def test_pairs_with_next_to_no_tokens_are_left_out(news: Newsroom) -> None:
    label_words = expect_label_words(news.corpus, beta=0.02).label_words
    # A/b is the expected count over β.
    tokens = 0.02 * label_words.weights.data / label_words.base[label_words.weights.indices]
    assert tokens.min() > 0.009
    assert label_words.weights.nnz < 0.9 * (news.corpus.counts.T @ news.corpus.labels).nnz
    assert label_words.dense().sum(axis=0) == pytest.approx(1, abs=1e-5)


def test_the_prior_phi_prime_is_label_frequency() -> None:
    corpus = Corpus(np.ones((3, 1)), [[1, 0, 0], [1, 1, 0], [1, 0, 0]])
    phi = prior_topic_labels(corpus, beta=0.5)
    assert phi.shape == (3, 1)
    assert phi.dense().ravel() == pytest.approx((np.array([3, 1, 0]) + 0.5) / 5.5)


def test_averaging_over_chains_is_exact_in_the_sparse_form() -> None:
    corpus, schedule = small(), Schedule(4, n_samples=2, lag=3)
    # Chain k of a run is chain k of every run with that seed, so two chains contain the first.
    both = train_label_words(corpus, n_chains=2, schedule=schedule, seed=5).label_words.dense()
    first = train_label_words(corpus, n_chains=1, schedule=schedule, seed=5).label_words.dense()
    second = 2 * both - first
    assert second.sum(axis=0) == pytest.approx(1, abs=1e-6)
    assert (second > 0).all()
    assert not np.allclose(first, second)


def test_documents_without_words_or_labels_train_nothing() -> None:
    corpus = small()
    wordless = np.vstack([corpus.counts.toarray(), np.zeros((1, 12), int), np.full((1, 12), 3)])
    unlabelled = np.vstack([corpus.labels.toarray(), np.ones((1, 6), bool), np.zeros((1, 6), bool)])
    padded = Corpus(wordless, unlabelled)
    plain = expect_label_words(corpus).label_words.dense()
    assert expect_label_words(padded).label_words.dense() == pytest.approx(plain)
    assert np.isfinite(train_label_words(padded).label_words.dense()).all()


def test_a_label_of_no_document_knows_every_word_alike() -> None:
    corpus = Corpus([[1, 2]], [[1, 0]])
    phi = train_label_words(corpus, schedule=Schedule(1)).label_words.dense()
    assert phi[:, 1].tolist() == [0.5, 0.5]


# Recovering what is true --------------------------------------------------------------------------


def test_phi_is_recovered_from_the_newsroom(news: Newsroom) -> None:
    frequency = news.corpus.label_counts
    sampled = train_label_words(news.corpus, n_chains=4, schedule=Schedule(60)).label_words.dense()
    expected = expect_label_words(news.corpus).label_words.dense()
    for phi in (sampled, expected):
        distance = 0.5 * np.abs(phi - news.label_words).sum(axis=0)
        assert np.median(distance[frequency >= 50]) < 0.12
        assert np.median(distance[(frequency > 0) & (frequency < 10)]) < 0.55
    assert np.corrcoef(sampled.ravel(), expected.ravel())[0, 1] > 0.93


def test_a_label_of_one_document_learns_its_own_words(news: Newsroom) -> None:
    corpus = news.corpus
    label = corpus.label_names.index("VIDEO GAMES")
    own = {corpus.vocabulary[w] for w in np.argsort(-news.label_words[:, label])[:40]}
    for trained in (train_label_words(corpus, n_chains=4), expect_label_words(corpus)):
        phi = trained.label_words.dense()[:, label]
        top = [corpus.vocabulary[w] for w in np.argsort(-phi)[:10]]
        assert len(own & set(top)) >= 8
        assert not {"antitrust", "lawsuit", "plaintiff", "monopoly", "court"} & set(top)


def test_phi_prime_is_recovered_from_the_newsroom(news: Newsroom) -> None:
    trained = train_topic_labels(
        news.corpus, 16, gamma=0.05, beta=0.05, n_chains=1, schedule=Schedule(200)
    )
    found, true = trained.topic_labels[0].dense(), news.topic_labels
    overlap = np.minimum(found[:, :, None], true[:, None, :]).sum(axis=0)
    rows, columns = linear_sum_assignment(-overlap)
    assert np.median(overlap[rows, columns]) > 0.6


def test_the_expectation_stops_on_its_tolerance() -> None:
    corpus = small()
    assert expect_label_words(corpus, tolerance=0.9).n_sweeps < 4
    assert expect_label_words(corpus, tolerance=1e-9, max_sweeps=7).n_sweeps == 7
    fine = expect_label_words(corpus, tolerance=1e-6, max_sweeps=5_000)
    finer = expect_label_words(corpus, tolerance=1e-7, max_sweeps=5_000)
    assert fine.n_sweeps < 5_000
    assert fine.label_words.dense() == pytest.approx(finer.label_words.dense(), abs=1e-3)


# Same seed, same bits -----------------------------------------------------------------------------


def test_same_seed_same_bits_for_any_number_of_workers() -> None:
    schedule = Schedule(5, n_samples=2, lag=2)
    runs = [
        train_label_words(small(), n_chains=5, schedule=schedule, seed=1, n_jobs=n).label_words
        for n in (1, 2, 5)
    ]
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])
    other = train_label_words(small(), n_chains=5, schedule=schedule, seed=2).label_words
    assert not same(runs[0], other)


def test_same_seed_same_topics_for_any_number_of_workers() -> None:
    runs = [
        train_topic_labels(small(), 4, n_chains=3, schedule=Schedule(20), seed=1, n_jobs=n)
        for n in (1, 3)
    ]
    for one, other in zip(runs[0].topic_labels, runs[1].topic_labels, strict=True):
        assert one.dense().tobytes() == other.dense().tobytes()


# Checkpoint and resume ----------------------------------------------------------------------------

KINDS: dict[str, Any] = {
    "words": lambda **options: train_label_words(
        small(), n_chains=3, schedule=Schedule(12, n_samples=3, lag=2), seed=3, **options
    ),
    "topics": lambda **options: train_topic_labels(
        small(), 4, n_chains=3, schedule=Schedule(12, n_samples=3, lag=2), seed=3, **options
    ),
}


def bits(trained: Any) -> bytes:
    sets = getattr(trained, "topic_labels", None) or (trained.label_words,)
    return b"".join(s.weights.toarray().tobytes() + s.base.tobytes() for s in sets)


class Killed(BaseException):
    pass


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [1, 2, 7, 20, 41])
def test_a_run_cut_off_after_any_save_resumes_to_the_same_bits(
    kind: str, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = KINDS[kind]()
    saves, save = 0, Checkpoint.save

    def save_then_die(self: Checkpoint, number: int, state: Any) -> None:
        nonlocal saves
        saves += 1
        if saves > after:
            raise Killed
        save(self, number, state)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "save", save_then_die)
        with pytest.raises(Killed):
            KINDS[kind](checkpoint=tmp_path / "run", checkpoint_seconds=0, n_jobs=1)
    resumed = KINDS[kind](checkpoint=tmp_path / "run", resume=True)
    assert bits(resumed) == bits(undisturbed)
    assert resumed.diagnostics.traces.tobytes() == undisturbed.diagnostics.traces.tobytes()


SCRIPT = """
import sys
from deplda import Schedule, train_label_words
from deplda.data.datasets import newsroom
trained = train_label_words(
    newsroom(300).corpus, n_chains=3, schedule=Schedule(400, n_samples=5, lag=20), seed=7,
    checkpoint=sys.argv[1], checkpoint_seconds=0.05, resume=len(sys.argv) > 2, n_jobs=2,
)
sys.stdout.buffer.write(trained.label_words.weights.data.tobytes())
"""


def script(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, "it ended before it saved anything"
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_run_killed_with_sigkill_resumes_to_the_same_bits(tmp_path: Path) -> None:
    undisturbed, _ = script(str(tmp_path / "undisturbed")).communicate()
    folder = tmp_path / "run"
    for wait in (0.0, 0.08, 0.15):  # killed at three moments, each time a little further
        process = script(str(folder), *(["resume"] if wait else []))
        wait_for(folder / "chain-0000.npz", process)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    resumed, errors = script(str(folder), "resume").communicate()
    assert errors == b""
    assert resumed == undisturbed


def test_ctrl_c_stops_cleanly_and_the_run_can_go_on(tmp_path: Path) -> None:
    undisturbed, _ = script(str(tmp_path / "undisturbed")).communicate()
    folder = tmp_path / "run"
    process = script(str(folder))
    wait_for(folder / "chain-0001.npz", process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert b"KeyboardInterrupt" in errors
    assert not list(folder.glob(".*"))  # no half-written file
    resumed, _ = script(str(folder), "resume").communicate()
    assert resumed == undisturbed


def test_a_checkpoint_of_other_data_or_parameters_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train_label_words(small(), schedule=Schedule(2), checkpoint=folder)
    with pytest.raises(InputError, match="holds a checkpoint already; resume it"):
        train_label_words(small(), schedule=Schedule(2), checkpoint=folder)
    with pytest.raises(InputError, match=r"its eta is 50.0, now it is 7.0"):
        train_label_words(small(), schedule=Schedule(2), eta=7.0, checkpoint=folder, resume=True)
    with pytest.raises(InputError, match="its data is"):
        train_label_words(small()[1:], schedule=Schedule(2), checkpoint=folder, resume=True)
    with pytest.raises(InputError, match="is a checkpoint of another run"):
        train_topic_labels(small(), 3, schedule=Schedule(2), checkpoint=folder, resume=True)
    with pytest.raises(InputError, match="resume needs the folder"):
        train_label_words(small(), resume=True)


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train_label_words(small(), schedule=Schedule(2), checkpoint=folder)
    (folder / "chain-0000.npz").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(ReadError, match=r"chain-0000\.npz: this is not a chain.*delete it"):
        train_label_words(small(), schedule=Schedule(2), checkpoint=folder, resume=True)
    (folder / "manifest.json").write_text("[1]")
    with pytest.raises(ReadError, match="this is not a manifest"):
        train_label_words(small(), schedule=Schedule(2), checkpoint=folder, resume=True)


FULL_DISK = """
import resource, signal, sys, warnings
from deplda import Schedule, train_label_words
from deplda.data.datasets import newsroom
corpus = newsroom(300).corpus
train_label_words(corpus, schedule=Schedule(1))  # compiled, so that the cache is not what fails
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    trained = train_label_words(corpus, schedule=Schedule(3), checkpoint=sys.argv[1])
print(trained.label_words.dense().sum().round(3), str(caught[0].message))
"""


def test_a_full_disk_costs_the_checkpoint_not_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("105.0 chain 0 could not be saved")
    assert [path.name for path in folder.iterdir()] == ["manifest.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named_at_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot write a checkpoint"):
        train_label_words(small(), checkpoint=tmp_path / "run")


def test_a_file_in_the_folders_place_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="cannot write a checkpoint"):
        train_label_words(small(), checkpoint=tmp_path / "run")


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": 0.0}, r"eta is 0.0; it must be a number above 0"),
        ({"eta": float("nan")}, "eta is nan"),
        ({"beta": float("inf")}, "beta is inf"),
        ({"beta": -1}, "beta is -1"),
        ({"n_chains": 0}, "n_chains is 0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"watch": [(99, 0)]}, "cannot watch word 99 of label 0"),
    ],
)
def test_bad_parameters_of_words_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_label_words(small(), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.0}, "gamma is 0.0"),
        ({"beta": float("nan")}, "beta is nan"),
        ({"n_topics": 0}, "n_topics is 0"),
        ({"n_topics": 70_000}, "at most 65,535"),
    ],
)
def test_bad_parameters_of_topics_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_topic_labels(small(), **{"n_topics": 2, **options})


@pytest.mark.parametrize("values", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1.5, 1, 1)])
def test_a_schedule_counts_from_one(values: Any) -> None:
    with pytest.raises(InputError, match="must be a whole number from 1"):
        Schedule(*values)


def test_the_tolerance_and_sweeps_of_the_expectation_are_checked() -> None:
    with pytest.raises(InputError, match="tolerance is -1"):
        expect_label_words(small(), tolerance=-1)
    with pytest.raises(InputError, match="max_sweeps is 0"):
        expect_label_words(small(), max_sweeps=0)


def test_a_corpus_with_nothing_to_learn_from_is_refused() -> None:
    unlabelled = Corpus([[1]], [[0]])
    for train in (train_label_words, expect_label_words):
        with pytest.raises(InputError, match="none of the 1 documents has a label"):
            train(unlabelled)
        with pytest.raises(InputError, match="no document has both words and labels"):
            train(Corpus([[1], [0]], [[0], [1]]))
    with pytest.raises(InputError, match="none of the 1 documents has a label"):
        train_topic_labels(unlabelled, 2)
    with pytest.raises(InputError, match="none of the 1 documents has a label"):
        prior_topic_labels(unlabelled, beta=1.0)
    with pytest.raises(InputError, match="cannot watch 'word0' under 'label1': they never meet"):
        train_label_words(Corpus([[1, 0], [0, 1]], [[1, 0], [0, 1]]), watch=[(0, 1)])


def test_one_label_and_a_label_on_every_document_are_legal() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (10, 5))
    for labels in (np.ones((10, 1)), np.column_stack([np.ones(10), rng.random((10, 2)) < 0.5])):
        corpus = Corpus(counts, labels)
        assert np.isfinite(train_label_words(corpus).label_words.dense()).all()
        assert np.isfinite(expect_label_words(corpus).label_words.dense()).all()
        for found in train_topic_labels(corpus, 2, schedule=Schedule(5)).topic_labels:
            assert np.isfinite(found.dense()).all()


def test_more_topics_than_label_tokens_leave_topics_that_hold_all_labels_alike() -> None:
    corpus = Corpus([[1]], [[1, 1, 0]])
    phi = train_topic_labels(corpus, 50, schedule=Schedule(5)).topic_labels[0].dense()
    assert phi.sum(axis=0) == pytest.approx(1)
    assert sum(np.allclose(column, 1 / 3) for column in phi.T) >= 48
