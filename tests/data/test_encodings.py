import codecs
import io
from pathlib import Path
from typing import Any

import pytest

from deplda import Fields, GuessedEncodingWarning, InputError, ReadError, WordCounter, read_corpus
from deplda.data.encodings import Decoder, Recoded, checked_encoding, told_by_mark
from deplda.data.files import text_lines

PLAIN = WordCounter(stop_words=None, min_count=1, language=None)
TABLE = "Nr;Text;Schlagwörter\n1;Die Gebühren für Bäder – 5 €;Bäder\n2;Haushalt;Städte\n"
FIELDS = Fields(id="Nr", text="Text", labels="Schlagwörter")


def saved(path: Path, encoding: str) -> Path:
    path.write_bytes(TABLE.replace("\n", "\r\n").encode(encoding))
    return path


def lines(path: Path, *contents: bytes) -> list[str]:
    path.write_bytes(b"\n".join(contents))
    return [line for _, line in text_lines(path)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_what_excel_calls_csv_and_unicode_text_is_read_as_it_is(
    tmp_path: Path, encoding: str
) -> None:
    corpus = read_corpus(saved(tmp_path / "a.csv", encoding), fields=FIELDS, counter=PLAIN)
    assert corpus.label_names == ("Bäder", "Städte")
    assert corpus.vocabulary == ("bäder", "die", "für", "gebühren", "haushalt")


def test_what_excel_writes_on_windows_is_read_and_it_is_said_as_what(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.csv", "cp1252")
    with pytest.warns(GuessedEncodingWarning) as caught:
        corpus = read_corpus(path, fields=FIELDS, counter=PLAIN)
    assert corpus.label_names == ("Bäder", "Städte")
    (said,) = caught
    assert str(said.message) == (
        f"{path} is not UTF-8: it is read as cp1252, with words such as 'Schlagwörter' (encoding=, "
        "--encoding says another)"
    )
    assert corpus == read_corpus(path, fields=FIELDS, counter=PLAIN, encoding="cp1252")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Бюджет города увеличивает налоги", "cp1251"),
        ("Ο προϋπολογισμός αυξάνει τους φόρους", "cp1253"),
        ("市の予算は税金を引き上げます。労働者", "shift-jis"),
        ("市政预算提高了所得税工人罢工养老金", "gbk"),
        ("Nie było łatwo, więc zażądał więcej", "cp1250"),
        ("les employés étaient très fâchés", "cp850"),
        ("les employés étaient déjà fâchés", "mac-roman"),
    ],
)
def test_what_is_likely_of_another_code_page_is_not_garbled(
    tmp_path: Path, text: str, encoding: str
) -> None:
    with pytest.raises(ReadError, match=r"line 2: .*encoding") as caught:
        lines(tmp_path / "a.txt", b"plain", text.encode(encoding))
    assert "--encoding latin-1" in str(caught.value)
    (tmp_path / "b.txt").write_bytes(text.encode(encoding))
    assert next(text_lines(tmp_path / "b.txt", encoding)) == (1, text)


@pytest.mark.filterwarnings("ignore::deplda.GuessedEncodingWarning")
@pytest.mark.parametrize(
    "text",
    ["Ça coûte 5 € – l’été, œuvre", "10 m² à 20°", "Ä", "Übergröße Straße", "“don’t”…", "ñandú"],
)
def test_western_texts_are_taken_as_such(tmp_path: Path, text: str) -> None:
    assert lines(tmp_path / "a.txt", b"plain", text.encode("cp1252")) == ["plain", text]


@pytest.mark.filterwarnings("ignore::deplda.GuessedEncodingWarning")
@pytest.mark.parametrize("place", [0, 3, 99])
def test_a_single_line_that_looks_garbled_does_not_refuse_a_western_file(
    tmp_path: Path, place: int
) -> None:
    texts = [f"{n} Gebühren" for n in range(100)]
    texts[place] = "eine sach¬gerechte Gebühr"
    contents = [text.encode("cp1252") for text in texts]
    assert lines(tmp_path / "a.txt", *contents) == texts
    with pytest.raises(ReadError, match=r"garbled: 1 of 40 lines.*--encoding cp1252"):
        lines(tmp_path / "a.txt", contents[place], *contents[20:59])


