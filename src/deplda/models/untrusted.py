"""What a saved model may ask of the machine: a file says what a model is, never what it costs.

Where work runs is never taken from a file. How much is done for a document is a part of a model,
and so is the pattern of its words; both are limited, unless whoever loads it trusts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deplda.data.tokens import NAMED_PATTERNS
from deplda.errors import IgnoredParameterWarning, InputError, warn

# Parameters that say where and how loudly a model works, and what they are in a loaded one.
MACHINE: dict[str, Any] = {
    "engine": "threads", "device": "cpu", "n_jobs": None, "verbose": False,
}  # fmt: skip

MOST_CYCLES = 100_000
MOST_LABEL_TOKENS = 100_000
_PATTERNS = {*NAMED_PATTERNS, r"(?u)[^\W\d_]{2,}"}
"""The last is what versions before 1.0 wrote for words."""
_HOW = "if you trust who made it, load it with trusted=True (deplda --trust-model …)"


def without_machine(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a card's parameters without those of the machine; warn of what is left out."""
    named = {name: parameters[name] for name in MACHINE if name in parameters}
    odd = [f"{name}={value!r}" for name, value in named.items() if value != MACHINE[name]]
    if odd and odd != ["verbose=True"]:
        warn(
            f"the saved {model} asks for {', '.join(odd)}, which is left out: where a model works "
            "is said by who loads it; use set_params, or save it again",
            IgnoredParameterWarning,
        )
    return {name: value for name, value in parameters.items() if name not in MACHINE}


def check_work(parameters: Mapping[str, Any], n_topic_sets: int = 1) -> None:
    """Raise if so many chains and sweeps are asked for that a document could take hours."""
    p: dict[str, Any] = {"n_samples": 1, "lag": 1, **parameters}
    cycles = p.get("burn_in", 0) + (p["n_samples"] - 1) * p["lag"]
    asked = {
        "n_test_chains × (burn_in + (n_samples − 1) × lag) × sets of topics": (
            p.get("n_test_chains", 0) * cycles * max(n_topic_sets, 1)
        ),
        "n_chains × n_sweeps": p.get("n_chains", 0) * p.get("n_sweeps", 0),
        "n_topic_chains × n_topic_sweeps": p.get("n_topic_chains", 0) * p.get("n_topic_sweeps", 0),
    }
    for what, value in asked.items():
        if value > MOST_CYCLES:
            raise InputError(f"{what} is {value:,}, more than {MOST_CYCLES:,}; {_HOW}")
    if (tokens := p.get("n_label_tokens", 1)) > MOST_LABEL_TOKENS:
        raise InputError(f"n_label_tokens is {tokens:,}, more than {MOST_LABEL_TOKENS:,}; {_HOW}")


def check_pattern(token_pattern: str) -> None:
    """Raise unless a pattern is one of our own: others could take any time on some text."""
    if token_pattern not in _PATTERNS:
        names = " or ".join(map(repr, NAMED_PATTERNS))
        raise InputError(f"token_pattern is {token_pattern[:100]!r}, not {names}; {_HOW}")
