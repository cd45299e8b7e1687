"""Download published files once, and check them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pooch
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from deplda.data.atomic import write_whole
from deplda.errors import DataUnavailableError


def fetch_file(address: str, target: Path, sha256: str | None, progress: bool) -> Path:
    """Return `target`, downloaded from `address` unless it exists.

    `sha256` is the publisher's checksum. Without one, the first download records the checksum and
    later calls check it.
    """
    recorded = target.with_name(f"{target.name}.sha256")
    if sha256 is None and recorded.is_file():
        sha256 = recorded.read_text(encoding="ascii", errors="replace").strip()
    if not target.is_file():
        _download(address, target, progress)
    digest = pooch.file_hash(str(target))
    if sha256 is None:
        # A file put by hand into a read-only folder is used without a record.
        with suppress(OSError), write_whole(recorded) as note:
            note.write(digest.encode() + b"\n")
    elif digest != sha256:
        raise DataUnavailableError(
            f"{target} has the SHA-256 {digest} instead of {sha256}: it is damaged or another "
            "version. Delete it and try again"
        )
    return target


def find_file(target: Path, address: str) -> Path:
    """Return a file that the user must put there, plain or gzip."""
    places: Iterable[Path] = (target, target.with_name(target.name.removesuffix(".gz")))
    for path in places:
        if path.is_file():
            return path
    raise DataUnavailableError(
        f"{target} is not there, and is not downloaded; "
        f"get the documents from {address} and put them there"
    )


def _download(address: str, target: Path, progress: bool) -> None:
    pooch.get_logger().setLevel("WARNING")  # the bar and our errors say the rest
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        pooch.retrieve(
            address,
            known_hash=None,  # checked by the caller, for files put there by hand as well
            fname=target.name,
            path=target.parent,
            downloader=pooch.HTTPDownloader(progressbar=_Bar(target.name) if progress else False),
        )
    except (OSError, ValueError) as error:  # requests' errors are OSErrors
        reason = f"{type(error).__name__}: {str(error)[:120]}"
        raise DataUnavailableError(
            f"could not download {address} ({reason}); "
            f"fetch it by other means, put it at {target} and try again"
        ) from error


class _Bar:
    """The progress bar that pooch updates."""

    def __init__(self, file: str) -> None:
        columns = ("{task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task(file, total=None)
        self.total = 0

    def update(self, size: int) -> None:
        self._bar.start()
        self._bar.update(self._task, total=self.total, advance=size)

    def reset(self) -> None:
        self._bar.reset(self._task, total=self.total)

    def close(self) -> None:
        self._bar.stop()
