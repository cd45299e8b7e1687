"""Documents batch by batch."""

import pytest

from deplda import Corpus, InputError
from deplda.inference.batches import infer
from deplda.inference.settings import Inference
from tests.inference.worlds import News


def test_progress_is_told(news: News, capsys: pytest.CaptureFixture[str]) -> None:
    tables, test = news
    list(infer(test, tables["flat"], Inference(0.0, 9.0, 1.0), progress=True))
    assert "inferring labels of 150 documents" in capsys.readouterr().err


def test_words_must_be_those_of_the_model(news: News) -> None:
    other = Corpus([[1, 2]], [[1]])
    with pytest.raises(InputError, match=r"2 words but the model [\d,]+; align it"):
        infer(other, news[0]["flat"], Inference(1.0, 1.0, 1.0))
