import gzip
import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from benchmarks.power_law import power_law

from deplda import (
    Corpus,
    Fields,
    InputError,
    ReadError,
    WordCounter,
    concat,
    read_corpus,
    read_shards,
    write_jsonl,
    write_svmlight,
)
from deplda.data.files import StandardInput
from deplda.data.readers import (
    Where,
    kept_words,
    read_counted,
    read_records,
)
from tests.data.readers.documents import PLAIN, write_lines

FORMATS = ["jsonl", "csv", "tsv", "parquet", "svmlight"]
TEXT_FORMATS = ["jsonl", "csv", "tsv"]


def corpus_with(ids: list[str], vocabulary: list[str], label_names: list[str]) -> Corpus:
    return Corpus(
        [[2, 0, 1], [0, 1, 0], [0, 1, 2]], [[1, 0], [1, 1], [0, 1]], vocabulary, label_names, ids
    )


# The same three documents in each format; some know no names.
EXPECTED = {
    **dict.fromkeys(
        ["jsonl", "csv", "tsv", "parquet"],
        corpus_with(["a", "b", "c"], ["apple", "bee", "cat"], ["x", "y"]),
    ),
    "svmlight": corpus_with(["0", "1", "2"], ["word0", "word1", "word2"], ["label0", "label1"]),
}
CSV = "id,text,labels\na,apple cat apple,x\nb,bee,x;y\nc,cat bee cat,y\n"
JSONL = (
    '{"id": "a", "text": "apple cat apple", "labels": ["x"]}\n'
    '{"id": "b", "tokens": ["bee"], "labels": "x;y"}\n'
    '{"id": "c", "counts": {"bee": 1, "cat": 2}, "labels": ["y"]}\n'
)
TEXTS = {
    "jsonl": JSONL,
    "csv": CSV,
    "tsv": CSV.replace(",", "\t"),
    "svmlight": "0 0:2 2:1\n0,1 1:1\n1 1:1 2:2\n",
}


def write(path: Path, format: str) -> Path:
    if format == "parquet":
        table = pyarrow.table(
            {
                "id": ["a", "b", "c"],
                "tokens": [["apple", "cat", "apple"], ["bee"], ["cat", "bee", "cat"]],
                "labels": ["x", "x;y", "y"],
            }
        )
        pyarrow.parquet.write_table(table, path, row_group_size=2)
        return path
    path.write_text(TEXTS[format])
    return path


def pack(path: Path) -> Path:
    path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def problem(path: Path, *arguments: Any, **options: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, *arguments, **options)
    assert caught.value.path == str(path)
    return str(caught.value).removeprefix(str(path))


# Which format it is -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "format"),
    [
        (".jsonl", "jsonl"),
        (".ndjson", "jsonl"),
        (".JSONL", "jsonl"),
        (".v2.csv", "csv"),
        (".tsv", "tsv"),
        (".parquet", "parquet"),
        (".svm", "svmlight"),
        (".svmlight", "svmlight"),
        (".libsvm", "svmlight"),
    ],
)
def test_the_format_is_known_by_the_suffix(tmp_path: Path, suffix: str, format: str) -> None:
    path = write(tmp_path / f"documents{suffix}", format)
    assert read_corpus(path, counter=PLAIN) == EXPECTED[format]
    packed = pack(path.rename(tmp_path / f"documents{suffix}.gz"))
    assert read_corpus(packed, counter=PLAIN) == EXPECTED[format]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["documents", "documents.txt", "documents.dat.gz"])
def test_without_a_known_suffix_the_format_is_known_by_the_content(
    tmp_path: Path, name: str, format: str
) -> None:
    path = write(tmp_path / name, format)
    assert read_corpus(path, counter=PLAIN) == EXPECTED[format]
    assert read_corpus(pack(path), counter=PLAIN) == EXPECTED[format]


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_that_is_named_is_believed_whatever_the_suffix(
    tmp_path: Path, format: Any
) -> None:
    wrong = "documents.csv" if format != "csv" else "documents.jsonl"
    path = write(tmp_path / wrong, format)
    assert read_corpus(path, format, counter=PLAIN) == EXPECTED[format]


@pytest.mark.parametrize("format", FORMATS)
def test_gzip_is_seen_by_the_content_whatever_the_name(tmp_path: Path, format: Any) -> None:
    path = pack(write(tmp_path / "packed-but-does-not-say-so", format))
    assert read_corpus(path, format, counter=PLAIN) == EXPECTED[format]
    plain = write(tmp_path / "plain-but-claims-to-be-packed.gz", format)
    assert read_corpus(plain, format, counter=PLAIN) == EXPECTED[format]


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(b"".join(gzip.compress(line) for line in JSONL.encode().splitlines(True)))
    assert read_corpus(path, counter=PLAIN) == EXPECTED["jsonl"]


