import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix

from deplda import Corpus, InputError, concat, write_jsonl, write_svmlight
from deplda.data.corpus import NumberedNames, compact_rows, grown, repeated


def small() -> Corpus:
    return Corpus(
        [[2, 0, 1], [0, 0, 0], [0, 3, 1], [1, 0, 0]],
        [[1, 0], [0, 1], [1, 1], [0, 0]],
        ["apple", "bee", "cat"],
        ["fruit", "animal"],
        ["a", "b", "c", "d"],
    )


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    n, w, c = (draw(st.integers(low, 6)) for low in (0, 0, 0))
    counts = draw(
        st.lists(st.lists(st.integers(0, 3), min_size=w, max_size=w), min_size=n, max_size=n)
    )
    labels = draw(st.lists(st.lists(st.booleans(), min_size=c, max_size=c), min_size=n, max_size=n))
    return Corpus(
        np.reshape(np.array(counts, int), (n, w)), np.reshape(np.array(labels, bool), (n, c))
    )


def test_labels_that_no_document_has_are_left_out() -> None:
    corpus = Corpus([[1], [2]], [[1, 0, 0], [0, 0, 1]], ["x"], ["a", "b", "c"])
    kept = corpus.keep_labels_met()
    assert kept.label_names == ("a", "c")
    assert kept.labels.toarray().tolist() == [[1, 0], [0, 1]]


def test_sizes_and_sums_are_those_of_the_matrices() -> None:
    corpus = small()
    assert len(corpus) == corpus.n_documents == 4
    assert (corpus.n_words, corpus.n_labels, corpus.n_tokens) == (3, 2, 8)
    assert corpus.document_lengths.tolist() == [3, 0, 4, 1]
    assert corpus.labels_per_document.tolist() == [1, 1, 2, 0]
    assert corpus.word_counts.tolist() == [3, 3, 2]
    assert corpus.label_counts.tolist() == [2, 2]
    assert repr(corpus) == "Corpus(4 documents, 3 words, 2 labels, 8 tokens)"


def test_counts_are_int32_and_labels_bool_whatever_came_in() -> None:
    for form in (csr_matrix, csr_array, csc_array, np.array):
        corpus = Corpus(form([[2.0, 0.0]]), form([[1, 0]]))
        assert corpus.counts.dtype == np.int32
        assert corpus.labels.dtype == np.bool_
        assert isinstance(corpus.counts, csr_array)


def test_indices_are_narrow_wherever_they_come_from() -> None:
    wide = csr_array((np.ones(1), np.zeros(1, np.int64), np.array([0, 1], np.int64)), shape=(1, 1))
    corpus = Corpus(wide, wide)
    for made in (corpus, corpus[[0]], concat([corpus]), corpus.align(corpus), corpus.keep_words(1)):
        for matrix in (made.counts, made.labels):
            assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


def test_names_default_to_numbers() -> None:
    corpus = Corpus([[1, 0]], [[1]])
    assert corpus.vocabulary == ("word0", "word1")
    assert corpus.label_names == ("label0",)
    assert corpus.ids == ("0",)


def test_a_corpus_cannot_be_changed() -> None:
    corpus = small()
    with pytest.raises(AttributeError):
        corpus.ids = ()  # type: ignore[misc]
    for matrix in (corpus.counts, corpus[[0]].counts, corpus.align(corpus).labels):
        with pytest.raises(ValueError, match="read-only"):
            matrix.data[0] = 7


def test_the_callers_arrays_stay_his_own() -> None:
    counts = csr_array(np.array([[1, 2]], dtype=np.int32))
    corpus = Corpus(counts, [[1]])
    counts.data[0] = 9
    assert corpus.counts.toarray().tolist() == [[1, 2]]


