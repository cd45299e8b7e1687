"""``deplda evaluate`` and ``deplda tune``."""

import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import deplda
from deplda.data.vocabulary import Concept, Vocabulary
from deplda.evaluation import suggestion_metrics, tune_cut
from deplda.models.suggesting import Asked, suggested
from tests.cli.running import articles, done, lines, problem, run, write_jsonl


@pytest.fixture(scope="module")
def test_part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row for row in articles() if row["part"] == "test"]
    return write_jsonl(tmp_path_factory.mktemp("part") / "test.jsonl", rows)


# evaluate -----------------------------------------------------------------------------------------


def test_metrics_are_those_of_python_and_unseen_labels_are_counted(
    tmp_path: Path, model: Path
) -> None:
    rows = [row for row in articles() if row["part"] == "test"]
    rows[0]["labels"] = [*rows[0]["labels"], "CHESS"]
    path = write_jsonl(tmp_path / "test.jsonl", rows)
    found = json.loads(done("evaluate", model, path, "--json"))
    loaded: Any = deplda.load(model)
    scores = loaded.decision_function([row["text"] for row in rows])
    truth = [[label in row["labels"] for label in loaded.classes_] for row in rows]
    expected = deplda.evaluate(scores, truth, loaded.label_sets_)
    assert found["n_unseen"] == 1
    assert found["label"]["ranking"] == expected.to_dict()["label"]["ranking"]
    shown = done("evaluate", model, path, "--all")
    assert "average_precision by training documents" in shown
    assert "1 time a document has a label that the model does not know" in shown
    assert done("evaluate", model, path) == "\n".join(shown.splitlines()[:7]) + "\n"


BROADER = {
    "CRIME": ("LAW",), "LAW": ("SOCIETY", "elsewhere"), "SPORT": ("LEISURE",),
    "LEISURE": ("SOCIETY",), "SOCIETY": ("LEISURE",),
}  # fmt: skip


def with_thesaurus(model: Path, folder: Path, broader: dict[str, tuple[str, ...]]) -> Path:
    """Save the model with these concepts; MUSIC is none of them."""
    loaded: Any = deplda.load(model)
    concepts = [Concept(uri=uri, broader=own) for uri, own in broader.items()]
    loaded.vocabulary_ = Vocabulary(concepts)
    loaded.save(folder)
    return folder


def test_broader_terms_are_credited_if_asked(tmp_path: Path, model: Path) -> None:
    near = with_thesaurus(model, tmp_path / "near", BROADER)
    rows = [row for row in articles() if row["part"] == "test"]
    rows[0]["labels"] = ["CRIME", "nothing known"]
    rows[1]["labels"] = ["MUSIC", "LEISURE"]
    path = write_jsonl(tmp_path / "test.jsonl", rows)
    found = json.loads(done("evaluate", near, path, "--hierarchical", "--json"))["hierarchical"]

    def extended(labels: Iterable[str]) -> set[str]:
        above = {"LAW", "SPORT", "CRIME", "LEISURE"} & set(labels) and {"SOCIETY", "LEISURE"}
        return set(labels) | above | ({"LAW"} if "CRIME" in labels else set())

    given = deplda.load(near).suggest([row["text"] for row in rows], cutoff="validated")
    pairs = [
        (set(map(str, own.labels)), set(row["labels"]))
        for own, row in zip(given, rows, strict=True)
    ]
    assert (found["cutoff"], found["n_documents"]) == ("validated", len(rows))
    for how, sets in (
        ("plain", pairs),
        ("with_broader", [(extended(p), extended(t)) for p, t in pairs]),
    ):
        hits, n = sum(len(p & t) for p, t in sets), len(rows)
        n_given, n_true = sum(len(p) for p, _ in sets), sum(len(t) for _, t in sets)
        assert found[how] == pytest.approx(
            {
                "precision": hits / n_given, "recall": hits / n_true,
                "f1": 2 * hits / (n_given + n_true), "predicted": n_given / n, "true": n_true / n,
            }
        )  # fmt: skip
    assert "hierarchical" not in json.loads(done("evaluate", near, path, "--json"))
    shown = done("evaluate", near, path, "--hierarchical")
    assert "labels alone ┃ with broader terms" in shown
    assert "by the validated cut-off" in shown


