"""The registry: which data sets there are, where they come from, and how they become a corpus."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pooch

from deplda.data.atomic import write_whole
from deplda.data.datasets import published
from deplda.data.datasets.folder import load_folder
from deplda.data.datasets.newsroom import newsroom
from deplda.data.datasets.power_law import power_law
from deplda.data.datasets.published import Dataset
from deplda.data.splits import Split, random_split
from deplda.data.wording import did_you_mean
from deplda.errors import DataUnavailableError, InputError

_RUBIN = (
    "https://raw.githubusercontent.com/timothyrubin/DependencyLDA/"
    "539a536f1d21a297b9c002e9b98bb6e5ada2a3d5/EvaluationDatasets"
)
_EURLEX = "https://tudatalib.ulb.tu-darmstadt.de/bitstream/handle/tudatalib/2937"
_LEWIS = "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a"
_LYRL2004 = ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")
_AUEB = "http://nlp.cs.aueb.gr/software_and_datasets/EURLEX57K"


@dataclass(frozen=True, slots=True)
class Entry:
    """One data set of the registry."""

    name: str
    title: str
    origin: str
    """"generated", "download", "this machine", "by hand" (your own copy) or "folder" (data_dir
    only)."""
    files: Mapping[str, str] = field(default_factory=dict)
    """File name → address; of one put there by hand, that of the page where it can be had."""
    sha256: Mapping[str, str] = field(default_factory=dict)
    """File name → checksum, where it is known; others are recorded at the first download."""
    folder: str = ""
    """Its name in the folder that `data_dir` names, if it differs."""


def _yahoo(topic: str, *checksums: str) -> Entry:
    names = [f"Yahoo_{topic}_Split{k:02}" for k in range(1, 6)]
    return Entry(
        f"yahoo-{topic.lower()}",
        f"Yahoo! {topic}, the paper's own five splits",
        "download",
        {f"{name}.mat": f"{_RUBIN}/{name}/{name}.mat" for name in names},
        {f"{name}.mat": sha for name, sha in zip(names, checksums, strict=True)},
        f"yahoo_{topic.lower()}_rubin",
    )


def _tib(name: str, language: str, code: str) -> Entry:
    return Entry(
        name,
        f"catalogue records, {language}, with GND",
        "by hand",
        {f"dev-{code}.tsv.gz": "https://github.com/NatLibFi/Annif-LLMs4Subjects"},
        folder="tib_core",
    )


_ENTRIES = (
    Entry("newsroom", "readable news with known truth", "generated"),
    Entry("power-law", "EUR-Lex-shaped, any size", "generated"),
    _yahoo(
        "Arts",
        "2b15a834578cf6d5766aabaaf98ed934fc890a328d005c5772deaea46b68c13c",
        "bea20d75c7404d39bcb248cff4fd08ba9925dd64dadb3b692b27a7990ff8b6b2",
        "990fdfe526dfda72ecff8950d1f4e8198360e8efea1239386e9ee04e718a0617",
        "eee507fad5d803bdfb9a05d3847c499076436f3f1405ba38588df82d196f227d",
        "db68adb7389ce2af23bbb83e181cd160b8b32948e41c054af7b92132b2ce97e5",
    ),
    _yahoo(
        "Health",
        "1e88c25e98e349bcc9dc25a85c479b844176c817482d3b7af814cb2d4e9f239e",
        "0c5051886d0c3eb2455ec282fc0e73bd2d1367e0ae8c5da99044fabb9fa0d28a",
        "acae929829cb33635219733b7bdf552df72a0cc1a662c18eedeafe7e0e5dc005",
        "f9e09e34948f4a52472b25a5d391d299d25fe8d0d4886d895e460fcc8fab2825",
        "b71ad7c4d2aafaf43404b0ec19ef08c90cc96e0fd882c4b7a9ecd42b03527ba9",
    ),
    Entry(
        "eurlex",
        "EUR-Lex 2008 with EUROVOC descriptors, ten folds",
        "download",
        {n: f"{_EURLEX}/{n}" for n in ("eurlex_tokenstring_CV10.zip", "eurlex_id2class.zip")},
    ),
    Entry(
        "rcv1",
        "Reuters RCV1-v2 topics, LYRL2004 split",
        "download",
        {
            **{
                f"{name}.dat.gz": f"{_LEWIS}/a12-token-files/{name}.dat.gz"
                for name in (f"lyrl2004_tokens_{part}" for part in _LYRL2004)
            },
            "rcv1-v2.topics.qrels.gz": f"{_LEWIS}/a08-topic-qrels/rcv1-v2.topics.qrels.gz",
        },
    ),
    Entry(
        "eurlex57k",
        "57,000 European laws with EUROVOC concepts",
        "download",
        {name: f"{_AUEB}/{name}" for name in ("datasets.zip", "eurovoc_en.json")},
    ),
    Entry("debtags", "Debian packages and their tags, from apt's lists", "this machine"),
    Entry("nyt", "New York Times Annotated Corpus, LDC2008T19, your own copy", "by hand"),
    Entry(
        "kirjastonhoitaja",
        "questions to librarians, Finnish, with YSO",
        "by hand",
        {"kirjastonhoitaja.tar.gz": "https://github.com/NatLibFi/Annif-corpora"},
    ),
    _tib("tib-core", "German", "de"),
    _tib("tib-core-en", "English", "en"),
    Entry("eurlex20k", "19,348 European laws, the size of EUR-Lex 2008", "folder"),
    Entry("rcv1-subset1", "RCV1-v2, 6,000 documents", "folder"),
    Entry("bibtex", "BibTeX entries and their tags, word presence only", "folder"),
    Entry("stackex-cooking", "questions on cooking and their tags", "folder"),
)


def entries() -> tuple[Entry, ...]:
    """Return every data set that can be loaded by name."""
    return _ENTRIES


def load(name: str, data_dir: str | os.PathLike[str] | None = None, **options: Any) -> Dataset:
    """Return a data set and its splits.

    Its corpus has the words counted already. To count them in another way, take `Dataset.texts`,
    which kirjastonhoitaja, tib-core and tib-core-en have: ``counter.fit_transform(texts)``.

    Parameters
    ----------
    name : str
        One of the names of `list()`.
    data_dir : path, optional
        A folder of data sets, each in a folder of its own: files as published, or svmlight files
        laid out as `datasets.folder` says. Without it, published files are downloaded once
        and kept in the cache (see `fetch`).
    **options
        For generated data sets: `n_documents`, `seed`, and what else their function takes.
    """
    entry = _entry(name)
    if entry.origin == "generated":
        return _generate(entry.name, options)
    if options:
        raise InputError(f"{entry.name} takes no options; got {', '.join(options)}")
    if data_dir is not None:
        folder = _folder(entry, Path(data_dir))
        if entry.origin == "folder" or list(folder.glob("*.svm.gz")):
            return load_folder(folder, entry.name)
    elif entry.origin == "folder":
        raise DataUnavailableError(
            f"{entry.name} is nowhere to be downloaded; pass data_dir= a folder that holds it"
        )
    if entry.name == "nyt":
        return published.nyt(entry.name, {"nyt": _by_hand(entry, data_dir)})
    parse = getattr(published, entry.name.partition("-")[0])  # both yahoo-arts and yahoo-health
    dataset: Dataset = parse(entry.name, fetch(name, data_dir))
    return dataset


def fetch(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, progress: bool | None = None
) -> dict[str, Path]:
    """Return the files of a data set, downloading those that are not there yet.

    Those that are to be put there by hand are not downloaded: the error says from where and where.
    They are kept in `data_dir`, or in the user's cache (the variable ``DEPLDA_DATA`` moves it).
    Where the publisher's checksum is known it is checked; else it is recorded at the first download
    and checked from then on. `progress` draws a bar on standard error, by default in a terminal.
    """
    entry = _entry(name)
    progress = sys.stderr.isatty() if progress is None else progress
    pooch.get_logger().setLevel("WARNING")  # the bar and our errors say all there is to say
    folder = _folder(entry, _cache() if data_dir is None else Path(data_dir))
    if entry.origin == "by hand":
        return {file: _own_copy(entry, file, folder) for file in entry.files}
    return {file: _fetch(entry, file, folder, progress) for file in entry.files}


def _own_copy(entry: Entry, file: str, folder: Path) -> Path:
    """Return the user's file, packed or not."""
    for path in (folder / file, folder / file.removesuffix(".gz")):
        if path.is_file():
            return path
    raise DataUnavailableError(
        f"{folder / file} is not there, and is not downloaded; "
        f"get the documents from {entry.files[file]} and put them there"
    )


