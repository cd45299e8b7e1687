"""Explanations: sums that come out right, pages that are safe, and the paper's two stories."""

import json
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

from deplda import Corpus, DependencyLDA, FlatLDA, InputError, PriorLDA, WordCounter, datasets
from deplda.data.datasets.newsroom import ITS_COMPANIONS, ONE_DOCUMENT_LABEL, Newsroom, _lexicon
from deplda.models.explanation import Explanation
from deplda.models.topic_model import TopicModel

MODELS = [FlatLDA, PriorLDA, DependencyLDA]


@cache
def news() -> Newsroom:
    return datasets.newsroom(1000)


@cache
def trained(model: type[TopicModel]) -> TopicModel:
    few: Any = {"n_topic_sweeps": 100} if model is DependencyLDA else {}
    return model(**few).fit(news().corpus)


@cache
def own_words() -> dict[str, list[str]]:
    """Return the words that the lexicon gives to each label, the strongest first."""
    return {label: words for group in _lexicon().groups.values() for label, words in group.items()}


@pytest.fixture(params=MODELS, ids=lambda model: model.__name__)
def model(request: pytest.FixtureRequest) -> TopicModel:
    return trained(request.param)


# Sums ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inference", ["deterministic", "sampled", "proper"])
def test_the_labels_share_out_every_token(model: TopicModel, inference: str) -> None:
    few: dict[str, Any] = {"inference": inference, "burn_in": 3, "n_samples": 2}
    before = model.get_params()
    model.set_params(**few)
    found = model.explain(news().corpus[[3]], k=1000)
    model.set_params(**before)
    assert len(found.reasons) == news().corpus.n_labels
    assert found.n_tokens == sum(word.times for word in found.words)
    for word in found.words:
        counted = 1 + np.log(word.times)
        counted = counted if inference == "deterministic" else np.rint(counted)
        assert sum(word.tokens) == pytest.approx(counted, rel=1e-3)
    for number, reason in enumerate(found.reasons):
        assert sum(word.tokens[number] for word in found.words) == pytest.approx(
            reason.tokens, abs=1e-3
        )


@pytest.mark.parametrize("combine", ["blend", "counts", "posterior"])
def test_words_and_prior_make_up_the_score(model: TopicModel, combine: str) -> None:
    before = model.get_params()
    model.set_params(combine=combine)
    for document in (news().corpus[[5]], csr_array((1, news().corpus.n_words))):
        found, ranking = model.explain(document, k=7), model.rank(document, 7)
        assert [reason.label for reason in found.reasons] == ranking.labels[0].tolist()
        for reason, score in zip(found.reasons, ranking.scores[0], strict=True):
            assert reason.score == pytest.approx(score, rel=1e-9)
            assert sum(reason.parts.values()) == pytest.approx(reason.score)
            assert min(reason.parts.values()) >= 0
            assert reason.parts["prior"] == 0 or combine != "counts"
        assert "Suggested labels" in found.to_html()
    model.set_params(**before)


def test_topics_share_the_prior_and_companions_the_topics() -> None:
    dependent = trained(DependencyLDA)
    found = dependent.explain(news().corpus[[0]])
    by_label = {reason.label: reason for reason in found.reasons}
    assert set(list(by_label)[:3]) == {ONE_DOCUMENT_LABEL, *ITS_COMPANIONS}
    for label in ITS_COMPANIONS:
        reason = by_label[label]
        (other,) = set(ITS_COMPANIONS) - {label}
        assert reason.companions[0].name == other
        assert all(0 < companion.weight <= 1 for companion in reason.companions)
        assert 0 < sum(topic.weight for topic in reason.topics) <= 1 + 1e-9
        strongest = reason.topics[0]
        assert {label, other} <= set(strongest.labels)
        (topic,) = [
            topic
            for topic in dependent.topics(5)
            if (topic.set, topic.number) == (strongest.set, strongest.number)
        ]
        assert tuple(name for name, _ in topic.labels) == strongest.labels


