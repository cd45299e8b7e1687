import json
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus, InputError
from deplda.evaluation import Evaluation, binary_metrics, compare, evaluate, rank_metrics
from tests.evaluation.cases import Matrix, random_case, shown


@pytest.fixture(scope="module")
def case() -> tuple[Matrix, Matrix, Matrix]:
    return random_case(120, 15)


@pytest.fixture(scope="module")
def evaluation(case: tuple[Matrix, Matrix, Matrix]) -> Evaluation:
    return evaluate(*case, predicted=case[0] > 0.8, ks=(1, 5))


def test_the_metrics_are_the_means_of_the_metrics(
    case: tuple[Matrix, Matrix, Matrix], evaluation: Evaluation
) -> None:
    scores, truth, _ = case
    for metrics in (evaluation.document, evaluation.label):
        for name, values in rank_metrics(scores, truth, pivot=metrics.pivot, ks=(1, 5)).items():
            tested = values if metrics.pivot == "document" else values[truth.any(axis=0)]
            np.testing.assert_allclose(metrics.item_values(name), tested)
            assert metrics[name] == pytest.approx(np.nanmean(tested))


def test_a_models_own_predictions_are_evaluated_too(
    case: tuple[Matrix, Matrix, Matrix], evaluation: Evaluation
) -> None:
    scores, truth, _ = case
    for metrics in (evaluation.document, evaluation.label):
        for name, value in binary_metrics(scores > 0.8, truth, pivot=metrics.pivot).items():
            if name.startswith("macro") or truth.any(axis=0).all():
                assert metrics[f"{name}@predicted"] == pytest.approx(value)


def test_break_even_is_the_best_and_calibrated_precision_is_recall(evaluation: Evaluation) -> None:
    for metrics in (evaluation.document, evaluation.label):
        for cut in ("proportional", "calibrated", "predicted"):
            assert metrics["macro_f1@break_even"] >= metrics[f"macro_f1@{cut}"]
        assert metrics["micro_precision@calibrated"] == metrics["micro_recall@calibrated"]


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


def test_metrics_are_a_mapping_of_their_names(evaluation: Evaluation) -> None:
    found = evaluation.document
    assert "precision@1" in found
    assert "precision@2" not in found
    assert None not in found
    assert list(found) == list(found.keys()) == [*found.ranking, *found.binary]
    assert dict(found) == found.to_dict()["ranking"] | found.to_dict()["binary"]


def test_labels_unseen_in_training_take_part_nowhere_and_are_counted() -> None:
    scores = np.array([[0.3, 0.9, 0.8, 0.6], [0.7, 0.1, 0.2, 0.4]])
    truth = np.array([[1, 1, 0, 0], [1, 0, 1, 0]])
    train = np.array([[0, 1, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]])  # label 0 is never seen
    for given in (scores, csr_array(scores)):
        found = evaluate(given, truth, train)
        assert found.n_unseen == 2
        assert found.label.indices.tolist() == [1, 2]
        assert found.label.training_documents.tolist() == [3, 1]
        assert found.label.item_values("one_error").tolist() == [0, 100]
        assert found.document.positives.tolist() == [1, 1]
        assert found.document.item_values("coverage").tolist() == [1, 2]  # of labels 1, 2 and 3
        assert found.document["one_error"] == 50
        same_labels = evaluate(given, truth, train, labels="test")
        assert same_labels.document.item_values("coverage").tolist() == [1, 1]  # of labels 1 and 2


def test_a_document_without_labels_is_left_out_of_the_means_and_counted() -> None:
    scores, truth = np.eye(3), np.array([[1, 0, 0], [0, 0, 0], [0, 0, 1]])
    found = evaluate(scores, truth, np.ones((2, 3)))
    summary = found.to_dict()["document"]
    assert (summary["n_items"], summary["n_without_positives"]) == (2, 1)
    assert found.document["average_precision"] == 1
    assert np.isnan(found.document.item_values("average_precision")[1])


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


def test_every_metric_has_an_interval_around_it(evaluation: Evaluation) -> None:
    for metrics in (evaluation.document, evaluation.label):
        found = metrics.intervals(resamples=200, seed=1)
        assert found.keys() == {*metrics.ranking, *metrics.binary}
        for name, (value, low, high) in found.items():
            assert value == pytest.approx(metrics[name])
            assert low <= value + 1e-9
            assert high >= value - 1e-9
        alone = evaluation.interval(metrics.pivot, "micro_f1@calibrated", resamples=200, seed=1)
        assert alone == pytest.approx(found["micro_f1@calibrated"])


