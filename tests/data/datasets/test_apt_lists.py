"""debtags from apt's lists: what users of Debian have, and what is said where it is not there."""

import gzip
import json
import os
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest

from deplda import DataUnavailableError, ReadError
from deplda.data import datasets
from deplda.data.datasets import apt_lists
from deplda.errors import ShortDescriptionsWarning
from tests.cli.running import done, run

PACKAGES = """\
Package: editor
Source: edit-suite (1.2)
Description: small editor
Description-md5: aaa
Tag: role::program, interface::text,
 works-with::text, role::program

Package: editor-doc
Source: edit-suite
Description: manual of the editor
Description-md5: bbb
Tag: role::documentation

Package: untagged
Description: plain thing
Description-md5: ccc

Package: editor-clone
Description: small editor
Description-md5: aaa
Tag: role::program

Package: nomd5
Description: lonely package
Source:
Tag: role::data
"""
TRANSLATIONS = """\
Package: editor
Description-md5: aaa
Description-en: small editor
 An editor for
 .
\twriting letters.

Package: stray
Description-en: text without a checksum
"""


class Apt:
    """An apt with lists of ours, in the place of the machine's own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._lines = folder, list[str]()
        for name in ("apt-get", "apt-helper"):
            script = folder / name
            script.write_text(f'#!/bin/sh\nshift\nexec cat "{folder}/index"\n')
            script.chmod(0o755)
        (folder / "apt-helper").write_text('#!/bin/sh\nexec cat "$2"\n')
        (folder / "index").touch()
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        monkeypatch.setattr(apt_lists, "_HELPER", str(folder / "apt-helper"))

    def has(self, kind: str, text: str | bytes, release: str = "Debian bookworm") -> None:
        path = self._folder / f"list{len(self._lines)}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self._lines.append(f"{kind}\t{release}\t{path}\n")
        (self._folder / "index").write_text("".join(self._lines))


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apt:
    monkeypatch.setenv("DEPLDA_DATA", str(tmp_path / "cache"))
    (tmp_path / "bin").mkdir()
    return Apt(tmp_path / "bin", monkeypatch)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def many(n: int, release: str = "") -> str:
    """Return packages of ten sources that read alike, enough to learn from."""
    return "".join(
        f"Package: p{k}{release}\nSource: s{k % 10} (1.{k})\n"
        f"Description: editor number {'abcdefghij'[k % 10]}x of many editors {k}\n"
        f"Tag: role::program, game::{'chess' if k % 3 else 'go'}\n\n"
        for k in range(n)
    )


def test_fetching_debtags_makes_it_of_apts_lists_and_says_of_which_release(
    apt: Apt, tmp_path: Path
) -> None:
    apt.has("Packages", PACKAGES)
    apt.has("Translations", TRANSLATIONS)
    apt.has("Packages", "Package: shop\nDescription: other\n", "Shop stable")
    said = done("datasets", "fetch", "debtags")
    file = tmp_path / "cache" / "debtags" / "debtags.jsonl.gz"
    assert said.splitlines()[0] == str(file)
    assert (
        "Made of apt's lists of Debian bookworm: 6 packages, 4 with tags. A document for each "
        "distinct description (long): 3" in said
    )
    assert [row["id"] for row in rows(file)] == ["editor", "editor-doc", "nomd5"]
    first = rows(file)[0]
    assert first["text"] == "small editor\nAn editor for\n\nwriting letters."
    assert first["labels"] == ["role::program", "interface::text", "works-with::text"]
    assert (first["source"], rows(file)[2]["source"]) == ("edit-suite", "nomd5")


def test_what_was_fetched_is_a_data_set_to_describe_and_to_train_on(
    apt: Apt, tmp_path: Path
) -> None:
    apt.has("Packages", many(200))
    apt.has("Translations", TRANSLATIONS)
    assert "200" in done("datasets", "stats", "debtags")  # and so fetched where it was not
    small = ("--model", "flat", "--set", "n_held_out=0")
    assert "FlatLDA of 140 doc" in done("train", "debtags", "-o", tmp_path / "m", *small)
    found = datasets.load("debtags")
    assert len(found.texts) == 200
    assert found.texts[3] == "editor number dx of many editors 3"


def test_the_same_lists_give_the_same_bytes_and_new_ones_only_if_asked(apt: Apt) -> None:
    apt.has("Packages", many(30))
    apt.has("Translations", TRANSLATIONS)
    one = {name: path.read_bytes() for name, path in datasets.fetch("debtags").items()}
    apt.has("Packages", many(30, "-new"))
    kept = {name: path.read_bytes() for name, path in datasets.fetch("debtags").items()}
    assert kept == one
    file = datasets.fetch("debtags", anew=True)["debtags.jsonl.gz"]
    assert len(rows(file)) == 30  # they read as those before
    apt.has("Packages", "Package: z\nDescription: last\nTag: x\n")
    assert json.loads(done("datasets", "fetch", "debtags", "--anew", "--json"))[0] == str(file)
    assert len(rows(file)) == 31


def test_all_packages_of_a_source_are_on_one_side(apt: Apt) -> None:
    apt.has("Packages", many(100))
    apt.has("Translations", TRANSLATIONS)
    found = datasets.load("debtags")
    (split,) = found.splits
    test = {int(found.corpus.ids[row].removeprefix("p")) % 10 for row in split.test}
    hexes = {n: md5(f"s{n}".encode(), usedforsecurity=False).hexdigest() for n in range(10)}
    assert test == {n for n in range(10) if int(hexes[n], 16) % 5 == 0}
    assert len(test) > 0
    assert len(split.train) + len(split.test) == 100


def test_of_a_package_in_several_lists_the_first_counts(apt: Apt) -> None:
    stanza = "Package: {}\nDescription: {} thing\nTag: role::program\n\n"
    apt.has("Packages", stanza.format("a", "red") + stanza.format("b", "red"))
    apt.has("Packages", stanza.format("a", "blue"), "Debian bookworm-security")
    apt.has("Translations", TRANSLATIONS)
    assert [row["id"] for row in rows(datasets.fetch("debtags")["debtags.jsonl.gz"])] == ["a"]


def test_without_long_descriptions_the_short_ones_serve_and_it_is_said(apt: Apt) -> None:
    apt.has("Packages", PACKAGES)
    with pytest.warns(ShortDescriptionsWarning, match="sudo apt-get update -o Acquire::Languages"):
        files = datasets.fetch("debtags")
    assert rows(files["debtags.jsonl.gz"])[0]["text"] == "small editor"
    assert "(short)" in files["SOURCE.txt"].read_text(encoding="utf-8")


def test_missing_lists_say_what_to_run(apt: Apt) -> None:
    ended = run("datasets", "fetch", "debtags")
    assert ended.exit_code == 1
    assert "apt has no lists of packages, of which debtags is made" in ended.stderr
    assert "run: sudo apt-get update -o Acquire::Languages=en" in ended.stderr


@pytest.mark.parametrize(
    "text", ["", "\n\n", " folded from nowhere\n", "no colon at all\n", "Package: a\nTag: ,\n"]
)
def test_lists_without_tags_as_some_of_ubuntus_are_say_so(apt: Apt, text: str) -> None:
    apt.has("Packages", text, "Ubuntu noble")
    with pytest.raises(DataUnavailableError, match=r"none of the \d packages .*Ubuntu noble has"):
        datasets.fetch("debtags")


def test_a_field_of_very_many_lines_is_joined_in_no_time() -> None:
    n = 400_000  # joined one by one, they would take for ever
    (stanza,) = apt_lists.stanzas(["Package: a", "Description: b", *[" c"] * n, " .", " d"])
    assert stanza == {"Package": "a", "Description": "b" + "\nc" * n + "\n\nd"}


def test_a_machine_without_apt_is_told_where_to_go(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataUnavailableError, match="this machine has no apt: fetch it on Debian"):
        datasets.fetch("debtags", tmp_path)


def test_bytes_that_are_no_text_and_lines_without_end_do_no_harm(
    apt: Apt, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt.has("Packages", b"Package: a\nDescription: b\xff\xfec\nTag: x\n\n")
    apt.has("Translations", TRANSLATIONS)
    files = datasets.fetch("debtags")
    assert rows(files["debtags.jsonl.gz"])[0]["text"] == "b\ufffd\ufffdc"
    monkeypatch.setenv("DEPLDA_MAX_RECORD", "1KiB")
    apt.has("Packages", b"Package: " + b"a" * 2000)
    with pytest.raises(ReadError, match="has more than 1 KiB; the limit is DEPLDA_MAX_RECORD"):
        datasets.fetch("debtags", anew=True)
    assert len(rows(files["debtags.jsonl.gz"])) == 1  # what was there is there still


def test_a_list_of_any_length_is_not_read(apt: Apt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLDA_MAX_RECORD", "1KiB")
    apt.has("Packages", "Package: a\nTag: x\n\n" * 1000)
    with pytest.raises(ReadError, match="the limit is 16 times DEPLDA_MAX_RECORD"):
        datasets.fetch("debtags")


def test_a_command_that_fails_or_is_missing_is_named() -> None:
    assert list(apt_lists._output(["printf", r"a\nb\377\n"])) == ["a", "b\ufffd"]
    with pytest.raises(DataUnavailableError, match="false failed: exit code 1"):
        list(apt_lists._output(["false"]))
    with pytest.raises(DataUnavailableError, match=r"cannot run /nonsense \(No such file"):
        list(apt_lists._output(["/nonsense"]))


def test_a_damaged_copy_is_named(apt: Apt, tmp_path: Path) -> None:
    apt.has("Packages", PACKAGES)
    apt.has("Translations", TRANSLATIONS)
    file = datasets.fetch("debtags")["debtags.jsonl.gz"]
    file.write_bytes(gzip.compress(b'{"id": 3}\n'))
    with pytest.raises(ReadError, match="not the JSON expected here"):
        datasets.load("debtags")
