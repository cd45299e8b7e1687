"""Models as Annif's programs meet them."""

from __future__ import annotations

from typing import Any

from deplda.data.vocabulary import Concept, Vocabulary
from tests.web.serving import text_model

LAW, SPORT, OLD = "http://x/law", "http://x/sport", "http://x/old"


def thesaurus_model() -> Any:
    """Return a model of three labels: two of a thesaurus, one of them deprecated, and another."""
    model: Any = text_model({"LAW": LAW, "SPORT": SPORT})
    model.vocabulary_ = Vocabulary(
        [
            Concept(uri=LAW, names={"en": "Law", "fi": "laki"}, notation="34"),
            Concept(uri=SPORT, names={"en": "Sport"}),
            Concept(uri=OLD, names={"en": "Old"}, deprecated=True),
        ]
    )
    model.label_language_ = "fi"
    return model
