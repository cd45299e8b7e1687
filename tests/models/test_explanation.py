"""An explanation as plain values and as a table."""

import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from deplda import FlatLDA, WordCounter
from deplda.models.topic_model import TopicModel
from tests.models.worlds import newsroom, trained


@pytest.fixture
def model(model: Any) -> TopicModel:
    """Give every model, trained on the newsroom."""
    return trained(model)


def test_values_are_json_has_them(model: TopicModel) -> None:
    for labels in (["a", "b"], [3, 5], [True, False]):
        counts = np.array([[1, 0], [0, 2]])
        explanation = FlatLDA().fit(counts, labels).explain(counts[[1]])
        values = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
        assert {value["label"] for value in values["labels"]} == set(labels)
    values = model.explain(newsroom().corpus[[0]]).to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["n_tokens"] == 180
    assert set(values["labels"][0]) == {
        "label", "score", "parts", "tokens", "words", "topics", "companions", "evidence",
        "other_prior", "probability", "uri", "notation", "named", "by_name", "examples",
    }  # fmt: skip


def test_a_table_is_drawn_and_square_brackets_are_no_markup(capsys: Any) -> None:
    counter = WordCounter(stop_words=None, token_pattern=r"[^ ]+")  # noqa: S106
    counts = counter.fit_transform(["[red]ball[/red]", "other"])
    model = FlatLDA().fit(counts, [["[bold]label[/nonsense]"], ["plain"]], counter=counter)
    Console(width=160).print(model.explain("[red]ball[/red] and"))
    drawn = capsys.readouterr().out
    assert "[bold]label[/nonsense]" in drawn
    assert "[red]ball[/red]" in drawn
    assert "1 token of known words, 1 of unknown ones left out." in drawn
