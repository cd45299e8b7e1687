"""Charts as values, and as SVG that takes its colours from the page it stands on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Literal, NamedTuple

WIDTH, HEIGHT = 736.0, 360.0
_RIGHT, _TOP, _BOTTOM = 12.0, 10.0, 46.0
_COLOURS = 8
_SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.6-3.6h7.2v7.2h-7.2z",
    "m0-5l5 5l-5 5l-5-5z",
    "m0-4.8l4.6 8.4h-9.2z",
    "m0 4.8l4.6-8.4h-9.2z",
    "m4.8 0l-8.4 4.6v-9.2z",
    "m-1.6-4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z",
)
"""Marks: a circle, a square, a diamond, triangles up, down and right, a plus."""
_CHARACTER = 6.6
"""How wide a character of a tick is, about."""


class Axis(NamedTuple):
    """What an axis shows: numbers, whole ones of things, or named places at 0, 1, 2 and so on."""

    title: str
    log: bool = False
    names: tuple[str, ...] = ()
    whole: bool = False


class Point(NamedTuple):
    """A point, the interval it may lie in, and whether it is drawn hollow."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    hollow: bool = False


class Series(NamedTuple):
    """Points that belong together, drawn in the colour and shape of its number."""

    name: str
    points: tuple[Point, ...]
    number: int


class Chart(NamedTuple):
    """Series on two axes."""

    kind: Literal["lines", "points", "traces", "bars"]
    x: Axis
    y: Axis
    series: tuple[Series, ...]


def svg(chart: Chart, title: str, description: str, anchor: str) -> str:
    """Return the chart as an SVG element; `anchor` makes the names of its parts unique."""
    points = [point for series in chart.series for point in series.points]
    heights = [v for p in points for v in (p.y, p.low, p.high) if v is not None]
    if chart.kind == "bars":
        heights.append(0.0)
    up = _scale(chart.y, heights, HEIGHT - _BOTTOM, _TOP)
    left = 30 + _CHARACTER * max(map(len, up.ticks.values()))
    across = _scale(chart.x, [p.x for p in points], left, WIDTH - _RIGHT)
    marks = "".join(_series(series, chart.kind, across, up) for series in chart.series)
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-labelledby="{anchor}-t {anchor}-d"><title id="{anchor}-t">{escape(title)}</title>'
        f'<desc id="{anchor}-d">{escape(description)}</desc>{_axes(chart, across, up)}{marks}</svg>'
    )


def marker(number: int) -> str:
    """Return a small drawing of a series' marker, for a legend."""
    return (
        f'<svg class="marker" viewBox="-7 -7 14 14" aria-hidden="true">'
        f"{_mark(number, 0, 0, False)}</svg>"
    )


class _Scale(NamedTuple):
    """Where a value stands on the page, and the ticks of its axis with their labels."""

    begin: float
    end: float
    low: float
    high: float
    ticks: dict[float, str]
    log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(max(value, 1e-9)), math.log(low), math.log(high)
        return self.begin + (value - low) / (high - low) * (self.end - self.begin)


def _scale(axis: Axis, values: Sequence[float], begin: float, end: float) -> _Scale:
    """Return the scale of an axis that shows the values between two places."""
    if axis.names:
        named = {float(place): name for place, name in enumerate(axis.names)}
        return _Scale(begin, end, -0.5, len(named) - 0.5, named)
    low, high = min(values, default=0.0), max(values, default=1.0)
    if axis.log:
        low, high = max(low, 1e-9) / 1.12, max(high, 1e-9) * 1.12
        return _Scale(begin, end, low, high, _log_ticks(low, high, axis.whole), log=True)
    # What differs by rounding alone is the same.
    width = high - low if high - low > 1e-9 * max(abs(low), abs(high)) else 0.0
    step = max(_step(width), 1.0 if axis.whole else 0.0)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if last <= first:
        first, last = first - 1, last + 1
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    places = [k * step for k in range(first, last + 1)]
    ticks = {place: f"{place:,.{decimals}f}".replace("-", "−") for place in places}
    return _Scale(begin, end, places[0], places[-1], ticks)


