"""Experts: what users give is named, asked honestly, and refused where it cannot be used."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.data.readers.expert_files import suggestions
from deplda.errors import MissingSuggestionsWarning
from deplda.models.experts import Asked, Evidence, named_experts, said_by, taught

CLASSES = np.array(["x", "y", "z"], dtype=object)
COUNTS = csr_array(np.eye(3))
LABELS = csr_array(np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1]], bool))


class Ranks:
    """Ranks the labels of what it learned, or z."""

    def __init__(self) -> None:
        self.learned: list[list[str]] = []

    def fit(self, counts: Any, labels: list[list[str]]) -> None:
        assert counts.shape[0] == len(labels)
        self.learned = labels

    def rank(self, counts: Any, k: int) -> tuple[Any, Any]:
        n = counts.shape[0]
        first = sorted({label for own in self.learned for label in own} or {"z"})
        return np.array([[*first, "unknown"]] * n, object), np.ones((n, len(first) + 1))


def asked(*rows: int) -> Asked:
    return Asked(COUNTS[list(rows)], [f"d{row}" for row in rows], CLASSES)


def test_experts_are_named_by_the_user_their_file_or_their_class(tmp_path: Path) -> None:
    (tmp_path / "omikuji.train.csv").write_text("id,label,score\na,x,1\n")
    ranks = Ranks()
    found = named_experts([tmp_path / "omikuji.train.csv", ranks, ("other", Ranks())])
    assert [*found] == ["omikuji", "Ranks", "other"]
    assert found["omikuji"].ids == ("a",)
    assert found["Ranks"] is ranks
    assert named_experts(None) == named_experts([]) == {}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("x.jsonl", "give a list of them, or a dict by name"),
        ({"margin": Ranks()}, "cannot be called 'margin', as a signal is"),
        ({"vectors": Ranks()}, "cannot be called 'vectors'"),
        ({"a given": Ranks()}, "cannot be called 'a given'"),
        ({"": Ranks()}, "1 to 64 printable letters"),
        ({"a\nb": Ranks()}, "1 to 64 printable letters"),
        ([Ranks(), Ranks()], "two experts are called 'Ranks'"),
        ({"a": 7}, "'a' is a int; it must be a file of suggestions"),
        ({str(n): Ranks() for n in range(17)}, "17 experts; give 16 at most"),
        (["nowhere.jsonl"], "No such file"),
    ],
)
def test_what_is_no_expert_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        named_experts(given)


def test_an_object_learns_from_the_documents_that_are_not_held_out_alone() -> None:
    evidence = Evidence({"ranks": Ranks()}, asked(0, 1, 2), LABELS, None)
    (said,) = evidence.of_held_out(np.array([1]), np.array([0, 2]))
    np.testing.assert_array_equal(said.toarray(), [[1, 0, 1]])
    experts, _ = evidence.taught_by_all()
    assert experts["ranks"].learned == [["x"], ["y"], ["x", "z"]]
    assert not evidence.experts["ranks"].learned  # the user's own object is left alone


def test_an_object_without_fit_is_asked_as_it_is() -> None:
    class Fixed:
        rank = Ranks().rank

    fixed = Fixed()
    assert taught(fixed, COUNTS, LABELS, CLASSES) is fixed


def test_documents_that_a_file_has_are_those_of_which_enough_is_known() -> None:
    file = suggestions({"d0": [("x", 1.0)], "d2": [], "else": []})
    evidence = Evidence({"file": file, "ranks": Ranks()}, asked(0, 1, 2), LABELS, None)
    assert evidence.are_known().tolist() == [True, False, True]
    with pytest.raises(InputError, match="'file' has no suggestions for any of 1 training"):
        Evidence({"file": file}, asked(1), LABELS[[1]], None).are_known()


def test_files_are_asked_by_id_and_what_they_lack_is_said() -> None:
    file = suggestions({"d0": [("x", 1.0), ("else", 2.0)], "d2": []})
    np.testing.assert_array_equal(
        said_by("file", file, asked(2, 0)).toarray(), [[0, 0, 0], [1, 0, 0]]
    )
    with pytest.warns(
        MissingSuggestionsWarning, match="'file' lacks 1 of 2 documents, such as 'd1'"
    ):
        said_by("file", file, asked(0, 1))
    with pytest.raises(InputError, match=r"lacks 1 of 1 documents \(the first is 'd1', its own"):
        said_by("file", file, asked(1))
    assert not said_by("file", file, asked(2)).nnz  # no suggestions are no error
    other = suggestions({"d0": [("a name", 1.0)]})
    with pytest.raises(InputError, match="labels such as 'a name', of which the model knows none"):
        said_by("other", other, asked(0))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((np.zeros(3, object), np.zeros(3)), "documents × k"),
        (
            (np.full((3, 1), "x", object), np.full((3, 1), np.inf)),
            "all scores from -100000 to 100000",
        ),
        ((np.full((3, 2), "x", object), np.ones((3, 2))), "the same label twice"),
    ],
)
def test_an_object_that_ranks_wrongly_is_refused(answer: Any, problem: str) -> None:
    class Wrong:
        def rank(self, counts: Any, k: int) -> Any:
            return answer

    with pytest.raises(InputError, match=problem):
        said_by("wrong", Wrong(), asked(0, 1, 2))
