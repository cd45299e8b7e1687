"""What a model that explains itself can be asked, and in which form."""

from typing import Any

import pytest

from deplda import Corpus, FlatLDA, InputError
from deplda.models.topic_model import TopicModel
from tests.drawn_news import common_words, groups, own_words
from tests.models.worlds import counted, newsroom, trained


@pytest.fixture
def model(model: Any) -> TopicModel:
    """Give every model, trained on the newsroom."""
    return trained(model)


def test_one_document_in_any_form_is_explained(model: TopicModel) -> None:
    corpus = newsroom().corpus
    one = corpus[[7]]
    reference = model.explain(one)
    row: Any = corpus.counts[[7]]
    for form in (row, row.toarray(), row.toarray()[0], corpus.counts[7], row.toarray().tolist()):
        assert model.explain(form) == reference
    for several in (corpus[:2], corpus.counts[:2], corpus[:0]):
        with pytest.raises(InputError, match="documents were given; explain one at a time"):
            model.explain(several)
    with pytest.raises(InputError, match="pass fit"):
        model.explain("a text")


def test_words_that_the_model_does_not_know_are_counted() -> None:
    corpus = newsroom().corpus
    strange = Corpus([[2, 3]], [[0]], ["baseball", "quidditch"])
    found = trained(FlatLDA).explain(strange)
    assert (found.n_tokens, found.n_unknown) == (2, 3)
    assert "Left out: 3 tokens of unknown words." in found.to_html()
    assert trained(FlatLDA).explain(corpus[[1]]).n_unknown == 0


def test_a_label_is_shown_by_its_words_and_its_neighbours(model: TopicModel) -> None:
    words = model.top_words("BASEBALL", 8)
    assert {word.name for word in words} <= set(own_words()["BASEBALL"]) | set(common_words())
    assert [word.weight for word in words] == sorted((w.weight for w in words), reverse=True)
    phi = model.label_words_.dense()[:, model.classes_.tolist().index("BASEBALL")]
    assert words[0].weight == pytest.approx(phi.max())
    alike = model.similar_labels("BASEBALL", 3)
    assert "ATHLETICS AND SPORTS" in [name for name, _ in alike]
    assert "BASEBALL" not in [name for name, _ in model.similar_labels("BASEBALL", 1000)]
    if model.topic_labels_:
        assert len(model.similar_labels("BASEBALL", 3, by="topics")) == 3
    if len(model.topic_labels_) > 1:
        (sports,) = [group for group in groups() if "BASEBALL" in group]
        ((neighbour, _),) = model.similar_labels("BASEBALL", 1, by="topics")
        assert neighbour in sports


def test_nothing_is_drawn_unless_asked_for(capsys: Any) -> None:
    trained(FlatLDA).explain(newsroom().corpus[[0]])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("k", [0, -1, 1.5, "all", True, None])
def test_how_many_labels_is_a_whole_number(fitted: TopicModel, k: Any) -> None:
    _, x = counted()
    for call in (
        lambda: fitted.rank(x, k),
        lambda: fitted.explain(x[[0]], k),
        lambda: fitted.top_words("sports", k),
        lambda: fitted.topics(k),
        lambda: fitted.similar_labels("sports", k),
    ):
        with pytest.raises(InputError, match=r"(k|n) is .*; it must be a whole number from 1"):
            call()


def test_an_unknown_label_is_named(fitted: TopicModel) -> None:
    for call in (fitted.top_words, fitted.similar_labels):
        with pytest.raises(
            InputError, match="does not know the label 'sprots'; did you mean 'sports'"
        ):
            call("sprots")
    with pytest.raises(InputError, match="by is 'looks'"):
        fitted.similar_labels("sports", by="looks")  # type: ignore[arg-type]


def test_an_unknown_label_is_answered_by_near_ones_whatever_the_case(fitted: TopicModel) -> None:
    with pytest.raises(InputError, match="label 'SPORTS'; did you mean 'sports'"):
        fitted.top_words("SPORTS")
    with pytest.raises(InputError, match=r"label 'xyzzy'; it has \d+ labels, none like it"):
        fitted.top_words("xyzzy")
