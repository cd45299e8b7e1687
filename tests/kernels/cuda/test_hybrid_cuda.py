"""HybridLDA on a GPU: what the CPU finds, learns and says, by the same topic model."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import HybridLDA, InputError, datasets, load
from deplda.evaluation import rank_metrics
from deplda.kernels.cuda import device as gpus
from deplda.kernels.cuda.device import Gpu, GpuFullError
from deplda.models import hybrid_reasons
from tests.kernels.cuda.emulator import emulated, use
from tests.models import test_asks_experts as experts
from tests.models import test_knows_names as names
from tests.models.hybrids import quick
from tests.models.worlds import pairs

TRAIN, TEST = pairs(300, seed=0), pairs(40, seed=1)
CANDIDATES = [3, "auto"]
_fit_topics: Any = HybridLDA._topics_of


def _topics_of_the_cpu(model: HybridLDA, *documents: Any) -> Any:
    device, model.device = model.device, "cpu"
    try:
        return _fit_topics(model, *documents)
    finally:
        model.device = device


@pytest.fixture
def _same_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the topic model learn on the CPU: a GPU draws other random numbers."""
    monkeypatch.setattr(HybridLDA, "_topics_of", _topics_of_the_cpu)


same_topics = pytest.mark.usefixtures("_same_topics")


def fit(device: Any, candidates: Any = 3, **others: Any) -> HybridLDA:
    return quick(candidates=candidates, C="auto", device=device, **others).fit(TRAIN)


@cache
def usual(candidates: Any = 3) -> HybridLDA:
    return fit("cpu", candidates)


def assert_alike(
    found: HybridLDA, expected: HybridLDA, documents: Any = TEST, error: float = 1e-3
) -> None:
    """Assert that two models learned the same, but for rounding."""
    assert found.C_ == expected.C_
    assert found.n_candidates_ == expected.n_candidates_
    assert type(found.mixture_) is type(expected.mixture_)
    assert found.measures_.keys() == expected.measures_.keys()
    np.testing.assert_allclose(
        found.weights_.toarray(), expected.weights_.toarray(), rtol=1e-4, atol=1e-5
    )
    scores = found.decision_function(documents), expected.decision_function(documents)
    np.testing.assert_allclose(*scores, rtol=error, atol=error)
    chances = found.predict_proba(documents), expected.predict_proba(documents)
    np.testing.assert_allclose(*chances, atol=error)
    labels = (model.rank(documents, k=3).labels for model in (found, expected))
    assert np.equal(*labels).mean() > 0.98


@same_topics
@pytest.mark.parametrize("candidates", CANDIDATES)
def test_it_learns_and_says_what_it_does_on_the_cpu(gpu: Gpu, candidates: Any) -> None:
    assert_alike(fit("cuda", candidates), usual(candidates))


def test_with_topics_of_the_gpu_it_ranks_as_well(gpu: Gpu) -> None:
    precision = [
        np.nanmean(rank_metrics(model.decision_function(TEST), TEST.labels)["average_precision"])
        for model in (fit("cuda"), usual())
    ]
    assert precision[0] == pytest.approx(precision[1], abs=0.03)


@same_topics
@pytest.mark.parametrize(
    "candidates", [pytest.param(CANDIDATES[0], marks=pytest.mark.slow), *CANDIDATES[1:]]
)
def test_little_memory_gives_the_same_bits(
    folder: Path, monkeypatch: pytest.MonkeyPatch, candidates: Any
) -> None:
    found = []
    for room in (1 << 30, 1_000_000):
        use(emulated(folder, room=room), monkeypatch)
        model = fit("cuda", candidates)
        found.append((model.weights_.toarray(), model.decision_function(TEST)))
    for large, small in zip(*found, strict=True):
        np.testing.assert_array_equal(large, small)


