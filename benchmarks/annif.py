"""Annif beside the hybrid, and the hybrid as a member of Annif's ensemble, by the same files.

Run: ``python -m benchmarks.annif --annif PATH --data-dir DIR [--holdout] [--data SET …] [--models
MODEL …] [--analyzer ANALYZER]``, where PATH is the ``annif`` of a virtual environment of its own
(``pip install 'annif[omikuji]'``, 1.4 or newer; NLTK's punkt_tab must be there, or it is fetched).
Prints Markdown. With ``--holdout`` the training documents alone are taken, and 15 % of them, drawn
at random, tested: to choose by, as the weights were. Words are normalised alike in both programs.

Annif is run by its command line: one process to learn, one for all texts. Its parameters are the
defaults, but for Omikuji, which is Bonsai as Annif's wiki has it. A sum is Annif's ensemble, the
weighted mean of its members; ``deplda`` there is Annif's http backend, which asks a ``deplda
serve`` of the hybrid, a document a request. Annif draws without a seed: its figures differ a
little from run to run. All know of a concept its preferred name alone, as that is what YSO's list
has; of GND there is no list here, so nobody can look for names, and MLLM is left out.

All subjects of a document count, also those that no training document has. F1@5 is 2 × hits / (5 +
subjects of the document), the mean over documents; "never seen" is the share of the subjects
without a training document that are among the ten best labels. Each gives 100 labels a document;
all others tie below. Times are CPU times: Annif's are of whole processes, with starting Python and
loading the model, all that an ensemble is of included, the service too; the hybrid's by itself are
with compiling.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from paper.data import load
from scipy.sparse import csr_array

from benchmarks.annif_process import N_BEST, Annif, Found, children_seconds
from benchmarks.common import cpu_seconds
from benchmarks.hybrid import print_head, shown
from benchmarks.languages import SETS, split_of, texts_of
from benchmarks.web import served as started
from deplda import Concept, Corpus, HybridLDA, Vocabulary, WordCounter, read_vocabulary
from deplda.data.forms import Normalizer
from deplda.evaluation import rank_metrics


class Material(NamedTuple):
    """What is chosen for a set of documents."""

    names: str | None
    """The file of the vocabulary, if there is one."""
    normalize: Normalizer
    """How deplda normalises words."""
    analyzer: str
    """How Annif does."""


MATERIAL = {
    "kirjastonhoitaja": Material("yso-fi.tsv.gz", "lemma", "simplemma(fi)"),
    "tib-core": Material(None, "snowball", "snowball(german)"),
    "tib-core-en": Material(None, "snowball", "snowball(english)"),
}
LEARNERS: dict[str, dict[str, str]] = {
    "tfidf": {},
    "mllm": {},
    "omikuji": {"cluster_balanced": "False", "cluster_k": "100", "max_depth": "3"},
}
"""Annif's backends that learn, and what is said of them in its configuration."""
OURS, SERVED = "HybridLDA", "deplda"
MODELS = (
    *LEARNERS, "tfidf + omikuji", "mllm + omikuji", OURS, SERVED, "omikuji + deplda",
    "mllm + omikuji + deplda", "mllm + omikuji + 4 deplda",
)  # fmt: skip
MEASURES = ("F1@5", "nDCG", "P@1", "doc. AP", "never seen")


def members_of(model: str) -> dict[str, int]:
    """Return what a model is made of, with weights: "mllm + 2 deplda" is {"mllm": 1, "deplda": 2}.

    >>> members_of("mllm + 2 deplda")
    {'mllm': 1, 'deplda': 2}
    """
    told = [f"1 {member}".split()[-2:] for member in model.split(" + ")]
    return {member: int(weight) for weight, member in told}


class Task(NamedTuple):
    """Documents to learn from and to test with, over all labels of the set and the vocabulary."""

    texts: Sequence[str]
    subjects: Sequence[Sequence[str]]
    is_seen: npt.NDArray[np.bool_]
    """Whether a label has a training document."""
    tested: Sequence[str]
    truth: csr_array[Any, tuple[int, int]]
    labels: Sequence[str]
    vocabulary: Vocabulary | None


def task_of(name: str, data_dir: Path, is_held_out: bool) -> Task:
    data, file = load(name, data_dir), MATERIAL[name].names
    texts, split = texts_of(data, data_dir), split_of(data, is_held_out)
    vocabulary = (
        read_vocabulary(data_dir / "vocabularies" / file, language=SETS[name]) if file else None
    )
    labels = sorted({concept.uri for concept in vocabulary or ()} | set(data.corpus.label_names))
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


