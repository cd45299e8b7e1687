"""The registry: every model there, and able to do what is said of it."""

import inspect

import pytest

from deplda import PriorLDA, TfidfSVM
from deplda.models.explainer import Explainer
from deplda.models.registry import MODELS, can, model_class, verbs_that_can


@pytest.mark.parametrize("name", MODELS)
def test_a_model_can_do_what_is_said_of_it_and_nothing_else(name: str) -> None:
    kind = model_class(name)
    assert kind.__name__ == name
    assert "device" in inspect.signature(kind).parameters
    assert can(kind, "explain") == issubclass(kind, Explainer)
    assert can(kind, "paper") == hasattr(kind, "paper")
    assert can(kind, "shards") == hasattr(kind, "fit_shards")
    assert can(kind, "checkpoint") == ("checkpoint" in inspect.signature(kind.fit).parameters)


def test_what_a_class_can_do_its_instances_and_subclasses_can() -> None:
    class Mine(PriorLDA):
        pass

    assert can(PriorLDA(), "shards")
    assert can(Mine(), "shards")
    assert not can(TfidfSVM(), "explain")


def test_the_command_line_knows_every_model_by_another_name() -> None:
    assert len({entry.verb for entry in MODELS.values()}) == len(MODELS)
    assert verbs_that_can("paper") == "dependency, prior and flat"
    assert verbs_that_can("explain") == "dependency, prior, flat and hybrid"