def test_the_frequency_table_of_one_model_has_the_means_of_its_labels(
    evaluation: Evaluation,
) -> None:
    table = evaluation.by_frequency(3)
    counts = evaluation.label.training_documents
    for part in table.bins:
        inside = (counts >= part.low) & (counts <= part.high)
        mean = evaluation.label.item_values("average_precision")[inside].mean()
        assert part.means["average_precision"].value == pytest.approx(mean)
    assert len(evaluation.by_frequency((1, 20)).bins) == 2


def test_the_value_is_data_and_a_table(evaluation: Evaluation) -> None:
    again = json.loads(json.dumps(evaluation.to_dict()))
    assert again["label"]["ranking"]["auc_pr"] == evaluation.label["auc_pr"]
    text = shown(evaluation)
    assert "document-pivoted" in text
    assert "micro_f1@break_even" in text


def test_frames_have_a_row_for_each_metric_and_each_label(
    case: tuple[Matrix, Matrix, Matrix],
) -> None:
    pandas = pytest.importorskip("pandas")
    names = [f"tag {number}" for number in range(15)]
    found = evaluate(*case, label_names=names)
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["pivot", "task", "metric", "value"]
    labels = found.label.to_frame()
    assert labels["label"].tolist() == [names[label] for label in found.label.indices]
    assert labels["average_precision"].mean() == pytest.approx(found.label["average_precision"])
    assert labels["f1@break_even"].mean() == pytest.approx(found.label["macro_f1@break_even"])
    assert "training_documents" not in found.document.to_frame().columns
    both = compare({"one": found, "two": found})
    assert len(both.to_frame()) == len(frame)
    assert len(both.by_frequency.to_frame()) == 2 * len(both.by_frequency.bins)
    assert both.scorecard.to_frame()["one"].tolist() == [6, 6, 6, 6]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train_labels": np.ones((4, 3))}, "train_labels have 3 labels but the truth has 2"),
        ({"train_labels": np.zeros((4, 2))}, "one of the 0 labels"),
        ({"train_labels": np.zeros((0, 2))}, "train_labels has 0 documents"),
        ({"truth": np.zeros((2, 2))}, "one of the 2 labels that are ranked"),
        ({"truth": np.zeros((0, 2))}, "truth has 0 documents"),
        ({"scores": np.full((2, 2), np.nan)}, "is NaN"),
        ({"predicted": np.ones((1, 2))}, "predicted are 1 × 2 but the truth is 2 × 2"),
        ({"labels": "some"}, "labels is 'some'"),
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


def test_a_metric_or_pivot_that_is_not_there_is_named(evaluation: Evaluation) -> None:
    with pytest.raises(InputError, match="no metric 'accuracy'; there are auc_roc"):
        evaluation.document["accuracy"]
    with pytest.raises(InputError, match="pivot is 'word'"):
        evaluation.interval("word", "auc_roc")


def test_metrics_are_a_mapping_from_names_to_means(evaluation: Evaluation) -> None:
    metrics = evaluation.document
    assert isinstance(metrics, Mapping)
    assert (
        dict(**metrics)
        == dict(metrics.items())
        == dict(zip(metrics, metrics.values(), strict=True))
    )
    assert len(metrics) == len({*metrics.keys()}) == len({**metrics.ranking, **metrics.binary})
    assert metrics.get("one_error") == metrics["one_error"]
    assert metrics.get("nonsense") is None
    assert "nonsense" not in metrics
    with pytest.raises(InputError, match="there is no metric 'nonsense'; there are auc_roc"):
        metrics["nonsense"]


def test_an_evaluation_prints_on_one_line(evaluation: Evaluation) -> None:
    means = [part["average_precision"] for part in (evaluation.document, evaluation.label)]
    assert str(evaluation) == (
        f"Evaluation(document=Metrics(115 documents, average_precision={means[0]:.3f}), "
        f"label=Metrics(15 labels, average_precision={means[1]:.3f}), n_unseen=0)"
    )
