"""One unit: the same metrics however it is run, and draws that can be paired."""

from deplda.experiments.protocol import Experiment
from deplda.experiments.unit import Task, run_unit


def test_a_unit_gives_the_same_metrics_for_any_number_of_threads(small: Experiment) -> None:
    one, two = (
        run_unit(Task(small, "Dependency (few)", 0, "quick", n_jobs=n))["metrics"] for n in (1, 2)
    )
    assert one == two
