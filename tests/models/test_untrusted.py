"""What a saved model may ask of the machine that loads it."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from deplda import FlatLDA, HybridLDA, InputError, ReadError, WordCounter, load
from deplda.data.tokens import NAMED_PATTERNS
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


@pytest.mark.parametrize("pattern", [*NAMED_PATTERNS, r"(?u)[^\W\d_]{2,}"])
def test_patterns_of_our_own_are_allowed(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+b", r"\w+", "", "a" * 1_000])
def test_other_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(InputError, match=r"token_pattern is .* not 'words' or 'codes'"):
        check_pattern(pattern)
