"""The files in which the data sets are published → Dataset; one function a source."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import numpy as np
import numpy.typing as npt

from deplda.corpus import Corpus
from deplda.errors import DataUnavailableError, InputError, ReadError
from deplda.files import decode, read_lines
from deplda.readers import CorpusBuilder, read_mat
from deplda.splits import Split, by_fold, nyt_split
from deplda.text import WordCounter, resolve_min_count

Files = Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named corpus and the splits that go with it."""

    name: str
    corpus: Corpus
    splits: tuple[Split, ...] = ()


def yahoo(name: str, files: Files) -> Dataset:
    """Return one Yahoo! set: the five files hold the same documents, split five times."""
    corpus, splits, rows = None, [], {}
    for path in files.values():
        parts = [read_mat(path, "train"), read_mat(path, "test")]
        if corpus is None:
            corpus = read_mat(path)
            rows = {key: row for row, key in enumerate(_contents(corpus))}
        try:
            splits.append(Split(*(np.array([rows[k] for k in _contents(p)]) for p in parts)))
        except KeyError:
            raise ReadError(path, None, "it holds other documents than the first split") from None
    if corpus is None:
        raise DataUnavailableError(f"there is no file of {name}")
    return Dataset(name, corpus, tuple(splits))


def _contents(corpus: Corpus) -> Iterator[bytes]:
    """Yield what tells one document from another, whatever its place in the file."""
    x, y = corpus.counts, corpus.labels
    for row in range(len(corpus)):
        words, labels = slice(*x.indptr[row : row + 2]), slice(*y.indptr[row : row + 2])
        parts = (x.indices[words], x.data[words], y.indices[labels])
        yield b"|".join(part.tobytes() for part in parts)


def eurlex(name: str, files: Files) -> Dataset:
    """Return the EUR-Lex collection of 2008: token strings in ten folds, descriptors in qrels."""
    labels = defaultdict(list)
    for _, line in _zip_lines(files["eurlex_id2class.zip"], r"id2class_eurlex_eurovoc\.qrels$"):
        label, document, *_ = line.split()
        labels[document].append(label)
    builder, folds = CorpusBuilder(), []
    archive = files["eurlex_tokenstring_CV10.zip"]
    for fold in range(1, 11):
        for document, tokens in _arff_rows(_zip_lines(archive, rf"_CV{fold}-10_test\.arff$")):
            if tokens:  # the paper leaves empty documents out
                builder.add(Counter(tokens.split()), labels[document], document)
                folds.append(fold)
    return Dataset(name, builder.corpus(), tuple(by_fold(np.array(folds))))


