import io
import json
import sys

import numpy as np
import pytest
from rich.console import Console
from scipy.sparse import csr_array

from deplda import Corpus, InputError
from deplda.evaluation import Evaluation, binary_metrics, compare, evaluate, rank_metrics, scorecard
from tests.evaluation.cases import Matrix, random_case


def shown(value: object) -> str:
    console = Console(file=io.StringIO(), width=140)
    console.print(value)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def case() -> tuple[Matrix, Matrix, Matrix]:
    return random_case(120, 15)


@pytest.fixture(scope="module")
def evaluation(case: tuple[Matrix, Matrix, Matrix]) -> Evaluation:
    return evaluate(*case, predicted=case[0] > 0.8, ks=(1, 5))


def test_the_figures_are_the_means_of_the_metrics(
    case: tuple[Matrix, Matrix, Matrix], evaluation: Evaluation
) -> None:
    scores, truth, _ = case
    for figures in (evaluation.document, evaluation.label):
        for name, values in rank_metrics(scores, truth, pivot=figures.pivot, ks=(1, 5)).items():
            tested = values if figures.pivot == "document" else values[truth.any(axis=0)]
            np.testing.assert_allclose(figures.values(name), tested)
            assert figures[name] == pytest.approx(np.nanmean(tested))


def test_a_models_own_predictions_are_evaluated_too(
    case: tuple[Matrix, Matrix, Matrix], evaluation: Evaluation
) -> None:
    scores, truth, _ = case
    for figures in (evaluation.document, evaluation.label):
        for name, value in binary_metrics(scores > 0.8, truth, pivot=figures.pivot).items():
            if name.startswith("macro") or truth.any(axis=0).all():
                assert figures[f"{name}@predicted"] == pytest.approx(value)


def test_break_even_is_the_best_and_calibrated_precision_is_recall(evaluation: Evaluation) -> None:
    for figures in (evaluation.document, evaluation.label):
        for cut in ("proportional", "calibrated", "predicted"):
            assert figures["macro_f1@break_even"] >= figures[f"macro_f1@{cut}"]
        assert figures["micro_precision@calibrated"] == figures["micro_recall@calibrated"]


def test_dense_sparse_and_top_k_scores_with_all_labels_are_one(
    case: tuple[Matrix, Matrix, Matrix], evaluation: Evaluation
) -> None:
    scores, truth, train = case
    labels = np.tile(np.arange(scores.shape[1]), (len(scores), 1))
    expected = evaluation.to_dict()
    for given in (csr_array(scores), (labels, scores), scores.tolist(), np.asfortranarray(scores)):
        found = evaluate(
            given, csr_array(truth), csr_array(train), predicted=scores > 0.8, ks=(1, 5)
        )
        for pivot in ("document", "label"):
            for task in ("ranking", "binary"):
                assert found.to_dict()[pivot][task] == pytest.approx(expected[pivot][task])


def test_labels_unseen_in_training_take_part_nowhere_and_are_counted() -> None:
    scores = np.array([[0.3, 0.9, 0.8, 0.6], [0.7, 0.1, 0.2, 0.4]])
    truth = np.array([[1, 1, 0, 0], [1, 0, 1, 0]])
    train = np.array([[0, 1, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]])  # label 0 is never seen
    for given in (scores, csr_array(scores)):
        found = evaluate(given, truth, train)
        assert found.n_unseen == 2
        assert found.label.items.tolist() == [1, 2]
        assert found.label.training_documents.tolist() == [3, 1]
        assert found.label.values("one_error").tolist() == [0, 100]
        assert found.document.positives.tolist() == [1, 1]
        assert found.document.values("coverage").tolist() == [1, 2]  # of labels 1, 2 and 3
        assert found.document["one_error"] == 50
        same_labels = evaluate(given, truth, train, labels="test")
        assert same_labels.document.values("coverage").tolist() == [1, 1]  # of labels 1 and 2


def test_a_document_without_labels_is_left_out_of_the_means_and_counted() -> None:
    scores, truth = np.eye(3), np.array([[1, 0, 0], [0, 0, 0], [0, 0, 1]])
    found = evaluate(scores, truth, np.ones((2, 3)))
    summary = found.to_dict()["document"]
    assert (summary["n_items"], summary["n_without_positives"]) == (2, 1)
    assert found.document["average_precision"] == 1
    assert np.isnan(found.document.values("average_precision")[1])


