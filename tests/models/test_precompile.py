"""After compilation in advance, no model compiles anything."""

import pytest
from numba.core import event

from deplda.data.datasets import newsroom
from deplda.models.precompile import precompile
from deplda.models.registry import MODELS, model_class


@pytest.mark.filterwarnings("ignore")  # of models too small to be useful
def test_no_model_compiles_after_compilation_in_advance() -> None:
    precompile()
    news = newsroom(60)
    with event.install_recorder("numba:compile") as recorder:
        for name in MODELS:
            model = model_class(name)().fit(news.corpus)
            model.predict(news.corpus)
            model.fit(news.texts, news.corpus.labels).rank(news.texts)
    assert [each.data["dispatcher"] for _, each in recorder.buffer] == []
