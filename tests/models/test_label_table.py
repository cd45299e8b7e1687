"""The labels of a model, listed."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import FlatLDA, InputError, TfidfSVM, load
from deplda.data.vocabulary import Concept, Vocabulary
from deplda.models.label_table import label_table
from deplda.models.quality import LabelQuality
from tests.models.saved_models import corpus


@cache
def fitted() -> FlatLDA:
    return FlatLDA().fit(corpus())


def names(order: Any, **how: Any) -> list[str]:
    return [entry.label for entry in label_table(fitted(), order, **how).entries]


def test_every_label_is_listed_with_its_documents_its_quality_and_its_words() -> None:
    model = fitted()
    found = label_table(model, n_words=3)
    assert (found.n_found, found.n_labels, found.is_measured) == (70, 70, True)
    quality = model.label_quality_
    assert quality is not None
    for entry in found.entries:
        number = model.classes_.tolist().index(entry.label)
        assert entry.documents == corpus().label_counts[number]
        assert entry.held_out == quality.documents[number]
        told = None if not entry.held_out else quality.average_precision[number]
        assert entry.average_precision == told
        likely = [word.name for word in model.top_words(entry.label, 3)]
        assert list(entry.words) == likely[: len(entry.words)]
    assert sum(len(entry.words) == 3 for entry in found.entries) > 40
    assert any(entry.average_precision is None for entry in found.entries)


def test_the_most_frequent_or_the_rarest_labels_come_first() -> None:
    counts = dict(zip(corpus().label_names, corpus().label_counts.tolist(), strict=True))
    met = [name for name in sorted(counts) if counts[name]]
    never = [name for name in sorted(counts) if not counts[name]]
    assert names("frequency") == sorted(met, key=lambda name: -counts[name]) + never
    assert names("rarest") == sorted(met, key=lambda name: counts[name]) + never
    assert names("name") == sorted(counts)
    assert never


def test_labels_found_worst_come_first_and_those_without_held_out_documents_last() -> None:
    entries = label_table(fitted(), "worst").entries
    values = [entry.average_precision for entry in entries]
    known = [value for value in values if value is not None]
    assert known == sorted(known)
    assert values[len(known) :] == [None] * (len(values) - len(known))
    best = [entry.average_precision for entry in label_table(fitted(), "quality").entries]
    assert best[: len(known)] == sorted(known, reverse=True)


def test_labels_are_searched_and_limited() -> None:
    found = label_table(fitted(), "name", search="L1", limit=2)
    assert [entry.label for entry in found.entries] == ["l1", "l10"]
    assert (found.n_found, found.n_labels) == (11, 70)
    assert label_table(fitted(), search="nothing").entries == []
    with pytest.raises(InputError, match="order is 'size'"):
        label_table(fitted(), "size")  # type: ignore[arg-type]


def test_concepts_are_told_by_name_with_address_and_notation_and_found_by_synonym(
    tmp_path: Path,
) -> None:
    fitted().save(tmp_path / "m")
    model = load(tmp_path / "m")
    concept = Concept(uri="l3", names={"en": "ships"}, notation="E3", synonyms={"en": ("boats",)})
    model.vocabulary_ = Vocabulary([concept])
    (entry,) = label_table(model, search="boat").entries
    assert (entry.label, entry.uri, entry.notation) == ("ships", "l3", "E3")


def test_a_model_without_words_of_labels_lists_none() -> None:
    found = label_table(TfidfSVM(n_held_out=0).fit(corpus()), limit=3)
    assert [entry.words for entry in found.entries] == [(), (), ()]
    assert not found.is_measured
    assert found.entries[0].held_out is None


def test_quality_by_label_is_that_of_documents_that_the_model_has_not_seen() -> None:
    """Labels without meaning are learned by heart: on documents learned from they are found."""
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson(1.0, (60, 30)), rng.random((60, 4)) < 0.4
    model = FlatLDA().fit(counts, labels)
    quality = model.label_quality_
    assert isinstance(quality, LabelQuality)
    n_held_out = model.held_out_["documents"]
    assert quality.documents.max() < n_held_out < 60
    assert quality.average_precision.mean() < 0.8
