"""The one family of exceptions: each message names the value, the limit and the next step."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_NOT_THE_USERS = {"contextlib", "deplda", "joblib", "sklearn"}


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: the first outside this library and those that call it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)  # noqa: TID251


@contextmanager
def needs_extra(purpose: str, package: str, extra: str) -> Iterator[None]:
    """Turn a failed import within it into an error that names the extra to install."""
    try:
        yield
    except ImportError as error:
        raise InputError(
            f"{purpose} needs {package}; install it with: pip install 'deplda[{extra}]'"
        ) from error


class DepldaError(Exception):
    """Base class of all errors that this library raises."""


class InputError(DepldaError, ValueError):
    """A value passed to the library is invalid."""


class Place(int):
    """A number of what a file has in place of lines, such as the rows of a sheet."""

    what: str

    def __new__(cls, number: int, what: str) -> Place:
        """Return the number, which knows of what it is."""
        made = super().__new__(cls, number)
        made.what = what
        return made

    def __reduce__(self) -> tuple[type[Place], tuple[int, str]]:
        return type(self), (int(self), self.what)


def place_of(line: int) -> str:
    """Return which line, or other part of a file, a number is of."""
    return f"{line.what if isinstance(line, Place) else 'line'} {int(line)}"


class ReadError(InputError):
    """A file cannot be read as a corpus; says which file, and which line where there is one."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, problem: str) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.problem = problem
        where = self.path if line is None else f"{self.path}, {place_of(line)}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type[ReadError], tuple[str, int | None, str]]:
        # The default would hand __init__ the finished message alone when a worker sends this back.
        return type(self), (self.path, self.line, self.problem)


@contextmanager
def read_errors(
    path: str | os.PathLike[str], problem: str, *kinds: type[Exception]
) -> Iterator[None]:
    """Turn errors of these kinds into one that names the file; {} in the problem is the error."""
    try:
        yield
    except ReadError:
        raise
    except kinds as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ReadError(path, None, problem.replace("{}", reason)) from error


class DataUnavailableError(DepldaError):
    """The files of a data set are not on this machine."""


class EngineError(DepldaError):
    """The workers or the scheduler cannot be reached, or can no longer be reached."""


class WorkerLostError(EngineError):
    """A piece of work ended every worker that it was given to."""


class NothingHeldOutWarning(UserWarning):
    """No document could be held out to learn the mixture, so fixed weights are used."""


class FractionalCountsWarning(UserWarning):
    """Fractional counts were rounded, since sampling needs whole tokens."""


class NotCountsWarning(UserWarning):
    """X looks like tf-idf, but the model needs word counts."""


class ApproximateCountsWarning(UserWarning):
    """Texts have more distinct words than are counted at a time: rare ones may be left out."""


class MissingFieldWarning(UserWarning):
    """Of several text fields one is in no document of a file that is read without its labels."""


class GuessedEncodingWarning(UserWarning):
    """A file without a byte-order mark is not UTF-8, and was read in the likeliest encoding."""


class GuessedSeparatorWarning(UserWarning):
    """Labels contain commas, which may separate two labels or belong to one."""


class ShortDescriptionsWarning(UserWarning):
    """A data set was made of the few words that its source has here, not of whole texts."""


class NoKnownWordsWarning(UserWarning):
    """Some documents have no vocabulary words: their scores are those of any document."""


class LearnedFromWarning(UserWarning):
    """Some test documents are among those that the model has learned from."""


class OtherVersionWarning(UserWarning):
    """A saved model's words were normalised by another version of a package."""


class IgnoredParameterWarning(UserWarning):
    """A parameter has no effect: another setting excludes it, or a saved model may not set it."""
