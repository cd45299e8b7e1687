from pathlib import Path

import pytest

from deplda import DependencyLDA, datasets
from tests.cli.running import QUICK, articles, done, write_jsonl


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("corpus") / "articles.jsonl", articles())


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    """A model of texts."""
    folder = tmp_path_factory.mktemp("models") / "text"
    done("train", corpus, "-o", folder, "--where", "part=train", "--language", "none", *QUICK)
    return folder


@pytest.fixture(scope="session")
def counts_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of counts."""
    folder = tmp_path_factory.mktemp("models") / "counts"
    news = datasets.newsroom(200).corpus
    DependencyLDA(n_topic_chains=1, n_topic_sweeps=5).fit(news).save(folder)
    return folder


@pytest.fixture(scope="session")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set with a split, as a folder."""
    folder = tmp_path_factory.mktemp("data") / "news"
    datasets.save_folder(datasets.load("newsroom", n_documents=400), folder)
    return folder