def _fetch(entry: Entry, file: str, folder: Path, progress: bool) -> Path:
    target, address = folder / file, entry.files[file]
    recorded = folder / f"{file}.sha256"
    known = entry.sha256.get(file)
    if known is None and recorded.is_file():
        known = recorded.read_text(encoding="ascii", errors="replace").strip()
    if not target.is_file():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            pooch.retrieve(
                address,
                known_hash=None,  # checked below, for files put there by hand as well
                fname=file,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=_Progress(file) if progress else False),
            )
        except (OSError, ValueError) as error:  # requests' errors are OSErrors
            reason = f"{type(error).__name__}: {str(error)[:120]}"
            raise DataUnavailableError(
                f"could not download {address} ({reason}); "
                f"fetch it by other means, put it at {target} and try again"
            ) from error
    found = pooch.file_hash(str(target))
    if known is None:
        # A file put by hand into a folder that cannot be written to is used as it is.
        with suppress(OSError), write_whole(recorded) as note:
            note.write(found.encode() + b"\n")
    elif found != known:
        raise DataUnavailableError(
            f"{target} has the SHA-256 {found} instead of {known}: it is damaged or another "
            f"version. Delete it and try again"
        )
    return target


class _Progress:
    """What pooch calls while it downloads, drawn by rich on standard error."""

    def __init__(self, file: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

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


def _generate(name: str, options: Mapping[str, Any]) -> Dataset:
    try:
        if name == "power-law":
            corpus = power_law(**options)
            return Dataset(name, corpus, (random_split(corpus),))
        corpus = newsroom(**options).corpus
    except TypeError as error:
        raise InputError(f"{name} does not take these options ({error})") from error
    split = random_split(corpus, 0.25)
    # Document 0 is the only one of its rare label: it must be there to learn from.
    split = Split(np.union1d(split.train, [0]), split.test[split.test != 0])
    return Dataset(name, corpus, (split,))


def _entry(name: str) -> Entry:
    wanted = name.lower().replace("_", "-")
    for entry in _ENTRIES:
        if wanted in {entry.name, entry.folder.replace("_", "-")} - {""}:
            return entry
    known = [entry.name for entry in _ENTRIES]
    raise InputError(
        f"there is no data set {name!r}; known: {', '.join(known)}{did_you_mean(name, known)}"
    )


def _folder(entry: Entry, root: Path) -> Path:
    for name in (entry.folder, entry.name, entry.name.replace("-", "_")):
        if name and (root / name).is_dir():
            return root / name
    if entry.origin == "folder":
        raise DataUnavailableError(f"{root} has no folder {entry.name.replace('-', '_')!r}")
    return root / entry.name


def _by_hand(entry: Entry, data_dir: str | os.PathLike[str] | None) -> Path:
    folder = _folder(entry, _cache() if data_dir is None else Path(data_dir))
    if not folder.is_dir():
        raise DataUnavailableError(
            f"{entry.title}, is licensed and cannot be downloaded; put your files under {folder}"
        )
    return folder


def _cache() -> Path:
    return Path(os.environ.get("DEPLDA_DATA") or pooch.os_cache("deplda"))
