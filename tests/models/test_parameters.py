"""Hyperparameters: checked, the paper's, and the paper's rule for other data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus, DependencyLDA, FlatLDA, InputError, PriorLDA, load
from deplda.models.parameters import auto_settings, paper_settings
from tests.models.worlds import TOPICS, Model, counted, news, quick

BAD: dict[str, list[Any]] = {
    "n_topics": [0, -1, 1.5, "many", True, None],
    "n_chains": [0, "auto", 2.0, 10**9],
    "n_sweeps": [0, 0.5],
    "n_topic_chains": [0],
    "n_topic_sweeps": [-3],
    "n_test_chains": [0, 1.0],
    "burn_in": [0, "x"],
    "n_samples": [0],
    "lag": [0],
    "eta": [-1.0, np.nan, np.inf, "high", None, 1e300],
    "alpha": [-0.5, np.nan, True],
    "gamma": [0, -1, np.inf],
    "beta_words": [0.0, "much"],
    "word_counts": ["sqrt", None, 1],
    "background": [1.0, -0.1, "auto", True],
    "beta_labels": [0.0, -1],
    "train_eta": [0.0],
    "train_gamma": [0.0],
    "fit_method": ["gibbs", None, 1],
    "inference": ["exact", ["sampled"]],
    "n_label_tokens": [0],
    "theta_estimate": ["modes"],
    "combine": ["sum"],
    "cutoff": [0, -1, "all", np.nan, True, None, 1.5, 0.0],
    "n_held_out": [-1, 1.5, "all", None],
    "random_state": [-1, "seed"],
    "n_jobs": [0, -2, 1.5, "all"],
    "engine": ["gpu"],
    "device": ["gpu", None],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_a_bad_parameter_is_called_by_its_name(name: str, value: Any) -> None:
    _, x = counted()
    with pytest.raises(ValueError, match=rf"{name} is .*(must|a seed)|cannot be used to seed"):
        DependencyLDA(**{name: value}).fit(x, TOPICS)
    if name not in ("random_state", "cutoff"):
        later = quick(DependencyLDA).fit(x, TOPICS).set_params(**{name: value})
        with pytest.raises(InputError, match=f"{name} is "):
            later.rank(x)


def test_every_parameter_but_verbose_is_checked() -> None:
    assert BAD.keys() == DependencyLDA().get_params().keys() - {"verbose"}


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    _, x = counted()
    numbers: dict[str, Any] = {
        "n_topics": np.int64(2),
        "n_topic_chains": np.int32(1),
        "n_topic_sweeps": np.int16(5),
        "eta": np.float32(3),
        "alpha": np.int64(2),
        "cutoff": np.int64(1),
        "random_state": np.uint8(1),
        "n_jobs": np.int64(1),
    }
    fitted = DependencyLDA(**numbers)
    fitted.fit(x, TOPICS).save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").rank(x).scores, fitted.rank(x).scores)
    assert fitted.predict(x).sum() == 4


# The paper's rule ---------------------------------------------------------------------------------


def shaped(n_labels: int, length: int, n_documents: int = 50) -> Corpus:
    labels = csr_array(
        (np.ones(n_documents, bool), np.arange(n_documents) % n_labels, np.arange(n_documents + 1)),
        shape=(n_documents, n_labels),
    )
    return Corpus(np.full((n_documents, 1), length), labels)


@pytest.mark.parametrize(
    ("shape", "model", "expected"),
    [
        ((3993, 400), "dependency", {"eta": 150.0, "alpha": 30.0, "gamma": 10.0, "n_topics": 200}),
        ((3993, 400), "prior", {"eta": 150.0, "alpha": 30.0}),
        ((3993, 400), "flat", {"alpha": 180.0}),
        ((20, 190), "dependency", {"eta": 100.0, "alpha": 1.0, "gamma": 1.0, "n_topics": 20}),
        ((20, 190), "prior", {"eta": 70.0, "alpha": 30.0}),
        ((20, 190), "flat", {"alpha": 100.0}),
        ((101, 120), "dependency", {"eta": 100.0, "alpha": 1.0, "gamma": 10.0, "n_topics": 101}),
        ((101, 120), "prior", {"eta": 100.0, "alpha": 1.0}),
        ((101, 120), "flat", {"alpha": 101.0}),
        ((1, 1), "dependency", {"eta": 100.0, "n_topics": 1}),
        ((100_000, 5_000), "dependency", {"eta": 150.0, "n_topics": 200}),
    ],
)
def test_auto_takes_the_weights_of_the_papers_nearest_data(
    shape: tuple[int, int], model: Any, expected: dict[str, float]
) -> None:
    found = auto_settings(shaped(*shape), model)
    assert {name: found[name] for name in expected} == expected
    if model != "flat":  # smoothing adds a tenth to the label tokens, or next to nothing
        n_topics = found.get("n_topics", 1)
        assert found["beta_labels"] == max(0.1 * 50 / (n_topics * shape[0]), 1e-3)


def test_many_labels_have_raw_counts_and_more_weight_on_the_prior() -> None:
    few, many = (
        auto_settings(Corpus(csr_array((1, 5)), csr_array((1, n))), "dependency")
        for n in (100, 3000)
    )
    assert (few["word_counts"], few["train_eta"], few["beta_words"]) == ("log", 200.0, 0.01)
    assert (many["word_counts"], many["train_eta"], many["beta_words"]) == ("raw", 1000.0, 0.003)


def test_settings_say_what_auto_became(model: Model) -> None:
    fitted: Any = quick(model).fit(news())
    automatic = auto_settings(news(), model._model) | {"combine": "blend"}
    if model is not FlatLDA:
        automatic["background"] = 0.0
    assert fitted.settings_ == automatic
    assert fitted.get_params()["alpha"] == "auto"
    given = quick(model, alpha=7).fit(news())
    assert given.settings_ == automatic | {"alpha": 7.0}


# The paper's own ----------------------------------------------------------------------------------


# Table 6 of the paper: Σα, η, Σγ, β_C, T.
@pytest.mark.parametrize(
    ("data", "flat", "prior", "dependency"),
    [
        ("eurlex", 180, (30, 150, 1), (30, 150, 10, 0.01, 200)),
        ("nyt", 180, (30, 150, 1), (30, 150, 10, 0.01, 200)),
        ("yahoo", 100, (30, 70, 10), (1, 100, 1, 1, 20)),
        ("rcv1", 101, (1, 100, 100), (1, 100, 10, 1, 100)),
    ],
)
def test_the_papers_settings_are_the_papers(
    data: Any, flat: float, prior: tuple[float, ...], dependency: tuple[float, ...]
) -> None:
    def values(model: Any, *names: str) -> tuple[Any, ...]:
        return tuple(getattr(model, name) for name in names)

    assert FlatLDA.paper(data).alpha == flat
    assert values(PriorLDA.paper(data), "alpha", "eta", "beta_labels") == prior
    model = DependencyLDA.paper(data)
    names = ("alpha", "eta", "gamma", "beta_labels", "n_topics")
    assert values(model, *names) == dependency
    protocol = ("n_chains", "n_sweeps", "n_topic_chains", "n_topic_sweeps")
    assert values(model, *protocol) == (48, 100, 10, 500)
    assert values(model, "burn_in", "n_samples", "lag", "n_test_chains") == (50, 15, 5, 6)
    assert values(model, "fit_method", "inference") == ("sampled", "sampled")


def test_the_papers_settings_can_be_changed_and_used() -> None:
    with pytest.raises(InputError, match="data is 'reuters'; it must be one of"):
        DependencyLDA.paper("reuters")  # type: ignore[arg-type]
    few = {"n_chains": 1, "n_sweeps": 3, "n_topic_chains": 1, "n_topic_sweeps": 3}
    model = DependencyLDA.paper("yahoo", **few, n_test_chains=1, burn_in=2, n_samples=1)
    assert model.fit(news()[:30]).rank(news()[:5]).labels.shape == (5, 10)


@pytest.mark.parametrize("data", ["eurlex", "yahoo", "rcv1", "nyt"])
def test_the_paper_has_neither_logarithms_nor_a_background(data: Any) -> None:
    found = paper_settings(data, "dependency")
    for name, value in {
        "word_counts": "raw", "background": 0.0, "train_eta": 50.0, "beta_words": 0.01,
        "combine": "blend",
    }.items():  # fmt: skip
        assert found[name] == value
    assert FlatLDA.paper(data).word_counts == "raw"
