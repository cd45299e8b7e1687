"""A model, its folder, and what may be wrong with that."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from deplda import Corpus, DependencyLDA
from deplda.models.cutting import CUTOFFS
from deplda.models.topic_model import TopicModel

CARD, ARRAYS = "card.json", "arrays.safetensors"


@cache
def corpus() -> Corpus:
    """More labels than a draw over all of them is used for, so that every kernel has its turn."""
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson(0.4, (40, 12)), rng.random((40, 70)) < 0.05
    return Corpus(counts, labels, [f"w{i}" for i in range(12)], [f"l{i}" for i in range(70)])


@cache
def fitted() -> DependencyLDA:
    model = DependencyLDA(n_topics=3, n_topic_chains=2, n_topic_sweeps=5, n_jobs=1).fit(corpus())
    samples: dict[str, Any] = {"burn_in": 2, "n_samples": 2, "lag": 1, "n_label_tokens": 5}
    return model.set_params(**samples)


@cache
def saved() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        fitted().save(Path(folder) / "model")
        return {name: (Path(folder) / "model" / name).read_bytes() for name in (CARD, ARRAYS)}


def write(path: Path, files: dict[str, bytes]) -> None:
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name).write_bytes(content)


def edit_card(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    card = json.loads((path / CARD).read_bytes())
    edit(card)
    (path / CARD).write_text(json.dumps(card), encoding="utf-8")


def edit_arrays(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    arrays = {name: np.array(array) for name, array in load_file(path / ARRAYS).items()}
    edit(arrays)
    # safetensors writes the memory from where an array begins: of a reversed one, what lies behind.
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    save_file(arrays, path / ARRAYS, {"id": json.loads((path / CARD).read_bytes())["id"]})


def use(model: TopicModel) -> None:
    """Do all that reads a model's arrays."""
    documents = corpus().counts[:5]
    for inference in ("deterministic", "sampled", "proper"):
        model.set_params(inference=inference).rank(documents, 3)
    model.explain(documents[[0]]).to_html()
    if model.has_probabilities:
        for cutoff in CUTOFFS:
            model.suggest(documents, cutoff=cutoff)
    model.topics()
    for label in model.classes_[:3]:
        model.top_words(label)
        model.similar_labels(label)
        model.similar_labels(label, by="topics")
    model.partial_fit(documents, corpus().labels[:5])
