"""Forms of a word are made one, by language."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from deplda import InputError
from deplda.data import forms
from deplda.data.forms import forms_of, package_of, resolve


def test_auto_is_the_stemmer_of_the_language_and_lemmas_in_finnish() -> None:
    assert resolve("auto", "de") == "snowball"
    assert resolve("auto", "fi") == "lemma"
    assert resolve("auto", "vi") == "none"
    assert resolve("auto", None) == "none"
    assert resolve("none", "fi") == "none"


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(
        InputError, match="normalize is 'stem'; it must be one of 'auto', 'snowball"
    ):
        resolve("stem", "fi")
    with pytest.raises(InputError, match="'snowball', which needs a language"):
        resolve("snowball", None)
    with pytest.raises(InputError, match="no stemmer for vietnamese"):
        resolve("snowball", "vi")


def test_forms_of_a_word_are_one() -> None:
    stems = forms_of("snowball", "fi")
    assert len({stems[word] for word in ("kirjasto", "kirjastossa", "kirjastot")}) == 1


def test_dictionaries_make_lemmas() -> None:
    assert forms_of("lemma", "en")["libraries"] == "library"
    with pytest.raises(InputError, match="simplemma has no dictionary for vietnamese"):
        forms_of("lemma", "vi")


def test_a_word_is_normalised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def shout(word: str) -> str:
        asked.append(word)
        return word.upper()

    found = forms.Forms(shout)
    assert [found[word] for word in ("a", "b", "a")] == ["A", "B", "A"]
    assert asked == ["a", "b"]
    monkeypatch.setattr(forms, "_MOST_KEPT", 2)
    assert found["c"] == "C"
    assert "c" not in found
    monkeypatch.setattr(forms, "_MOST_KEPT", 9)
    assert found["d" * 101] == "D" * 101
    assert "d" * 101 not in found


def test_a_word_without_a_form_stays_as_it_is() -> None:
    assert forms.Forms(lambda word: "")["the"] == "the"


def test_threads_share_a_stemmer() -> None:
    """It has a state of its own: two words at once would be mixed up."""
    words = [f"{stem}{end}" for stem in ("kirjasto", "talo", "auto") for end in ("ssa", "t", "jen")]
    alone, shared = forms_of("snowball", "fi"), forms_of("snowball", "fi")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda word: shared[word], words * 50))
    finally:
        sys.setswitchinterval(before)
    assert found == [alone[word] for word in words * 50]


def test_accents_are_folded_after_words_are_normalised() -> None:
    assert forms_of("none", None, True)["naïve"] == "naive"
    assert forms_of("snowball", "fr", True)["réveillé"] == "reveil"
    assert forms_of("none", None, True)["हिन्दी"] == "हिन्दी"  # its marks are vowels


def test_the_package_has_a_version() -> None:
    assert (package_of("snowball") or "").startswith("PyStemmer ")
    assert package_of("none") is None
