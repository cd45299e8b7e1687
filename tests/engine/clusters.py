"""Two real worker processes, as a user would start them."""

import os
import signal
from contextlib import ExitStack, suppress
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
