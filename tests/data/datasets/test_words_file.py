"""A folder says how its words were counted."""

from pathlib import Path

import pytest

from deplda import ReadError, WordCounter, datasets
from deplda.data.datasets.words_file import read_counter, write_counter

TEXTS = ["The judges judged.", "Two judges in the courts, and one judge."]


def test_texts_are_counted_as_the_folders_documents_were(tmp_path: Path) -> None:
    counter = WordCounter(language="en", fold_accents=True)
    counts = counter.fit_transform(TEXTS)
    write_counter(counter, tmp_path)
    again = read_counter(tmp_path, counter.vocabulary_)
    assert again is not None
    assert again.surface_words_ == counter.surface_words_ != counter.vocabulary_
    assert (again.transform(TEXTS) != counts).nnz == 0


def test_a_pattern_of_the_users_own_is_not_kept_and_none_is_taken(tmp_path: Path) -> None:
    counter = WordCounter(token_pattern="[a-z]+").fit(TEXTS)  # noqa: S106
    write_counter(counter, tmp_path)
    assert read_counter(tmp_path, counter.vocabulary_) is None
    counter = WordCounter(language=None).fit(TEXTS)
    write_counter(counter, tmp_path)
    path = tmp_path / "words.json"
    said = path.read_text(encoding="utf-8")
    for old, new, problem in (
        ('"codes"', '"(a+)+b"', "does not say how words are counted"),
        ('"english"', '"/etc/words.txt"', "there are no stop words for"),
        ('"language":null', '"language":"xx"', "there is no language 'xx'"),
    ):
        path.write_text(said.replace(old, new), encoding="utf-8")
        with pytest.raises(ReadError, match=problem):
            read_counter(tmp_path, counter.vocabulary_)
    path.write_text(said, encoding="utf-8")
    with pytest.raises(ReadError, match="surface_words for 1 words"):
        read_counter(tmp_path, ("one",))


def test_a_data_set_with_a_counter_has_it_again_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(
        '{"text": "Judges in court", "labels": ["LAW"]}\n{"text": "A game", "labels": ["SPORT"]}\n'
    )
    data = datasets.load_own(tmp_path / "docs.jsonl")
    datasets.save_folder(data, tmp_path / "folder")
    again = datasets.load("folder", tmp_path)
    assert again.corpus == data.corpus
    assert again.counter is not None
    assert again.counter.surface_words_ == data.counter.surface_words_  # type: ignore[union-attr]
