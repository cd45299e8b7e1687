"""Folders of svmlight files: documents, names, splits."""

import gzip
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from deplda import DataUnavailableError, ReadError, datasets
from deplda.data.datasets.folder import row_numbers
from deplda.data.splits import Split


def folder_of(root: Path, name: str, files: Mapping[str, str]) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for file, text in files.items():
        content = text.encode()
        (folder / file).write_bytes(gzip.compress(content) if file.endswith(".gz") else content)
    return root


def lists(splits: tuple[Split, ...]) -> list[tuple[list[int], list[int]]]:
    return [(split.train.tolist(), split.test.tolist()) for split in splits]


FOUR = "0 0:1\n1 1:2\n0,1 2:3\n 0:4\n"


def test_a_folder_with_index_files_has_their_splits_in_their_own_order(tmp_path: Path) -> None:
    root = folder_of(
        tmp_path,
        "yahoo_arts_rubin",
        {
            "all.svm.gz": FOUR,
            "labels.txt": "label1\nlabel2\n",
            "split1.train.idx": "0\n1\n",
            "split1.test.idx": "2\n3\n",
            "split2.train.idx": "3\n0\n",
            "split2.test.idx": "2\r\n1\r\n",
            "folds.txt": "this is not even looked at",
        },
    )
    dataset = datasets.load("yahoo_arts_rubin", root)
    assert dataset.name == "yahoo_arts_rubin"
    assert dataset.corpus.label_names == ("label1", "label2")
    assert dataset.corpus.vocabulary == ("word0", "word1", "word2")
    assert dataset.corpus.ids == ("0", "1", "2", "3")
    assert lists(dataset.splits) == [([0, 1], [2, 3]), ([3, 0], [2, 1])]


def test_a_folder_with_folds_has_one_split_a_fold(tmp_path: Path) -> None:
    files = {"all.svm.gz": FOUR, "folds.txt": "1\n0\n1\n0\n", "vocab.txt": "a\nb\nc\nd\n"}
    dataset = datasets.load("stackex_cooking", folder_of(tmp_path, "stackex_cooking", files))
    assert dataset.corpus.vocabulary == ("a", "b", "c", "d")
    assert lists(dataset.splits) == [([0, 2], [1, 3]), ([1, 3], [0, 2])]


def test_documents_may_bring_ids_and_folds_and_labels_codes(tmp_path: Path) -> None:
    files = {
        "all.svm.gz": FOUR,
        "all.docs.tsv": "p\tLaw\t0\nq\tLaw\t10\nr\tRule\t2\ns\tRule\t0\n",
        "labels.txt": "17\ttrade\n18\tfishery\n",
    }
    dataset = datasets.load("eurlex20k", folder_of(tmp_path, "eurlex20k", files))
    assert dataset.corpus.ids == ("p", "q", "r", "s")
    assert dataset.corpus.label_names == ("trade", "fishery")
    assert [test for _, test in lists(dataset.splits)] == [[0, 3], [2], [1]]


def test_a_label_name_that_stands_twice_keeps_its_code(tmp_path: Path) -> None:
    files = {"all.svm.gz": "0,1,2 0:1\n", "labels.txt": "1\ttrade\n2\ttrade\n3\tfish\n"}
    dataset = datasets.load("eurlex20k", folder_of(tmp_path, "eurlex20k", files))
    assert dataset.corpus.label_names == ("1 trade", "2 trade", "fish")
    assert dataset.splits == ()


@pytest.mark.parametrize("prefix", ["", "subset1."])
def test_a_training_and_a_test_file_are_one_corpus_and_one_split(
    tmp_path: Path, prefix: str
) -> None:
    files = {f"{prefix}train.svm.gz": FOUR, f"{prefix}test.svm.gz": "2 5:1\n"}
    dataset = datasets.load("rcv1_subset1", folder_of(tmp_path, "rcv1_subset1", files))
    assert dataset.corpus.ids == ("train-0", "train-1", "train-2", "train-3", "test-0")
    assert dataset.corpus.counts.shape == (5, 6)
    assert dataset.corpus.labels.toarray()[4].tolist() == [False, False, True]
    assert lists(dataset.splits) == [([0, 1, 2, 3], [4])]


