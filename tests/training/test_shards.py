"""Shards made ready on disk: words and labels as those of one file."""

import json
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import (
    ApproximateCountsWarning,
    Corpus,
    Fields,
    FlatLDA,
    InputError,
    ReadError,
    WordCounter,
    read_corpus,
    write_svmlight,
)
from deplda.data.datasets import newsroom
from deplda.engine.execution import Execution
from deplda.training import shards
from deplda.training.shards import prepare, read_labels, settled_fields
from tests.training.worlds import in_shards


@pytest.fixture(scope="module")
def news() -> Corpus:
    return newsroom(60, seed=4).corpus


def test_texts_are_counted_over_all_shards_as_in_one_file(tmp_path: Path) -> None:
    texts = [
        ("the cat purrs", "cat"),
        ("a dog barks", "dog"),
        ("cat and dog", "cat;dog"),
        ("cat", ""),
    ]
    rows = [json.dumps({"text": text, "labels": labels}) for text, labels in texts]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("\n".join(rows[:2]))
    (tmp_path / "in" / "b.jsonl").write_text("\n".join(rows[2:]))
    (tmp_path / "all.jsonl").write_text("\n".join(rows))
    counter = WordCounter(language=None, min_count=2)
    together = read_corpus(tmp_path / "all.jsonl", counter=counter)
    ready = prepare(tmp_path / "in", tmp_path / "scratch", counter=counter)
    assert tuple(ready.words) == together.vocabulary == ("cat", "dog")
    assert tuple(ready.labels) == together.label_names
    assert (read_labels(tmp_path / "scratch", ready).matrix != together.labels).nnz == 0
    model = FlatLDA().fit_shards(tmp_path / "in", tmp_path / "scratch", counter=counter)
    model.save(tmp_path / "model")
    assert FlatLDA.load(tmp_path / "model").rank(["a dog"], k=1).labels.tolist() == [["dog"]]


