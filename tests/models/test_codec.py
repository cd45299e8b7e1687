"""Models to and from their saved form: the same comes back, and nothing wrong gets in."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda import (
    DependencyLDA,
    DepldaError,
    Fields,
    FlatLDA,
    InputError,
    PriorLDA,
    ReadError,
    Where,
    WordCounter,
    load,
)
from deplda.errors import IgnoredParameterWarning, OtherVersionWarning
from deplda.models import codec
from deplda.models.topic_model import TopicModel
from tests.models.saved_models import CARD, corpus, edit_arrays, edit_card, saved, use, write

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
            told = (again.predict_proba(corpus()), original.predict_proba(corpus()))
            assert np.array_equal(*told)
            parts: Any = zip(again._calibration(), original._calibration(), strict=True)
            assert all(np.array_equal(left, right) for left, right in parts)
            parts = zip(again.label_quality_ or (), original.label_quality_ or (), strict=True)
            assert [np.array_equal(left, right) for left, right in parts] == [True, True]
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
    again.partial_fit([[1, 0], [0, 1]], y)
    assert again.classes_.tolist() == original.classes_.tolist()
    assert type(again.predict([[1, 0]])) is type(original.predict([[1, 0]]))
    assert not hasattr(again, "feature_names_in_")


def test_integer_labels_beyond_64_bits_are_neither_learned_nor_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="integer labels beyond 64 bits; use strings"):
        FlatLDA().fit([[1, 0], [0, 1]], [[1 << 70], [1]])
    model = FlatLDA().fit([[1, 0], [0, 1]], np.array([1 << 63, 1], np.uint64))
    with pytest.raises(InputError, match="integer labels beyond 64 bits cannot be saved"):
        model.save(tmp_path / "model")


def test_one_long_label_does_not_widen_the_others(folder: Path) -> None:
    labels = [*map(str, range(69)), "x" * 1_000_000]
    edit_card(folder, lambda card: card.update(labels=labels, object_labels=False))
    classes = load(folder).classes_
    assert classes.tolist() == labels
    assert classes.nbytes < 1_000  # 280 MB at the width of the longest


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stop_words": "german", "lowercase": False},
        {"stop_words": ["ball"], "ngrams": 2, "min_count": 1, "fold_accents": True},
        {"token_pattern": "codes", "language": "auto", "min_count": 1},
        {"stop_words": None, "token_pattern": r"(?u)\b(\w)\w+"},
    ],
)
def test_how_texts_are_counted_comes_back(options: Any, tmp_path: Path) -> None:
    texts = ["Der Ball ist rund", "the ball and the doctor"]
    counter = WordCounter(**options)
    original = FlatLDA().fit(counter.fit_transform(texts), ["de", "en"], counter=counter)
    original.save(tmp_path / "model")
    again = load(tmp_path / "model", trusted=True)
    assert np.array_equal(again.decision_function(texts), original.decision_function(texts))
    assert again.explain(texts[0]).to_html() == original.explain(texts[0]).to_html()


def test_the_fields_come_back_without_conditions(tmp_path: Path) -> None:
    model = FlatLDA().fit(corpus())
    assert model.fields_ is None
    fields = Fields(
        id=None, text=["title", "body"], labels="tags", separator="|", weights={"title": 2}
    )
    model.fields_ = replace(fields, where=[Where("part", "train")])
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").fields_ == replace(fields, label_columns=[], where=[])


def test_a_card_of_before_has_no_fields(folder: Path) -> None:
    edit_card(folder, lambda card: card.pop("fields"))
    assert load(folder).fields_ is None


def test_a_random_state_is_saved_as_the_seed_drawn_from_it(tmp_path: Path) -> None:
    model = FlatLDA(random_state=np.random.RandomState(3)).fit(corpus())
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.random_state is None
    assert again.seed_ == model.seed_


# Cards --------------------------------------------------------------------------------------------


def put(*keys: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def edit(card: Any) -> None:
        for key in keys[:-1]:
            card = card[key]
        card[keys[-1]] = value

    return edit


TEXT: dict[str, Any] = {
    "stop_words": None,
    "token_pattern": "words",
    "lowercase": True,
    "min_count": 1,
}
WRONG_CARDS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another format": (put("format", value="onnx"), "not the card of a deplda-model"),
    "the future": (
        lambda card: card.update(version=2, library="2.1.0"),
        r"format 2, of deplda 2\.1\.0; deplda 1\S+ reads format 1: install deplda 2\.1\.0 or newer",
    ),
    "a future of no name": (
        lambda card: card.update(version=2, library="\n2"),
        r"has format 2; deplda \S+ reads format 1: a newer deplda reads it",
    ),
    "the far past": (put("version", value=0), "has format 0; .* damaged"),
    "a version in words": (put("version", value="one"), "cannot be read.*int"),
    "an unknown class": (
        put("model", value="MindReader"),
        "'MindReader'; this library knows Dep",
    ),
    "a class of this module": (put("model", value="TopicModel"), "'TopicModel'"),
    "another class": (put("model", value="FlatLDA"), "the card does not fit a FlatLDA"),
    "no labels": (put("labels", value=[]), "has no labels"),
    "fewer labels": (lambda card: card["labels"].pop(), "numbers that are not from"),
    "labels of two types": (put("labels", 0, value=1), "labels of several types"),
    "nested labels": (put("labels", 0, value=["l0"]), "cannot be read"),
    "fewer words": (lambda card: card["words"].pop(), "has not 12 words"),
    "words by number": (put("words", 0, value=5), "cannot be read"),
    "huge words": (put("n_words", value=10**12), "has not 1,000,000,000,000 words"),
    "no words": (lambda card: card.update(words=None, n_words=0), "has not 0 words"),
    "as many as nobody has": (lambda card: card.update(words=None, n_words=10**12), "not divide"),
    "a huge number": (put("n_words", value=10**400), "has not 10,000"),
    "a negative seed": (put("seed", value=-1), "cannot be read.*seed"),
    "a huge seed": (put("seed", value=1 << 64), "has the seed|cannot be read"),
    "another kind": (put("kind", value="odd"), "cannot be read"),
    "no statistics": (put("statistics", value={}), "has the number of tokens None"),
    "tokens in words": (put("statistics", "n_tokens", value="many"), "number of tokens 'many'"),
    "no parameters": (put("parameters", value=None), "cannot be read"),
    "an unknown parameter": (put("parameters", "magic", value=1), "does not fit.*magic"),
    "a bad parameter": (put("parameters", "inference", value="x"), "inference is 'x'"),
    "endless chains": (put("parameters", "n_test_chains", value=10**9), "n_test_chains is"),
    "endless sweeps": (put("parameters", "burn_in", value=10**15), "burn_in is"),
    "a parameter of another type": (put("parameters", "eta", value=[1]), "eta is"),
    "endless work": (put("parameters", "burn_in", value=10**6), r"burn_in .* is 1,000,001, more"),
    "endless training": (put("parameters", "n_sweeps", value=10**6), "n_sweeps is 8,000,000, more"),
    "endless labels": (put("parameters", "n_label_tokens", value=10**6), "n_label_tokens is 1,0"),
    "a bad cutoff": (put("parameters", "cutoff", value="x"), "cutoff is 'x'"),
    "a score as threshold": (
        put("learned", "calibration", "threshold", value=1.5),
        "calibration cannot be used",
    ),
    "half a calibration": (
        put("learned", "calibration", value={"threshold": 0.5}),
        "calibration cannot be used",
    ),
    "an endless temperature": (
        put("learned", "calibration", "temperature", value=1e300),
        "calibration cannot be used",
    ),
    "no settings": (put("learned", "settings", value={}), "no such settings"),
    "settings in words": (put("learned", "settings", "eta", value="much"), "cannot be used"),
    "a setting below 0": (put("learned", "settings", "eta", value=-1.0), "eta is"),
    "a huge setting": (put("learned", "settings", "alpha", value=1e300), "alpha is"),
    "other settings": (put("learned", "settings", "zeta", value=1.0), "no such settings"),
    "half a topic": (put("learned", "settings", "n_topics", value=0.5), "n_topics is"),
    "learned nothing": (put("learned", value={}), "cannot be used"),
    "fewer than no topics": (put("learned", "n_topic_sets", value=-1), "cannot be used"),
    "endless topics": (put("learned", "n_topic_sets", value=10**15), "sets of topics is 3,000,0"),
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
    "a weight of nothing": (
        put("fields", value={"weights": {"text": 0}}),
        "the weight of the field 'text' is 0",
    ),
    "a weight without end": (
        put("fields", value={"weights": {"text": 10**9}}),
        "must be a whole number from 1 to 1,000",
    ),
    "a weight of no field": (put("fields", value={"weights": {"x": 2}}), "is no text field"),
    "no fields of text": (put("fields", value={"text": []}), "name one field at least"),
    "a field by number": (put("fields", value={"labels": 1}), "cannot be read.*fields.labels"),
    "documents of its choice": (
        put("fields", value={"where": [["part", "test", True]]}),
        "is no part of a model",
    ),
    "sequences of no words": (
        lambda card: card.update(text=TEXT | {"ngrams": 0}),
        "ngrams is 0; it must be",
    ),
}


@pytest.mark.parametrize("what", WRONG_CARDS)
def test_a_wrong_card_is_refused_by_name(what: str, folder: Path) -> None:
    edit, message = WRONG_CARDS[what]
    edit_card(folder, edit)
    with pytest.raises(ReadError, match=message):
        load(folder)


def test_a_score_as_cut_off_of_an_earlier_version_gives_way_to_the_default(folder: Path) -> None:
    edit_card(folder, put("parameters", "cutoff", value=1.5))
    with pytest.warns(IgnoredParameterWarning, match="cuts off at the score 1.5; .* set another"):
        assert load(folder).get_params()["cutoff"] == "proportional"


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
    "no calibration": lambda arrays: arrays.pop("calibration.points"),
    "no points": to("calibration.points", lambda a: a[:0]),
    "fewer log-odds": to("calibration.second_values", lambda a: a[:-1]),
    "fewer slopes": to("calibration.slopes", lambda a: a[:-1]),
    "no number for an offset": at("calibration.offsets", 0, np.nan),
    "no average precision": lambda arrays: arrays.pop("held_out.average_precision"),
    "fewer documents held out": to("held_out.documents", lambda a: a[:-1]),
    "NaN": at("label_words.data", 0, np.nan),
    "infinity": at("topic_labels.0.data", 0, np.inf),
    "below 0": at("label_words.data", 0, -0.1),
    "above 1": at("label_words.data", 0, 1e30),
    "base of 0": at("label_words.base", 0, 0.0),
    "base of next to 0": at("label_words.base", 0, 5e-324),
    "base NaN": at("topic_labels.0.base", 0, np.nan),
}


@pytest.mark.parametrize("what", WRONG_ARRAYS)
def test_wrong_arrays_are_refused(what: str, folder: Path) -> None:
    edit_arrays(folder, WRONG_ARRAYS[what])
    with pytest.raises(ReadError, match=r"array '|arrays"):
        load(folder)


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


# Languages ----------------------------------------------------------------------------------------


def finnish(folder: Path) -> Any:
    counter = WordCounter(language="fi", normalize="snowball", min_count=1)
    counts = counter.fit_transform(["kirjastot kirjastossa kirjastossa", "talot talossa talossa"])
    model = FlatLDA(n_held_out=0).fit(counts, [["BOOKS"], ["HOUSES"]], counter=counter)
    model.save(folder)
    return model


def test_a_saved_model_remembers_its_language_and_how_words_are_read(tmp_path: Path) -> None:
    finnish(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    assert again.counter_.normalizer_ == "snowball"
    assert again.rank(["kirjastoissa"], 1).labels.tolist() == [["BOOKS"]]
    assert [word.name for word in again.top_words("BOOKS", 1)] == ["kirjastossa"]
    assert again.explain("talo kirjastoissa").spans == ((0, 4, "talossa"), (5, 17, "kirjastossa"))


def test_another_version_of_the_stemmer_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finnish(tmp_path / "model")
    monkeypatch.setattr(codec, "package_of", lambda _: "PyStemmer 99")
    with pytest.warns(OtherVersionWarning, match="PyStemmer .*, here it is .* 99"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"language": "xx"}, "there is no language 'xx'"),
        ({"normalize": "shell"}, "shell"),
        ({"language": None}, "needs a language"),
        ({"surface_words": ["one"]}, "1 surface_words for 2 words"),
        ({"surface_words": [1, 2]}, "str"),
    ],
)
def test_a_card_with_an_unknown_language_is_refused(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    finnish(tmp_path / "model")
    path = tmp_path / "model" / "card.json"
    card = json.loads(path.read_text())
    card["text"] |= change
    path.write_text(json.dumps(card))
    with pytest.raises(ReadError, match=problem):
        load(tmp_path / "model")


@pytest.mark.parametrize("weights", [np.ones(1), np.full(3, np.nan)])
def test_weights_of_documents_that_cannot_be_are_refused(weights: Any, tmp_path: Path) -> None:
    path, n = tmp_path / "model", len(corpus())
    FlatLDA().fit(corpus(), sample_weight=np.linspace(0.5, 2.0, n)).save(path)
    edit_arrays(path, lambda arrays: arrays.update({"label_sets.weights": weights}))
    with pytest.raises(ReadError, match=r"array 'label_sets.weights' (holds|does not hold)"):
        load(path)
