"""A report as one HTML page that needs nothing else: no script, no network, light and dark."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from importlib.resources import files
from itertools import count
from pathlib import Path

from deplda.comparison.page import bullets, to_html
from deplda.comparison.standing import Table
from deplda.models.explanation_html import DARK, LIGHT, STYLE, fragment
from paper.report.charts import Chart, marker, svg
from paper.report.parts import Block, Bullets, Details, Figure, Remark, Report, Section


def html(report: Report) -> str:
    """Return the whole document."""
    anchored = _anchored(report)
    numbers = count(1)
    body = "".join(_section(anchor, part, numbers) for anchor, part in anchored.items())
    title = escape(report.title)
    sheets = (files("deplda.comparison") / "page.css", Path(__file__).with_name("page.css"))
    style = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title><style>:root{{{LIGHT}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}\n{STYLE}{style}</style></head>\n"
        f'<body><a class="skip" href="#main">Skip to the results</a>\n'
        f"<header><h1>{title}</h1></header>\n{_contents(anchored)}\n"
        f'<main id="main">\n{body}</main>\n<footer><p>Made by deplda from its folders of results. '
        "Published values: Rubin, Chambers, Smyth &amp; Steyvers, <cite>Statistical topic models "
        "for multi-label document classification</cite>, Machine Learning 88 (2012), and the works "
        "named beside them.</p></footer></body></html>\n"
    )


def _anchored(report: Report) -> dict[str, Section]:
    """Return the sections by their names in links."""
    found: dict[str, Section] = {}
    times = Counter[str]()
    for section in report.sections:
        slug = re.sub(r"[^\w\- ]", "", section.title.lower()).replace(" ", "-")
        found[f"{slug}-{times[slug]}" if times[slug] else slug] = section
        times[slug] += 1
    return found


def _contents(anchored: dict[str, Section]) -> str:
    links = "".join(
        f'<li class="d{part.depth}"><a href="#{escape(anchor)}">{escape(part.title)}</a></li>'
        for anchor, part in anchored.items()
    )
    return (
        '<nav aria-label="Contents"><details open><summary>Contents</summary>'
        f"<ul>{links}</ul></details></nav>"
    )


def _section(anchor: str, section: Section, numbers: count[int]) -> str:
    level = section.depth + 1
    blocks = "".join(_block(block, numbers) for block in section.blocks)
    return f'<h{level} id="{escape(anchor)}">{escape(section.title)}</h{level}>\n{blocks}'


def _block(block: Block, numbers: count[int]) -> str:
    if isinstance(block, str):
        return f"<p>{escape(block)}</p>\n"
    if isinstance(block, Remark):
        return f'<p class="remark">{escape(block.text)}</p>\n'
    if isinstance(block, Bullets):
        return bullets(block.items)
    if isinstance(block, Table):
        return to_html(block)
    if isinstance(block, Figure):
        return _figure(block, f"figure-{next(numbers)}")
    if isinstance(block, Details):
        inner = "".join(_block(inside, numbers) for inside in block.blocks)
        return f"<details><summary>{escape(block.summary)}</summary>{inner}</details>\n"
    return fragment(block, level=4)


def _figure(figure: Figure, anchor: str) -> str:
    title, caption = escape(figure.title), escape(figure.caption)
    drawn = svg(figure.chart, figure.title, figure.caption, anchor)
    return (
        f'<figure id="{anchor}">{drawn}{_legend(figure.chart)}<figcaption><b>{title}.</b> {caption}'
        f"</figcaption><details><summary>The numbers</summary>{to_html(figure.table)}</details>"
        "</figure>\n"
    )


def _legend(chart: Chart) -> str:
    if len(chart.series) < 2:
        return ""
    items = "".join(
        f"<li>{marker(series.number)}{escape(series.name)}</li>" for series in chart.series
    )
    return f'<ul class="legend">{items}</ul>'
