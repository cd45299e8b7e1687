import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deplda import Fields, InputError, ReadError, WordCounter, read_corpus

PLAIN = WordCounter(language=None, stop_words=None, min_count=1)


def write(folder: Path, rows: Sequence[Any]) -> Path:
    path = folder / "documents.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def problem(path: Path, **options: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, **options)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def test_text_tokens_and_counts_give_the_same_corpus(tmp_path: Path) -> None:
    expected = [[1, 2, 0], [0, 1, 1]]
    for rows in (
        [{"text": "Bee apple bee", "labels": ["x"]}, {"text": "bee, cat!", "labels": []}],
        [{"tokens": ["bee", "apple", "bee"], "labels": ["x"]}, {"tokens": ["cat", "bee"]}],
        [{"counts": {"bee": 2, "apple": 1}, "labels": ["x"]}, {"counts": {"bee": 1.0, "cat": 1}}],
    ):
        corpus = read_corpus(write(tmp_path, rows), counter=PLAIN)
        assert corpus.vocabulary == ("apple", "bee", "cat")
        assert corpus.label_names == ("x",)
        assert corpus.counts.toarray().tolist() == expected
        assert corpus.labels.toarray().tolist() == [[True], [False]]


def test_words_and_labels_are_sorted_whatever_the_order_of_the_lines(tmp_path: Path) -> None:
    rows = [{"id": "1", "tokens": ["b"], "labels": ["y"]}, {"id": "2", "tokens": ["a"]}]
    forwards = read_corpus(write(tmp_path, rows))
    backwards = read_corpus(write(tmp_path, rows[::-1]))
    assert forwards.vocabulary == ("a", "b")
    assert forwards[[1, 0]] == backwards


def test_counts_are_taken_before_tokens_and_tokens_before_text(tmp_path: Path) -> None:
    tokens = {"text": "text", "tokens": ["token"], "labels": []}
    counts = tokens | {"counts": {"count": 1}}
    assert read_corpus(write(tmp_path, [counts])).vocabulary == ("count",)
    assert read_corpus(write(tmp_path, [tokens | {"counts": None}])).vocabulary == ("token",)


def test_documents_without_words_or_labels_are_legal(tmp_path: Path) -> None:
    rows = [
        {"text": "", "labels": ["x"]},
        {"tokens": [], "labels": []},
        {"counts": {}, "labels": None},
        {"counts": {"never": 0}, "labels": ""},
    ]
    corpus = read_corpus(write(tmp_path, rows))
    assert corpus.document_lengths.tolist() == [0, 0, 0, 0]
    assert corpus.labels_per_document.tolist() == [1, 0, 0, 0]


def test_a_document_without_an_id_is_named_by_its_number(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"tokens": [], "labels": []},
        {"id": "b", "tokens": []},
        {"id": 7, "tokens": []},
    ]
    assert read_corpus(write(tmp_path, rows)).ids == ("0", "b", "7")
    assert read_corpus(write(tmp_path, rows), fields=Fields(id=None)).ids == ("0", "1", "2")


def test_an_id_that_stands_twice_is_named_with_both_lines(tmp_path: Path) -> None:
    rows: list[Any] = [{"id": name, "tokens": [], "labels": []} for name in "aba"]
    said = problem(write(tmp_path, rows))
    assert said.startswith(", line 3: the id 'a' stands on line 1 already")
    assert "Fields(id=None)" in said


def test_an_id_that_equals_the_number_of_a_nameless_document_is_refused(tmp_path: Path) -> None:
    rows: list[Any] = [{"tokens": [], "labels": []}, {"id": "0", "tokens": []}]
    assert problem(write(tmp_path, rows)).startswith(", line 2: the id '0' stands on line 1")


def test_fields_may_have_other_names(tmp_path: Path) -> None:
    path = write(tmp_path, [{"key": "a", "body": "apple", "tags": "x | y|"}])
    fields = Fields(id="key", text="body", labels="tags", separator="|")
    corpus = read_corpus(path, fields=fields)
    assert (corpus.ids, corpus.vocabulary, corpus.label_names) == (("a",), ("apple",), ("x", "y"))


def test_labels_may_be_whole_numbers_and_count_once(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, [{"tokens": [1, 1, "a"], "labels": [3, "3", 5]}]))
    assert corpus.label_names == ("3", "5")
    assert corpus.labels.toarray().tolist() == [[True, True]]
    assert dict(zip(corpus.vocabulary, corpus.word_counts.tolist(), strict=True)) == {
        "1": 2,
        "a": 1,
    }


def test_labels_may_stand_in_columns_of_their_own(tmp_path: Path) -> None:
    rows = [{"tokens": [], "x": 1, "y": False}, {"tokens": [], "x": "no", "y": "Yes"}]
    corpus = read_corpus(write(tmp_path, rows), fields=Fields(label_columns=["x", "y"]))
    assert corpus.labels.toarray().tolist() == [[True, False], [False, True]]


def test_given_names_are_the_only_ones_kept_in_their_order(tmp_path: Path) -> None:
    path = write(tmp_path, [{"tokens": ["a", "b", "b", "c"], "labels": ["x", "y"]}])
    corpus = read_corpus(path, vocabulary=["z", "b", "a"], label_names=["y", "q"])
    assert corpus.vocabulary == ("z", "b", "a")
    assert corpus.counts.toarray().tolist() == [[0, 2, 1]]
    assert corpus.labels.toarray().tolist() == [[True, False]]


