"""Annif itself beside the hybrid: subjects of YSO for Finnish questions, both by the same files.

Run: ``python -m benchmarks.annif --annif PATH --data-dir DIR [--holdout] [--models MODEL …]
[--analyzer ANALYZER]``, where PATH is the ``annif`` of a virtual environment of its own (``pip
install 'annif[omikuji]'``, 1.4 or newer; NLTK's punkt_tab must be there, or it is fetched). Prints
Markdown. With ``--holdout`` the training documents alone are taken, and 15 % of them, drawn at
random, tested.

Annif is run by its command line: one process to learn, one for all texts. Its parameters are the
defaults, but for Omikuji, which is Bonsai as Annif's wiki has it; the ensemble is the mean of MLLM
and Omikuji. All know of a concept its preferred name alone, as that is what the list of names has.
Annif draws without a seed: its figures differ a little from run to run. The hybrid is measured with
its default, Snowball's stems, and with simplemma's dictionary (the extra [lemma]), as Annif's is.

All subjects of a document count, also those that no training document has. F1@5 is 2 × hits / (5 +
subjects of the document), the mean over documents; "never seen" is the share of the subjects
without a training document that are among the ten best labels. Each gives 100 labels a document;
all others tie below. Times are CPU times: Annif's are of whole processes, with starting Python and
loading the model, all that the ensemble is of included; the hybrid's are with compiling.
"""

from __future__ import annotations

import argparse
import configparser
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from benchmarks.common import cpu_seconds
from benchmarks.hybrid import print_head, shown
from benchmarks.languages import SETS, split_of, texts_of
from deplda import (
    Corpus,
    HybridLDA,
    Vocabulary,
    WordCounter,
    datasets,
    read_vocabulary,
    write_vocabulary,
)
from deplda.data.forms import Normalizer
from deplda.errors import DepldaError
from deplda.evaluation import rank_metrics

Found = Sequence[Sequence[tuple[str, float]]]
"""Of each text, addresses of labels with their scores."""

SET, NAMES = "kirjastonhoitaja", "yso-fi.tsv.gz"
VOCABULARY, N_BEST = "labels", 100
BACKENDS: dict[str, dict[str, str]] = {
    "tfidf": {},
    "mllm": {},
    "omikuji": {"cluster_balanced": "False", "cluster_k": "100", "max_depth": "3"},
    "ensemble": {"sources": "mllm:1,omikuji:1"},
}
"""Annif's backends, and what is said of them in its configuration."""
SOURCES = {"ensemble": ("mllm", "omikuji")}
"""The backends that one asks, in place of learning itself."""
OURS: dict[str, Normalizer] = {"HybridLDA": "auto", "HybridLDA-lemma": "lemma"}
"""The hybrid, by how words are normalised."""
MEASURES = ("F1@5", "P@1", "doc. AP", "never seen")


