"""One's own documents as a data set: what a small TOML may say, and what it may not."""

from pathlib import Path

import pytest

from deplda import DataUnavailableError, InputError, ReadError, datasets

CSV = """name,body,subjects,source,part
a,The court heard the judge,LAW,x,train
b,The judge met the team,LAW;SPORT,x,train
c,A goal in the league,SPORT,y,test
d,The opera and the court,LAW;MUSIC,y,train
e,A song at the concert,MUSIC,,test
f,The team sang a song,MUSIC;SPORT,,train
"""
FIELDS = """
[fields]
id = "name"
text = "body"
labels = "subjects"
"""


def described(folder: Path, said: str, name: str = "dataset.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "articles.csv").write_text(CSV, encoding="utf-8")
    (folder / name).write_text(f'documents = "articles.csv"\n{said}\n{FIELDS}', encoding="utf-8")
    return folder / name


def test_a_folder_with_a_description_is_a_data_set(tmp_path: Path) -> None:
    path = described(tmp_path / "news", "holdout = 0.5")
    for name, data_dir in ((str(path), None), (str(path.parent), None), ("news", tmp_path)):
        data = datasets.load(name, data_dir)
        assert data.name == "news"
        assert data.corpus.ids == tuple("abcdef")
        assert data.corpus.label_names == ("LAW", "MUSIC", "SPORT")
        assert [len(rows) for rows in data.splits[0]] == [3, 3]
        assert data.texts[0] == "The court heard the judge"
        assert data.counter is not None
        assert "judg" in data.counter.vocabulary_  # English was told, and words are stemmed


@pytest.mark.parametrize(
    ("said", "tests"),
    [
        ("folds = 3", [2, 2, 2]),
        ('split_field = "part"', [2]),
        ('split_field = "source"', [2, 2, 2]),
        ('test = "articles.csv"', [6]),
        ('splits = [{train = "a.idx", test = "b.idx"}]', [1]),
        ("", []),
    ],
)
def test_splits_are_said_in_one_of_several_ways(
    said: str, tests: list[int], tmp_path: Path
) -> None:
    path = described(tmp_path, said)
    (tmp_path / "a.idx").write_text("0\n1\n2\n")
    (tmp_path / "b.idx").write_text("5\n")
    data = datasets.load(str(path))
    assert [len(split.test) for split in data.splits] == tests
    for split in data.splits:
        assert not set(split.train) & set(split.test)


def test_documents_of_a_group_are_not_parted(tmp_path: Path) -> None:
    for seed in range(5):
        said = f'folds = 2\ngroups = "source"\nseed = {seed}'
        data = datasets.load(str(described(tmp_path, said)))
        assert data.groups == ("x", "x", "y", "y", "", "")
        for split in data.splits:
            in_test = set(split.test.tolist())
            assert len(in_test & {0, 1}) != 1
            assert len(in_test & {2, 3}) != 1


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("fold = 5", "unknown field `fold`.*; known: documents, format, .*folds, test"),
        ("folds = 1", "folds"),
        ("holdout = 2.0", "holdout"),
        ("folds = 5\nholdout = 0.2", "it has holdout and folds; say one way to split"),
        ('test = "../other.csv"', "path '../other.csv' leads out of the folder"),
        ('test = "/etc/passwd"', "path '/etc/passwd' leads out of the folder"),
        ('test = "C:\\\\x.csv"', "leads out of the folder"),
        ('groups = "publisher"', "no document has the field 'publisher' .found: 'name', 'body"),
        ("n_jobs = 4", "unknown field `n_jobs`"),
        ("device = 'cuda'", "unknown field `device`"),
    ],
)
def test_what_a_description_may_not_say_is_named(said: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=problem):
        datasets.load(str(described(tmp_path, said)))


def test_an_unknown_field_of_the_documents_is_told_with_the_known_ones(tmp_path: Path) -> None:
    path = described(tmp_path, "")
    path.write_text(path.read_text().replace("text = ", "txt = "), encoding="utf-8")
    with pytest.raises(ReadError, match=r"unknown field `txt`.*; known: id, text, labels"):
        datasets.load(str(path))


def test_a_file_whose_fields_have_other_names_says_what_to_write(tmp_path: Path) -> None:
    described(tmp_path, "")
    with pytest.raises(InputError, match=r"no column 'text'.* write a dataset.toml beside the"):
        datasets.load("articles.csv", tmp_path)
    (tmp_path / "articles.csv").unlink()
    with pytest.raises(DataUnavailableError, match="there is no file"):
        datasets.load(str(tmp_path))


def test_a_folder_of_svmlight_files_may_be_split_in_another_way(tmp_path: Path) -> None:
    news = datasets.load("newsroom", n_documents=40)
    datasets.save_folder(news, tmp_path / "news")
    (tmp_path / "news" / "dataset.toml").write_text("folds = 4\ngenerated = true\n")
    data = datasets.load("news", tmp_path)
    assert data.corpus == news.corpus
    assert len(data.splits) == 4
    assert data.generated
