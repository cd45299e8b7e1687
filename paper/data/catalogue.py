"""The paper's data sets and others to compare on: their sources, and how they become a corpus."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from deplda import datasets
from deplda.data.datasets import Dataset, load_folder
from deplda.data.datasets.catalogue import cache_folder
from deplda.data.files import StrPath
from deplda.errors import DataUnavailableError
from paper.data import published
from paper.data.downloads import fetch_file, find_file

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
    """One data set."""

    name: str
    title: str
    origin: Literal["download", "by hand", "folder"]
    """"download", "by hand" (the user's copy) or "folder" (in `data_dir` only)."""
    files: Mapping[str, str] = field(default_factory=dict)
    """File name → address; for files put there by hand, the page that offers them."""
    sha256: Mapping[str, str] = field(default_factory=dict)
    """File name → checksum of the publisher."""
    folder: str = ""
    """Its name in `data_dir`, if it differs."""


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


_READERS: dict[str, Callable[[str, published.Files], Dataset]] = {
    "yahoo-arts": published.yahoo,
    "yahoo-health": published.yahoo,
    "eurlex": published.eurlex,
    "rcv1": published.rcv1,
    "eurlex57k": published.eurlex57k,
    "nyt": published.nyt,
    "kirjastonhoitaja": published.kirjastonhoitaja,
    "tib-core": published.tib,
    "tib-core-en": published.tib,
}


def entries() -> tuple[Entry, ...]:
    """Return the data sets of this catalogue; `load` also reads those of `deplda.datasets`."""
    return _ENTRIES


def load(name: str, data_dir: StrPath | None = None) -> Dataset:
    """Return a data set and its splits, downloading its files if needed.

    `name` is one of this catalogue or whatever `deplda.datasets.load` accepts. `data_dir` holds one
    folder for each data set, with the published files or with svmlight files.
    """
    entry = _entry(name)
    if entry is None:
        return datasets.load(name, data_dir)
    folder = _folder(entry, data_dir)
    if entry.origin == "folder" or list(folder.glob("*.svm.gz")):
        return load_folder(folder, name)
    return _READERS[name](name, fetch(name, data_dir))


def fetch(
    name: str, data_dir: StrPath | None = None, *, progress: bool | None = None
) -> dict[str, Path]:
    """Return the published files of a data set, downloading those that are missing.

    They are stored in `data_dir`, or in the user's cache (the variable ``DEPLDA_DATA`` moves it).
    `progress` draws a bar on standard error, by default in a terminal.
    """
    entry = _entry(name)
    if entry is None:
        return datasets.fetch(name, data_dir)
    folder = _folder(entry, data_dir)
    if name == "nyt":
        if not folder.is_dir():
            raise DataUnavailableError(
                f"{entry.title}, is licensed and cannot be downloaded; put your files under "
                f"{folder}"
            )
        return {"nyt": folder}
    if entry.origin == "by hand":
        return {file: find_file(folder / file, page) for file, page in entry.files.items()}
    progress = sys.stderr.isatty() if progress is None else progress
    return {
        file: fetch_file(address, folder / file, entry.sha256.get(file), progress)
        for file, address in entry.files.items()
    }


def _entry(name: str) -> Entry | None:
    return next((entry for entry in _ENTRIES if entry.name == name), None)


def _folder(entry: Entry, data_dir: StrPath | None) -> Path:
    root = cache_folder() if data_dir is None else Path(os.fspath(data_dir))
    for name in (entry.folder, entry.name, entry.name.replace("-", "_")):
        if name and (root / name).is_dir():
            return root / name
    if entry.origin == "folder":
        raise DataUnavailableError(
            f"{root} has no folder {entry.name.replace('-', '_')!r}; {entry.name} is not "
            "published as files to download: pass data_dir= a folder that holds it"
        )
    return root / entry.name
