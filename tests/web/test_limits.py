"""The limits of the service."""

import pytest

from deplda import InputError
from deplda.web import Limits


def test_limits_that_make_no_sense_are_rejected() -> None:
    with pytest.raises(InputError, match=r"documents is 0; it must be a number from 1"):
        Limits(documents=0)
    with pytest.raises(InputError, match=r"seconds is True"):
        Limits(seconds=True)
    with pytest.raises(InputError, match=r"held_bytes is 9; it must be at least large_body_bytes"):
        Limits(held_bytes=9)
