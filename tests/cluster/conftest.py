"""Two real worker processes, as a user would start them."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def start() -> Iterator[Callable[[], Any]]:
    """Give a function that starts two worker processes with one thread each, for one client."""
    with ExitStack() as opened:

        def start() -> Any:
            opened.close()
            cluster = LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=60
            )
            return opened.enter_context(Client(opened.enter_context(cluster), set_as_default=False))

        yield start


_current: list[Any] = []


@pytest.fixture
def client(start: Callable[[], Any]) -> Any:
    """Give a client of two workers, whatever the last test did to them.

    A nanny restarts the worker that was killed, but gives up one that was killed as it started.
    """
    try:
        _current[0].wait_for_workers(2, timeout=15)
    except (IndexError, TimeoutError):
        _current[:] = [start()]
    return _current[0]


def kill_a_worker(client: Any) -> None:
    """Send SIGKILL to the process of one worker."""
    pids = client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
