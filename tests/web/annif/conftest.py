from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deplda.web import Limits
from tests.web.annif.models import thesaurus_model
from tests.web.serving import model_of_counts, running, slow_model

SMALL = Limits(
    body_bytes=5_000, large_body_bytes=20_000, characters=1_000, tokens=150,
    labels=50, learned=40, learn_bytes=3_000,
)  # fmt: skip


@pytest.fixture(scope="session")
def feedback(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("learn") / "feedback.jsonl"


@pytest.fixture(scope="session")
def annif(model: Any, feedback: Path) -> Iterator[httpx.Client]:
    models = {
        "law-fi": thesaurus_model(), "plain": model, "counts": model_of_counts(),
        "scores": slow_model(),
    }  # fmt: skip
    learn = {"plain": feedback}
    with running(models, SMALL, learn=learn) as address, httpx.Client(base_url=address) as client:
        yield client
