"""What names of labels are worth: the hybrid with them, without them, and names alone.

Run: ``python -m benchmarks.names --data-dir DIR [--data SET …] [--rows ROW …] [--holdout]``.
Prints Markdown. Without ``--holdout`` test documents are looked at, with it 15 %
of the training documents, drawn at random. kirjastonhoitaja has the Finnish list of YSO, 27,000
concepts, of which most are in no training document; eurlex20k the names of its EUROVOC concepts, on
three folds; the tags of debtags and stackex-cooking are names themselves.

AP, F1@5 and P@1 are means over documents, beside all of their labels, also those that no training
document has; "unseen" is the share of the latter that are among the ten best. What follows is of
the labels alone that training documents have: AP by document and by label, and that of the rarest
fifth of labels. "names alone" ranks by how a name stands in the text (`models/name_evidence.py`),
as learned from training documents; other labels follow by frequency. `benchmarks.annif` has Annif's
MLLM, omikuji and their ensemble beside the hybrid, on the same texts of kirjastonhoitaja.

Run: ``python -m benchmarks.names --scale``, on generated texts and a generated thesaurus of 500,000
concepts, of which 20,000 are used: seconds to load a model, memory that it adds, and CPU time of a
prediction, beside a model of the same documents without the thesaurus.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import tempfile
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from paper.data import load as load_data
from scipy.sparse import csr_array

from benchmarks.common import cpu_seconds, seconds
from benchmarks.hybrid import apart, print_head, shown, sources
from benchmarks.languages import BASE, WAYS, texts_of
from benchmarks.power_law import power_law
from deplda import (
    Concept,
    Corpus,
    HybridLDA,
    Vocabulary,
    WordCounter,
    evaluate,
    load,
    read_vocabulary,
)
from deplda.data.datasets import Dataset
from deplda.data.splits import Split, random_split
from deplda.data.vocabulary import with_concepts
from deplda.evaluation import rank_metrics
from deplda.models.name_evidence import (
    NamePairs,
    WordDocuments,
    index_of,
    learn_weights,
    names_by_label,
)

Floats = npt.NDArray[np.float64]

FIGURES = ("AP", "F1@5", "P@1", "unseen", "AP, seen", "label AP", "rarest fifth")
SPLITS = {"kirjastonhoitaja": 1, "eurlex20k": 3, "debtags": 1, "stackex-cooking": 1}
WAY: dict[str, dict[str, Any]] = {
    "kirjastonhoitaja": WAYS["lemma"] | {"language": "fi"},
    "eurlex20k": WAYS["phrases"] | {"language": "en"},
    "debtags": WAYS["default"] | {"language": "en"},
}
"""How words are counted, chosen on training documents; stackex-cooking has counts alone."""


class Task(NamedTuple):
    """Documents to learn from and to test with, and what their labels are called."""

    train: Corpus
    test: Corpus
    """Over the same words and labels; labels that no training document has are the last."""
    n_seen: int
    """Labels that training documents have."""
    counter: WordCounter | None
    vocabulary: Vocabulary | None
    groups: list[str] | None

    @property
    def taught(self) -> Corpus:
        """The documents to learn from, with the labels that they have."""
        return self.train.align(labels=self.train.label_names[: self.n_seen])


def task_of(name: str, split: int, data_dir: Path, holdout: bool) -> Task:
    """Return a set's documents, counted with names and labelled by the addresses of concepts."""
    data = load_data(name, data_dir)
    corpus, rows, vocabulary = data.corpus, data.splits[split], None
    if name == "kirjastonhoitaja":
        vocabulary = read_vocabulary(data_dir / "vocabularies" / "yso-fi.tsv.gz", language="fi")
    elif name == "eurlex20k":
        vocabulary = read_vocabulary(data_dir / name / "labels.txt", language="en")
    if vocabulary is not None:
        corpus, _ = with_concepts(corpus, vocabulary)
    if holdout:
        part = random_split(corpus[rows.train], 0.15, seed=split + 1)
        rows = Split(rows.train[part.train], rows.train[part.test])
    counter, texts = None, list[str]()
    if name in WAY:
        texts = descriptions(data, data_dir) if name == "debtags" else [*texts_of(data, data_dir)]
        counter = WordCounter(**BASE | WAY[name], names=vocabulary or corpus.label_names)
        counter.fit([texts[row] for row in rows.train])
        counts = counter.transform(texts)
        corpus = Corpus(counts, corpus.labels, counter.vocabulary_, corpus.label_names, corpus.ids)
    often = corpus[rows.train].label_counts
    order = np.argsort(often == 0, kind="stable")
    corpus = corpus.align(labels=[corpus.label_names[c] for c in order])
    train, test = corpus[rows.train], corpus[rows.test]
    groups = sources(train, data_dir) if name == "debtags" else None
    return Task(train, test, int((often > 0).sum()), counter, vocabulary, groups)


