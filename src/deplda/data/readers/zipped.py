"""Files of other programs that are archives: .xlsx and .docx, opened if they are no bombs."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from deplda.data.files import StrPath, read_unpacked
from deplda.data.sizes import max_whole, too_large
from deplda.errors import ReadError


@contextmanager
def open_archive(path: StrPath, kind: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive of whose parts none is read beyond the size it tells, all within the limit.

    Whatever goes wrong in it is an error that says that the file is no `kind`.
    """
    content = read_unpacked(path)
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
            if size > max_whole():
                raise too_large(path, None, "this file, unpacked,", size=size, whole=True)
            yield archive
    except ReadError:
        raise
    except Exception as error:  # what is damaged may fail anywhere in the libraries that read it
        told = f"{type(error).__name__}: {error}"
        problem = f"this is no readable {kind} ({told[:120]}); open it in its program and save it"
        raise ReadError(path, None, f"{problem} again") from error