def test_svmlight_shards_keep_their_numbers(news: Corpus, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_svmlight(news[:20], tmp_path / "in" / "a.svm")
    write_svmlight(news[20:], tmp_path / "in" / "b.svm")
    ready = prepare(tmp_path / "in", tmp_path / "scratch")
    assert tuple(ready.words) == news.vocabulary
    assert tuple(ready.labels) == news.label_names


def test_a_folder_of_other_shards_is_refused(news: Corpus, tmp_path: Path) -> None:
    source = in_shards(news[:40], tmp_path / "in", 2)
    prepare(source, tmp_path / "scratch")
    with pytest.raises(InputError, match="holds other shards, or the same ones read otherwise"):
        prepare(source, tmp_path / "scratch", fields=Fields(labels="subjects"))
    (source / "docs-0.jsonl").write_text("oops")
    with pytest.raises(ReadError, match=r"docs-0\.jsonl, line 1"):
        prepare(source, tmp_path / "other")


def test_one_shard_tells_what_separates_the_labels_of_all(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    (shards / "a.csv").write_text("text,labels\ncourt judge,law|sport\nteam goal,sport\n")
    (shards / "b.csv").write_text('text,labels\nteam court,"law, order;peace|sport"\n')
    fields = settled_fields(shards, None)
    assert fields == Fields(separator="|")
    ready = prepare(shards, tmp_path / "ready", fields=fields)
    assert ready.labels == ["law", "law, order;peace", "sport"]
    model = FlatLDA(n_held_out=0).fit_shards(shards, tmp_path / "scratch")
    assert model.fields_ == fields
    (shards / "a.csv").write_text("text,labels\ncourt,law\n")
    assert settled_fields(shards, None) is None


# Words beyond what is counted, and languages -----------------------------------------------------


def _write_texts(folder: Path, shards: list[list[str]]) -> Path:
    folder.mkdir()
    for number, texts in enumerate(shards):
        rows = [json.dumps({"text": text, "labels": ["a", "b"][: 1 + n % 2]}) for n, text in
                enumerate(texts)]  # fmt: skip
        (folder / f"docs-{number:02}.jsonl").write_text("\n".join(rows))
    return folder


def _zipf(n_shards: int, n: int = 40) -> list[list[str]]:
    """Return texts in which the word of rank r is met about as often as 1/r says."""
    rng = np.random.default_rng(3)
    ranks = [rng.zipf(1.3, size=(n, 30)).clip(max=4_000) for _ in range(n_shards)]
    return [
        [" ".join("w" + "abcdefghij"[rank % 10] * (rank % 7 + 1) + str(rank) for rank in text)
         for text in shard]
        for shard in ranks
    ]  # fmt: skip


_AS_WRITTEN: Any = {"token_pattern": r"\S+", "stop_words": None}


def test_no_rare_word_is_kept_and_no_frequent_one_lost_beyond_max_words(tmp_path: Path) -> None:
    shards = _zipf(6)
    source = _write_texts(tmp_path / "in", shards)
    exact = Counter(word for texts in shards for text in texts for word in text.split())
    counter = WordCounter(min_count=4, max_words=300, **_AS_WRITTEN)
    with pytest.warns(ApproximateCountsWarning, match="than max_words = 300: counts may be too"):
        ready = prepare(source, tmp_path / "scratch", counter=counter)
    assert len(exact) > 300
    assert 0 < ready.missed <= exact.total() / 151
    assert {word for word in exact if exact[word] >= 4 + ready.missed} <= set(ready.words)
    assert min(exact[word] for word in ready.words) >= 4
    again = prepare(source, tmp_path / "scratch", counter=counter)
    assert again == ready


def test_a_bound_that_is_not_reached_changes_nothing(tmp_path: Path) -> None:
    shards = _zipf(3)
    source = _write_texts(tmp_path / "in", shards)
    (whole,) = _write_texts(tmp_path / "all", [list(chain(*shards))]).iterdir()
    n_words = len({word for texts in shards for text in texts for word in text.split()})
    counter = WordCounter(min_count=2, max_words=n_words, **_AS_WRITTEN)
    ready = prepare(source, tmp_path / "scratch", counter=counter)
    assert ready.missed == 0
    assert tuple(ready.words) == read_corpus(whole, counter=counter).vocabulary


@pytest.mark.parametrize("how", [Execution(n_jobs=3), Execution("processes", n_jobs=2)])
def test_workers_and_engines_choose_the_same_words(how: Execution, tmp_path: Path) -> None:
    source = _write_texts(tmp_path / "in", _zipf(5))
    counter = WordCounter(ngrams=2, language="en", min_count=2, max_words=120)
    with pytest.warns(ApproximateCountsWarning):
        alone = prepare(source, tmp_path / "a", Execution(n_jobs=1), counter=counter)
    with pytest.warns(ApproximateCountsWarning):
        several = prepare(source, tmp_path / "b", how, counter=WordCounter(**counter.get_params()))
    assert several == alone
    left, right = (
        {path.relative_to(base): path.read_bytes() for path in base.rglob("*") if path.is_file()}
        for base in (tmp_path / "a", tmp_path / "b")
    )
    assert left == right


def test_given_words_are_kept_whatever_the_bound(tmp_path: Path) -> None:
    source = _write_texts(tmp_path / "in", [["cat dog cow", "cat"], ["hen dog", "owl"]])
    counter = WordCounter(vocabulary=["owl", "cat", "dog"], max_words=1)
    ready = prepare(source, tmp_path / "scratch", counter=counter)
    assert (ready.words, ready.missed) == (["owl", "cat", "dog"], 0)
    with pytest.raises(InputError, match="max_words is 0"):
        prepare(source, tmp_path / "other", counter=WordCounter(max_words=0))


def test_a_fitted_counter_keeps_its_words_and_its_language(tmp_path: Path) -> None:
    source = _write_texts(tmp_path / "in", [_GERMAN, _FINNISH])
    counter = WordCounter().fit(_FINNISH)
    ready = prepare(source, tmp_path / "scratch", counter=counter)
    assert (tuple(ready.words), ready.language) == (counter.vocabulary_, "fi")


def test_the_bound_is_of_texts_and_not_of_words_that_files_name(tmp_path: Path) -> None:
    rows = [json.dumps({"counts": {f"w{number}": 1}, "labels": ["a"]}) for number in range(9)]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("\n".join(rows))
    ready = prepare(tmp_path / "in", tmp_path / "scratch", counter=WordCounter(max_words=2))
    assert ready.words == [f"w{number}" for number in range(9)]


_FINNISH = ["Suomen eduskunta käsitteli lakia talousarviosta tänään", "Hallitus antoi esityksen"]
_GERMAN = ["Der Bundestag hat heute ein Gesetz über den Haushalt beraten", "Das Wetter wird schön"]


def _language(tmp_path: Path, shards: list[list[str]]) -> str | None:
    source = _write_texts(tmp_path / f"in-{len(list(tmp_path.iterdir()))}", shards)
    counter = WordCounter()
    return prepare(source, tmp_path / f"ready-{source.name}", counter=counter).language


def test_the_language_is_that_of_most_texts_of_several_shards(tmp_path: Path) -> None:
    assert _language(tmp_path, [_FINNISH, _GERMAN, _GERMAN]) == "de"
    assert _language(tmp_path, [_FINNISH, _GERMAN, _FINNISH]) == "fi"


def test_shards_of_many_languages_are_told_as_one_file_is(tmp_path: Path) -> None:
    other = ["Le parlement a adopté la loi de finances aujourd'hui", "Il fait très beau demain"]
    shards = [_FINNISH, _GERMAN, other]
    (whole,) = _write_texts(tmp_path / "all", [list(chain(*shards))]).iterdir()
    counter = WordCounter()
    read_corpus(whole, counter=counter)
    assert counter.detected_.code == "und"
    assert _language(tmp_path, shards) == "und"


def test_of_very_many_shards_those_looked_at_reach_from_the_first_to_the_last(
    tmp_path: Path,
) -> None:
    shards = [_FINNISH] * 40 + [_GERMAN] * 60
    assert _language(tmp_path, shards) == "de"


def test_many_bytes_are_counted_by_processes_to_the_same_words(
    news: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = in_shards(news, tmp_path / "in", 2)
    usual = prepare(source, tmp_path / "threads", Execution(n_jobs=2))
    size = sum(path.stat().st_size for path in source.iterdir())
    monkeypatch.setattr(shards, "_WORTH_PROCESSES", size)
    here, alone = Execution(n_jobs=2), Execution(n_jobs=1)
    assert shards._for_texts(here, size).engine == "processes"
    assert shards._for_texts(here, size - 1) is here
    assert shards._for_texts(alone, size) is alone
    assert prepare(source, tmp_path / "processes", here) == usual
