"""What a saved model may ask of the machine that loads it."""

import json
import random
import re
import warnings
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda import FlatLDA, HybridLDA, InputError, ReadError, WordCounter, load
from deplda.errors import IgnoredParameterWarning
from deplda.models.registry import MODELS, model_class
from deplda.models.untrusted import MACHINE, check_pattern, check_work
from tests.models.saved_models import corpus, edit_card, fitted

ELSEWHERE = {"engine": "tcp://127.0.0.1:9", "device": "cuda", "n_jobs": 64, "verbose": True}


@pytest.mark.parametrize("name", MODELS)
def test_where_a_model_works_is_neither_saved_nor_loaded(name: str, tmp_path: Path) -> None:
    kind = model_class(name)
    few: Any = {"n_topic_sweeps": 5} if "n_topic_sweeps" in kind().get_params() else {}
    model = kind(**few, n_jobs=1).fit(corpus())
    model.save(tmp_path / "model")
    card = json.loads((tmp_path / "model" / "card.json").read_bytes())
    assert not MACHINE.keys() & card["parameters"].keys()
    edit_card(tmp_path / "model", lambda card: card["parameters"].update(ELSEWHERE))
    with pytest.warns(IgnoredParameterWarning, match=r"engine='tcp://127.0.0.1:9', device='cuda'"):
        again = load(tmp_path / "model")
    mine = again.get_params()
    assert {name: mine[name] for name in MACHINE if name in mine}.items() <= MACHINE.items()
    again.rank(corpus().counts[:3])  # does not connect to anything


def test_a_hybrids_topic_model_does_not_say_where_they_work_either(tmp_path: Path) -> None:
    HybridLDA(n_jobs=1).fit(corpus()).save(tmp_path / "model")
    edit_card(
        tmp_path / "model",
        lambda card: card["learned"]["topic_model"]["parameters"].update(ELSEWHERE),
    )
    with pytest.warns(IgnoredParameterWarning):
        model: Any = load(tmp_path / "model")
    assert model.topic_model_.engine == "threads"
    edit_card(
        tmp_path / "model",
        lambda card: card["learned"]["topic_model"]["parameters"].update(burn_in=10**6),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredParameterWarning)
        with pytest.raises(ReadError, match="burn_in"):
            load(tmp_path / "model")


