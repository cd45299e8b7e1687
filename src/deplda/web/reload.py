"""A model is loaded anew when its folder is replaced, or on SIGHUP; requests notice nothing."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from deplda.errors import InputError
from deplda.models.card import ARRAYS, CARD
from deplda.models.registry import load
from deplda.web.feedback import Feedback
from deplda.web.limits import Limits
from deplda.web.projects import Project, Projects
from deplda.web.service import ModelService

log = logging.getLogger("deplda.web")

_SECONDS_BETWEEN = 1.0

State = tuple[tuple[int, int, int], ...]


class SavedModels:
    """The folders that a service's models are in, and what was last seen there."""

    def __init__(
        self,
        paths: Mapping[str, str],
        limits: Limits,
        *,
        trusted: bool,
        label_language: str | None = None,
    ) -> None:
        self._paths = {id: Path(path) for id, path in paths.items()}
        self._limits, self._trusted, self._label_language = limits, trusted, label_language
        self._seen: dict[str, State | None] = {}
        self._projects = Projects(())

    def open(self, feedback: Mapping[str, Feedback]) -> Self:
        """Load the projects' models, which mutates this; raise if one cannot be loaded."""
        self._projects = Projects(
            Project(id, *self._load(id), feedback.get(id)) for id in self._paths
        )
        language = self._label_language
        cards = {project.id: project.service.card for project in self._projects}
        if language and all(language not in card.label_languages for card in cards.values()):
            available = "; ".join(
                f"{id}: {', '.join(card.label_languages) or 'none'}" for id, card in cards.items()
            )
            raise InputError(
                f"label_language is {language!r}, but no model has label names in it; choose an "
                f"available language ({available})"
            )
        return self

    def warm_up(self) -> None:
        """Make everything that all answers need."""
        for project in self._projects:
            project.service.warm_up()

    def projects(self) -> Projects:
        """Return the projects with what is in their folders now, and say what that is."""
        self._look(everything=False)
        for project in self._projects:
            card = project.service.card
            log.info(
                "%s: %s, a %s of %s labels", project.id, self._paths[project.id], card.model,
                f"{card.n_labels:,}",
            )  # fmt: skip
        return self._projects

    async def watch(self) -> None:
        """Load what is replaced, and everything on SIGHUP, until cancelled."""
        asked = asyncio.Event()
        with _on_hangup(asked.set):
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_SECONDS_BETWEEN):
                        await asked.wait()
                everything = asked.is_set()
                asked.clear()
                await asyncio.to_thread(self._look, everything)

    def _look(self, everything: bool) -> None:
        for id, path in self._paths.items():
            before, now = self._seen[id], _state_of(path)
            if now is None and not everything:
                if before is not None:
                    log.warning("%s: %s is gone; the model stays as it was loaded", id, path)
                self._seen[id] = None
            elif everything or now != before:
                self._reload(id)

    def _reload(self, id: str) -> None:
        """Put the model that is there now in the place of the one before, if it is sound."""
        try:
            service, changed = self._load(id)
            service.warm_up()
        except Exception as error:  # whatever is wrong with it, there is one that works
            log.error(  # a damaged file is no fault of the program's
                "%s: what is at %s now is not taken, and the model loaded before stays: %s: %s",
                id, self._paths[id], type(error).__name__, error,
            )  # fmt: skip
            return
        self._projects.replace(replace(self._projects.find(id), service=service, changed=changed))
        log.info(
            "%s: loaded anew from %s: a %s of %s labels, saved %s",
            id, self._paths[id], service.card.model, f"{service.card.n_labels:,}",
            changed.isoformat(timespec="seconds"),
        )  # fmt: skip

    def _load(self, id: str) -> tuple[ModelService, datetime]:
        """Return a model, and when it was saved."""
        path = self._paths[id]
        self._seen[id] = _state_of(path)  # first: if it is replaced meanwhile, that is seen later
        model = load(path, trusted=self._trusted)
        model.set_params(verbose=False)  # nobody watches its progress
        if self._label_language in model.label_languages_:
            model.label_language_ = self._label_language
        elif self._label_language:
            log.warning(
                "%s: %s has no label names in %r; they are displayed in %r",
                id, path, self._label_language, model.name_language_ or "no known language",
            )  # fmt: skip
        changed = datetime.fromtimestamp((path / CARD).stat().st_mtime, UTC)
        return ModelService(model, self._limits), changed


def _state_of(folder: Path) -> State | None:
    """Return what tells a saved model from another that takes its place; None if there is none."""
    try:
        found = [os.stat(path) for path in (folder, folder / CARD, folder / ARRAYS)]
    except OSError:
        return None
    return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in found)


# SIGHUP -------------------------------------------------------------------------------------------


@contextmanager
def _on_hangup(call: Callable[[], None]) -> Iterator[None]:
    """Call it on SIGHUP, in the process's main thread; elsewhere signals are not ours."""
    if not hasattr(signal, "SIGHUP") or threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def hung_up() -> None:
        if leaves_with_terminal() and not has_terminal():
            signal.raise_signal(signal.SIGTERM)
        else:
            call()

    loop.add_signal_handler(signal.SIGHUP, hung_up)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


_LEAVES = "DEPLDA_LEAVES_WITH_TERMINAL"


@contextmanager
def hangups_ignored() -> Iterator[None]:
    """Take no harm from SIGHUP before there is something to load anew.

    Without nohup, a service that was started in a terminal ends with it, as other programs do.
    """
    if not hasattr(signal, "SIGHUP") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.environ[_LEAVES] = "1" if has_terminal() and before != signal.SIG_IGN else ""
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def leaves_with_terminal() -> bool:
    """Return whether the service is to end when its terminal is closed."""
    return bool(os.environ.get(_LEAVES))


def has_terminal() -> bool:
    """Return whether the process has a terminal that is still open."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