def _arff_rows(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield the two columns, id and quoted token string, below ``@data``."""
    below = False
    for number, line in lines:
        if below and line.strip() and not line.startswith("%"):
            document, comma, tokens = line.partition(",")
            if not comma:
                raise InputError(f"line {number} of an ARFF file has one column: {line[:40]!r}")
            yield document.strip("'\" "), tokens.strip().strip("'\"")
        below = below or line.strip().lower() == "@data"


def _zip_lines(archive: Path, pattern: str) -> Iterator[tuple[int, str]]:
    try:
        with zipfile.ZipFile(archive) as contents:
            names = [name for name in contents.namelist() if re.search(pattern, name)]
            if not names:
                raise ReadError(archive, None, f"it holds no file that matches {pattern}")
            with contents.open(names[0]) as file:
                for number, line in enumerate(file, start=1):
                    yield number, decode(archive, number, line.rstrip(b"\r\n"), "latin-1")
    except zipfile.BadZipFile as error:
        raise ReadError(archive, None, f"it is not a whole zip file ({error})") from error


def rcv1(name: str, files: Files) -> Dataset:
    """Return RCV1-v2 with the LYRL2004 split: stemmed tokens, topics in qrels."""
    labels = defaultdict(list)
    qrels = files["rcv1-v2.topics.qrels.gz"]
    for number, line in read_lines(qrels):
        fields = line.decode("ascii", "replace").split()
        if len(fields) != 3:
            raise ReadError(qrels, number, "expected: topic, document, 1")
        labels[fields[1]].append(fields[0])
    builder, n_train = CorpusBuilder(), 0
    for file, path in files.items():
        if "tokens" in file:
            for document, tokens in _smart_documents(path):
                builder.add(Counter(tokens), labels[document], document)
                n_train += "train" in file
    rows = np.arange(len(builder))
    return Dataset(name, builder.corpus(), (Split(rows[:n_train], rows[n_train:]),))


def _smart_documents(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the documents of a file in SMART form: ``.I id``, ``.W``, lines of tokens."""
    document, tokens = None, list[str]()
    for number, raw in read_lines(path):
        line = raw.decode("ascii", "replace")
        if line.startswith(".I"):
            if document is not None:
                yield document, tokens
            document, tokens = line[2:].strip(), []
        elif line.strip() and document is None:
            raise ReadError(path, number, "a document must begin with '.I id'")
        elif not line.startswith(".W"):
            tokens.extend(line.split())
    if document is not None:
        yield document, tokens


def eurlex57k(name: str, files: Files) -> Dataset:
    """Return EURLEX57K from its archive, one JSON file a document; development documents train."""
    names = _concept_names(files["eurovoc_en.json"])
    analyze, builder, in_test = WordCounter().analyzer(), CorpusBuilder(), []
    for part, document in _law_documents(files["datasets.zip"]):
        text = "\n".join(_flatten(document.get(key)) for key in _LAW_PARTS)
        labels = [names.get(concept, concept) for concept in document["concepts"]]
        builder.add(Counter(analyze(text)), labels, document["celex_id"])
        in_test.append(part == "test")
    return _with_training_words(name, builder.corpus(), np.array(in_test, dtype=bool))


_LAW_PARTS = ("title", "header", "recitals", "main_body", "attachments")


def _concept_names(path: Path) -> dict[str, str]:
    """Return the EUROVOC names by code; a name of two concepts carries its code."""
    names = {code: entry["label"] for code, entry in _json(path, path.read_bytes()).items()}
    times = Counter(names.values())
    return {code: n if times[n] == 1 else f"{n} ({code})" for code, n in names.items()}


def _law_documents(archive: Path) -> Iterator[tuple[str, Any]]:
    try:
        with zipfile.ZipFile(archive) as contents:
            for entry in sorted(contents.namelist()):
                match = re.search(r"^(?!__MACOSX/).*?\b(train|dev|test)/[^/.][^/]*\.json$", entry)
                if match:
                    yield match[1], _json(Path(entry), contents.read(entry))
    except zipfile.BadZipFile as error:
        raise ReadError(archive, None, f"it is not a whole zip file ({error})") from error


def _json(path: Path, content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise ReadError(path, None, f"this is not JSON ({error})") from error


def _flatten(text: str | list[str] | None) -> str:
    return "\n".join(text) if isinstance(text, list) else text or ""


def debtags(name: str, files: Files) -> Dataset:
    """Return the packages that this machine's apt lists describe and tag."""
    if shutil.which("apt-cache") is None:
        raise DataUnavailableError(
            "Debian's tags come from apt's lists, and this machine has no apt"
        )
    targets = ["apt-get", "indextargets", "-o", "Acquire::Languages=en", "--format", "$(FILENAME)"]
    translations = [
        line
        for file in _output([*targets, "Created-By: Translations"])
        for line in _output(["/usr/lib/apt/apt-helper", "cat-file", file])
    ]
    return debtags_of(name, _output(["apt-cache", "dumpavail"]), translations)


def debtags_of(name: str, packages: Iterable[str], translations: Iterable[str]) -> Dataset:
    """Return the tagged packages of apt's lists: one document for each distinct description.

    Long descriptions are in the translations; without them the short ones serve. All packages of
    one source are on one side of the split: they read alike.
    """
    long = {s.get("Description-md5"): s.get("Description-en", "") for s in _stanzas(translations)}
    analyze, builder, in_test, seen = WordCounter().analyzer(), CorpusBuilder(), [], set[str]()
    for stanza in _stanzas(packages):
        text = long.get(stanza.get("Description-md5")) or stanza.get("Description", "")
        tags = [tag for part in stanza.get("Tag", "").split(",") if (tag := part.strip())]
        if not tags or text in seen:
            continue
        seen.add(text)
        builder.add(Counter(analyze(text)), tags, stanza["Package"])
        source = stanza.get("Source", stanza["Package"]).split()[0]
        in_test.append(zlib.crc32(source.encode()) % 5 == 0)
    if not len(builder):
        raise DataUnavailableError(
            "apt's lists hold no tagged package; run: apt-get update -o Acquire::Languages=en"
        )
    return _with_training_words(name, builder.corpus(), np.array(in_test))


def _stanzas(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the paragraphs of a Debian control file, folded lines joined."""
    stanza: dict[str, str] = {}
    key = ""
    for line in lines:
        if not line.strip():
            if "Package" in stanza:
                yield stanza
            stanza, key = {}, ""
        elif line[0] in " \t":
            stanza[key] = stanza.get(key, "") + "\n" + line.strip()
        else:
            key, _, value = line.partition(":")
            stanza[key] = value.strip()
    if "Package" in stanza:
        yield stanza


def _output(command: list[str]) -> Iterator[str]:
    try:
        with subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, encoding="utf-8"
        ) as process:
            if process.stdout is not None:
                yield from (line.rstrip("\n") for line in process.stdout)
    except OSError as error:
        raise DataUnavailableError(f"cannot run {command[0]} ({error.strerror})") from error
    if process.returncode:
        raise DataUnavailableError(f"{' '.join(command)} failed: exit code {process.returncode}")


def nyt(name: str, files: Files) -> Dataset:
    """Return a user's own copy of the New York Times corpus: NITF files in folders of any depth."""
    analyze, builder = WordCounter().analyzer(), CorpusBuilder()
    folder = files["nyt"]
    for path in sorted(folder.rglob("*.xml")):
        try:
            article = ElementTree.parse(path)  # noqa: S314  # expat bounds entity expansion itself
        except ElementTree.ParseError as error:
            raise ReadError(path, error.position[0], f"this is not XML ({error})") from error
        labels = [c.text.strip().upper() for c in article.iterfind(_DESCRIPTORS) if c.text]
        text = "\n".join(t for body in article.iterfind(_FULL_TEXT) for t in body.itertext())
        if text.strip():
            builder.add(Counter(analyze(text)), labels, str(path.relative_to(folder)))
    if not len(builder):
        raise DataUnavailableError(f"{folder} holds no article; put the NITF files (*.xml) there")
    corpus = builder.corpus()
    split = nyt_split(corpus)
    kept = np.sort(np.concatenate([split.train, split.test]))
    return _with_training_words(name, corpus[kept], np.isin(kept, split.test))


_DESCRIPTORS = ".//identified-content/classifier[@type='descriptor']"
_FULL_TEXT = ".//block[@class='full_text']"


def _with_training_words(name: str, corpus: Corpus, in_test: npt.NDArray[np.bool_]) -> Dataset:
    """Drop the words that are rare in the training part, as the paper does."""
    split = Split(np.flatnonzero(~in_test), np.flatnonzero(in_test))
    train = corpus[split.train]
    least = resolve_min_count("auto", train.n_tokens)
    return Dataset(name, corpus.align(train.keep_words(least)), (split,))
