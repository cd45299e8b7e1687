"""A worker's journal: who ended where, and which document is to blame."""

from pathlib import Path

import pytest

from deplda import ReadError
from deplda.engine.journal import Journal


def test_a_journal_blames_nobody_for_a_single_end(tmp_path: Path) -> None:
    path = tmp_path / "journal"

    def end_at(document: int) -> list[int]:
        """Work as one who ends at a document; return those that were passed over before it."""
        crashed = []
        for piece in Journal(path).pieces(0, 4):
            if piece.has_crashed:
                crashed.append(piece.first)
            elif piece.first <= document < piece.last:
                break
        return crashed

    # In the batch, alone, another alone, alone again: from then on it is passed over.
    assert [end_at(document) for document in (2, 2, 3, 2, 3)] == [[], [], [], [], [2]]


def test_who_leaves_by_his_own_will_is_no_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    assert next(journal.pieces(0, 4)) == (0, 4, False)
    journal.leave()
    assert list(Journal(tmp_path / "journal").pieces(0, 4)) == [(0, 4, False)]
    assert len(list(Journal(tmp_path / "journal").pieces(0, 4))) == 4  # nobody left here


def test_a_journal_that_is_forgotten_blames_nobody(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    assert journal.text() == ""
    assert next(journal.pieces(2, 3)) == (2, 5, False)
    assert "[2,5]" in journal.text()
    journal.forget()
    assert list(Journal(tmp_path / "journal").pieces(2, 3)) == [(2, 5, False)]


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"at": \xff')
    journal = Journal(tmp_path / "a")
    assert journal.text()
    with pytest.raises(ReadError, match=r"a: this is not a journal .*; delete it"):
        list(journal.pieces(0, 3))
