import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

from deplda import Corpus, InputError, ReadError, read_corpus
from deplda.data.readers import read_mat
from tests.data.readers.mat_files import TRAIN, cells, column, contents, part, write_mat


def problem(path: Path) -> str:
    with pytest.raises(ReadError) as caught:
        read_mat(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("compress", [False, True])
def test_tokens_are_counted_and_the_parts_follow_each_other(tmp_path: Path, compress: bool) -> None:
    path = write_mat(tmp_path / "a.mat", contents(), compress=compress)
    expected = Corpus(
        [[2, 0, 1], [0, 1, 0], [0, 1, 2]],
        [[1, 0], [1, 1], [0, 1]],
        ["apple", "bee", "cat"],
        ["fruit", "animal"],
        ["train-1", "train-2", "test-1"],
    )
    assert read_mat(path) == expected
    assert read_corpus(path) == expected
    assert read_mat(path, "train") == expected[:2]
    assert read_mat(path, "test") == expected[2:]


def test_numbers_of_any_type_and_shape_are_read(tmp_path: Path) -> None:
    plain = read_mat(write_mat(tmp_path / "a.mat", contents()))
    for dtype in (np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.float32):
        content = contents()
        for name in ("traindata", "testdata"):
            content[name] = {key: v.astype(dtype).T for key, v in content[name].items()}
        assert read_mat(write_mat(tmp_path / "a.mat", content)) == plain


def test_names_of_any_script_are_read(tmp_path: Path) -> None:
    content = contents() | {"wlabels": cells(["ärger", "苹果", "𝒳"])}
    corpus = read_mat(write_mat(tmp_path / "a.mat", content))
    assert corpus.vocabulary == ("ärger", "苹果", "𝒳")


def test_names_that_stand_twice_are_told_apart_by_their_place(tmp_path: Path) -> None:
    content = contents() | {"wlabels": cells(["w", "w", ""])}
    corpus = read_mat(write_mat(tmp_path / "a.mat", content))
    assert corpus.vocabulary == ("w (1)", "w (2)", " (3)")


def test_an_empty_cell_is_an_empty_name(tmp_path: Path) -> None:
    content = contents() | {"wlabels": cells(["a", np.empty((0, 0)), "c"])}
    assert read_mat(write_mat(tmp_path / "a.mat", content)).vocabulary == ("a", "", "c")


def test_a_label_that_stands_twice_counts_once(tmp_path: Path) -> None:
    content = contents() | {"traindata": part([((1,), (2, 2))])}
    corpus = read_mat(write_mat(tmp_path / "a.mat", content), "train")
    assert corpus.labels.toarray().tolist() == [[False, True]]


def test_documents_without_words_or_labels_are_legal(tmp_path: Path) -> None:
    content = contents() | {"traindata": part([((), ()), ((1,), ()), ((), (1,))])}
    corpus = read_mat(write_mat(tmp_path / "a.mat", content), "train")
    assert corpus.document_lengths.tolist() == [0, 1, 0]
    assert corpus.labels_per_document.tolist() == [0, 0, 1]


def test_a_part_may_be_empty_but_not_both(tmp_path: Path) -> None:
    content = contents() | {"testdata": part([])}
    path = write_mat(tmp_path / "a.mat", content)
    assert len(read_mat(path, "test")) == 0
    assert len(read_mat(path)) == len(TRAIN)
    path = write_mat(tmp_path / "a.mat", content | {"traindata": part([])})
    with pytest.raises(ReadError, match="there is no document in it"):
        read_corpus(path)


def test_other_variables_are_passed_over(tmp_path: Path) -> None:
    others = {
        "sparse": csc_array(np.eye(3)),
        "complex": np.array([1 + 2j]),
        "logical": np.array([True]),
        "structs": np.array([(1,), (2,)], dtype=[("field", object)]),
        "text": "some text",
    }
    path = write_mat(tmp_path / "a.mat", contents() | others)
    assert read_mat(path) == read_mat(write_mat(tmp_path / "b.mat", contents()))


def test_unknown_words_and_labels_of_a_mat_file_are_dropped(tmp_path: Path) -> None:
    path = write_mat(tmp_path / "a.mat", contents())
    corpus = read_corpus(path, vocabulary=["cat", "dog"], label_names=["animal"])
    assert corpus.counts.toarray().tolist() == [[1, 0], [0, 0], [2, 0]]
    assert corpus.labels.toarray().tolist() == [[False], [True], [True]]
    assert read_corpus(path, label_names=["animal"]).vocabulary == ("apple", "bee", "cat")


def test_a_part_of_another_name_is_refused(tmp_path: Path) -> None:
    path = write_mat(tmp_path / "a.mat", contents())
    with pytest.raises(InputError, match="part is 'dev'; it must be one of 'train', 'test', 'all'"):
        read_mat(path, "dev")  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["widx", "wdidx", "cidx", "cdidx"])
@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0.0"), (-1, "-1.0"), (1.5, "1.5"), (np.nan, "nan"), (np.inf, "inf"), (1e12, "1000000")],
)
def test_a_number_that_is_none_from_1_is_named(
    tmp_path: Path, key: str, value: float, shown: str
) -> None:
    content = contents()
    content["testdata"][key][-1] = value
    said = problem(write_mat(tmp_path / "a.mat", content))
    assert said.startswith(f": testdata.{key} holds {shown}")
    assert said.endswith("it must hold whole numbers from 1, one for each token")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("widx", 4, "traindata.widx holds 4 but there are only 3 names"),
        ("cidx", 3, "traindata.cidx holds 3 but there are only 2 names"),
        ("wdidx", 2e9, "'traindata' numbers a document 2,000,000,000 but has only 7 tokens in all"),
        ("cdidx", 2e9, "'traindata' numbers a document 2,000,000,000 but has only 7 tokens in all"),
    ],
)
def test_an_id_beyond_the_names_or_the_tokens_is_refused(
    tmp_path: Path, key: str, value: float, said: str
) -> None:
    content = contents()
    content["traindata"][key][0] = value
    assert problem(write_mat(tmp_path / "a.mat", content)) == f": {said}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"traindata": None}, "there is no struct 'traindata' in it (found: 'testdata', 'wlabels"),
        ({"traindata": "text"}, "there is no struct 'traindata' in it (found: 'traindata', 'testd"),
        (
            {"wlabels": None},
            "there is no cell array 'wlabels' in it (found: 'traindata', 'testdata",
        ),
        ({"clabels": column([1])}, "there is no cell array 'clabels' in it"),
        ({"clabels": cells([column([1.0]), "x"])}, "'clabels' holds '[1.]'; it must hold strings"),
        ({"testdata": {"widx": column([1])}}, "'testdata' has no 'wdidx' (found: 'widx')"),
        ({"testdata": part([]) | {"widx": column([1])}}, "'testdata' has tokens without a docum"),
        ({"testdata": part([]) | {"cdidx": column([1])}}, "'testdata' has tokens without a docum"),
        ({"testdata": part([]) | {"widx": "text"}}, "testdata.widx must hold whole numbers"),
        ({"testdata": part([]) | {"widx": np.array([1j])}}, "testdata.widx must hold whole numb"),
    ],
)
def test_a_file_of_another_form_is_refused(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    content = {key: value for key, value in (contents() | changes).items() if value is not None}
    assert problem(write_mat(tmp_path / "a.mat", content)).startswith(f": {said}")


def test_a_packed_mat_file_is_read_too(tmp_path: Path) -> None:
    path = write_mat(tmp_path / "a.mat", contents())
    packed = tmp_path / "b.mat"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_mat(packed) == read_mat(path)
