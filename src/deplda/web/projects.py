"""The models of a service, each under the id of its project; one may be put in another's place."""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from starlette.exceptions import HTTPException

from deplda.data.files import StrPath
from deplda.errors import InputError
from deplda.web.feedback import Feedback, Labelled
from deplda.web.http_errors import busy
from deplda.web.limits import Limits
from deplda.web.service import ModelService

log = logging.getLogger("deplda.web")

ONLY = "model"
"""The id of a single model that nobody named."""
_MOST_CHARACTERS = 100
_ID = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{_MOST_CHARACTERS - 1}}}")


@dataclass(frozen=True)
class Project:
    """A model that is served, as Annif has projects."""

    id: str
    service: ModelService
    changed: datetime
    """When the model was saved, or else handed over."""
    feedback: Feedback | None = None
    """Where documents to learn from go, if any are taken."""

    def keep(self, documents: Sequence[Labelled]) -> None:
        """Append documents to learn from to their file; say it if that cannot be done."""
        assert self.feedback is not None  # noqa: S101  # who calls has looked
        try:
            self.feedback.append(documents)
        except OSError as error:
            log.error("%s: documents to learn from are lost to their sender: %s", self.id, error)
            if error.errno == errno.EBUSY:
                raise busy("the file of documents to learn from is in use") from error
            raise HTTPException(
                507, f"the documents are not kept: {error.strerror}; whoever runs the service has "
                "to make room",
            ) from error  # fmt: skip


class Projects:
    """The projects by their ids; the first is meant where none is named."""

    def __init__(self, projects: Iterable[Project]) -> None:
        self._by_id = {project.id: project for project in projects}
        self.ids, self.n_replaced = list(self._by_id), 0

    def __iter__(self) -> Iterator[Project]:
        return iter(self._by_id.values())

    def find(self, id: str | None = None) -> Project:
        """Return a project as it is now, which may be held on to; the first if none is named."""
        found = self._by_id.get(self.ids[0] if id is None else id)
        if found is None:
            shown = str(id) if len(str(id)) <= _MOST_CHARACTERS else f"{str(id)[:80]}…"
            raise HTTPException(404, f"there is no project {shown!r}; there is {_named(self.ids)}")
        return found

    def replace(self, project: Project) -> None:
        """Put a project in the place of the one with its id; who has that one may go on."""
        self._by_id[project.id] = project
        self.n_replaced += 1


def _named(ids: list[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{', '.join(ids[:-1])} and {ids[-1]}"


def check_ids(ids: Iterable[str]) -> None:
    """Raise if there is no id, one that cannot be in an address as it is, or one twice."""
    seen: set[str] = set()
    for id in ids:
        if not _ID.fullmatch(id):
            raise InputError(
                f"the project id {id[:_MOST_CHARACTERS]!r} must have letters (a to z), digits, - "
                f"and _ alone, {_MOST_CHARACTERS} at most, and begin with a letter or digit, as in "
                "yso-fi"
            )
        if id in seen:
            raise InputError(f"two projects have the id {id!r}; name each: yso-fi=MODEL")
        seen.add(id)


def open_feedback(
    learn: StrPath | Mapping[str, StrPath] | None, ids: list[str], limits: Limits
) -> dict[str, Feedback]:
    """Return the files of documents to learn from, by project; each project has its own."""
    if learn is None:
        return {}
    if not isinstance(learn, Mapping):
        if len(ids) > 1:
            raise InputError(
                f"{learn} cannot hold what {len(ids)} models are to learn, or one would learn "
                f"another's labels; name a file for each that is to: {ids[0]}=FILE"
            )
        learn = {ids[0]: learn}
    for id in learn:
        if id not in ids:
            raise InputError(f"there is no project {id!r} to learn; there is {_named(ids)}")
    paths = [os.path.realpath(path) for path in learn.values()]
    if len(set(paths)) < len(paths):
        raise InputError("two projects have the same file to learn from; name one for each")
    return {id: Feedback(path, limits.learn_bytes) for id, path in learn.items()}


def id_of(path: StrPath) -> str:
    """Return the id of a model that nobody named: by the name of its folder."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(os.path.abspath(path)).name).strip("-_")
    return name[:_MOST_CHARACTERS] or ONLY
