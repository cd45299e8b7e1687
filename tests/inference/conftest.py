import pytest

from tests.drawn_news import drawn_news
from tests.inference.worlds import News, tables_of
from tests.kernels.cuda.conftest import folder, gpu

__all__ = ["folder", "gpu", "news"]


@pytest.fixture(scope="session")
def news() -> News:
    corpus = drawn_news(600).corpus
    return tables_of(corpus[:450], 16, 0.1, 1.0), corpus[450:]
