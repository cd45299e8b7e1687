"""Of several decisions on one text the last one counts."""

from deplda.data.versions import last_versions, version_id


def test_the_last_version_of_each_text_is_kept() -> None:
    first, other, again = version_id("a"), version_id("b"), version_id("a")
    assert len({first, other, again}) == 3
    assert last_versions([first, other, again]) == [1, 2]
    assert last_versions([first, other]) == [0, 1]
    assert last_versions([]) == []


def test_ids_of_another_form_are_all_kept() -> None:
    ids = ["1", "x#1", f"{'a' * 32}#12", "0", f"{'a' * 32}#x", "1"]
    assert last_versions(ids) == [0, 1, 2, 3, 4, 5]


def test_a_version_is_of_the_text_and_of_the_moment() -> None:
    assert version_id("a").partition("#")[0] == version_id("a").partition("#")[0]
    assert version_id("a").partition("#")[0] != version_id("b").partition("#")[0]
    assert version_id("\ud800")  # whatever a file holds
