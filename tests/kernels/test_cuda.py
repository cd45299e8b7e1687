"""The kernels of a GPU against exact chains, enumeration, the CPU and deliberate mistakes.

Every test runs on a GPU where there is one (`-m gpu`), and everywhere on an emulated one, with
fewer chains.
"""

import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import (
    Corpus,
    DependencyLDA,
    InputError,
    Schedule,
    datasets,
    load,
    train_label_words,
    train_topic_labels,
)
from deplda.inference.batches import infer, score_matrix
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels import random
from deplda.kernels.cuda import device as gpus
from deplda.kernels.cuda.device import Gpu, GpuFullError
from deplda.kernels.cuda.fast import batches
from deplda.kernels.cuda.train_words import Chains
from deplda.training.estimates import LabelWords, TopicLabels
from tests import naive
from tests.kernels.emulator import COMPILER, EmulatedCard
from tests.kernels.test_documents import (
    Bench,
    chi_square_p,
    some_label_words,
    some_topic_labels,
    stationary,
)
from tests.kernels.test_exact import WORD_DOCUMENTS, p_value
from tests.kernels.test_expected import plain
from tests.kernels.worlds import WordWorld, corpus_of, layout_of

Array = np.ndarray[Any, Any]
SOURCES = ("fast", "expected", "train_words")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("emulated")


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """Give a GPU, which device="cuda" then means."""
    if request.param == "cuda":
        if problem := gpus.problem():
            pytest.skip(problem)
        chosen: Gpu | None = gpus.choose("cuda")
        assert chosen is not None
    else:
        chosen = emulated(folder)
    use(chosen, monkeypatch)
    return chosen


def emulated(folder: Path, **options: Any) -> EmulatedCard:
    if COMPILER is None:
        pytest.skip("no C++ compiler is there to emulate a GPU with")
    return EmulatedCard(folder, **options)


def use(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "problem", lambda: None)
    monkeypatch.setattr(gpus, "_card", lambda: gpu)


def more(gpu: Gpu, few: int, many: int) -> int:
    """Return how many chains to run: few where each takes its time."""
    return few if isinstance(gpu, EmulatedCard) else many


def one(corpus: Any, tables: Tables, inference: Inference, **how: Any) -> Any:
    found = list(infer(Corpus(corpus, np.zeros((len(corpus), tables.n_ranked))), tables, inference,
                       device="cuda", **how))  # fmt: skip
    return found[0]


def last_states(gpu: Gpu, bench: Bench, document: list[int], n_chains: int) -> tuple[Array, Array]:
    """Return the tokens of each label and of each topic in the last state of so many chains."""
    tables = Tables(bench.label_words, bench.topic_labels)
    gamma = bench.gamma * max(bench.n_topics, 1)
    inference = Inference(
        bench.eta, bench.alpha * bench.n_labels, gamma, n_chains=n_chains, schedule=Schedule(12)
    )
    found = one([document], tables, inference)
    topics = found.topics[0] * (bench.n + gamma) - bench.gamma
    return np.rint(found.counts[0] * n_chains), np.rint(topics * n_chains)


def exact_tokens(bench: Bench) -> tuple[Array, Array]:
    """Return how many tokens each label, and each topic, has in the long run."""
    if bench.n_topics == 0:
        assert bench.n == 1
        weights = bench.phi[bench.types[0]] * bench.prior()
        return weights / weights.sum(), np.zeros(0)
    p = stationary(bench)
    grid = np.indices(p.shape)
    labels = [((grid[: bench.n] == c).sum(axis=0) * p).sum() for c in range(bench.n_labels)]
    topics = [((grid[bench.n :] == t).sum(axis=0) * p).sum() for t in range(bench.n_topics)]
    return np.array(labels), np.array(topics)


@pytest.mark.parametrize("n_topics", [0, 1, 4])
@pytest.mark.parametrize("word", [0, 3])
def test_the_label_of_a_single_token_follows_the_dense_weights(
    gpu: Gpu, word: int, n_topics: int
) -> None:
    # With one token there is no other to sit with: every draw comes from the prior's buckets.
    document = [0] * 10
    document[word] = 1
    bench = Bench(5, 10, 30, n_topics, document, eta=6.0)
    observed, _ = last_states(gpu, bench, document, more(gpu, 600, 200_000))
    assert chi_square_p(observed, exact_tokens(bench)[0]) > 0.001


