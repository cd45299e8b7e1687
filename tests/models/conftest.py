from pathlib import Path

import pytest

from deplda import FlatLDA
from deplda.models.topic_model import TopicModel
from tests.models.saved_models import saved, write
from tests.models.worlds import MODELS, TOPICS, Model, counted


@pytest.fixture(params=MODELS, ids=lambda model: model.__name__)
def model(request: pytest.FixtureRequest) -> Model:
    chosen: Model = request.param
    return chosen


@pytest.fixture(scope="session")
def fitted() -> TopicModel:
    _, x = counted()
    return FlatLDA().fit(x, TOPICS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    write(path, saved())
    return path
