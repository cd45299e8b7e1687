"""A real Annif, run by its command line: one process to learn, one for all texts."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deplda import Vocabulary, write_vocabulary
from deplda.errors import DepldaError

Found = Sequence[Sequence[tuple[str, float]]]
"""Of each text, addresses of labels with their scores."""
Projects = Mapping[str, Mapping[str, str]]
"""What Annif's configuration says of each project, beside what is said of all."""
VOCABULARY, N_BEST = "labels", 100
_NO_ANSWER = ("HTTP request failed", "JSON decode failed", "Problem interpreting JSON data")
"""What Annif says of a service that gave no suggestions, and then goes on without them."""


class Annif:
    """A real Annif with some projects over one vocabulary.

    Parameters
    ----------
    command : path
        The executable ``annif``.
    folder : path
        An empty one, to keep files in.
    vocabulary : path or Vocabulary
        The subjects, as a file that ``annif load-vocab`` takes, or to be told by their preferred
        names.
    language : str
        Its code: "fi".
    projects : dict
        What the configuration says of each, beside what it says of all; see `configure`.
    analyzer : str, optional
        How Annif normalises words; by default by simplemma's dictionary of the language.
    """

    def __init__(
        self,
        command: Path,
        folder: Path,
        vocabulary: Vocabulary | Path,
        language: str,
        projects: Projects,
        analyzer: str | None = None,
    ) -> None:
        self.command, self.folder = command.absolute(), folder
        self.language, self.analyzer = language, analyzer or f"simplemma({language})"
        if isinstance(vocabulary, Vocabulary):
            write_vocabulary(vocabulary, folder / "vocabulary.tsv", language)
            vocabulary = folder / "vocabulary.tsv"
        self.configure(projects)
        self.run("load-vocab", VOCABULARY, str(vocabulary), "--language", language)

    def configure(self, projects: Projects) -> None:
        """Have these projects and no others; one's backend is called as itself, if not told."""
        written = configparser.ConfigParser(interpolation=None)
        for project, settings in projects.items():
            written[project] = {
                "name": project,
                "language": self.language,
                "backend": project,
                "vocab": VOCABULARY,
                "analyzer": self.analyzer,
                "limit": str(N_BEST),
            } | dict(settings)
        with (self.folder / "projects.cfg").open("w", encoding="utf-8") as file:
            written.write(file)

    def version_of(self, package: str) -> str:
        """Return the version of a package that stands beside Annif."""
        asked = f"from importlib.metadata import version; print(version({package!r}))"
        command = [str(self.command.with_name("python")), "-c", asked]
        found = subprocess.run(command, check=True, capture_output=True, text=True, env=_apart())
        return found.stdout.strip()

    def write(
        self, name: str, texts: Sequence[str], subjects: Sequence[Sequence[str]] | None = None
    ) -> None:
        """Write documents as Annif's JSON lines, with the addresses of their subjects if given."""
        documents: list[dict[str, Any]] = [
            {"document_id": str(n), "text": text} for n, text in enumerate(texts)
        ]
        # Annif passes over a document whose list of subjects is empty.
        for document, own in zip(documents, subjects or (), strict=subjects is not None):
            document["subjects"] = [{"uri": uri} for uri in own]
        _write_lines(self.folder / name, documents)

    def train(self, project: str, texts: Sequence[str], subjects: Sequence[Sequence[str]]) -> None:
        """Learn from texts and the addresses of their subjects."""
        self.write("train.jsonl", texts, subjects)
        self.run("train", project, "train.jsonl", "--jobs", "1")

    def suggest(self, project: str, texts: Sequence[str]) -> Found:
        """Return the best labels of each text, 100 at most."""
        self.write("texts.jsonl", texts)
        options = "--limit", str(N_BEST), "--no-include-doc", "--force", "--output", "found.jsonl"
        self.run("index", project, "texts.jsonl", *options)
        with (self.folder / "found.jsonl").open(encoding="utf-8") as lines:
            found = {row["document_id"]: row["results"] for row in map(json.loads, lines)}
        return [
            [(label["uri"], label["score"]) for label in found[str(n)]] for n in range(len(texts))
        ]

    def run(self, verb: str, *arguments: str, given: str | None = None) -> str:
        """Run a command in the folder, with `given` to read; return what it printed.

        Raises if it fails, and also where Annif only warns of a backend that does not answer.
        """
        command = [str(self.command), verb, *arguments, "--projects", "projects.cfg"]
        environment = _apart() | {"ANNIF_DATADIR": str(self.folder / "data")}
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            input=given,
            cwd=self.folder,
            env=environment,
        )
        if done.returncode or any(said in done.stderr for said in _NO_ANSWER):
            said = done.stderr.strip()[-1_000:]
            raise DepldaError(f"{' '.join(command)} ended with {done.returncode}; it said: {said}")
        return done.stdout


def children_seconds() -> float:
    """Return the CPU time of the processes that were waited for."""
    spent = os.times()
    return spent.children_user + spent.children_system


def _apart() -> dict[str, str]:
    """Return the environment without what would lead another Python to the packages of this one."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _write_lines(path: Path, documents: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)
