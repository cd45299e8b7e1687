"""What the models cost: times are called what they are."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from paper.report.pages import full_report
from paper.report.parts import Figure
from paper.report.runs import read_groups
from paper.results import read_paper_results as read_results
from paper.tests.report.folders import make
from paper.tests.report.reading import section, tables, words


def test_models_that_ran_on_a_gpu_are_named_beside_the_times(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    assert read_groups(folder)[0].main.gpus == ""
    for path in folder.glob("units/*-flat-lda.json"):
        unit = msgspec.json.decode(path.read_bytes())
        unit["found"]["machine"]["gpu"] = "NVIDIA X"
        path.write_bytes(msgspec.json.encode(unit))
    groups = read_groups(folder)
    said = "On a CUDA GPU (NVIDIA X): Flat-LDA; their CPU-seconds are"
    assert said in words(section(full_report(groups), "Quality and time"))
    assert any(said in part.caption for part in tables(section(full_report(groups), "Summary")))


def test_times_are_called_what_they_are(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")  # 2 + 1 CPU-seconds each; on the clock more, and of each its own
    part = section(full_report(read_groups(folder)), "Quality and time")
    assert words(part).startswith("Times are CPU-seconds, means over splits; one column is of wall")
    (figure,) = [block for block in part.blocks if isinstance(block, Figure)]
    assert figure.chart.x.title == "CPU-seconds to fit and predict"
    assert {point.x for series in figure.chart.series for point in series.points} == {3.0}
    assert "in 3 CPU-seconds" in figure.caption
    rows = {row[0].text: [cell.text for cell in row] for row in figure.table.rows}
    shown = dict(zip(figure.table.columns, rows["Flat-LDA"], strict=True))
    assert shown["fit, CPU s"] == "2"
    assert shown["predict, CPU s"] == "1"
    seconds = [
        (u.results or {})["seconds"] for u in read_results(folder).done if u.model == "Flat-LDA"
    ]
    wall_clock = np.mean([sum(one.values()) for one in seconds])
    assert float(shown["both, wall-clock s"]) == pytest.approx(wall_clock)
    assert wall_clock != 3
