"""External arrays on the command line: scores by document id, embeddings in order."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from deplda import Documents, InputError, ReadError, datasets, load, read_scores, write_jsonl
from deplda.cli import root
from deplda.cli.external import ExternalArrays, ExternalFiles, external_options
from deplda.data.readers import Record
from deplda.data.readers.score_files import ScoreFile


def run(*words: Any) -> Any:
    return CliRunner().invoke(root, [*map(str, words)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training and new documents, scores that are mostly right, embeddings, and a model of them."""
    folder, rng = tmp_path_factory.mktemp("external"), np.random.default_rng(0)
    corpus = datasets.newsroom(300).corpus
    directions = rng.normal(size=(corpus.n_labels, 30))
    for name, part in (("train", corpus[:200]), ("new", corpus[200:])):
        write_jsonl(part, folder / f"{name}.jsonl")
        lines = ["id,label,score"]
        for d, id in enumerate(part.ids):
            true = part.labels[[d]].indices
            others = np.setdiff1d(rng.choice(corpus.n_labels, 4, replace=False), true)
            for labels, score in ((true, 0.9), (others, 0.2)):
                lines += [f'{id},"{part.label_names[c]}",{score}' for c in labels]
        (folder / f"{name}.csv").write_text("\n".join(lines))
        vectors = part.labels.astype(float) @ directions
        np.save(folder / f"{name}.npy", vectors + rng.normal(size=vectors.shape))
    result = run(
        "train", folder / "train.jsonl", "-o", folder / "model", "--set", "C=1",
        "--set", "n_topic_sweeps=20", "--scores", f"wise={folder / 'train.csv'}",
        "--embeddings", folder / "train.npy",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "The model uses embeddings and scores of 'wise', and requires them" in result.output
    return folder


def with_all(folder: Path, name: str = "new") -> list[str]:
    return ["--scores", f"wise={folder / name}.csv", "--embeddings", f"{folder / name}.npy"]


def test_a_model_is_evaluated_with_its_arrays_and_requires_them(folder: Path) -> None:
    documents = folder / "model", folder / "new.jsonl"
    result = run("evaluate", *documents, "--json", *with_all(folder))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["document"]["ranking"]["average_precision"] > 0.8
    result = run("tune", *documents, *with_all(folder))
    assert result.exit_code == 0, result.output
    for command in (
        ["evaluate", *documents], ["tune", *documents], ["predict", *documents],
        ["queue", *documents], ["explain", *documents],
    ):  # fmt: skip
        result = run(*command)
        assert result.exit_code == 1
        assert "requires them; pass Documents(X, embeddings=..., scores=" in result.output
        assert "predict, evaluate and tune take --embeddings FILE --scores wise" in result.output


def test_predictions_are_those_of_the_model_and_are_resumed(folder: Path) -> None:
    resumed, expected = folder / "resumed.jsonl", folder / "expected.jsonl"
    command = ["predict", folder / "model", folder / "new.jsonl", *with_all(folder), "-o"]
    assert run(*command, expected).exit_code == 0
    resumed.write_bytes(b"".join(expected.read_bytes().splitlines(keepends=True)[:30]))
    again = run(*command, resumed, "--resume")
    assert again.exit_code == 0, again.output
    assert resumed.read_bytes() == expected.read_bytes()
    model: Any = load(folder / "model")
    corpus = datasets.newsroom(300).corpus[200:].align(model.words_)
    scores = read_scores(folder / "new.csv", corpus.ids, model.classes_)
    vectors = np.load(folder / "new.npy")
    (first, *_) = model.suggest(Documents(corpus, embeddings=vectors, scores={"wise": scores}))
    labels = json.loads(expected.read_text().splitlines()[0])["labels"]
    assert [each["label"] for each in labels] == first.labels.tolist()


def test_an_update_takes_embeddings(folder: Path) -> None:
    command = "learn", folder / "model", folder / "new.jsonl", "-o", folder / "next"
    lacks = run(*command)
    assert lacks.exit_code != 0
    assert "--embeddings" in lacks.output
    result = run(*command, "--embeddings", folder / "new.npy")
    assert result.exit_code == 0, result.output
    model: Any = load(folder / "next")
    assert len(model._embedded.directions) == model.label_sets_.shape[0] == 300


def test_too_few_embeddings_are_refused_before_any_work(folder: Path) -> None:
    result = run(
        "evaluate", folder / "model", folder / "new.jsonl", "--scores", f"wise={folder}/new.csv",
        "--embeddings", folder / "train.npy",
    )  # fmt: skip
    assert result.exit_code != 0
    assert "there are 200 embeddings for 100 documents" in result.output


def test_other_models_take_no_arrays(folder: Path) -> None:
    scores = "--scores", f"wise={folder / 'train.csv'}"
    command = "train", folder / "train.jsonl", "-o", folder / "flat", "--model", "flat"
    result = run(*command, *scores)
    assert result.exit_code != 0
    assert "--scores and --embeddings are for hybrid" in result.output
    assert run(*command).exit_code == 0
    result = run("predict", folder / "flat", folder / "new.jsonl", *scores)
    assert result.exit_code == 0
    assert "uses no scores or embeddings; the options are ignored" in result.output


@pytest.mark.parametrize("text", ["wise", "=x.csv", "wise="])
def test_scores_have_a_name_and_a_file(text: str) -> None:
    @click.command()
    @external_options
    def command(external: ExternalFiles) -> None: ...

    result = CliRunner().invoke(command, ["--scores", text])
    assert result.exit_code != 0
    assert "it must be NAME=FILE" in result.output


def records(*ids: str) -> Any:
    return iter([Record(n, id, {}, ()) for n, id in enumerate(ids)])


def test_embeddings_are_taken_in_turn_and_a_document_that_is_there_twice_is_refused() -> None:
    vectors = np.arange(6.0).reshape(3, 2)
    arrays = ExternalArrays({}, vectors)
    assert [record.id for record in arrays.numbered(records("a", "b", "c"))] == ["a", "b", "c"]
    np.testing.assert_array_equal(arrays.of([], ["c", "a"], []).embeddings, vectors[[2, 0]])
    for ids, problem in (
        ("aba", "document 'a' is there twice"),
        ("abcd", "more documents than the 3 embeddings"),
        ("ab", "3 embeddings for 2 documents"),
    ):
        with pytest.raises(InputError, match=problem):
            list(ExternalArrays({}, vectors).numbered(records(*ids)))


def test_only_the_first_batch_must_have_a_document_with_scores(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,label,score\na,x,1\n")
    arrays = ExternalArrays({"x": ScoreFile.read(tmp_path / "x.csv")}, None)
    with pytest.raises(ReadError, match="it has none of 1 document, such as 'b'"):
        arrays.of([], ["b"], ["x"])
    for id, score in (("a", 1), ("b", 0)):
        scores = arrays.of([], [id], ["x"]).scores
        assert scores is not None
        assert scores["x"].toarray().tolist() == [[score]]
