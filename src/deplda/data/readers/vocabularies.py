"""Files of vocabularies: Annif's TSV and CSV, two columns, and SKOS."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Literal, get_args
from xml.parsers.expat import ExpatError

from deplda.data import checks
from deplda.data.atomic import write_whole
from deplda.data.encodings import decode
from deplda.data.files import StrPath, open_binary, read_lines
from deplda.data.readers.zipped import LONGEST_PREFIX, Refused, XmlCheck
from deplda.data.sizes import max_record, max_whole, refuse_large
from deplda.data.vocabulary import ANY, Concept, Vocabulary
from deplda.errors import InputError, ReadError, needs_extra

VocabularyFormat = Literal["tsv", "csv", "turtle", "rdf"]

_SUFFIXES: dict[str, VocabularyFormat] = {
    ".tsv": "tsv", ".txt": "tsv", ".csv": "csv", ".ttl": "turtle", ".rdf": "rdf", ".xml": "rdf",
}  # fmt: skip
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_DEPRECATED = "http://www.w3.org/2002/07/owl#deprecated"
_REPLACED_BY = "http://purl.org/dc/terms/isReplacedBy"
_NO_BASE = "urn:deplda:base"
"""What addresses of a SKOS file are relative to where it does not say; such are an error."""
_DECLARATION = re.compile(rb"\b(?:base|prefix)\b", re.IGNORECASE)
_SHORT_STATEMENT = 4 << 10  # bytes
_MOST_PREFIXES = 1_000


def read_vocabulary(
    path: StrPath, format: VocabularyFormat | None = None, *, language: str | None = None
) -> Vocabulary:
    """Return the concepts of a file, plain or gzip.

    Parameters
    ----------
    path : path
        TSV without a header, ``<uri>⇥name[⇥notation]``; CSV with one, ``uri,label_xx,…,notation``;
        or SKOS as Turtle or RDF/XML (the extra ``[skos]``).
    format : {"tsv", "csv", "turtle", "rdf"}, optional
        By default by the end of the name: .tsv or .txt, .csv, .ttl, .rdf or .xml.
    language : str, optional
        Of the names of a TSV, which does not say it.

    Examples
    --------
    >>> import deplda
    >>> deplda.write_vocabulary(deplda.datasets.newsroom(1).thesaurus, "concepts.csv")
    >>> vocabulary = deplda.read_vocabulary("concepts.csv")
    >>> vocabulary["https://newsroom.example/thesaurus/1060"].name("de")
    'Politik und Regierung'
    """
    format = format or _format_of(path)
    readers: dict[str, Callable[[], Iterable[Concept]]] = {
        "tsv": lambda: _tsv(path, ANY if language is None else language),
        "csv": lambda: _csv(path),
        "turtle": lambda: _skos(path, "TURTLE"),
        "rdf": lambda: _skos(path, "RDF_XML"),
    }
    checks.choice("format", format, get_args(VocabularyFormat))
    concepts = tuple(readers[format]())
    if not concepts:
        raise ReadError(path, None, "there is no concept in it")
    try:
        return Vocabulary(concepts)
    except InputError as error:
        raise ReadError(path, None, str(error)) from error


def write_vocabulary(vocabulary: Vocabulary, path: StrPath, language: str | None = None) -> None:
    """Write a vocabulary: .csv with names in all languages, .tsv with one's, .ttl with all of it.

    Annif reads .csv and .tsv. They lack deprecated concepts, since Annif 1.4 does not load a CSV
    that has them, without names. SKOS (.ttl) has them.

    Examples
    --------
    >>> import deplda
    >>> deplda.write_vocabulary(deplda.datasets.newsroom(1).thesaurus, "concepts.tsv", "en")
    >>> len(deplda.read_vocabulary("concepts.tsv", language="en"))
    810
    """
    format = _format_of(path)
    if format == "rdf":
        raise InputError(f"{path} cannot be written; its name must end in .tsv, .csv or .ttl")
    if format == "csv" and [*vocabulary.languages] == [ANY] and language is None:
        raise InputError(
            "the language of the names is not known, and a CSV has to say it; give it "
            "(--label-language), or write a .tsv"
        )
    writers: dict[str, Callable[[], Iterator[str]]] = {
        "tsv": lambda: _as_tsv(vocabulary, language),
        "csv": lambda: _as_csv(vocabulary, language),
        "turtle": lambda: _as_turtle(vocabulary),
    }
    lines = writers[format]()
    with write_whole(Path(path)) as file:
        for line in lines:
            file.write(line.encode())


def _format_of(path: StrPath) -> VocabularyFormat:
    name = Path(path).name.lower().removesuffix(".gz")
    format = _SUFFIXES.get(Path(name).suffix)
    if format is None:
        raise ReadError(
            path,
            None,
            "cannot tell the format of this vocabulary; its name must end in "
            f"{', '.join(_SUFFIXES)} (or with .gz after it)",
        )
    return format


def _bare(uri: str) -> str:
    uri = uri.strip()
    return uri[1:-1].strip() if uri.startswith("<") and uri.endswith(">") else uri


def _tsv(path: StrPath, language: str) -> Iterator[Concept]:
    for number, line in read_lines(path):
        if not line.strip():
            continue
        uri, *rest = decode(path, number, line, "utf-8").split("\t")
        if not rest or not _bare(uri) or len(rest) > 2:
            raise ReadError(
                path,
                number,
                "expected an address, a name, perhaps a notation, with tabs between",
            )
        name, notation = rest[0].strip(), rest[1].strip() if len(rest) > 1 else ""
        yield Concept(
            uri=_bare(uri), names={language: name} if name else {}, notation=notation or None
        )


def _csv(path: StrPath) -> Iterator[Concept]:
    lines = (decode(path, number, line, "utf-8") + "\n" for number, line in read_lines(path))
    rows = csv.reader(lines, strict=True)
    try:
        header = next(rows, [])
        names = {
            place: column.removeprefix("label_") for place, column in enumerate(header)
            if column.startswith("label_")
        }  # fmt: skip
        if "uri" not in header or not names:
            raise ReadError(
                path, 1, f"expected columns uri and label_xx (found: {', '.join(header) or 'none'})"
            )
        own = header.index("uri")
        notation = header.index("notation") if "notation" in header else None
        for row in rows:
            if not row:
                continue
            if len(row) != len(header) or not _bare(row[own]):
                raise ReadError(
                    path, rows.line_num, f"expected {len(header)} values, the address among them"
                )
            told = {code: row[place].strip() for place, code in names.items() if row[place].strip()}
            yield Concept(
                uri=_bare(row[own]), names=told, deprecated=not told,
                notation=None if notation is None else row[notation].strip() or None,
            )  # fmt: skip
    except csv.Error as error:
        raise ReadError(path, rows.line_num, f"this is not CSV ({error})") from error


class _Parts:
    """What a SKOS file says of one concept, in the order in which it says it."""

    def __init__(self) -> None:
        self.is_concept = self.deprecated = False
        self.names: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.synonyms: dict[str, list[str]] = {}
        self.notes: dict[str, str] = {}
        self.notation: str | None = None
        self.broader: list[str] = []
        self.related: list[str] = []
        self.replaced_by: str | None = None

    def concept(self, uri: str) -> Concept:
        return Concept(
            uri=uri, names=self.names or self.labels,
            synonyms={code: tuple(sorted(several)) for code, several in self.synonyms.items()},
            notation=self.notation, broader=tuple(sorted(set(self.broader))),
            related=tuple(sorted(set(self.related))), notes=self.notes,
            deprecated=self.deprecated, replaced_by=self.replaced_by,
        )  # fmt: skip


def _skos(path: StrPath, format: str) -> Iterator[Concept]:
    found: dict[str, _Parts] = {}
    for subject, predicate, value in _triples(path, format):
        parts = found.get(subject)
        if parts is None:
            parts = found[subject] = _Parts()
        _add(parts, predicate, value)
    for uri, parts in found.items():
        # Of a deprecated concept some thesauri no longer say that it is one.
        is_one = parts.is_concept or (parts.deprecated and bool(parts.names or parts.labels))
        if is_one and not uri.startswith(_NO_BASE):
            yield parts.concept(uri)


def _triples(path: StrPath, format: str) -> Iterator[tuple[str, str, Any]]:
    with needs_extra("reading SKOS", "pyoxigraph", "skos"):
        import pyoxigraph
    kind = getattr(pyoxigraph.RdfFormat, format)
    with open_binary(path) as file:
        checked: Any = _CheckedRdf(path, file, is_xml=format == "RDF_XML")
        try:
            triples = pyoxigraph.parse(checked, format=kind, base_iri=_NO_BASE)
            for triple in triples:
                checked.begin_statement(triples)
                if isinstance(triple.subject, pyoxigraph.NamedNode):
                    yield triple.subject.value, triple.predicate.value, triple.object
        except Refused as error:
            remedy = ", or save the vocabulary as Turtle (.ttl)" if format == "RDF_XML" else ""
            problem = f"{error}; remove it{remedy}"
            raise ReadError(path, None, problem) from error
        except ReadError:
            raise
        except (SyntaxError, ValueError, ExpatError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            raise ReadError(path, line, f"this is not {format} ({error})") from error


class _CheckedRdf:
    """A file whose statements are bounded; its XML is checked before another parser sees it."""

    def __init__(self, path: StrPath, file: IO[bytes], *, is_xml: bool) -> None:
        self._path, self._file, self._limit = path, file, max_record()
        # RDF/XML is read as UTF-8 whatever it declares, so it is checked as UTF-8 too.
        self._xml = XmlCheck("the XML", "utf-8") if is_xml else None
        self._n_read = self._n_expanded = 0  # bytes since the last statement, and in the file

    def read(self, size: int) -> bytes:
        block = self._file.read(size)
        self._n_read += len(block)
        if self._n_read > self._limit:
            refuse_large(self._path, None, "a statement")
        if self._xml is not None:
            self._xml.feed(block)
        elif self._n_read > _SHORT_STATEMENT:
            # Each base extends the previous one, and each prefix the base.
            self._n_expanded += len(_DECLARATION.findall(block)) * self._n_read
            if self._n_expanded > max_whole():
                raise Refused("it has too many prefixes and bases before its statements")
        return block

    def begin_statement(self, parser: Any) -> None:
        """Check the prefix and base of Turtle, which every short address could expand to."""
        if self._xml is None:
            prefixes = parser.prefixes if self._n_read > _SHORT_STATEMENT else {}
            if len(prefixes) > _MOST_PREFIXES:
                raise Refused(f"it has more than {_MOST_PREFIXES:,} prefixes")
            if max(map(len, [parser.base_iri or "", *prefixes.values()])) > LONGEST_PREFIX:
                raise Refused(f"it has a prefix or base of more than {LONGEST_PREFIX:,} characters")
        self._n_read = 0


def _add(parts: _Parts, predicate: str, value: Any) -> None:
    """Take up one statement; `value` is a node or a literal of pyoxigraph."""
    text: str = getattr(value, "value", "")
    language: str = (getattr(value, "language", None) or ANY).lower()
    if predicate == _RDF_TYPE and text == f"{_SKOS}Concept":
        parts.is_concept = True
    elif predicate == f"{_SKOS}prefLabel":
        parts.names.setdefault(language, text)
    elif predicate == _RDFS_LABEL:
        parts.labels.setdefault(language, text)
    elif predicate == f"{_SKOS}altLabel":
        parts.synonyms.setdefault(language, []).append(text)
    elif predicate == f"{_SKOS}scopeNote":
        parts.notes.setdefault(language, text)
    elif predicate == f"{_SKOS}notation":
        parts.notation = parts.notation or text
    elif predicate == f"{_SKOS}broader":
        parts.broader.append(text)
    elif predicate == f"{_SKOS}related":
        parts.related.append(text)
    elif predicate == _DEPRECATED:
        parts.deprecated = text in ("true", "1")
    elif predicate == _REPLACED_BY:
        parts.replaced_by = parts.replaced_by or text


def _as_tsv(vocabulary: Vocabulary, language: str | None) -> Iterator[str]:
    for concept in vocabulary:
        if not concept.deprecated:
            notation = f"\t{_plain(concept.notation)}" if concept.notation else ""
            yield f"<{concept.uri}>\t{_plain(concept.name(language))}{notation}\n"


def _as_csv(vocabulary: Vocabulary, language: str | None) -> Iterator[str]:
    codes = [code for code in vocabulary.languages if code != ANY]
    columns = codes or [language or "en"]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")

    def line(values: list[str]) -> str:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow(values)
        return buffer.getvalue()

    yield line(["uri", *(f"label_{code}" for code in columns), "notation"])
    for concept in vocabulary:
        if not concept.deprecated:
            names = [concept.names.get(code, concept.names.get(ANY, "")) for code in columns]
            # A row without any name would be a deprecated concept.
            told = names if any(names) else [concept.name()] * len(columns)
            yield line([concept.uri, *told, concept.notation or ""])


def _as_turtle(vocabulary: Vocabulary) -> Iterator[str]:
    yield f"@prefix skos: <{_SKOS}> .\n"
    for concept in vocabulary:
        statements = ["a skos:Concept"]
        for code, name in concept.names.items():
            statements.append(f"skos:prefLabel {_literal(name, code)}")
        for code, names in concept.synonyms.items():
            statements += [f"skos:altLabel {_literal(name, code)}" for name in names]
        for code, note in concept.notes.items():
            statements.append(f"skos:scopeNote {_literal(note, code)}")
        if concept.notation is not None:
            statements.append(f"skos:notation {_literal(concept.notation)}")
        statements += [f"skos:broader <{uri}>" for uri in concept.broader]
        statements += [f"skos:related <{uri}>" for uri in concept.related]
        if concept.deprecated:
            statements.append(f"<{_DEPRECATED}> true")
        if concept.replaced_by is not None:
            statements.append(f"<{_REPLACED_BY}> <{concept.replaced_by}>")
        yield "".join(["\n<", concept.uri, "> ", " ;\n    ".join(statements), " .\n"])


def _literal(text: str, language: str = ANY) -> str:
    """Return a quoted text; Turtle escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False) + (f"@{language}" if language else "")


def _plain(text: str) -> str:
    """Return a text on one line, without tabs."""
    return " ".join(text.split())
