"""The files in which the data sets are published → Dataset; one function a source."""

from __future__ import annotations

import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

import msgspec
import numpy as np

from deplda.data.corpus import Corpus, concat
from deplda.data.datasets.dataset import (
    Dataset,
    build_corpus,
    count_documents,
    keep_training_words,
)
from deplda.data.encodings import decode
from deplda.data.files import open_binary, read_lines
from deplda.data.readers import CorpusBuilder
from deplda.data.splits import Split, by_fold, random_split
from deplda.data.text import WordCounter
from deplda.errors import DataUnavailableError, DepldaError, ReadError
from paper.data.annif_files import full_texts, tsv_documents
from paper.data.mat import read_mat

Files = Mapping[str, Path]

_T = TypeVar("_T")


def yahoo(name: str, files: Files) -> Dataset:
    """Return one Yahoo! set: the five files hold the same documents, split five times."""
    corpus, splits, rows = None, [], {}
    for path in files.values():
        parts = read_mat(path)
        if corpus is None:
            corpus = concat(parts)
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
    classes, texts = files["eurlex_id2class.zip"], files["eurlex_tokenstring_CV10.zip"]
    labels = _qrels(classes, _zip_lines(classes, r"id2class_eurlex_eurovoc\.qrels$"))
    builder, folds = CorpusBuilder(), []
    for fold in range(1, 11):
        for document, tokens in _arff_rows(texts, rf"_CV{fold}-10_test\.arff$"):
            if tokens:  # the paper leaves empty documents out
                builder.add(Counter(tokens.split()), labels[document], document)
                folds.append(fold)
    return Dataset(name, build_corpus(builder, texts), tuple(by_fold(np.array(folds))))


