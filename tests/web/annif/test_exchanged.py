"""The types of Annif's requests."""

import msgspec
import pytest

from deplda.web import Limits
from deplda.web.annif.exchanged import question_types

TYPES = question_types(Limits(documents=2, labels=2))


def test_what_is_beyond_them_is_ignored() -> None:
    given = {"text": "x", "limit": "7", "metadata_a": "b", "project": "c"}
    asked = msgspec.convert(given, TYPES.form, strict=False)
    assert (asked.text, asked.limit, asked.threshold, asked.language) == ("x", 7, 0.0, "")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (TYPES.batch, {"documents": [{"text": ""}] * 3}),
        (TYPES.learn, [{"text": "", "subjects": [{"uri": "x"}] * 3}]),
        (TYPES.language, {"text": "", "languages": []}),
    ],
)
def test_limits_are_in_them(kind: object, body: object) -> None:
    with pytest.raises(msgspec.ValidationError, match="length"):
        msgspec.convert(body, kind)
