"""Counts in bounded memory, against counts of everything."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from deplda.data.frequent import Frequent, TextWords
from deplda.data.names import MARK

_WORDS = st.sampled_from([f"w{number}" for number in range(30)])
_PARTS = st.lists(st.lists(_WORDS, max_size=60), max_size=8)


def _merged(parts: list[list[str]], most: int) -> Frequent:
    whole = Frequent(most)
    for part in parts:
        whole.merge(Frequent(most).add(Counter(part)))
    return whole


@given(_PARTS, st.integers(1, 40))
def test_counts_are_never_too_large_and_too_small_by_what_was_missed(
    parts: list[list[str]], most: int
) -> None:
    found, exact = _merged(parts, most), Counter(word for part in parts for word in part)
    assert found.n_tokens == exact.total()
    assert len(found.counts) <= most
    for word, total in exact.items():
        count = found.counts.get(word, 0)
        assert count <= total <= count + found.missed
    assert set(found.counts) <= set(exact)


@given(_PARTS, st.integers(1, 40))
def test_what_was_missed_is_bounded_by_the_tokens(parts: list[list[str]], most: int) -> None:
    found = _merged(parts, most)
    left = sum(found.counts.values())
    assert found.missed * (most // 2 + 1) <= found.n_tokens - left
    assert all(
        word in found.counts
        for word, total in Counter(word for part in parts for word in part).items()
        if total > found.n_tokens / (most // 2 + 1)
    )


@given(_PARTS)
def test_counts_are_exact_in_their_order_while_there_is_room(parts: list[list[str]]) -> None:
    exact = Counter(word for part in parts for word in part)
    found = _merged(parts, max(1, len(exact)))
    assert found.missed == 0
    assert list(found.counts.items()) == list(exact.items())


def test_the_bound_is_reached_by_words_of_one_token_each() -> None:
    found = Frequent(8).add({f"w{number}": 1 for number in range(9)})
    assert (found.counts, found.missed) == ({}, 1)
    kept = Frequent(8).add({"often": 5} | {f"w{number}": 1 for number in range(8)})
    assert (kept.counts, kept.missed) == ({"often": 4}, 1)


def test_sequences_do_not_crowd_out_words() -> None:
    words = {"a": 3, "b": 3, "c": 2}
    sequences = {f"a b{number}": 1 for number in range(20)} | {"a b": 4}
    found = TextWords(6, 2).add(words | sequences, {})
    assert (found.words.missed, found.sequences.missed) == (0, 1)
    assert found.n_tokens == 8
    assert found.totals() == words | {"a b": 3}


def test_a_sequence_whose_parts_are_not_known_is_not_taken_for_a_word() -> None:
    found = TextWords(4, 3).add({f"w{number}": 1 for number in range(9)}, {})
    found.merge(TextWords(4, 3).add({"a": 3, "b": 3, "a b": 2, "a b a": 1, "x y": 2}, {}))
    assert found.missed == 1
    assert set(found.totals()) == {"a", "b", "a b", "a b a"}


def test_tokens_with_blanks_are_words_where_no_sequences_are_counted() -> None:
    found = TextWords(8, 1).add({"New York": 2, "a": 1, f"a{MARK}": 3}, {})
    assert found.words.counts == {"New York": 2, "a": 1}