def test_flat_lda_has_no_topics_and_prior_lda_no_companions() -> None:
    assert trained(FlatLDA).topics() == []
    for reason in trained(FlatLDA).explain(news().corpus[[0]]).reasons:
        assert (reason.topics, reason.companions) == ((), ())
    for reason in trained(PriorLDA).explain(news().corpus[[0]]).reasons:
        assert len(reason.topics) == 1
        assert reason.companions == ()


def test_a_label_is_shown_by_its_words_and_its_neighbours(model: TopicModel) -> None:
    words = model.top_words("BASEBALL", 8)
    assert {word.name for word in words} <= set(own_words()["BASEBALL"]) | set(_lexicon().common)
    assert [word.weight for word in words] == sorted((w.weight for w in words), reverse=True)
    phi = model.label_words_.dense()[:, model.classes_.tolist().index("BASEBALL")]
    assert words[0].weight == pytest.approx(phi.max())
    alike = model.similar_labels("BASEBALL", 3)
    assert "ATHLETICS AND SPORTS" in [name for name, _ in alike]
    assert "BASEBALL" not in [name for name, _ in model.similar_labels("BASEBALL", 1000)]
    if model.topic_labels_:
        assert len(model.similar_labels("BASEBALL", 3, by="topics")) == 3
    if len(model.topic_labels_) > 1:
        (sports,) = [group for group in _lexicon().groups.values() if "BASEBALL" in group]
        neighbours = [name for name, _ in model.similar_labels("BASEBALL", 2, by="topics")]
        assert set(neighbours) <= set(sports)


def test_extreme_weights_are_explained_too() -> None:
    corpus = news().corpus
    for options in ({"eta": 0.0}, {"alpha": 0.0}, {"gamma": 1e-9}, {"n_topics": 1}):
        few: dict[str, Any] = {"n_topic_chains": 1, "n_topic_sweeps": 3}
        model = DependencyLDA(**(few | options)).fit(corpus[:50])
        for document in (corpus[[60]], csr_array((1, corpus.n_words))):
            found = model.explain(document)
            json.dumps(found.to_dict(), allow_nan=False)
            found.to_html()


# Documents ----------------------------------------------------------------------------------------


def test_one_document_in_any_form_is_explained(model: TopicModel) -> None:
    corpus = news().corpus
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
    corpus = news().corpus
    strange = Corpus([[2, 3]], [[0]], ["baseball", "quidditch"])
    found = trained(FlatLDA).explain(strange)
    assert (found.n_tokens, found.n_unknown) == (2, 3)
    assert "3 tokens of unknown words were left out" in found.to_html()
    assert trained(FlatLDA).explain(corpus[[1]]).n_unknown == 0


# Texts --------------------------------------------------------------------------------------------

TEXTS = ["Çay içmek güzel", "Das Café in İstanbul", "ΟΔΟΣ means Straße", "new york, New York"]


def explained(text: str, **options: Any) -> Explanation:
    counter = WordCounter(stop_words=None, **options)
    labels = [["tea"], ["tea", "city"], ["city"], ["city", "usa"]]
    model = FlatLDA().fit(counter.fit_transform(TEXTS), labels, counter=counter)
    return model.explain(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ÇAY, café!", ["ÇAY", "café"]),
        ("İstanbul İSTANBUL istanbul", ["stanbul", "STANBUL"]),  # İ is folded to i and a dot
        ("ΟΔΟΣ Straße", ["ΟΔΟΣ", "Straße"]),
        ("the New York", ["New", "York"]),
        ("nothing known", []),
        ("", []),
    ],
)
def test_words_are_found_where_they_stand(text: str, found: list[str]) -> None:
    explanation = explained(text)
    assert [text[begin:end] for begin, end, _ in explanation.spans] == found
    counted = sum(word.times for word in explanation.words)
    assert counted == explanation.n_tokens == len(found)
    assert {word for _, _, word in explanation.spans} == {w.word for w in explanation.words}
    assert text in "".join(page_of(explanation).text)


def test_sequences_of_words_are_listed_below_the_text() -> None:
    explanation = explained("In New York and new york", ngram_range=(1, 2))
    assert {"new", "york", "new york"} <= {word.word for word in explanation.words}
    assert [word for _, _, word in explanation.spans] == ["in", "new", "york", "new", "york"]
    page = "".join(page_of(explanation).text)
    assert "In New York and new york" in page
    assert "Counted beside single words: new york" in page
    pairs = explained("In New York", ngram_range=(2, 2))
    assert pairs.spans == ()
    assert "Counted beside single words: new york" in "".join(page_of(pairs).text)


