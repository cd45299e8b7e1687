"""What the formats with names have in common: a stream of records, and the corpus built of them."""

from __future__ import annotations

import re
from bisect import bisect, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from deplda.data.corpus import MAX_COUNT, Corpus, renamed_columns
from deplda.data.fields import TITLE, Fields, Where
from deplda.data.files import StrPath
from deplda.data.readers.separators import USUAL
from deplda.data.rows import SparseRows
from deplda.data.text_rows import Passages, TextRows, WeightedText
from deplda.data.wording import did_you_mean
from deplda.errors import InputError, ReadError, place_of

MAX_COLUMNS = 10_000_000
"""Words, or labels, that a file without names for each of them may have."""

Counts = Mapping[str, int] | Passages
"""The words of a document, or its texts, to be counted together with those of others."""
CountWords = Callable[[Iterable[WeightedText]], Counts | None]


Row = Mapping[str, Any]
Rows = Iterator[tuple[int, Row]]
"""Line or row numbers, and named values as they stand in the file."""


class Record(NamedTuple):
    """One document as it stands in a file."""

    line: int
    id: str | None
    counts: Counts
    labels: Iterable[str]
    is_empty: bool = False
    """Whether nothing stands in it: no text but white space, and no words."""
    texts: Mapping[str, str] = MappingProxyType({})
    """The texts by field; none if the document consists of counts or tokens."""
    title: str = ""


class CorpusBuilder:
    """Grows a corpus document by document; names given at the start are the only ones kept."""

    def __init__(
        self, vocabulary: Iterable[str] | None = None, label_names: Iterable[str] | None = None
    ) -> None:
        self._words = SparseRows(vocabulary, "vocabulary")
        self._labels = SparseRows(label_names, "label_names")
        self._ids: list[str] = []
        self._texts: TextRows | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, counts: Counts, labels: Iterable[str], id: str | None = None) -> None:
        """Append one document; `id` defaults to its number."""
        texts = counts if isinstance(counts, Passages) else None
        if texts is not None and self._texts is None:
            self._texts = texts.rows
            for _ in self._ids:
                self._texts.add(None)
        if self._texts is not None:
            self._texts.add(texts)
        self._words.add({} if isinstance(counts, Passages) else counts)
        self._labels.add(dict.fromkeys(labels, 1))
        self._ids.append(str(len(self._ids)) if id is None else id)

    def corpus(self, fewest: Callable[[int], int] = lambda _: 1) -> Corpus:
        """Return what was added; learned names are sorted, so they do not depend on the order.

        New sequences of words need `fewest(n)` tokens, where texts have n words.
        """
        words, vocabulary = self._words.matrix()
        if self._texts is not None:
            before, (counts, names) = vocabulary, self._texts.matrix(fewest)
            if not self._words.fixed:
                vocabulary = tuple(sorted({*vocabulary, *names})) if vocabulary else names
            counts = renamed_columns(counts, names, vocabulary)
            words = counts + renamed_columns(words, before, vocabulary) if words.nnz else counts
        labels, label_names = self._labels.matrix()
        return Corpus(words, labels, vocabulary, label_names, self._ids)


def whole_count(word: str, count: object) -> int:
    """Return the count, or say why it is not one."""
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MAX_COUNT:
        raise InputError(
            f"the count of {word!r} is {count!r}; "
            f"counts must be whole numbers from 0 to {MAX_COUNT:,}"
        )
    return count


OnBad = Callable[[int, str | None, str], None]
"""Is told of a line that holds no document: its number, the id if it is known, the problem."""
OnEmpty = Callable[[str], None]
"""Is told the id of a document in which nothing stands."""


class BadLines:
    """What becomes of lines that hold no document: `on_bad` is told, or else the error goes on.

    A line with an empty document is not bad; `on_empty` is told.
    """

    def __init__(
        self, path: StrPath, on_bad: OnBad | None = None, on_empty: OnEmpty | None = None
    ) -> None:
        self.path, self.on_bad, self.on_empty = path, on_bad, on_empty
        self.lines: list[int] = []
        """The numbers of bad lines that were reported, in ascending order."""

    def quiet(self) -> BadLines:
        """Return the same for a first pass over the file, in which nobody is told."""
        return BadLines(self.path, None if self.on_bad is None else lambda *_: None)

    @contextmanager
    def at(self, line: int | None, id: object = None) -> Iterator[None]:
        """Say which line it was when a value turns out to be bad."""
        try:
            yield
        except InputError as error:
            problem = error.problem if isinstance(error, ReadError) else str(error)
            if self.on_bad is not None and line is not None:
                insort(self.lines, line)
                self.on_bad(line, None if id is None else str(id), problem)
            elif isinstance(error, ReadError):
                raise
            else:
                raise ReadError(self.path, line, problem) from error


