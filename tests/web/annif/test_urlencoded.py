"""Forms, read as Python reads them, but quickly."""

from __future__ import annotations

import resource
import time
from urllib.parse import parse_qsl, unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from deplda.web.annif.urlencoded import read_form, unquoted


@given(st.lists(st.sampled_from([b"%", b"4", b"1", b"c3", b"%C3%a4", b"+", b"x", b"\xff", b"g"])))
def test_codes_are_what_python_takes_them_for(parts: list[bytes]) -> None:
    value = b"".join(parts)
    assert unquoted(value) == unquote_to_bytes(value.replace(b"+", b" "))


@given(st.text("a&=%+2ä", max_size=30))
def test_fields_are_what_python_takes_them_for(form: str) -> None:
    expected = parse_qsl(form, keep_blank_values=True, errors="replace")
    names = {name for name, _ in expected} - {""}
    try:
        found = read_form(form.encode(), names)
    except HTTPException:
        assert "�" in str(expected)
    else:
        assert found == [(name, value) for name, value in expected if name in names]


@pytest.mark.parametrize("piece", [b"%", b"%41", b"%4", b"=", b"+", b"%F0%9F%98%80"])
def test_a_form_of_any_content_takes_little_time_and_memory(piece: bytes) -> None:
    body = b"text=" + piece * ((20 << 20) // len(piece))
    before, begin = _peak(), time.process_time()
    ((name, _),) = read_form(body, {"text"})
    assert name == "text"
    assert time.process_time() - begin < 10  # it is half a second; Python's own takes 30
    assert _peak() - before < 1 << 30


def test_forms_that_are_not_utf8_or_have_too_many_fields_are_said() -> None:
    with pytest.raises(HTTPException, match="not in UTF-8"):
        read_form(b"text=%ff", {"text"})
    with pytest.raises(HTTPException, match="more than 1,000 fields"):
        read_form(b"&" * 1_000, {"text"})
    assert read_form(b"other=%ff&text=x", {"text"}) == [("text", "x")]


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
