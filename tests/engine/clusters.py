"""Two real worker processes, as a user would start them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster


class Cluster:
    """Two worker processes with one thread each, started anew where they are lost for good."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened = opened
        self._client: Any = None

    def client(self) -> Any:
        """Return a client of two workers, whatever the last test did to them.

        A nanny restarts a worker that was killed, but gives up one that was killed as it started.
        """
        if self._client is not None:
            with suppress(TimeoutError):
                self._client.wait_for_workers(2, timeout=60)
                return self._client
            self._opened.close()
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=60
        )
        self._opened.enter_context(cluster)
        self._client = self._opened.enter_context(Client(cluster, set_as_default=False))
        return self._client


def kill_a_worker(client: Any) -> None:
    """Send SIGKILL to the process of one worker."""
    pids = client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)


@contextmanager
def separate_cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Give the address of a scheduler of two workers, and the process that it runs in."""
    folder.mkdir()
    told = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0",
               "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(told)]  # fmt: skip
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny",
              "--no-dashboard", "--scheduler-file", str(told), "--local-directory", str(folder),
              "--death-timeout", "300"]  # fmt: skip
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(command, **quiet)]
    try:
        deadline = time.monotonic() + 300
        while not told.exists() or not told.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        started += [subprocess.Popen(worker, **quiet) for _ in range(2)]
        with Client(scheduler_file=str(told), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=300)
            address = client.scheduler.address
        yield address, started[0]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
