"""A comparison as data."""

from deplda.comparison.comparison import TITLES, Model, compare_models, slug, unheld
from deplda.models.registry import MODELS, model_class


def test_every_model_is_compared_with_parameters_that_it_has() -> None:
    comparison = compare_models("news", "news.csv", min_count=2, seed=3)
    assert set(TITLES) == set(MODELS)
    assert set(comparison.models) == set(TITLES.values())
    assert comparison.models["Dependency-LDA"] == Model(
        "DependencyLDA", {"n_held_out": 0, "n_topic_chains": 2}
    )
    for model in comparison.models.values():
        model_class(model.estimator)(**model.parameters)


def test_only_a_model_that_mixes_holds_documents_out() -> None:
    assert unheld(model_class("HybridLDA")) == {}
    assert unheld(model_class("TfidfSVM")) == {"n_held_out": 0}


def test_a_model_has_a_file_name() -> None:
    assert slug("Tuned-SVM (both)") == "tuned-svm-both"
