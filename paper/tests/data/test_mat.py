from pathlib import Path

import numpy as np

from deplda import Corpus
from deplda.data.corpus import concat
from paper.data.mat import read_mat
from paper.tests.data.mat_files import cells, contents, part, write_mat


def test_tokens_are_counted_in_both_parts(tmp_path: Path) -> None:
    path = write_mat(tmp_path / "a.mat", contents())
    expected = Corpus(
        [[2, 0, 1], [0, 1, 0], [0, 1, 2]],
        [[1, 0], [1, 1], [0, 1]],
        ["apple", "bee", "cat"],
        ["fruit", "animal"],
        ["train-1", "train-2", "test-1"],
    )
    assert concat(read_mat(path)) == expected
    assert read_mat(path) == (expected[:2], expected[2:])


def test_repeated_and_empty_names_are_numbered(tmp_path: Path) -> None:
    content = contents() | {"wlabels": cells(["w", "w", np.empty((0, 0))])}
    corpus = concat(read_mat(write_mat(tmp_path / "a.mat", content)))
    assert corpus.vocabulary == ("w (1)", "w (2)", " (3)")


def test_documents_may_lack_words_or_labels_and_repeat_a_label(tmp_path: Path) -> None:
    content = contents() | {"traindata": part([((), ()), ((1,), ()), ((), (2, 2))])}
    train, _ = read_mat(write_mat(tmp_path / "a.mat", content))
    assert train.document_lengths.tolist() == [0, 1, 0]
    assert train.labels.toarray().tolist() == [[False, False], [False, False], [False, True]]