def test_content_of_no_known_format_says_which_there_are(tmp_path: Path) -> None:
    path = tmp_path / "documents"
    path.write_text("Once upon a time\nthere was a file\n")
    said = problem(path)
    assert said == (
        ": cannot tell its format; pass format= (--format) one of "
        "jsonl, json, csv, tsv, xlsx, parquet, svmlight, annif, text, lines, pdf, docx"
    )


def test_a_format_of_another_name_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", "jsonl")
    with pytest.raises(
        InputError, match="format is 'xml'; it must be one of 'jsonl', 'json', 'csv'"
    ):
        read_corpus(path, "xml")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="format is 'xml'"):
        list(read_shards(path, 1, "xml"))  # type: ignore[arg-type]


# Shards -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("format", FORMATS)
def test_the_shards_together_are_the_corpus(tmp_path: Path, format: Any, size: int) -> None:
    path = write(tmp_path / "documents", format)
    shards = list(read_shards(path, size, counter=PLAIN))
    assert [len(shard) for shard in shards] == {1: [1, 1, 1], 2: [2, 1]}.get(size, [3])
    assert {shard.vocabulary for shard in shards} == {EXPECTED[format].vocabulary}
    assert {shard.label_names for shard in shards} == {EXPECTED[format].label_names}
    assert concat(shards) == read_corpus(path, counter=PLAIN) == EXPECTED[format]


@pytest.mark.parametrize("write_corpus", [write_jsonl, write_svmlight])
def test_the_shards_of_a_larger_corpus_are_the_corpus(
    tmp_path: Path, write_corpus: Callable[[Corpus, Path], None]
) -> None:

    path = tmp_path / ("a.jsonl" if write_corpus is write_jsonl else "a.svm")
    write_corpus(power_law(100, 20, 200), path)
    whole = read_corpus(path)
    for size in (7, 50, 100):
        assert concat(read_shards(path, size)) == whole


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "parquet"])
def test_shards_over_given_names_are_the_corpus_over_them(tmp_path: Path, format: str) -> None:
    path = write(tmp_path / "documents", format)
    for names in (
        {"vocabulary": ["cat", "dog"]},
        {"label_names": ["y", "animal", "z"]},
        {"vocabulary": ["cat", "dog"], "label_names": ["y", "animal", "z"]},
    ):
        whole = read_corpus(path, counter=PLAIN, **names)  # type: ignore[arg-type]
        assert whole.n_words == (2 if "vocabulary" in names else 3)
        assert concat(read_shards(path, 2, counter=PLAIN, **names)) == whole  # type: ignore[arg-type]


@pytest.mark.parametrize("min_count", [1, 2, 3, 4, "auto"])
def test_rare_words_are_counted_over_the_whole_file_not_the_shard(
    tmp_path: Path, min_count: Any
) -> None:
    path = write(tmp_path / "a.csv", "csv")
    counter = WordCounter(min_count=min_count)
    assert concat(read_shards(path, 1, counter=counter)) == read_corpus(path, counter=counter)
    assert read_corpus(path, counter=WordCounter(min_count=3)).vocabulary == ("cat",)


def test_documents_without_ids_are_numbered_through_all_shards(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "csv")
    shards = read_shards(path, 2, fields=Fields(id=None))
    assert [shard.ids for shard in shards] == [("0", "1"), ("2",)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_an_id_that_stands_twice_is_found_across_shards(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV.replace("\nc,", "\na,"))
    with pytest.raises(ReadError, match="line 4: the id 'a' stands on line 2 already"):
        list(read_shards(path, size))


@pytest.mark.parametrize("size", [0, -1])
def test_a_shard_needs_at_least_one_document(tmp_path: Path, size: int) -> None:
    path = write(tmp_path / "a.csv", "csv")
    with pytest.raises(InputError, match=f"size is {size}; it must be a whole number from 1"):
        list(read_shards(path, size))


# Encodings and line ends ------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "svmlight"])
@pytest.mark.parametrize("named", [True, False])
def test_a_byte_order_mark_and_windows_line_ends_are_passed_over(
    tmp_path: Path, format: Any, named: bool
) -> None:
    path = tmp_path / "documents"
    path.write_bytes(b"\xef\xbb\xbf" + TEXTS[format].replace("\n", "\r\n").encode())
    assert read_corpus(path, format if named else None, counter=PLAIN) == EXPECTED[format]
    for encoding in ("UTF8", "utf-8-sig"):
        corpus = read_corpus(path, format if named else None, counter=PLAIN, encoding=encoding)
        assert corpus == EXPECTED[format]


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "svmlight"])
def test_the_last_line_may_lack_its_end(tmp_path: Path, format: Any) -> None:
    path = tmp_path / "documents"
    path.write_text(TEXTS[format].removesuffix("\n"))
    assert read_corpus(path, counter=PLAIN) == EXPECTED[format]


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_other_encodings_are_read_when_named(tmp_path: Path, format: Any) -> None:
    path = tmp_path / "documents"
    path.write_bytes(TEXTS[format].replace("apple", "äpfel").encode("latin-1"))
    corpus = read_corpus(path, format, encoding="latin-1")
    assert "äpfel" in corpus.vocabulary
    assert concat(read_shards(path, 1, format, encoding="latin-1")) == corpus


