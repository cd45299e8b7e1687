"""Bodies that other programs send whole, however large: few of them at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.requests import Request

from deplda.web.http_errors import busy
from deplda.web.limits import Limits
from deplda.web.requests import receive
from deplda.web.work import Work


class LargeBodies:
    """Reads bodies of up to `large_body_bytes`, of which few may be above `body_bytes` at once."""

    def __init__(self, limits: Limits, work: Work) -> None:
        self.limits, self.work, self._n_large = limits, work, 0

    async def work_on(
        self,
        request: Request,
        media_type: str,
        function: Callable[[bytes, float], Any],
        work: Work | None = None,
    ) -> Any:
        """Return function(body, the time it has until), which is worked out on a thread.

        `work` has other threads than those of the model.
        """
        with self._counted() as on_piece:
            most = self.limits.large_body_bytes
            body = await receive(request, media_type, most, self.limits, on_piece)
            until = time.monotonic() + self.limits.seconds
            return await (work or self.work).do(function, body, until)

    @contextmanager
    def _counted(self) -> Iterator[Callable[[int], None]]:
        """Let few bodies be large at a time: many at once would fill the memory."""
        is_large = False

        def on_piece(n_bytes: int) -> None:
            nonlocal is_large
            if n_bytes > self.limits.body_bytes and not is_large:
                if self._n_large >= self.limits.large_bodies:
                    raise busy(
                        f"{self._n_large} requests of more than {self.limits.body_bytes:,} bytes "
                        "are being read; try again in a few seconds"
                    )
                self._n_large += 1
                is_large = True

        try:
            yield on_piece
        finally:
            self._n_large -= is_large