def test_duplicate_entries_are_summed_and_zeros_dropped() -> None:
    counts = csr_array((np.array([1, 2, 0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    corpus = Corpus(counts, [[0]])
    assert corpus.counts.toarray().tolist() == [[0, 3]]
    assert corpus.counts.nnz == 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-1, "-1"), (np.nan, "nan"), (np.inf, "inf"), (2.0**31, "2147483648")],
)
def test_a_bad_count_is_named_with_its_place(value: float, shown: str) -> None:
    with pytest.raises(
        InputError, match=rf"word 1 in document 2 is {shown}.*from 0 to 2,147,483,647"
    ):
        Corpus([[1, 0], [0, 1], [0, value]], [[1], [1], [1]])


def test_fractions_are_kept_and_tokens_are_whole(tmp_path: Path) -> None:
    corpus = Corpus([[0.25, 1.5, 0], [0, 2.75, 0.5]], [[1], [1]])
    assert corpus.counts.toarray().tolist() == [[0.25, 1.5, 0], [0, 2.75, 0.5]]
    assert corpus.counts.dtype == np.float32
    assert (corpus.n_tokens, corpus.document_lengths.tolist()) == (5, [2, 3])
    assert corpus.word_counts.tolist() == [0, 4, 0]
    assert corpus.tokens().words.tolist() == [1, 1, 1, 1, 1]
    assert corpus.tokens().starts.tolist() == [0, 2, 5]
    assert corpus.keep_words(1).vocabulary == ("word1",)
    assert corpus[[1]].counts.toarray().tolist() == [[0, 2.75, 0.5]]
    for write in (write_jsonl, write_svmlight):
        with pytest.raises(InputError, match=r"holds the count 0\.25; files hold whole counts"):
            write(corpus, tmp_path / "corpus")
    assert not list(tmp_path.iterdir())
    assert Corpus([[1.0, 2.0]], [[1]]).counts.dtype == np.int32


def test_a_sum_beyond_the_limit_is_refused_not_wrapped() -> None:
    huge = np.array([2**31 - 1, 1], dtype=np.int64)
    counts = csr_array((huge, np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    with pytest.raises(InputError, match="2147483648"):
        Corpus(counts, [[1]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1]], [[2]]), "labels hold the value 2"),
        (([[1]], [[1], [1]]), "counts have 1 rows but labels have 2"),
        (([1], [[1]]), "counts have 1 dimensions"),
        (([["one"]], [[1]]), "they must be numbers"),
        (([[1]], [[1]], ["a", "b"]), "vocabulary has 2 names for 1"),
        (([[1, 1]], [[1]], ["a", "a"]), "vocabulary holds 'a' twice"),
        (([[1]], [[1]], [3]), "vocabulary holds 3"),
        (([[1], [1]], [[1], [1]], None, None, ["x", "x"]), "ids holds 'x' twice"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Corpus(*arguments)


def test_rows_are_chosen_by_slice_numbers_or_mask() -> None:
    corpus = small()
    assert corpus[1:3].ids == ("b", "c")
    assert corpus[[2, 0]].ids == ("c", "a")
    assert corpus[[-1]].ids == ("d",)
    assert corpus[np.array([True, False, False, True])].ids == ("a", "d")
    assert corpus[[2, 0]].counts.toarray().tolist() == [[0, 3, 1], [2, 0, 1]]
    assert len(corpus[[]]) == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (7, "rows must be"),
        ([0, 0], "chosen twice"),
        (["a"], "rows must be"),
    ],
)
def test_rows_that_are_not_there_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        small()[rows]


def test_tokens_are_one_flat_array() -> None:
    words, starts = small().tokens()
    assert words.tolist() == [0, 0, 2, 1, 1, 1, 2, 0]
    assert starts.tolist() == [0, 3, 3, 7, 8]


@given(corpora())
@settings(derandomize=True, deadline=None)
def test_tokens_count_back_to_the_corpus(corpus: Corpus) -> None:
    words, starts = corpus.tokens()
    for row in range(len(corpus)):
        counted = np.bincount(words[starts[row] : starts[row + 1]], minlength=corpus.n_words)
        assert counted.tolist() == corpus.counts[[row]].toarray()[0].tolist()


def test_keep_words_counts_tokens_not_documents() -> None:
    kept = small().keep_words(3)
    assert kept.vocabulary == ("apple", "bee")
    assert kept.counts.toarray().tolist() == [[2, 0], [0, 0], [0, 3], [1, 0]]
    with pytest.raises(InputError, match="min_count is 0"):
        small().keep_words(0)


def test_new_words_are_those_not_known_that_have_tokens() -> None:
    assert small().new_words(["cat", "dog"]) == ("apple", "bee")
    assert small().new_words([], min_count=3) == ("apple", "bee")
    assert small()[[0]].new_words(["cat"]) == ("apple",)  # no document left has a bee
    assert Corpus([[1, 0, 2]], [[1]]).new_words(["word0"]) == ("word2",)


def test_align_matches_by_name_and_drops_the_unknown() -> None:
    test = Corpus([[1, 5, 2]], [[1, 1]], ["cat", "dog", "apple"], ["plant", "animal"], ["x"])
    aligned = test.align(small())
    assert aligned.vocabulary == small().vocabulary
    assert aligned.counts.toarray().tolist() == [[2, 0, 1]]
    assert aligned.labels.toarray().tolist() == [[False, True]]
    assert (test.n_tokens - aligned.n_tokens, test.labels.nnz - aligned.labels.nnz) == (5, 1)


@given(corpora(), st.randoms(use_true_random=False))
@settings(derandomize=True, deadline=None)
def test_align_undoes_any_order_of_words_and_labels(corpus: Corpus, random: Any) -> None:
    words, labels = list(range(corpus.n_words)), list(range(corpus.n_labels))
    random.shuffle(words)
    random.shuffle(labels)
    shuffled = Corpus(
        corpus.counts[:, words],
        corpus.labels[:, labels],
        [corpus.vocabulary[word] for word in words],
        [corpus.label_names[label] for label in labels],
    )
    assert shuffled.align(corpus) == corpus


