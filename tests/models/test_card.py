"""Saved models: the same model comes back, and whatever a folder holds, nothing bad happens."""

import json
import os
import pickle
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from deplda import (
    Corpus,
    DependencyLDA,
    DepldaError,
    FlatLDA,
    InputError,
    PriorLDA,
    ReadError,
    WordCounter,
    load,
)
from deplda.models import card as store
from deplda.models.topic_model import TopicModel

FIXTURES = Path(__file__).parent / "fixtures"
CARD, ARRAYS = "card.json", "arrays.safetensors"


@cache
def corpus() -> Corpus:
    """More labels than a draw over all of them is used for, so that every kernel has its turn."""
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson(0.4, (40, 12)), rng.random((40, 70)) < 0.05
    return Corpus(counts, labels, [f"w{i}" for i in range(12)], [f"l{i}" for i in range(70)])


@cache
def fitted() -> DependencyLDA:
    few: dict[str, Any] = {"n_topic_chains": 2, "n_topic_sweeps": 5, "n_test_chains": 1}
    return DependencyLDA(
        n_topics=3, burn_in=2, n_samples=2, lag=1, n_label_tokens=5, n_jobs=1, **few
    ).fit(corpus())


@cache
def saved() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        fitted().save(Path(folder) / "model")
        return {name: (Path(folder) / "model" / name).read_bytes() for name in (CARD, ARRAYS)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    write(path, saved())
    return path


def write(path: Path, files: dict[str, bytes]) -> None:
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name).write_bytes(content)


def edit_card(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    card = json.loads((path / CARD).read_bytes())
    edit(card)
    (path / CARD).write_text(json.dumps(card), encoding="utf-8")


def edit_arrays(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    arrays = {name: np.array(array) for name, array in load_file(path / ARRAYS).items()}
    edit(arrays)
    save_file(arrays, path / ARRAYS)


def use(model: TopicModel) -> None:
    """Do all that reads a model's arrays."""
    documents = corpus().counts[:5]
    for inference in ("deterministic", "sampled", "proper"):
        model.set_params(inference=inference).rank(documents, 3)
    model.explain(documents[[0]]).to_html()
    model.topics()
    for label in model.classes_[:3]:
        model.top_words(label)
        model.similar_labels(label)
        model.similar_labels(label, by="topics")
    model.partial_fit(documents, corpus().labels[:5])


# There and back -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [FlatLDA, PriorLDA, DependencyLDA])
def test_a_saved_model_comes_back_whole(model: type[TopicModel], tmp_path: Path) -> None:
    original = model(random_state=7, cutoff=2).fit(corpus())
    original.save(tmp_path / "deep" / "model", metrics={"map": np.float64(0.5), "n": np.arange(2)})
    for path in (tmp_path / "deep" / "model", str(tmp_path / "deep" / "model")):
        for again in (load(path), model.load(path)):
            assert type(again) is model
            assert again.get_params() == original.get_params()
            assert again.settings_ == original.settings_
            assert again.classes_.tolist() == original.classes_.tolist()
            assert again.feature_names_in_.tolist() == original.feature_names_in_.tolist()
            sets = (again.label_sets_.toarray(), original.label_sets_.toarray())
            assert np.array_equal(*sets)
            assert (again.seed_, again.n_tokens_) == (7, corpus().n_tokens)
            assert again.metrics_ == {"map": 0.5, "n": [0, 1]}
            assert np.array_equal(again.rank(corpus()).scores, original.rank(corpus()).scores)
            assert (again.predict(corpus()) != original.predict(corpus())).nnz == 0
    card = json.loads((tmp_path / "deep" / "model" / CARD).read_bytes())
    assert (card["format"], card["version"], card["model"]) == ("deplda-model", 1, model.__name__)
    assert card["statistics"]["n_tokens"] == corpus().n_tokens


@pytest.mark.parametrize(
    "y", [["b", "a"], [3, 1], [True, False], [0.0, 1.0], [["x"], ["x", "y"]], [[0, 1], [1, 1]]]
)
def test_labels_of_every_type_come_back(y: Any, tmp_path: Path) -> None:
    original = FlatLDA().fit([[1, 0], [0, 1]], y)
    original.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.classes_.tolist() == original.classes_.tolist()
    assert type(again.classes_.tolist()[0]) is type(original.classes_.tolist()[0])
    assert type(again.predict([[1, 0]])) is type(original.predict([[1, 0]]))
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stop_words": "german", "lowercase": False},
        {"stop_words": ["ball"], "ngram_range": (1, 2), "min_count": 1},
        {"stop_words": None, "token_pattern": r"(?u)\b(\w)\w+"},
    ],
)
def test_how_texts_are_counted_comes_back(options: Any, tmp_path: Path) -> None:
    texts = ["Der Ball ist rund", "the ball and the doctor"]
    counter = WordCounter(**options)
    original = FlatLDA().fit(counter.fit_transform(texts), ["de", "en"], counter=counter)
    original.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.decision_function(texts), original.decision_function(texts))
    assert again.explain(texts[0]).to_html() == original.explain(texts[0]).to_html()


