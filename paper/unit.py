"""One unit of the reproduction: a unit of a comparison, with what the model has learned."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from deplda.comparison.unit import Task, measure, serve
from deplda.models.topic_model import TopicModel
from paper.shown import learned


def run_unit(task: Task) -> dict[str, Any]:
    """Return the results of a unit."""
    measured = measure(task)
    measured.results["showcase"] |= learned(measured.model, measured.train)
    measured.results["n_test"] = len(measured.test)
    measured.results["diagnostics"] = _diagnostics(measured.model)
    return measured.results


def _diagnostics(model: Any) -> dict[str, Any]:
    if not isinstance(model, TopicModel) or find_spec("arviz_stats") is None:
        return {}
    return {
        part: {
            "summary": diagnostics.to_dict(),
            "log_likelihood": diagnostics.traces.log_likelihood.tolist(),
        }
        for part, diagnostics in model.diagnostics().items()
    }


if __name__ == "__main__":
    serve(run_unit)
