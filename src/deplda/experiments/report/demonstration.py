"""The demonstration: seven models on a data set, a leaderboard, a story and a report."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import structs
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from deplda.data import datasets, wording
from deplda.data.datasets import Dataset
from deplda.data.files import StrPath
from deplda.data.splits import Split, random_split
from deplda.engine.progress import stage
from deplda.experiments import Results, read_experiment, read_results, run
from deplda.experiments.report.overview import leaderboard
from deplda.experiments.report.pages import write_report
from deplda.experiments.report.phrases import listed
from deplda.experiments.report.showcase import explanation_of
from deplda.models.dependency import DependencyLDA
from deplda.models.registry import WHICH_MODEL

_MODEL = "Dependency-LDA"
_MOST_DOCUMENTS = 6000
"""So that seven models take a few minutes at most on two cores."""
_SHOWN = 400
"""Characters of a text that are shown."""


def demo(
    folder: StrPath,
    console: Console | None = None,
    *,
    data: str = "newsroom",
    data_dir: StrPath | None = None,
) -> Path:
    """Train seven models on a data set, tell what came out, and return the report's path.

    Of a large data set some documents are taken. What an earlier demonstration left in the folder
    is made anew.
    """
    console = Console() if console is None else console
    place = Path(folder)
    results, report = place / "results", place / "report.html"
    if (results / "experiment.json").exists():
        shutil.rmtree(results)
    place.mkdir(parents=True, exist_ok=True)
    if not datasets.is_here(data, data_dir):
        datasets.fetch(data, data_dir)
    with stage(f"reading {data}", None):
        whole = datasets.load(data, data_dir)
    shown = _some(whole)
    experiment = structs.replace(
        read_experiment("newsroom"), name=whole.name, data=whole.name, splits=[0]
    )
    n, n_all = len(shown.corpus), len(whole.corpus)
    what = f"{n:,} {'generated ' if whole.generated else ''}documents"
    if n < n_all:
        what = f"{n:,} of {n_all:,} documents, drawn at random"
        experiment = structs.replace(experiment, note=f"a demonstration on {what}")
    console.print(f"Training {listed(list(experiment.models))} on {whole.name}, {what} …")
    run(experiment, results, budget="quick", data=shown)
    write_report(results, report)
    _tell(read_results(results), shown, console)
    console.print(leaderboard(results))
    console.print(f"\n{WHICH_MODEL}")
    console.print(f"\nThe whole report: {report.resolve()}", soft_wrap=True)
    return report


def _some(data: Dataset) -> Dataset:
    """Return a data set with its first split, and so many documents as are learned from soon."""
    split = data.splits[0] if data.splits else random_split(data.corpus, 0.25)
    n = len(data.corpus)
    if n <= _MOST_DOCUMENTS:
        return replace(data, splits=(split,))
    drawn = np.random.default_rng(0).permutation(n)[:_MOST_DOCUMENTS]
    rows = np.intersect1d(drawn, np.concatenate(split))
    corpus = data.corpus[rows]
    texts = tuple(data.texts[row] for row in rows) if data.texts else ()
    parts = (np.flatnonzero(np.isin(rows, part)) for part in split)
    return replace(
        data, corpus=corpus.keep_words(1).keep_labels_met(), splits=(Split(*parts),), texts=texts
    )


def _tell(results: Results, data: Dataset, console: Console) -> None:
    """Print the story of a label of one document, and why a document got its labels."""
    found = next((u.found for u in results.done if u.model == _MODEL), None)
    if found is None:
        failed = [unit for unit in results.units if unit.status == "failed"]
        console.print("\n".join(f"{unit.model} failed: {unit.error}" for unit in failed))
        return
    _tell_of_a_rare_label(data, console)
    true = " · ".join(found["showcase"]["true"])
    console.print(f"A test document that has {true}:", highlight=False)
    explanation = explanation_of(found["showcase"])
    best = tuple(
        structs.replace(reason, words=reason.words[:4]) for reason in explanation.reasons[:3]
    )
    console.print(structs.replace(explanation, reasons=best))
    console.print()


def _tell_of_a_rare_label(data: Dataset, console: Console) -> None:
    """Print what is learned of a label from its only document, which has frequent labels too."""
    story = _story(data)
    if story is None:
        return
    corpus, counts = data.corpus, data.corpus[data.splits[0].train].label_counts
    beside = listed(
        f"{corpus.label_names[c]} ({wording.counted(int(counts[c]), 'document')})"
        for c in story.others[:2]
    )
    begin = f"\n{corpus.label_names[story.label]} has a single training document"
    console.print(f"{begin}, which has {beside} too:", highlight=False, markup=False)
    title = Text(" · ".join(corpus.label_names[c] for c in (story.label, *story.others)))
    console.print(Panel(Text(_shown(data, story.row)), title=title, title_align="left"))
    learned = f"The words that {_MODEL} learns for it there: {', '.join(story.words)}.\n"
    console.print(learned, highlight=False, markup=False)


class _Story(NamedTuple):
    """A label of one training document, the other labels of it, and the words that are learned."""

    label: int
    row: int
    others: list[int]
    words: list[str]


def _story(data: Dataset) -> _Story | None:
    """Return the story of which most words are like those of the label's name, the first of such.

    φ is learned here once more, which takes a moment: results have it of a few labels only.
    """
    train = data.corpus[data.splits[0].train]
    counts, stories = train.label_counts, list[_Story]()
    model = DependencyLDA(n_topic_chains=1, n_topic_sweeps=1, n_held_out=0).fit(train)
    for place, own in enumerate(np.split(train.labels.indices, train.labels.indptr[1:-1])):
        others = sorted((int(c) for c in own if counts[c] > 1), key=lambda c: -counts[c])
        for label in own[counts[own] == 1].tolist() if len(others) > 1 else ():
            name = train.label_names[label]
            words = [word.name for word in model.top_words(name, 8)]
            stories.append(_Story(label, int(data.splits[0].train[place]), others, words))
    return max(stories, key=lambda each: _likeness(train.label_names[each.label], each.words),
               default=None)  # fmt: skip


def _likeness(name: str, words: list[str]) -> int:
    """Return how many words begin as one of a name does, as gamer and gaming do of games."""
    begin = {word[:3] for word in re.split(r"\W+", name.lower()) if len(word) > 2}
    return sum(word[:3] in begin for word in words)


def _shown(data: Dataset, row: int) -> str:
    """Return the beginning of a document's text, or its most frequent words."""
    if data.texts:
        text = data.texts[row]
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rsplit(maxsplit=1)[0]} …"
    counts = data.corpus.counts[[row]].toarray()[0]
    best = counts.argsort()[::-1][:14]
    return ", ".join(data.corpus.vocabulary[word] for word in best if counts[word])