def test_what_earlier_versions_wrote_into_every_card_is_no_reason_to_warn(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    edit_card(tmp_path / "model", lambda card: card["parameters"].update(MACHINE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path / "model")


def test_a_trusted_model_may_ask_for_any_work_and_pattern(tmp_path: Path) -> None:
    counter = WordCounter(token_pattern=r"\w+(?:-\w+)*")  # noqa: S106
    counts = counter.fit_transform(["ab-cd ef", "gh ij"])
    model = FlatLDA().fit(counts, ["a", "b"], counter=counter)
    model.set_params(burn_in=200_000).save(tmp_path / "model")
    with pytest.raises(ReadError, match=r"token_pattern is '\\\\w.*trusted=True \(deplda --trust"):
        load(tmp_path / "model")
    edit_card(tmp_path / "model", lambda card: card["text"].update(token_pattern="words"))  # noqa: S106
    with pytest.raises(ReadError, match=r"burn_in .* is .*trusted=True"):
        load(tmp_path / "model")
    load(tmp_path / "model", trusted=True)
    FlatLDA.load(tmp_path / "model", trusted=True)


def test_a_pattern_is_judged_before_it_is_used_for_anything(tmp_path: Path) -> None:
    counter = WordCounter()
    counts = counter.fit_transform(["ab cd", "ef gh"])
    FlatLDA().fit(counts, ["a", "b"], counter=counter).save(tmp_path / "model")
    endless = {"token_pattern": "(?:a+)+b", "stop_words": ["a" * 60]}
    edit_card(tmp_path / "model", lambda card: card["text"].update(endless))
    with pytest.raises(ReadError, match="token_pattern is"):
        load(tmp_path / "model")


def test_work_is_counted_for_every_set_of_topics(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")  # of two sets
    edit_card(tmp_path / "model", lambda card: card["parameters"].update(burn_in=60_000))
    with pytest.raises(ReadError, match="sets of topics is 120,002"):
        load(tmp_path / "model")


def test_the_papers_own_work_is_within_the_limits() -> None:
    for name in ("FlatLDA", "PriorLDA", "DependencyLDA"):
        kind: Any = model_class(name)
        for data in ("eurlex", "yahoo", "rcv1", "nyt"):
            check_work(kind.paper(data).get_params())


GOOD = [
    "words", "codes", r"(?u)[^\W\d_]{2,}",
    r"(?u)\b\w\w+\b", r"\b[a-z]{3,}\b", r"\w+", r"(\w)\w+", r"\S+", r"[^\W\d_]+",
    r"[\w-]{2}",
    r"(?:[a-z]{2,9})", r"B\d{1,3}", r"[\]x]+", ".", r"\.+", r"\w{3}[^\s]*",
]  # fmt: skip
BAD = [
    "(a+)+b", r"(\w+\s?)*$", r"(a|aa)+", "a*a*a*b", r"(.*)x", r"\w+$", r"(\w)\1+", r"a+\b",
    "(?=x)a",
    r"(?:\w+-)*\w+", r"x{999}", r"a?a?a?a?aaaa", "(?P<x>a)+", r"[a]{2,}{2,}", "a+b", r"\w+\w",
    "[][](?:x+)+y]", "[^][(x+)+y]", "[]x+", "x{99}" * 2 + "z", "a" * 101,
]  # fmt: skip


@pytest.mark.parametrize("pattern", GOOD)
def test_patterns_of_one_run_are_fine(pattern: str) -> None:
    re.compile(pattern)
    check_pattern(pattern)


@pytest.mark.parametrize("pattern", BAD)
def test_patterns_that_may_take_for_ever_are_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="token_pattern is"):
        check_pattern(pattern)


PIECES = ["a", "b", r"\w", "[ab]", "[^a]", ".", "+", "*", "?", "{2}", "{1,3}", "{2,}", "(", ")",
          "(?:", "[", "]", "[]", "[^]", "|", r"\b", "$", "^", r"\1"]  # fmt: skip
TEXTS = ["a" * 20_000, "ab" * 10_000, "a" * 20_000 + "!", "ba" * 10_000 + "c", " a" * 10_000]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join))
@settings(deadline=None, max_examples=300)
def test_a_pattern_that_passes_is_soon_done_with_any_text(pattern: str) -> None:
    try:
        compiled = re.compile(pattern)
        check_pattern(pattern)
    except (re.error, InputError, FutureWarning):
        return
    for text in TEXTS:  # of a pattern that backtracks the test would never end
        compiled.findall(text)


def repeats(tree: Any, depth: int = 0) -> list[tuple[int, bool]]:
    """Return how deep each repetition stands in a parsed pattern, and whether its length varies."""
    found = []
    for name, value in tree:
        if str(name).endswith("REPEAT"):
            low, high, inner = value
            found += [(depth, low != high), *repeats(inner, depth + 1)]
        elif str(name) == "SUBPATTERN":
            found += repeats(value[3], depth)
        elif str(name) in ("BRANCH", "GROUPREF", "ASSERT", "ASSERT_NOT"):
            found.append((1, True))
    return found


def test_python_reads_patterns_as_we_judge_them() -> None:
    chance, n = random.Random(5), 0  # noqa: S311
    for _ in range(20_000):
        pattern = "".join(chance.choices([*PIECES, "^", "-", "\\", "(?i)"], k=chance.randint(1, 9)))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = _parser.parse(pattern)
            check_pattern(pattern)
        except (re.error, InputError, OverflowError):
            continue
        n += 1
        found = repeats(tree)
        assert all(depth == 0 for depth, _ in found), pattern
        assert sum(varies for _, varies in found) <= 1, pattern
    assert n > 500