def test_training_and_test_documents_may_bring_their_ids(tmp_path: Path) -> None:
    files = {
        "train.svm.gz": FOUR,
        "test.svm.gz": "1 0:1\n",
        "train.docs.tsv": "p\tx\nq\tx\nr\tx\ns\tx\n",
        "test.docs.tsv": "t\tx\n",
    }
    dataset = datasets.load("debtags", folder_of(tmp_path, "debtags", files))
    assert dataset.corpus.ids == ("p", "q", "r", "s", "t")


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    for name, file in (("bibtex", "train.svm.gz"), ("rcv1_subset1", "notes.txt")):
        folder_of(tmp_path, name, {file: FOUR})
        with pytest.raises(DataUnavailableError, match="holds no data set: it needs"):
            datasets.load(name, tmp_path)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"split1.train.idx": "0\n", "split1.test.idx": "4\n"}, "split1.test.idx, line 1: '4' is"),
        ({"split1.train.idx": "0\n-1\n"}, "split1.train.idx, line 2: '-1' is not a whole number"),
        ({"split1.train.idx": "0\n"}, "split1.test.idx: No such file or directory"),
        ({"folds.txt": "0\n1\n"}, "folds.txt: it gives 2 folds for 4 documents"),
        ({"folds.txt": "0\n1\nx\n1\n"}, "folds.txt, line 3: 'x' is not a whole number"),
        ({"folds.txt": "0\n" * 3 + "9" * 5000}, "folds.txt, line 4: '999"),
        ({"all.docs.tsv": "p\t1\nq\t2\n"}, "all.docs.tsv: ids has 2 names for 4 rows"),
        ({"all.docs.tsv": "p\t1\n" * 4}, "all.docs.tsv: ids holds 'p' twice"),
        ({"labels.txt": "only one\n"}, "all.svm.gz, line 2: label id 1 is out of range"),
        ({"labels.txt": "same\nsame\n"}, "all.svm.gz: label_names holds 'same' twice"),
        ({"vocab.txt": "a\nb\nc\n"}, "all.svm.gz, line 3: word id 3 is out of range"),
    ],
)
def test_a_folder_with_something_wrong_in_it_names_the_file(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    root = folder_of(tmp_path, "bibtex", {"all.svm.gz": FOUR.replace("2:3", "3:3")} | files)
    with pytest.raises(ReadError) as caught:
        datasets.load("bibtex", root)
    assert str(root / "bibtex" / said) in str(caught.value)


def test_splits_are_row_numbers_of_the_corpus(tmp_path: Path) -> None:
    files = {"all.svm.gz": FOUR, "folds.txt": "1\n0\n1\n0\n"}
    dataset = datasets.load("bibtex", folder_of(tmp_path, "bibtex", files))
    for split in dataset.splits:
        assert np.issubdtype(split.train.dtype, np.integer)
        assert len(dataset.corpus[split.train]) == 2


def test_a_data_set_is_saved_as_a_folder_with_its_splits(tmp_path: Path) -> None:
    data = datasets.load("newsroom", n_documents=60)
    folder = tmp_path / "new" / "news"
    datasets.save_folder(data, folder)
    again = datasets.load_folder(folder, "newsroom")
    assert again.corpus == data.corpus
    assert [s.train.tolist() for s in again.splits] == [s.train.tolist() for s in data.splits]
    assert [s.test.tolist() for s in again.splits] == [s.test.tolist() for s in data.splits]
    assert [path.name for path in folder.parent.iterdir()] == ["news"]


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "split1.train.idx")
    with pytest.raises(ReadError, match=r"split1.train.idx: this is a pipe"):
        row_numbers(tmp_path / "split1.train.idx", 4)
