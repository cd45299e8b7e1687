"""Which fields or columns of a file hold what; a saved model says it too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deplda.data import checks
from deplda.errors import InputError

MOST_WEIGHT = 1_000
"""How often the words of a field may count."""
TITLE = "title"
"""The field that is displayed as a document's title."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Which fields or columns of a file hold the id, the text and the labels.

    Names match whatever their case and blanks around them, but an exact name goes first.

    Parameters
    ----------
    id : str or None, default "id"
        The document's name; where a file has none, documents are numbered.
    text : str or sequence of str, default "text"
        Raw text. Of several fields, those that a document has are read one after the other, and
        words are counted in each by itself: no sequence of words goes from one to the next.
        JSONL and Parquet may hold `tokens` (a list of words) or `counts` instead.
    tokens, counts : str
        A list of words; an object of word → count.
    labels : str, sequence of str or None, default "labels"
        A list, or one string to be split at `separator`. Of several fields, such as `Subject 1` and
        `Subject 2`, a document has the labels of all. None: the documents are unlabelled.
    separator : str, optional
        What stands between two labels in one string. Without it the first thousand documents tell:
        a semicolon, a line break or a bar where there is one, or else a comma, unless it belongs
        to names.
    label_columns : sequence of str
        Instead of `labels`, a column for each label, which is its name: 1/0, true/false, yes/no, x
        or empty.
    where : sequence of Where
        Only documents of which all of these are true, such as ``Where("split", "train")``.
    weights : mapping of str to int, optional
        How many times the words of a text field count, such as ``{"title": 2}``; 1 where nothing is
        said. Without it `deplda train` chooses the weights of fields that are much shorter than
        others, as titles are.

    Examples
    --------
    >>> import deplda
    >>> fields = deplda.Fields(text=["title", "body"], labels="subjects", separator="|")
    >>> fields.text
    ['title', 'body']
    """

    id: str | None = "id"
    text: str | Sequence[str] = "text"
    tokens: str = "tokens"
    counts: str = "counts"
    labels: str | Sequence[str] | None = "labels"
    separator: str | None = None
    label_columns: Sequence[str] = ()
    where: Sequence[Where] = ()
    weights: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        if self.separator == "":
            raise InputError("separator is empty; give what stands between two labels, such as ';'")
        times = Counter(self.texts)
        if not times or max(times.values()) > 1:
            raise InputError(
                f"text is {self.text!r}; name one field at least and each once, with a weight "
                "(--field-weight FIELD=2) if its words are to count twice"
            )
        for name, weight in (self.weights or {}).items():
            if name not in times:
                raise InputError(
                    f"{name!r} has a weight, but is no text field; those are "
                    f"{', '.join(map(repr, times))} (--text-field)"
                )
            checks.whole(f"the weight of the field {name!r}", weight, most=MOST_WEIGHT)

    @property
    def texts(self) -> tuple[str, ...]:
        """The fields with raw text, in the order in which they are read."""
        return (self.text,) if isinstance(self.text, str) else tuple(self.text)

    @property
    def fields_to_weigh(self) -> tuple[str, ...]:
        """The text fields whose weights are not set: of several, all, or none."""
        return self.texts if self.weights is None and len(self.texts) > 1 else ()

    def weight_of(self, name: str) -> int:
        """How many times the words of a text field count."""
        return (self.weights or {}).get(name, 1)

    @property
    def names_to_write(self) -> FieldNames:
        """The names of the fields of a document that is written with its whole text in one field.

        The text goes to the field whose words count least often, the last of several; the others
        are empty. There is no title if the title is a text field: the whole text contains it.
        """
        text = min(reversed(self.texts), key=self.weight_of)
        has_title = TITLE not in map(str.casefold, self.texts)
        return FieldNames(
            id=self.id or "id",
            title=TITLE if has_title else None,
            text=text,
            empty=tuple(name for name in self.texts if name != text),
            labels=next(iter(self.label_fields), "labels"),
        )

    @property
    def label_fields(self) -> tuple[str, ...]:
        """The fields with lists or strings of labels; none if documents are unlabelled."""
        return (self.labels,) if isinstance(self.labels, str) else tuple(self.labels or ())


@dataclass(frozen=True, slots=True)
class FieldNames:
    """The names of the fields of a document that is written with its whole text in one field."""

    id: str
    title: str | None
    text: str
    empty: tuple[str, ...]
    labels: str


class Where(NamedTuple):
    """A condition on a field: only documents that meet it are read.

    Examples
    --------
    >>> import deplda
    >>> german = deplda.Where("language", "de")
    >>> deplda.Fields(where=[german]).where[0].value
    'de'
    """

    field: str
    value: str
    equal: bool = True

    def __str__(self) -> str:
        return f"{self.field}{'=' if self.equal else '!='}{self.value}"
