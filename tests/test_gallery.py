"""The examples of the gallery run, cell by cell as in a notebook, and each draws a picture."""

import ast
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot

FOLDER = Path(__file__).parents[1] / "docs" / "gallery"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def cells_of(script: Path) -> list[str]:
    """Return the code of a script's cells, which begin with ``# %%``."""
    parts = re.split(r"^# %%$", script.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [part for part in parts[1:] if ast.parse(part).body]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs_and_draws_a_picture(script: Path, capsys: Any) -> None:
    names: dict[str, Any] = {"__name__": script.stem}
    with mpl.rc_context({"backend": "Agg"}):
        try:
            for number, cell in enumerate(cells_of(script), 1):
                exec(compile(cell, f"{script.name}, cell {number}", "exec"), names)  # noqa: S102
            axes = [each for n in pyplot.get_fignums() for each in pyplot.figure(n).axes]
        finally:
            pyplot.close("all")
    assert capsys.readouterr().out.strip()
    assert axes
    assert all(each.has_data() or each.texts for each in axes)


def test_the_site_shows_all_examples() -> None:
    source = (FOLDER.parent / "conf.py").read_text(encoding="utf-8")
    (listed,) = (
        ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SCRIPTS"
    )
    assert sorted(listed) == [script.stem for script in SCRIPTS]