def descriptions(data: Dataset, data_dir: Path) -> list[str]:
    """Return the texts of Debian's packages."""
    with gzip.open(data_dir / data.name / "text.jsonl.gz", "rt", encoding="utf-8") as lines:
        text_of = {row["package"]: row["text"] for row in map(json.loads, lines)}
    return [text_of[package] for package in data.corpus.ids]


def with_names(task: Task) -> Floats:
    """Return the scores of the hybrid as it is."""
    model = HybridLDA().fit(
        task.taught, groups=task.groups, counter=task.counter, vocabulary=task.vocabulary
    )
    return scores_in_order(task, model.decision_function(task.test), model.classes_.tolist())


def without_names(task: Task) -> Floats:
    """Return the scores of a hybrid whose words and labels have no names."""
    is_word = np.arange(task.train.n_words)
    if task.counter is not None:
        is_word = np.setdiff1d(is_word, task.counter.names_at_)
    taught, test = task.taught.take_words(is_word), task.test.take_words(is_word)
    model = HybridLDA().fit(taught.counts, taught.labels, groups=task.groups)
    return scores_in_order(task, model.decision_function(test.counts), list(taught.label_names))


def names_alone(task: Task) -> Floats:
    """Return the scores of names, as they stand in documents."""
    labels = list(task.train.label_names)
    if task.vocabulary is not None:
        labels += sorted({each.uri for each in task.vocabulary if not each.deprecated} - {*labels})
    counter = task.counter or WordCounter(language=None, stop_words=None)
    names = names_by_label(labels, task.vocabulary, counter.language_code_)
    index = index_of(names, task.train.vocabulary, counter.name_analyzer())
    index = index.rarest_first(WordDocuments.of(task.train.counts))
    learned, tested = (
        index.find(part.counts, part.document_lengths.astype(np.float64))
        for part in (task.train, task.test)
    )
    often = np.append(task.train.label_counts, np.zeros(len(labels) - task.train.n_labels))
    is_own = learned.labels < task.train.n_labels
    own = np.minimum(learned.labels, task.train.n_labels - 1)
    truth = np.asarray(task.train.labels[learned.documents, own]).ravel() & is_own
    # Each of a label's documents is told by the others.
    before = np.maximum(often[learned.labels] - truth, 0.5)
    frequency = np.log(before / len(task.train))
    weights = learn_weights(NamePairs(learned.features, truth, frequency, before < 1))
    assert weights is not None
    scores = np.tile(np.log(np.maximum(often, 0.5)) - 50, (len(task.test), 1))
    told = weights.scores(tested.features) + weights.unseen * (often[tested.labels] == 0)
    scores[tested.documents, tested.labels] = told
    return scores_in_order(task, scores, labels)


def scores_in_order(task: Task, scores: Floats, labels: list[str]) -> Floats:
    """Return scores with the columns of the task first, then those of other labels."""
    places = {label: place for place, label in enumerate(labels)}
    own = [places.pop(label, -1) for label in task.train.label_names]
    below = scores.min() - 1
    found = np.where(np.array(own) >= 0, scores[:, own], below)
    return np.concatenate([found, scores[:, list(places.values())]], axis=1)


def figures_of(task: Task, scores: Floats) -> list[float]:
    """Return the figures, in the order of `FIGURES`."""
    truth = task.test.labels
    whole = csr_array((truth.data, truth.indices, truth.indptr), shape=scores.shape)
    found = rank_metrics(scores, whole, ks=(1, 5))
    n_labels = np.diff(truth.indptr)
    f1 = 2 * 5 * found["precision@5"] / (5 + n_labels)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    rows, columns = truth.nonzero()
    is_unseen = columns >= task.n_seen
    hits = (best[rows[is_unseen]] == columns[is_unseen, None]).any(axis=1)
    seen = evaluate(
        scores[:, : task.n_seen], truth[:, : task.n_seen], task.train.labels[:, : task.n_seen]
    )
    return [
        float(np.nanmean(found["average_precision"])),
        float(np.nanmean(f1)),
        float(np.nanmean(found["precision@1"])),
        float(hits.mean()) if len(hits) else float("nan"),
        seen.document["average_precision"],
        seen.label["average_precision"],
        seen.by_frequency().bins[0].means["average_precision"].value,
    ]


def measured(given: tuple[str, str, int, Path, bool]) -> tuple[list[float], float]:
    """Return the figures of one row on one split, and its CPU-seconds."""
    row, task, found = given[0], task_of(*given[1:]), list[Floats]()
    spent = cpu_seconds(lambda: found.append(ROWS[row](task)))
    return figures_of(task, found[0]), spent


ROWS: dict[str, Callable[[Task], Floats]] = {
    "names alone": names_alone, "hybrid without names": without_names, "hybrid": with_names,
}  # fmt: skip


# Scale --------------------------------------------------------------------------------------------

N_CONCEPTS, N_USED, N_DOCUMENTS, N_TESTED = 500_000, 20_000, 40_000, 2_000