class Annif:
    """A real Annif, with a project for each backend.

    Parameters
    ----------
    command : path
        The executable ``annif``.
    folder : path
        An empty one, to keep files in.
    vocabulary : Vocabulary
        The subjects; Annif is told their preferred names.
    language : str
        Its code: "fi".
    analyzer : str, optional
        How Annif normalises words; by default by simplemma's dictionary of the language.
    """

    def __init__(
        self,
        command: Path,
        folder: Path,
        vocabulary: Vocabulary,
        language: str,
        analyzer: str | None = None,
    ) -> None:
        self.command, self.folder = command.absolute(), folder
        self.analyzer = analyzer or f"simplemma({language})"
        projects = configparser.ConfigParser(interpolation=None)
        for backend, settings in BACKENDS.items():
            projects[backend] = {
                "name": backend,
                "language": language,
                "backend": backend,
                "vocab": VOCABULARY,
                "analyzer": self.analyzer,
                "limit": str(N_BEST),
            } | settings
        with (folder / "projects.cfg").open("w", encoding="utf-8") as file:
            projects.write(file)
        write_vocabulary(vocabulary, folder / "vocabulary.tsv", language)
        self._run("load-vocab", VOCABULARY, "vocabulary.tsv", "--language", language)
        self._seconds: dict[str, float] = {}

    def versions(self) -> str:
        """Return those of Annif and of Omikuji, by the Python beside the executable."""
        asked = "from importlib.metadata import version as of; print(of('annif'), of('omikuji'))"
        command = [str(self.command.with_name("python")), "-c", asked]
        found = subprocess.run(command, check=True, capture_output=True, text=True, env=_apart())
        return "Annif {}, Omikuji {}".format(*found.stdout.split())

    def train(self, backend: str, texts: Sequence[str], subjects: Sequence[Sequence[str]]) -> float:
        """Learn from texts and the addresses of their subjects; return CPU-seconds.

        What asks other backends has them learn, if they have not.
        """
        documents = (
            {"text": text, "subjects": [{"uri": uri} for uri in own]}
            for text, own in zip(texts, subjects, strict=True)
        )
        _write_lines(self.folder / "train.jsonl", documents)
        learners = SOURCES.get(backend, (backend,))
        for learner in learners:
            if learner not in self._seconds:
                begin = children_seconds()
                self._run("train", learner, "train.jsonl", "--jobs", "1")
                self._seconds[learner] = children_seconds() - begin
        return sum(self._seconds[learner] for learner in learners)

    def suggest(self, backend: str, texts: Sequence[str]) -> Found:
        """Return the best labels of each text, 100 at most."""
        documents = ({"document_id": str(n), "text": text} for n, text in enumerate(texts))
        _write_lines(self.folder / "texts.jsonl", documents)
        options = "--limit", str(N_BEST), "--no-include-doc", "--force", "--output", "found.jsonl"
        self._run("index", backend, "texts.jsonl", *options)
        with (self.folder / "found.jsonl").open(encoding="utf-8") as lines:
            found = {row["document_id"]: row["results"] for row in map(json.loads, lines)}
        return [
            [(label["uri"], label["score"]) for label in found[str(n)]] for n in range(len(texts))
        ]

    def _run(self, verb: str, *arguments: str) -> None:
        command = [str(self.command), verb, *arguments, "--projects", "projects.cfg"]
        environment = _apart() | {"ANNIF_DATADIR": str(self.folder / "data")}
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=self.folder, env=environment
        )
        if done.returncode:
            said = done.stderr.strip()[-1_000:]
            raise DepldaError(f"{' '.join(command)} ended with {done.returncode}; it said: {said}")


def children_seconds() -> float:
    """Return the CPU time of the processes that were waited for."""
    spent = os.times()
    return spent.children_user + spent.children_system


