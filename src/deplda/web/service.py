"""What the service says of a model: plain values in and out; HTTP knows only its errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import UNSET, structs
from scipy.sparse import csr_array
from starlette.exceptions import HTTPException

from deplda.data.fields import Fields
from deplda.data.names import MARK
from deplda.errors import InputError
from deplda.models.base import LabelClassifier
from deplda.models.codec import card_of
from deplda.models.external import in_words
from deplda.models.label_index import LabelIndex, Order
from deplda.models.neighbours import beside
from deplda.models.quality import by_frequency
from deplda.models.reasons import Example, Explained
from deplda.models.registry import can
from deplda.models.suggesting import Asked, answers_of
from deplda.training.estimates import TopicLabels
from deplda.web import answers
from deplda.web.limits import Limits

_LABEL_WORDS, _LABEL_COMPANIONS, _LABEL_TOPICS, _TOPIC_LABELS = 24, 12, 3, 12
_LABEL_EXAMPLES = 5
_TEXT_SETTINGS = ("language", "normalize", "min_count", "ngrams", "fold_accents")


class _Counted(NamedTuple):
    """What a document has of the model's words."""

    words: list[tuple[int, int]]
    """Their numbers, which rise, and how often each occurs."""
    n_tokens: int
    n_unknown: int
    """Tokens that are none of these words."""