def written(n_documents: int) -> tuple[list[str], list[list[str]], Vocabulary]:
    """Return generated texts of EUR-Lex's shape, their labels, and a thesaurus.

    Names have one to three words. Those of one word have it for themselves; words of the others
    are frequent or rare alike, but for the 300 that are in nearly every text.
    """
    rng = np.random.default_rng(0)
    corpus = power_law(
        n_documents, N_USED, 60_000, tokens_per_document=250, labels_per_document=5.4
    )
    n_words, sizes = 400_000, rng.choice([1, 2, 3], N_CONCEPTS, p=[0.4, 0.4, 0.2])
    spelt = np.array([_spelt(number) for number in range(n_words)])
    alone = iter(rng.permutation(n_words)[: int((sizes == 1).sum())].tolist())
    ranks = iter(np.geomspace(300, n_words - 1, 3 * N_CONCEPTS)[rng.permutation(3 * N_CONCEPTS)])
    concepts = [
        Concept(
            uri=f"http://example.org/{c}",
            names={
                "en": " ".join(
                    spelt[[next(alone)] if n == 1 else [int(next(ranks)) for _ in range(n)]]
                )
            },
        )
        for c, n in enumerate(sizes.tolist())
    ]
    texts, labels, tokens = [], [], corpus.tokens()
    for d in range(len(corpus)):
        words = tokens.words[tokens.starts[d] : tokens.starts[d + 1]]
        own = corpus.labels.indices[corpus.labels.indptr[d] : corpus.labels.indptr[d + 1]]
        mixed = [*spelt[rng.permutation(words)]]
        for c in own:
            mixed.insert(int(rng.integers(len(mixed) + 1)), concepts[c].name("en"))
        texts.append(" ".join(mixed))
        labels.append([concepts[c].uri for c in own])
    return texts, labels, Vocabulary(concepts)


def _spelt(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    found = ""
    for _ in range(max(3, int(log(number + 1, 26)) + 1)):
        number, place = divmod(number, 26)
        found += letters[place]
    return found


def scale(with_thesaurus: bool) -> list[float]:
    """Return seconds to load, MB that loading adds, ms of a prediction, and MB saved."""
    texts, labels, vocabulary = written(N_DOCUMENTS + N_TESTED)
    counter = WordCounter(language="en", names=vocabulary if with_thesaurus else None)
    counts = counter.fit_transform(texts[:N_DOCUMENTS])
    with tempfile.TemporaryDirectory() as folder:
        HybridLDA(C=1.0, candidates=100).fit(
            counts, labels[:N_DOCUMENTS], counter=counter,
            vocabulary=vocabulary if with_thesaurus else None,
        ).save(Path(folder) / "model")  # fmt: skip
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6
        spent = apart(used, (Path(folder) / "model", texts[N_DOCUMENTS:]))
    return [*spent, size]


def used(given: tuple[Path, Sequence[str]]) -> list[float]:
    """Return what a saved model costs in a process of its own."""
    path, texts = given
    model: list[Any] = []
    before = in_memory()
    loading = seconds(lambda: model.append(load(path)))
    model[0].rank(texts[:100], 10)
    after = in_memory()
    counter = model[0].counter_
    counting = cpu_seconds(lambda: counter.transform(texts)) / len(texts) * 1e3
    whole = min(cpu_seconds(lambda: model[0].rank(texts, 10)) for _ in range(2))
    found = [loading, after - before, counting, whole / len(texts) * 1e3]
    names = model[0]._names
    if names is None:
        return [*found, float("nan")]
    counts = counter.transform(texts)
    lengths = np.ones(len(texts))
    return [*found, cpu_seconds(lambda: names.finder.find(counts, lengths)) / len(texts) * 1e3]


def in_memory() -> float:
    """Return the MB that this process has in memory now."""
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def print_scale() -> None:
    print_head(
        "model", "load s", "MB in memory", "counting ms a doc.", "all ms a doc.",
        "finding names ms a doc.", "MB saved",
    )  # fmt: skip
    for name, with_thesaurus in (("without", False), (f"{N_CONCEPTS:,} concepts", True)):
        values = apart(scale, with_thesaurus)
        digits = (1, 0, 2, 2, 2, 0)
        cells = [shown(value, n) for value, n in zip(values, digits, strict=True)]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--data", nargs="+", default=[*SPLITS], choices=[*SPLITS], metavar="SET")
    parser.add_argument("--rows", nargs="+", default=[*ROWS], choices=[*ROWS], metavar="ROW")
    parser.add_argument("--holdout", action="store_true")
    parser.add_argument("--scale", action="store_true")
    options = parser.parse_args()
    if options.scale:
        print_scale()
        return
    if options.data_dir is None:
        parser.error("--data-dir is missing")
    print_head("set", "model", *FIGURES, "CPU s")
    for name in options.data:
        for row in options.rows:
            found = [
                apart(measured, (row, name, n, options.data_dir, options.holdout))
                for n in range(SPLITS[name])
            ]
            values = np.mean([figures for figures, _ in found], axis=0)
            spent = np.mean([each for _, each in found])
            cells = [shown(value, 3) for value in values]
            print(f"| {name} | {row} |", " | ".join([*cells, shown(spent, 0)]), "|", flush=True)


if __name__ == "__main__":
    main()