def test_corpora_bring_their_labels_and_names_and_must_have_the_same_ones() -> None:
    train = Corpus(np.ones((3, 1)), [[1, 0], [1, 1], [0, 1]], label_names=["tax", "work"])
    test = Corpus(np.ones((1, 1)), [[0, 1]], label_names=["tax", "work"], ids=["a7"])
    found = evaluate([[0.2, 0.8]], test, train)
    assert found.document.names == ("a7",)
    assert found.label.names == ("work",)
    assert found.label.training_documents.tolist() == [2]
    other = Corpus(np.ones((1, 1)), [[0, 1]], label_names=["work", "tax"])
    with pytest.raises(InputError, match=r"use test\.align\(train\)"):
        evaluate([[0.2, 0.8]], other, train)


def test_every_figure_has_an_interval_around_it(evaluation: Evaluation) -> None:
    for figures in (evaluation.document, evaluation.label):
        found = figures.intervals(resamples=200, seed=1)
        assert found.keys() == {*figures.ranking, *figures.binary}
        for name, (value, low, high) in found.items():
            assert value == pytest.approx(figures[name])
            assert low <= value + 1e-9
            assert high >= value - 1e-9
        alone = evaluation.interval(figures.pivot, "micro_f1@calibrated", resamples=200, seed=1)
        assert alone == pytest.approx(found["micro_f1@calibrated"])


def test_the_frequency_table_of_one_model_has_the_means_of_its_labels(
    evaluation: Evaluation,
) -> None:
    table = evaluation.by_frequency(3)
    counts = evaluation.label.training_documents
    for part in table.bins:
        inside = (counts >= part.low) & (counts <= part.high)
        mean = evaluation.label.values("average_precision")[inside].mean()
        assert part.means["average_precision"].value == pytest.approx(mean)
    assert len(evaluation.by_frequency((1, 20)).bins) == 2


def test_the_value_is_data_and_a_table(evaluation: Evaluation) -> None:
    again = json.loads(json.dumps(evaluation.to_dict()))
    assert again["label"]["ranking"]["auc_pr"] == evaluation.label["auc_pr"]
    text = shown(evaluation)
    assert "document-pivoted" in text
    assert "micro_f1@break_even" in text


def test_frames_have_a_row_for_each_figure_and_each_label(
    case: tuple[Matrix, Matrix, Matrix],
) -> None:
    pandas = pytest.importorskip("pandas")
    names = [f"tag {number}" for number in range(15)]
    found = evaluate(*case, label_names=names)
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["pivot", "task", "figure", "value"]
    labels = found.label.to_frame()
    assert labels["label"].tolist() == [names[label] for label in found.label.items]
    assert labels["average_precision"].mean() == pytest.approx(found.label["average_precision"])
    assert labels["f1@break_even"].mean() == pytest.approx(found.label["macro_f1@break_even"])
    assert "training_documents" not in found.document.to_frame().columns
    both = compare({"one": found, "two": found})
    assert len(both.to_frame()) == len(frame)
    assert len(both.by_frequency.to_frame()) == 2 * len(both.by_frequency.bins)
    assert both.scorecard.to_frame()["one"].tolist() == [6, 6, 6, 6]


def test_without_pandas_the_error_says_what_to_install(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'deplda\[report\]'"):
        evaluation.to_frame()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train_labels": np.ones((4, 3))}, "train_labels have 3 labels but the truth has 2"),
        ({"train_labels": np.zeros((4, 2))}, "none of the 0 labels"),
        ({"train_labels": np.zeros((0, 2))}, "train_labels has 0 documents"),
        ({"truth": np.zeros((2, 2))}, "none of the 2 labels of the training documents is in"),
        ({"truth": np.zeros((0, 2))}, "truth has 0 documents"),
        ({"scores": np.full((2, 2), np.nan)}, "is NaN"),
        ({"predicted": np.ones((1, 2))}, "predicted are 1 × 2 but the truth is 2 × 2"),
        ({"labels": "all"}, "labels is 'all'"),
        ({"label_names": ["a"]}, "label_names has 1 names for 2"),
    ],
)
def test_bad_input_is_refused_with_a_reason(change: dict[str, object], message: str) -> None:
    given: dict[str, object] = {
        "scores": np.eye(2),
        "truth": np.eye(2),
        "train_labels": np.ones((4, 2)),
    }
    with pytest.raises(InputError, match=message):
        evaluate(**(given | change))  # type: ignore[arg-type]


