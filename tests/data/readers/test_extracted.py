import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdf
import pytest

from deplda import Fields, InputError, ReadError, WordCounter, read_corpus
from deplda.data.readers.extracted import _whole_words, extracted_text
from deplda.data.sizes import VARIABLE
from tests.data.readers.office_files import archive, docx, pdf, pdf_of, xlsx

UNLABELLED = Fields(labels=None)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def problem(path: Path) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, fields=UNLABELLED)
    return str(caught.value).removeprefix(str(path))


def test_a_pdf_and_a_word_file_are_a_document_each(tmp_path: Path) -> None:
    contents = {"a.pdf": pdf("The court heard", "the jury"), "a.docx": docx("The court", "jury")}
    for name, content in contents.items():
        path = written(tmp_path / name, content)
        corpus = read_corpus(path, fields=UNLABELLED, counter=WordCounter(min_count=1))
        assert corpus.ids == (str(path),)
        assert {"court", "juri"} <= set(corpus.vocabulary)
        assert corpus.counts.toarray().tolist() == read_corpus(
            written(tmp_path / "unnamed", content), fields=UNLABELLED,
            counter=WordCounter(min_count=1),
        ).counts.toarray().tolist()  # fmt: skip


def test_words_that_a_line_end_or_a_ligature_broke_are_whole_again(tmp_path: Path) -> None:
    line = "BT /F1 12 Tf 14 TL 72 720 Td (a manip-) Tj T* (ulation of Anglo-) Tj T* (Saxon) Tj ET"
    path = written(tmp_path / "a.pdf", pdf_of(line.encode()))
    assert extracted_text(path, "pdf") == "a manipulation of Anglo-\nSaxon"
    assert _whole_words("of\ufb01ce soft\u00ad\nware 19-\n20") == "office software 19-\n20"


def test_the_text_of_a_word_file_is_that_of_paragraphs_tables_and_links(tmp_path: Path) -> None:
    other = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    inside = (
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:p><w:hyperlink><w:r><w:t>li</w:t></w:r><w:r><w:t>nk</w:t></w:r></w:hyperlink>"
        "<w:r><w:tab/><w:t>after</w:t></w:r><w:r><w:delText>gone</w:delText></w:r></w:p>"
        f'<m:AlternateContent xmlns:m="{other}"><m:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p>'
        "</m:Choice><m:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></m:Fallback>"
        "</m:AlternateContent>"
    )
    path = written(tmp_path / "a.docx", docx("First & last", inside=inside))
    assert extracted_text(path, "docx") == "First & last\ncell\nlink\tafter\nbox"


def test_a_scanned_pdf_says_that_it_has_no_text(tmp_path: Path) -> None:
    said = problem(written(tmp_path / "a.pdf", pdf("")))
    assert said.startswith(": there is no text in it; it may be scanned: let a program recognise")


def test_an_encrypted_pdf_says_so_unless_its_password_is_empty(tmp_path: Path) -> None:
    for password, is_open in (("secret", False), ("", True)):
        writer = pypdf.PdfWriter(BytesIO(pdf("court")))
        writer.encrypt(password, "owner", algorithm="RC4-128")
        path = tmp_path / "a.pdf"
        writer.write(path)
        if is_open:
            assert extracted_text(path, "pdf") == "court"
        else:
            assert problem(path) == ": it is encrypted; save it without a password first"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", pdf("court")[:200], ": this is no readable PDF ("),
        ("a.pdf", b"no PDF at all", ": this is no readable PDF ("),
        ("a.docx", docx("court")[:-40], ": this is no readable .docx ("),
        ("a.docx", xlsx([["text"]]), ": this is no readable .docx (KeyError"),
        ("a.docx", archive({"word/document.xml": "<w>"}), ": this is no readable .docx (ExpatErr"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    assert problem(written(tmp_path / name, content)).startswith(said)


def test_a_text_above_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1K")
    assert ": its text has more than 1 KiB" in problem(
        written(tmp_path / "a.pdf", pdf(*["word " * 50] * 10))
    )
    assert ": its body, unpacked, has 5.0" in problem(
        written(tmp_path / "a.docx", docx("a" * 5000))
    )


def test_without_the_library_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    files: dict[str, Any] = {"a.pdf": (pdf("court"), "pdf"), "a.xlsx": (xlsx([["text"]]), "xlsx")}
    for name, (content, extra) in files.items():
        with pytest.raises(InputError, match=rf"pip install 'deplda\[{extra}\]'"):
            read_corpus(written(tmp_path / name, content), fields=UNLABELLED)


def test_a_word_file_with_entities_or_too_deep_is_refused(tmp_path: Path) -> None:
    typed = '<!DOCTYPE a [<!ENTITY b "bomb">]><a>&b;</a>'
    path = written(tmp_path / "a.docx", archive({"word/document.xml": typed}))
    assert (
        "word/document.xml has a document type (<!DOCTYPE …>), whose entities are not expanded"
        in problem(path)
    )
    path = written(tmp_path / "b.docx", docx(inside="<a>" * 100_000 + "</a>" * 100_000))
    assert "1,001 elements within each other" in problem(path)
