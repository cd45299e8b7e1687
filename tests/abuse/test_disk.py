"""A disk that is full, a folder that is none, too few open files: one line, and nothing is lost."""

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib  # noqa: F401  # it writes a file when it is imported
import pytest

from deplda import PriorLDA, Schedule, load, train_label_words
from tests.abuse.conftest import Amount
from tests.cli.running import articles, done, problem, run, write_jsonl
from tests.training.worlds import small

TO_ANNIF = ("--output-format", "annif")
TARGETS = ["out.jsonl", "out.jsonl.gz", "out.parquet", "out.svm", "out.svm.gz", "folder"]


@contextmanager
def at_most(kind: int, limit: int) -> Iterator[None]:
    """Let this process have no larger files, or no more of them; Python ignores the signal."""
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [row | {"id": f"{n}-{row['id']}"} for n in range(20) for row in articles()]
    (tmp_path / "in").mkdir()
    return write_jsonl(tmp_path / "in" / "corpus.jsonl", rows)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    train = write_jsonl(folder / "train.jsonl", articles())
    done("train", train, "-o", folder / "model", "--model", "flat")
    return folder / "model"


@pytest.mark.parametrize("size", [0, 100, 1000])
@pytest.mark.parametrize("target", TARGETS)
def test_a_full_disk_leaves_nothing_of_a_conversion(
    target: str, size: int, corpus: Path, here: Path
) -> None:
    with at_most(resource.RLIMIT_FSIZE, size):
        said = problem(1, "datasets", "convert", corpus, here / target, "--language", "none")
    assert said.endswith(": File too large")
    assert str(here) in said
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("target", TARGETS[:-1])
def test_a_full_disk_leaves_the_file_that_was_to_be_replaced(
    target: str, corpus: Path, here: Path
) -> None:
    done("datasets", "convert", corpus, here / target, "--language", "none")
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    with at_most(resource.RLIMIT_FSIZE, 100):
        problem(1, "datasets", "convert", corpus, here / target, "--force", "--language", "none")
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize("name", ["labels.tsv", "labels.csv", "labels.jsonl", "labels"])
def test_a_full_disk_leaves_nothing_of_a_conversion_for_annif(
    name: str, corpus: Path, here: Path, tmp_path: Path
) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("".join(f"<urn:{n.lower()}>\t{n}\n" for n in ("LAW", "SPORT", "MUSIC")))
    with at_most(resource.RLIMIT_FSIZE, 30):
        asked = (here / name, *TO_ANNIF, "--vocabulary", names)
        said = problem(1, "datasets", "convert", corpus, *asked)
    assert said.endswith(": File too large")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["labels.xlsx", "labels.parquet"])
def test_a_full_disk_leaves_the_table_that_was_to_be_replaced(
    name: str, model: Path, corpus: Path, here: Path
) -> None:
    (here / name).write_text("of an earlier run")
    for size in (10, 1000):
        with at_most(resource.RLIMIT_FSIZE, size):
            said = problem(1, "predict", model, corpus, "-o", here / name, "--force")
        assert said.startswith(f"{here / name}: File too large after ")
        assert "nothing was written, but .jsonl, .csv and .tsv can be resumed" in said
        assert files_in(here) == {name: b"of an earlier run"}


def test_annifs_files_go_on_after_a_full_disk(model: Path, corpus: Path, here: Path) -> None:
    output, asked = here / "out", ("-t", 0, *TO_ANNIF)
    done("predict", model, corpus, "-o", here / "reference", *asked)
    with at_most(resource.RLIMIT_FSIZE, 20):
        said = problem(1, "predict", model, corpus, "-o", output, *asked)
    assert said.endswith("File too large after 0 documents; nothing was written")
    assert list(output.iterdir()) == []
    done("predict", model, corpus, "-o", output, "--resume", *asked)
    assert files_in(output) == files_in(here / "reference")