class ModelService:
    """A fitted model, with what is looked up often computed once."""

    def __init__(self, model: LabelClassifier, limits: Limits) -> None:
        if model.external_:
            raise InputError(
                f"this model requires {in_words(model.external_)}, which requests do not have; "
                "train a model without them to serve it"
            )
        self.model: Any = model
        self.limits, self.explains = limits, can(model, "explain")
        self._labels = model.classes_.tolist()
        self._by_uri = {label: number for number, label in enumerate(self._labels)}
        self.n_left_out = self._count_left_out()
        self._sets = csr_array(model.label_sets_)
        self._by_label = csr_array(self._sets.T)
        self.frequency = np.diff(self._by_label.indptr)
        self._weights = self.frequency / max(int(self.frequency.sum()), 1)
        self._words = model.surface_words_  # as they are shown; a text is counted by `words_`
        self._places = {word: place for place, word in enumerate(model.words_)}
        self._words_of: Any = None if model.counter_ is None else model.counter_.analyzer().counts
        self._marks_at = range(0) if model.counter_ is None else model.counter_.marks_at_
        self._usual = self._usual_words() if self.explains else None
        self._name_labels()
        self.card = self._card()
        self._in_languages: dict[str | None, ModelService] = {
            None: self,
            self.card.label_language: self,
        }

    def _name_labels(self) -> None:
        """Set everything that depends on the names of the labels."""
        self.names = list(self.model.shown_labels_)
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._index = LabelIndex(self.model)
        self._topics = self._every_topic() if self.explains else []

    def in_language(self, language: str | None) -> ModelService:
        """Return the service with label names in this language; None is the default."""
        if language not in self._in_languages:
            if language not in self.card.label_languages:
                available = ", ".join(self.card.label_languages) or "no known language"
                raise HTTPException(
                    422, f"label_language is {str(language)[:20]!r}, but the model has label names "
                    f"in {available}; choose one of label_languages in /v1/model",
                )  # fmt: skip
            service = copy(self)
            service.model = copy(self.model)
            service.model.label_language_ = language
            service._name_labels()
            self._in_languages[language] = service
        return self._in_languages[language]

    # Documents -----------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Compile what is compiled at first use, and lay out what inference reads."""
        row = csr_array(([1], [0], [0, 1]), shape=(1, len(self._places)), dtype=np.int32)
        self.model.rank(row, 1)
        if self.explains:
            self.model.explain(row, 1)

    def suggest(
        self, documents: Sequence[tuple[Any, str]], asked: Asked
    ) -> list[answers.Suggested]:
        """Return the labels of documents, as `suggest` gives them.

        With each document comes where it stands, to be said if it cannot be taken.
        """
        counted = [self._count(document, where) for document, where in documents]
        empty = [_is_empty(document) for document, _ in documents]
        rows = self._rows([words for words, _, _ in counted])
        return [
            answers.Suggested(
                [
                    answers.Suggestion(**each | {"label": str(each["label"])})
                    for each in answer["labels"]
                ],
                n_tokens, n_unknown, "out_of_vocabulary" in answer, answer["n_given"], is_empty,
            )
            for answer, (_, n_tokens, n_unknown), is_empty in zip(
                answers_of(self.model, rows, asked, empty, with_line=True), counted, empty,
                strict=True,
            )
        ]  # fmt: skip

    def explain(self, document: Any, k: int, n_words: int) -> Explained:
        """Return the reasons for a document's likeliest labels, as `explain` gives them."""
        if not self.explains:
            raise HTTPException(409, f"a {self.card.model} cannot explain; use /v1/suggest")
        words, _, n_unknown = self._count(document, "$.document")
        found = self.model.explain(self._rows([words]), k, n_words=n_words)
        if document.text is not UNSET:
            found = structs.replace(found.located(document.text, self.model.counter_), text=None)
        reasons = tuple(structs.replace(each, label=str(each.label)) for each in found.reasons)
        told: Explained = structs.replace(found, reasons=reasons, n_unknown=n_unknown)
        return told

    def _count(self, document: Any, where: str) -> _Counted:
        """Return what a document has; raise if the model cannot take it."""
        if document.text is UNSET:
            words: Mapping[str, int] = {word: int(n) for word, n in document.words.items()}
        elif self._words_of is None:
            raise HTTPException(
                409, f'this model knows counts alone; send {{"words": {{…}}}} - at `{where}`'
            )
        else:
            words = self._words_of(document.text)
        counted = self._counted(words)
        if (n_tokens := counted.n_tokens) > self.limits.tokens:
            raise HTTPException(
                422,
                f"{n_tokens:,} tokens are more than {self.limits.tokens:,}; send a part of "
                f"the document - at `{where}`",
            )
        return counted

    def count_beginning(self, text: str) -> tuple[Any, int]:
        """Return the counts of as much of a text as the limits allow, and of how many characters.

        The model has to take texts.
        """
        n_read = min(len(text), self.limits.characters)
        while True:
            words, n_tokens, _ = self._counted(self._words_of(text[:n_read]))
            if n_tokens <= self.limits.tokens:
                return self._rows([words]), n_read
            n_read //= 2

    def _counted(self, words: Mapping[str, int]) -> _Counted:
        known = sorted((self._places[w], n) for w, n in words.items() if w in self._places)
        n_tokens = sum(n for place, n in known if place not in self._marks_at)
        n_given = sum(n for word, n in words.items() if not word.endswith(MARK))
        return _Counted(known, n_tokens, n_given - n_tokens)

    def _rows(self, documents: Sequence[list[tuple[int, int]]]) -> Any:
        """Return the counts of documents over the model's words."""
        words = np.array([*chain.from_iterable(documents)], np.int32).reshape(-1, 2)
        places, counts = np.ascontiguousarray(words.T)  # kernels are compiled for such ones
        starts = np.cumsum([0, *map(len, documents)], dtype=np.int32)
        shape = len(documents), len(self._places)
        return csr_array((counts, places, starts), shape=shape)

    # Labels and topics ---------------------------------------------------------------------------

    def find_labels(self, search: str, sort: Order, page: int, size: int) -> answers.LabelsAnswer:
        """Return one page of the labels one name of which has all words of the search."""
        found = [*self._index.find(search, sort).items()]
        shown = found[(page - 1) * size : page * size]
        return answers.LabelsAnswer(
            len(found), page, size, [self._entry(c, matched) for c, matched in shown]
        )

    def label_names(self, uris: Sequence[str]) -> answers.LabelsAnswer:
        """Return the labels that have these URIs, in their order; others are left out."""
        labels = [self._entry(self._by_uri[uri], None) for uri in uris if uri in self._by_uri]
        return answers.LabelsAnswer(len(labels), 1, len(labels), labels)

    def _entry(self, number: int, matched: str | None) -> answers.NamedLabel:
        told = self.model.told_label(self._labels[number])
        return answers.NamedLabel(
            self.names[number],
            int(self.frequency[number]),
            told.get("uri"),
            told.get("notation"),
            *self._index.quality(number),
            matched,
        )

    def label_named(self, name: str) -> Any | None:
        """Return the label with an address, notation or name; None if none has it, or several."""
        vocabulary = self.model.vocabulary_
        found = () if vocabulary is None else vocabulary.find(name)
        known = [uri for uri in found if uri in self._by_uri]
        if len(known) == 1:
            return known[0]
        number = self.numbers.get(name)
        return None if number is None else self._labels[number]

    def _count_left_out(self) -> int:
        """Return how many labels the model's vocabulary, if it has one, has not, or not in use."""
        vocabulary = self.model.vocabulary_
        if vocabulary is None:
            return 0
        return sum(each not in vocabulary or vocabulary[each].deprecated for each in self._labels)

    def _concept(self, label: Any) -> answers.Concept | None:
        """Return what the vocabulary has of a label."""
        vocabulary, language = self.model.vocabulary_, self.model.name_language_
        if vocabulary is None or label not in vocabulary:
            return None
        concept, relatives = vocabulary[label], vocabulary.relatives(label)
        broader, narrower, related = ([self._name_of(u) for u in uris] for uris in relatives)
        labels = [self.names[self._by_uri[u]] for us in relatives for u in us if u in self._by_uri]
        notes = [concept.notes.get(code) for code in (language, "en", "") if code is not None]
        return answers.Concept(
            concept.uri,
            concept.notation,
            [*concept.synonyms.get(language or "en", concept.synonyms.get("", ()))],
            next((note for note in notes if note), None),
            broader,
            narrower,
            related,
            list(dict.fromkeys(labels)),
        )

    def _name_of(self, uri: str) -> str:
        """Return the name of a concept, as that of a label where it is one."""
        number = self._by_uri.get(uri)
        if number is not None:
            return self.names[number]
        name = str(self.model.vocabulary_[uri].name(self.model.name_language_))
        return name if name not in self.numbers else f"{name} <{uri}>"  # a label is another one

    def label(self, name: str) -> answers.LabelAnswer:
        """Return a label's words, companions, frequency and topics."""
        number = self.numbers.get(name, self._by_uri.get(name))
        if number is None:  # it may be the name in another language
            number = self._by_uri.get(self.label_named(name))
        if number is None:
            shown = name if len(name) <= 80 else f"{name[:80]}…"
            raise HTTPException(404, f"the model has no label {shown!r}; search in /v1/labels")
        n_documents = int(self.frequency[number])
        label = self._labels[number]
        words = self.model.top_words(label, _LABEL_WORDS) if self.explains else []
        return answers.LabelAnswer(
            self.names[number],
            n_documents,
            n_documents / max(self._sets.shape[0], 1),
            [answers.WordProbability(*word) for word in words],
            self._distinctive(number),
            self._companions(number),
            self._topics_of(number),
            *self._index.quality(number),
            self._examples(number),
            self._concept(label),
        )

    def topics(self, number: int, page: int, size: int) -> answers.TopicsAnswer:
        """Return one page of a set of topics, the largest first."""
        n_sets = len(self._topics)
        if not n_sets:
            raise HTTPException(
                409, f"a {self.card.model} has no topics of labels that go together"
            )
        if number >= n_sets:
            raise HTTPException(
                404, f"there is no set {number:,} of topics; the last is {n_sets - 1}"
            )
        topics = sorted(self._topics[number], key=lambda topic: -topic.share)
        shown = topics[(page - 1) * size : page * size]
        return answers.TopicsAnswer(n_sets, len(topics), page, size, shown)

    def _usual_words(self) -> npt.NDArray[np.float64]:
        """Return how likely each word is when nothing is known: φ of all training labels."""
        # A background may follow the labels, and labels may follow that were never learned.
        phi, n = self.model.label_words_, self.model.n_learned_labels_
        return np.asarray(phi.weights[:, :n] @ self._weights[:n] + phi.base[:n] @ self._weights[:n])

    def _distinctive(self, number: int) -> list[answers.WordProbability]:
        """Return the words that tell a label from others: the largest φ log(φ / usual φ)."""
        if self._usual is None or number >= self.model.n_learned_labels_:
            return []
        phi = self.model.label_words_
        column = phi.weights[:, [number]].toarray().ravel() + phi.base[number]
        tells = column * np.log(column / self._usual)
        return [
            answers.WordProbability(self._words[w], float(column[w]))
            for w in np.argsort(-tells, kind="stable")[:_LABEL_WORDS]
            if tells[w] > 0 and column[w] > 10 * phi.base[number]
        ]

    def _companions(self, number: int) -> list[answers.SharedDocuments]:
        """Return the labels that training documents have beside this one."""
        documents = self._documents_of(number)
        return [
            answers.SharedDocuments(self.names[other], n, share)
            for other, n, share in beside(self._sets, documents, number, _LABEL_COMPANIONS)
        ]

    def _examples(self, number: int) -> list[Example]:
        """Return the most typical training documents of a label."""
        examples, documents = self.model.examples_, self._documents_of(number)
        return [] if examples is None else [*examples.typical(documents, _LABEL_EXAMPLES)]

    def _documents_of(self, number: int) -> npt.NDArray[np.int32]:
        """Return the training documents that have a label."""
        begin, end = self._by_label.indptr[number : number + 2]
        return np.asarray(self._by_label.indices[begin:end])

    def _topics_of(self, number: int) -> list[answers.Topic]:
        """Return the first set's topics that most of a label's tokens are in: P(t | c)."""
        if not self._topics or number >= self.model.n_learned_labels_:
            return []
        within = _within(self.model.topic_labels_[0], [number])[0]
        return [
            answers.Topic(0, int(t), float(within[t]), self._topics[0][t].labels)
            for t in np.argsort(-within, kind="stable")[:_LABEL_TOPICS]
            if within[t] >= 0.05
        ]

    def _every_topic(self) -> list[list[answers.Topic]]:
        """Return every set's topics, each with its share of the labels of training documents."""
        sets = self.model.topic_labels_
        if all(len(topics.base) < 2 for topics in sets):
            return []
        n = self.model.n_learned_labels_
        shares = [self._weights[:n] @ _within(topics, range(n)) for topics in sets]
        found: list[list[answers.Topic]] = [[] for _ in sets]
        for number, t, _, strongest in self.model.topics(_TOPIC_LABELS):
            labels = [answers.TopicLabel(str(label.name), label.weight) for label in strongest]
            found[number].append(answers.Topic(number, t, float(shares[number][t]), labels))
        return found

    def _card(self) -> answers.ModelAnswer:
        card = card_of(self.model, {}, self.model.metrics_)
        return answers.ModelAnswer(
            model=card.model,
            library=card.library,
            n_labels=len(self.names),
            n_words=self.model.n_learned_words_,
            takes_text=self._words_of is not None,
            explains=self.explains,
            has_topics=bool(self._topics),
            has_probabilities=self.model.has_probabilities,
            examples=self.model.examples_ is not None,
            label_language=self.model.name_language_ or None,
            label_languages=list(self.model.label_languages_),
            calibration=card.learned.get("calibration"),
            parameters=card.parameters,
            settings=self._settings(),
            statistics=card.statistics,
            metrics=card.metrics,
            held_out=self.model.held_out_ or None,
            by_frequency=by_frequency(self.frequency, self.model.label_quality_),
            text=card.text and {name: card.text[name] for name in _TEXT_SETTINGS},
            fields=(self.model.fields_ or Fields()).names_to_write,
            limits=asdict(self.limits),
        )

    def _settings(self) -> dict[str, float | int | str]:
        """Return the hyperparameters as they are used, those of a hybrid's topic model included."""
        own: dict[str, float | int | str] = {}
        if hasattr(self.model, "topic_model_"):
            own = {"C": self.model.C_, "candidates": self.model.n_candidates_}
        return getattr(getattr(self.model, "topic_model_", self.model), "settings_", {}) | own


def _is_empty(document: Any) -> bool:
    """Return whether there is nothing in a document."""
    return not (document.words if document.text is UNSET else document.text.strip())


def _within(topics: TopicLabels, numbers: Iterable[int]) -> npt.NDArray[np.float64]:
    """Return the topics that labels are of, labels × topics: P(t | c), topics alike before."""
    rows = topics.weights[list(numbers)].toarray() + topics.base
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