def _apart() -> dict[str, str]:
    """Return the environment without what would lead another Python to the packages of this one."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _write_lines(path: Path, documents: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)


class Hybrid:
    """The hybrid, with the face of `Annif`."""

    def __init__(self, vocabulary: Vocabulary, language: str, normalize: Normalizer) -> None:
        self._vocabulary = vocabulary
        self._counter = WordCounter(language=language, normalize=normalize, names=vocabulary)
        self._model = HybridLDA(random_state=0)

    def train(self, backend: str, texts: Sequence[str], subjects: Sequence[Sequence[str]]) -> float:
        """Learn from texts and the addresses of their subjects; return CPU-seconds."""

        def fit() -> None:
            counts = self._counter.fit_transform(texts)
            self._model.fit(counts, subjects, counter=self._counter, vocabulary=self._vocabulary)

        return cpu_seconds(fit)

    def suggest(self, backend: str, texts: Sequence[str]) -> Found:
        """Return the 100 best labels of each text."""
        return [
            list(zip(labels.tolist(), scores.tolist(), strict=True))
            for labels, scores in zip(*self._model.rank(texts, N_BEST), strict=True)
        ]


def scores_of(found: Found, labels: Sequence[str]) -> csr_array[Any, tuple[int, int]]:
    """Return documents × labels; what was not found is not stored, and so ties below the rest."""
    places = {label: place for place, label in enumerate(labels)}
    starts = np.cumsum([0, *map(len, found)])
    columns = np.array([places[label] for own in found for label, _ in own], dtype=np.int64)
    scores = np.array([score for own in found for _, score in own], dtype=np.float64)
    matrix = csr_array((scores, columns, starts), shape=(len(found), len(labels)))
    matrix.sort_indices()
    return matrix


def measures_of(
    scores: Any, truth: csr_array[Any, tuple[int, int]], is_seen: npt.NDArray[np.bool_]
) -> list[float]:
    """Return the figures in the order of `MEASURES`; `is_seen` is of labels, in training."""
    found = rank_metrics(scores, truth, ks=(1, 5))
    f1 = 2 * 5 * found["precision@5"] / (5 + truth.sum(axis=1))
    new = csr_array(truth.multiply(~is_seen))
    new.eliminate_zeros()
    n_new = new.sum(axis=1)
    hits = np.nansum(rank_metrics(scores, new, ks=(10,))["recall@10"] * n_new)
    means = f1.mean(), found["precision@1"].mean(), np.nanmean(found["average_precision"])
    return [*map(float, means), float(hits / max(1, n_new.sum()))]


class Task(NamedTuple):
    """Documents to learn from and to test with, over all labels of the set and the vocabulary."""

    texts: Sequence[str]
    subjects: Sequence[Sequence[str]]
    is_seen: npt.NDArray[np.bool_]
    """Whether a label has a training document."""
    tested: Sequence[str]
    truth: csr_array[Any, tuple[int, int]]
    labels: Sequence[str]
    vocabulary: Vocabulary


def task_of(data_dir: Path, is_held_out: bool) -> Task:
    data = datasets.load(SET, data_dir)
    texts, split = texts_of(data, data_dir), split_of(data, is_held_out)
    vocabulary = read_vocabulary(data_dir / "vocabularies" / NAMES, language=SETS[SET])
    labels = sorted({concept.uri for concept in vocabulary} | set(data.corpus.label_names))
    train, test = (data.corpus[rows].align(labels=labels) for rows in split)
    return Task(
        [texts[row] for row in split.train],
        subjects_of(train),
        train.label_counts > 0,
        [texts[row] for row in split.test],
        test.labels,
        labels,
        vocabulary,
    )


def subjects_of(corpus: Corpus) -> list[list[str]]:
    """Return the labels of each document."""
    rows = np.split(corpus.labels.indices, corpus.labels.indptr[1:-1])
    return [[corpus.label_names[label] for label in own] for own in rows]


def print_row(model: str, learner: Annif | Hybrid, task: Task) -> None:
    """Have a model learn and print what it reaches and costs."""
    fitting = learner.train(model, task.texts, task.subjects)
    begin = time.process_time() + children_seconds()
    found = learner.suggest(model, task.tested)
    suggesting = time.process_time() + children_seconds() - begin
    values = measures_of(scores_of(found, task.labels), task.truth, task.is_seen)
    cells = [shown(value, 3) for value in values]
    print(f"| {model} | {' | '.join(cells)} | {fitting:.0f} | {suggesting:.0f} |", flush=True)


def main() -> None:
    models = [*BACKENDS, *OURS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annif", type=Path, required=True, help="the executable")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--holdout", action="store_true", help="of training documents alone")
    parser.add_argument("--models", nargs="+", default=models, choices=models, metavar="MODEL")
    parser.add_argument("--analyzer", help="of Annif: simplemma(fi) by default, snowball(finnish)")
    options = parser.parse_args()
    task, language = task_of(options.data_dir, options.holdout), SETS[SET]
    with tempfile.TemporaryDirectory() as folder:
        annif = Annif(options.annif, Path(folder), task.vocabulary, language, options.analyzer)
        n_new = task.truth[:, ~task.is_seen].nnz
        print(
            f"{annif.versions()}, {annif.analyzer}; {len(task.texts):,} documents to learn from, "
            f"{len(task.tested):,} to test with, {task.truth.nnz:,} subjects of them, {n_new:,} "
            "never seen\n"
        )
        print_head("model", *MEASURES, "fit CPU-s", f"suggest CPU-s ({len(task.tested)} docs)")
        for model in options.models:
            if model in OURS:
                print_row(model, Hybrid(task.vocabulary, language, OURS[model]), task)
            else:
                print_row(model, annif, task)


if __name__ == "__main__":
    main()
