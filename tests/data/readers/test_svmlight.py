from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deplda import Corpus, ReadError, concat, read_corpus, read_shards
from deplda.data.corpus import NumberedNames


def write(folder: Path, text: str, name: str = "documents.svm") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def problem(path: Path, **options: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, **options)
    # Shards need a first pass over the file, which must find the same fault.
    with pytest.raises(ReadError, match=r"."):
        list(read_shards(path, 1, **options))
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def test_labels_words_and_counts_are_read_with_and_without_a_header(tmp_path: Path) -> None:
    lines = "1,0 0:2 3:1\n0 2:5\n"
    plain = read_corpus(write(tmp_path, lines))
    assert plain.counts.toarray().tolist() == [[2, 0, 0, 1], [0, 0, 5, 0]]
    assert plain.labels.toarray().tolist() == [[True, True], [True, False]]
    assert plain.vocabulary == ("word0", "word1", "word2", "word3")
    assert plain.ids == ("0", "1")
    wide = read_corpus(write(tmp_path, f"2 6 3\n{lines}"))
    assert (wide.n_words, wide.n_labels) == (6, 3)
    assert wide.counts.toarray()[:, :4].tolist() == plain.counts.toarray().tolist()


def test_a_line_without_labels_starts_with_a_blank_or_with_a_word(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, " 0:1\n1:1\n\t2:1\n0\n"))
    assert corpus.labels_per_document.tolist() == [0, 0, 0, 1]
    assert corpus.document_lengths.tolist() == [1, 1, 1, 0]


def test_an_empty_line_is_an_empty_document_except_at_the_end(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, "\n0 0:1\n \n\n0 0:1\n\n\n"))
    assert corpus.document_lengths.tolist() == [0, 1, 0, 0, 1]


def test_a_header_says_how_many_empty_documents_stand_at_the_end(tmp_path: Path) -> None:
    path = write(tmp_path, "3 1 1\n0 0:1\n\n\n\n")
    assert len(read_corpus(path)) == 3
    assert [len(shard) for shard in read_shards(path, 2)] == [2, 1]


def test_unusual_numbers_blanks_and_comments_are_legal(tmp_path: Path) -> None:
    usual = read_corpus(write(tmp_path, "1,2 0:2 3:10\n2 1:1\n"))
    unusual = "# made by hand\n+1,2.0  0:2.00 3:1e1  # the first\n2 1:1#the second\n"
    assert read_corpus(write(tmp_path, unusual)) == usual


def test_a_word_that_stands_twice_adds_up_and_a_label_counts_once(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, "0,0 2:1 1:1 2:3\n"))
    assert corpus.counts.toarray().tolist() == [[0, 1, 4]]
    assert corpus.labels.toarray().tolist() == [[True]]


def test_a_count_of_zero_is_no_token_but_widens_the_vocabulary(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, "0 4:0\n"))
    assert (corpus.n_tokens, corpus.n_words) == (0, 5)


def test_names_given_are_those_of_the_ids(tmp_path: Path) -> None:
    path = write(tmp_path, "1 2:3\n")
    corpus = read_corpus(path, vocabulary=["a", "b", "c", "d"], label_names=["x", "y"])
    assert corpus == Corpus([[0, 0, 3, 0]], [[0, 1]], "abcd", "xy")


def test_names_beside_the_file_are_taken_up_unless_others_are_given(tmp_path: Path) -> None:
    for name in ("documents.svm", "documents.svm.gz", "documents"):
        path = write(tmp_path, "1 2:3\n", name)
        write(tmp_path, "a\nb\nc\n", "documents.vocab.txt")
        write(tmp_path, "x\r\ny\r\n", "documents.labels.txt")
        write(tmp_path, "first\n", "documents.ids.txt")
        corpus = read_corpus(path, "svmlight")
        assert corpus == Corpus([[0, 0, 3]], [[0, 1]], "abc", "xy", ["first"])
        assert list(read_shards(path, 1, "svmlight")) == [corpus]
        other = read_corpus(path, "svmlight", label_names=["p", "q", "r"])
        assert (other.label_names, other.vocabulary) == (("p", "q", "r"), ("a", "b", "c"))


def test_a_number_of_ids_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "1 2:3\n")
    write(tmp_path, "a\nb\n", "documents.ids.txt")
    assert problem(path) == ": it has 1 documents but there are 2 ids"


def test_names_beside_the_file_must_be_distinct(tmp_path: Path) -> None:
    path = write(tmp_path, "1 2:3\n1 2:3\n")
    write(tmp_path, "a\na\n", "documents.ids.txt")
    assert read_corpus_fails(path).endswith("ids holds 'a' twice; names must be distinct")
    with pytest.raises(ReadError, match="ids holds 'a' twice"):
        list(read_shards(path, 2))