def test_a_model_without_broader_terms_says_what_to_do(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    flat = with_thesaurus(model, tmp_path / "flat", {"LAW": ("elsewhere",)})
    for path, lacks in ((model, "no vocabulary"), (flat, "a vocabulary without broader terms")):
        said = problem(1, "evaluate", path, corpus, "--hierarchical")
        assert f"{path} has {lacks}; train it with --vocabulary and a SKOS file" in said


def test_what_is_judged_is_what_predict_gives(model: Path, test_part: Path) -> None:
    for options in ((), ("-k", 2), ("-k", 3, "--threshold", 0.05), ("--cutoff", "proportional")):
        found = json.loads(done("evaluate", model, test_part, "--json", *options))
        given = lines(done("predict", model, test_part, *options))
        told = [{label["label"] for label in line["labels"]} for line in given]
        true = [set(row["labels"]) for row in articles() if row["part"] == "test"]
        hits = sum(len(g & t) for g, t in zip(told, true, strict=True))
        measures = found["suggestions"]
        assert measures["true_positives"] == hits
        assert measures["false_positives"] == sum(map(len, told)) - hits
        assert measures["false_negatives"] == sum(map(len, true)) - hits
        asked = " ".join(map(str, ("predict", *options)))
        assert found["headline"]["asked"] == asked
        assert found["headline"]["found"]["value"] == hits / sum(map(len, true))
        heading, *six = done("evaluate", model, test_part, *options).splitlines()
        assert heading == f"{asked} on 6 documents: per cent, with 95 % intervals"
        assert len(six) == 6
    assert found["best_5"]["limit"] == 5
    assert found["n_learned_from"] == 0


def test_a_model_without_probabilities_is_judged_by_what_predict_gives(
    tmp_path: Path, model: Path, test_part: Path
) -> None:
    loaded: Any = deplda.load(model)
    loaded.calibration_ = None
    loaded.save(tmp_path / "m")
    found = json.loads(done("evaluate", tmp_path / "m", test_part, "--json"))["suggestions"]
    n_documents = len(lines(test_part.read_text(encoding="utf-8")))
    assert found["true_positives"] + found["false_positives"] == n_documents  # a label each
    said = problem(1, "evaluate", tmp_path / "m", test_part, "--threshold", 0.5)
    assert "this model has no probabilities" in said
    assert "there is no threshold to find" in problem(1, "tune", tmp_path / "m", test_part)


def test_the_table_by_subject_is_written_whole_and_has_names(
    tmp_path: Path, model: Path, test_part: Path
) -> None:
    loaded: Any = deplda.load(model)
    loaded.vocabulary_ = Vocabulary([Concept(uri="LAW", names={"en": "law"}), Concept(uri="ART")])
    loaded.label_language_ = "en"
    loaded.save(tmp_path / "m")
    table = tmp_path / "subjects.tsv"
    said = done("evaluate", tmp_path / "m", test_part, "--by-subject", table, "--cutoff", 1)
    assert said.splitlines()[-1] == f"4 labels: {table}"
    heading, *rows = (line.split("\t") for line in table.read_text("utf-8").splitlines())
    assert heading[:3] == ["URI", "Label", "Support"]
    assert [row[:2] for row in rows[:2]] == [["LAW", "law"], ["ART", "ART"]]
    assert {row[0] for row in rows} == {"LAW", "ART", "SPORT", "MUSIC"}
    assert sum(int(row[3]) + int(row[4]) for row in rows) == 6
    assert "exists; choose another name, or --force" in problem(
        1, "evaluate", tmp_path / "m", test_part, "--by-subject", table
    )


def test_documents_that_were_learned_from_are_warned_of(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    # The same texts in another format, with other labels.
    rows = "".join(f"{row['id']},{row['text']},SPORT\n" for row in articles())
    other = tmp_path / "other.csv"
    other.write_text("id,text,labels\n" + rows, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for verb in ("evaluate", "tune"):
            for path in (corpus, other):
                result = run(verb, model, path)
                assert result.exit_code == 0, result.stderr
                assert "Warning: 24 of 30 documents have the same words as" in result.stderr


def test_the_best_cut_is_told_ready_to_be_pasted(model: Path, test_part: Path) -> None:
    loaded: Any = deplda.load(model)
    rows = [row for row in articles() if row["part"] == "test"]
    truth = [[label in row["labels"] for label in loaded.classes_] for row in rows]
    (every,) = suggested(loaded, [row["text"] for row in rows], Asked(threshold=0.0))
    grid = tune_cut(every, truth)
    told = json.loads(done("tune", model, test_part, "--json"))
    assert told["f1"] == grid.f1.tolist()
    limit, threshold, value = grid.best()
    assert told["best"]["f1"] == {"limit": limit, "threshold": threshold, "value": value}
    shown = done("tune", model, test_part)
    with_options = f"predict with -k {limit} --threshold {threshold:g}."
    assert (with_options in shown) == (value > told["f1_by_default"])
    assert ("no better than without options" in shown) == (value <= told["f1_by_default"])
    assert "documents that the model has not learned from" in shown
    asked = ("-k", limit, "--threshold", threshold)
    found = json.loads(done("evaluate", model, test_part, "--json", *asked))["suggestions"]
    assert found["document_f1"] == value
    (usual,) = suggested(loaded, [row["text"] for row in rows], Asked())
    assert told["f1_by_default"] == suggestion_metrics(usual, truth)["document_f1"]
    few = json.loads(done("tune", model, test_part, "--json", "-k", 2))
    assert few["limits"] == [1, 2]


@pytest.mark.parametrize("verb", ["evaluate", "tune"])
def test_documents_without_labels_cannot_judge(verb: str, tmp_path: Path, model: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "the judge", "labels": []}])
    said = problem(1, verb, model, path)
    assert said.startswith(f"none of 1 document of {path} has a label to compare with; see")


@pytest.mark.parametrize("text", ["", "  ", None])
def test_an_empty_text_is_judged_as_predict_answers_it(
    text: str | None, tmp_path: Path, model: Path
) -> None:
    rows: Any = [
        {"id": "a", "text": "judge jury", "labels": ["LAW"]},
        {"id": "b", "text": text, "labels": ["SPORT"]},
    ]
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    result = run("evaluate", model, path, "--cutoff", 1, "--json")
    assert result.stderr == "1 of 2 documents has no text\n"
    found = json.loads(result.stdout)["suggestions"]
    assert found["documents"] == 2
    given = (found["true_positives"], found["false_positives"], found["false_negatives"])
    assert given == (1, 0, 1)
    assert run("tune", model, path, "--json").exit_code == 0
