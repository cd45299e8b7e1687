"""The limit on one document: what it is, how it is set, what an error says."""

import pytest

from deplda import InputError, ReadError
from deplda.data.sizes import VARIABLE, in_words, max_record, max_whole, refuse_large


@pytest.mark.parametrize(
    ("given", "limit"),
    [("1000", 1000), ("2KB", 2048), ("64 MiB", 64 << 20), ("1g", 1 << 30), (" 3MB ", 3 << 20)],
)
def test_the_limit_is_set_by_the_environment(
    given: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, given)
    assert (max_record(), max_whole()) == (limit, 16 * limit)


def test_the_limit_is_64_mib_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert max_record() == 64 * 1024**2


@pytest.mark.parametrize("given", ["", "0", "-1", "much", "1.5GB", "1TB", "1" * 30])
def test_a_limit_that_is_none_is_an_error(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, given)
    with pytest.raises(InputError, match=f"{VARIABLE} is '{given}'; it must be a number of bytes"):
        max_record()


def test_an_error_says_where_how_much_the_limit_and_what_to_set() -> None:
    with pytest.raises(ReadError) as raised:
        refuse_large("x.csv", 7, "this line")
    assert str(raised.value) == (
        "x.csv, line 7: this line has more than 64 MiB; the limit is DEPLDA_MAX_RECORD, 64 MiB: "
        "if it is meant, set that to more, such as 128MiB"
    )
    with pytest.raises(ReadError) as raised:
        refuse_large("x.mat", None, "it", size=5 << 30, whole=True)
    assert str(raised.value) == (
        "x.mat: it has 5 GiB; the limit is 16 times DEPLDA_MAX_RECORD, 64 MiB: "
        "if it is meant, set that to more, such as 512MiB"
    )


def test_sizes_in_words() -> None:
    assert [in_words(n) for n in (0, 1023, 1536, 3 << 30)] == ["0 B", "1023 B", "1.5 KiB", "3 GiB"]