def read_corpus_fails(path: Path) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 1:-2", "the count of word '1' is '-2'; it must be a whole number from 0 to 2,147,483"),
        ("0 1:0.5", "the count of word '1' is '0.5'; it must be a whole number"),
        ("0 1:nan", "the count of word '1' is 'nan'; it must be a whole number"),
        ("0 1:inf", "the count of word '1' is 'inf'; it must be a whole number"),
        ("0 1:2147483648", "the count of word '1' is '2147483648'; it must be a whole number"),
        ("0 1:" + "9" * 5000, "the count of word '1' is '99999"),
        ("0 1:many", "the count of word '1' is 'many', which is not a number"),
        ("0 1:", "the count of word '1' is '', which is not a number"),
        ("0 1:\x00", r"the count of word '1' is '\x00', which is not a number"),
        ("0 -1:2", "the word id is '-1'; it must be a whole number from 0 to 10,000,000"),
        ("0 1.5:2", "the word id is '1.5'"),
        ("0 10000000:1", "word id 10,000,000 is out of range; there are 10,000,000 words"),
        ("0 qid:2", "the word id is 'qid', which is not a number"),
        ("-1 1:2", "the label id is '-1'; it must be a whole number from 0 to 10,000,000"),
        ("nan 1:2", "the label id is 'nan'"),
        ("0, 1:2", "the label id is '', which is not a number"),
        ("0 1:2 3", "'3' is not word:count; labels go first, joined by commas"),
        ("0 1 1:2", "'1' is not word:count"),
        ("ü 1:2", "the label id is 'ü', which is not a number"),
    ],
)
def test_a_bad_value_is_named_with_its_line_and_the_limit(
    tmp_path: Path, line: str, said: str
) -> None:
    assert problem(write(tmp_path, f"0 0:1\n{line}\n")).startswith(f", line 2: {said}")


def test_counts_of_one_word_that_add_up_to_too_much_are_refused_not_wrapped(tmp_path: Path) -> None:
    # Three times the limit wraps around to a positive number again in 32 bits.
    path = write(tmp_path, "0 1:2147483647 1:2147483647 1:2147483647\n")
    assert "the count of word 1 in document 0 is 6442450941" in problem(path)


def test_a_value_of_any_length_is_shown_in_part(tmp_path: Path) -> None:
    assert len(problem(write(tmp_path, "0 1:" + "x" * 100_000))) < 150


@pytest.mark.parametrize(
    ("header", "line", "said"),
    [
        ("1 3 2", "0 3:1", "word id 3 is out of range; there are 3 words, counted from 0"),
        ("1 3 2", "2 0:1", "label id 2 is out of range; there are 2 labels, counted from 0"),
        ("1 0 1", "0 0:1", "word id 0 is out of range; there are 0 words"),
        ("1 1 0", "0 0:1", "label id 0 is out of range; there are 0 labels"),
    ],
)
def test_an_id_beyond_what_the_header_promises_is_refused(
    tmp_path: Path, header: str, line: str, said: str
) -> None:
    assert problem(write(tmp_path, f"{header}\n{line}\n")).startswith(f", line 2: {said}")


def test_an_id_beyond_the_names_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "0 0:1\n1 3:1\n")
    said = problem(path, vocabulary=["a", "b", "c"])
    assert said == ", line 2: word id 3 is out of range; there are 3 words, counted from 0"
    said = problem(path, label_names=["x"])
    assert said == ", line 2: label id 1 is out of range; there are 1 labels, counted from 0"
    assert "there are 0 labels" in problem(path, label_names=[])


@pytest.mark.parametrize("n", [1, 3])
def test_a_header_that_promises_another_number_of_documents_is_refused(
    tmp_path: Path, n: int
) -> None:
    path = write(tmp_path, f"{n} 5 5\n0 0:1\n0 0:1\n")
    assert problem(path) == (
        f", line 1: the header promises {n} documents but 2 follow; is it cut off?"
    )


def test_a_header_that_differs_from_the_names_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "1 5 2\n0 0:1\n")
    assert problem(path, vocabulary="abcd") == (
        ", line 1: the header promises 5 words but 4 names are given"
    )
    assert "promises 2 labels but 3 names" in problem(path, label_names="xyz")


def test_a_header_beyond_the_limit_is_refused_before_memory_is_spent(tmp_path: Path) -> None:
    path = write(tmp_path, "1 10000001 2\n0 0:1\n")
    assert problem(path) == (
        ", line 1: the header promises 10,000,001 words; the limit is 10,000,000"
    )
    assert problem(write(tmp_path, f"1 {'9' * 5000} 2\n0 0:1\n")).startswith(", line 1: ")


@pytest.mark.parametrize("text", ["", "\n\n", "0 5 5\n", "# nothing but words\n"])
def test_a_file_without_documents_is_refused(tmp_path: Path, text: str) -> None:
    assert problem(write(tmp_path, text)) == ": there is no document in it"


def test_high_ids_cost_what_the_file_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.svm"
    path.write_text("1 9999999:1 3:2\n0,9999999 5:1\n")

    def no_names(self: object) -> Iterator[str]:
        raise AssertionError("a name is made for every column")

    monkeypatch.setattr(NumberedNames, "__iter__", no_names)
    corpus = read_corpus(path)
    assert corpus.vocabulary[-1] == "word9999999"
    assert corpus.label_names[-1] == "label9999999"
    assert concat(read_shards(path, 1)) == corpus
