"""Sequences of words are kept where they belong together."""

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from deplda import WordCounter
from deplda.data.collocations import _LEAST_RATIO, chosen_words, log_likelihood_ratio


def ratio(*numbers: int) -> float:
    both, first, second, n = numbers
    return float(
        log_likelihood_ratio(np.array([both]), np.array([first]), np.array([second]), n)[0]
    )


@pytest.mark.parametrize("numbers", [(8, 10, 9, 1000), (3, 50, 60, 5000), (10, 10, 10, 400)])
def test_the_ratio_is_that_of_the_table(numbers: tuple[int, int, int, int]) -> None:
    both, first, second, n = numbers
    table = [[both, first - both], [second - both, n - first - second + both]]
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert ratio(*numbers) == pytest.approx(expected)


def test_what_stands_together_by_chance_or_less_has_none() -> None:
    assert ratio(1, 100, 10, 1000) == 0
    assert ratio(0, 100, 100, 1000) == 0
    assert chi2.sf(_LEAST_RATIO, 1) == pytest.approx(0.001, rel=0.01)


def test_pairs_that_belong_together_are_words_of_their_own() -> None:
    texts = ["new york bank", "the bank rose", "york minster", "new laws", "bank fell"] * 4
    texts += ["new york opens"] * 8
    counter = WordCounter(ngrams=2, min_count=4)
    counts = counter.fit_transform(texts)
    assert "new york" in counter.vocabulary_
    assert "york bank" not in counter.vocabulary_
    n_pairs = sum(" " in word for word in counter.vocabulary_)
    assert 0 < n_pairs <= len(counter.vocabulary_) - n_pairs
    place = counter.vocabulary_.index("new york")
    assert counts[:, [place]].sum() == 12
    assert counter.transform(["New York, new york"]).toarray()[0, place] == 2


def test_no_more_pairs_are_kept_than_words() -> None:
    words = ["a", "a b", "a c", "a d", "b", "c", "d", "rare"]
    totals = np.array([300, 90, 80, 70, 91, 81, 71, 1])
    kept, least = chosen_words(words, totals, 95)
    assert ([words[place] for place in kept], least) == (["a"], 95)
    kept, _ = chosen_words(words, totals, 60)
    assert [words[place] for place in kept] == ["a", "a b", "a c", "a d", "b", "c", "d"]
    kept, _ = chosen_words([*words[:2], "b"], np.array([99, 98, 3]), 4)
    assert [words[place] for place in kept] == ["a", "a b"]


def test_a_word_with_a_blank_is_no_pair_where_its_parts_are_no_words() -> None:
    kept, _ = chosen_words(["new york", "paris"], np.array([1, 1]), 1)
    assert kept.tolist() == [0, 1]


def test_threes_are_kept_too() -> None:
    texts = ["alpha beta gamma"] * 9 + ["delta", "beta delta"] * 30
    assert "alpha beta gamma" in WordCounter(ngrams=3, min_count=2).fit(texts).vocabulary_