@same_topics
def test_too_little_memory_is_an_error_or_the_cpus_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(emulated(folder, room=5_000), monkeypatch)
    with pytest.raises(GpuFullError, match="use device='cpu'"):
        fit("cuda")
    model = fit("auto")
    np.testing.assert_array_equal(model.weights_.toarray(), usual().weights_.toarray())
    expected = usual().decision_function(TEST)
    np.testing.assert_array_equal(model.decision_function(TEST), expected)
    with pytest.raises(GpuFullError):
        model.set_params(device="cuda").decision_function(TEST)
    # What infers fits, but not what finds candidates.
    model.set_params(device="auto")
    monkeypatch.setattr("deplda.inference.cuda._check_room", lambda *_: None)
    np.testing.assert_array_equal(model.decision_function(TEST), expected)


@same_topics
def test_a_document_is_scored_alike_beside_any_others(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = usual()
    monkeypatch.setattr(model, "device", "cuda")
    whole = model.decision_function(TEST)
    assert (model.decision_function(TEST[[7]]) == whole[[7]]).all()
    monkeypatch.setattr("deplda.models.hybrid_scorer._GPU_BATCH", 7)
    assert (model.decision_function(TEST) == whole).all()


def test_other_processes_have_no_gpu(gpu: Gpu) -> None:
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        fit("cuda", engine="processes", n_jobs=1)


@pytest.mark.parametrize("candidates", CANDIDATES)
def test_reasons_add_up(gpu: Gpu, monkeypatch: pytest.MonkeyPatch, candidates: Any) -> None:
    monkeypatch.setattr(hybrid_reasons, "_LEAST_SHOWN", 0.0)
    model = usual(candidates)
    monkeypatch.setattr(model, "device", "cuda")
    chances = model.predict_proba(TEST[[0]])[0]
    for reason in model.explain(TEST[[0]], k=3).reasons:
        assert reason.probability == pytest.approx(chances[model._number(reason.label)])
        assert reason.score == pytest.approx(sum(reason.parts.values()))


def test_a_saved_model_is_used_on_a_gpu(gpu: Gpu, tmp_path: Path) -> None:
    usual().save(tmp_path / "model")
    model = load(tmp_path / "model").set_params(device="cuda")
    found, expected = model.decision_function(TEST), usual().decision_function(TEST)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@same_topics
def test_more_documents_are_learned_from(gpu: Gpu) -> None:
    more = pairs(60, seed=2)
    assert_alike(*(fit(device).partial_fit(more) for device in ("cuda", "cpu")))


@same_topics
def test_documents_have_weights(gpu: Gpu) -> None:
    weights = np.resize([1.0, 2.0, 0.5], len(TRAIN))

    def weighted(device: Any) -> HybridLDA:
        model = quick(candidates=4, device=device)
        return model.fit(TRAIN, sample_weight=weights)

    assert_alike(*map(weighted, ("cuda", "cpu")))


@same_topics
def test_names_are_heard(gpu: Gpu) -> None:
    world = names.world()

    def named(device: Any) -> HybridLDA:
        model = quick(candidates=6, device=device)
        return model.fit(world.texts[:150], world.labels[:150], vocabulary=world.vocabulary)

    assert_alike(named("cuda"), named("cpu"), world.new_texts[:10])


@pytest.mark.slow
@same_topics
def test_experts_are_heard(gpu: Gpu) -> None:
    def advised(device: Any) -> HybridLDA:
        model = quick(candidates=6, experts={"wise": experts.knowing()}, device=device)
        return model.fit(experts.parts()[0])

    # The CPU pools more of these many labels, and probabilities are steps of log-odds.
    assert_alike(advised("cuda"), advised("cpu"), experts.new(), error=0.05)


@pytest.mark.gpu
@pytest.mark.data
@pytest.mark.timeout(1200)  # most of it for the CPU's part
def test_the_gpus_hybrid_ranks_as_well_as_the_cpus_on_real_data(data_dir: Path) -> None:
    if problem := gpus.problem():
        pytest.skip(problem)
    data = datasets.load("eurlex20k", data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    precision = {}
    for device in ("cpu", "cuda"):
        model = HybridLDA(random_state=0, device=device).fit(train)
        found = rank_metrics(model.decision_function(test), test.labels)["average_precision"]
        precision[device] = float(np.nanmean(found))
    assert precision["cuda"] == pytest.approx(precision["cpu"], abs=0.003)