def test_expected_counts_and_prior_are_those_of_the_exact_chain(gpu: Gpu) -> None:
    document, n_chains = [2, 1, 0, 1], more(gpu, 200, 40_000)
    bench = Bench(3, 4, 3, 2, document)
    counts, tokens = exact_tokens(bench)
    alpha = bench.alpha + bench.phi_prime @ (bench.scale * (tokens + bench.gamma))
    tables = Tables(bench.label_words, bench.topic_labels)
    error = 3.5 / np.sqrt(n_chains)  # some five standard errors of a mean over chains
    for estimate in ("counts", "conditionals"):
        inference = Inference(
            3.0, 0.8, 0.7, n_chains=n_chains, schedule=Schedule(20, 4, 8), estimate=estimate
        )
        found = one([document], tables, inference)
        assert found.counts[0] == pytest.approx(counts, abs=error)
        assert found.alpha[0] == pytest.approx(alpha, abs=error)
        assert found.counts.sum() == pytest.approx(4, rel=1e-6)


WRONG_DRAWS = [
    ("ws.mass[k] -= 1.0f", "ws.mass[k] -= 0.0f"),
    ("number, at) * (heavy + rest)", "number, at) * heavy"),
    ("(float)topics.topic_values[first + e]", "1.0f"),
    ("words.row_sums, begin, end, u2 *", "words.row_sums, begin, end, 0.5 *"),
    ("label_values[begin + e]", "label_values[0]"),
]


