"""Files are read in processes of their own: a hostile one can be broken off, and takes no thread.

What parses PDF, Word and Excel files is large, and cannot be told to stop. A process of ours reads
one file after the other; it is ended if one takes too long, and may take so much memory and no
more. It is started when the first file comes, and then kept.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from threading import Lock, Timer
from typing import IO, Any, NamedTuple, TypeVar

import msgspec
from starlette.exceptions import HTTPException

from deplda.data.fields import Fields
from deplda.web.access import TOKEN
from deplda.web.file_texts import texts_in
from deplda.web.http_errors import busy
from deplda.web.limits import Limits

log = logging.getLogger("deplda.web")

AT_ONCE = 2
MEMORY = 1 << 30
"""Bytes that reading a file may take, beside what the process has when it begins."""
_NICE = 10
"""Suggestions come first."""
_N_LENGTH = 8
_START = "from deplda.web.file_process import read_files; read_files()"


class Task(NamedTuple):
    """A file to be read, and in how many seconds."""

    body: bytes
    name: str
    fields: Fields | None
    limits: Limits
    seconds: float


class Read(NamedTuple):
    """What came of it: the answer as JSON, or the sentence of an error."""

    status: int
    content: bytes
    goes_on: bool
    """Whether the process reads further files."""


Message = TypeVar("Message", Task, Read)


class FileProcesses:
    """Processes that read files, each one at a time; as many as are asked at once."""

    def __init__(self, limits: Limits, memory: int = MEMORY) -> None:
        self._limits, self._memory = limits, memory
        self._idle, self._lock = list[_Process](), Lock()

    def texts_in(self, body: bytes, name: str, fields: Fields | None, until: float) -> bytes:
        """Return the documents of a file as JSON; raise if they cannot be had until then."""
        left = until - time.monotonic()
        process, goes_on = self._take(), False
        try:
            read = process.ask(Task(body, name, fields, self._limits, left))
            # Its temporary folder may have been removed, by whatever cleans /tmp.
            goes_on = read.goes_on and read.status != 503
        finally:
            if goes_on:
                with self._lock:
                    self._idle.append(process)
            else:
                process.end()
        if read.status == 503:
            raise _unavailable(read.content.decode())
        if read.status == 500:
            raise RuntimeError(f"a file could not be read:\n{read.content.decode()}")
        if read.status != 200:
            raise HTTPException(read.status, read.content.decode())
        return read.content

    def _take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_alive:
                    return process
                process.end()  # the system may have ended it
        return _Process(self._memory)

    def stop(self) -> None:
        """End the processes; none is at work any more."""
        while self._idle:
            self._idle.pop().end()


class _Process:
    def __init__(self, memory: int) -> None:
        # What it leaves behind when it is ended is in a folder of ours.
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="deplda-", ignore_cleanup_errors=True)
        except OSError as error:  # a full or read-only disk
            raise _unavailable(str(error)) from error
        passed = {name: value for name, value in os.environ.items() if name != TOKEN}
        environment = passed | {"TMPDIR": self._folder.name, "OMP_NUM_THREADS": "1"}
        try:
            self._process = subprocess.Popen(  # noqa: S603  # not from this folder, nor its terminal
                [sys.executable, "-P", "-c", _START, str(memory)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:  # too little memory, or too few descriptors
            self._folder.cleanup()
            raise _unavailable(str(error)) from error

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, task: Task) -> Read:
        """Return what the process says of a file; it is ended when the time is over."""
        process: Any = self._process
        is_late = False

        def end() -> None:
            nonlocal is_late
            is_late = True
            process.kill()

        timer = Timer(max(task.seconds, 0), end)
        timer.start()
        try:
            _send(process.stdin, task)
            read = _receive(process.stdout, Read)
        except (OSError, EOFError) as error:
            if is_late:
                seconds = task.limits.seconds
                raise busy(f"{task.name} was not read within {seconds:g} s; send less") from error
            raise _too_much(task.name) from error
        finally:
            timer.cancel()
            timer.join()  # from here on it is known whether it was late
        return read._replace(goes_on=read.goes_on and not is_late)

    def end(self) -> None:
        """End it, and remove what it left."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()
        self._folder.cleanup()


def _send(file: IO[bytes], message: Task | Read) -> None:
    packed = msgspec.msgpack.encode(message)
    file.write(len(packed).to_bytes(_N_LENGTH) + packed)
    file.flush()


def _receive(file: IO[bytes], kind: type[Message]) -> Message:
    length = int.from_bytes(_whole(file, _N_LENGTH))
    return msgspec.msgpack.decode(_whole(file, length), type=kind)


def _whole(file: IO[bytes], n: int) -> bytes:
    found = file.read(n)
    if len(found) < n:
        raise EOFError
    return found


def _too_much(name: str) -> HTTPException:
    return HTTPException(413, f"{name}: it takes too much memory to read it; send a part of it")


def _unavailable(problem: str) -> HTTPException:
    log.error("/v1/read cannot use its temporary folder or process: %s", problem)
    return busy("no file can be read now; try again in a few seconds")


# In the process -----------------------------------------------------------------------------------


def read_files() -> None:
    """Read one file after the other from standard input, until it is closed."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    before, memory = _data_bytes(), int(sys.argv[1])
    _limit_memory(before, memory)
    with suppress(EOFError, BrokenPipeError):
        while True:
            task = _receive(sys.stdin.buffer, Task)
            _limit_seconds(task.seconds)
            status, content = _read(task)
            del task
            goes_on = _data_bytes() - before < memory // 4  # what libraries keep is let go
            _send(answers, Read(status, content, goes_on))


def _read(task: Task) -> tuple[int, bytes]:
    try:
        found = texts_in(task.body, task.name, task.fields, task.limits)
        return 200, msgspec.json.encode(found)
    except HTTPException as error:
        return error.status_code, error.detail.encode()
    except MemoryError:
        told = _too_much(task.name)
        return told.status_code, told.detail.encode()
    except OSError as error:  # a full disk of temporary files
        return 503, str(error).encode(errors="backslashreplace")
    except Exception:
        return 500, traceback.format_exc().encode(errors="backslashreplace")


def _data_bytes() -> int:
    """Return how much memory of its own the process has; 0 where a system does not say."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmData:"):
                return int(line.split()[1]) << 10
    return 0


def _limit_memory(before: int, memory: int) -> None:
    with suppress(OSError, AttributeError):
        os.nice(_NICE)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if before:
            most = before + memory
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _limit_seconds(seconds: float) -> None:
    """Let the process end if it works on when the service, which would end it, is gone."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(
            resource.RLIMIT_CPU, (int(time.process_time() + max(seconds, 0)) + 2, most)
        )