@pytest.mark.filterwarnings("ignore::deplda.GuessedEncodingWarning")
def test_a_file_is_refused_as_soon_as_too_many_lines_look_garbled(tmp_path: Path) -> None:
    good, garbled = "Städte".encode("cp1252"), "Städte".encode("cp850")
    path = tmp_path / "a.txt"
    path.write_bytes(b"\n".join([*[good] * 100, *[garbled] * 5000]))
    read = text_lines(path)
    assert [next(read)[0] for _ in range(101)] == list(range(1, 102))
    with pytest.raises(ReadError, match=r"line 103: .*garbled"):
        list(read)


def test_a_file_in_two_encodings_is_refused(tmp_path: Path) -> None:
    utf8, western = "Gebühr".encode(), "Gebühr".encode("cp1252")
    with pytest.raises(ReadError, match="line 2: byte 0xfc at column 4 is not utf-8"):
        lines(tmp_path / "a.txt", utf8, western)
    with pytest.warns(GuessedEncodingWarning), pytest.raises(ReadError, match="line 2: this line"):
        lines(tmp_path / "a.txt", western, utf8)
    with pytest.raises(ReadError, match="line 2: byte 0xfc at column 4 is not utf-8"):
        lines(tmp_path / "a.txt", codecs.BOM_UTF8 + b"plain", western)


def test_json_is_utf_8_unless_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"text": "Gebühr", "labels": []}'.encode("cp1252"))
    with pytest.raises(ReadError, match="line 1: byte 0xfc at column 14 is not utf-8"):
        read_corpus(path)


def test_utf_16_that_is_cut_off_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("plain".encode("utf-16")[:-1])
    with pytest.raises(ReadError, match=r"a\.txt: this is not utf-16-le \(truncated data\)"):
        list(text_lines(path))


def test_a_stream_is_recoded_piece_by_piece() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(3)  # less than a character

    text = "\ufeffaß𝄞\n" * 500
    recoded = io.BufferedReader(Recoded(Slow(text.encode("utf-16-le")), "utf-16-le"), 16)
    assert recoded.read().decode() == text.removeprefix("\ufeff")


@pytest.mark.parametrize(
    ("head", "expected"),
    [(codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF16_LE + b"a\0", "utf-16-le")],
)
def test_marks_that_begin_alike_are_told_apart(head: bytes, expected: str) -> None:
    found = told_by_mark(head)
    assert found is not None
    assert found[1] == expected
    assert told_by_mark(b"text") is None


@pytest.mark.parametrize("encoding", ["klingon", "", "rot13", "base64", "idna\0"])
def test_an_encoding_that_is_none_is_named(encoding: Any) -> None:
    with pytest.raises(InputError, match="is unknown to Python; use one such as utf-8"):
        checked_encoding(encoding)


def test_a_decoder_decides_once() -> None:
    decoder = Decoder("a", "auto")
    assert decoder(1, b"plain") == "plain"
    assert decoder.encoding == "auto"
    assert decoder(2, "ß".encode()) == "ß"
    assert decoder.encoding == "utf-8"


def test_utf_16_without_a_mark_is_named_and_read_when_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("text;labels\nbee;x\n".encode("utf-16-le"))
    with pytest.raises(ReadError, match="line 1: every other byte is zero: this may be UTF-16"):
        read_corpus(path)
    assert read_corpus(path, encoding="utf-16-le").label_names == ("x",)


def test_a_file_of_windows_with_a_line_that_could_be_utf8_says_how_to_keep_it(
    tmp_path: Path,
) -> None:
    both = ("Größe".encode("cp1252"), "Â´31 December".encode("cp1252"))
    with (
        pytest.warns(GuessedEncodingWarning),
        pytest.raises(ReadError, match=r"line 2: this line is UTF-8.*\(--encoding cp1252\)"),
    ):
        lines(tmp_path / "a.txt", *both)


def test_a_misspelt_encoding_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'windows1252' is unknown .*did you mean 'windows-1252'"):
        checked_encoding("windows1252")
