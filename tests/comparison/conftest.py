import pytest

from deplda import datasets
from deplda.comparison import Comparison, Model
from deplda.data.datasets import Dataset


@pytest.fixture
def small() -> Comparison:
    few = {"n_topics": 8, "n_topic_chains": 1, "n_topic_sweeps": 20, "n_held_out": 0}
    models = {
        "Flat": Model("FlatLDA", {"n_held_out": 0}),
        "Dependency (few)": Model("DependencyLDA", few),
    }
    return Comparison(name="small", data="newsroom", models=models)


@pytest.fixture
def news() -> Dataset:
    return datasets.load("newsroom", n_documents=80)
