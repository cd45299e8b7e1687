import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from deplda import DataUnavailableError, InputError
from paper import data
from paper.data import catalogue, downloads

CONTENT = b"as published\n"
ADDRESS = "http://127.0.0.1:1/nothing/listens/here"


class Website:
    """A web server on this machine: path → what it sends."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.promised_too_much = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append(self.path)
                page = site.pages.get(self.path)
                self.send_response(404 if page is None else 200)
                content = page or b""
                self.send_header("Content-Length", str(len(content) + site.promised_too_much))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def website() -> Iterator[Website]:
    site = Website()
    thread = Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test off the user's cache, off his proxies and off the network."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DEPLDA_DATA", str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    nowhere = [
        replace(entry, files=dict.fromkeys(entry.files, ADDRESS)) for entry in data.entries()
    ]
    monkeypatch.setattr(catalogue, "_ENTRIES", tuple(nowhere))
    return folder


def publish(
    monkeypatch: pytest.MonkeyPatch,
    site: Website,
    sha256: Mapping[str, str] | None = None,
) -> None:
    """Make rcv1 a data set of one file, a.txt, on our own web server."""
    site.pages["/a.txt"] = CONTENT
    entries = [
        replace(entry, files={"a.txt": f"{site.address}/a.txt"}, sha256=sha256 or {})
        if entry.name == "rcv1"
        else entry
        for entry in data.entries()
    ]
    monkeypatch.setattr(catalogue, "_ENTRIES", tuple(entries))


def test_every_data_set_has_a_way_to_be_had() -> None:
    entries = data.entries()
    assert len({entry.name for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.title
        assert bool(entry.files) == (entry.origin == "download") or entry.origin == "by hand"
        assert entry.sha256.keys() <= entry.files.keys()
        assert all(len(bytes.fromhex(checksum)) == 32 for checksum in entry.sha256.values())
        assert (entry.name in catalogue._READERS) == (entry.origin != "folder")


def test_data_sets_of_the_package_and_paths_are_read_too(tmp_path: Path) -> None:
    assert data.load("newsroom").name == "newsroom"
    assert data.fetch("newsroom") == {}
    with pytest.raises(InputError, match="no data set, file or folder 'nonsense'"):
        data.load("nonsense", tmp_path)
    with pytest.raises(DataUnavailableError, match="has no folder 'rcv1_subset1'"):
        data.load("rcv1-subset1", tmp_path)


# Downloads --------------------------------------------------------------------------------------


def test_a_file_is_downloaded_once_and_kept(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    assert data.fetch("rcv1") == {"a.txt": cache / "rcv1" / "a.txt"}
    assert (cache / "rcv1" / "a.txt").read_bytes() == CONTENT
    data.fetch("rcv1")
    assert website.requests == ["/a.txt"]


def test_the_variable_moves_the_cache_and_data_dir_goes_before_it(
    website: Website, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    monkeypatch.setenv("DEPLDA_DATA", str(tmp_path / "elsewhere"))
    assert data.fetch("rcv1")["a.txt"] == tmp_path / "elsewhere" / "rcv1" / "a.txt"
    mine = tmp_path / "mine"
    assert data.fetch("rcv1", mine)["a.txt"] == mine / "rcv1" / "a.txt"


def test_a_known_checksum_is_checked(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = hashlib.sha256(CONTENT).hexdigest()
    publish(monkeypatch, website, {"a.txt": right})
    target = data.fetch("rcv1")["a.txt"]
    assert list(target.parent.iterdir()) == [target]
    wrong = "0" * 64
    publish(monkeypatch, website, {"a.txt": wrong})
    with pytest.raises(DataUnavailableError) as caught:
        data.fetch("rcv1")
    assert str(caught.value) == (
        f"{target} has the SHA-256 {right} instead of {wrong}: it is damaged or another version. "
        "Delete it and try again"
    )


def test_an_unknown_checksum_is_recorded_and_a_changed_file_refused(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    target = data.fetch("rcv1")["a.txt"]
    recorded = target.with_name("a.txt.sha256")
    assert recorded.read_text() == hashlib.sha256(CONTENT).hexdigest() + "\n"
    target.write_bytes(b"changed")
    with pytest.raises(DataUnavailableError, match=r"damaged or another version\. Delete it"):
        data.fetch("rcv1")
    # The publisher's own change is seen too: the record outlives the file.
    target.unlink()
    website.pages["/a.txt"] = b"another version"
    with pytest.raises(DataUnavailableError, match="damaged or another version"):
        data.fetch("rcv1")


def test_a_record_that_is_no_checksum_is_a_wrong_one(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    data.fetch("rcv1")["a.txt"].with_name("a.txt.sha256").write_bytes(b"\xff\xfe")
    with pytest.raises(DataUnavailableError, match="instead of"):
        data.fetch("rcv1")


def test_a_file_put_there_by_hand_is_taken(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    (cache / "rcv1").mkdir(parents=True)
    (cache / "rcv1" / "a.txt").write_bytes(b"by hand")
    assert data.fetch("rcv1")["a.txt"].read_bytes() == b"by hand"
    assert website.requests == []


def test_a_file_in_a_folder_that_cannot_be_written_to_is_taken_as_it_is(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    (cache / "rcv1").mkdir(parents=True)
    (cache / "rcv1" / "a.txt").write_bytes(b"by hand")

    def read_only(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(downloads, "write_whole", read_only)
    assert data.fetch("rcv1")["a.txt"].read_bytes() == b"by hand"


def test_off_line_the_error_names_the_address_and_the_place(cache: Path) -> None:
    for call in (data.load, data.fetch):
        with pytest.raises(DataUnavailableError) as caught:
            call("eurlex57k")
        assert f"could not download {ADDRESS} (" in str(caught.value)
        assert f"put it at {cache / 'eurlex57k' / 'datasets.zip'}" in str(caught.value)


def test_a_page_that_is_gone_or_breaks_off_leaves_no_file(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    website.promised_too_much = 10
    with pytest.raises(DataUnavailableError, match=f"could not download {website.address}/a.txt"):
        data.fetch("rcv1")
    website.promised_too_much = 0
    del website.pages["/a.txt"]
    with pytest.raises(DataUnavailableError, match="404"):
        data.fetch("rcv1")
    assert list((cache / "rcv1").iterdir()) == []


def test_a_cache_that_cannot_be_made_is_an_error_of_ours(
    website: Website, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, website)
    cache.write_text("a file where a folder should be")
    with pytest.raises(DataUnavailableError, match="could not download"):
        data.fetch("rcv1")


def test_progress_is_drawn_on_standard_error_only_when_wanted(
    website: Website, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(monkeypatch, website)
    target = data.fetch("rcv1", progress=True)["a.txt"]
    captured = capsys.readouterr()
    assert "a.txt" in captured.err
    assert captured.out == ""
    target.unlink()
    data.fetch("rcv1")
    assert capsys.readouterr() == ("", "")


def test_published_files_in_data_dir_are_parsed(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "rcv1"
    folder.mkdir(parents=True)
    for part, number in (
        ("train", 1),
        ("test_pt0", 2),
        ("test_pt1", 3),
        ("test_pt2", 4),
        ("test_pt3", 5),
    ):
        (folder / f"lyrl2004_tokens_{part}.dat.gz").write_bytes(
            gzip.compress(f".I {number}\n.W\nword{number}\n".encode())
        )
    (folder / "rcv1-v2.topics.qrels.gz").write_bytes(gzip.compress(b"CCAT 1 1\n"))
    dataset = data.load("rcv1", tmp_path / "data")
    assert dataset.corpus.ids == ("1", "2", "3", "4", "5")
    assert dataset.splits[0].train.tolist() == [0]


def test_a_licensed_data_set_is_read_from_where_the_user_put_it(
    tmp_path: Path, cache: Path
) -> None:
    with pytest.raises(
        DataUnavailableError, match="is licensed and cannot be downloaded; put"
    ) as caught:
        data.load("nyt")
    assert str(caught.value).endswith(f"under {cache / 'nyt'}")
    for root in (cache, tmp_path / "data"):
        (root / "nyt").mkdir(parents=True)
        labels = "".join(f"<classifier type='descriptor'>{name}</classifier>" for name in "ABC")
        for number in range(5):
            (root / "nyt" / f"{number}.xml").write_text(
                f"<nitf><identified-content>{labels}</identified-content>"
                "<block class='full_text'>word</block></nitf>"
            )
    assert len(data.load("nyt").corpus) == 5
    assert data.load("nyt", tmp_path / "data").corpus.label_names == ("A", "B", "C")


@pytest.mark.parametrize(
    ("name", "folder", "file"),
    [
        ("kirjastonhoitaja", "kirjastonhoitaja", "kirjastonhoitaja.tar.gz"),
        ("tib-core", "tib-core", "dev-de.tsv.gz"),
        ("tib-core-en", "tib-core-en", "dev-en.tsv.gz"),
    ],
)
def test_a_file_to_be_put_by_hand_is_not_downloaded(
    cache: Path, name: str, folder: str, file: str
) -> None:
    for call in (data.load, data.fetch):
        with pytest.raises(DataUnavailableError) as caught:
            call(name)
        assert str(caught.value) == (
            f"{cache / folder / file} is not there, and is not downloaded; "
            f"get the documents from {ADDRESS} and put them there"
        )


@pytest.mark.parametrize("file", ["dev-en.tsv.gz", "dev-en.tsv"])
def test_texts_come_with_the_counts_of_a_file_put_by_hand(tmp_path: Path, file: str) -> None:
    (tmp_path / "tib_core").mkdir()
    lines = b"Rare earths\t<http://g/1>\nRare books\t<http://g/2>\n"
    content = gzip.compress(lines) if file.endswith(".gz") else lines
    (tmp_path / "tib_core" / file).write_bytes(content)
    assert data.fetch("tib-core-en", tmp_path) == {"dev-en.tsv.gz": tmp_path / "tib_core" / file}
    dataset = data.load("tib-core-en", tmp_path)
    assert dataset.texts == ("Rare earths", "Rare books")
    assert len(dataset.corpus) == 2
    with pytest.raises(DataUnavailableError, match=r"dev-de\.tsv\.gz is not there"):
        data.load("tib-core", tmp_path)
