import gzip
import json
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import Corpus, DataUnavailableError, DepldaError, ReadError
from deplda.data.datasets import Dataset
from deplda.data.splits import random_split
from paper.data import published as sources
from paper.tests.data.mat_files import Document, cells, part, write_mat
from paper.tests.data.test_annif_files import tarred

Parser = Callable[[str, Mapping[str, Path]], Dataset]


def words_of(corpus: Corpus, row: int) -> dict[str, int]:
    counts = corpus.counts[[row]]
    return {
        corpus.vocabulary[word]: int(count)
        for word, count in zip(counts.indices, counts.data, strict=True)
    }


def labels_of(corpus: Corpus, row: int) -> set[str]:
    return {corpus.label_names[label] for label in corpus.labels[[row]].indices}


def zipped(path: Path, members: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def packed(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def problem(parser: Parser, files: Mapping[str, Path], culprit: Path) -> str:
    with pytest.raises(ReadError) as caught:
        parser("name", files)
    assert str(caught.value).startswith(str(culprit))
    return str(caught.value).removeprefix(str(culprit))


def survives_damage(parser: Parser, files: Mapping[str, Path], damaged: Path) -> int:
    """Flip each byte of a file in turn: a data set or an error of ours; returns how many failed."""
    whole = damaged.read_bytes()
    refused = 0
    for at in range(len(whole)):
        damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            parser("name", files)
        except DepldaError:
            refused += 1
    for end in range(0, len(whole), 7):
        damaged.write_bytes(whole[:end])
        with suppress(DepldaError):
            parser("name", files)
    damaged.write_bytes(whole)
    return refused


# Yahoo! -----------------------------------------------------------------------------------------

PAGES: list[Document] = [
    ((1, 1, 2), (1,)),
    ((3,), (1, 2)),
    ((2, 2), (2,)),
    ((1, 3, 3), (2,)),
    ((1, 2, 3), (1,)),
]


def yahoo_files(folder: Path, pages: list[Document] = PAGES) -> dict[str, Path]:
    files = {}
    for k in range(1, 6):
        order = np.random.default_rng(k).permutation(len(pages))
        content = {
            "traindata": part([pages[row] for row in order[:2]]),
            "testdata": part([pages[row] for row in order[2:]]),
            "wlabels": cells(["1", "2", "3"]),
            "clabels": cells(["1", "2"]),
        }
        files[f"Split{k:02}.mat"] = write_mat(folder / f"Split{k:02}.mat", content)
    return files


def test_five_yahoo_files_are_one_corpus_and_five_splits(tmp_path: Path) -> None:
    dataset = sources.yahoo("yahoo-arts", yahoo_files(tmp_path))
    corpus = dataset.corpus
    assert dataset.name == "yahoo-arts"
    assert len(dataset.splits) == 5
    assert corpus.ids == ("train-1", "train-2", "test-1", "test-2", "test-3")
    for k, split in enumerate(dataset.splits, start=1):
        order = np.random.default_rng(k).permutation(len(PAGES))
        expected = [np.bincount(np.array(PAGES[row][0]) - 1, minlength=3).tolist() for row in order]
        assert corpus[split.train].counts.toarray().tolist() == expected[:2]
        assert corpus[split.test].counts.toarray().tolist() == expected[2:]
        assert [labels_of(corpus, row) for row in split.train] == [
            {str(label) for label in PAGES[row][1]} for row in order[:2]
        ]


def test_a_yahoo_split_of_other_documents_is_named(tmp_path: Path) -> None:
    files = yahoo_files(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    changed = [*PAGES[:-1], ((1,), (1,))]
    files["Split03.mat"] = yahoo_files(other, changed)["Split03.mat"]
    said = problem(sources.yahoo, files, files["Split03.mat"])
    assert said == ": it holds other documents than the first split"


def test_yahoo_without_files_is_not_available() -> None:
    with pytest.raises(DataUnavailableError, match="there is no file of yahoo-arts"):
        sources.yahoo("yahoo-arts", {})


# EUR-Lex 2008 -----------------------------------------------------------------------------------

ARFF = "@relation 'eurlex'\n\n@attribute ID numeric\n@attribute text string\n\n@DATA\n% folded\n"


def eurlex_files(folder: Path, **changes: str | None) -> dict[str, Path]:
    folds: dict[str, str | None] = {
        f"cv/eurlex_tokenstring_CV{fold}-10_test.arff": (
            f"{ARFF}{fold},'law law word{fold}'\r\n\n{100 + fold},''\n"
        )
        for fold in range(1, 11)
    }
    folds["cv/eurlex_tokenstring_CV1-10_train.arff"] = f"{ARFF}2,'law'\n"
    qrels: dict[str, str | None] = {
        "id2class/id2class_eurlex_eurovoc.qrels": "fishery 1 1\ntrade 1 1\n\ntrade 7 1\n"
    }
    folds |= {name: text for name, text in changes.items() if name.endswith(".arff")}
    qrels |= {name: text for name, text in changes.items() if name.endswith(".qrels")}
    return {
        "eurlex_tokenstring_CV10.zip": zipped(
            folder / "text.zip", {name: text for name, text in folds.items() if text is not None}
        ),
        "eurlex_id2class.zip": zipped(
            folder / "class.zip", {name: text for name, text in qrels.items() if text is not None}
        ),
    }


def test_eurlex_has_ten_folds_and_leaves_empty_documents_out(tmp_path: Path) -> None:
    dataset = sources.eurlex("eurlex", eurlex_files(tmp_path))
    corpus = dataset.corpus
    assert corpus.ids == tuple(str(number) for number in range(1, 11))
    assert words_of(corpus, 0) == {"law": 2, "word1": 1}
    assert labels_of(corpus, 0) == {"fishery", "trade"}
    assert labels_of(corpus, 1) == set()
    assert labels_of(corpus, 6) == {"trade"}
    assert [split.test.tolist() for split in dataset.splits] == [[row] for row in range(10)]
    assert all(len(split.train) == 9 for split in dataset.splits)


@pytest.mark.parametrize(
    ("changes", "archive", "said"),
    [
        (
            {"cv/eurlex_tokenstring_CV3-10_test.arff": None},
            "text.zip",
            r": it holds no file that matches _CV3-10_test\.arff$",
        ),
        (
            {"cv/eurlex_tokenstring_CV3-10_test.arff": f"{ARFF}3 'law'\n"},
            "text.zip",
            r", line 8: expected: id, 'tokens'; found \"3 'law'\" in _CV3-10_test\.arff$",
        ),
        (
            {"cv/eurlex_tokenstring_CV3-10_test.arff": f"{ARFF}1,'law'\n"},
            "text.zip",
            ": ids holds '1' twice; names must be distinct",
        ),
        (
            {"id2class/id2class_eurlex_eurovoc.qrels": None},
            "class.zip",
            r": it holds no file that matches id2class_eurlex_eurovoc\.qrels$",
        ),
        (
            {"id2class/id2class_eurlex_eurovoc.qrels": "fishery 1 1\ntrade\n"},
            "class.zip",
            ", line 2: expected: label, document, 1; found 'trade'",
        ),
    ],
)
def test_an_eurlex_archive_with_something_wrong_in_it_is_named(
    tmp_path: Path, changes: dict[str, str | None], archive: str, said: str
) -> None:
    files = eurlex_files(tmp_path, **changes)
    assert problem(sources.eurlex, files, tmp_path / archive) == said.replace('\\"', '"')


def test_eurlex_without_a_single_text_is_refused(tmp_path: Path) -> None:
    empty = {f"cv/eurlex_tokenstring_CV{fold}-10_test.arff": ARFF for fold in range(1, 11)}
    files = eurlex_files(tmp_path, **empty)
    said = problem(sources.eurlex, files, files["eurlex_tokenstring_CV10.zip"])
    assert said == ": there is no document in it"


def test_what_is_not_a_zip_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    files = eurlex_files(tmp_path)
    path = files["eurlex_id2class.zip"]
    for content in (b"", b"<html>not found</html>", path.read_bytes()[:-30]):
        path.write_bytes(content)
        said = problem(sources.eurlex, files, path)
        assert said.startswith(": it is not a whole zip file (")
        assert said.endswith("); delete it and fetch it again")
    path.unlink()
    assert "No such file" in problem(sources.eurlex, files, path)


def test_no_damage_to_an_eurlex_archive_ends_in_another_error(tmp_path: Path) -> None:
    files = eurlex_files(tmp_path)
    assert survives_damage(sources.eurlex, files, files["eurlex_id2class.zip"]) > 50


# RCV1-v2 ----------------------------------------------------------------------------------------


def rcv1_files(
    folder: Path,
    train: str = ".I 2286\n.W\nstock market\nmarket\n\n.I 2287\n.W\n\n",
    qrels: str = "C11 2286 1\nCCAT 2286 1\nE21 26151 1\n",
) -> dict[str, Path]:
    return {
        "lyrl2004_tokens_train.dat.gz": packed(folder / "train.gz", train),
        "lyrl2004_tokens_test_pt0.dat.gz": packed(folder / "pt0.gz", ".I 26151\n.W\nbond\n"),
        "lyrl2004_tokens_test_pt1.dat.gz": packed(folder / "pt1.gz", ".I 26152\n.W\nmarket\n"),
        "rcv1-v2.topics.qrels.gz": packed(folder / "qrels.gz", qrels),
    }


def test_rcv1_reads_smart_files_with_the_training_part_first(tmp_path: Path) -> None:
    dataset = sources.rcv1("rcv1", rcv1_files(tmp_path))
    corpus = dataset.corpus
    assert corpus.ids == ("2286", "2287", "26151", "26152")
    assert words_of(corpus, 0) == {"market": 2, "stock": 1}
    assert words_of(corpus, 1) == {}
    assert [labels_of(corpus, row) for row in range(4)] == [{"C11", "CCAT"}, set(), {"E21"}, set()]
    (split,) = dataset.splits
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1], [2, 3])


def test_damaged_rcv1_files_are_named(tmp_path: Path) -> None:
    files = rcv1_files(tmp_path, train="stock market\n.I 2286\n")
    said = problem(sources.rcv1, files, files["lyrl2004_tokens_train.dat.gz"])
    assert said == ", line 1: a document must begin with '.I id'"
    files = rcv1_files(tmp_path, qrels="C11 2286 1\nC11 C12 2286 1\n")
    said = problem(sources.rcv1, files, files["rcv1-v2.topics.qrels.gz"])
    assert said == ", line 2: expected: label, document, 1; found 'C11 C12 2286 1'"
    files = rcv1_files(tmp_path)
    path = files["lyrl2004_tokens_test_pt1.dat.gz"]
    path.write_bytes(path.read_bytes()[:-4])
    assert "the gzip data is damaged" in problem(sources.rcv1, files, path)
    path.unlink()
    assert problem(sources.rcv1, files, path) == ": No such file or directory"


def test_an_rcv1_document_that_comes_twice_is_named(tmp_path: Path) -> None:
    files = rcv1_files(tmp_path, train=".I 26152\n.W\nstock\n")
    assert problem(sources.rcv1, files, tmp_path) == (
        ": ids holds '26152' twice; names must be distinct"
    )


# EURLEX57K --------------------------------------------------------------------------------------


def law(celex: str, concepts: list[str], **parts: Any) -> str:
    return json.dumps({"celex_id": celex, "concepts": concepts, "uri": "x"} | parts)


def eurlex57k_files(folder: Path, **changes: str) -> dict[str, Path]:
    laws = {
        "dataset/train/32002R1.json": law(
            "32002R1", ["1", "2"], title="Fish quota", main_body=["Herring", "fish catch"]
        ),
        "dataset/dev/32003R1.json": law("32003R1", ["3"], title="Milk quota", header=None),
        "dataset/test/32004R1.json": law("32004R1", ["1", "9"], title="Fish novelty"),
        "dataset/train/.hidden.json": "{",
        "__MACOSX/dataset/train/32002R1.json": "not JSON",
        "dataset/readme.txt": "not a law",
    }
    names = {
        "1": {"label": "fishery", "alt_labels": []},
        "2": {"label": "quota"},
        "3": {"label": "quota"},
    }
    (folder / "names.json").write_text(changes.pop("names", json.dumps(names)))
    return {
        "datasets.zip": zipped(folder / "datasets.zip", laws | changes),
        "eurovoc_en.json": folder / "names.json",
    }


def test_eurlex57k_reads_one_json_file_a_law(tmp_path: Path) -> None:
    dataset = sources.eurlex57k("eurlex57k", eurlex57k_files(tmp_path))
    corpus = dataset.corpus
    rows = {name: row for row, name in enumerate(corpus.ids)}
    assert set(rows) == {"32002R1", "32003R1", "32004R1"}
    assert words_of(corpus, rows["32002R1"]) == {"fish": 2, "quota": 1, "herring": 1, "catch": 1}
    # Two concepts of one name are told apart by their codes; a concept without a name is its code.
    assert labels_of(corpus, rows["32002R1"]) == {"fishery", "quota (2)"}
    assert labels_of(corpus, rows["32003R1"]) == {"quota (3)"}
    assert labels_of(corpus, rows["32004R1"]) == {"fishery", "9"}
    split, without_dev = dataset.splits
    assert split.test.tolist() == without_dev.test.tolist() == [rows["32004R1"]]
    assert sorted(split.train.tolist()) == sorted([rows["32002R1"], rows["32003R1"]])
    assert without_dev.train.tolist() == [rows["32002R1"]]


def test_words_that_only_test_documents_have_are_dropped(tmp_path: Path) -> None:
    corpus = sources.eurlex57k("eurlex57k", eurlex57k_files(tmp_path)).corpus
    assert "novelty" not in corpus.vocabulary
    assert words_of(corpus, corpus.ids.index("32004R1")) == {"fish": 1}


@pytest.mark.parametrize(
    ("changes", "culprit"),
    [
        ({"dataset/train/1.json": "{"}, "datasets.zip/dataset/train/1.json"),
        ({"dataset/train/1.json": "[]"}, "datasets.zip/dataset/train/1.json"),
        ({"dataset/train/1.json": '{"celex_id": "a"}'}, "datasets.zip/dataset/train/1.json"),
        ({"dataset/train/1.json": law("a", ["1"], title=5)}, "datasets.zip/dataset/train/1.json"),
        ({"dataset/dev/1.json": '{"celex_id": "\udcff"}'}, "datasets.zip/dataset/dev/1.json"),
        ({"names": "[]"}, "names.json"),
        ({"names": '{"1": {"name": "fishery"}}'}, "names.json"),
        ({"names": '{"1": '}, "names.json"),
    ],
)
def test_a_law_or_a_name_of_another_form_is_named(
    tmp_path: Path, changes: dict[str, str], culprit: str
) -> None:
    encoded = {
        name: text if name == "names" else text.encode("utf-8", "surrogateescape")
        for name, text in changes.items()
    }
    files = eurlex57k_files(tmp_path, **encoded)  # type: ignore[arg-type]
    said = problem(sources.eurlex57k, files, tmp_path / culprit)
    assert said.startswith(": this is not the JSON expected here (")


def test_an_archive_without_laws_is_refused(tmp_path: Path) -> None:
    files = eurlex57k_files(tmp_path)
    zipped(files["datasets.zip"], {"readme.txt": "nothing"})
    assert problem(sources.eurlex57k, files, files["datasets.zip"]) == (
        ": there is no document in it"
    )


def test_no_damage_to_an_archive_of_laws_ends_in_another_error(tmp_path: Path) -> None:
    files = eurlex57k_files(tmp_path)
    zipped(files["datasets.zip"], {"train/1.json": law("1", ["1"], title="Fish quota")})
    assert survives_damage(sources.eurlex57k, files, files["datasets.zip"]) > 50


def test_missing_names_are_named(tmp_path: Path) -> None:
    files = eurlex57k_files(tmp_path)
    files["eurovoc_en.json"].unlink()
    assert "No such file" in problem(sources.eurlex57k, files, files["eurovoc_en.json"])


# New York Times ---------------------------------------------------------------------------------

NITF = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nitf SYSTEM "http://www.nitf.org/IPTC/NITF/3.3/specification/dtd/nitf-3-3.dtd">
<nitf><head><docdata><identified-content>
<classifier class="online_producer" type="taxonomic_classifier">Top/News</classifier>
<classifier class="online_producer" type="descriptor">Baseball</classifier>
<classifier class="indexing_service" type="descriptor">BASEBALL</classifier>
<classifier class="indexing_service" type="descriptor"> </classifier>
{labels}
</identified-content></docdata></head>
<body><body.content>
<block class="lead_paragraph"><p>Unwanted lead</p></block>
<block class="full_text"><p>{text}</p><p>Pitchers &amp; catchers</p></block>
</body.content></body></nitf>
"""


def article(path: Path, text: str, *labels: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tags = "".join(f'<classifier type="descriptor">{label}</classifier>' for label in labels)
    path.write_text(NITF.format(labels=tags, text=text), encoding="utf-8")


def test_nyt_reads_descriptors_and_full_text_from_folders_of_any_depth(tmp_path: Path) -> None:
    for day in range(1, 11):
        article(tmp_path / "1999" / f"{day:02}" / "1.xml", "Home runs", "Sports", "Suspensions")
    article(tmp_path / "2000" / "few.xml", "Too few labels", "Sports")
    (tmp_path / "2000" / "empty.xml").write_text("<nitf/>")
    (tmp_path / "readme.txt").write_text("not an article")
    dataset = sources.nyt("nyt", {"nyt": tmp_path})
    corpus = dataset.corpus
    assert corpus.ids == tuple(f"1999/{day:02}/1.xml" for day in range(1, 11))
    assert corpus.label_names == ("BASEBALL", "SPORTS", "SUSPENSIONS")
    assert words_of(corpus, 0) == {"home": 1, "runs": 1, "pitchers": 1, "catchers": 1}
    (split,) = dataset.splits
    assert (len(split.train), len(split.test)) == (4, 6)
    assert sorted([*split.train, *split.test]) == list(range(10))


def test_a_damaged_nyt_article_is_named_with_its_line(tmp_path: Path) -> None:
    article(tmp_path / "a.xml", "Home runs & more")
    said = problem(sources.nyt, {"nyt": tmp_path}, tmp_path / "a.xml")
    assert said.startswith(", line 12: this is not XML (")


@pytest.mark.parametrize("encoding", ["klingon", "utf-32", "idna"])
def test_an_nyt_article_in_an_odd_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.xml").write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<nitf/>')
    assert "XML" in problem(sources.nyt, {"nyt": tmp_path}, tmp_path / "a.xml")


def test_a_folder_without_articles_says_what_to_put_there(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match=r"holds no article; put the NITF files"):
        sources.nyt("nyt", {"nyt": tmp_path})


# Annif's corpora --------------------------------------------------------------------------------


def test_finnish_questions_of_the_last_year_test_and_all_others_train(tmp_path: Path) -> None:
    members = {}
    for folder, number, text in (
        ("test", 3, "Kissa ja uutuus"),
        ("validate", 2, "Koira ja kissa"),
        ("train", 1, "Kissa"),
    ):
        members[f"k/{folder}/{number}.txt"] = text
        members[f"k/{folder}/{number}.tsv"] = f"<http://y/p{number}>\tname\n"
    archive = tarred(tmp_path / "kirjastonhoitaja.tar.gz", members)
    dataset = sources.kirjastonhoitaja("kirjastonhoitaja", {archive.name: archive})
    corpus = dataset.corpus
    assert corpus.ids == ("1", "2", "3")
    assert dataset.texts == ("Kissa", "Koira ja kissa", "Kissa ja uutuus")
    assert corpus.label_names == ("http://y/p1", "http://y/p2", "http://y/p3")
    # "ja" is a stop word of Finnish, and "uutuus" none that the training documents have.
    assert [words_of(corpus, row) for row in range(3)] == [
        {"kissa": 1}, {"koira": 1, "kissa": 1}, {"kissa": 1},
    ]  # fmt: skip
    (split,) = dataset.splits
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1], [2])


def test_a_document_in_two_folders_is_refused(tmp_path: Path) -> None:
    files = {"train/1.txt": "a", "train/1.tsv": "<u>", "test/1.txt": "b", "test/1.tsv": "<u>"}
    archive = tarred(tmp_path / "k.tar.gz", files)
    assert "'1'" in problem(sources.kirjastonhoitaja, {"k.tar.gz": archive}, archive)


def test_records_in_two_languages_are_split_alike(tmp_path: Path) -> None:
    found = []
    for code, text in (("de", "und Kunst"), ("en", "the Kunst")):
        lines = "".join(f"{text} {'x' * (n + 2)}\t<http://g/{n % 3}>\n" for n in range(40))
        path = packed(tmp_path / f"dev-{code}.tsv.gz", lines)
        found.append(sources.tib("tib-core", {path.name: path}))
    german, english = found
    assert german.texts[1] == "und Kunst xxx"
    assert german.corpus.label_names == ("http://g/0", "http://g/1", "http://g/2")
    # Stop words are those of the language.
    assert "und" not in german.corpus.vocabulary
    assert "the" not in english.corpus.vocabulary
    ((train, test),) = german.splits
    assert (len(train), len(test)) == (34, 6)
    assert test.tolist() == random_split(german.corpus, 0.15, seed=0).test.tolist()
    assert test.tolist() == english.splits[0].test.tolist()


def test_a_file_without_records_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "dev-de.tsv.gz", "\n")
    assert problem(sources.tib, {path.name: path}, path) == ": there is no document in it"


def test_the_nyt_protocol_shows_every_test_label_in_training() -> None:
    rng = np.random.default_rng(0)
    labels = rng.random((200, 80)) < 0.05
    documents = Corpus(np.ones((200, 1), dtype=int), labels)
    split = sources.nyt_split(documents, seed=1)
    sizes = documents.labels_per_document
    assert (sizes[np.concatenate(split)] >= 3).all()
    assert len(split.train) + len(split.test) == (sizes >= 3).sum()
    assert set(split.train.tolist()).isdisjoint(split.test.tolist())
    seen = documents[split.train].label_counts > 0
    assert seen[documents[split.test].label_counts > 0].all()
    assert len(split.train) > round(0.4 * (sizes >= 3).sum())  # some test documents had to move


def test_the_nyt_protocol_moves_only_documents_with_an_unseen_label() -> None:
    # All labels are everywhere, so nothing moves and the share is exact.
    documents = Corpus(np.ones((50, 1), dtype=int), np.ones((50, 3), dtype=bool))
    split = sources.nyt_split(documents)
    assert (len(split.train), len(split.test)) == (20, 30)
