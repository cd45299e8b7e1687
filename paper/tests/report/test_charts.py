"""Charts stay inside their frames, and their ticks can be told apart."""

import re

import pytest
from tests.comparison.reading import Page

from paper.report.charts import HEIGHT, WIDTH, Axis, Chart, Point, Series, svg


@pytest.mark.parametrize("kind", ["lines", "points", "traces", "bars"])
@pytest.mark.parametrize(
    "points",
    [
        [(1.0, 1.0)],
        [(1.0, 2.0), (1.0, 2.0)],
        [(0.001, -5e6), (4000.0, 5e6)],
        [(k, k * k) for k in range(40)],
    ],
)
def test_every_chart_stays_inside_its_frame(kind: str, points: list[tuple[float, float]]) -> None:
    series = Series("<x>", tuple(Point(x, y, y - 0.1, y + 0.1) for x, y in points), 0)
    for log in (False, True):
        if log and kind != "points":
            continue
        axes = Axis("a & b", log=log), Axis("y")
        drawn = svg(Chart(kind, *axes, (series,)), 'T "1"', "D", "f")  # type: ignore[arg-type]
        Page(drawn)
        for x, y in re.findall(r"M([\d.-]+) ([\d.-]+)", drawn):
            assert -1 <= float(x) <= WIDTH + 1
            assert -1 <= float(y) <= HEIGHT + 1
        assert "nan" not in drawn
        assert drawn.count('class="tick"') >= 2


def test_values_that_differ_by_rounding_alone_are_drawn() -> None:
    series = Series("best", (Point(1.0, 1.0), Point(1.0 + 4e-16, 1.0 - 2e-16)), 0)
    drawn = svg(Chart("points", Axis("x"), Axis("y"), (series,)), "T", "D", "f")
    assert drawn.count('class="mark"') == 2


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 3), (2, 7), (1, 40), (1, 5000)])
@pytest.mark.parametrize("log", [False, True])
def test_a_count_is_never_one_and_a_half(low: int, high: int, log: bool) -> None:
    series = Series("labels", (Point(low, low), Point(high, high)), 0)
    axis = Axis("labels", log=log, whole=True)
    drawn = svg(Chart("points", axis, axis, (series,)), "T", "D", "f")
    ticks = re.findall(r'class="tick"[^>]*>(.*?)<', drawn)
    assert len(ticks) >= 3
    assert all(float(tick.replace(",", "")).is_integer() for tick in ticks)


def test_ticks_are_all_different(html: str) -> None:
    for chart in re.findall(r'<svg viewBox="0 0.*?</svg>', html):
        ticks = re.findall(r'class="tick" x="[\d.]+" y="[\d.]+" text-anchor="end">(.*?)<', chart)
        assert len(ticks) == len(set(ticks)) >= 1


def test_named_places_have_their_names(html: str) -> None:
    assert re.search(r'class="tick"[^>]*>\d+–\d+</text>', html)
