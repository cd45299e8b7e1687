"""Scores of SVMs on a GPU: those of the CPU, in any batches; the weights are put there once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda.kernels.cuda.device import Gpu, GpuFullError
from deplda.models.linear import TfidfSVM, VanillaSVM, scorer_cuda
from tests.kernels.cuda.emulator import emulated, use
from tests.models.linear.worlds import MODELS, world


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("model", MODELS)
def test_scores_are_those_of_the_cpu(model: Any) -> None:
    train, test = world(), world(seed=1)
    fitted = model().fit(train)
    usual = fitted.decision_function(test)
    found = fitted.set_params(device="cuda").decision_function(test)
    np.testing.assert_allclose(found, usual, rtol=1e-9, atol=1e-12)
    assert (
        fitted.rank(test, k=2).labels == fitted.set_params(device="auto").rank(test, k=2).labels
    ).all()
    nothing = np.zeros((1, train.n_words))
    assert np.array_equal(fitted.decision_function(nothing)[0], fitted.intercepts_)


@pytest.mark.usefixtures("gpu")
def test_a_documents_scores_do_not_depend_on_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    train, test = world(), world(20, seed=1)
    model = TfidfSVM(C=1.0).fit(train).set_params(device="cuda")
    whole = model.decision_function(test)
    monkeypatch.setattr(scorer_cuda, "_BATCH_CELLS", 20)
    assert (model.decision_function(test) == whole).all()


def test_weights_are_put_on_the_gpu_once_until_they_are_learned_anew(gpu: Gpu) -> None:
    train, test = world(), world(20, seed=1)
    model = VanillaSVM(n_held_out=0).fit(train).set_params(device="cuda")
    model.decision_function(test)
    first = gpu.kept[model]["linear"]
    model.decision_function(test)
    assert gpu.kept[model]["linear"] is first
    model.set_params(device="cpu", C=3.0).fit(train)
    expected = model.decision_function(test)
    found = model.set_params(device="cuda").decision_function(test)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_too_little_memory_is_an_error_or_the_cpu(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = world()
    model = TfidfSVM(C=1.0).fit(corpus)
    usual = model.decision_function(corpus)
    use(emulated(folder, room=100), monkeypatch)
    assert (model.set_params(device="auto").decision_function(corpus) == usual).all()
    with pytest.raises(GpuFullError, match="use device='cpu'"):
        model.set_params(device="cuda").decision_function(corpus)