def test_a_figure_or_pivot_that_is_not_there_is_named(evaluation: Evaluation) -> None:
    with pytest.raises(InputError, match="no figure 'accuracy'; there are auc_roc"):
        evaluation.document["accuracy"]
    with pytest.raises(InputError, match="pivot is 'word'"):
        evaluation.interval("word", "auc_roc")


# Several models -----------------------------------------------------------------------------------


def two_models(seed: int) -> tuple[Evaluation, Evaluation]:
    scores, truth, train = random_case(100, 12, seed)
    return evaluate(scores + truth, truth, train), evaluate(scores, truth, train)


def test_the_better_model_wins_and_the_tests_say_so() -> None:
    good, plain = two_models(0)
    found = compare({"good": good, "plain [/a]": plain}, bins=2)
    assert found.scorecard.total("all")["good"] > found.scorecard.total("all")["plain [/a]"]
    assert all(part.tests["good", "plain [/a]"].difference > 0 for part in found.by_frequency.bins)
    text = shown(found)
    for words in ("label-pivoted", "best on how many metrics", "good", "plain [/a]"):
        assert words in text
    assert json.loads(json.dumps(found.to_dict()))["figures"]["good"]["label"]["ranking"]


def test_with_splits_every_label_of_every_split_is_a_pair() -> None:
    splits = [two_models(seed) for seed in range(3)]
    good, plain = ([pair[which] for pair in splits] for which in (0, 1))
    found = compare({"good": good, "plain": plain}, bins=1)
    (part,) = found.by_frequency.bins
    assert part.n_labels == sum(len(one.label.items) for one in good)
    pooled = np.concatenate([one.label.values("average_precision") for one in good])
    assert part.means["good"].value == pytest.approx(pooled.mean())
    key = ("document", "ranking", "auc_roc")
    assert found.figures["good"][key] == pytest.approx(
        np.mean([one.document["auc_roc"] for one in good])
    )


def test_models_of_other_labels_or_splits_are_not_compared() -> None:
    good, plain = two_models(0)
    other, _ = two_models(1)
    with pytest.raises(InputError, match="on different labels or documents in split 0"):
        compare({"good": good, "other": other})
    with pytest.raises(InputError, match="'plain' has 1 splits, 'good' has 2"):
        compare({"good": [good, other], "plain": plain})
    with pytest.raises(InputError, match="no models"):
        compare({})
    with pytest.raises(InputError, match="'good' has no evaluation"):
        compare({"good": []})


def figures(**values: float) -> dict[str, dict[str, dict[str, float]]]:
    return {"document": {"ranking": values}}


def test_ties_share_a_win_and_errors_are_best_when_low() -> None:
    card = scorecard(
        {
            "news": {
                "a": figures(auc_roc=0.9512, one_error=20.0, margin=float("nan")),
                "b": figures(auc_roc=0.9508, one_error=19.0, margin=float("nan")),
                "c": figures(auc_roc=0.9400, one_error=25.0, margin=float("nan")),
            }
        }
    )
    key = ("news", "document", "ranking")
    assert card.counts[key] == {"a": 1, "b": 2, "c": 0}
    assert card.n_metrics[key] == 3
    assert card.to_dict()["news"]["document"]["ranking"] == {"a": 1, "b": 2, "c": 0}
    exact = scorecard(
        {"x": {"a": figures(auc_roc=0.9512), "b": figures(auc_roc=0.9508)}}, digits=None
    )
    assert exact.total("x") == {"a": 1, "b": 0}
    with pytest.raises(InputError, match="no data set 'y'"):
        card.total("y")


def test_a_scorecard_needs_the_same_models_everywhere() -> None:
    with pytest.raises(InputError, match="'two' has the models b, the first has a"):
        scorecard({"one": {"a": figures()}, "two": {"b": figures()}})
    with pytest.raises(InputError, match="no results"):
        scorecard({})
