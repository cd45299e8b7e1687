import gzip
import io
import tarfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from deplda import DepldaError, ReadError
from deplda.data.datasets.dataset import Document
from paper.data.annif_files import full_texts, tsv_documents

FOLDERS = ("train", "test")
DOCUMENT = {"set/train/7.txt": "Kissa istuu.", "set/train/7.tsv": "<http://y/p1>\tkissat\n"}


def tarred(path: Path, members: Mapping[str, str | bytes | tarfile.TarInfo]) -> Path:
    """Write an archive of files by name, packed where its name says so; links are TarInfos."""
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            encoded = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(encoded)
            archive.addfile(info, io.BytesIO(encoded))
    return path


def problem(path: Path) -> str:
    documents = full_texts(path, FOLDERS) if ".tar" in path.name else tsv_documents(path)
    with pytest.raises(ReadError) as caught:
        list(documents)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


# Full texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar"])
def test_documents_come_by_folder_and_name_with_the_uris_of_their_subjects(
    tmp_path: Path, name: str
) -> None:
    members = {
        "set/README.md": "about",
        "set/test/9.tsv": "<http://y/p3>\tkoirat\n\n<http://y/p1>\tkissat",
        "set/test/9.txt": "Koira ja kissa.\nToinen rivi.\n",
        "set/train/8.txt": "Äiti",
        "set/train/8.tsv": "\ufeff<http://y/p2>\täidit\r\n",
        "set/train/8.key": "not looked at",
        "set/train/.8.txt": "hidden",
        "set/all/8.txt": "of another folder",
        "set/maui-train/5.txt": "of another folder",
        "set/train/deeper/4.txt": "of another folder",
        **DOCUMENT,
    }
    assert list(full_texts(tarred(tmp_path / name, members), FOLDERS)) == [
        ("train", Document("7", "Kissa istuu.", ["http://y/p1"])),
        ("train", Document("8", "Äiti", ["http://y/p2"])),
        ("test", Document("9", "Koira ja kissa.\nToinen rivi.\n", ["http://y/p3", "http://y/p1"])),
    ]


def test_without_a_tsv_subjects_are_the_names_in_the_key_file(tmp_path: Path) -> None:
    members = {"train/7.txt": "\ufeffKissa", "train/7.key": "\ufeffkissat\nlemmikit\n \n"}
    ((_, document),) = full_texts(tarred(tmp_path / "a.tar", members), FOLDERS)
    assert document == Document("7", "Kissa", ["kissat", "lemmikit"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"train/1.txt": "x"}, "/train/1: this document has no subject; as published, each has"),
        ({"train/1.tsv": "<u>"}, "/train/1: there are subjects, but no .txt"),
        ({"train/1.txt": " \n", "train/1.tsv": "<u>"}, "/train/1: this document has no text"),
        ({"train/1.txt": "x", "train/1.tsv": "\n"}, "/train/1: this document has no subject"),
        (
            {"train/1.txt": "x", "train/1.tsv": "<u>\n\nkissat"},
            "/train/1.tsv, line 3: expected a subject as <URI>; found 'kissat'",
        ),
        ({"train/1.txt": b"\xff", "train/1.tsv": "<u>"}, "/train/1: this is not UTF-8 ("),
        (
            {"train/1.txt": "x", "train/1.tsv": b"<\xff>"},
            "/train/1.tsv, line 1: this is not UTF-8 (",
        ),
        ({"set/./train/7.txt": "twice"}, "/set/train/7.txt: it stands there twice"),
    ],
)
def test_a_document_that_is_not_whole_is_named(
    tmp_path: Path, changes: dict[str, str | bytes], said: str
) -> None:
    archive = tarred(tmp_path / "a.tar.gz", {**DOCUMENT, **changes})
    assert problem(archive).startswith(said)


def test_an_archive_without_these_folders_is_refused(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "a.tar.gz", {"a/other/7.txt": "x"})
    assert problem(archive) == ": it holds no document in train, test"


