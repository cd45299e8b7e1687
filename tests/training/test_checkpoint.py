"""Checkpoints: whenever a run is cut off, it goes on to the same bits."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import InputError, ReadError, Schedule, train_label_words, train_topic_labels
from deplda.training.checkpoint import Checkpoint, load_arrays
from tests.training.worlds import small

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
    assert resumed.traces.values.tobytes() == undisturbed.traces.values.tobytes()


SCRIPT = """
import sys
from deplda import Schedule, train_label_words
from deplda.data.datasets import newsroom
trained = train_label_words(
    newsroom(300).corpus, n_chains=3, schedule=Schedule(300, n_samples=5, lag=20), seed=7,
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
    deadline = time.monotonic() + 600
    while not path.exists():
        assert process.poll() is None, "it ended before it saved anything"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return script(str(tmp_path_factory.mktemp("undisturbed") / "run")).communicate()[0]


@pytest.mark.slow
def test_a_run_killed_with_sigkill_resumes_to_the_same_bits(
    undisturbed: bytes, tmp_path: Path
) -> None:
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


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_the_run_can_go_on(undisturbed: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = script(str(folder))
    wait_for(folder / "chain-0001.npz", process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
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
    with pytest.raises(ReadError, match=r"chain-0000\.npz: it cannot be read.*delete it"):
        train_label_words(small(), schedule=Schedule(2), checkpoint=folder, resume=True)
    for content in ("[1]", '{"format": true}'):
        (folder / "manifest.json").write_text(content)
        with pytest.raises(ReadError, match="this is not a manifest"):
            train_label_words(small(), schedule=Schedule(2), checkpoint=folder, resume=True)


def crafted(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def craft(arrays: dict[str, Any]) -> None:
        arrays[name] = change(arrays[name])

    return craft


CRAFTED: dict[str, list[Callable[[dict[str, Any]], Any]]] = {
    "words": [
        crafted("z", lambda z: z + 60_000),
        crafted("z", lambda z: z[:-1]),
        crafted("z", lambda z: z.astype(np.int32)),
        crafted("weights", lambda weights: weights * np.nan),
        crafted("weights", lambda weights: weights - 1.0),
        crafted("base", lambda base: base[None]),
        lambda arrays: arrays.pop("base"),
    ],
    "topics": [
        crafted("z", lambda z: z + 4),
        crafted("z", lambda z: (z + 1) % 4),
        crafted("used", lambda used: used + 1_000_000),
        crafted("used", lambda used: used.astype(np.int64)),
        crafted("slots", lambda slots: slots + 1),
        crafted("slots", lambda slots: -slots),
        crafted("samples", lambda samples: samples + 9),
        crafted("samples", lambda samples: samples[0]),
        lambda arrays: arrays.pop("slots"),
    ],
}
for each in CRAFTED.values():
    each += [
        crafted("trace", lambda trace: trace * np.nan),
        crafted("trace", lambda trace: trace[:0]),
        crafted("trace", lambda trace: np.tile(trace, (9, 1))),
        crafted("trace", lambda trace: trace[:, :-1]),
        lambda arrays: arrays.pop("trace"),
        lambda arrays: arrays.clear(),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_crafted_state_is_refused_before_a_kernel_sees_it(kind: str, tmp_path: Path) -> None:
    KINDS[kind](checkpoint=tmp_path / "run")
    file = tmp_path / "run" / "chain-0001.npz"
    with np.load(file) as saved:
        arrays = dict(saved)
    for craft in CRAFTED[kind]:
        changed = dict(arrays)
        craft(changed)
        np.savez(file, **changed)
        with pytest.raises(ReadError, match=r"chain-0001\.npz: .*; delete it to run that chain"):
            KINDS[kind](checkpoint=tmp_path / "run", resume=True)
    file.unlink()
    assert bits(KINDS[kind](checkpoint=tmp_path / "run", resume=True)) == bits(KINDS[kind]())


def test_a_packed_or_endless_array_takes_no_memory(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "packed.npz", z=np.zeros(10**6))
    with pytest.raises(ReadError, match=r"it is compressed, which we never do\); try again"):
        load_arrays(tmp_path / "packed.npz", "try again")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
    with zipfile.ZipFile(tmp_path / "endless.npz", "w") as file:
        content = b"\x93NUMPY\x01\x00" + len(header + b"\n").to_bytes(2, "little") + header + b"\n"
        file.writestr("z.npy", content)
    with pytest.raises(ReadError, match="it cannot be read"):
        load_arrays(tmp_path / "endless.npz", "try again")


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
found = trained.label_words.dense().sum() - corpus.n_labels
print(abs(found) < 1e-6, caught[0].message)
"""


@pytest.mark.slow
def test_a_full_disk_costs_the_checkpoint_not_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("True chain 0 could not be saved")
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