def _step(width: float) -> float:
    """Return a round distance that parts a width into about five."""
    if not width > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width / 5))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= width / 5 * 0.999)


def _log_ticks(low: float, high: float, whole: bool) -> dict[float, str]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    width = math.log10(high / low)
    factors = (1,) if width > 3 else (1, 2, 5) if width > 1 else (1, 1.5, 2, 3, 4, 5, 6, 8)
    ticks = [n * 10.0**decade for decade in decades for n in factors]
    return {
        tick: f"{tick:,g}" if tick < 1e5 else f"{tick:.0e}".replace("e+0", "e")
        for tick in ticks
        if low <= tick <= high and (not whole or tick == round(tick))
    }


def _axes(chart: Chart, across: _Scale, up: _Scale) -> str:
    left, bottom, right = across.begin, HEIGHT - _BOTTOM, WIDTH - _RIGHT
    lines = "".join(
        f'<path class="grid" d="M{left:.1f} {up.at(t):.1f}H{right:g}"/>'
        f'<text class="tick" x="{left - 6:.1f}" y="{up.at(t) + 4:.1f}" text-anchor="end">'
        f"{escape(label)}</text>"
        for t, label in up.ticks.items()
    )
    below = "".join(
        f'<text class="tick" x="{across.at(t):.1f}" y="{bottom + 17:g}" text-anchor="middle">'
        f"{escape(across.ticks[t])}</text>"
        for t in _roomy(across)
    )
    return (
        f'{lines}<path class="axis" d="M{left:.1f} {bottom:g}H{right:g}"/>{below}'
        f'<text class="name" x="{(left + right) / 2:g}" y="{HEIGHT - 8:g}" text-anchor="middle">'
        f'{escape(chart.x.title)}</text><text class="name" text-anchor="middle" '
        f'transform="translate(13 {(bottom + _TOP) / 2:g}) rotate(-90)">'
        f"{escape(chart.y.title)}</text>"
    )


def _roomy(scale: _Scale) -> list[float]:
    """Return the ticks whose labels do not run into each other."""
    half = {tick: _CHARACTER * (len(label) + 1) / 2 for tick, label in scale.ticks.items()}
    for every in range(1, len(half) + 1):
        chosen = list(half)[::every]
        if all(abs(scale.at(b) - scale.at(a)) > half[a] + half[b] for a, b in pairwise(chosen)):
            return chosen
    return []


def _series(series: Series, kind: str, across: _Scale, up: _Scale) -> str:
    own = f'style="--own:var(--c{series.number % _COLOURS})"'
    places = [(across.at(p.x), up.at(p.y)) for p in series.points]
    if kind == "bars":
        width = max(1.0, abs(across.at(1) - across.at(0)) * 0.8)
        base = up.at(max(up.low, 0.0))
        drawn = "".join(
            f'<rect class="bar" x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{max(base - y, 0):.1f}"/>'
            for x, y in places
        )
        return f"<g {own}>{drawn}</g>"
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    line = f'<path class="line" d="{path}"/>' if kind != "points" and len(places) > 1 else ""
    if kind == "traces":
        return f"<g {own}>{line}</g>"
    whiskers = "".join(
        f'<path class="whisker" d="M{across.at(p.x):.1f} {up.at(p.low):.1f}V{up.at(p.high):.1f}"/>'
        for p in series.points
        if p.low is not None and p.high is not None
    )
    marks = "".join(
        _mark(series.number, x, y, p.hollow)
        for p, (x, y) in zip(series.points, places, strict=True)
    )
    return f"<g {own}>{whiskers}{line}{marks}</g>"


def _mark(number: int, x: float, y: float, hollow: bool) -> str:
    kind = "mark hollow" if hollow else "mark"
    return (
        f'<path class="{kind}" style="--own:var(--c{number % _COLOURS})" '
        f'd="M{x:.1f} {y:.1f}{_SHAPES[number % len(_SHAPES)]}"/>'
    )