@pytest.mark.parametrize(("right", "wrong"), WRONG_DRAWS)
def test_a_wrong_kernel_of_documents_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    gpu = emulated(folder, changed=(right, wrong))
    use(gpu, monkeypatch)
    document, single = [2, 1, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    bench = Bench(3, 4, 3, 2, document)
    found = np.concatenate(last_states(gpu, bench, document, 300)) / 300
    off = np.abs(found - np.concatenate(exact_tokens(bench))).max()
    other = Bench(5, 10, 30, 4, single, eta=6.0)
    observed, _ = last_states(gpu, other, single, 1_000)
    p = chi_square_p(observed, exact_tokens(other)[0])
    assert off > 7 / np.sqrt(300) or p < 1e-6  # some five standard errors


def test_more_labels_than_slots_are_handled(gpu: Gpu) -> None:
    rng = np.random.default_rng(2)
    tables = Tables(some_label_words(rng, 20, 300), [some_topic_labels(rng, 300, 3)])
    document, n_chains = [[9] * 20], more(gpu, 3, 600)
    inference = Inference(20.0, 400.0, 1.0, n_chains=n_chains, schedule=Schedule(4, 3, 2))
    found = one(document, tables, inference).counts[0]
    assert found.sum() == pytest.approx(180, rel=1e-9)
    corpus = Corpus(document, np.zeros((1, 300)))
    usual = next(infer(corpus, tables, replace(inference, n_chains=100))).counts[0]
    spread = np.sqrt(np.maximum(usual, 0.1) * (1 / (3 * n_chains) + 1 / 300))
    assert (np.abs(found - usual) < 8 * spread).all()


@pytest.mark.parametrize("method", ["sampled", "deterministic"])
def test_a_documents_result_depends_on_its_words_and_the_seed_alone(gpu: Gpu, method: Any) -> None:
    rng = np.random.default_rng(0)
    tables = Tables(
        some_label_words(rng, 25, 12), [some_topic_labels(rng, 12, 4) for _ in range(2)]
    )
    documents = rng.poisson(0.6, size=(9, 25))
    documents[0] = 0
    inference = Inference(5.0, 2.0, 1.0, method=method, n_chains=2, schedule=Schedule(5, 3, 2))
    whole = one(documents, tables, inference, seed=4).counts
    order = rng.permutation(9)
    assert (one(documents[order], tables, inference, seed=4).counts == whole[order]).all()
    assert (one(documents[[7]], tables, inference, seed=4).counts == whole[[7]]).all()
    assert whole.sum(axis=1) == pytest.approx(documents.sum(axis=1), rel=1e-6)
    if method == "sampled":
        assert (one(documents, tables, inference, seed=5).counts != whole).any()


def test_a_card_with_little_memory_gives_the_same_bits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    tables = Tables(some_label_words(rng, 25, 12), [some_topic_labels(rng, 12, 4)])
    documents = rng.poisson(0.6, size=(6, 25))
    for method in ("sampled", "deterministic"):
        inference: Any = Inference(5.0, 2.0, 1.0, method=method, schedule=Schedule(3))
        found = []
        for room in (1 << 30, 1 << 16):
            use(emulated(folder, room=room), monkeypatch)
            found.append(one(documents, tables, inference).counts)
        assert (found[0] == found[1]).all()


def test_too_little_memory_is_an_error_or_the_cpu(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    tables = Tables(some_label_words(rng, 25, 80), [])
    corpus = Corpus(rng.poisson(2, size=(2, 25)), np.eye(2, 80))
    use(emulated(folder, room=1_000), monkeypatch)
    for method in ("sampled", "deterministic"):
        inference: Any = Inference(0.0, 2.0, 1.0, method=method, schedule=Schedule(2))
        with pytest.raises(InputError, match=r"GB are free for it; use device='cpu'"):
            next(infer(corpus, tables, inference, device="cuda"))
        usual = next(infer(corpus, tables, inference)).counts
        assert (next(infer(corpus, tables, inference, device="auto")).counts == usual).all()
    with pytest.raises(GpuFullError):
        train_label_words(corpus, device="cuda")
    schedule = Schedule(2)
    found = train_label_words(corpus, schedule=schedule, device="auto").label_words
    assert (found.base == train_label_words(corpus, schedule=schedule).label_words.base).all()


def test_batches_are_as_large_as_fits() -> None:
    assert list(batches(np.array([5, 5, 3, 1, 1]), 10)) == [(0, 2), (2, 5)]
    assert list(batches(np.array([], np.int64), 10)) == []
    with pytest.raises(GpuFullError):
        list(batches(np.array([5, 11]), 10))


def test_seventy_thousand_labels_are_no_limit(gpu: Gpu) -> None:
    rng = np.random.default_rng(6)
    n, few = 70_000, 50
    phi = some_label_words(rng, 5, few)
    weights = np.zeros((5, n), np.float32)
    weights[:, :few] = phi.weights.toarray()
    base = np.concatenate([phi.base, np.full(n - few, 0.1)])
    own = some_topic_labels(rng, few, 3).weights.toarray()
    own = np.concatenate([own * 0.9 / own.sum(axis=0), np.zeros((n - few, 3))])
    topics = TopicLabels(csr_array(own), np.full(3, 0.1 / n))
    tables = Tables(LabelWords(csr_array(weights), base), [topics])
    usual = Inference(5.0, 2.0, 1.0, n_chains=2, schedule=Schedule(2, 2, 1))
    for inference in (
        usual, replace(usual, estimate="conditionals"), replace(usual, method="deterministic"),
    ):  # fmt: skip
        found = one([[1, 0, 2, 3, 1]], tables, inference)
        assert found.counts.sum() == pytest.approx(7, rel=1e-4)
        assert found.alpha.sum() == pytest.approx(7, rel=1e-6)


@pytest.mark.parametrize("topics", [[], [1], [4], [3, 5]])
@pytest.mark.parametrize("n_labels", [12, 400])
def test_expectations_are_those_of_the_plain_cycle_and_of_the_cpu(
    gpu: Gpu, topics: list[int], n_labels: int
) -> None:
    rng = np.random.default_rng(0)
    label_words = some_label_words(rng, 21, n_labels)
    sets = [some_topic_labels(rng, n_labels, n) for n in topics]
    x = rng.poisson(3, size=(4, 21))
    x[2] = 0
    inference = Inference(8.0, 4.0, 2.0, method="deterministic", tolerance=0.0, max_cycles=6)
    tables = Tables(label_words, sets)
    found = one(x, tables, inference)
    usual = next(infer(Corpus(x, np.zeros((4, n_labels))), tables, inference))
    assert found.counts == pytest.approx(usual.counts, rel=1e-4, abs=1e-7)
    assert found.alpha == pytest.approx(usual.alpha, rel=1e-5)
    assert found.topics == pytest.approx(usual.topics, rel=1e-5)
    if n_labels == 12:
        dense = [s.dense() for s in sets]
        counts, alpha = plain(label_words.dense(), dense, x[0], 8.0, 4.0, 2.0, 6)
        assert found.counts[0] == pytest.approx(counts, rel=1e-4)
        assert found.alpha[0] == pytest.approx(alpha, rel=1e-5)


def chains_on(gpu: Gpu, corpus: Corpus, eta: float, beta: float, n_chains: int) -> Chains:
    z, phi = (
        np.array([random.stream(11, purpose, k) for k in range(n_chains)])
        for purpose in (random.WORD_CHAIN, random.CHAIN_PHI)
    )
    return Chains(gpu, layout_of(corpus), corpus.n_words, eta, beta, z, phi)


def training_p_value(gpu: Gpu, n_chains: int) -> float:
    eta, beta = 1.5, 0.4
    chains = chains_on(gpu, corpus_of(WORD_DOCUMENTS, 3, 3), eta, beta, n_chains)
    for number in range(1, 17):
        chains.sweep(number)
    ranges = [range(len(own)) for tokens, own in WORD_DOCUMENTS for _ in tokens]
    log_weights = {}
    for state in product(*ranges):
        z = [list(state[0:3]), list(state[3:5]), list(state[5:6])]
        log_weights[state] = naive.word_log_likelihood(WORD_DOCUMENTS, z, eta, beta, 3, 3)
    return p_value(Counter(map(tuple, gpu.get(chains.z).T.tolist())), log_weights)


def test_chains_of_training_are_in_every_state_as_often_as_they_should(gpu: Gpu) -> None:
    assert training_p_value(gpu, more(gpu, 4_000, 200_000)) > 0.001


WRONG_TRAINING = [
    ("n_cd[*own * n_chains] -= 1;", ";"),
    ("(n_cd[j * n_chains] + alpha)", "(n_cd[j * n_chains] + (float)eta)"),
    ("chain] + (float)beta", "chain] + 2 * (float)beta"),
    ("return d * v * boost", "return d * v"),
]


@pytest.mark.parametrize(("right", "wrong"), WRONG_TRAINING)
def test_a_wrong_kernel_of_training_is_found(folder: Path, right: str, wrong: str) -> None:
    assert training_p_value(emulated(folder, changed=(right, wrong)), 4_000) < 1e-6


def test_the_counts_and_the_log_likelihood_are_those_of_the_cpu(gpu: Gpu) -> None:
    rng = np.random.default_rng(8)
    labels = rng.random((12, 6)) < 0.4
    corpus = Corpus(rng.poisson(0.8, size=(12, 30)), labels)
    chains = chains_on(gpu, corpus, 1.2, 0.3, 40)
    world = WordWorld(corpus, 1.2, 0.3)
    for number in range(1, 4):
        chains.sweep(number)
    for k in (0, 17, 39):
        world.z[:] = gpu.get(chains.z)[:, k]
        world.tally()
        assert (gpu.get(chains.cell_counts)[:, k] == world.cell_counts).all()
        assert (gpu.get(chains.label_counts)[:, k] == world.label_counts).all()
        level = float(chains.log_likelihood()[k])
        assert level == pytest.approx(world.log_likelihood(), rel=1e-10)


def test_phi_of_a_card_is_near_that_of_the_cpu_and_the_same_in_pieces(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = datasets.newsroom(60).corpus
    how: Any = {"n_chains": more(gpu, 5, 400), "schedule": Schedule(15, 3, 2), "seed": 3}
    found = train_label_words(corpus, **how, device="cuda")
    usual = train_label_words(corpus, **how)
    a, b = found.label_words.dense(), usual.label_words.dense()
    assert a.sum(axis=0) == pytest.approx(1)
    assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > (0.85 if how["n_chains"] == 5 else 0.98)
    assert found.diagnostics is not None
    assert usual.diagnostics is not None
    levels = found.diagnostics.log_likelihood[:, -1], usual.diagnostics.log_likelihood[:, -1]
    assert levels[0].mean() == pytest.approx(levels[1].mean(), rel=0.02)
    monkeypatch.setattr("deplda.training.word_chain_cuda.chains_that_fit", lambda *_: 2)
    pieces = train_label_words(corpus, **how, device="cuda")
    assert (pieces.label_words.dense() == a).all()
    assert pieces.diagnostics is not None
    assert pieces.diagnostics.traces == pytest.approx(found.diagnostics.traces, rel=1e-12)


@pytest.mark.parametrize("source", SOURCES)
def test_the_sources_are_what_a_cuda_compiler_takes(source: str, tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no CUDA compiler (nvcc) is on this machine")
    path = gpus.SOURCES / f"{source}.cu"
    command = [nvcc, "-std=c++17", "-Werror", "all-warnings", "-cubin", "-arch=sm_75", str(path)]
    subprocess.run([*command, "-o", str(tmp_path / "out")], check=True)


def test_what_a_card_cannot_do_is_an_error_or_done_on_the_cpu(gpu: Gpu) -> None:
    rng = np.random.default_rng(0)
    tables = Tables(some_label_words(rng, 6, 70), [some_topic_labels(rng, 70, 2)])
    corpus = Corpus(rng.poisson(1, size=(2, 6)), np.eye(2, 70))
    inference = Inference(1.0, 1.0, 1.0, method="proper", n_label_tokens=3, schedule=Schedule(2))
    with pytest.raises(InputError, match="proper inference is done on the CPU alone"):
        infer(corpus, tables, inference, device="cuda")
    usual = next(infer(corpus, tables, inference)).counts
    assert (next(infer(corpus, tables, inference, device="auto")).counts == usual).all()
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        train_label_words(corpus, engine="processes", device="cuda")


def test_without_a_card_cuda_is_an_error_and_auto_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "problem", lambda: "CuPy is not installed")
    rng = np.random.default_rng(0)
    tables = Tables(some_label_words(rng, 6, 5), [])
    corpus = Corpus(rng.poisson(1, size=(2, 6)), np.eye(2, 5))
    inference = Inference(0.0, 1.0, 1.0, method="deterministic")
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed; use"):
        infer(corpus, tables, inference, device="cuda")
    with pytest.raises(InputError, match="device is 'gpu'; it must be one of"):
        train_label_words(corpus, device=cast("Any", "gpu"))
    usual = next(infer(corpus, tables, inference)).counts
    assert (next(infer(corpus, tables, inference, device="auto")).counts == usual).all()


def test_a_model_says_at_once_that_there_is_no_card(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gpus, "problem", lambda: "CuPy is not installed")
    corpus = datasets.newsroom(60).corpus
    quick: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5}
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed"):
        DependencyLDA(**quick, device="cuda").fit(corpus)
    with pytest.raises(
        InputError, match="device is 'gpu'; it must be one of 'cpu', 'cuda', 'auto'"
    ):
        DependencyLDA(**quick).set_params(device="gpu").fit(corpus)
    model = DependencyLDA(**quick, device="auto").fit(corpus)
    usual = DependencyLDA(**quick).fit(corpus)
    assert (model.decision_function(corpus) == usual.decision_function(corpus)).all()
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").get_params()["device"] == "cpu"


def test_a_model_trains_and_predicts_on_a_card(gpu: Gpu) -> None:
    corpus = datasets.newsroom(40).corpus
    quick: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5, "n_chains": 2, "n_sweeps": 4}
    model = DependencyLDA(**quick, fit_method="sampled", device="cuda").fit(corpus)
    assert model.diagnostics_["label_words"].traces.shape[:2] == (2, 4)
    ranking = model.rank(corpus[:4], k=3)
    usual = model.set_params(device="cpu").rank(corpus[:4], k=3)
    assert (ranking.labels[:, 0] == usual.labels[:, 0]).all()
    assert ranking.scores == pytest.approx(usual.scores, rel=0.02)  # the CPU pools more labels


@pytest.mark.gpu
@pytest.mark.data
@pytest.mark.timeout(1200)  # most of it for the CPU's part
@pytest.mark.parametrize("name", ["yahoo-arts", "eurlex20k"])
def test_the_card_ranks_as_well_as_the_cpu_on_real_data(name: str, data_dir: Path) -> None:
    from tests.training.test_real_data import average_precision

    if problem := gpus.problem():
        pytest.skip(problem)
    data = datasets.load(name, data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    test = test[:400]
    n_topics = min(200, train.n_labels)
    topics = train_topic_labels(train, n_topics, n_chains=2, schedule=Schedule(100)).topic_labels
    phi = {
        device: train_label_words(train, n_chains=6, device=device).label_words
        for device in ("cpu", "cuda")
    }
    usual = Inference(100.0, 10.0, 1.0, n_chains=8, estimate="conditionals")
    for inference in (usual, replace(usual, method="deterministic")):
        found: dict[Any, float] = {}
        for trained, device in (("cpu", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")):
            scores = score_matrix(test, Tables(phi[trained], topics), inference, device=device)  # type: ignore[arg-type]
            found[trained, device] = average_precision(scores, test.labels.toarray())
        assert found["cpu", "cuda"] == pytest.approx(found["cpu", "cpu"], abs=0.003)
        assert found["cuda", "cuda"] == pytest.approx(found["cpu", "cpu"], abs=0.006)