def test_a_model_of_another_class_is_named(folder: Path) -> None:
    with pytest.raises(ReadError, match="this is a saved DependencyLDA, not a FlatLDA"):
        FlatLDA.load(folder)


def test_a_model_from_an_old_version_still_loads_and_ranks_the_same() -> None:
    model = load(FIXTURES / "model-v1")
    assert type(model) is DependencyLDA
    assert model.metrics_ == {"note": "kept to see that later versions still read it"}
    ranking = model.rank(["the pitcher in an inning", "patients and their doctor"], 3)
    assert ranking.labels.tolist() == [
        ["baseball", "crime", "medicine"],
        ["medicine", "crime", "baseball"],
    ]
    assert ranking.scores == pytest.approx(np.array(OLD_SCORES), rel=1e-6)


OLD_SCORES = [
    [1.371445820, 0.373941928, 0.254612252],
    [1.392079397, 0.355336675, 0.252583928],
]


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


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "a file": lambda path: path.write_text("mine"),
    "a folder": lambda path: write(path, {"thesis.txt": b"mine"}),
    "a model and more": lambda path: write(path, saved() | {"thesis.txt": b"mine"}),
    "another card": lambda path: write(path, {CARD: b'{"format": "playing", "version": 1}'}),
    "a card that is none": lambda path: write(path, {CARD: b"ace"}),
    "other arrays": lambda path: write(path, {ARRAYS: b"mine"}),
    "a link to a model": link_to_a_model,
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


