"""What is recorded of a run, which is the run that it is without."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from benchmarks.scale_recorder import BETWEEN, Recorder

from deplda import FlatLDA
from deplda.data.datasets import newsroom
from deplda.engine.execution import Execution, Shown
from deplda.engine.pool import Stop
from deplda.engine.progress import stage
from tests.training.worlds import in_shards, same


def test_stages_of_a_run_are_told_by_name_with_their_tasks(tmp_path: Path) -> None:
    source = in_shards(newsroom(60, seed=4).corpus, tmp_path / "in", 3)
    plain = FlatLDA(n_held_out=0).fit_shards(source, tmp_path / "plain")
    original, recorder = Execution.map, Recorder()
    with recorder.recording():
        model = FlatLDA(n_held_out=0, n_jobs=1).fit_shards(source, tmp_path / "scratch")
    assert Execution.map is original
    assert same(model.label_words_, plain.label_words_)
    found = {stage.name: stage for stage in recorder.stages}
    assert {"counting words of files", "learning words of labels", BETWEEN} <= set(found)
    counting, learning = found["counting words of files"], found["learning words of labels"]
    assert [step.tasks for step in counting.steps] == [3]
    assert counting.steps[0].moved > sum(path.stat().st_size for path in source.iterdir())
    assert len(learning.steps) > 2
    for each in recorder.stages:
        assert each.peak > 10**7
        assert 0 <= sum(step.task_seconds for step in each.steps) <= each.seconds


def _doubled(array: np.ndarray, item: int, stop: Stop) -> np.ndarray:
    return array * item


def test_bytes_that_travel_are_counted_where_they_do() -> None:
    recorder, array = Recorder(), np.ones(1_000)
    with recorder.recording():
        with stage("doubling 2,000 numbers", False):
            results = list(Execution("processes", n_jobs=1).map(_doubled, [2, 3], array))
        shown = Shown("alone 7", 1, lambda _: 1)
        list(Execution(n_jobs=1).map(_doubled, [1], array, shown=shown))
    assert [result[0] for result in results] == [2.0, 3.0]
    doubling, alone = (each for each in recorder.stages if each.name != BETWEEN)
    (step,) = doubling.steps
    assert (doubling.name, step.tasks) == ("doubling numbers", 2)
    assert 8_000 < step.shared < 9_000
    assert 16_000 < step.returned < 17_000
    assert 0 < step.sent < 100
    assert alone.name == "alone"
    assert (alone.steps[0].shared, alone.steps[0].returned) == (0, 0)


_TELLS_MEMORY = """
import numpy
from benchmarks.scale_recorder import resident
before = resident()
held = numpy.ones(5_000_000)
print(resident() - before)
"""


def test_memory_is_that_of_a_process() -> None:
    # A new one: this one may still have memory from tests before, which it would take again.
    told = subprocess.run([sys.executable, "-c", _TELLS_MEMORY], check=True, capture_output=True)
    assert int(told.stdout) > 0.9 * 8 * 5_000_000


def test_what_threads_do_is_the_drivers_own_where_others_work() -> None:
    recorder = Recorder(by_threads=False)
    with recorder.recording(), stage("doubling", False):
        far = list(Execution("processes", n_jobs=1).map(_doubled, [2, 3], np.ones(1)))
        near = list(Execution(n_jobs=1).map(_doubled, [2, 3], np.ones(1)))
    assert near == far
    assert [step.tasks for each in recorder.stages for step in each.steps] == [2]
