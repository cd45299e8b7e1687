"""The data sets that have names: one generated, one made from apt's lists of packages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from deplda.data.datasets import apt_lists
from deplda.data.datasets.dataset import Dataset, Document, count_documents, keep_training_words
from deplda.data.datasets.described import load_own
from deplda.data.datasets.folder import load_folder
from deplda.data.datasets.newsroom import newsroom
from deplda.data.files import read_lines
from deplda.data.splits import Split, random_split
from deplda.data.wording import did_you_mean
from deplda.errors import InputError, ReadError


@dataclass(frozen=True, slots=True)
class Entry:
    """A data set that has a name."""

    name: str
    title: str
    origin: Literal["generated", "this machine"]


_ENTRIES = (
    Entry("newsroom", "news articles with descriptors, as texts", "generated"),
    Entry("debtags", "Debian packages and their tags, from apt's lists", "this machine"),
)


def entries() -> tuple[Entry, ...]:
    """Return every data set that can be loaded by name."""
    return _ENTRIES


def load(name: str, data_dir: str | os.PathLike[str] | None = None, **options: Any) -> Dataset:
    """Return a data set and its splits.

    Its words are already counted. To count them with other settings, use `Dataset.texts`:
    ``counter.fit_transform(texts)``.

    Parameters
    ----------
    name : str
        "newsroom" or "debtags"; or the path, absolute or in `data_dir`, of a folder of svmlight
        files, of a description (``dataset.toml``) or its folder, or of a file of documents.
    data_dir : path, optional
        A folder of data sets, each in its own folder. By default debtags is in the cache (see
        `fetch`).
    **options
        For newsroom: `n_documents` and `seed`.
    """
    if not is_known(name) and (path := own_path(name, data_dir)) is not None:
        if options:
            raise InputError(f"{path} takes no options; got {', '.join(options)}")
        return load_own(path)
    entry = entry_of(name, data_dir)
    if entry.origin == "generated":
        return _generate(options)
    if options:
        raise InputError(f"{name} takes no options; got {', '.join(options)}")
    folder = _folder(name, data_dir)
    if list(folder.glob("*.svm.gz")):
        return load_folder(folder, name)
    return _debtags(fetch(name, data_dir)[apt_lists.PACKAGES])


def is_here(name: str, data_dir: str | os.PathLike[str] | None = None) -> bool:
    """Return whether `load` needs no `fetch` first."""
    folder = _folder(name, data_dir)
    return (
        entry_of(name).origin == "generated"
        or bool(list(folder.glob("*.svm.gz")))
        or all(path.is_file() for path in _files(folder).values())
    )


def fetch(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, anew: bool = False
) -> dict[str, Path]:
    """Return the files of a data set, making missing ones.

    debtags is made from this machine's apt lists, once, or again if `anew`. Its files are in
    `data_dir` or in the user's cache, which the variable ``DEPLDA_DATA`` moves. newsroom has none.
    """
    if entry_of(name).origin == "generated":
        return {}
    folder = _folder(name, data_dir)
    files = _files(folder)
    if not anew and all(path.is_file() for path in files.values()):
        return files
    return apt_lists.make(folder)


def is_known(name: str) -> bool:
    """Return whether a data set has this name."""
    return any(entry.name == name for entry in _ENTRIES)


def own_path(name: str, data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the path of a user's data set, in `data_dir` or as it is; None if there is none."""
    if not name:
        return None
    places = [Path(name)] if data_dir is None else [Path(data_dir) / name, Path(name)]
    return next((place for place in places if place.exists()), None)


def entry_of(name: str, data_dir: str | os.PathLike[str] | None = None) -> Entry:
    """Return the entry of a data set."""
    names = [entry.name for entry in _ENTRIES]
    if name in names:
        return _ENTRIES[names.index(name)]
    where = "" if data_dir is None else f" in {os.fspath(data_dir)}"
    raise InputError(
        f"there is no data set, file or folder {name!r}{where}{did_you_mean(name, names)} "
        f"(data sets: {', '.join(names)})"
    )


def cache_folder() -> Path:
    """Return where data sets are stored unless `data_dir` is passed."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("DEPLDA_DATA") or Path(base) / "deplda")


def _folder(name: str, data_dir: str | os.PathLike[str] | None) -> Path:
    return (cache_folder() if data_dir is None else Path(data_dir)) / name


def _files(folder: Path) -> dict[str, Path]:
    return {name: folder / name for name in (apt_lists.PACKAGES, apt_lists.SOURCE)}


def _generate(options: Mapping[str, Any]) -> Dataset:
    try:
        room = newsroom(**options)
    except TypeError as error:
        raise InputError(f"newsroom does not take these options ({error})") from error
    split = random_split(room.corpus, 0.25)
    # Document 0 is the only one of its rare label: models can learn it only from training.
    split = Split(np.union1d(split.train, [0]), split.test[split.test != 0])
    return Dataset("newsroom", room.corpus, (split,), room.texts, generated=True)


def _debtags(path: Path) -> Dataset:
    packages = [_package(path, line) for _, line in read_lines(path) if line.strip()]
    documents = [Document(package.id, package.text, package.labels) for package in packages]
    in_test = np.array([package.part == "test" for package in packages])
    corpus = count_documents(documents, path, "english")
    return keep_training_words("debtags", corpus, in_test, documents)


def _package(path: Path, line: bytes) -> apt_lists.Package:
    try:
        return msgspec.json.decode(line, type=apt_lists.Package)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReadError(path, None, f"this is not the JSON expected here ({error})") from error
