import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from deplda import InputError, datasets, read_vocabulary
from deplda.data.datasets import Museum


@cache
def full() -> Museum:
    return datasets.museum()


def names(museum: Museum) -> dict[str, str]:
    return {concept.uri: concept.name("en") for concept in museum.thesaurus}


def in_train() -> Counter[str]:
    return Counter(label for record in full().train for label in record.labels)


def test_the_same_seed_gives_the_same_records_and_another_seed_others() -> None:
    assert datasets.museum(40) == datasets.museum(40)
    assert datasets.museum(40, seed=1).train != datasets.museum(40).train


def test_a_quarter_of_the_records_is_for_testing() -> None:
    small = datasets.museum(40)
    assert [len(part) for part in (small.train, small.test, small.new)] == [30, 10, 8]
    with pytest.raises(InputError, match="n_documents is 3"):
        datasets.museum(3)


def test_every_label_is_a_concept_and_every_id_is_another() -> None:
    museum = full()
    records = museum.train + museum.test + museum.new
    assert all(label in museum.thesaurus for record in records for label in record.labels)
    assert all(record.labels for record in records)
    assert len({record.id for record in records}) == len(records)


def test_frequencies_have_a_long_tail() -> None:
    counts = sorted(in_train().values())
    assert counts[-1] >= 30
    assert 30 <= counts.count(1) <= 60
    assert counts[len(counts) // 2] <= 4


def test_some_concepts_are_in_test_records_alone_and_most_of_these_name_them() -> None:
    museum, learned = full(), in_train()
    in_use = [concept for concept in museum.thesaurus if not concept.deprecated]
    assert 0.2 < sum(c.uri not in learned for c in in_use) / len(in_use) < 0.35
    pairs = [(r, label) for r in museum.test for label in r.labels if label not in learned]
    assert len(pairs) >= 40
    named = 0
    for record, label in pairs:
        concept, text = museum.thesaurus[label], record.text.lower()
        own = [concept.name("en"), *concept.synonyms.get("en", ())]
        named += any(name.partition(" (")[0][:-1] in text for name in own)
    assert 0.7 < named / len(pairs) < 1


def test_the_first_new_texts_are_about_concepts_that_were_never_learned() -> None:
    assert all(set(record.labels) - set(in_train()) for record in full().new[:2])


def test_some_names_stand_in_texts_that_are_not_about_them() -> None:
    museum = full()
    asides = [r for r in museum.train if "which is wrong" in r.text or "another story" in r.text]
    assert 10 < len(asides) < len(museum.train) / 4


def test_texts_are_sentences_under_a_title() -> None:
    for record in full().train:
        assert record.text.startswith(f"{record.title}\n\n")
        assert re.fullmatch(r"([A-Z][^.{}]+\. ?){2,}", record.body), record.body
    bodies = " ".join(record.text for record in full().train)
    assert "an ox" in bodies
    assert "oxen" in bodies
    assert not re.search(r"\ba [aeio]", bodies)
    assert "(" not in bodies  # names are written without what tells them apart


def test_deprecated_labels_are_in_training_records_alone_and_are_replaced() -> None:
    museum = full()
    old = {concept.uri for concept in museum.thesaurus if concept.deprecated}
    used = old & set(in_train())
    assert len(used) >= 4
    assert all(museum.thesaurus.replacement(uri) for uri in used)
    assert not any(old & set(record.labels) for record in museum.test + museum.new)


def test_names_spelt_alike_are_told_apart_by_a_qualifier() -> None:
    assert {"crane (bird)", "crane (machine)"} <= set(names(full()).values())
    assert len(set(names(full()).values())) == len(full().thesaurus)


def test_relations_of_concepts_lead_to_concepts_and_back() -> None:
    thesaurus = full().thesaurus
    for concept in thesaurus:
        assert all(uri in thesaurus for uri in concept.broader)
        assert all(concept.uri in thesaurus[uri].related for uri in concept.related)
        assert {"en", "de"} == set(concept.names)


def test_files_are_read_back_as_they_were_made(tmp_path: Path) -> None:
    museum = datasets.museum(20)
    museum.write(tmp_path / "folder")
    museum.write(tmp_path / "folder")  # a second time over the first
    assert read_vocabulary(tmp_path / "folder" / "thesaurus.ttl") == museum.thesaurus
    lines = (tmp_path / "folder" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    first, record = json.loads(lines[0]), museum.train[0]
    assert len(lines) == 15
    assert first == {"id": "r1", "text": record.text, "labels": list(record.labels)}
    new = sorted(path.name for path in (tmp_path / "folder" / "new").iterdir())
    assert new == [f"n{k}.txt" for k in range(1, 9)]
