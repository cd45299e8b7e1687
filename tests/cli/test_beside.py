"""What documents come with: files of other programs and vectors, by id and in order."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from deplda import InputError, datasets, load, read_corpus, write_jsonl
from deplda.cli import root
from deplda.cli.beside import Beside, Known, beside_options
from deplda.data.readers import Record


def run(*words: Any) -> Any:
    return CliRunner().invoke(root, [*map(str, words)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents to learn from and new ones, an expert that knows most, and vectors that do."""
    folder, rng = tmp_path_factory.mktemp("beside"), np.random.default_rng(0)
    corpus = datasets.newsroom(300).corpus
    directions = rng.normal(size=(corpus.n_labels, 30))
    for name, part in (("train", corpus[:200]), ("new", corpus[200:])):
        write_jsonl(part, folder / f"{name}.jsonl")
        lines = ["id,label,score"]
        for d, id in enumerate(part.ids):
            true = part.labels[[d]].indices
            others = np.setdiff1d(rng.choice(corpus.n_labels, 4, replace=False), true)
            for own, score in ((true, 0.9), (others, 0.2)):
                lines += [f'{id},"{part.label_names[c]}",{score}' for c in own]
        (folder / f"{name}.csv").write_text("\n".join(lines))
        vectors = part.labels.astype(float) @ directions
        np.save(folder / f"{name}.npy", vectors + rng.normal(size=vectors.shape))
    found = run(
        "train", folder / "train.jsonl", "-o", folder / "model", "--set", "C=1",
        "--set", "n_topic_sweeps=20", "--expert", f"wise={folder / 'train.csv'}",
        "--embeddings", folder / "train.npy",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "Weighed beside words: wise, vectors, neighbours." in found.output
    return folder


def with_all(folder: Path, name: str = "new") -> list[str]:
    return ["--expert", f"wise={folder / name}.csv", "--embeddings", f"{folder / name}.npy"]


def test_what_is_given_makes_evaluation_better_and_its_absence_is_said(folder: Path) -> None:
    both = run("evaluate", folder / "model", folder / "new.jsonl", "--json", *with_all(folder))
    alone = run("evaluate", folder / "model", folder / "new.jsonl", "--json")
    assert both.exit_code == alone.exit_code == 0, both.output + alone.output
    with_experts, by_words = (
        json.loads(each.stdout)["document"]["ranking"]["average_precision"]
        for each in (both, alone)
    )
    assert with_experts > by_words
    assert "by words alone; the model also weighs wise, vectors" in alone.stderr
    tuned = run("tune", folder / "model", folder / "new.jsonl", *with_all(folder))
    assert tuned.exit_code == 0, tuned.output


def test_predictions_are_those_of_the_model_and_are_resumed(folder: Path) -> None:
    found, expected = folder / "found.jsonl", folder / "expected.jsonl"
    asked = ["predict", folder / "model", folder / "new.jsonl", *with_all(folder), "-o"]
    assert run(*asked, expected).exit_code == 0
    found.write_bytes(b"".join(expected.read_bytes().splitlines(keepends=True)[:30]))
    again = run(*asked, found, "--resume")
    assert again.exit_code == 0, again.output
    assert found.read_bytes() == expected.read_bytes()
    model: Any = load(folder / "model")
    beside = Beside({"wise": folder / "new.csv"}, folder / "new.npy").opened()
    corpus = read_corpus(folder / "new.jsonl").align(model.words_)
    beside.number(corpus.ids)
    (first, *_) = model.suggest(beside.of_corpus(corpus))
    told = json.loads(expected.read_text().splitlines()[0])["labels"]
    assert [each["label"] for each in told] == first.labels.tolist()
    lacks = run(*asked[:5], "-o", folder / "lacks.jsonl")
    assert "fitted with embeddings" in lacks.output


def test_a_text_is_explained_by_words_alone(folder: Path) -> None:
    found = run("explain", folder / "model", folder / "new.jsonl", "-k", 2)
    assert found.exit_code == 0, found.output
    assert "by words alone" in found.stderr


def test_learning_on_takes_vectors(folder: Path) -> None:
    lacks = run("learn", folder / "model", folder / "new.jsonl", "-o", folder / "next")
    assert lacks.exit_code != 0
    assert "--embeddings" in lacks.output
    found = run(
        "learn", folder / "model", folder / "new.jsonl", "-o", folder / "next",
        "--embeddings", folder / "new.npy",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    model: Any = load(folder / "next")
    assert len(model._vectors.directions) == model.label_sets_.shape[0] == 300


def test_too_few_vectors_are_refused_before_any_work(folder: Path) -> None:
    found = run(
        "evaluate", folder / "model", folder / "new.jsonl", "--expert", f"wise={folder}/new.csv",
        "--embeddings", folder / "train.npy",
    )  # fmt: skip
    assert found.exit_code != 0
    assert "there are 200 embeddings for 100 documents" in found.output


def test_other_models_take_no_experts(folder: Path) -> None:
    found = run(
        "train", folder / "train.jsonl", "-o", folder / "flat", "--model", "flat",
        "--expert", f"wise={folder / 'train.csv'}",
    )  # fmt: skip
    assert found.exit_code != 0
    assert "--expert and --embeddings are for hybrid" in found.output


@pytest.mark.parametrize("given", ["wise", "=x.csv", "wise="])
def test_an_expert_has_a_name_and_a_file(given: str) -> None:
    @click.command()
    @beside_options
    def verb(beside: Beside) -> None: ...

    found = CliRunner().invoke(verb, ["--expert", given])
    assert found.exit_code != 0
    assert "it must be NAME=FILE" in found.output


def records(*ids: str) -> Any:
    return iter([Record(n, id, {}, ()) for n, id in enumerate(ids)])


def test_vectors_are_taken_in_turn_and_a_document_that_is_there_twice_is_refused() -> None:
    vectors = np.arange(6.0).reshape(3, 2)
    known = Known({}, vectors)
    assert [record.id for record in known.numbered(records("a", "b", "c"))] == ["a", "b", "c"]
    np.testing.assert_array_equal(known.of([], ["c", "a"]).embeddings, vectors[[2, 0]])
    for ids, problem in (
        ("aba", "document 'a' is there twice"),
        ("abcd", "more documents than the 3 embeddings"),
        ("ab", "3 embeddings for 2 documents"),
    ):
        with pytest.raises(InputError, match=problem):
            list(Known({}, vectors).numbered(records(*ids)))
