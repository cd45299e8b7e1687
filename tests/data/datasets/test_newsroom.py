import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deplda import InputError, datasets
from deplda.data.datasets import Newsroom
from deplda.data.datasets.newsroom import _given, _plan
from deplda.data.datasets.newsroom_lexicon import read_lexicon
from deplda.data.splits import Split
from tests.drawn_news import own_words

STORY = ("VIDEO GAMES", "ANTITRUST ACTIONS AND LAWS", "SUITS AND LITIGATION")


@cache
def full() -> Newsroom:
    return datasets.newsroom()


@cache
def first_hundred() -> Newsroom:
    return datasets.newsroom(100)


def labels_of(room: Newsroom, row: int) -> list[str]:
    return [room.corpus.label_names[c] for c in room.corpus.labels[[row]].indices]


# Draws --------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_articles_and_another_seed_others() -> None:
    again = datasets.newsroom(100)
    assert (again.corpus, again.texts) == (first_hundred().corpus, first_hundred().texts)
    assert not set(datasets.newsroom(100, seed=1).texts) & set(first_hundred().texts)


@pytest.mark.parametrize("n_documents", [1, 2, 99])
def test_a_larger_corpus_begins_with_the_articles_of_a_smaller_one(n_documents: int) -> None:
    smaller, larger = datasets.newsroom(n_documents), first_hundred()
    assert smaller.texts == larger.texts[:n_documents]
    for row in range(n_documents):
        assert labels_of(smaller, row) == labels_of(larger, row)


@pytest.mark.parametrize("n_documents", [0, -5])
def test_less_than_one_document_is_refused(n_documents: int) -> None:
    with pytest.raises(InputError, match=f"n_documents is {n_documents}; it must be a whole"):
        datasets.newsroom(n_documents)


# The paper's stories ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_document_0_alone_tells_the_story_of_the_rare_label(seed: int) -> None:
    room = datasets.newsroom(300, seed=seed)
    assert sorted(labels_of(room, 0)) == sorted(STORY)
    assert room.corpus.label_counts[room.corpus.label_names.index(STORY[0])] == 1
    said = set(re.findall("[a-z]+", room.texts[0].lower()))
    for name in STORY:
        assert len(said.intersection(own_words()[name])) >= 5


def test_the_companions_of_the_rare_label_are_frequent() -> None:
    corpus = full().corpus
    counts = dict(zip(corpus.label_names, corpus.label_counts.tolist(), strict=True))
    assert min(counts[name] for name in STORY[1:]) >= 50


def test_steroids_belong_to_three_labels_only() -> None:
    owners = {s.label for s in read_lexicon().subjects if "steroids" in s.words.stuff}
    assert owners == {"MEDICINE AND HEALTH", "BASEBALL", "BLACK MARKETS"}
    corpus = full().corpus
    assert corpus.word_counts[corpus.vocabulary.index("steroids")] >= 10


# Texts --------------------------------------------------------------------------------------------


def test_an_article_has_a_headline_a_place_a_date_and_sentences() -> None:
    for text in full().texts[:200]:
        title, first, *paragraphs = text.strip().split("\n\n")
        assert title
        assert title[0].isupper()
        assert "\n" not in title
        assert re.match(r"[A-Z ]+, [A-Z]\w+ \d+ — \S", first), first
        for paragraph in (first, *paragraphs):
            assert paragraph[-1] in ".?”"
        assert not re.search(r"[{}|]|  |\b[Aa] (?=[aei])", text)


def test_articles_have_function_words_inflected_forms_and_misprints() -> None:
    words = set(re.findall(r"[a-z]+", " ".join(full().texts)))
    assert {"the", "and", "of", "judge", "judges", "monopoly", "monopolies", "thieves"} <= words
    assert {"teh", "adn"} <= words
    assert not {"the", "and", "of"} & set(full().corpus.vocabulary)


def test_articles_are_short_and_long() -> None:
    lengths = full().corpus.document_lengths
    assert np.quantile(lengths, 0.95) > 4 * np.quantile(lengths, 0.05)
    assert 80 < lengths.mean() < 130


def test_a_sentence_of_a_text_is_counted_as_the_corpus_has_it() -> None:
    room = first_hundred()
    row = dict(zip(room.corpus.vocabulary, room.corpus.counts[[3]].toarray()[0], strict=True))
    said = re.findall(r"[a-z]{2,}", room.texts[3].lower())
    assert all(said.count(word) == n for word, n in row.items() if n)


# Labels -------------------------------------------------------------------------------------------


def parts() -> tuple[Newsroom, Split]:
    (split,) = datasets.load("newsroom").splits
    return full(), split


def test_most_labels_are_rare_and_a_few_are_frequent() -> None:
    room, split = parts()
    counts = room.corpus[split.train].label_counts
    assert room.corpus.n_labels > 400
    assert ((counts >= 1) & (counts <= 5)).mean() > 0.5
    assert (counts >= 50).sum() >= 20
    assert 3 < room.corpus.labels_per_document.mean() < 5


def test_a_story_goes_with_its_subject_and_its_place() -> None:
    corpus = full().corpus
    has = corpus.labels.toarray().astype(bool)
    at = {name: place for place, name in enumerate(corpus.label_names)}
    stories = [s for subject in read_lexicon().subjects for s in subject.stories if s.label in at]
    assert len(stories) > 300
    with_place = [has[has[:, at[s.label]], at[s.place.upper()]].mean() for s in stories]
    assert 0.25 < np.mean(with_place) < 0.75
    assert has[:, [at[name.upper()] for name in read_lexicon().places]].mean() < 0.05


def test_some_labels_are_forgotten() -> None:
    rng = np.random.default_rng(0)
    n_about, n_given = 0, 0
    for _ in range(500):
        plan = _plan(read_lexicon(), rng)
        given = _given(plan, rng)
        assert given
        assert set(given) <= set(plan.labels)
        n_about, n_given = n_about + len(plan.labels), n_given + len(given)
    assert 0.85 < n_given / n_about < 0.97


def test_names_are_distinct_and_readable() -> None:
    corpus = first_hundred().corpus
    assert all(name == name.upper() for name in corpus.label_names)
    assert all(word.isalpha() and word == word.lower() for word in corpus.vocabulary)


# The data set -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_documents", [1, 2, 50, 2000])
def test_document_0_trains_and_each_document_is_in_one_part(n_documents: int) -> None:
    dataset = datasets.load("newsroom", n_documents=n_documents)
    (split,) = dataset.splits
    assert 0 in split.train
    both = np.concatenate([split.train, split.test])
    assert np.sort(both).tolist() == list(range(n_documents))
    assert dataset.generated
    assert dataset.texts == full().texts[:n_documents]


def test_articles_are_written_as_files_with_concepts_for_labels(tmp_path: Path) -> None:
    news = datasets.newsroom(48)
    news.write(tmp_path)
    parts = [
        [json.loads(line) for line in (tmp_path / name).read_text("utf-8").splitlines()]
        for name in ("train.jsonl", "test.jsonl")
    ]
    assert [len(rows) for rows in parts] == [30, 10]
    first = parts[0][0]
    assert (first["id"], first["text"]) == ("a0", news.texts[0])
    assert "VIDEO GAMES" in {news.thesaurus[uri].name("en") for uri in first["labels"]}
    assert (tmp_path / "thesaurus.ttl").is_file()
    new = [(tmp_path / "new" / f"n{k}.txt").read_text("utf-8") for k in range(1, 9)]
    assert new == list(news.texts[40:])
