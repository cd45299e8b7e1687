"""How the words of a folder's documents were counted, so that new texts are counted alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from deplda.data.atomic import write_whole
from deplda.data.files import read_json
from deplda.data.languages import NAMES, languages, stop_words_of
from deplda.data.text import MOST_NGRAMS, WordCounter
from deplda.errors import ReadError

_NAME = "words.json"
_PATTERNS = ("words", "codes")


class Counting(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of a counter; patterns are named, as a file's own could take for ever."""

    language: str | None
    normalize: Literal["snowball", "lemma", "none"]
    stop_words: str | list[str] | None
    token_pattern: Literal["words", "codes"]
    fold_accents: bool
    lowercase: bool
    ngrams: Annotated[int, msgspec.Meta(ge=1, le=MOST_NGRAMS)]
    surface_words: list[str]
    """The words as people read them, in the order of the vocabulary."""


def write_counter(counter: WordCounter, folder: Path) -> None:
    """Keep how words were counted, unless by a pattern of the user's own."""
    if counter.token_pattern_ not in _PATTERNS:
        return
    stops = counter.stop_words_
    if stops is not None and stops not in ("english", *languages()):
        stops = sorted(stop_words_of(stops))
    said = Counting(
        language=counter.language_code_, normalize=counter.normalizer_,  # type: ignore[arg-type]
        stop_words=stops, token_pattern=counter.token_pattern_,  # type: ignore[arg-type]
        fold_accents=counter.fold_accents, lowercase=counter.lowercase, ngrams=counter.ngrams_,
        surface_words=list(counter.surface_words_),
    )  # fmt: skip
    with write_whole(folder / _NAME) as file:
        file.write(msgspec.json.encode(said))


def read_counter(folder: Path, vocabulary: Sequence[str]) -> WordCounter | None:
    """Return what counts texts as the folder's documents were counted; None if it is not said."""
    path = folder / _NAME
    if not path.is_file():
        return None
    said = read_json(path, Counting, "this does not say how words are counted: {}")
    known = (None, "english", *languages())
    if isinstance(said.stop_words, str) and said.stop_words not in known:
        raise ReadError(path, None, f"there are no stop words for {said.stop_words!r}")
    if said.language is not None and said.language not in NAMES:
        raise ReadError(path, None, f"there is no language {said.language!r}")
    if len(said.surface_words) != len(vocabulary):
        raise ReadError(
            path,
            None,
            f"it has {len(said.surface_words):,} surface_words for {len(vocabulary):,} words",
        )
    settings = msgspec.structs.asdict(said)
    surface_words = settings.pop("surface_words")
    return WordCounter(**settings).with_words(vocabulary, 1, surface_words)
