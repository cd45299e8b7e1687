"""Serving a saved model over HTTP, until a signal says to finish."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import msgspec
import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from uvicorn.supervisors import multiprocess

from deplda.data import checks
from deplda.data.files import StrPath
from deplda.errors import InputError
from deplda.web.access import LOOPBACK, check_exposure, host_name, read_token
from deplda.web.app import application
from deplda.web.connections import Connection
from deplda.web.limits import Limits
from deplda.web.projects import check_ids, id_of, open_feedback
from deplda.web.reload import SavedModels, hangups_ignored, has_terminal, leaves_with_terminal

_SERVED = "DEPLDA_SERVED"
"""How worker processes are told what to serve."""
_FORKS = sys.platform == "linux"
"""Whether workers are forked; elsewhere, libraries may not stand that."""
_MOST_WORKERS = 64
_FORMAT = "%(asctime)s %(levelname)s %(message)s"
_BACKLOG, _OTHER_DESCRIPTORS = 128, 64


class Served(Struct):
    """What a process serves."""

    models: dict[str, str]
    learn: dict[str, str]
    limits: Limits
    hosts: list[str]
    trusted: bool
    label_language: str | None = None


_here: dict[str, SavedModels] = {}
"""What this process, or that which it was forked from, has loaded, by what it is told to serve."""


def serve(
    model_path: StrPath | Mapping[str, StrPath],
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    *,
    limits: Limits | None = None,
    allowed_hosts: Sequence[str] = (),
    tls_cert: StrPath | None = None,
    tls_key: StrPath | None = None,
    trusted: bool = False,
    learn: StrPath | Mapping[str, StrPath] | None = None,
    label_language: str | None = None,
) -> None:
    """Serve a saved model, or several; SIGTERM and Ctrl-C finish what is running and stop.

    A model whose folder is replaced is loaded anew, and all are on SIGHUP.

    Parameters
    ----------
    model_path : path, or paths by the ids of their projects
        Its folder.
    host, port : str, int
        Where to listen. Where other machines can reach it, the environment variable
        ``DEPLDA_TOKEN`` has to hold a token; wherever it does, clients have to show it.
    workers : int
        Processes.
    limits : Limits, optional
    allowed_hosts : sequence of str
        Names that the service is called by, beside `host` and those of the loopback.
    tls_cert, tls_key : path, optional
        Files in PEM format, to speak HTTPS.
    trusted : bool
        See `load`.
    learn : path, optional
        As in `create_app`.
    label_language : str, optional
        The language of label names for requests that name none, such as ``"fi"``. Models whose
        vocabulary lacks it keep their own; if all lack it, this raises `InputError`.
    """
    models = model_path if isinstance(model_path, Mapping) else {id_of(model_path): model_path}
    check_ids(models)
    checks.whole("workers", workers, most=_MOST_WORKERS)
    checks.whole("port", port, least=0, most=65_535)
    hosts = [host_name(name) for name in (*LOOPBACK, *allowed_hosts, host)]
    _check_free(host, port)
    check_exposure(host, read_token())
    _check_tls(tls_cert, tls_key)
    limits, backlog = _within_descriptors(limits or Limits())
    kept = open_feedback(learn, list(models), limits)
    served = Served(
        {id: os.path.abspath(path) for id, path in models.items()},
        {id: str(feedback.path) for id, feedback in kept.items()},
        limits,
        hosts,
        trusted,
        label_language and label_language.lower(),
    )
    with _opened(served, workers), _clean_exit(), hangups_ignored(), _workers_of_ours():
        uvicorn.run(
            "deplda.web.server:saved_app", factory=True, host=host, port=port, workers=workers,
            # Several accept one connection at a time, or who is first would have all that wait.
            backlog=backlog if workers == 1 else 1,
            ssl_certfile=tls_cert, ssl_keyfile=tls_key, log_config=_log_config(),
            **uvicorn_settings(limits),
        )  # fmt: skip


@contextmanager
def _opened(served: Served, workers: int) -> Iterator[None]:
    """Load the models, to be taken by `saved_app` here or in workers that are forked.

    It says what is wrong with them before any process is started. Workers share the memory of what
    they do not change: nearly all.
    """
    told = msgspec.json.encode(served).decode()
    os.environ[_SERVED] = told
    _here[told] = _open(served)
    if workers > 1 and _FORKS:
        _here[told].warm_up()
        gc.collect()
        gc.freeze()  # or each worker's collector would write to all that there is
    try:
        yield
    finally:
        gc.unfreeze()
        del _here[told]


def _open(served: Served) -> SavedModels:
    feedback = open_feedback(served.learn, list(served.models), served.limits)
    saved = SavedModels(
        served.models, served.limits, trusted=served.trusted, label_language=served.label_language
    )
    return saved.open(feedback)


@contextmanager
def _clean_exit() -> Iterator[None]:
    """End with 0 on SIGTERM, which uvicorn sends once more when it has finished its work."""
    if threading.current_thread() is not threading.main_thread():
        yield  # who runs it there handles signals
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _work(target: Callable[..., None], sockets: list[socket.socket]) -> None:
    """Do a worker's work, with none of its parent's ways with signals."""
    for number in multiprocess.SIGNALS:
        signal.signal(number, signal.SIG_IGN if number == signal.SIGHUP else signal.SIG_DFL)
    target(sockets=sockets)


def _fork(config: Any, target: Callable[..., None], sockets: list[socket.socket]) -> Any:
    """Return a worker, as uvicorn makes them, that has its parent's memory."""
    return multiprocessing.get_context("fork").Process(target=_work, args=(target, sockets))