@pytest.mark.parametrize("end", [".jsonl", ".csv"])
def test_predictions_go_on_after_a_full_disk(
    end: str, model: Path, corpus: Path, here: Path, amount: Amount
) -> None:
    output, reference = here / f"labels{end}", here / f"reference{end}"
    part = here / f"labels{end}.part"
    done("predict", model, corpus, "-o", reference)
    whole = reference.read_bytes()
    for size in range(0, len(whole), len(whole) // amount(4, 100)):
        output.write_text("of an earlier run")
        with at_most(resource.RLIMIT_FSIZE, size):
            said = problem(1, "predict", model, corpus, "-o", output, "--force")
        assert said.startswith(f"{output}: File too large after ")
        assert output.read_text() == "of an earlier run"
        if part.exists():
            written = part.read_bytes()
            n_whole = written.count(b"\n")
            assert whole.startswith(written)
            assert said.endswith(f", which {part} holds; --resume continues after them")
            assert end == ".csv" or f" {n_whole} document" in said
        else:
            assert said.endswith(" 0 documents; nothing was written")
        done("predict", model, corpus, "-o", output, "--resume" if part.exists() else "--force")
        assert output.read_bytes() == whole
        assert not part.exists()


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 64 KiB, which only root can do."""
    (tmp_path / "disk").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path / "disk")]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a disk cannot be mounted here")
    yield tmp_path / "disk"
    subprocess.run(["umount", str(tmp_path / "disk")], check=True)


def test_a_full_disk_of_temporary_files_is_named(
    full_disk: Path, model: Path, corpus: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row | {"id": str(n)} for n in range(300) for row in articles()]
    many = write_jsonl(corpus.parent / "many.jsonl", rows)
    monkeypatch.setattr(tempfile, "tempdir", str(full_disk))
    said = problem(1, "predict", model, many, "-o", here / "o.xlsx", "-k", 3, "-t", 0)
    problem_said = f"{full_disk}: No space left on device for temporary files (TMPDIR sets another"
    assert said.startswith(problem_said)
    assert "nothing was written" in said
    assert [*here.iterdir(), *full_disk.iterdir()] == []


def test_predictions_are_replaced_only_when_there_are_others(
    model: Path, here: Path, tmp_path: Path
) -> None:
    output, bad = here / "labels.jsonl", tmp_path / "bad.jsonl"
    bad.write_text('{"text": 5}\n')
    for documents in (tmp_path / "nothing.jsonl", bad):
        problem(1, "predict", model, documents, "-o", output)
        assert not output.exists()
    output.write_text("of an earlier run\n")
    for documents in (tmp_path / "nothing.jsonl", bad):
        problem(1, "predict", model, documents, "-o", output, "--force")
        assert output.read_text() == "of an earlier run\n"


def test_a_full_disk_leaves_no_part_of_a_shard(model: Path, corpus: Path, here: Path) -> None:
    with at_most(resource.RLIMIT_FSIZE, 100):
        said = problem(1, "predict", model, corpus.parent, "-o", here, "--jobs", "1")
    assert "File too large" in said
    assert [path for path in here.iterdir() if path.is_file()] == []
    done("predict", model, corpus.parent, "-o", here, "--jobs", "1")
    assert (here / "corpus.jsonl.labels.jsonl").read_bytes().count(b"\n") == 600


@pytest.mark.parametrize("target", TARGETS)
def test_a_folder_that_is_a_file_is_named(
    target: str, corpus: Path, model: Path, here: Path
) -> None:
    (here / "file").write_text("kept")
    assert "file" in problem(1, "datasets", "convert", corpus, here / "file" / target)
    for name in ("out.jsonl", "out.csv", "out.xlsx", "out.parquet"):
        assert "file" in problem(1, "predict", model, corpus, "-o", here / "file" / name)
    asked = ("--output-format", "annif", "-o", here / "file")
    assert "is a file; Annif's files need a folder" in problem(1, "predict", model, corpus, *asked)
    assert (here / "file").read_text() == "kept"
    assert len(list(here.iterdir())) == 1


@pytest.mark.parametrize("target", TARGETS)
def test_too_few_open_files_leave_nothing(target: str, corpus: Path, here: Path) -> None:
    done("datasets", "convert", corpus, here / f"other-{target}")  # all that is imported is there
    ours = {path.name for path in here.iterdir()}
    ended = []
    for more in range(24):
        free = os.dup(0)
        os.close(free)
        with at_most(resource.RLIMIT_NOFILE, free + more):
            result = run(
                "datasets", "convert", corpus, here / target, "--force", "--language", "none"
            )
        ended.append(result.exit_code)
        if result.exit_code:
            assert result.stderr.startswith("Error: ")
            assert "Too many open files" in result.stderr
            assert len(result.stderr.splitlines()) == 1
            assert {path.name for path in here.iterdir()} == ours
        else:
            break
    assert ended[0] == 1
    assert ended[-1] == 0


# Models, checkpoints, results ---------------------------------------------------------------------


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("size", [0, 500, 1_000])
def test_a_full_disk_leaves_the_model_that_was_to_be_replaced(
    size: int, model: Path, here: Path
) -> None:
    load(model).save(here / "model")
    before, other = files_in(here), PriorLDA().fit([[1, 0], [0, 1]], [["a"], ["b"]])
    with at_most(resource.RLIMIT_FSIZE, size), pytest.raises(OSError, match="File too large"):
        load(model).save(here / "model")
    assert files_in(here) == before
    other.save(here / "model")
    assert os.listdir(here) == ["model"]


def test_too_few_open_files_leave_the_model_that_was_to_be_replaced(
    model: Path, here: Path
) -> None:
    saved = load(model)
    saved.save(here / "model")
    before, said = files_in(here), list[str]()
    for more in range(24):
        free = os.dup(0)
        os.close(free)
        try:
            with at_most(resource.RLIMIT_NOFILE, free + more):
                saved.save(here / "model")
        except OSError as error:
            said.append(str(error))
        assert files_in(here) == before
    assert 0 < len(said) < 24
    assert all("Too many open files" in each for each in said)


def test_a_checkpoint_that_does_not_fit_costs_no_chain(here: Path) -> None:
    how: Any = {"schedule": Schedule(3), "seed": 1, "n_jobs": 1}
    undisturbed = train_label_words(small(), **how).label_words.dense()
    kept: Any = how | {"checkpoint": here / "kept", "checkpoint_seconds": 0}
    with (
        at_most(resource.RLIMIT_FSIZE, 1_000),
        pytest.warns(RuntimeWarning, match="could not be saved"),
    ):
        trained = train_label_words(small(), **kept).label_words.dense()
    assert (trained == undisturbed).all()
    assert os.listdir(here / "kept") == ["manifest.json"]
    resumed = train_label_words(small(), **kept, resume=True).label_words.dense()
    assert (resumed == undisturbed).all()


@pytest.mark.parametrize("verb", ["train", "compare"])
def test_a_folder_that_cannot_be_made_is_named(verb: str, corpus: Path, here: Path) -> None:
    (here / "file").write_text("kept")
    asked = [corpus, "--model", "flat"] if verb == "train" else [corpus, "--models", "flat"]
    assert "file" in problem(1, verb, *asked, "-o", here / "file" / "m")
    assert files_in(here) == {"file": b"kept"}
