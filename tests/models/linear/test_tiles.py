"""SVMs on a GPU: the CPU's to within the tolerance, the same choices, the same bits in any tile."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import InputError
from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import Gpu, GpuFullError
from deplda.kernels.cuda.linear import Documents
from deplda.models.linear import TfidfSVM, TunedSVM, VanillaSVM, solver
from tests.kernels.cuda.emulator import emulated, use
from tests.models.linear.worlds import MODELS, fit_and_hold_out, reference, shares, world


def both(model: Any, corpus: Any, **parameters: Any) -> tuple[Any, Any]:
    """Return a model learned on the CPU, and the same learned on a GPU, to score on the CPU."""
    usual, other = (
        model(**parameters, device=name).fit(corpus.counts, corpus.labels)
        for name in ("cpu", "cuda")
    )
    return usual, other.set_params(device="cpu")


@pytest.mark.usefixtures("gpu")
def test_vanilla_decides_as_linear_svc_does() -> None:
    train, test = world(), world(seed=1)
    usual, model = both(VanillaSVM, train, tol=1e-5)
    found = model.decision_function(test)
    for label, y in enumerate(train.labels.toarray().T):
        expected = reference(shares(train), y).decision_function(shares(test))
        np.testing.assert_allclose(found[:, label], expected, atol=1e-4)
    assert abs(usual.weights_ - model.weights_).max() < 3e-5
    assert (usual.weights_ != 0).nnz == pytest.approx((model.weights_ != 0).nnz, rel=0.01)
    np.testing.assert_allclose(model.intercepts_, usual.intercepts_, atol=3e-5)


@pytest.mark.usefixtures("gpu")
def test_tfidf_chooses_the_same_c_and_holds_out_the_same_documents() -> None:
    usual, model = both(TfidfSVM, world(60), n_held_out=10)
    assert model.C_ == usual.C_
    assert abs(usual.weights_ - model.weights_).max() < 1e-3
    test = world(20, seed=1)
    chances = [each.predict_proba(test) for each in (usual, model)]
    np.testing.assert_allclose(chances[0], chances[1], atol=0.01)


@pytest.mark.usefixtures("gpu")
def test_margins_of_folds_are_those_of_the_cpu() -> None:
    train, folds = world(60), [np.arange(10), np.arange(40, 55)]
    usual, found = (
        fit_and_hold_out(TfidfSVM(C=1.0, device=name), train, folds) for name in ("cpu", "cuda")
    )
    np.testing.assert_allclose(found, usual, atol=0.03)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("which", ["positive", "both"])
def test_tuned_chooses_the_very_same_weights(which: str) -> None:
    corpus = world(60, n_labels=5)
    labels = corpus.labels.toarray()
    labels[:, 4] = False
    labels[7, 4] = True
    corpus = type(corpus)(corpus.counts, labels)
    usual, model = both(TunedSVM, corpus, n_held_out=0, weights=which)
    assert (model.positive_weights_ == usual.positive_weights_).all()
    assert len(set(model.positive_weights_)) > 1
    np.testing.assert_allclose(model.intercepts_, usual.intercepts_, atol=2e-3)


@pytest.mark.usefixtures("gpu")
def test_a_document_that_counts_twice_is_two() -> None:
    corpus = world(60)
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    weights[50:] = 0
    usual, found = (
        VanillaSVM(n_held_out=0, tol=1e-5, device=name).fit(corpus, sample_weight=weights)
        for name in ("cpu", "cuda")
    )
    assert abs(usual.weights_ - found.weights_).max() < 3e-5
    np.testing.assert_allclose(found.intercepts_, usual.intercepts_, atol=3e-5)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("model", MODELS)
def test_labels_that_none_or_all_documents_have_score_a_constant(model: Any) -> None:
    corpus = world(30)
    labels = corpus.labels.toarray()[:, :2].copy()
    labels[:, 0], labels[:, 1] = False, True
    scores = model(device="cuda").fit(corpus.counts, labels).decision_function(corpus.counts)
    assert (scores == [-2, 2]).all()


@pytest.mark.parametrize(
    "model", [MODELS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in MODELS[1:])]
)
def test_tiles_of_any_size_give_the_same_bits(
    gpu: Gpu, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = world(40, 30, 100)  # labels that are done are left behind in a tile of them all
    learned = []
    for at_a_time in (1 << 20, 64, 32):
        monkeypatch.setattr(Documents, "labels_that_fit", lambda _, n=at_a_time: n)
        learned.append(model(device="cuda", n_held_out=8, random_state=1).fit(corpus))
    for other in learned[1:]:
        assert (other.weights_ != learned[0].weights_).nnz == 0
        assert (other.intercepts_ == learned[0].intercepts_).all()
        assert other.C_ == learned[0].C_


def test_machines_that_do_not_get_there_warn(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.exceptions import ConvergenceWarning

    monkeypatch.setattr(solver, "MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="6 labels have not come down to tol=0.001"):
        VanillaSVM(device="cuda", n_held_out=0).fit(world())


def test_progress_counts_labels(gpu: Gpu, capsys: pytest.CaptureFixture[str]) -> None:
    TunedSVM(device="cuda", verbose=True, n_held_out=5).fit(world(30, n_labels=2))
    shown = capsys.readouterr().err
    assert "tuning SVMs of 2 labels" in shown
    assert "training SVMs of 2 labels" in shown


def test_too_little_memory_is_an_error_or_the_cpu(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = world(30)
    use(emulated(folder, room=1_000), monkeypatch)
    with pytest.raises(GpuFullError, match=r"GB are free for it; use device='cpu'"):
        VanillaSVM(device="cuda").fit(corpus)
    usual, other = (VanillaSVM(device=name).fit(corpus) for name in ("cpu", "auto"))
    assert abs(usual.weights_ - other.weights_).max() == 0


def test_without_a_gpu_cuda_is_an_error_and_auto_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")
    corpus = world(30)
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed; use"):
        VanillaSVM(device="cuda").fit(corpus)
    usual, other = (VanillaSVM(device=name).fit(corpus) for name in ("cpu", "auto"))
    assert abs(usual.weights_ - other.weights_).max() == 0


@pytest.mark.usefixtures("gpu")
def test_a_gpu_works_for_this_process_alone() -> None:
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        VanillaSVM(device="cuda", engine="processes").fit(world(30))