def _pass_hangup_on(self: Any) -> None:
    """Have the workers of this parent load their models anew."""
    if leaves_with_terminal() and not has_terminal():
        self.should_exit.set()
        return
    for worker in self.processes:
        with suppress(ProcessLookupError):  # one that died is started anew
            os.kill(worker.pid, signal.SIGHUP)


@contextmanager
def _workers_of_ours() -> Iterator[None]:
    """Have uvicorn fork its workers, and not replace them by others on SIGHUP."""
    theirs: Any = multiprocess
    start, hang_up = theirs.get_subprocess, theirs.Multiprocess.handle_hup
    theirs.get_subprocess = _fork if _FORKS else start
    theirs.Multiprocess.handle_hup = _pass_hangup_on
    try:
        yield
    finally:
        theirs.get_subprocess, theirs.Multiprocess.handle_hup = start, hang_up


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


def _check_tls(cert: StrPath | None, key: StrPath | None) -> None:
    """Raise if HTTPS is asked for and cannot be spoken with these files."""
    if cert is None and key is None:
        return
    if cert is None or key is None:
        missing = "certificate (--tls-cert)" if cert is None else "key (--tls-key)"
        raise InputError(f"TLS needs a certificate and its key; the {missing} is missing")
    for path in (cert, key):
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror})") from error

    def no_password() -> str:  # or its owner would be asked for it on the terminal
        raise InputError(f"{key} has a password; give a key without one")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError(f"{key} is the key of another certificate than {cert}") from error
        raise InputError(
            f"{cert} and {key} are not a certificate and its key in PEM format ({error})"
        ) from error


def _within_descriptors(limits: Limits) -> tuple[Limits, int]:
    """Return the limits and the backlog for which there are file descriptors, at most.

    While connections are hung up on, the backlog may come in up to three times.
    """
    wanted = limits.connections + 3 * _BACKLOG + _OTHER_DESCRIPTORS
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return limits, _BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 0 or soft >= wanted:
        return limits, _BACKLOG
    soft = wanted if hard < 0 else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    backlog = max(1, min(_BACKLOG, soft // 8))
    connections = max(1, soft - 3 * backlog - _OTHER_DESCRIPTORS)
    return replace(limits, connections=min(connections, limits.connections)), backlog


def uvicorn_settings(limits: Limits) -> dict[str, Any]:
    """Return what uvicorn has to know to keep the limits, and to keep quiet."""
    return {
        "http": Connection,
        "loop": "deplda.web.connections:EventLoop",
        "ws": "none",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": limits.idle_seconds,
        "timeout_graceful_shutdown": int(limits.seconds),
        # While it compiles, a worker cannot say that it lives; it must not be killed for that.
        "timeout_worker_healthcheck": 60,
    }


def saved_app() -> Starlette:
    """Return the application of what this process was told to serve."""
    served = msgspec.json.decode(os.environ[_SERVED], type=Served)
    saved = _here.get(os.environ[_SERVED]) or _open(served)
    return application(
        saved.projects(), served.limits, hosts=served.hosts, token=read_token(),
        background=saved.watch,
    )  # fmt: skip


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
