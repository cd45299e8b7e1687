"""Languages have names, and are told by texts."""

import pytest

from deplda import InputError
from deplda.data import languages
from deplda.data.languages import (
    Detected,
    chances,
    detect,
    first_texts,
    language_code,
    languages_told,
)

GERMAN = "Die Bibliothek ist heute geschlossen, und morgen öffnet sie um zehn Uhr."
FINNISH = "Kirjasto on tänään suljettu ja avataan huomenna kello kymmenen."


@pytest.mark.parametrize("given", ["fi", "FI", "finnish", "Finnish", "fi-FI", "fi_FI"])
def test_a_language_has_a_code_and_a_name(given: str) -> None:
    assert language_code(given) == "fi"


@pytest.mark.parametrize("given", ["xx", "", 3, None])
def test_other_languages_are_named(given: object) -> None:
    with pytest.raises(InputError, match=rf"language is {given!r}; .*fi \(finnish\)"):
        language_code(given)  # type: ignore[arg-type]


def test_the_language_of_most_texts_is_told() -> None:
    found = detect([GERMAN, FINNISH, GERMAN, "", "1997 2,5"])
    assert found == Detected("de", 2, 3)
    assert str(found) == "german (de), by 2 of 3 texts"
    assert detect([FINNISH, GERMAN]).code == "de"  # of equals the first by name
    mixed = detect([FINNISH, GERMAN, "The library is closed today, and opens tomorrow at ten."])
    assert mixed.code == "und"
    assert str(mixed) == (
        "undetermined, words are counted as they are (the commonest has 1 of 3 texts)"
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("图书馆今天关门，明天十点开门。", "zh"),
        ("図書館は今日は閉まっています。", "ja"),
        ("Biblioteket er stengt i dag og åpner i morgen klokken ti.", "nb"),
        ("Isuku yakadzima nhasi uye ichavhurwa mangwana na10", "und"),
    ],
)
def test_other_languages_are_told_too(text: str, code: str) -> None:
    assert detect([text]).code == code


@pytest.mark.parametrize("texts", [[], [""], ["12", "—"]])
def test_nothing_to_tell_a_language_by_is_undetermined(texts: list[str]) -> None:
    assert detect(texts) == Detected("und", 0, 0)


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("py3langid.classify", full)
    with pytest.raises(InputError, match=r"No space left on device.*say it \(--language\)"):
        detect([GERMAN])


def test_the_language_is_told_by_the_first_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_MOST_TEXTS", 3)
    rest = iter(["a", "b", "c", "d"])
    assert first_texts(rest) == ["a", "b", "c"]
    assert next(rest) == "d"
    monkeypatch.setattr(languages, "_MOST_CHARACTERS", 10)
    rest = iter(["a" * 11, "b"])
    assert first_texts(rest) == ["a" * 11]
    assert next(rest) == "b"


def test_how_likely_a_text_is_in_some_languages() -> None:
    found, n_read = chances("Kissa istuu puussa ja laulaa. " * 100, ["en", "fi"])
    assert list(found) == ["fi", "en", None] or list(found) == ["fi", None, "en"]
    assert found["fi"] > 0.9
    assert sum(found.values()) == pytest.approx(1)
    assert n_read == 2000
    other, _ = chances("Le chat est assis sur la table et il regarde le chien", ["en", "fi"])
    assert next(iter(other)) is None
    assert chances("1 2 3", ["en"]) == ({None: 1.0, "en": 0.0}, 5)
    norwegian, _ = chances("Jeg er glad i norsk musikk og fjellene", ["no", "nb"])
    assert norwegian["no"] == norwegian["nb"] == pytest.approx(1 - norwegian[None])
    with pytest.raises(InputError, match=r"languages has 'xx', which is not one of.* fi,"):
        chances("x", ["en", "xx"])


def test_the_languages_that_can_be_told_have_codes() -> None:
    assert {"en", "fi", "sv", "de", "fr", "nb"} <= set(languages_told())
