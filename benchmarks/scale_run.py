"""One run of a model over shards, in a process of its own: ``python -m benchmarks.scale_run JOB``.

JOB is a `Job` as JSON; what was measured is written to its file `out`, as a `Run`.
"""

from __future__ import annotations

import gc
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
    test = shape._replace(documents=n, shard=-(-shape.shard // 8), seed=shape.seed + 1)
    name = f"{shape.documents}-{shape.labels}-{shape.shard}-{shape.seed}"
    base = Path(job.folder) / name
    return write_shards(base / "train", shape), write_shards(base / "test", test)


def measure(job: Job) -> Run:
    """Train and predict, and return what it took."""
    train, test = corpora(job)
    work = train.parent / f"{job.model}-{job.engine}-{job.workers}"
    if work.exists():
        subprocess.run(["rm", "-r", work], check=True)
    with _engine(job) as how:
        name = next(name for name, entry in MODELS.items() if entry.verb == job.model)
        model: Any = model_class(name)(random_state=0, **how)
        learning, predicting = Recorder(), Recorder()
        with learning.recording():
            model.fit_shards(train, work / "scratch")
        model.save(work / "model")
        n_words = len(model.words_)
        del model  # prediction loads it, and its memory is measured apart
        gc.collect()
        with predicting.recording():
            manifest = predict_shards(work / "model", test, work / "labels", k=10, **how)
    sizes = {
        part: sum(path.stat().st_size for path in (work / part).rglob("*") if path.is_file())
        for part in ("model", "scratch")
    }
    run = Run(
        job.model, job.engine, job.workers, job.shape.documents, job.shape.labels,
        n_words, job.shape.shards, manifest.documents, sizes["model"], sizes["scratch"],
        learning.stages, predicting.stages,
    )  # fmt: skip
    subprocess.run(["rm", "-r", work], check=True)
    return run


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
    job = msgspec.json.decode(sys.argv[1], type=Job)
    Path(job.out).write_bytes(msgspec.json.encode(measure(job)))
