"""Corpus: what every model trains on and predicts for, as sparse counts and labels with names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from operator import eq
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse, vstack

from deplda.data import checks
from deplda.data.wording import counted
from deplda.errors import InputError

MAX_COUNT = int(np.iinfo(np.int32).max)

Rows = slice | Sequence[int] | npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]


class Tokens(NamedTuple):
    """All word tokens in one flat array; document d has ``words[starts[d]:starts[d + 1]]``."""

    words: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corpus:
    """Documents as word counts and label sets; immutable, in memory proportional to the non-zeros.

    Parameters
    ----------
    counts : (documents, words) sparse or dense
        How often each word occurs in each document, from 0 to 2,147,483,647. Fractions, such as
        weights, are stored in single precision; samplers round them.
    labels : (documents, labels) sparse or dense
        1 or True if a document has a label.
    vocabulary, label_names, ids : sequences of distinct strings, optional
        Names of the columns and rows; by default ``word0``, ``label0``, and the row's number.

    Documents without words or without labels, and words or labels without documents, are allowed.

    Examples
    --------
    >>> import deplda
    >>> counts, labels = [[2, 1, 0], [0, 1, 3]], [[1, 0], [1, 1]]
    >>> corpus = deplda.Corpus(counts, labels, ["goal", "judge", "law"], ["SPORT", "LAW"])
    >>> corpus
    Corpus(2 documents, 3 words, 2 labels, 7 tokens)
    >>> corpus.label_counts.tolist()
    [2, 1]
    """

    counts: csr_array[Any, tuple[int, int]]
    labels: csr_array[Any, tuple[int, int]]
    vocabulary: tuple[str, ...] | NumberedNames = ()
    label_names: tuple[str, ...] | NumberedNames = ()
    ids: tuple[str, ...] = ()

    def __init__(
        self,
        counts: Any,
        labels: Any,
        vocabulary: Iterable[str] | None = None,
        label_names: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
    ) -> None:
        counts = _checked_counts(csr_array(_numbers(counts, "counts"), copy=True))
        labels = indicator(
            _numbers(labels, "labels"),
            "labels hold the value {}; only 0 and 1 (False and True) are allowed",
        )
        if counts.shape[0] != labels.shape[0]:
            raise InputError(
                f"counts have {counts.shape[0]:,} rows but labels have {labels.shape[0]:,}; "
                "both need one row for each document"
            )
        n_documents, n_words = counts.shape
        self._set(
            counts,
            labels,
            _names(vocabulary, n_words, "word", "vocabulary"),
            _names(label_names, labels.shape[1], "label", "label_names"),
            tuple(_names(ids, n_documents, "", "ids")),
        )

    def _set(self, *values: Any) -> None:
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)
        for matrix in (self.counts, self.labels):
            _narrow_indices(matrix)
            for array in (matrix.data, matrix.indices, matrix.indptr):
                array.flags.writeable = False

    @classmethod
    def _trusted(cls, *values: Any) -> Corpus:
        """Make a corpus of parts that are known to be canonical, without checking them again."""
        corpus = object.__new__(cls)
        corpus._set(*values)
        return corpus

    def __reduce__(self) -> tuple[Any, ...]:
        """Stay read-only in another process: compiled kernels tell such arrays from others."""
        values = (self.counts, self.labels, self.vocabulary, self.label_names, self.ids)
        return Corpus._trusted, values

    # Sizes ------------------------------------------------------------------------------------

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of word types in the vocabulary, W."""
        return int(self.counts.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels, C, including those that no document carries."""
        return int(self.labels.shape[1])

    @property
    def n_tokens(self) -> int:
        """Number of word tokens; the nearest whole number, if counts are fractions."""
        return round(float(self.counts.data.sum(dtype=np.float64)))

    @property
    def document_lengths(self) -> npt.NDArray[np.int64]:
        """Word tokens of each document."""
        return _nearest(_row_sums(self.counts.data, self.counts.indptr))

    @property
    def labels_per_document(self) -> npt.NDArray[np.int64]:
        """Labels of each document."""
        return np.diff(self.labels.indptr).astype(np.int64)

    @property
    def word_counts(self) -> npt.NDArray[np.int64]:
        """Tokens of each word type."""
        return _nearest(self._word_sums())

    def _word_sums(self) -> npt.NDArray[np.float64]:
        sums = np.bincount(self.counts.indices, weights=self.counts.data, minlength=self.n_words)
        return sums.astype(np.float64)  # which holds every whole number below 2**53

    @property
    def label_counts(self) -> npt.NDArray[np.int64]:
        """Documents of each label."""
        return np.bincount(self.labels.indices, minlength=self.n_labels).astype(np.int64)

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return (
            f"Corpus({counted(self.n_documents, 'document')}, {counted(self.n_words, 'word')}, "
            f"{counted(self.n_labels, 'label')}, {counted(self.n_tokens, 'token')})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and self.label_names == other.label_names
            and self.ids == other.ids
            and _same(self.counts, other.counts)
            and _same(self.labels, other.labels)
        )

    __hash__ = None  # type: ignore[assignment]

    def fingerprint(self) -> str:
        """Return a short text that tells this corpus's counts and labels from any other's."""
        digest = blake2b(digest_size=16)
        for matrix in (self.counts, self.labels):
            digest.update(repr(matrix.shape).encode())
            for array in (matrix.indptr.astype(np.int64), matrix.indices, matrix.data):
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    # Views and selections -----------------------------------------------------------------------

    def tokens(self) -> Tokens:
        """Return all word tokens as one flat array, documents one after the other."""
        times = _nearest(self.counts.data)
        ends = np.concatenate([[0], np.cumsum(times)])
        words = np.repeat(self.counts.indices.astype(np.int32), times)
        return Tokens(words, ends[self.counts.indptr])

    def __getitem__(self, rows: Rows) -> Corpus:
        """Return the chosen documents, in the order given, with the same words and labels."""
        chosen = _row_numbers(rows, self.n_documents)
        if len(np.unique(chosen)) < len(chosen):
            raise InputError("a document is chosen twice; its id would no longer be unique")
        return Corpus._trusted(
            _take_rows(self.counts, chosen),
            _take_rows(self.labels, chosen),
            self.vocabulary,
            self.label_names,
            tuple([self.ids[row] for row in chosen.tolist()]),
        )

    def keep_words(self, min_count: int) -> Corpus:
        """Return the corpus without the words that have fewer than `min_count` tokens in it.

        Call it on the training part alone, then `align` the test part to it.
        """
        checks.at_least_one(min_count=min_count)
        return self.take_words(np.flatnonzero(self._word_sums() >= min_count))

    def keep_labels_met(self) -> Corpus:
        """Return the corpus without the labels that none of its documents has."""
        return self.align(labels=[self.label_names[c] for c in np.flatnonzero(self.label_counts)])

    def take_words(self, kept: npt.NDArray[np.integer[Any]]) -> Corpus:
        """Return the corpus with these words alone, given by their places."""
        places = np.full(self.n_words, -1, dtype=np.int64)
        places[kept] = np.arange(len(kept))
        vocabulary = tuple([self.vocabulary[word] for word in kept.tolist()])
        counts = map_columns(self.counts, places, len(kept))
        return Corpus._trusted(counts, self.labels, vocabulary, self.label_names, self.ids)

    def new_words(self, known: Iterable[str], min_count: int = 1) -> tuple[str, ...]:
        """Return the words that are not known and have `min_count` tokens here, in their order."""
        names, old = self.vocabulary, set(known)
        frequent = np.flatnonzero(self._word_sums() >= min_count).tolist()
        return tuple([names[word] for word in frequent if names[word] not in old])

    def align(
        self, words: Corpus | Iterable[str] | None = None, labels: Iterable[str] | None = None
    ) -> Corpus:
        """Return these documents over other words and labels, matched by name.

        `words` and `labels` are names, or None to keep them as they are; or `words` is a corpus
        that has both. Other words and labels are dropped: compare `n_tokens`, or `labels.nnz`,
        before and after to see how many.
        """
        if isinstance(words, Corpus):
            return self.align(words.vocabulary, words.label_names)
        vocabulary = self.vocabulary if words is None else fixed(words)
        label_names = self.label_names if labels is None else fixed(labels)
        return Corpus._trusted(
            renamed_columns(self.counts, self.vocabulary, vocabulary),
            renamed_columns(self.labels, self.label_names, label_names),
            vocabulary,
            label_names,
            self.ids,
        )


def repeated(corpus: Corpus, times: npt.NDArray[np.int64]) -> Corpus:
    """Return each document so many times, 0 or more; they are numbered anew."""
    rows = np.repeat(np.arange(len(corpus)), times)
    return Corpus._trusted(
        _take_rows(corpus.counts, rows),
        _take_rows(corpus.labels, rows),
        corpus.vocabulary,
        corpus.label_names,
        tuple(map(str, range(len(rows)))),
    )


def concat(corpora: Iterable[Corpus], *, prefixes: Sequence[str] | None = None) -> Corpus:
    """Return all documents in one corpus over the union of the words and labels.

    Names keep the order in which they first appear. Ids must stay distinct; where they clash,
    `prefixes` gives each corpus one, so that ``7`` becomes ``train-7``.

    Examples
    --------
    >>> import deplda
    >>> first = deplda.Corpus([[1, 1]], [[1]], ["goal", "team"], ["SPORT"], ["a"])
    >>> second = deplda.Corpus([[2]], [[1]], ["judge"], ["LAW"], ["b"])
    >>> deplda.concat([first, second])
    Corpus(2 documents, 3 words, 2 labels, 4 tokens)
    """
    parts = list(corpora)
    vocabulary = _union([part.vocabulary for part in parts])
    label_names = _union([part.label_names for part in parts])
    marks = [""] * len(parts) if prefixes is None else [f"{prefix}-" for prefix in prefixes]
    ids = [mark + name for mark, part in zip(marks, parts, strict=True) for name in part.ids]
    if (twice := first_duplicate(ids)) is not None:
        raise InputError(
            f"two documents have the id {twice!r}; "
            "pass prefixes=('train', 'test', ...), one for each corpus"
        )
    counts = [renamed_columns(part.counts, part.vocabulary, vocabulary) for part in parts]
    labels = [renamed_columns(part.labels, part.label_names, label_names) for part in parts]
    matrices = vstack(counts, format="csr"), vstack(labels, format="csr")
    return Corpus._trusted(*matrices, vocabulary, label_names, tuple(ids))


def _union(names: list[tuple[str, ...] | NumberedNames]) -> tuple[str, ...] | NumberedNames:
    """Return all names in the order in which they first appear."""
    widest = max(names, key=len)
    if all(NumberedNames.are_alike(widest, others) or others == widest for others in names):
        return widest
    return tuple(dict.fromkeys(chain.from_iterable(names)))


# Checking what comes in -------------------------------------------------------------------------


def _numbers(matrix: Any, what: str) -> Any:
    matrix = matrix if issparse(matrix) else np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{what} have {matrix.ndim} dimensions of type {matrix.dtype}; they must be numbers, "
            "documents × columns"
        )
    return matrix


def _checked_counts(counts: csr_array[Any, tuple[int, int]]) -> csr_array[Any, tuple[int, int]]:
    check_places(counts, "counts")
    counts.sum_duplicates()
    check_counts(counts)
    data = counts.data
    is_whole = data.dtype.kind != "f" or bool((data == np.floor(data)).all())
    counts = counts.astype(np.int32 if is_whole else np.float32, copy=False)
    counts.eliminate_zeros()
    return counts


def check_places(matrix: csr_array[Any, Any], what: str) -> None:
    """Raise if a sparse matrix has entries outside of its shape: kernels would go there."""
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        rows, columns = matrix.shape
        raise InputError(
            f"{what} are no sparse matrix of {rows:,} × {columns:,}: {error}; check its shape and "
            "indices"
        ) from error


def check_counts(counts: csr_array[Any, tuple[int, int]]) -> None:
    """Raise if a count is no number, below 0 or too large."""
    data = counts.data
    good = (data >= 0) & (data <= MAX_COUNT)  # which NaN is not
    if not good.all():
        at = int(np.flatnonzero(~good)[0])
        row = int(np.searchsorted(counts.indptr, at, side="right")) - 1
        raise InputError(
            f"the count of word {int(counts.indices[at])} in document {row} is {data[at]!s}; "
            f"counts must be numbers from 0 to {MAX_COUNT:,}. Clip them, or leave the word out"
        )


def indicator(matrix: Any, problem: str) -> csr_array[Any, tuple[int, int]]:
    """Return a matrix of zeros and ones as sparse booleans; another value is put in `problem`."""
    labels = csr_array(matrix, copy=True)  # the caller's arrays stay his: ours become read-only
    check_places(labels, "labels")
    others = labels.data[(labels.data != 0) & (labels.data != 1)]
    if len(others):
        raise InputError(problem.format(others[0]))
    labels = labels.astype(bool, copy=False)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    return labels


def grown(matrix: Any, shape: tuple[int, int]) -> Any:
    """Return a sparse matrix of rows with empty rows and columns added at its ends."""
    starts = np.append(matrix.indptr, np.full(shape[0] - matrix.shape[0], matrix.nnz))
    return csr_array((matrix.data, matrix.indices, starts), shape=shape)


def sparse_rows(columns: Any, values: Any, is_kept: Any, n_columns: int) -> Any:
    """Return a sparse matrix of values, rows × k, each in its column; only those that are kept."""
    ends = np.concatenate([[0], np.cumsum(is_kept.sum(axis=1))])
    kept = values[is_kept], columns[is_kept], ends
    found = csr_array(kept, shape=(len(is_kept), n_columns))
    found.sort_indices()
    return found


def without_columns(counts: Any, columns: range) -> Any:
    """Return the counts without some columns that follow each other."""
    if not columns:
        return counts
    before = counts.indices < columns.start
    is_kept = before | (counts.indices >= columns.stop)
    moved = np.where(before, counts.indices, counts.indices - len(columns))[is_kept]
    starts = np.concatenate([[0], np.cumsum(is_kept)])[counts.indptr]
    kept = counts.data[is_kept], moved, starts.astype(counts.indptr.dtype)
    return csr_array(kept, shape=(counts.shape[0], counts.shape[1] - len(columns)))


def canonical(matrix: Any) -> csr_array[Any, tuple[int, int]]:
    """Return a matrix with sorted, distinct indices: itself, or a copy where it has none."""
    found = csr_array(matrix)
    check_places(found, "counts")
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return found


def compact_rows(
    values: npt.NDArray[Any], columns: npt.NDArray[Any], starts: npt.NDArray[Any],
    shape: tuple[int, int],
) -> csr_array[Any, tuple[int, int]]:  # fmt: skip
    """Return a sparse matrix of these very arrays, with columns of 4 bytes where these suffice.

    SciPy would widen columns to the type of the starts, to one and a half times the memory, and
    whoever needs narrow ones would have to copy them.
    """
    narrow = np.int32 if max(int(starts[-1]), *shape) <= np.iinfo(np.int32).max else np.int64
    arrays = values, columns.astype(narrow, copy=False), starts.astype(narrow)
    return csr_array(arrays, shape=shape)


_NUMBERED = re.compile(r"word\d+")


class NumberedNames(Sequence[str]):
    """``word0``, ``word1`` and so on, of which none takes memory: a file may number millions."""

    def __init__(self, stem: str, n: int) -> None:
        self._stem, self._n = stem, n

    @staticmethod
    def are_alike(one: Sequence[str], other: Sequence[str]) -> bool:
        """Return whether one of them goes on where the other ends."""
        if isinstance(one, NumberedNames) and isinstance(other, NumberedNames):
            return one._stem == other._stem
        return False

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[str]:
        return (f"{self._stem}{number}" for number in range(self._n))

    def __getitem__(self, place: Any) -> Any:
        numbers = range(self._n)[place]
        if isinstance(numbers, range):
            return tuple([f"{self._stem}{number}" for number in numbers])
        return f"{self._stem}{numbers}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (self._stem, self._n) == (other._stem, other._n)
        if not isinstance(other, Sequence):
            return NotImplemented
        return self._n == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))  # as the names that it is equal to

    def __repr__(self) -> str:
        return repr(tuple(self))


def word_names(n: int) -> NumberedNames:
    """Return what words without names are called."""
    return NumberedNames("word", n)


def are_numbered(words: Iterable[str]) -> bool:
    """Return whether all of these are names of words without names."""
    return isinstance(words, NumberedNames) or all(_NUMBERED.fullmatch(word) for word in words)


def fixed(names: Iterable[str]) -> tuple[str, ...] | NumberedNames:
    """Return names that nobody can change."""
    return names if isinstance(names, NumberedNames) else tuple(names)


def _names(names: Iterable[str] | None, n: int, stem: str, what: str) -> Any:
    if names is None:
        return NumberedNames(stem, n)
    given = fixed(names)
    if len(given) != n:
        raise InputError(
            f"{what} has {len(given):,} names for {n:,} rows or columns; give one each"
        )
    if isinstance(given, NumberedNames):
        return given
    for name in given:
        if not isinstance(name, str):
            raise InputError(f"{what} holds {name!r}; every name must be a string")
    check_distinct(given, what)
    return given


def check_distinct(names: Sequence[str], what: str) -> None:
    """Raise if a name stands twice."""
    if (twice := first_duplicate(names)) is not None:
        raise InputError(f"{what} holds {twice!r} twice; names must be distinct")


def first_duplicate(names: Sequence[str]) -> str | None:
    """Return the first name that stands twice, or None."""
    if len(set(names)) == len(names):
        return None
    return next(name for name, times in Counter(names).items() if times > 1)


# Sparse arithmetic ------------------------------------------------------------------------------


def _same(left: csr_array[Any, Any], right: csr_array[Any, Any]) -> bool:
    return (
        left.shape == right.shape
        and np.array_equal(left.indptr, right.indptr)
        and np.array_equal(left.indices, right.indices)
        and np.array_equal(left.data, right.data)
    )


def _narrow_indices(matrix: csr_array[Any, Any]) -> None:
    """Use 32-bit indices wherever they suffice: half the memory, and what kernels expect."""
    if max(*matrix.shape, matrix.nnz) <= np.iinfo(np.int32).max:
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)


def _row_sums(
    data: npt.NDArray[Any], starts: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.float64]:
    ends = np.zeros(len(data) + 1)
    np.cumsum(data, out=ends[1:])
    return np.diff(ends[starts])


def _nearest(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.rint(values).astype(np.int64)


def _row_numbers(rows: Rows, n: int) -> npt.NDArray[np.int64]:
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    chosen = np.asarray(rows)
    if chosen.size == 0:
        return np.empty(0, dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise InputError("rows must be a slice, a list of row numbers or a boolean mask")
    return np.arange(n)[chosen]


def _take_rows(matrix: csr_array[Any, Any], rows: npt.NDArray[np.int64]) -> Any:
    taken = matrix[rows]
    taken.has_canonical_format = True
    return taken


def renamed_columns(matrix: csr_array[Any, Any], old: Sequence[str], new: Sequence[str]) -> Any:
    """Return a matrix with other columns, matched by name."""
    if old == new:
        return matrix
    if NumberedNames.are_alike(old, new):
        mapping = np.arange(len(old))
        mapping[len(new) :] = -1
    else:
        places = {name: place for place, name in enumerate(new)}
        mapping = np.array([places.get(name, -1) for name in old], dtype=np.int64)
    return map_columns(matrix, mapping, len(new))


def only_columns(matrix: Any, is_kept: npt.NDArray[np.bool_]) -> Any:
    """Return a sparse matrix without what stands in other columns, which stay, but empty."""
    n = matrix.shape[1]
    return map_columns(matrix, np.where(is_kept[:n], np.arange(n), -1), n)


def map_columns(matrix: csr_array[Any, Any], mapping: npt.NDArray[np.int64], n: int) -> Any:
    """Move column j to mapping[j], or drop it where that is −1."""
    columns = mapping[matrix.indices]
    kept = columns >= 0
    ends = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(kept, out=ends[1:])
    index_type = matrix.indices.dtype
    indices, starts = columns[kept].astype(index_type), ends[matrix.indptr].astype(index_type)
    moved = csr_array((matrix.data[kept], indices, starts), shape=(matrix.shape[0], n))
    moved.sort_indices()
    return moved
