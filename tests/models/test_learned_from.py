"""Which documents a model has learned from."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import deplda
from deplda import Corpus, DependencyLDA, FlatLDA, HybridLDA, ReadError, TfidfSVM, WordCounter
from deplda.errors import LearnedFromWarning
from deplda.models.learned_from import LearnedFrom, warn_of
from tests.models.saved_models import edit_arrays
from tests.models.worlds import news, quick

SAVED = Path(__file__).parent / "fixtures" / "saved"
COUNTS = csr_array(np.array([[1, 0, 2], [0, 3, 0], [0, 0, 0], [1, 0, 2]]))
EVERY = csr_array(np.ones((4, 1), bool))


def test_a_document_is_known_by_its_counts_of_whatever_type() -> None:
    known = LearnedFrom().with_more(COUNTS, EVERY)
    assert (len(known.bits), known.n_words.tolist()) == (2, [3])  # one is there twice, one is empty
    asked = np.array([[1, 0, 2], [2, 0, 1], [0, 0, 0], [0, 3, 0]], dtype=np.float32)
    assert known.among(csr_array(asked)).tolist() == [True, False, False, True]
    unsorted = csr_array((np.array([2.0, 1.0, 0.0]), ([0, 0, 0], [2, 0, 1])), shape=(1, 3))
    assert known.among(unsorted).tolist() == [True]
    assert LearnedFrom().among(COUNTS).tolist() == [False] * 4


def test_only_documents_with_labels_were_learned_from() -> None:
    labels = csr_array(np.array([[0], [1], [1], [0]], bool))
    assert LearnedFrom().with_more(COUNTS, labels).among(COUNTS).tolist() == [0, 1, 0, 0]


def test_what_was_learned_before_there_were_more_words_is_still_known() -> None:
    more = csr_array(np.array([[1, 0, 2, 5], [0, 3, 0, 0], [0, 0, 0, 4], [9, 9, 9, 9]]))
    known = LearnedFrom().with_more(COUNTS, EVERY).with_more(more[[2]], EVERY[[0]])
    assert known.n_words.tolist() == [3, 4]
    assert known.among(more).tolist() == [True, True, True, False]


def test_the_bits_do_not_say_in_which_order_documents_were() -> None:
    known = LearnedFrom().with_more(COUNTS, EVERY)
    assert (known.bits == np.sort(known.bits)).all()
    backwards = LearnedFrom().with_more(COUNTS[::-1], EVERY)
    assert (known.bits == backwards.bits).all()


@pytest.mark.parametrize("kind", [FlatLDA, DependencyLDA, HybridLDA, TfidfSVM])
def test_every_model_remembers_its_documents_and_saves_them(kind: Any, tmp_path: Path) -> None:
    corpus = news()
    model = quick(kind).fit(corpus[:100])
    model.save(tmp_path / "m")
    for each in (model, deplda.load(tmp_path / "m")):
        assert each.learned_from(corpus).tolist() == [True] * 100 + [False] * (len(corpus) - 100)


@pytest.mark.parametrize("kind", [FlatLDA, HybridLDA])
def test_what_is_learned_on_is_remembered_too(kind: Any) -> None:
    texts = ["the judge and the jury", "the coach and the team", "an opera and a singer"]
    labels = [["LAW"], ["SPORT"], ["MUSIC"]]
    counter = WordCounter(min_count=1).fit(texts[:2] * 3)
    model = kind(n_held_out=0).fit(counter.transform(texts[:2]), labels[:2], counter=counter)
    assert model.learned_from(texts).tolist() == [True, True, False]
    model.partial_fit(texts[2:], labels[2:])
    assert model.learned_from([*texts, "the judge sang"]).tolist() == [True, True, True, False]
    new = ["the judge and the jury heard an opera", texts[0]]
    assert model.learned_from(new).tolist() == [True, True]  # by the words that were known then


def test_shards_are_not_remembered(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    deplda.write_jsonl(news()[:50], tmp_path / "in" / "a.jsonl")
    model = quick(FlatLDA).fit_shards(tmp_path / "in", tmp_path / "scratch")
    assert not model.learned_from(news()[:50]).any()


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.json")), ids=lambda path: path.stem)
def test_a_model_of_an_earlier_version_says_of_none_that_it_knows_it(path: Path) -> None:
    model = deplda.load(path.with_suffix(""))
    assert not model.learned_from(np.ones((2, model.n_features_in_))).any()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("starts", [0, 1], "does not divide"),
        ("starts", [0], "does not divide"),
        ("bits", [0.5], "is float64 in 1 dimensions, not <class 'numpy.int64'> in 1"),
        ("n_words", None, "is missing"),
    ],
)
def test_a_damaged_memory_is_refused(name: str, value: Any, message: str, tmp_path: Path) -> None:
    quick(FlatLDA).fit(news()[:20]).save(tmp_path / "m")

    def edit(arrays: dict[str, Any]) -> None:
        del arrays[f"learned_from.{name}"]
        if value is not None:
            arrays[f"learned_from.{name}"] = np.array(value)

    edit_arrays(tmp_path / "m", edit)
    with pytest.raises(ReadError, match=message):
        deplda.load(tmp_path / "m")


def test_it_is_warned_of_documents_learned_from_with_their_share() -> None:
    warn_of(0, 10)
    warn_of(9, 1000)  # a few are there twice in any corpus
    with pytest.warns(LearnedFromWarning, match="10 of 1,000"):
        warn_of(10, 1000)
    with pytest.warns(LearnedFromWarning, match=r"1,500 of 2,000 documents have the same words as"):
        warn_of(1500, 2000)


def test_a_corpus_is_known_again_in_another_order_of_words() -> None:
    corpus = news()
    model = quick(FlatLDA).fit(corpus[:30])
    order = np.random.default_rng(0).permutation(corpus.n_words)
    other = Corpus(
        corpus.counts[:, order], corpus.labels, [corpus.vocabulary[n] for n in order],
        corpus.label_names,
    )  # fmt: skip
    assert model.learned_from(other)[:40].tolist() == [True] * 30 + [False] * 10
