"""Processes that are begun before there is a task."""

import msgspec

from deplda.experiments.processes import Processes
from deplda.experiments.protocol import Experiment
from deplda.experiments.unit import Task


def test_processes_that_no_task_comes_for_are_ended() -> None:
    with Processes(2) as processes:
        waiting = list(processes._waiting)
        assert all(process.poll() is None for process in waiting)
    assert all(process.returncode is not None for process in waiting)


def test_more_tasks_than_processes_that_were_begun_are_run(small: Experiment) -> None:
    broken = msgspec.structs.replace(small, data="no-such-set")
    task = Task(broken, "Flat", 0, "quick")
    with Processes(1) as processes:
        errors = [str(processes.run(task).error) for _ in range(2)]
    assert all("no-such-set" in error for error in errors)
