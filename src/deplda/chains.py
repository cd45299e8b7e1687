"""Chains: run them by a schedule, trace them, and save them so that nothing is ever lost."""

from __future__ import annotations

import io
import json
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from deplda.engine import Engine, Stop, Stopped, map_ordered
from deplda.errors import InputError, ReadError
from deplda.files import write_whole

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a chain gives samples: after `burn_in` sweeps, then every `lag` sweeps.

    ``Schedule(100)`` is the paper's: 100 sweeps and one sample at their end.
    """

    burn_in: int
    n_samples: int = 1
    lag: int = 1

    def __post_init__(self) -> None:
        for name in ("burn_in", "n_samples", "lag"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; it must be a whole number from 1")

    @property
    def n_sweeps(self) -> int:
        """Sweeps until the last sample."""
        return self.burn_in + (self.n_samples - 1) * self.lag

    def samples_at(self, sweep: int) -> bool:
        """Say whether a sample is taken after this sweep, counted from 1."""
        return sweep >= self.burn_in and (sweep - self.burn_in) % self.lag == 0


class Chain(Protocol):
    """A sampler and its state. Everything that decides its future is in `state`."""

    def sweep(self, number: int, stop: Stop) -> None:
        """Update every token once; sweeps are numbered from 1. Raise Stopped if asked to stop."""

    def trace(self) -> list[float]:
        """Return what is recorded after each sweep, the log-likelihood first."""

    def collect(self) -> None:
        """Take a sample."""

    def samples(self) -> Arrays:
        """Return what the samples taken so far give: all that is wanted of a chain at its end."""

    def state(self) -> Arrays:
        """Return the arrays from which the chain can go on, samples taken so far included."""

    def restore(self, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from such arrays."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The samples of a chain at its end, and its trace: sweeps × values."""

    samples: Arrays
    trace: npt.NDArray[np.float64]


Report = Callable[[int, int, float], None]
"""Called after each sweep with (chain, sweep, log-likelihood)."""


def run_chains(
    make: Callable[[int], Chain],
    n_chains: int,
    schedule: Schedule,
    *,
    n_jobs: int | None = None,
    engine: Engine = "threads",
    checkpoint: Checkpoint | None = None,
    report: Report | None = None,
) -> Iterator[Finished]:
    """Yield the chains 0, 1, … as they finish, in that order, whatever the number of workers.

    Threads report every sweep; of a chain that runs elsewhere its end is reported.
    """
    is_near = engine == "threads"
    shared = (make, schedule, checkpoint, report if is_near else None)
    chains = map_ordered(_run_chain, range(n_chains), n_jobs, engine=engine, shared=shared)
    for number, chain in enumerate(chains):
        if report is not None and not is_near:
            report(number, len(chain.trace), chain.trace[-1, 0])
        yield chain


def _run_chain(
    make: Callable[[int], Chain],
    schedule: Schedule,
    checkpoint: Checkpoint | None,
    report: Report | None,
    number: int,
    stop: Stop,
) -> Finished:
    chain = make(number)
    saved = checkpoint.load(number) if checkpoint is not None else None
    trace: list[list[float]] = []
    if saved is not None:
        trace = saved.pop("trace").tolist()
        chain.restore(saved)
    if report is not None and trace:
        report(number, len(trace), trace[-1][0])
    written = time.monotonic()
    for sweep in range(len(trace) + 1, schedule.n_sweeps + 1):
        if stop.is_set():
            raise Stopped
        chain.sweep(sweep, stop)
        trace.append(chain.trace())
        if schedule.samples_at(sweep):
            chain.collect()
        if report is not None:
            report(number, sweep, trace[-1][0])
        if checkpoint is not None and (
            sweep == schedule.n_sweeps or time.monotonic() - written >= checkpoint.seconds
        ):
            checkpoint.save(number, {**chain.state(), "trace": np.array(trace)})
            written = time.monotonic()
    return Finished(chain.samples(), np.array(trace))


class Checkpoint:
    """A folder in which running and finished chains are kept.

    Every file is written whole or not at all, so a run may be killed at any moment. A run goes on
    only from a folder of the same data and parameters. A full disk costs the checkpoint, not the
    run: it warns and tries again later.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    meaning : mapping
        What the chains depend on: fingerprint of the data, parameters, seed. Compared on resume.
    resume : bool
        Go on from what is there; without it a folder that holds chains is refused.
    seconds : float, default 60
        A running chain is saved when its last save is this old.
    """

    FORMAT = 1

    def __init__(
        self, folder: Path, meaning: Mapping[str, Any], *, resume: bool, seconds: float = 60.0
    ) -> None:
        self.folder = folder
        self.seconds = seconds
        meaning = {"format": self.FORMAT, **meaning}
        manifest = folder / "manifest.json"
        if manifest.is_file():
            if not resume:
                raise InputError(
                    f"{folder} holds a checkpoint already; resume it, or name another folder"
                )
            _same_meaning(folder, _read_manifest(manifest), meaning)
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with write_whole(manifest) as file:
                file.write(json.dumps(meaning, indent=1).encode())
        except OSError as error:
            raise InputError(f"cannot write a checkpoint to {folder} ({error.strerror})") from error

    def save(self, number: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write the state of one chain, or warn that it could not be written."""
        buffer = io.BytesIO()
        np.savez(buffer, **state)  # type: ignore[arg-type]
        try:
            with write_whole(self._file(number)) as file:
                file.write(buffer.getbuffer())
        except OSError as error:
            warnings.warn(
                f"chain {number} could not be saved in {self.folder} ({error.strerror}); "
                "it goes on, and will be saved later if there is room",
                RuntimeWarning,
                stacklevel=2,
            )

    def load(self, number: int) -> Arrays | None:
        """Return the saved state of one chain, or None if there is none."""
        path = self._file(number)
        if not path.is_file():
            return None
        try:
            # numpy leaves the file open when it cannot read it, so it is opened here.
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as saved:
                return dict(saved)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ReadError(
                path, None, f"this is not a chain ({error}); delete it to run that chain again"
            ) from error

    def _file(self, number: int) -> Path:
        return self.folder / f"chain-{number:04}.npz"


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ReadError(path, None, f"this is not a manifest ({error})") from error
    if not isinstance(manifest, dict):
        raise ReadError(path, None, "this is not a manifest")
    return manifest


def _same_meaning(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            raise InputError(
                f"{folder} is a checkpoint of another run: its {name} is {found.get(name)!r}, "
                f"now it is {wanted.get(name)!r}; name another folder"
            )
