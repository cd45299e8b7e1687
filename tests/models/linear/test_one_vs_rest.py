"""All labels' SVMs: any workers, documents held out, C, labels that teach nothing."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from deplda.models.linear import TfidfSVM, TunedSVM, VanillaSVM, one_vs_rest, solver, tuning
from tests.models.linear.worlds import MODELS, fit_and_hold_out, reference, world


@pytest.mark.parametrize("model", MODELS)
def test_labels_that_none_or_all_documents_have_score_a_constant(model: Any) -> None:
    corpus = world()
    labels = corpus.labels.toarray()
    labels[:, 0], labels[:, 1] = False, True
    scores = model().fit(corpus.counts, labels).decision_function(corpus.counts)
    assert (scores[:, 0] == -2).all()
    assert (scores[:, 1] == 2).all()
    only = model().fit(corpus.counts, labels[:, :2])
    assert (only.decision_function(corpus.counts) == [-2, 2]).all()


@pytest.mark.parametrize("model", MODELS)
def test_same_bits_for_any_number_of_workers(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr("deplda.models.linear.blocks._BLOCK_LABELS", 4)
    corpus = world(n_labels=9)
    one, three = (model(n_jobs=n).fit(corpus) for n in (1, 3))
    assert np.array_equal(one.decision_function(corpus), three.decision_function(corpus))


def test_c_is_chosen_by_some_labels_of_all_frequencies_where_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []
    path_scores = tuning.path_scores

    def watched(machines: Any, *others: Any) -> Any:
        seen.extend(int(np.count_nonzero(machine.signs > 0)) for machine in machines)
        return path_scores(machines, *others)

    monkeypatch.setattr(tuning, "path_scores", watched)
    monkeypatch.setattr(one_vs_rest, "_MOST_LABELS_TO_CHOOSE_BY", 4)
    TfidfSVM().fit(world())
    assert 2 <= len(seen) <= 4
    assert max(seen) > min(seen)


def test_machines_that_do_not_get_there_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="6 labels have not come down to tol=0.001"):
        VanillaSVM().fit(world())


def test_progress_counts_labels(capsys: pytest.CaptureFixture[str]) -> None:
    TunedSVM(verbose=True).fit(world())
    shown = capsys.readouterr().err
    assert "tuning" in shown
    assert "training" in shown
    assert "labels" in shown


def test_held_out_margins_are_those_of_an_svm_that_has_not_seen_them() -> None:
    train, folds = world(), [np.arange(20), np.arange(100, 130)]
    margins = fit_and_hold_out(TfidfSVM(C=1.0), train, folds)
    features = TfidfSVM(C=1.0).fit(train)._features()(train.counts)
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(train)), fold)
        for label, y in enumerate(train.labels.toarray().T):
            expected = reference(features[rest], y[rest]).decision_function(features[fold])
            np.testing.assert_allclose(margins[fold, label], expected, atol=0.02)


def test_the_fit_with_folds_is_the_fit_without() -> None:
    train, test = world(), world(seed=1)
    model = TfidfSVM(C=1.0)
    fit_and_hold_out(model, train, [np.arange(30)])
    expected = TfidfSVM(C=1.0).fit(train).decision_function(test)
    np.testing.assert_allclose(model.decision_function(test), expected, atol=3e-3)