def located(path: StrPath, line: int | None = None) -> AbstractContextManager[None]:
    """Say where it was when a value turns out to be bad."""
    return BadLines(path).at(line)


def without_documents(path: StrPath) -> ReadError:
    """Return the error of a file that holds none."""
    return ReadError(path, None, "there is no document in it")


def corpora_of(
    records: Iterable[Record],
    bad: BadLines,
    vocabulary: Sequence[str] | None,
    label_names: Sequence[str] | None,
    size: int | None,
    fewest: Callable[[int], int] = lambda _: 1,
) -> Iterator[Corpus]:
    """Yield the records as corpora of `size`, or all of them as one."""
    builder, is_empty = CorpusBuilder(vocabulary, label_names), True
    for record in with_ids(records, bad):
        with located(bad.path, record.line):
            builder.add(record.counts, record.labels, record.id)
        if len(builder) == size:
            with located(bad.path):
                yield builder.corpus(fewest)
            builder, is_empty = CorpusBuilder(vocabulary, label_names), False
    if len(builder):
        with located(bad.path):
            yield builder.corpus(fewest)
    elif is_empty and not bad.lines:
        raise without_documents(bad.path)


def with_ids(records: Iterable[Record], bad: BadLines) -> Iterator[Record]:
    """Yield the records, those without an id named by their number; no two may have the same."""
    lines: dict[str, int] = {}
    for record in records:
        # Lines are read ahead of documents: a bad line counts for the documents below it alone.
        number = len(lines) + bisect(bad.lines, record.line)
        id = str(number) if record.id is None else record.id
        with bad.at(record.line, record.id):
            if id in lines:
                raise InputError(
                    f"the id {id!r} stands on {place_of(lines[id])} already; ids must be distinct: "
                    "rename one, or number the documents with Fields(id=None) (--id-field '')"
                )
            lines[id] = record.line
            if record.is_empty and bad.on_empty is not None:
                bad.on_empty(id)
            yield record._replace(id=id)


def chosen(path: StrPath, rows: Rows, where: Sequence[Where]) -> Rows:
    """Yield the rows of which all conditions are true; if there are none, say what was found."""
    kept, seen = False, {condition.field: dict[str, None]() for condition in where}
    missing, names = list(seen), dict[str, None]()
    for number, row in rows:
        if missing:
            names |= dict.fromkeys(row)
            missing = [field for field in missing if field not in row]
        values = {field: _shown(row.get(field)) for field in seen}
        for field, value in values.items():
            if len(seen[field]) < 10:
                seen[field][value] = None
        if all((values[c.field] == c.value) == c.equal for c in where):
            kept = True
            yield number, row
    if missing and names:
        raise ReadError(path, None, no_such_field(missing[0], names))
    if where and not kept and any(seen.values()):
        found = "; ".join(f"{field} is one of {', '.join(names)}" for field, names in seen.items())
        wanted = ", ".join(map(str, where))
        raise ReadError(path, None, f"no document has {wanted} (found: {found})")


def no_such_field(field: str, names: Iterable[str]) -> str:
    """Return that no document has a field that is asked for, and which fields there are."""
    names = list(names)
    return (
        f"no document has the field {field!r}{did_you_mean(field, names)} (found: {found(names)}); "
        "name one of these"
    )


def no_text_field(missing: Sequence[str], names: Iterable[str]) -> str:
    """Return that no document has a text field that is requested, and which fields there are."""
    names = list(names)
    return (
        f"no document has the text field {', '.join(map(repr, missing))}"
        f"{did_you_mean(missing[0], names)} (found: {found(names)}); name those that it has with "
        "Fields(text=...) (--text-field)"
    )