def test_concat_takes_the_union_of_words_and_labels() -> None:
    other = Corpus([[4, 1]], [[1]], ["dog", "cat"], ["animal"], ["x"])
    both = concat([small(), other])
    assert both.vocabulary == ("apple", "bee", "cat", "dog")
    assert both.label_names == ("fruit", "animal")
    assert both.ids == ("a", "b", "c", "d", "x")
    assert both.counts.toarray()[-1].tolist() == [0, 0, 1, 4]
    assert both.labels.toarray()[-1].tolist() == [False, True]


def test_concat_needs_distinct_ids_or_prefixes() -> None:
    with pytest.raises(InputError, match="id 'a'; pass prefixes"):
        concat([small(), small()])
    assert concat([small(), small()], prefixes=["one", "two"]).ids[4] == "two-a"
    nameless = Corpus([[1]], [[1]], ids=[""])
    with pytest.raises(InputError, match="id ''; pass prefixes"):
        concat([nameless, nameless])


@given(corpora(), st.integers(0, 6))
@settings(derandomize=True, deadline=None)
def test_concat_of_the_parts_is_the_whole(corpus: Corpus, cut: int) -> None:
    assert concat([corpus[:cut], corpus[cut:]]) == corpus


def test_equality_looks_at_everything() -> None:
    corpus = small()
    assert corpus == small()
    assert corpus != corpus[[1, 0, 2, 3]]
    assert corpus != Corpus(corpus.counts, corpus.labels)
    assert corpus != "corpus"


# Columns without names ----------------------------------------------------------------------------
def numbered(n: int) -> Corpus:
    return Corpus(csr_array(([1], [n - 1], [0, 1]), shape=(1, n)), csr_array((1, n)))


def test_columns_without_names_are_numbered() -> None:
    corpus = numbered(3)
    assert corpus.vocabulary == ("word0", "word1", "word2")
    assert corpus.label_names == ("label0", "label1", "label2")
    assert corpus.vocabulary != ("word0", "word1")
    assert corpus.vocabulary != ("word0", "word1", "other")
    assert corpus.vocabulary != 3
    assert corpus.vocabulary[1:] == ("word1", "word2")
    assert corpus.vocabulary[-1] == "word2"
    assert repr(corpus.vocabulary) == "('word0', 'word1', 'word2')"
    with pytest.raises(IndexError):
        NumberedNames("word", 3)[3]
    named = Corpus(corpus.counts, corpus.labels, corpus.vocabulary, list(corpus.label_names))
    assert named == corpus == pickle.loads(pickle.dumps(corpus))  # noqa: S301


def test_millions_of_columns_that_nobody_uses_take_no_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide, narrow = numbered(10**7), numbered(10**6)

    def no_names(self: object) -> Iterator[str]:
        raise AssertionError("a name is made for every column")

    monkeypatch.setattr(NumberedNames, "__iter__", no_names)
    assert wide.keep_words(1).vocabulary == ("word9999999",)
    both = concat([narrow, wide], prefixes=("a", "b"))
    assert (both.n_words, both.counts.nnz) == (10**7, 2)
    assert both[[0]].align(narrow).counts.nnz == 1
    assert both[[1]].align(narrow).counts.nnz == 0


def test_a_matrix_grows_by_empty_rows_and_columns() -> None:
    matrix = csr_array(np.array([[1, 0], [0, 2]]))
    assert grown(matrix, (3, 4)).toarray().tolist() == [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]]


def test_documents_stand_as_often_as_they_are_wanted() -> None:
    found = repeated(small(), np.array([2, 0, 1, 0]))
    assert found.counts.toarray().tolist() == [[2, 0, 1], [2, 0, 1], [0, 3, 1]]
    assert found.labels.toarray().tolist() == [[1, 0], [1, 0], [1, 1]]
    assert found.ids == ("0", "1", "2")
    assert found.vocabulary == small().vocabulary


def test_rows_keep_their_arrays_and_narrow_columns() -> None:
    values, columns = np.array([1.0, 2.0], np.float32), np.array([2, 0], np.int32)
    found = compact_rows(values, columns, np.array([0, 0, 2]), (2, 3))
    assert found.toarray().tolist() == [[0, 0, 0], [2, 0, 1]]
    assert np.shares_memory(found.data, values)
    assert np.shares_memory(found.indices, columns)
    wide = compact_rows(values, columns, np.array([0, 0, 2]), (2, 2**31))
    assert wide.indices.dtype == wide.indptr.dtype == np.int64
