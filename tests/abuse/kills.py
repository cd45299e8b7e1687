"""Kill verbs at random moments, run them again, and compare with a run that nobody disturbed.

    python -m tests.abuse.kills KIND N FOLDER

A process that has imported everything, and started no thread, forks one child for each run: a kill
costs what the verb costs. What is left in the folder after a kill, and after the run that follows
it, is looked at; anything lost or different ends this process with an error.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deplda.cli import root
from deplda.comparison import read_results
from deplda.models.registry import load
from tests.cli.running import articles, in_shards, write_jsonl

Work = Callable[[], Any]
WRITING = "deplda-writing"


def start(work: Work) -> int:
    """Return a child process, leader of its own group, that does the work."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        work()
        code = 0
    except SystemExit as error:
        code = int(error.code or 0)
    finally:
        os._exit(code)


def finish(work: Work) -> float:
    """Do the work in a child to its end; return the seconds it took."""
    begin = time.monotonic()
    code = os.waitstatus_to_exitcode(os.waitpid(start(work), 0)[1])
    assert code == 0, f"undisturbed, it ended with {code}"
    return time.monotonic() - begin


def kill(work: Work, after: float) -> bool:
    """Start the work, kill it after some seconds; return whether it was still at it."""
    child = start(work)
    time.sleep(after)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # it has not become a leader yet, or is over
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def verb(*arguments: Any) -> Work:
    return lambda: root.main([str(each) for each in arguments])


def content(folder: Path) -> dict[str, bytes]:
    """Return all files that a reader could take for results."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and WRITING not in str(path)
    }


def leftovers(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob(f"*{WRITING}*")]


# What is killed -----------------------------------------------------------------------------------


class Save:
    """Saving one model over another, again and again: either is there, always."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows = articles()
        self.models = []
        for number, part in enumerate((rows, rows[:20])):
            corpus = write_jsonl(folder / f"{number}.jsonl", part)
            finish(verb("train", corpus, "-o", folder / f"{number}", "--model", "flat"))
            self.models.append(load(folder / f"{number}"))
        self.legal = []
        for number, model in enumerate(self.models):
            model.save(folder / f"{number}")
            self.legal.append(content(folder / f"{number}"))
        self.target = folder / "parent" / "model"
        self.models[0].save(self.target)
        self.seconds = 0.05

    def work(self) -> None:
        for number in range(1_000_000):
            self.models[(number + 1) % 2].save(self.target)

    def check_killed(self) -> None:
        load(self.target)
        assert content(self.target) in self.legal

    def check_again(self) -> None:
        self.models[0].save(self.target)
        assert os.listdir(self.target.parent) == ["model"]


class Verb:
    """A verb that writes one output, and may be run again after a kill."""

    def __init__(self, folder: Path, first: list[Any], again: list[Any], output: str) -> None:
        self.folder, self.output = folder, folder / output
        self.work, self.again = verb(*first), verb(*again)
        finish(self.work)
        self.expected = self.read()
        self.clear()
        self.seconds = finish(self.work)
        self.clear()

    def clear(self) -> None:
        for path in (self.output, self.folder / "kept"):
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)

    def read(self) -> Any:
        if self.output.is_dir():
            return content(self.output)
        return self.output.read_bytes()

    def check_killed(self) -> None:
        pass

    def check_again(self) -> None:
        finish(self.again)
        assert self.read() == self.expected
        assert leftovers(self.folder) == []
        self.clear()


class Model(Verb):
    """A verb whose output is a model: after a kill there is none, or the whole one."""

    def check_killed(self) -> None:
        if self.output.exists():
            load(self.output)
            assert content(self.output) == self.expected


class Results(Verb):
    """A comparison: its metrics are the same, though not its seconds."""

    def read(self) -> Any:
        return [
            (unit.model, (unit.results or {})["metrics"]) for unit in read_results(self.output).done
        ]

    def check_again(self) -> None:
        finish(self.again)
        assert json.dumps(self.read()) == json.dumps(self.expected)
        assert leftovers(self.folder) == []
        self.clear()


SAMPLED = ("--set", "fit_method=sampled", "--set", "n_chains=6", "--set", "n_sweeps=60")
TOPICS = ("--set", "n_topic_chains=4", "--set", "n_topic_sweeps=100")


def corpus_in(folder: Path) -> Path:
    rows = [row | {"id": f"{row['id']}-{k}"} for k in range(20) for row in articles()]
    return write_jsonl(folder / "articles.jsonl", rows)


def model_in(folder: Path) -> Path:
    finish(verb("train", corpus_in(folder), "-o", folder / "model", "--model", "flat"))
    return folder / "model"


def train(folder: Path) -> Verb:
    asked = ["train", corpus_in(folder), "-o", folder / "m", "--checkpoint", folder / "kept"]
    asked += [*SAMPLED, *TOPICS]
    return Model(folder, asked, [*asked, "--resume", "--force"], "m")


def train_shards(folder: Path) -> Verb:
    asked = ["train", in_shards(folder / "in"), "-o", folder / "m", "--scratch", folder / "kept"]
    asked += ["--model", "flat", *SAMPLED[:2], "--set", "n_chains=2", "--set", "n_sweeps=15"]
    return Model(folder, asked, [*asked, "--force"], "m")


def predict(folder: Path) -> Verb:
    asked = ["predict", model_in(folder), folder / "articles.jsonl", "-o", folder / "out.jsonl"]
    return Verb(folder, asked, [*asked, "--resume"], "out.jsonl")


def predict_shards(folder: Path) -> Verb:
    asked = ["predict", model_in(folder), in_shards(folder / "in"), "-o", folder / "parts"]
    return Verb(folder, asked, asked, "parts")


def compare(folder: Path) -> Verb:
    asked = ["compare", write_jsonl(folder / "a.jsonl", articles()), "-j", 1]
    asked += ["--models", "tfidf-svm,flat", "-o", folder / "results"]
    return Results(folder, asked, asked, "results")


KINDS: dict[str, Callable[[Path], Any]] = {
    "save": Save, "train": train, "train-shards": train_shards, "predict": predict,
    "predict-shards": predict_shards, "compare": compare,
}  # fmt: skip


def main(kind: str, n: int, folder: Path) -> None:
    job, chance, n_killed = KINDS[kind](folder), random.Random(kind), 0  # noqa: S311
    for _ in range(n):
        n_killed += kill(job.work, chance.uniform(0, job.seconds))
        job.check_killed()
        job.check_again()
    sys.stdout.write(json.dumps({"kind": kind, "kills": n, "while working": n_killed}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
