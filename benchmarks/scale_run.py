"""Half of a run of a model over shards: ``python -m benchmarks.scale_run fit|predict JOB``.

JOB is a `Job` as JSON; what was measured is written to its file `out`, as a `Run`. Prediction is of
the model that was trained before, and adds to that file. Each half is a process of its own, so that
its memory is too.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchmarks.scale_corpora import Shape, write_shards
from benchmarks.scale_recorder import BETWEEN, Recorder, Stage
from deplda.models.predict_shards import predict_shards
from deplda.models.registry import MODELS, model_class

Engine = Literal["threads", "dask"]
Model = Literal["hybrid", "dependency"]
_MOST_PREDICTED = 20_000


class Job(msgspec.Struct, frozen=True):
    """What is to be measured, and where files may be kept."""

    model: Model
    shape: Shape
    engine: Engine
    workers: int
    folder: str
    out: str


class Run(msgspec.Struct, frozen=True):
    """What was measured."""

    model: Model
    engine: Engine
    workers: int
    documents: int
    labels: int
    """Of which the corpus is drawn: the rarest may have no document."""
    words: int
    """Those kept."""
    shards: int
    predicted: int
    model_bytes: int
    scratch_bytes: int
    """Of files that training leaves in its work folder."""
    fit: list[Stage]
    predict: list[Stage]

    @property
    def peak(self) -> int:
        """Most resident memory of all processes, in bytes."""
        return max(stage.peak for stage in (*self.fit, *self.predict))

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is a measurement of; a new one takes the place of an old one."""
        return (self.model, self.engine, self.workers, self.documents, self.labels, self.shards)


def corpora(job: Job) -> tuple[Path, Path]:
    """Return the folders of training and test documents, which are written if they are not there.

    Test documents are a tenth of the others, from half a shard to 20,000, in smaller shards.
    """
    shape = job.shape
    n = min(_MOST_PREDICTED, max(shape.shard // 2, shape.documents // 10))
    test = shape._replace(documents=n, shard=-(-shape.shard // 8), parts=1, seed=shape.seed + 1)
    name = f"{shape.documents}-{shape.labels}-{shape.shard}-{shape.parts}-{shape.seed}"
    base = Path(job.folder) / name
    return write_shards(base / "train", shape), write_shards(base / "test", test)


def fit(job: Job) -> Run:
    """Train, and return what it took; the model is kept."""
    train, _ = corpora(job)
    work, recorder = _work(job), Recorder(by_threads=job.engine == "threads")
    if work.exists():
        subprocess.run(["rm", "-r", work], check=True)
    with _engine(job) as how:
        name = next(name for name, entry in MODELS.items() if entry.verb == job.model)
        model: Any = model_class(name)(random_state=0, **how)
        with recorder.recording():
            model.fit_shards(train, work / "scratch")
        model.save(work / "model")
    sizes = {
        part: sum(path.stat().st_size for path in (work / part).rglob("*") if path.is_file())
        for part in ("model", "scratch")
    }
    shape = job.shape
    return Run(
        job.model, job.engine, job.workers, shape.documents, shape.labels, len(model.words_),
        shape.shards, 0, sizes["model"], sizes["scratch"], recorder.stages, [],
    )  # fmt: skip


def predict(job: Job) -> Run:
    """Predict with the model that was trained, which is removed, and return what both took."""
    trained = msgspec.json.decode(Path(job.out).read_bytes(), type=Run)
    _, test = corpora(job)
    work, recorder = _work(job), Recorder(by_threads=job.engine == "threads")
    with _engine(job) as how, recorder.recording():
        manifest = predict_shards(work / "model", test, work / "labels", k=10, **how)
    subprocess.run(["rm", "-r", work], check=True)
    found = {"predicted": manifest.documents, "predict": recorder.stages}
    return msgspec.structs.replace(trained, **found)


def _work(job: Job) -> Path:
    return corpora(job)[0].parent / f"{job.model}-{job.engine}-{job.workers}"


@contextmanager
def _engine(job: Job) -> Iterator[dict[str, Any]]:
    if job.engine == "threads":
        yield {"engine": "threads", "n_jobs": job.workers}
        return
    from benchmarks.cluster import workers

    with workers(job.workers) as client:
        yield {"engine": client}


def seconds(stages: list[Stage]) -> float:
    """Return how long all stages took."""
    return sum(stage.seconds for stage in stages)


def ordered(stages: list[Stage]) -> list[Stage]:
    """Return the stages in their order, what is done between them last."""
    return sorted(stages, key=lambda stage: stage.name == BETWEEN)


if __name__ == "__main__":
    job = msgspec.json.decode(sys.argv[2], type=Job)
    run = {"fit": fit, "predict": predict}[sys.argv[1]](job)
    Path(job.out).write_bytes(msgspec.json.encode(run))