def _arff_rows(archive: Path, pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the two columns, id and quoted token string, below ``@data``."""
    below = False
    for number, line in _zip_lines(archive, pattern):
        if below and line.strip() and not line.startswith("%"):
            document, comma, tokens = line.partition(",")
            if not comma:
                raise ReadError(
                    archive, number, f"expected: id, 'tokens'; found {line[:40]!r} in {pattern}"
                )
            yield document.strip("'\" "), tokens.strip().strip("'\"")
        below = below or line.strip().lower() == "@data"


def _zip_lines(archive: Path, pattern: str) -> Iterator[tuple[int, str]]:
    with _zip(archive) as contents:
        names = [name for name in contents.namelist() if re.search(pattern, name)]
        if not names:
            raise ReadError(archive, None, f"it holds no file that matches {pattern}")
        with contents.open(names[0]) as file:
            for number, line in enumerate(file, start=1):
                yield number, decode(archive, number, line.rstrip(b"\r\n"), "latin-1")


@contextmanager
def _zip(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as contents:
            yield contents
    except DepldaError:
        raise
    except Exception as error:
        # A damaged archive makes zipfile raise almost anything: zlib, struct, value errors.
        raise ReadError(
            archive, None, f"it is not a whole zip file ({error}); delete it and fetch it again"
        ) from error


def _qrels(path: Path, lines: Iterable[tuple[int, str]]) -> defaultdict[str, list[str]]:
    """Return each document's labels from lines of label, document, 1."""
    labels = defaultdict(list)
    for number, line in lines:
        fields = line.split()
        if len(fields) not in (0, 2, 3):
            raise ReadError(path, number, f"expected: label, document, 1; found {line[:40]!r}")
        if fields:
            labels[fields[1]].append(fields[0])
    return labels


def rcv1(name: str, files: Files) -> Dataset:
    """Return RCV1-v2 with the LYRL2004 split: stemmed tokens, topics in qrels."""
    qrels = files["rcv1-v2.topics.qrels.gz"]
    labels = _qrels(qrels, ((n, line.decode("ascii", "replace")) for n, line in read_lines(qrels)))
    builder, n_train = CorpusBuilder(), 0
    for file, path in files.items():
        if "tokens" in file:
            for document, tokens in _smart_documents(path):
                builder.add(Counter(tokens), labels[document], document)
                n_train += "train" in file
    rows = np.arange(len(builder))
    corpus = build_corpus(builder, qrels.parent)
    return Dataset(name, corpus, (Split(rows[:n_train], rows[n_train:]),))


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
    """Return EURLEX57K from its archive, one JSON file a document.

    Development documents train in the first split, and are left out of the second, which is that of
    the published figures.
    """
    names = _concept_names(files["eurovoc_en.json"])
    count, builder, parts = _count_words(), CorpusBuilder(), list[str]()
    for part, law in _laws(files["datasets.zip"]):
        pieces = (law.title, law.header, law.recitals, law.main_body, law.attachments)
        text = "\n".join(_flatten(piece) for piece in pieces)
        labels = [names.get(concept, concept) for concept in law.concepts]
        builder.add(count(text), labels, law.celex_id)
        parts.append(part)
    corpus, of = build_corpus(builder, files["datasets.zip"]), np.array(parts)
    found = keep_training_words(name, corpus, of == "test")
    without_dev = Split(np.flatnonzero(of == "train"), np.flatnonzero(of == "test"))
    return replace(found, splits=(*found.splits, without_dev))


def _count_words() -> Callable[..., Mapping[str, int]]:
    return WordCounter(language=None, token_pattern="words").analyzer().counts


_Text = str | list[str] | None


class _Law(msgspec.Struct):
    celex_id: str
    concepts: list[str]
    title: _Text = None
    header: _Text = None
    recitals: _Text = None
    main_body: _Text = None
    attachments: _Text = None


class _Concept(msgspec.Struct):
    label: str


def _concept_names(path: Path) -> dict[str, str]:
    """Return the EUROVOC names by code; a name of two concepts carries its code."""
    with open_binary(path) as file:
        concepts = _json(path, file.read(), dict[str, _Concept])
    times = Counter(concept.label for concept in concepts.values())
    return {
        code: concept.label if times[concept.label] == 1 else f"{concept.label} ({code})"
        for code, concept in concepts.items()
    }


def _laws(archive: Path) -> Iterator[tuple[str, _Law]]:
    with _zip(archive) as contents:
        for entry in sorted(contents.namelist()):
            match = re.search(r"^(?!__MACOSX/).*?\b(train|dev|test)/[^/.][^/]*\.json$", entry)
            if match:
                yield match[1], _json(archive / entry, contents.read(entry), _Law)


def _json(path: Path, content: bytes, type: type[_T]) -> _T:
    try:
        return msgspec.json.decode(content, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReadError(path, None, f"this is not the JSON expected here ({error})") from error


def _flatten(text: _Text) -> str:
    return "\n".join(text) if isinstance(text, list) else text or ""


def nyt_split(
    corpus: Corpus, *, min_labels: int = 3, train_share: float = 0.4, seed: int = 0
) -> Split:
    """Return the paper's split of the New York Times corpus (appendix A).

    Documents with fewer than `min_labels` labels are in neither part; of the others `train_share`
    train, and so does each test document that carries a label the training part never shows.
    """
    eligible = np.flatnonzero(corpus.labels_per_document >= min_labels)
    order = np.random.default_rng(seed).permutation(eligible)
    n_train = round(train_share * len(eligible))
    train, test = order[:n_train], order[n_train:]
    unseen = corpus[train].label_counts == 0
    moves = corpus.labels[test] @ unseen.astype(np.int64) > 0
    return Split(np.sort(np.concatenate([train, test[moves]])), np.sort(test[~moves]))


def nyt(name: str, files: Files) -> Dataset:
    """Return a user's own copy of the New York Times corpus: NITF files in folders of any depth."""
    count, builder = _count_words(), CorpusBuilder()
    folder = files["nyt"]
    for path in sorted(folder.rglob("*.xml")):
        try:
            article = ElementTree.parse(path)  # noqa: S314  # expat bounds entity expansion itself
        except ElementTree.ParseError as error:
            raise ReadError(path, error.position[0], f"this is not XML ({error})") from error
        except (OSError, LookupError, ValueError) as error:  # the last two: of its encoding
            raise ReadError(path, None, f"this cannot be read as XML ({error})") from error
        named = ((c.text or "").strip().upper() for c in article.iterfind(_DESCRIPTORS))
        labels = [label for label in named if label]
        text = "\n".join(t for body in article.iterfind(_FULL_TEXT) for t in body.itertext())
        if text.strip():
            builder.add(count(text), labels, path.relative_to(folder).as_posix())
    if not len(builder):
        raise DataUnavailableError(f"{folder} holds no article; put the NITF files (*.xml) there")
    corpus = builder.corpus()
    split = nyt_split(corpus)
    kept = np.sort(np.concatenate([split.train, split.test]))
    return keep_training_words(name, corpus[kept], np.isin(kept, split.test))


_DESCRIPTORS = ".//identified-content/classifier[@type='descriptor']"
_FULL_TEXT = ".//block[@class='full_text']"


def kirjastonhoitaja(name: str, files: Files) -> Dataset:
    """Return questions and answers in Finnish: those of 2017 test, those of before train."""
    (archive,) = files.values()
    folders, documents = zip(*full_texts(archive, ("train", "validate", "test")), strict=True)
    corpus = count_documents(documents, archive, "finnish")
    return keep_training_words(name, corpus, np.array(folders) == "test", documents)


def tib(name: str, files: Files) -> Dataset:
    """Return catalogue records in one language; 15 % of them, drawn at random (seed 0), test.

    A line has the same record in either language, so the draw is the same.
    """
    ((file, path),) = files.items()
    documents = list(tsv_documents(path))
    corpus = count_documents(documents, path, "german" if "-de." in file else "english")
    in_test = np.isin(np.arange(len(corpus)), random_split(corpus, 0.15, seed=0).test)
    return keep_training_words(name, corpus, in_test, documents)