class Bench:
    """All models on one task, each learned once, with the CPU-seconds that it took."""

    def __init__(self, command: Path, folder: Path, name: str, task: Task, analyzer: str) -> None:
        self.task, self.folder, language = task, folder, SETS[name]
        # Annif knows no subject without a name.
        named = (Concept(uri=label, names={language: label}) for label in task.labels)
        told = task.vocabulary or Vocabulary(named)
        self.annif = Annif(command, folder, told, language, LEARNERS, analyzer)
        self._counter = WordCounter(
            language=language, normalize=MATERIAL[name].normalize, names=task.vocabulary
        )
        self._hybrid = HybridLDA(random_state=0)
        self._seconds: dict[str, float] = {}

    def train(self, model: str) -> float:
        """Have all members learn that have not; return CPU-seconds of all of them."""
        members = [OURS if member == SERVED else member for member in members_of(model)]
        for member in members:
            if member not in self._seconds:
                self._seconds[member] = both_seconds(partial(self._learn, member))
        return sum(self._seconds[member] for member in members)

    def _learn(self, member: str) -> None:
        texts, subjects = self.task.texts, self.task.subjects
        if member != OURS:
            self.annif.train(member, texts, subjects)
            return
        counts = self._counter.fit_transform(texts)
        vocabulary = self.task.vocabulary
        self._hybrid.fit(counts, subjects, counter=self._counter, vocabulary=vocabulary)
        self._hybrid.save(self.folder / "model")

    def suggest(self, model: str) -> Found:
        """Return the 100 best labels of each test document."""
        if model == OURS:
            ranked = zip(*self._hybrid.rank(self.task.tested, N_BEST), strict=True)
            return [list(zip(own.tolist(), of.tolist(), strict=True)) for own, of in ranked]
        members = members_of(model)
        sources = ",".join(f"{member}:{weight}" for member, weight in members.items())
        projects = LEARNERS | {"sum": {"backend": "ensemble", "sources": sources}}
        with ExitStack() as opened:
            if SERVED in members:
                endpoint = opened.enter_context(served(self.folder / "model"))
                projects[SERVED] = {"backend": "http", "endpoint": endpoint}
            self.annif.configure(projects)
            return self.annif.suggest("sum" if len(members) > 1 else model, self.task.tested)


@contextmanager
def served(model: Path) -> Iterator[str]:
    """Serve a saved model; yield the address that Annif's http backend asks for suggestions."""
    with started(f"{SERVED}={model}") as service:
        yield f"http://127.0.0.1:{service.port}/v1/projects/{SERVED}/suggest"


def both_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that a call takes, with that of the processes that it waits for."""
    begin = children_seconds()
    return cpu_seconds(work) + children_seconds() - begin


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
    found = rank_metrics(scores, truth, ks=(1, 5, N_BEST))
    f1 = 2 * 5 * found["precision@5"] / (5 + truth.sum(axis=1))
    new = csr_array(truth.multiply(~is_seen))
    new.eliminate_zeros()
    n_new = new.sum(axis=1)
    hits = np.nansum(rank_metrics(scores, new, ks=(10,))["recall@10"] * n_new)
    ranked = (found[name] for name in (f"ndcg@{N_BEST}", "precision@1", "average_precision"))
    return [float(np.nanmean(each)) for each in (f1, *ranked)] + [float(hits / max(1, n_new.sum()))]


def print_row(bench: Bench, model: str) -> None:
    """Have a model learn and print what it reaches and costs."""
    fitting, task = bench.train(model), bench.task
    found: list[Found] = []
    suggesting = both_seconds(lambda: found.append(bench.suggest(model)))
    values = measures_of(scores_of(found[0], task.labels), task.truth, task.is_seen)
    cells = [shown(value, 3) for value in values]
    print(f"| {model} | {' | '.join(cells)} | {fitting:.0f} | {suggesting:.0f} |", flush=True)


def print_table(name: str, options: argparse.Namespace) -> None:
    """Print what all models reach on one set."""
    task, material = task_of(name, options.data_dir, options.holdout), MATERIAL[name]
    models = [m for m in options.models if task.vocabulary or "mllm" not in members_of(m)]
    with tempfile.TemporaryDirectory() as folder:
        analyzer = options.analyzer or material.analyzer
        bench = Bench(options.annif, Path(folder), name, task, analyzer)
        versions = (bench.annif.version_of(package) for package in ("annif", "omikuji"))
        n_new = task.truth[:, ~task.is_seen].nnz
        print(
            "\n{}: Annif {}, Omikuji {}, {}; ".format(name, *versions, analyzer)
            + f"words of deplda: {material.normalize}; {len(task.texts):,} documents to learn "
            f"from, {len(task.tested):,} to test with, {task.truth.nnz:,} subjects of them, "
            f"{n_new:,} never seen\n"
        )
        print_head("model", *MEASURES, "fit CPU-s", f"suggest CPU-s ({len(task.tested):,} docs)")
        for model in models:
            print_row(bench, model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annif", type=Path, required=True, help="the executable")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--holdout", action="store_true", help="of training documents alone")
    parser.add_argument("--data", nargs="+", default=[*MATERIAL], choices=MATERIAL, metavar="SET")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS, metavar="MODEL")
    parser.add_argument("--analyzer", help="of Annif: simplemma(fi) by default, snowball(finnish)")
    options = parser.parse_args()
    for name in options.data:
        print_table(name, options)


if __name__ == "__main__":
    main()
