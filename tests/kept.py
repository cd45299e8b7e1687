"""What a release keeps of its file formats, to see that later versions still read them.

`python -m tests.kept` writes a folder of this version into tests/fixtures/kept, once for a release
that changes a format; what is there is never written again. `tests/test_kept.py` reads them all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import deplda
from deplda import (
    Concept,
    Corpus,
    DependencyLDA,
    HybridLDA,
    LabelWords,
    Schedule,
    Vocabulary,
    WordCounter,
)
from deplda.comparison import Comparison, Model, run
from deplda.data.datasets import Dataset

KEPT = Path(__file__).parent / "fixtures" / "kept"
NAMES = ("Baseball", "Medicine", "Elections", "Taxation", "Steroids", "Ballet", "Tunnels", "Bees",
         "Coinage", "Pottery")  # fmt: skip
WORDS = ("pitcher", "doctor", "vote", "levy", "doping", "dancer", "mason", "hive", "mint", "kiln",
         "league", "ward", "poll", "duty")  # fmt: skip
NEW = ["a pitcher, a doctor and medicine", "the vote on taxation", "pottery", "league duty", ""]


def vocabulary() -> Vocabulary:
    return Vocabulary(
        [
            Concept(uri=f"x:{n}", names={"en": name}, synonyms={"en": (f"all {name.lower()}",)})
            for n, name in enumerate(NAMES)
        ]
    )


def documents() -> tuple[list[str], list[list[str]]]:
    """Return texts and labels; names tell more than words, and the last label has no documents."""
    rng = np.random.default_rng(0)
    n = len(NAMES) - 1
    chosen = [sorted({int(n * rng.random() ** 1.5) for _ in range(2)}) for _ in range(90)]

    def text(own: list[int]) -> str:
        about = [WORDS[c] for c in own for _ in range(2)]
        named = [NAMES[c] for c in own if rng.random() < 0.8]
        return " ".join([*rng.permutation([*about, *rng.choice(WORDS, 6)]), *named])

    return [text(own) for own in chosen], [[f"x:{c}" for c in own] for own in chosen]


def models() -> dict[str, Any]:
    """Return a topic model and a hybrid with all that each can keep."""
    texts, labels = documents()
    few: dict[str, Any] = {"n_topics": 2, "n_topic_chains": 1, "n_topic_sweeps": 10}
    topic = DependencyLDA(**few).fit(texts, labels)
    counter = WordCounter(language=None, names=vocabulary())
    counts = counter.fit_transform(texts)
    hybrid = HybridLDA(**few).fit(counts, labels, counter=counter, vocabulary=vocabulary())
    return {"DependencyLDA": topic, "HybridLDA": hybrid.keep_examples(counts, texts)}


def told_by(model: Any) -> dict[str, Any]:
    """Return what a model says of texts, floats to the bit."""
    return {
        "scores": _hex(model.decision_function(NEW)),
        "probabilities": _hex(model.predict_proba(NEW)),
        "labels": [[str(label) for label in each.labels] for each in model.suggest(NEW)],
        "top_words": [str(word.name) for word in model.top_words(model.classes_[0], 3)],
    }


def _hex(scores: Any) -> list[list[str]]:
    return [[float(value).hex() for value in row] for row in scores]


def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    return Corpus(rng.integers(0, 3, (20, 8)), rng.random((20, 4)) < 0.5)


def chains(folder: Path, *, resume: bool) -> LabelWords:
    """Train with a checkpoint, or go on from one."""
    plan: dict[str, Any] = {"n_chains": 2, "schedule": Schedule(4), "seed": 1}
    return deplda.train_label_words(corpus(), **plan, checkpoint=folder, resume=resume).label_words


def results(folder: Path) -> None:
    """Compare two models on few documents."""
    split = deplda.Split(np.arange(10), np.arange(10, 20))
    models = {"Flat": Model("FlatLDA"), "tf-idf SVM": Model("TfidfSVM")}
    few = Dataset("few", corpus(), (split,))
    run(Comparison(name="kept", data="few", models=models), folder, few)
    for path in (folder / "units").iterdir():
        unit = json.loads(path.read_bytes())
        for tasks in unit["found"]["resampled"].values():  # a hundred kB of draws
            for metrics in tasks.values():
                metrics.update({name: draws[:20] for name, draws in metrics.items()})
        path.write_text(json.dumps(unit), encoding="utf-8")


def keep(folder: Path) -> None:
    """Write what this version writes into a new folder."""
    folder.mkdir(parents=True)
    for name, model in models().items():
        model.save(folder / name, metrics={"average_precision": 0.5})
        told = json.dumps(told_by(deplda.load(folder / name)), indent=1)
        (folder / f"{name}.json").write_text(told + "\n", encoding="utf-8")
    chains(folder / "checkpoint", resume=False)
    results(folder / "results")


if __name__ == "__main__":
    keep(KEPT / deplda.__version__)
