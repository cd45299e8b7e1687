"""Serving a saved model over HTTP, until a signal says to finish."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from typing import Any, ClassVar

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from deplda.data.files import StrPath
from deplda.errors import InputError
from deplda.models.registry import load
from deplda.web.app import create_app
from deplda.web.limits import Limits

_MODEL = "DEPLDA_SERVED_MODEL"
"""How worker processes are told the model's folder."""
_MOST_WORKERS = 64
_FORMAT = "%(asctime)s %(levelname)s %(message)s"


def serve(model_path: StrPath, host: str = "127.0.0.1", port: int = 8000, workers: int = 1) -> None:
    """Serve a saved model; SIGTERM and Ctrl-C finish what is running and stop."""
    if not 1 <= workers <= _MOST_WORKERS:
        raise InputError(f"workers is {workers}; it must be from 1 to {_MOST_WORKERS}")
    if not 0 <= port <= 65535:
        raise InputError(f"port is {port}; it must be from 0 to 65535")
    _check_free(host, port)
    load(model_path)  # says what is wrong with it before any process is started
    os.environ[_MODEL] = os.path.abspath(model_path)
    uvicorn.run(
        "deplda.web.server:saved_app", factory=True, host=host, port=port, workers=workers,
        log_config=_log_config(), **uvicorn_settings(Limits()),
    )  # fmt: skip


def _check_free(host: str, port: int) -> None:
    """Raise if the address cannot be listened at."""
    try:
        family, kind, _, _, there = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(there)
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{host} port {port} cannot be listened at ({error}); choose another host or port"
        ) from error


def uvicorn_settings(limits: Limits) -> dict[str, Any]:
    """Return what uvicorn has to know to keep the limits, and to keep quiet."""
    return {
        "http": SlowHeaderTimeout,
        "ws": "none",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "limit_concurrency": limits.connections,
        "timeout_graceful_shutdown": int(limits.seconds),
        # While it compiles, a worker cannot say that it lives; it must not be killed for that.
        "timeout_worker_healthcheck": 60,
    }


def saved_app() -> Starlette:
    """Return the application of the model that this process was told to serve."""
    model = load(os.environ[_MODEL])
    model.set_params(verbose=False)  # nobody watches its progress
    return create_app(model)


class SlowHeaderTimeout(H11Protocol):
    """HTTP/1.1 as uvicorn has it, that hangs up on clients who never finish their headers."""

    seconds: ClassVar[float] = Limits().reading_seconds
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Give the first request its time."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Give each request its time from its first byte to the end of its headers."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_clock()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self.transport.close)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _log_config() -> dict[str, Any]:
    """Return where lines go: standard error, a line for each request, never a document."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": _FORMAT}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": {
            name: {"handlers": ["stderr"], "level": logging.INFO, "propagate": False}
            for name in ("deplda.web", "uvicorn")
        },
    }