def _shown(value: object) -> str:
    """Return a value as it is written in a condition: as JSON has it, a text without quotes."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def id_in(row: Row, fields: Fields) -> Any:
    """Return the id that stands in a row, or None."""
    return None if fields.id is None else row.get(fields.id)


def plain_row(row: Row, fields: Fields) -> dict[str, Any]:
    """Return the row with the names that are read by default, its content as it stands.

    Several texts are one, with a line break between them; no weight is in it.
    """
    id = id_in(row, fields)
    named = {"tokens": fields.tokens, "counts": fields.counts}
    texts = list(_texts(row, fields).values())
    content: dict[str, Any] = {"text": "\n".join(texts)} if texts else {}
    content |= {name: row[field] for name, field in named.items() if row.get(field) is not None}
    if not content:
        _check_content(row, fields)
        content = {"text": ""}
    return ({} if id is None else {"id": str(id)}) | content | {"labels": _labels(row, fields)}


def record_of(row: Row, line: int, fields: Fields, count: CountWords) -> Record:
    """Return the record in a row of named values, as JSONL and Parquet have them."""
    id = id_in(row, fields)
    if id is not None and (isinstance(id, bool) or not isinstance(id, str | int)):
        raise InputError(f"{fields.id!r} is {_brief(id)}; an id must be a string or a whole number")
    name = None if id is None else str(id)
    counts = counts_in(row, fields, count)
    texts, title = _texts(row, fields), row.get(TITLE)
    is_empty = not counts and not any(map(str.strip, texts.values()))
    title = title if isinstance(title, str) else ""
    return Record(line, name, counts, _labels(row, fields), is_empty, texts, title)


def counts_in(row: Row, fields: Fields, count: CountWords) -> Counts:
    """Return the counts of a row's words: those given, or of its list of words, or of its texts.

    There are none where all of these are null.
    """
    if (counts := row.get(fields.counts)) is not None:
        return _count_object(counts, fields.counts)
    if (tokens := row.get(fields.tokens)) is not None:
        return Counter(_string_list(tokens, fields.tokens))
    texts = _texts(row, fields)
    if not texts:
        _check_content(row, fields)
    return count([(text, fields.weight_of(name)) for name, text in texts.items()]) or {}


def _texts(row: Row, fields: Fields) -> dict[str, str]:
    """Return the texts of the fields that a row has; one that is null is no text."""
    found_texts = {name: text for name in fields.texts if (text := row.get(name)) is not None}
    for name, text in found_texts.items():
        if not isinstance(text, str):
            raise InputError(f"{name!r} is {_brief(text)}; it must be a string")
    return found_texts


def labelled_texts(
    rows: Iterable[Row], fields: Fields
) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Yield the texts and the labels of the rows that can be read."""
    for row in rows:
        with suppress(InputError):  # reading the row will raise it
            yield _texts(row, fields), list(dict.fromkeys(_labels(row, fields)))


def _check_content(row: Row, fields: Fields) -> None:
    """Raise if a row has none of the fields for its content; one that is null is there."""
    if any(name in row for name in (*fields.texts, fields.tokens, fields.counts)):
        return
    texts, meant = ", ".join(map(repr, fields.texts)), did_you_mean(fields.texts[0], row)
    raise InputError(
        f"it has none of {texts}, {fields.tokens!r} and {fields.counts!r}{meant} "
        f"(found: {found(row)}); name the right one with Fields(text=...) (--text-field)"
    )


def _count_object(counts: object, name: str) -> Mapping[str, int]:
    if isinstance(counts, Mapping):
        pairs: Iterable[tuple[Any, Any]] = counts.items()
    elif isinstance(counts, list) and all(isinstance(c, tuple) and len(c) == 2 for c in counts):
        pairs = counts  # how Parquet gives a map
    else:
        raise InputError(f"{name!r} is {_brief(counts)}; it must be an object of word → count")
    total: Counter[str] = Counter()
    for word, count in pairs:
        if not isinstance(word, str):
            raise InputError(f"{name!r} has the key {_brief(word)}; words must be strings")
        if count is None:  # a Parquet struct has a field for every word of the file
            continue
        if isinstance(count, float) and count.is_integer() and count <= MAX_COUNT:
            count = int(count)
        total[word] = whole_count(word, total[word] + whole_count(word, count))
    return total


def _labels(row: Row, fields: Fields) -> list[str]:
    if fields.label_columns:
        return [column for column in fields.label_columns if _says_yes(row, column)]
    return list(
        dict.fromkeys(
            label for name in fields.label_fields for label in _labels_in(row, name, fields)
        )
    )


def _labels_in(row: Row, name: str, fields: Fields) -> list[str]:
    if (labels := row.get(name)) is None:
        return []
    if isinstance(labels, str):
        parts = labels.split(fields.separator or USUAL)
        return [label for part in parts if (label := part.strip())]
    return _string_list(labels, name)


def _says_yes(row: Row, column: str) -> bool:
    value = str("" if row.get(column) is None else row[column]).strip().lower()
    plain = re.sub(r"[.,]0+$", "", value)  # 1,0 where numbers have a decimal comma
    if plain not in _YES and plain not in _NO:
        raise InputError(
            f"the label column {column!r} holds {value!r}; use 1 or 0, true or false, yes or no"
        )
    return plain in _YES


# As spreadsheets write them in a few languages.
_YES = {"1", "true", "yes", "x", "wahr", "ja", "vrai", "oui", "verdadero", "sí", "vero"}
_NO = {"0", "false", "no", "", "falsch", "nein", "faux", "non", "falso"}


def _string_list(values: object, name: str) -> list[str]:
    if not isinstance(values, list | tuple) or not all(map(_is_name, values)):
        raise InputError(f"{name!r} is {_brief(values)}; it must be a list of non-empty strings")
    return [str(value) for value in values]


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def found(row: Iterable[str]) -> str:
    """Return the first few names that a row really has, for a message."""
    names = [repr(str(name)) for name in row]
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "") if names else "nothing"


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