def test_letters_are_left_as_they_are_where_case_matters() -> None:
    explanation = explained("New York, new york", lowercase=False)
    assert [word for _, _, word in explanation.spans] == ["New", "York", "new", "york"]


# What comes out -----------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads a page and sees that every tag that is opened is closed."""

    VOID = ("meta", "br", "hr", "link", "img")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data.replace("\xa0", " "))


def page_of(explanation: Explanation) -> Page:
    html = explanation.to_html()
    page = Page()
    page.feed(html)
    page.close()
    assert page.open == []
    assert html.startswith("<!doctype html>")
    assert not {"script", "link", "img", "iframe", "object"} & page.tags
    assert not [name for name, _ in page.attributes if name.startswith(("on", "src", "href"))]
    for outside in ("http:", "https:", "//", "url(", "@import", "javascript:"):
        assert outside not in html.replace("<!doctype", "")
    return page


def test_a_page_needs_nothing_else(model: TopicModel) -> None:
    explanation = model.explain(news().corpus[[0]])
    page = page_of(explanation)
    text = "".join(page.text)
    for reason in explanation.reasons:
        assert str(reason.label) in text
    for word in explanation.words:
        assert word.word in text
    assert explanation._repr_html_() in explanation.to_html()


ANY = r"[^ ]+"
HOSTILE = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"


def test_hostile_labels_words_and_texts_are_shown_and_not_obeyed() -> None:
    text = f"{HOSTILE} {HOSTILE}"
    counter = WordCounter(stop_words=None, token_pattern=ANY, lowercase=False)
    counts = counter.fit_transform([text, "good"])
    model = DependencyLDA(n_topic_chains=1, n_topic_sweeps=3).fit(
        counts, [[HOSTILE, "worse" + HOSTILE], ["good"]], counter=counter
    )
    # As a text, as counts without a text, and with a text that has no known words.
    for document in (text, counts[[0]], "<script>x</script>"):
        page = page_of(model.explain(document))
        assert HOSTILE in "".join(page.text)
    console = Console(width=200, record=True, file=None, force_terminal=False, quiet=True)
    console.print(model.explain(text))


def test_values_are_json_has_them(model: TopicModel) -> None:
    for labels in (["a", "b"], [3, 5], [True, False]):
        counts = np.array([[1, 0], [0, 2]])
        explanation = FlatLDA().fit(counts, labels).explain(counts[[1]])
        values = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
        assert {value["label"] for value in values["labels"]} == set(labels)
    values = model.explain(news().corpus[[0]]).to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert values["n_tokens"] == 180
    assert set(values["labels"][0]) == {
        "label", "score", "parts", "tokens", "words", "topics", "companions", "svm_words",
    }  # fmt: skip


def test_a_table_is_drawn_and_square_brackets_are_no_markup(capsys: Any) -> None:
    counter = WordCounter(stop_words=None, token_pattern=ANY)
    counts = counter.fit_transform(["[red]ball[/red]", "other"])
    model = FlatLDA().fit(counts, [["[bold]label[/nonsense]"], ["plain"]], counter=counter)
    Console(width=160).print(model.explain("[red]ball[/red] and"))
    drawn = capsys.readouterr().out
    assert "[bold]label[/nonsense]" in drawn
    assert "[red]ball[/red]" in drawn
    assert "1 tokens of known words, 1 of unknown ones left out." in drawn


def test_nothing_is_drawn_unless_asked_for(capsys: Any) -> None:
    trained(FlatLDA).explain(news().corpus[[0]])
    assert capsys.readouterr() == ("", "")


# The paper's stories ------------------------------------------------------------------------------


def test_a_label_of_one_document_learns_its_own_words(model: TopicModel) -> None:
    """Its document has two frequent labels beside it, to which their words are left."""
    top = [word.name for word in model.top_words(ONE_DOCUMENT_LABEL, 10)]
    assert set(top) <= set(own_words()[ONE_DOCUMENT_LABEL])


