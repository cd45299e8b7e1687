"""Examples: of the training documents of a label, those that are most like a new one."""

from copy import copy
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from safetensors.numpy import load_file
from scipy.sparse import csr_array

from deplda import DependencyLDA, FlatLDA, HybridLDA, InputError, ReadError, TfidfSVM, load
from deplda.data.corpus import Corpus
from deplda.models.examples import LONGEST_TITLE, Examples, shortened
from deplda.models.linear.svm import idf_of, tfidf
from tests.models.saved_models import edit_arrays
from tests.models.test_knows_names import fitted as with_names
from tests.models.test_knows_names import world
from tests.models.worlds import news, quick

TITLES = [f"Article {number}" for number in range(len(news()))]


@cache
def kept(kind: Any) -> Any:
    return quick(kind).fit(news()).keep_examples(news(), TITLES)


@pytest.mark.parametrize("kind", [FlatLDA, DependencyLDA, HybridLDA])
def test_a_training_document_is_its_own_first_example(kind: Any) -> None:
    model = kept(kind)
    for row in (0, 7, 30):
        own = {news().label_names[c] for c in news()[[row]].labels.indices}
        for reason in model.explain(news()[[row]], k=3).reasons:
            assert len(reason.examples) <= 3
            similar = [each.similarity for each in reason.examples]
            assert similar == sorted(similar, reverse=True)
            assert all(0 < each <= 1 for each in similar)
            if reason.label in own:
                assert reason.examples[0].title == f"Article {row}"
                assert reason.examples[0].similarity == pytest.approx(1)


def test_examples_are_documents_of_the_label() -> None:
    model = kept(FlatLDA)
    labels = news().labels.toarray()
    for reason in model.explain(news()[[3]], k=4).reasons:
        column = labels[:, news().label_names.index(reason.label)]
        for each in reason.examples:
            assert column[TITLES.index(each.title)]


def test_examples_are_those_that_the_cosine_of_all_words_would_choose_or_nearly_so() -> None:
    counts = news().counts
    exact = tfidf(idf_of(counts), counts)
    examples = Examples.of(counts, TITLES)
    every = np.arange(len(TITLES))
    for row in range(0, 60, 7):
        cosines = (exact @ exact[[row]].T).toarray().ravel()
        found = examples.similar(counts[[row]], every[every != row], 1)[0]
        best = np.sort(np.delete(cosines, row))[::-1]
        assert cosines[TITLES.index(found.title)] >= best[9]


def test_examples_stand_on_the_page_of_an_explanation() -> None:
    explanation = kept(FlatLDA).explain(news()[[0]], k=1)
    assert "Similar training documents: Article 0" in explanation.to_html()
    told, label = StringIO(), explanation.reasons[0].label
    Console(file=told, width=200).print(explanation)
    assert f"Training documents of {label} like it: Article 0 (100%); " in told.getvalue()


def test_typical_documents_are_nearest_to_the_mean() -> None:
    counts = np.array([[5, 5, 0, 0], [5, 4, 0, 0], [0, 0, 9, 1], [4, 5, 0, 0]])
    examples = Examples.of(csr_array(counts), ["a", "b", "odd", "c"])
    found = examples.typical(np.arange(4), 4)
    assert {each.title for each in found[:3]} == {"a", "b", "c"}
    assert found[3].title == "odd"


def test_titles_are_short_and_on_one_line() -> None:
    assert shortened("  Two\n lines ") == "Two lines"
    long = shortened("word " * 100)
    assert len(long) <= LONGEST_TITLE
    assert long.endswith("word…")
    assert len(shortened("x" * 500)) == LONGEST_TITLE


@pytest.mark.parametrize("kind", [HybridLDA, TfidfSVM])
def test_examples_are_saved_with_the_model_and_only_if_kept(kind: Any, tmp_path: Path) -> None:
    model = kept(kind)
    model.save(tmp_path / "with")
    found = load(tmp_path / "with").examples_
    assert found is not None
    assert found.titles == tuple(TITLES)
    assert (found.vectors != model.examples_.vectors).nnz == 0
    assert (found.idf == model.examples_.idf).all()
    assert found.n_bytes == model.examples_.n_bytes
    without = copy(model)
    without.examples_ = None
    without.save(tmp_path / "without")
    assert load(tmp_path / "without").examples_ is None
    names = load_file(tmp_path / "without" / "arrays.safetensors")
    assert not [name for name in names if name.startswith("examples")]


def test_titles_must_be_of_all_training_documents() -> None:
    model = quick(FlatLDA).fit(news())
    with pytest.raises(InputError, match="in their order"):
        model.keep_examples(news()[:5], TITLES[:5])
    with pytest.raises(InputError, match="in their order"):
        model.keep_examples(news(), TITLES[:5])


def test_what_is_counted_for_the_sake_of_names_is_no_word_of_examples(tmp_path: Path) -> None:
    texts = world().texts
    model = copy(with_names()).keep_examples(texts, texts)
    assert model.examples_ is not None
    assert len(model.examples_.idf) == model.n_learned_words_ < model.n_features_in_
    model.save(tmp_path / "model")
    for found in (model, load(tmp_path / "model")):
        examples = found.explain(texts[3], 1).reasons[0].examples
        assert examples[0].title == shortened(texts[3])


def test_a_model_that_learns_on_keeps_the_examples_that_it_has() -> None:
    model = copy(kept(DependencyLDA))
    more = Corpus(
        news()[:3].counts, news()[:3].labels, news().vocabulary, news().label_names,
        ["new0", "new1", "new2"],
    )  # fmt: skip
    model.partial_fit(more)
    found = model.explain(news()[[0]], k=3)
    assert all(each.title in TITLES for reason in found.reasons for each in reason.examples)
    assert any(reason.examples for reason in found.reasons)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("titles", lambda packed: packed[:-1]),
        ("idf", lambda idf: np.concatenate([idf, np.ones(5)])),
        ("data", lambda data: data[1:]),
        ("indices", lambda indices: indices + 1_000_000),
        ("starts", lambda starts: starts[:-1]),
    ],
)
def test_broken_examples_are_told(name: str, change: Any, tmp_path: Path) -> None:
    kept(FlatLDA).save(tmp_path / "model")

    def edit(arrays: dict[str, Any]) -> None:
        arrays[f"examples.{name}"] = change(arrays[f"examples.{name}"])

    edit_arrays(tmp_path / "model", edit)
    with pytest.raises(ReadError, match="examples"):
        load(tmp_path / "model")


def test_examples_of_no_words_are_like_nothing() -> None:
    counts = csr_array(np.array([[1, 0, 2]]))
    none = Examples(("One",), np.zeros(0), csr_array(np.zeros((1, 0), np.uint8)))
    assert none.similar(counts, np.array([0]), 3) == ()
    assert none.typical(np.array([0]), 3) == ()
