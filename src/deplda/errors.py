"""The one family of exceptions: each message names the value, the limit and the next step."""

from __future__ import annotations

import os


class DepldaError(Exception):
    """Base of every error this library raises on purpose."""


class InputError(DepldaError, ValueError):
    """A value handed to the library cannot be used."""


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


class DataUnavailableError(DepldaError):
    """A data set is not on this machine and could not be fetched."""


class EngineError(DepldaError):
    """The machines that were to do the work cannot, or can no longer, be reached."""


class WorkerLostError(EngineError):
    """A piece of work ended every worker that it was given to."""


class NothingHeldOutWarning(UserWarning):
    """No document could be held out to learn how two models are mixed."""


class FractionalCountsWarning(UserWarning):
    """Counts that are not whole numbers were rounded, since tokens are drawn."""


class NotCountsWarning(UserWarning):
    """X looks like tf-idf, but the model learns from how often words occur."""


class ApproximateCountsWarning(UserWarning):
    """Texts have more distinct words than are counted at a time: rare ones may be left out."""


class MissingFieldWarning(UserWarning):
    """Of several text fields one is in no document of a file."""


class GuessedEncodingWarning(UserWarning):
    """A text without a mark is not UTF-8, and was read as the likeliest other encoding."""


class GuessedSeparatorWarning(UserWarning):
    """Labels hold commas, which may stand between two of them or belong to one."""


class ShortDescriptionsWarning(UserWarning):
    """A data set was made of the few words that its source has here, not of whole texts."""


class NoKnownWordsWarning(UserWarning):
    """Documents have no word that the model knows: what it says of them is its prior's alone."""


class MissingSuggestionsWarning(UserWarning):
    """An expert's file lacks documents: they count as without suggestions of it."""


class LearnedFromWarning(UserWarning):
    """Documents that a model is judged by are among those that it has learned from."""


class OtherVersionWarning(UserWarning):
    """A saved model's words were normalised by another version of a package."""


class IgnoredParameterWarning(UserWarning):
    """A saved model says where it is to work; that is left out, since a file has no say in it."""