def test_a_linear_svm_takes_its_companions_words_for_its_own() -> None:
    corpus = news().corpus
    is_it = corpus.labels[:, [corpus.label_names.index(ONE_DOCUMENT_LABEL)]].toarray().ravel()
    weights = LinearSVC(random_state=0).fit(corpus.counts, is_it).coef_[0]
    top = [corpus.vocabulary[w] for w in np.argsort(-weights)[:10]]
    theirs = {word for label in ITS_COMPANIONS for word in own_words()[label]}
    assert len(theirs.intersection(top)) >= 3


# The word is one of all three labels. Labels of the same group go with them.
AMBIGUOUS = "steroids"
GOES_WITH = {
    "BASEBALL": ["FOOTBALL", "ATHLETICS AND SPORTS", "SUSPENSIONS, DISMISSALS AND RESIGNATIONS"],
    "MEDICINE AND HEALTH": ["DOCTORS", "HOSPITALS", "CANCER"],
    "BLACK MARKETS": ["SMUGGLING", "POLICE", "CRIME AND CRIMINALS"],
}


def shares(model: TopicModel, companions: list[str]) -> dict[str, float]:
    """Return how much of the word each of the three gets, among words of the companions alone."""
    corpus, words = news().corpus, own_words()
    of_the_three = {word for label in GOES_WITH for word in words[label]}
    counts = np.zeros((1, corpus.n_words), dtype=int)
    for label in companions:
        telling = [word for word in words[label] if word not in of_the_three]
        counts[0, [corpus.vocabulary.index(word) for word in telling[:6]]] = 2
    counts[0, corpus.vocabulary.index(AMBIGUOUS)] = 3
    found = model.explain(counts, k=corpus.n_labels)
    (word,) = [word for word in found.words if word.word == AMBIGUOUS]
    by_label = dict(zip([reason.label for reason in found.reasons], word.tokens, strict=True))
    return {label: by_label[label] for label in GOES_WITH}


def test_an_ambiguous_word_goes_to_the_label_that_its_companions_suggest() -> None:
    for label, other in (
        ("BASEBALL", "MEDICINE AND HEALTH"),
        ("MEDICINE AND HEALTH", "BASEBALL"),
    ):
        found = shares(trained(DependencyLDA), GOES_WITH[label])
        assert found[label] > 0.5 * (1 + np.log(3))  # which is what 3 tokens count
        assert found[label] > 5 * found[other]


@pytest.mark.parametrize("unaware", [FlatLDA, PriorLDA])
def test_models_without_topics_do_not_heed_the_companions(unaware: Any) -> None:
    odds = []
    for companions in GOES_WITH.values():
        found = shares(trained(unaware), companions)
        odds.append(found["BASEBALL"] / found["MEDICINE AND HEALTH"])
    assert max(odds) < 1.2 * min(odds)


def test_a_rare_meaning_is_learned_when_documents_come_that_have_it() -> None:
    """BLACK MARKETS has two of the thousand documents: too few to be a meaning of the word."""
    corpus, phi = news().corpus, news().label_words
    model = DependencyLDA(n_topic_sweeps=100).fit(corpus)
    before = shares(model, GOES_WITH["BLACK MARKETS"])
    assert before["BLACK MARKETS"] < 0.1
    rng = np.random.default_rng(0)
    counts, labels = [], np.zeros((90, corpus.n_labels), dtype=int)
    for d in range(90):
        companion = GOES_WITH["BLACK MARKETS"][d % 3]
        labels[d, [corpus.label_names.index(label) for label in ("BLACK MARKETS", companion)]] = 1
        counts.append(rng.multinomial(130, phi[:, labels[d] > 0].mean(axis=1)))
    model.partial_fit(Corpus(counts, labels, corpus.vocabulary, corpus.label_names))
    after = shares(model, GOES_WITH["BLACK MARKETS"])
    assert max(after, key=lambda label: after[label]) == "BLACK MARKETS"
    assert max(GOES_WITH, key=shares(model, GOES_WITH["BASEBALL"]).__getitem__) == "BASEBALL"
