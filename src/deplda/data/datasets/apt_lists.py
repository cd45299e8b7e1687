"""Debian's packages and their tags, from the lists that apt keeps of the archive: no download."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from hashlib import md5
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from deplda.data.atomic import write_together
from deplda.data.sizes import max_record, max_whole, refuse_large
from deplda.errors import DataUnavailableError, ShortDescriptionsWarning, warn

PACKAGES, SOURCE = "debtags.jsonl.gz", "SOURCE.txt"
_HELPER = "/usr/lib/apt/apt-helper"
_UPDATE = "sudo apt-get update -o Acquire::Languages=en"


class Package(msgspec.Struct):
    """A package as a document: its description, and its tags as labels."""

    id: str
    source: str
    """The package that it is built from, by which it is on one side of the split."""
    part: str
    """train or test."""
    text: str
    labels: list[str]


class Index(NamedTuple):
    """A list that apt has: what is in it, of which release, and where."""

    kind: str
    release: str
    path: Path


def make(folder: Path) -> dict[str, Path]:
    """Write the tagged packages of apt's lists into a folder; the same lists give the same bytes.

    Returns the files: the packages, and what they were made of.
    """
    lists = _lists()
    if not any(each.kind == "Packages" for each in lists):
        raise DataUnavailableError(
            f"apt has no lists of packages, of which debtags is made; run: {_UPDATE}"
        )
    long = _long_descriptions(lists)
    found = _Found()
    packages = list(found.tagged(lists, long))
    if not packages:
        raise DataUnavailableError(
            f"none of the {found.n_packages:,} packages in apt's lists of {found.all_releases} has "
            "tags; Debian's lists have them (Ubuntu's do not in all releases): fetch debtags on a "
            f"Debian system, and pass its folder as data_dir. If lists are missing, run: {_UPDATE}"
        )
    if not long:
        warn(
            "apt's lists have no long descriptions (Acquire::Languages is none here): documents "
            f"are the short ones, of a few words. For the long ones run: {_UPDATE}; then "
            "deplda datasets fetch debtags --anew",
            ShortDescriptionsWarning,
        )
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / name for name in (PACKAGES, SOURCE)}
    with write_together(files.values()) as (documents, source):
        documents.writelines(msgspec.json.encode(each) + b"\n" for each in packages)
        source.write(found.told(packages, has_long=bool(long)).encode())
    return files


class _Found:
    """What was met in lists: how many packages, and of which releases those with tags are."""

    def __init__(self) -> None:
        self.n_packages = self.n_tagged = 0
        self._releases: dict[str, int] = {}

    @property
    def all_releases(self) -> str:
        return ", ".join(self._releases)

    def tagged(self, lists: Iterable[Index], long: dict[str, str]) -> Iterator[Package]:
        """Yield the packages with tags, one for each distinct description.

        Of a package in several versions or lists the first counts. All packages of one source are
        on one side of the split: they read alike.
        """
        texts, names = set[str](), set[str]()
        for each in lists:
            if each.kind != "Packages":
                continue
            self._releases.setdefault(each.release, 0)
            for stanza in stanzas(_lines(each.path)):
                package = stanza["Package"]
                if package in names:
                    continue
                names.add(package)
                self.n_packages += 1
                tags = [tag for part in stanza.get("Tag", "").split(",") if (tag := part.strip())]
                if not tags:
                    continue
                self.n_tagged += 1
                self._releases[each.release] += 1
                text = long.get(stanza.get("Description-md5", "")) or stanza.get("Description", "")
                if text in texts:
                    continue
                texts.add(text)
                source = stanza.get("Source", "").partition(" ")[0] or package  # "name (version)"
                yield Package(package, source, part_of(source), text, list(dict.fromkeys(tags)))

    def told(self, packages: list[Package], *, has_long: bool) -> str:
        """Return what the data set was made of."""
        releases = ", ".join(name for name, n in self._releases.items() if n)
        kind = "long" if has_long else "short"
        n_test = sum(each.part == "test" for each in packages)
        return (
            f"Made of apt's lists of {releases}: {self.n_packages:,} packages, {self.n_tagged:,} "
            f"with tags. A document for each distinct description ({kind}): {len(packages):,}, of "
            f"which {n_test:,} test, those of every source whose MD5 is 0 modulo 5.\n"
        )


def part_of(source: str) -> str:
    """Return the side of the split on which all packages of a source are."""
    digest = md5(source.encode(), usedforsecurity=False).hexdigest()
    return "train" if int(digest, 16) % 5 else "test"


def stanzas(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the paragraphs of a Debian control file that name a package, folded lines joined."""
    stanza: dict[str, list[str]] = {}
    key = ""
    for line in chain(lines, [""]):
        if not line.strip():
            if "Package" in stanza:
                yield {name: "\n".join(parts) for name, parts in stanza.items()}
            stanza, key = {}, ""
        elif line[0] in " \t":
            folded = line.strip()
            stanza.setdefault(key, [""]).append("" if folded == "." else folded)
        else:
            key, _, value = line.partition(":")
            stanza[key] = [value.strip()]


def _long_descriptions(lists: Iterable[Index]) -> dict[str, str]:
    """Return the long descriptions in English by their checksums."""
    return {
        stanza["Description-md5"]: stanza["Description-en"]
        for each in lists
        if each.kind == "Translations"
        for stanza in stanzas(_lines(each.path))
        if "Description-md5" in stanza and "Description-en" in stanza
    }


def _lists() -> list[Index]:
    """Return the lists that apt has here, in the order of its sources."""
    if (apt := shutil.which("apt-get")) is None:
        raise DataUnavailableError(
            "debtags is made of apt's lists, and this machine has no apt: fetch it on Debian, and "
            "pass its folder as data_dir"
        )
    fields = "$(CREATED_BY)\t$(ORIGIN) $(RELEASE)\t$(FILENAME)"
    asked = [apt, "indextargets", "-o", "Acquire::Languages=en", "--format", fields]
    found = [line.split("\t") for line in _output(asked)]
    return [Index(each[0], each[1], Path(each[2])) for each in found if len(each) == 3]


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a list, however apt has packed it."""
    return _output([_HELPER, "cat-file", str(path)])


def _output(command: list[str]) -> Iterator[str]:
    """Yield the lines that a command writes, within the limits of what is read."""
    limit, left = max_record(), max_whole()
    try:
        process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise DataUnavailableError(f"cannot run {command[0]} ({error.strerror})") from error
    with process:
        written: Any = process.stdout
        for number, line in enumerate(iter(lambda: written.readline(limit + 1), b""), start=1):
            left -= len(line)
            if len(line) > limit or left < 0:
                what = "what apt has here"
                refuse_large(command[-1], number, what, whole=len(line) <= limit)
            yield line.decode("utf-8", "replace").rstrip("\r\n")
    if process.returncode:
        raise DataUnavailableError(f"{' '.join(command)} failed: exit code {process.returncode}")
