"""What generated texts are made with: draws, plurals, articles, capital letters."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

_VOWEL = re.compile(r"\b(a) (?=[aei]|o(?!ne\b)|u(?!n[ai]|se)|hono|hour)", re.IGNORECASE)
_SMALL = frozenset(("a", "an", "and", "in", "of", "on", "the", "that", "at", "for", "by", "to"))


def pick(rng: np.random.Generator, items: Sequence[Any] | npt.NDArray[Any]) -> Any:
    """Return one of the items, each as likely as any other."""
    return items[int(rng.integers(len(items)))]


@cache
def falling(n: int, exponent: float) -> list[float]:
    """Return the running sums of n weights that fall by a power law."""
    return list(accumulate(rank**-exponent for rank in range(1, n + 1)))


def drawn(sums: Sequence[float], rng: np.random.Generator) -> int:
    """Return a number, by weights whose running sums these are."""
    return bisect_right(sums, rng.random() * sums[-1])


def plural(name: str) -> str:
    """Return the plural of a noun, or of a phrase that ends in one: "class actions"."""
    before, of, after = name.partition(" of ")
    if of:
        return f"{plural(before)}{of}{after}"
    start, blank, noun = name.rpartition(" ")
    return f"{start}{blank}{_plural(noun)}"


def _plural(noun: str) -> str:
    words = _words()
    if noun in words["irregular"]:
        return str(words["irregular"][noun])
    if noun.endswith(tuple(words["unchanged"])):
        return noun
    if noun.endswith("man"):
        return f"{noun[:-2]}en"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


@cache
def _words() -> dict[str, Any]:
    path = files("deplda.data.datasets").joinpath("plurals.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def with_articles(text: str) -> str:
    """Return a text with "an" in place of "a" before a vowel."""
    return _VOWEL.sub(r"\1n ", text)


def headline(text: str) -> str:
    """Return a text with capital letters, as newspapers write what stands above an article."""
    words = text.split(" ")
    return " ".join(w if w in _SMALL and k else capital(w) for k, w in enumerate(words))


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
