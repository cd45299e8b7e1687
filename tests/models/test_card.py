"""A saved model's folder: written whole or not at all, and never trusted."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError

from deplda import DependencyLDA, DepldaError, FlatLDA, InputError, ReadError, load
from deplda.data import atomic
from deplda.models import card as store
from tests.models.saved_models import ARRAYS, CARD, corpus, edit_card, fitted, saved, use, write

# Saving -------------------------------------------------------------------------------------------


def test_a_model_is_replaced_and_others_can_read_it(folder: Path) -> None:
    fitted().save(folder)
    assert sorted(os.listdir(folder)) == [ARRAYS, CARD]
    assert os.listdir(folder.parent) == ["model"]
    modes = {(folder / name).stat().st_mode for name in (ARRAYS, CARD)}
    (folder / "plain").touch()
    assert modes == {(folder / "plain").stat().st_mode}


def test_a_loaded_model_can_be_saved_over_itself(folder: Path) -> None:
    model = load(folder)
    model.save(folder)
    assert np.array_equal(load(folder).rank(corpus()).scores, model.rank(corpus()).scores)


def test_an_empty_folder_becomes_a_model(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    fitted().save(tmp_path / "model")
    load(tmp_path / "model")


def link_to_a_model(path: Path) -> None:
    write(path.with_name("real"), saved())
    path.symlink_to(path.with_name("real"))


def pipe_for_a_card(path: Path) -> None:
    path.mkdir()
    os.mkfifo(path / CARD)


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "a file": lambda path: path.write_text("mine"),
    "a folder": lambda path: write(path, {"thesis.txt": b"mine"}),
    "a model and more": lambda path: write(path, saved() | {"thesis.txt": b"mine"}),
    "another card": lambda path: write(path, {CARD: b'{"format": "playing", "version": 1}'}),
    "a card that is none": lambda path: write(path, {CARD: b"ace"}),
    "other arrays": lambda path: write(path, {ARRAYS: b"mine"}),
    "a link to a model": link_to_a_model,
    "a pipe for a card": pipe_for_a_card,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_no_model_is_never_overwritten(what: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    FOREIGN[what](path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(InputError, match="exists and is not a saved model; choose another name"):
        fitted().save(path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("step", ["save_file", "sync", "_exchange"])
@pytest.mark.parametrize("kind", [OSError, SafetensorError])
def test_a_save_that_fails_leaves_the_old_model_and_no_rubbish(
    step: str, kind: type[Exception], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise kind("no space left on device")

    if step != "save_file" and kind is SafetensorError:
        pytest.skip("only safetensors raises it")
    monkeypatch.setattr(store if step == "save_file" else atomic, step, full)
    with pytest.raises(OSError, match="no space left"):
        FlatLDA().fit(corpus()).save(folder)
    assert os.listdir(folder.parent) == ["model"]
    assert {name: (folder / name).read_bytes() for name in (CARD, ARRAYS)} == saved()


def test_the_same_model_is_saved_as_the_same_bytes(folder: Path) -> None:
    fitted().save(folder)
    assert {name: (folder / name).read_bytes() for name in (CARD, ARRAYS)} == saved()
    id = store.read_card(folder).id
    load(folder).save(folder)
    assert store.read_card(folder).id == id
    FlatLDA().fit(corpus()).save(folder)
    assert store.read_card(folder).id != id


def test_the_card_of_one_save_and_the_arrays_of_another_are_not_joined(folder: Path) -> None:
    other = folder.with_name("other")
    FlatLDA().fit(corpus()).save(other)
    shutil.copy(other / ARRAYS, folder / ARRAYS)
    with pytest.raises(ReadError, match="are of two different models; copy the folder again"):
        load(folder)


def test_a_model_replaced_while_it_is_loaded_is_one_or_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, other = store._card_in, FlatLDA().fit(corpus())

    def replaced_after_the_card_is_read(path: Path, *, trusted: bool) -> store.Card:
        card = read(path, trusted=trusted)
        if card.model != "FlatLDA":
            other.save(folder)
        return card

    monkeypatch.setattr(store, "_card_in", replaced_after_the_card_is_read)
    assert type(load(folder)) is FlatLDA


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.save("x", metrics={"best": object()}), "the card cannot be written"),
        (lambda model: model.save("x", metrics={"n": "\ud800"}), "the card cannot be written"),
        (lambda model: model.set_params(cutoff=[1]).save("x"), "cutoff is .*cannot be saved"),
    ],
)
def test_what_json_cannot_hold_is_named(
    change: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        change(FlatLDA().fit(corpus()))
    assert os.listdir(tmp_path) == []


# Folders that are not whole -----------------------------------------------------------------------


def test_nothing_there_is_said_to_be_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(ReadError, match="this is a file; give the folder of a saved model"):
        load(tmp_path / "file")


@pytest.mark.parametrize("name", [CARD, ARRAYS])
def test_a_missing_file_is_named(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(ReadError, match=f"{name}: the file is missing: this is no saved model"):
        load(folder)


@pytest.mark.parametrize("name", [CARD, ARRAYS])
def test_a_truncated_file_is_refused_wherever_it_ends(name: str, folder: Path) -> None:
    whole = saved()[name]
    for length in {*range(20), *range(20, len(whole), len(whole) // 60), len(whole) - 1}:
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(ReadError, match="cannot be read"):
            load(folder)


@pytest.mark.parametrize("name", [CARD, ARRAYS])
def test_links_pipes_and_folders_in_place_of_files_are_refused(name: str, folder: Path) -> None:
    outside = folder.parent / "outside"
    (folder / name).rename(outside)
    makers: list[Callable[[Path], Any]] = [
        lambda path: path.symlink_to(outside),
        lambda path: path.mkdir(),
        os.mkfifo,
    ]
    for make in makers:
        make(folder / name)
        with pytest.raises(ReadError, match=r"this is not a plain file; links and pipes are not"):
            load(folder)
        if (folder / name).is_dir():
            (folder / name).rmdir()
        else:
            (folder / name).unlink()


def test_a_link_to_the_folder_itself_is_followed(folder: Path) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    assert type(load(link)) is DependencyLDA


def test_a_card_or_a_header_of_gigabytes_is_not_even_read(folder: Path) -> None:
    (folder / ARRAYS).write_bytes((10 * 1024**3).to_bytes(8, "little") + b"{}" * 100)
    with pytest.raises(ReadError, match="its header says it has 10,737,418,240 bytes"):
        load(folder)
    with (folder / CARD).open("r+b") as card:
        card.truncate(10 * 1024**3)  # takes no room on the disk
    with pytest.raises(ReadError, match="card has 10,737,418,240 bytes, more than 67,108,864"):
        load(folder)
    with pytest.raises(ReadError, match="10,737,418,240 bytes are more than 536,870,912"):
        load(folder, trusted=True)


def test_a_card_larger_than_64_mib_is_loaded_only_if_trusted(folder: Path) -> None:
    with (folder / CARD).open("ab") as card:
        card.write(b" " * (64 << 20))
    with pytest.raises(ReadError, match=r"load it with trusted=True \(--trust-model\)"):
        load(folder)
    assert load(folder, trusted=True).rank(corpus()).scores.shape[0] == len(corpus())


def header(**entries: Any) -> bytes:
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        header(a={"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}),
        header(a={"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8]}) + bytes(8),
        header(a={"dtype": "F64", "shape": [0, 10**12], "data_offsets": [0, 0]}),
        header(a={"dtype": "F64", "shape": [], "data_offsets": [0, 8]}) + bytes(8),
        header(a={"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}) + bytes(8),
        header(a={"dtype": "F64", "shape": [2**62], "data_offsets": [0, 0]}),
        header(a={"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}) + bytes(8),
        header(a={"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}) + bytes(8),
        header(a={"dtype": "O", "shape": [1], "data_offsets": [0, 8]}) + bytes(8),
        header(a={"dtype": "F64"}),
        header(a=3),
        header(__metadata__={"a": {"b": "c"}}),
        (4).to_bytes(8, "little") + b"nope",
        (100_000).to_bytes(8, "little") + b'{"a":' * 20_000,
        pickle.dumps({"label_words": 1}),
        b"",
    ],
)
def test_arrays_that_claim_the_impossible_are_refused(content: bytes, folder: Path) -> None:
    (folder / ARRAYS).write_bytes(content)
    with pytest.raises(ReadError):
        load(folder)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("exploded",))


def test_a_pickle_in_the_folder_is_never_opened(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("model.pkl", "card.pkl", "arrays.pkl", "arrays.npz"):
        (folder / name).write_bytes(pickle.dumps(Bomb()))
    assert type(load(folder)) is DependencyLDA
    for name in (CARD, ARRAYS):
        (folder / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ReadError):
            load(folder)
    assert not Path("exploded").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"format":"deplda-model","version":1}',
        b"\xff\xfe",
        b'{"format":"\xff"}',
        b'{"metrics":' + b"[" * 100_000,
        b'{"format":"deplda-model","version":1,"metrics":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"format":"deplda-model","version":' + b"9" * 10_000 + b"}",
        b'{"format":"deplda-model","version":NaN}',
    ],
)
def test_a_card_that_is_none_is_refused(content: bytes, folder: Path) -> None:
    (folder / CARD).write_bytes(content)
    with pytest.raises(ReadError):
        load(folder)


def test_what_a_later_library_adds_to_a_card_is_passed_over(folder: Path) -> None:
    edit_card(folder, lambda card: card.update(colour="blue"))
    use(load(folder))


def test_arrays_are_maps_of_the_file_that_cannot_be_written(folder: Path) -> None:
    for array in store.load(folder).arrays.values():
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable


# Any bytes at all ---------------------------------------------------------------------------------


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, bytes]:
    """Draw the files of a model with some bytes flipped, put in or taken out."""
    files = {name: bytearray(content) for name, content in saved().items()}
    content = files[draw(st.sampled_from([CARD, ARRAYS]))]
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content) - 1))
        match draw(st.sampled_from(["flip", "insert", "delete"])):
            case "flip":
                content[place] ^= draw(st.integers(1, 255))
            case "insert":
                content[place:place] = draw(st.binary(min_size=1, max_size=8))
            case _:
                del content[place : place + draw(st.integers(1, 8))]
    return {name: bytes(content) for name, content in files.items()}


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of patterns such as [[a]
@settings(max_examples=250, deadline=None)
@given(mutations())
def test_any_change_of_bytes_is_refused_or_harmless(files: dict[str, bytes]) -> None:
    with TemporaryDirectory() as name:
        write(Path(name), files)
        with suppress(DepldaError):
            use(load(name))


def test_what_is_saved_is_used_without_complaint(folder: Path) -> None:
    use(load(folder))
    shutil.rmtree(folder)