@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_the_wrong_encoding_is_named_with_line_byte_and_remedy(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"a.{format}"
    text = TEXTS[format].replace("bee", "kön")
    path.write_bytes(text.encode("latin-1"))
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "ö" in line)
    column = text.splitlines()[line - 1].index("ö") + 1
    for encoding in ("utf-8", "ascii"):
        assert problem(path, encoding=encoding) == (
            f", line {line}: byte 0xf6 at column {column} is not {encoding}; "
            "pass encoding='latin-1' (--encoding latin-1), or what the file is written in"
        )


def test_half_a_character_from_a_codec_that_lets_it_through_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "+2AA-", "labels": []}')
    assert b"+2AA-".decode("utf-7") == "\ud800"
    assert problem(path, encoding="utf-7").startswith(", line 1: byte 0xed at column 11")


@pytest.mark.parametrize("encoding", ["klingon", "", "rot13", "undefined", "utf\0-8"])
@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_an_unknown_encoding_is_refused(tmp_path: Path, format: str, encoding: str) -> None:
    path = write(tmp_path / f"a.{format}", format)
    with pytest.raises(InputError, match="is unknown to Python; use one such as utf-8") as caught:
        read_corpus(path, encoding=encoding)
    assert repr(encoding) in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le", "cp037"])
@pytest.mark.parametrize("format", TEXT_FORMATS)
def test_an_encoding_whose_lines_are_not_those_of_ascii_is_read_when_named(
    tmp_path: Path, format: Any, encoding: str
) -> None:
    path = tmp_path / "documents"
    path.write_bytes(TEXTS[format].encode(encoding))
    assert read_corpus(path, format, counter=PLAIN, encoding=encoding) == EXPECTED[format]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "svmlight"])
def test_utf_16_is_known_by_its_mark(tmp_path: Path, format: Any, encoding: str) -> None:
    path = tmp_path / "documents"
    path.write_bytes(TEXTS[format].replace("\n", "\r\n").encode(encoding))
    assert read_corpus(path, counter=PLAIN) == EXPECTED[format]
    assert concat(read_shards(path, 1, counter=PLAIN)) == EXPECTED[format]
    path.write_bytes(TEXTS[format].encode(encoding)[:-1])
    assert "truncated data" in problem(path)


# Files that are not there, empty or damaged -----------------------------------------------------


@pytest.mark.parametrize("suffix", ["", ".jsonl", ".csv", ".tsv", ".parquet", ".svm"])
def test_a_missing_file_and_a_folder_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"documents{suffix}"
    assert problem(path) == ": No such file or directory"
    path.mkdir()
    nothing = ": there is no document in it: no file of .txt, .pdf, .docx, .json"
    assert problem(path) == nothing
    with pytest.raises(ReadError, match=nothing):
        list(read_shards(path))