def test_a_file_that_is_not_there_or_is_no_archive_is_named(tmp_path: Path) -> None:
    assert problem(tmp_path / "a.tar.gz") == ": No such file or directory"
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(b"text" * 300))
    assert problem(tmp_path / "a.tar.gz").startswith(": it is not a whole tar file (")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_in_an_archive_are_not_followed(tmp_path: Path, kind: bytes) -> None:
    link = tarfile.TarInfo("train/8.txt")
    link.type, link.linkname = kind, "set/train/7.txt"
    archive = tarred(tmp_path / "a.tar.gz", {**DOCUMENT, "link": link})
    assert problem(archive) == "/train/8.txt: this is not a plain file; links are not followed"


def test_a_sparse_file_is_refused_before_its_zeros_are_made(tmp_path: Path) -> None:
    sparse = tarfile.TarInfo("train/8.txt")
    sparse.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 20)}
    archive = tarred(tmp_path / "a.tar.gz", {**DOCUMENT, "sparse": sparse})
    assert "not a plain file" in problem(archive)


def test_names_that_lead_out_of_a_folder_are_never_written_to(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    members = {f"../../{name}": content for name, content in DOCUMENT.items()}
    assert len(list(full_texts(tarred(inner / "a.tar.gz", members), FOLDERS))) == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "a.tar.gz"]


def test_a_member_and_an_archive_have_a_largest_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLDA_MAX_RECORD", "4K")
    archive = tarred(tmp_path / "a.tar.gz", {**DOCUMENT, "train/8.txt": "x" * 4_097})
    assert problem(archive).startswith("/train/8.txt: this file has 4 KiB; the limit is DEPLDA_MAX")
    monkeypatch.setenv("DEPLDA_MAX_RECORD", "600")
    assert problem(archive).startswith(": this file, unpacked, has more than 9.38 KiB; the limit")


@pytest.mark.timeout(30)
def test_a_member_after_which_comes_the_same_one_again_is_not_read_for_ever(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "a.tar", {"README": "", "again": ""})
    content = bytearray(archive.read_bytes())
    header = memoryview(content)[512:1_024]
    header[124:136] = (-512 & (1 << 96) - 1).to_bytes(12, "big")  # its size, in base 256
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()  # the checksum
    archive.write_bytes(content)
    assert problem(archive).startswith(": it is not a whole tar file (")


def test_no_damage_to_an_archive_ends_in_another_error(tmp_path: Path) -> None:
    archive = tarred(tmp_path / "a.tar.gz", DOCUMENT)
    whole = archive.read_bytes()
    refused = 0
    for at in range(min(len(whole), 2_048)):
        archive.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            list(full_texts(archive, FOLDERS))
        except DepldaError:
            refused += 1
    for end in range(0, min(len(whole), 2_048), 7):
        archive.write_bytes(whole[:end])
        with suppress(DepldaError):
            list(full_texts(archive, FOLDERS))
    assert refused > 100


# TSV ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_lines_of_tsv_are_documents_named_by_their_numbers(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    lines = "\ufeffTitel ¤ Text\t<http://g/1> <http://g/2>\r\n\nZweiter\t<http://g/2>\t<http://g/3>"
    (tmp_path / "a.tsv").write_bytes(pack(lines.encode()))
    assert list(tsv_documents(tmp_path / "a.tsv")) == [
        Document("1", "Titel ¤ Text", ["http://g/1", "http://g/2"]),
        Document("3", "Zweiter", ["http://g/2", "http://g/3"]),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"no tab", "this document has no subject; as published, each has: copy it again"),
        (b"text\t ", "this document has no subject"),
        (b" \t<http://g/1>", "there is no text before the tab, but '<http://g/1>' after it"),
        (b"text\thttp://g/1", "expected a subject as <URI>; found 'http://g/1'"),
        (b"text\t<a><b>", "expected a subject as <URI>; found '<a><b>'"),
        (b"\xff\t<a>", "this is not UTF-8 ("),
    ],
)
def test_a_line_of_tsv_that_is_no_document_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    (tmp_path / "a.tsv").write_bytes(b"first\t<a>\n" + line + b"\n")
    assert problem(tmp_path / "a.tsv").startswith(f", line 2: {said}")


def test_damaged_gzip_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"first\t<a>\n" * 50)[:-9])
    assert problem(tmp_path / "a.tsv.gz").startswith(": the gzip data is damaged (")
