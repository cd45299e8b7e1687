"""What clients get back, from which the API's description is made."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from deplda.data.fields import FieldNames
from deplda.models.quality import FrequencyBand
from deplda.models.reasons import Example


class Error(Struct):
    """Why a request was not answered as asked."""

    error: str


class Suggestion(Struct, omit_defaults=True):
    """A suggested label."""

    label: str
    probability: float | None = None
    """How likely it is."""
    uri: str | None = None
    """The address of its concept, and its notation, where the model has a vocabulary."""
    notation: str | None = None
    by_name: bool = False
    """Whether no training document has it: it is known by its name alone."""
    score: float | None = None
    """Of a model without probabilities: to be compared with others of the document alone."""


class Suggested(Struct):
    """The suggestions for one document, the likeliest first."""

    labels: list[Suggestion]
    n_tokens: int
    """Tokens of words that the model knows."""
    n_unknown: int
    out_of_vocabulary: bool
    """Whether it has no word that the model knows: it gets no labels."""
    n_given: int
    """How many labels, the likeliest first, the model itself would give, by its cut-off."""
    empty: bool = False
    """Whether the document has nothing in it: it gets no labels."""


class SuggestAnswer(Struct):
    """The suggestions for all documents, in their order."""

    documents: list[Suggested]


class SuggestedLine(Suggested, kw_only=True):
    """The suggestions for a document that came as a line."""

    line: int
    """Its number, from 1."""
    id: str | None = None
    """As it was sent."""


class LineError(Error):
    """Why a line was not answered; those after it are."""

    line: int
    id: str | None = None


class LabelEntry(Struct):
    """A label and how many training documents have it."""

    label: str
    documents: int


class NamedLabel(LabelEntry):
    """A label and, in a model with a vocabulary, the address and the notation of its concept."""

    uri: str | None = None
    notation: str | None = None
    quality: float | None = None
    """How well it is found: average precision, 0 to 1, on training documents held out."""
    n_held_out: int | None = None
    """How many of these have it; None if none were held out."""
    matched: str | None = None
    """The synonym or notation that was searched for, where its name was not."""


class LabelsAnswer(Struct):
    """One page of the labels found."""

    total: int
    page: int
    size: int
    labels: list[NamedLabel]


class WordProbability(Struct):
    """A word and its probability under the label."""

    word: str
    probability: float


class SharedDocuments(LabelEntry):
    """A label that stands beside another in training documents, in which share of them."""

    share: float


class TopicLabel(Struct):
    """A label of a topic and its probability there."""

    label: str
    probability: float


class Topic(Struct):
    """Labels that go together; the share is of all training labels, or of one label's."""

    set: int
    topic: int
    share: float
    labels: list[TopicLabel]


class Concept(Struct):
    """What the thesaurus has of a label; other concepts by name."""

    uri: str
    notation: str | None
    synonyms: list[str]
    note: str | None
    broader: list[str]
    narrower: list[str]
    related: list[str]
    labels: list[str]
    """Which of these are labels of the model, too."""


class LabelAnswer(Struct):
    """What is known of one label; words and topics only where the model has them.

    Labels next to it: by the model `companions` and `topics`, by the thesaurus those of `concept`.
    """

    label: str
    documents: int
    share: float
    words: list[WordProbability]
    """The likeliest."""
    distinctive: list[WordProbability]
    """Those that tell it from other labels, the most telling first."""
    companions: list[SharedDocuments]
    """Those that its training documents have, too."""
    topics: list[Topic]
    quality: float | None
    """How well it is found: average precision, 0 to 1, on training documents held out."""
    n_held_out: int | None
    """How many of these have it; None if none were held out."""
    examples: list[Example]
    """Those of its training documents that are nearest to their mean, if the model keeps any."""
    concept: Concept | None = None
    """Where the model has a vocabulary."""


class TopicsAnswer(Struct):
    """One page of a set of topics, the largest first."""

    n_sets: int
    total: int
    page: int
    size: int
    topics: list[Topic]


class FileDocument(Struct):
    """A document of a file."""

    id: str
    """As it stands in the file, or its line, or the name of the file."""
    title: str
    """Of its field `title`; empty if it has none."""
    text: str
    n_left_out: int
    """Characters at its end that are beyond the limit of a text."""


class ReadAnswer(Struct):
    """The documents of a file, in their order; those without text are left out."""

    documents: list[FileDocument]
    text_fields: list[str]
    """The model's text fields that the file has."""
    missing_text_fields: list[str]
    """Those that no document of it has; its texts are read from the others alone."""


class ModelAnswer(Struct):
    """The model's card."""

    model: str
    library: str
    n_labels: int
    n_words: int
    takes_text: bool
    explains: bool
    has_topics: bool
    has_probabilities: bool
    examples: bool
    """Whether it has titles of training documents, to show those that are similar."""
    label_language: str | None
    """The language of label names by default; None if it is not known."""
    label_languages: list[str]
    """The languages that label names can be requested in."""
    calibration: dict[str, float] | None
    """How far probabilities are off, and where they are cut off."""
    parameters: dict[str, Any]
    settings: dict[str, float | int | str]
    statistics: dict[str, float | int | None]
    metrics: dict[str, Any] | None
    held_out: dict[str, float] | None
    """What it reached on training documents held out, by document and by label."""
    by_frequency: list[FrequencyBand]
    """How well labels are found, from the rarest to the most frequent; empty if not measured."""
    text: dict[str, Any] | None
    """How texts become words; None if the model knows counts alone."""
    fields: FieldNames
    """The names of the fields in files that the model reads."""
    limits: dict[str, float | int]
    project: str = ""
    """The id that it is served under."""
    learns: bool = False
    """Whether documents with labels are taken to learn from."""


class HealthAnswer(Struct):
    """The service is there, and has its model."""

    status: str
    model: str
