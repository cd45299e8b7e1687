"""Pages are written whole, the same each time, with the author's remarks."""

from pathlib import Path

import pytest

from deplda import InputError
from paper.report import write_markdown, write_report


def test_the_same_folders_give_the_same_bytes(
    folders: list[Path], html: str, tmp_path: Path
) -> None:
    write_report(map(str, folders), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == html


def test_remarks_stand_under_a_heading_of_their_own(folders: list[Path], tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("\nWe *think* that 5 > 4.\n\n- so\n", encoding="utf-8")
    write_markdown(folders, tmp_path / "r.md", notes)
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "\n\n## Remarks\n\nWe *think* that 5 > 4.\n\n- so\n\n## " in text
    write_markdown(folders[:1], tmp_path / "r.md", title="Ours & <theirs>")
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Ours & \\<theirs>")
    write_report(folders[:1], tmp_path / "r.html", title="Ours & <theirs>")
    assert "<title>Ours &amp; &lt;theirs&gt;</title>" in (tmp_path / "r.html").read_text("utf-8")
    assert "Remarks" not in (tmp_path / "r.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        write_report(folders, tmp_path / "nowhere" / "r.html")