@pytest.mark.parametrize("step", ["save_file", "_flush", "rename"])
def test_a_save_that_fails_leaves_the_old_model_and_no_rubbish(
    step: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise OSError("no space left on device")

    real_rename = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name == "new":
            full()
        return real_rename(self, target)

    if step == "rename":
        monkeypatch.setattr(Path, "rename", rename)
    else:
        monkeypatch.setattr(store, step, full)
    for path in (folder, folder.with_name("fresh")):
        with pytest.raises(OSError, match="no space left"):
            FlatLDA().fit(corpus()).save(path)
    assert os.listdir(folder.parent) == ["model"]
    assert {name: (folder / name).read_bytes() for name in (CARD, ARRAYS)} == saved()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.save("x", metrics={"best": object()}), "the card cannot be written"),
        (lambda model: model.save("x", metrics={"n": "\ud800"}), "the card cannot be written"),
        (lambda model: model.set_params(verbose=[1]).save("x"), "verbose is .*cannot be saved"),
    ],
)
def test_what_json_cannot_hold_is_named(
    change: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        change(FlatLDA().fit(corpus()))
    assert os.listdir(tmp_path) == []


def test_a_random_state_is_saved_as_the_seed_drawn_from_it(tmp_path: Path) -> None:
    model = FlatLDA(random_state=np.random.RandomState(3)).fit(corpus())
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.random_state is None
    assert again.seed_ == model.seed_


# Folders that are not whole -----------------------------------------------------------------------


def test_nothing_there_is_said_to_be_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(ReadError, match="there is no such folder"):
        load(tmp_path / "file")


@pytest.mark.parametrize("name", [CARD, ARRAYS])
def test_a_missing_file_is_named(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(ReadError, match=f"{name}: the file is missing; the model was not copied"):
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
        with pytest.raises(
            ReadError, match=r"this is not a plain file; a saved model has no links"
        ):
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
    with pytest.raises(ReadError, match="10,737,418,240 bytes are more than"):
        load(folder)


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


# Cards --------------------------------------------------------------------------------------------


def put(*keys: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def edit(card: Any) -> None:
        for key in keys[:-1]:
            card = card[key]
        card[keys[-1]] = value

    return edit


TEXT: dict[str, Any] = {
    "stop_words": None,
    "token_pattern": "[a-z]+",
    "lowercase": True,
    "ngram_range": [1, 1],
    "min_count": 1,
}
WRONG_CARDS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another format": (put("format", value="onnx"), "not the card of a deplda-model"),
    "the future": (put("version", value=2), "format version 2; this library reads 1 to 1: install"),
    "the far past": (put("version", value=0), "format version 0"),
    "a version in words": (put("version", value="one"), "cannot be read.*int"),
    "an unknown class": (
        put("model", value="MindReader"),
        "'MindReader'; this library knows Dep",
    ),
    "a class of this module": (put("model", value="TopicModel"), "'TopicModel'"),
    "another class": (put("model", value="FlatLDA"), "the card does not fit a FlatLDA"),
    "no labels": (put("labels", value=[]), "has no labels"),
    "fewer labels": (lambda card: card["labels"].pop(), "columns"),
    "labels of two types": (put("labels", 0, value=1), "labels of several types"),
    "a label twice": (put("labels", 0, value="l1"), "has a label twice"),
    "nested labels": (put("labels", 0, value=["l0"]), "cannot be read"),
    "fewer words": (lambda card: card["words"].pop(), "has not 12 words"),
    "a word twice": (put("words", 0, value="w1"), "has a word twice"),
    "words by number": (put("words", 0, value=5), "cannot be read"),
    "huge words": (put("n_words", value=10**12), "has not 1,000,000,000,000 words"),
    "no words": (lambda card: card.update(words=None, n_words=0), "has not 0 words"),
    "as many as nobody has": (lambda card: card.update(words=None, n_words=10**12), "rows instead"),
    "a huge number": (put("n_words", value=10**400), "has not 10,000"),
    "a negative seed": (put("seed", value=-1), "has the seed -1"),
    "a huge seed": (put("seed", value=1 << 64), "has the seed|cannot be read"),
    "another kind": (put("kind", value="odd"), "cannot be read"),
    "no statistics": (put("statistics", value={}), "has the number of tokens None"),
    "tokens in words": (put("statistics", "n_tokens", value="many"), "number of tokens 'many'"),
    "more tokens than fit": (put("statistics", "n_tokens", value=10**30), "number of tokens 1000"),
    "fewer than no tokens": (put("statistics", "n_tokens", value=-1), "number of tokens -1"),
    "no parameters": (put("parameters", value=None), "cannot be read"),
    "an unknown parameter": (put("parameters", "magic", value=1), "does not fit.*magic"),
    "a bad parameter": (put("parameters", "inference", value="x"), "inference is 'x'"),
    "endless chains": (put("parameters", "n_test_chains", value=10**9), "n_test_chains is"),
    "endless sweeps": (put("parameters", "burn_in", value=10**15), "burn_in is"),
    "a parameter of another type": (put("parameters", "eta", value=[1]), "eta is"),
    "endless workers": (put("parameters", "n_jobs", value=10**9), "n_jobs is"),
    "a bad cutoff": (put("parameters", "cutoff", value="x"), "cutoff is 'x'"),
    "no settings": (put("learned", "settings", value={}), "no such settings"),
    "settings in words": (put("learned", "settings", "eta", value="much"), "cannot be used"),
    "a setting below 0": (put("learned", "settings", "eta", value=-1.0), "eta is"),
    "a huge setting": (put("learned", "settings", "alpha", value=1e300), "alpha is"),
    "other settings": (put("learned", "settings", "zeta", value=1.0), "no such settings"),
    "half a topic": (put("learned", "settings", "n_topics", value=0.5), "n_topics is"),
    "learned nothing": (put("learned", value={}), "cannot be used"),
    "fewer than no topics": (put("learned", "n_topic_sets", value=-1), "cannot be used"),
    "endless topics": (put("learned", "n_topic_sets", value=10**15), "topic_labels.2.* is missing"),
    "text without words": (lambda card: card.update(words=None, text=TEXT), "but not which"),
    "text settings missing": (put("text", value={}), "does not fit"),
    "a bad pattern": (lambda card: card.update(text=TEXT | {"token_pattern": "("}), "token_patt"),
    "two groups": (lambda card: card.update(text=TEXT | {"token_pattern": "(a)(b)"}), "token_patt"),
    "an endless pattern": (
        lambda card: card.update(text=TEXT | {"token_pattern": "a{99999999999}"}),
        "token_pattern",
    ),
    "no such language": (lambda card: card.update(text=TEXT | {"stop_words": "xx"}), "stop words"),
    "a file of stop words": (
        lambda card: card.update(text=TEXT | {"stop_words": "/etc/secret.txt"}),
        "there are no stop words for '/etc/secret.txt'",
    ),
    "sequences of no words": (
        lambda card: card.update(text=TEXT | {"ngram_range": [3, 1]}),
        r"no sequences of \(3, 1\) words",
    ),
}


@pytest.mark.parametrize("what", WRONG_CARDS)
def test_a_wrong_card_is_refused_by_name(what: str, folder: Path) -> None:
    edit, message = WRONG_CARDS[what]
    edit_card(folder, edit)
    with pytest.raises(ReadError, match=message):
        load(folder)


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
    edit_card(folder, put("colour", value="blue"))
    use(load(folder))


# Arrays -------------------------------------------------------------------------------------------

NAMES = ("label_words", "topic_labels.0", "topic_labels.1")


def at(name: str, place: int, value: Any) -> Callable[[dict[str, Any]], None]:
    def edit(arrays: dict[str, Any]) -> None:
        arrays[name][place] = value

    return edit


def to(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def edit(arrays: dict[str, Any]) -> None:
        arrays[name] = change(arrays[name])

    return edit


def wrap_around(arrays: dict[str, Any]) -> None:
    """Put in row starts whose differences all seem to be from 0: 64 bits overflow."""
    starts, indices = arrays["label_sets.starts"], arrays["label_sets.indices"]
    arrays["label_sets.indices"] = indices[starts[4] :]
    starts -= starts[4]
    starts[:5] = 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min, -1, 0
    assert (np.diff(starts) >= 0).all()


WRONG_ARRAYS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "missing": lambda arrays: arrays.pop("label_words.indices"),
    "no base": lambda arrays: arrays.pop("topic_labels.1.base"),
    "no values": lambda arrays: arrays.pop("label_words.data"),
    "other type": to("label_words.indices", lambda a: a.astype(np.int64)),
    "other start type": to("label_words.starts", lambda a: a.astype(np.int32)),
    "whole values": to("label_words.data", lambda a: a.astype(np.int32)),
    "small base": to("label_words.base", lambda a: a.astype(np.float32)),
    "two dimensions": to("label_words.data", lambda a: a[:, None]),
    "fewer values": to("label_words.data", lambda a: a[:-1]),
    "fewer entries": to("label_words.indices", lambda a: a[:-1]),
    "fewer rows": to("label_words.starts", lambda a: np.delete(a, 3)),
    "more rows": to("topic_labels.0.starts", lambda a: np.append(a, a[-1])),
    "no rows": to("label_sets.starts", lambda a: a[:0]),
    "fewer columns": to("label_words.base", lambda a: a[:-1]),
    "no topics": to("topic_labels.0.base", lambda a: a[:0]),
    "late start": at("label_words.starts", 0, 1),
    "starts go back": to("label_words.starts", lambda a: np.r_[a[0], a[-1], a[2:]]),
    "start below 0": at("label_sets.starts", 1, -5),
    "starts wrap around": wrap_around,
    "column below 0": at("label_words.indices", 0, -1),
    "column beyond": at("label_words.indices", 0, 70),
    "topic beyond": at("topic_labels.1.indices", 0, 3),
    "label beyond": at("label_sets.indices", -1, 70),
    "columns fall": to("label_words.indices", lambda a: np.r_[a[1], a[0], a[2:]]),
    "a column twice": to("label_words.indices", lambda a: np.r_[a[0], a[0], a[2:]]),
    "NaN": at("label_words.data", 0, np.nan),
    "infinity": at("topic_labels.0.data", 0, np.inf),
    "below 0": at("label_words.data", 0, -0.1),
    "above 1": at("label_words.data", 0, 1e30),
    "base of 0": at("label_words.base", 0, 0.0),
    "base of next to 0": at("label_words.base", 0, 5e-324),
    "base NaN": at("topic_labels.0.base", 0, np.nan),
    "no distribution": to("label_words.data", lambda a: a / 2),
    "base too large": to("topic_labels.0.base", lambda a: a + 1),
}


@pytest.mark.parametrize("what", WRONG_ARRAYS)
def test_wrong_arrays_are_refused(what: str, folder: Path) -> None:
    edit_arrays(folder, WRONG_ARRAYS[what])
    with pytest.raises(ReadError, match=r"array '|arrays"):
        load(folder)


def test_arrays_are_maps_of_the_file_that_cannot_be_written(folder: Path) -> None:
    _, arrays = store.load(folder)
    for array in arrays.values():
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


EXTREMES = [0, 1, -1, 2, 69, 70, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
SMALL_AND_LARGE = [0.0, -0.0, 1e-320, 1e-38, 1e-30, 1e-9, 0.5, 1.0, 1.5, 1e38, np.nan, np.inf]


@st.composite
def array_edits(draw: st.DrawFn) -> list[tuple[str, int, float]]:
    names = [f"{name}.{part}" for name in NAMES for part in ("data", "indices", "starts", "base")]
    names += ["label_sets.indices", "label_sets.starts"]
    return draw(
        st.lists(
            st.tuples(
                st.sampled_from(names),
                st.integers(0, 10**6),
                st.sampled_from(EXTREMES) | st.sampled_from(SMALL_AND_LARGE) | st.integers(0, 70),
            ),
            min_size=1,
            max_size=4,
        )
    )


@settings(max_examples=150, deadline=None)
@given(array_edits())
def test_any_change_of_numbers_is_refused_or_harmless(
    edits: list[tuple[str, int, float]],
) -> None:
    def change(arrays: dict[str, Any]) -> None:
        for name, place, value in edits:
            array = arrays[name]
            if array.dtype.kind == "i":
                limits = np.iinfo(array.dtype)
                value = max(limits.min, min(int(np.nan_to_num(value)), limits.max))
            with np.errstate(all="ignore"):
                array[place % len(array)] = value

    with TemporaryDirectory() as name:
        write(Path(name), saved())
        edit_arrays(Path(name), change)
        with suppress(DepldaError):
            use(load(name))


def test_what_is_saved_is_used_without_complaint(folder: Path) -> None:
    use(load(folder))
    shutil.rmtree(folder)
