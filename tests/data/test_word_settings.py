"""How texts become words is chosen by what ranks labels best for held-out documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paper.data import load

from deplda import DependencyLDA, Fields, FlatLDA, InputError, WordCounter
from deplda.data.readers import kept_words, read_counted, write_rows
from deplda.data.splits import TrainingPart
from deplda.data.text import label_sets
from deplda.data.word_settings import Candidates, Choice, Document, WordSettings, choose

SYLLABLES = ["ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "pa", "ri", "so", "tu"]
WORDS = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES][::7]
LABELS = [f"label {number}" for number in range(8)]
PLAIN = WordSettings("codes", 1)


def noise(rng: Any, n: int) -> list[str]:
    return [WORDS[each] for each in rng.integers(0, len(WORDS), n)]


def drawn(kind: str, n: int = 600, seed: int = 0) -> Iterator[Document]:
    """Yield documents whose label is told by one kind of sign among noise."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        label = int(rng.integers(len(LABELS)))
        words, title = noise(rng, 30), noise(rng, 2)
        place = int(rng.integers(len(words)))
        if kind == "pairs":  # each of the two words says nothing: every label has both
            first, second = f"x{'abc'[label % 3]}", f"y{'abc'[(label // 3 + label) % 3]}"
            others = [w for w in ("xa", "xb", "xc", "ya", "yb", "yc") if w not in (first, second)]
            words[place:place] = [first, second]
            for other in others:
                words.insert(int(rng.integers(place)) if place else len(words), other)
        elif kind == "codes":
            words.insert(place, f"b{label}12")
        elif kind == "titles":  # the body has the words of other labels as often
            title.append(f"sign{'abcdefgh'[label]}")
            words += [f"sign{'abcdefgh'[each]}" for each in rng.integers(0, 8, 3)]
        yield {"title": " ".join(title), "text": " ".join(words)}, [LABELS[label]]


def candidates(**others: Any) -> Candidates:
    return Candidates((), (), ())._replace(**others)


def test_pairs_of_words_are_taken_where_they_tell_labels_apart() -> None:
    pairs = candidates(ngrams=(1, 2))
    found = choose(drawn("pairs"), str.split, PLAIN, pairs)
    assert found is not None
    assert found.settings.ngrams == 2
    assert found.average_precision > found.default_average_precision + 0.05
    other = choose(drawn("codes"), str.split, PLAIN, pairs)
    assert other is not None
    assert other.settings.ngrams == 1
    assert other.average_precision == other.default_average_precision


def test_codes_are_kept_where_they_tell_labels_apart() -> None:
    patterns = candidates(patterns=("words", "codes"))
    found = choose(drawn("codes"), str.split, PLAIN._replace(token_pattern="words"), patterns)  # noqa: S106
    assert found is not None
    assert found.settings.token_pattern == "codes"  # noqa: S105
    assert found.average_precision > 0.9 > found.default_average_precision


def test_words_of_titles_count_more_where_they_tell_labels_apart() -> None:
    found = choose(drawn("titles"), str.split, PLAIN, candidates(weighted_fields=("title", "text")))
    assert found is not None
    assert found.settings.weights["title"] > 1
    assert "text" not in found.settings.weights, "it is the longest field"
    assert str(found).startswith("counted: words and codes, title counts ")


def test_few_or_unlabelled_documents_choose_nothing() -> None:
    assert choose(drawn("codes", 199), str.split, PLAIN, candidates()) is None
    unlabelled = [(texts, ()) for texts, _ in drawn("codes")]
    assert choose(unlabelled, str.split, PLAIN, candidates()) is None
    alone = [(texts, [number]) for number, (texts, _) in enumerate(drawn("codes"))]
    assert choose(alone, str.split, PLAIN, candidates()) is None


def test_documents_without_the_words_of_others_are_scored() -> None:
    documents: list[Document] = [*drawn("codes", 400), *[({"text": "zzz"}, [LABELS[0]])] * 3]
    assert choose(documents, str.split, PLAIN, candidates()) is not None


def test_a_counter_and_a_model_of_texts_choose_by_labels() -> None:
    documents = list(drawn("pairs"))
    texts, labels = [texts["text"] for texts, _ in documents], [y for _, y in documents]
    counter = WordCounter(language="en", stop_words=None).fit(texts, labels)
    assert isinstance(counter.choice_, Choice)
    assert counter.ngrams_ == 2
    assert any(" " in word for word in counter.vocabulary_)
    model = DependencyLDA(n_held_out=0).fit(texts, labels, counter=WordCounter(stop_words=None))
    assert model.counter_ is not None
    assert model.counter_.ngrams_ == 2
    again = counter.with_words(counter.vocabulary_)
    assert again.choice_ is None
    assert (again.ngrams, again.token_pattern) == (2, counter.token_pattern_)


def test_texts_and_labels_must_be_of_as_many_documents() -> None:
    with pytest.raises(InputError, match="there are 2 texts, but labels of 1 documents"):
        WordCounter(language="en").fit(["one text", "two texts"], [["a"]])


def test_settings_that_are_set_and_texts_without_labels_are_left_alone() -> None:
    documents = list(drawn("pairs"))
    texts, labels = [texts["text"] for texts, _ in documents], [y for _, y in documents]
    fixed = WordCounter(language="en", normalize="none", token_pattern="words", ngrams=1)  # noqa: S106
    assert fixed.fit(texts, labels).choice_ is None
    assert WordCounter(language="en").fit(texts).ngrams_ == 1


def test_shards_have_the_words_of_one_file(tmp_path: Path) -> None:
    rows = [{**texts, "labels": labels} for texts, labels in [*drawn("titles"), *drawn("pairs")]]
    one, folder = tmp_path / "all.jsonl", tmp_path / "shards"
    folder.mkdir()
    write_rows(rows, one)
    for number in range(4):
        write_rows(rows[number * 300 : number * 300 + 300], folder / f"{number}.jsonl")
    fields = Fields(text=["title", "text"])
    settings: dict[str, Any] = {"language": "en", "stop_words": None, "min_count": 2}
    model = FlatLDA(n_held_out=0).fit_shards(
        folder, tmp_path / "work", fields=fields, counter=WordCounter(**settings)
    )
    counter = WordCounter(**settings)
    read = read_counted(one, fields=fields, counter=counter, training=TrainingPart())
    assert read.counter is not None
    assert read.fields is not None
    assert model.counter_ is not None
    assert model.fields_ is not None
    kept, least = kept_words(read.corpus, 2)
    assert (model.counter_.vocabulary_, least) == (kept.vocabulary, model.counter_.min_count_)
    assert any(" " in word for word in kept.vocabulary)
    assert model.fields_.weights == read.fields.weights != {}


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "language", "ngrams"),
    [
        ("tib-core-en", "en", 2),
        ("tib-core", "de", 1),
        ("kirjastonhoitaja", "fi", 1),
    ],
)
def test_pairs_are_taken_of_the_real_documents_that_they_help(
    name: str, language: str, ngrams: int, data_dir: Any
) -> None:
    found = load(name, data_dir)
    rows, labels = found.splits[0].train, label_sets(found.corpus.labels)
    counter = WordCounter(language=language)
    choice = counter.choose(({"text": found.texts[row]}, labels[row]) for row in rows)
    assert choice is not None
    assert choice.settings.ngrams == ngrams
