"""Which fields are read, and how much they weigh."""

import subprocess
import sys
from dataclasses import astuple
from typing import Any

import pytest

from deplda import Fields, InputError
from tests.cli.running import ENVIRONMENT


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"text": ()}, "name one field at least"),
        ({"text": ("a", "b", "a")}, "each once, with a weight"),
        ({"weights": {"title": 2}}, "'title' has a weight, but is no text field; those are 'text'"),
        ({"weights": {"text": 0}}, "field 'text' is 0; it must be a whole number from 1 to 1,000"),
        ({"weights": {"text": 1.5}}, "field 'text' is 1.5; it must be a whole number"),
        ({"weights": {"text": 1001}}, "field 'text' is 1001; it must be a whole number"),
    ],
)
def test_fields_and_weights_that_cannot_be_are_refused(options: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Fields(**options)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        (Fields(), ("id", "title", "text", (), "labels")),
        (
            Fields(id=None, text=("Title", "Body"), labels="Subjects"),
            ("id", None, "Body", ("Title",), "Subjects"),
        ),
        (
            Fields(text=("head", "body"), weights={"body": 2}),
            ("id", "title", "head", ("body",), "labels"),
        ),
    ],
)
def test_a_whole_text_is_written_to_the_field_that_counts_least(fields: Fields, names: Any) -> None:
    assert astuple(fields.names_to_write) == names


def test_a_card_is_read_without_what_reads_documents() -> None:
    code = "import sys, deplda.models.card; sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True, timeout=120)