def test_a_given_name_may_not_stand_twice(tmp_path: Path) -> None:
    path = write(tmp_path, [{"tokens": ["a"], "labels": []}])
    with pytest.raises(InputError, match="vocabulary holds 'a' twice"):
        read_corpus(path, vocabulary=["a", "b", "a"])
    with pytest.raises(InputError, match="label_names holds 'x' twice"):
        read_corpus(path, label_names=["x", "x"])


def test_rare_words_of_raw_text_are_dropped_but_counts_are_left_alone(tmp_path: Path) -> None:
    plain = WordCounter(language=None, min_count=2)
    text = write(tmp_path, [{"text": "apple apple bee", "labels": []}])
    assert read_corpus(text, counter=plain).vocabulary == ("apple",)
    counts = write(tmp_path, [{"counts": {"apple": 2, "bee": 1}, "labels": []}])
    assert read_corpus(counts, counter=plain).vocabulary == ("apple", "bee")


def test_a_given_vocabulary_is_kept_even_where_its_words_are_rare(tmp_path: Path) -> None:
    path = write(tmp_path, [{"text": "apple apple bee", "labels": []}])
    corpus = read_corpus(path, counter=WordCounter(min_count=2), vocabulary=["bee", "zebra"])
    assert corpus.counts.toarray().tolist() == [[1, 0]]


def test_blank_lines_are_passed_over_but_counted(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text('\n{"tokens": ["a"], "labels": []}\n  \n{"tokens": 5}\n')
    assert problem(path).startswith(", line 4: 'tokens' is 5")


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        ("-1", "-1"),
        ("0.5", "0.5"),
        ("2147483648", "2147483648"),
        ("1e300", "1e+300"),
        ("true", "True"),
        ('"2"', "'2'"),
    ],
)
def test_a_bad_count_is_named_with_its_line_and_the_limit(
    tmp_path: Path, count: str, shown: str
) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text(
        f'{{"counts": {{"a": 1}}, "labels": []}}\n{{"counts": {{"bee": {count}}}, "labels": []}}\n'
    )
    assert problem(path) == (
        f", line 2: the count of 'bee' is {shown}; "
        "counts must be whole numbers from 0 to 2,147,483,647"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "this is not JSON ("),
        ('{"counts": {"a": NaN}}', "this is not JSON ("),
        ('{"text": "\\ud800"}', "this is not JSON ("),
        ("[" * 100_000, "not JSON"),
        ("[1]", "expected a JSON object, found list"),
        (
            '{"body": "x", "tags": 1}',
            "none of 'text', 'tokens' and 'counts' (found: 'body', 'tags')",
        ),
        ("{}", "(found: nothing); name the right one with Fields(text=...)"),
        ('{"text": 5}', "'text' is 5; it must be a string"),
        ('{"tokens": "a b"}', "'tokens' is 'a b'; it must be a list"),
        ('{"tokens": [""]}', "must be a list of non-empty strings"),
        ('{"tokens": [1.5]}', "'tokens' is [1.5]; it must be a list of non-empty"),
        ('{"counts": ["a"]}', "'counts' is ['a']; it must be an object of word → count"),
        ('{"text": "", "labels": {"x": 1}}', "'labels' is {'x': 1}; it must be a list"),
        ('{"text": "", "labels": [null]}', "'labels' is [None]; it must be a list of non-empty"),
        ('{"text": "", "id": [1]}', "'id' is [1]; an id must be a string or a whole number"),
        ('{"text": "", "id": true}', "'id' is True"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong_in_it(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text(f'{{"text": "fine", "labels": []}}\n{line}\n')
    assert problem(path).startswith(", line 2: ")
    assert said in problem(path)


def test_a_missing_field_of_labels_is_answered_with_the_near_one(tmp_path: Path) -> None:
    said = problem(write(tmp_path, [{"text": "bee", "label": ["x"]}]))
    assert (
        "no document has the field 'labels': did you mean 'label'? (found: 'text', 'label')" in said
    )


def test_a_long_value_is_shown_in_part(tmp_path: Path) -> None:
    said = problem(write(tmp_path, [{"text": ["word"] * 1000, "labels": []}]))
    assert "…; it must be a string" in said
    assert len(said) < 100


def test_a_label_field_that_no_document_has_is_an_error_that_lists_the_fields(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, [{"text": "a", "tags": ["x"]}, {"text": "b", "topics": ["y"]}])
    said = problem(path)
    assert said.startswith(": no document has the field 'labels' (found: 'text', 'tags', 'topics')")
    assert "Fields(labels=None)" in said
    assert "the field 'x' (found: 'text', 'tags', 'topics')" in problem(
        path, fields=Fields(label_columns=["x", "y"])
    )
    assert read_corpus(path, fields=Fields(labels=None)).n_labels == 0


def test_a_label_column_must_say_yes_or_no(tmp_path: Path) -> None:
    path = write(tmp_path, [{"text": "a", "x": "perhaps"}])
    said = problem(path, fields=Fields(label_columns=["x"]))
    assert said.startswith(", line 1: the label column 'x' holds 'perhaps'; use 1 or 0")


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(InputError, match="separator is empty"):
        Fields(separator="")
