"""Files are read apart: one that never ends, or that is a bomb, is broken off and hurts nobody."""

import gzip
import os
import shutil
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from starlette.exceptions import HTTPException

from deplda.web import Limits
from deplda.web.file_process import FileProcesses
from tests.web.serving import running, suggest, text_model

LIMITS = Limits()


def endless_pdf() -> bytes:
    """Return a small PDF of 10,000 pages, all of them the same, that take hours to read."""
    drawn = zlib.compress(b"BT /F 9 Tf " + b"0 0 Td " * 20_000 + b"ET")
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 10000/Kids[%s]>>" % (b"5 0 R " * 10_000),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R"
        b"/Resources<</Font<</F 4 0 R>>>>>>",
    ]
    content, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    return content + end % (table, len(content))


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def readers(scratch: Path) -> Iterator[FileProcesses]:
    found = FileProcesses(LIMITS, memory=96 << 20)
    yield found
    found.stop()
    assert not list(scratch.iterdir())


def texts(readers: FileProcesses, body: bytes, name: str = "a.txt", seconds: float = 60) -> Any:
    found = readers.texts_in(body, name, None, time.monotonic() + seconds)
    return [each["text"] for each in msgspec.json.decode(found)["documents"]]


def test_one_process_reads_a_file_after_the_other(readers: FileProcesses) -> None:
    assert texts(readers, b"The court") == ["The court"]
    (process,) = readers._idle
    with pytest.raises(HTTPException, match=r"a.pdf: this is no readable PDF"):
        texts(readers, b"no PDF", "a.pdf")
    assert texts(readers, b"a jury") == ["a jury"]
    assert readers._idle == [process]


def test_a_file_that_takes_too_long_is_broken_off_and_leaves_nothing(
    readers: FileProcesses, scratch: Path
) -> None:
    texts(readers, b"The court")
    (process,) = readers._idle
    with pytest.raises(HTTPException, match=r"a.pdf was not read within 30 s; send less") as told:
        texts(readers, endless_pdf(), "a.pdf", seconds=0.5)
    assert told.value.status_code == 503
    assert not process.is_alive
    assert not list(scratch.iterdir())
    assert texts(readers, b"a jury") == ["a jury"]


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="its memory is not limited")
def test_a_bomb_takes_so_much_memory_and_no_more(readers: FileProcesses) -> None:
    with pytest.raises(HTTPException, match=r"a.pdf.gz: it takes too much memory") as told:
        texts(readers, gzip.compress(bytes(8 << 20)) * 16, "a.pdf.gz")
    assert told.value.status_code == 413
    assert texts(readers, b"a jury") == ["a jury"]


def test_a_process_that_was_ended_is_replaced(readers: FileProcesses) -> None:
    texts(readers, b"The court")
    (process,) = readers._idle
    process._process.kill()
    process._process.wait()
    assert texts(readers, b"a jury") == ["a jury"]


def test_a_process_gets_no_token_and_one_that_cannot_be_started_is_told(
    readers: FileProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def start(*_: Any, env: dict[str, str], **__: Any) -> None:
        started.append(env)
        raise OSError("too many open files")

    monkeypatch.setattr("subprocess.Popen", start)
    monkeypatch.setenv("DEPLDA_TOKEN", "0123456789abcdef")
    with pytest.raises(HTTPException, match="no file can be read now; try again"):
        texts(readers, b"The court")
    assert "DEPLDA_TOKEN" not in started[0]


def test_without_a_usable_temporary_folder_clients_are_asked_to_come_back(
    readers: FileProcesses, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", "/nowhere")
        with pytest.raises(HTTPException, match="no file can be read now") as unstarted:
            texts(readers, b"The court")
    texts(readers, b"The court")
    (process,) = readers._idle
    shutil.rmtree(process._folder.name)
    with pytest.raises(HTTPException, match="no file can be read now") as unwritten:
        texts(readers, b"The court")
    assert (unstarted.value.status_code, unwritten.value.status_code) == (503, 503)
    assert texts(readers, b"a jury") == ["a jury"]
    assert caplog.text.count("/v1/read cannot use its temporary folder") == 2


def test_files_that_are_read_slowly_keep_no_model_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    go, begun = threading.Event(), threading.Semaphore(0)

    def wait(*_: Any) -> bytes:
        begun.release()
        go.wait(60)
        return b"{}"

    monkeypatch.setattr(FileProcesses, "texts_in", wait)
    with running(text_model(), threads=1) as address:
        files = [threading.Thread(target=send_file, args=(address,)) for _ in range(4)]
        for file in files:
            file.start()
        assert begun.acquire(timeout=60)
        assert begun.acquire(timeout=60)
        with httpx.Client(base_url=address, timeout=60) as client:
            assert suggest(client, {"text": "court"})
        go.set()
        for file in files:
            file.join()


def send_file(address: str) -> None:
    kind = {"Content-Type": "application/octet-stream"}
    httpx.post(f"{address}/v1/read?name=a.txt", content=b"court", headers=kind, timeout=60)