@pytest.mark.parametrize("path", [".", "..", "/"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_without_a_name_of_its_own_is_named_too(path: str, format: Any) -> None:
    with pytest.raises(ReadError, match="Is a directory"):
        read_corpus(path, format)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \r\n"])
@pytest.mark.parametrize("suffix", ["", ".jsonl", ".csv", ".tsv", ".parquet", ".svm"])
def test_an_empty_file_is_refused(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"documents{suffix}"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=r": (it is empty|there is no|this is not)"):
        read_corpus(path)
    pack(path)
    with pytest.raises(ReadError, match=r": (it is empty|there is no|this is not)"):
        list(read_shards(path))


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_gzip_is_refused(tmp_path: Path, format: Any) -> None:
    path = write(tmp_path / "documents", format)
    packed = gzip.compress(path.read_bytes())
    truncated = packed[:-12]
    wrong_checksum = packed[:-8] + bytes(4) + packed[-4:]
    with_tail = packed + b"tail"
    for damaged in (truncated, wrong_checksum, with_tail, packed[:2]):
        path.write_bytes(damaged)
        with pytest.raises(ReadError, match=r"the gzip data is damaged|not readable Parquet"):
            read_corpus(path, format)
        with pytest.raises(ReadError, match=r"the gzip data is damaged|not readable Parquet"):
            list(read_shards(path, 1, format))


def test_damaged_gzip_says_what_to_do(tmp_path: Path) -> None:
    path = pack(write(tmp_path / "a.jsonl", "jsonl"))
    path.write_bytes(path.read_bytes()[:-12])
    assert problem(path).startswith(": the gzip data is damaged (")
    assert problem(path).endswith("); copy it again")


def test_a_fitted_counter_brings_its_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "cat dog dog", "labels": ["a"]}\n', encoding="utf-8")
    fitted = WordCounter().fit(["dog bird"])
    for counter in (fitted, WordCounter(vocabulary=["bird", "dog"])):
        corpus = read_corpus(path, counter=counter)
        assert corpus.vocabulary == ("bird", "dog")
        assert corpus.counts.toarray().tolist() == [[0, 2]]
        assert concat(read_shards(path, 1, counter=counter)) == corpus


def test_the_format_of_standard_input_is_guessed_without_losing_its_beginning(
    tmp_path: Path,
) -> None:
    path = write_lines(tmp_path / "a.jsonl")
    assert len(read_corpus(StandardInput(io.BytesIO(path.read_bytes())))) == 3


def test_a_long_text_is_counted_in_pieces_to_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Straße und Haus\n" * 500 + "unteilbar" * 300
    path = write_lines(tmp_path / "a.jsonl", [{"text": text, "labels": []}])
    whole = read_corpus(path, counter=PLAIN)
    for longest in (1, 2):  # pairs of words are never cut
        counter = WordCounter(stop_words=None, min_count=1, ngrams=longest)
        expected = read_corpus(path, counter=counter)
        monkeypatch.setattr("deplda.data.tokens._PIECE", 100)
        assert read_corpus(path, counter=counter) == expected
        monkeypatch.undo()
    assert whole.vocabulary[-1] == "unteilbar" * 300


def test_texts_come_with_the_counter_of_their_words(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl")
    corpus, counter, *_ = read_counted(path, counter=WordCounter(stop_words=None, min_count=2))
    assert counter is not None
    assert counter.vocabulary_ == corpus.vocabulary == ("apple", "bee", "cat")
    assert counter.transform(["bee bee apple"]).toarray().tolist() == [[1, 2, 0]]
    kept, least = kept_words(corpus, 2)
    assert (kept.vocabulary, least) == (("bee", "cat"), 2)
    assert counter.stop_words is None


def test_counts_come_without_a_counter(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{"counts": {"bee": 2}, "labels": ["x"]}])
    assert read_counted(path)[1] is None
    numbers = tmp_path / "a.svm"
    numbers.write_text("0 1:1\n")
    assert read_counted(numbers)[1] is None


def test_records_are_read_one_by_one_with_ids_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "bee"}\n{"id": "a", "text": "cat"}\n{oops\n')
    records = read_records(path, "jsonl", fields=Fields(labels=None), counter=PLAIN)
    first, second = itertools.islice(records, 2)
    assert (first.id, second.id, second.counts) == ("a", "a", {"cat": 1})
    with pytest.raises(ReadError, match="line 3"):
        next(records)


def test_a_format_without_fields_has_none_to_choose_by(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("0 1:1\n")
    fields = Fields(where=[Where("split", "train")])
    with pytest.raises(ReadError, match="it has no field 'split'"):
        read_corpus(path, fields=fields)
    with pytest.raises(ReadError, match="it has no field 'split'"):
        next(read_shards(path, fields=fields))


@pytest.mark.parametrize("format", ["jsonl", "svmlight"])
def test_names_found_in_a_first_pass_are_those_of_the_good_lines(
    tmp_path: Path, format: Any
) -> None:
    path, told = tmp_path / "documents", list[tuple[int, str | None, str]]()
    path.write_text(TEXTS[format])
    good = read_corpus(path, format, counter=PLAIN)
    bad = '{"id": "a", "tokens": ["zebra"], "labels": ["z"]}' if format == "jsonl" else "9 x:1"
    path.write_text(TEXTS[format] + bad + "\n")
    with pytest.raises(ReadError, match="line 4"):
        list(read_shards(path, 2, format, counter=PLAIN))
    shards = read_shards(path, 2, format, counter=PLAIN, on_bad=lambda *bad: told.append(bad))
    assert concat(shards) == good
    assert [(line, id) for line, id, _ in told] == [(4, "a" if format == "jsonl" else "3")]


@pytest.mark.parametrize("separator", [None, ";"])
@pytest.mark.parametrize("bad", ['{"text": 1', '{"text": 1}'])
def test_a_bad_line_takes_the_number_of_a_document_whether_or_not_lines_are_read_ahead(
    tmp_path: Path, separator: str | None, bad: str
) -> None:
    path, good = tmp_path / "a.jsonl", '{"text": "bee", "labels": ["x"]}'
    path.write_text("\n".join([good, bad, "", good, bad, good]))
    shards = read_shards(
        path, fields=Fields(separator=separator), counter=PLAIN, on_bad=lambda *_: None
    )
    assert concat(shards).ids == ("0", "2", "4")
