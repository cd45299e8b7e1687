"""Draw the pictures of the documentation: ``python docs/images/make.py``.

Each is an SVG for light and one for dark pages. The coloured document is what a real model, trained
on the generated newsroom corpus, says of a text that it has never seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib

from deplda import Corpus, HybridLDA, WordCounter, datasets
from deplda.models.explanation import Explanation
from deplda.models.lighting import lit_by_labels
from deplda.models.reasons import percent

HERE = Path(__file__).parent
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"  # all three have the same widths
PALETTES = {
    "light": {
        "ink": "#1d2330", "soft": "#5b6473", "line": "#c3cad6", "paper": "#ffffff",
        "fill": "#e6eaf1", "0": "#2563b8", "1": "#b4520a", "2": "#1b7f4b",
    },
    "dark": {
        "ink": "#e8ebf1", "soft": "#a3adbd", "line": "#4a5468", "paper": "#14181e",
        "fill": "#39424f", "0": "#7db3ff", "1": "#ffab6b", "2": "#6fd6a0",
    },
}  # fmt: skip
TEXT = (
    "The maker of a popular video game was sued in federal court on Tuesday by two rivals, who "
    "say it built a monopoly on cartridges. The lawsuit asks the judge for damages and an "
    "injunction against exclusive deals. Regulators have asked for documents on pricing and "
    "collusion. “No controller, no avatar, no quest reaches a gamer without its consent,” lawyers "
    "for the plaintiffs said."
)


def save(file: str, width: int, height: int, body: str) -> None:
    """Write both versions; ``{ink}`` and the like in the body become colours."""
    for theme, colours in PALETTES.items():
        drawn = body
        for name, colour in colours.items():
            drawn = drawn.replace(f"{{{name}}}", colour)
        (HERE / f"{file}-{theme}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="{FONT}">\n{drawn}\n</svg>\n',
            encoding="utf-8",
        )


# The coloured document ----------------------------------------------------------------------------


@cache
def widths() -> dict[str, int]:
    """Return the widths of Helvetica's letters, in thousandths of its size."""
    source = Path(matplotlib.get_data_path()) / "fonts/afm/phvr8a.afm"
    found = re.findall(r"C (\d+) ; WX (\d+) ", source.read_text(encoding="latin-1"))
    return {chr(int(code)): int(width) for code, width in found}


def width_of(text: str, size: float) -> float:
    return sum(widths().get(letter, 333) for letter in text) * size / 1000


class Piece(NamedTuple):
    """A run of text between two blanks, or a part of it, and the label it belongs to."""

    text: str
    label: int | None
    how: float
    """How brightly it is lit, up to 1."""
    glued: bool
    """No blank before it."""


def pieces(explanation: Explanation) -> Iterator[Piece]:
    best = [1.0 if each.probability is None else each.probability for each in explanation.reasons]
    lit = lit_by_labels(explanation.words, best[:3])
    spans = {begin: (end, word) for begin, end, word in explanation.spans}
    for match in re.finditer(r"[^\W_]+|[^\w\s]+", TEXT):
        begin, end = match.span()
        glued = begin > 0 and not TEXT[begin - 1].isspace()
        label, how = None, 0.0
        if begin in spans and spans[begin][0] == end and spans[begin][1] in lit:
            label, how = lit[spans[begin][1]]
        yield Piece(match[0], label, how, glued)


def flow(explanation: Explanation, x: float, y: float, width: float, size: float) -> str:
    """Return the text set in lines of a width, words marked by label."""
    drawn, at, space = [], x, width_of(" ", size)
    for piece in pieces(explanation):
        length = width_of(piece.text, size)
        if not piece.glued:
            at = at + space if at > x else x
            if at + length > x + width:
                at, y = x, y + size * 1.75
        if piece.label is not None:
            drawn.append(
                f'<rect x="{at - 3:.1f}" y="{y - size:.1f}" width="{length + 6:.1f}" '
                f'height="{size * 1.4:.1f}" rx="3" fill="{{{piece.label}}}" '
                f'fill-opacity="{0.08 + 0.28 * piece.how:.2f}"/>'
            )
        drawn.append(
            f'<text x="{at:.1f}" y="{y:.1f}" font-size="{size}" fill="{{ink}}" '
            f'textLength="{length:.1f}">{escape(piece.text)}</text>'
        )
        at += length
    return "\n".join(drawn)


def bars(explanation: Explanation, train: Corpus, x: int, y: int, width: int) -> str:
    """Return the three likeliest labels: how likely each is, and how often it was trained."""
    drawn = []
    for number, reason in enumerate(explanation.reasons[:3]):
        top, chance = y + number * 62, reason.probability or 0.0
        n = int(train.label_counts[train.label_names.index(str(reason.label))])
        trained = f"{n:,} training documents" if n > 1 else "one single training document"
        drawn.append(
            f'<text x="{x}" y="{top}" font-size="12.5" font-weight="bold" fill="{{{number}}}">'
            f"{escape(str(reason.label))}</text>"
            f'<rect x="{x}" y="{top + 7}" width="{width}" height="9" rx="2" fill="{{fill}}"/>'
            f'<rect x="{x}" y="{top + 7}" width="{chance * width:.1f}" height="9" rx="2" '
            f'fill="{{{number}}}"/>'
            f'<text x="{x}" y="{top + 33}" font-size="12" fill="{{soft}}">'
            f"{escape(percent(chance))} · {trained}</text>"
        )
    return "\n".join(drawn)


def explained_document() -> None:
    data = datasets.load("newsroom")
    train = data.corpus[data.splits[0].train]
    counter = WordCounter(language=None, vocabulary=train.vocabulary).fit([])
    explanation = HybridLDA().fit(train, counter=counter).explain(TEXT)
    frame = '<rect x=".5" y=".5" width="879" height="219" rx="8" fill="{paper}" stroke="{line}"/>'
    rule = '<path d="M606.5 22V198" stroke="{line}"/>'
    document = flow(explanation, 26, 42, 556, 16)
    save("explained", 880, 220, "\n".join(
        [frame, rule, document, bars(explanation, train, 632, 42, 222)]
    ))  # fmt: skip


# The graphical models -----------------------------------------------------------------------------

ROWS = {"γ": 40, "θ′": 112, "z′": 192, "c": 272, "α′": 352, "θ": 432, "z": 520, "w": 600}
RADIUS = 23


def circle(x: int, y: int, label: str, kind: str = "") -> str:
    """Return a variable; it may be observed, or observed in training only."""
    fill = "{fill}" if kind else "{paper}"
    dash = ' stroke-dasharray="5 4"' if kind == "training" else ""
    return (
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{fill}" stroke="{{ink}}" '
        f'stroke-width="1.4"{dash}/>'
        f'<text x="{x}" y="{y + 6}" font-size="18" font-style="italic" text-anchor="middle" '
        f'fill="{{ink}}">{label}</text>'
    )


def constant(x: int, y: int, label: str) -> str:
    return (
        f'<circle cx="{x}" cy="{y}" r="4" fill="{{ink}}"/>'
        f'<text x="{x}" y="{y - 11}" font-size="15" font-style="italic" text-anchor="middle" '
        f'fill="{{ink}}">{label}</text>'
    )


def arrow(x0: int, y0: int, x1: int, y1: int, gap0: int = RADIUS, gap1: int = RADIUS) -> str:
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    begin = (x0 + dx * (gap0 + 1), y0 + dy * (gap0 + 1))
    end = (x1 - dx * (gap1 + 4), y1 - dy * (gap1 + 4))
    return (
        f'<path d="M{begin[0]:.1f} {begin[1]:.1f}L{end[0]:.1f} {end[1]:.1f}" stroke="{{ink}}" '
        'stroke-width="1.3" marker-end="url(#tip)"/>'
    )


def plate(left: int, top: int, right: int, bottom: int, label: str) -> str:
    return (
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" rx="9" '
        'fill="none" stroke="{line}" stroke-width="1.5"/>'
        f'<text x="{left + 11}" y="{bottom - 8}" font-size="13" font-style="italic" '
        f'fill="{{soft}}">{label}</text>'
    )


def parameters(x: int, y: int, label: str, prior: str, plate_label: str) -> list[str]:
    """Return φ or φ′ beside a chain: its plate, its smoothing, and the arrow to what it makes."""
    at = x + 122
    drawn = [circle(at, y, label), constant(at, y - 78, prior)]
    drawn += [arrow(at, y - 78, at, y, 5), arrow(at, y, x, y)]
    if plate_label:
        drawn.append(plate(at - 36, y - 36, at + 36, y + 52, plate_label))
    return drawn


def chain(x: int, names: list[str]) -> list[str]:
    return [arrow(x, ROWS[a], x, ROWS[b]) for a, b in pairwise(names)]


def words_below(x: int, prior: str) -> list[str]:
    """Return what all three models share: from a document's prior over labels to its words."""
    drawn = [circle(x, ROWS[name], name, "seen" if name == "w" else "") for name in ("θ", "z", "w")]
    drawn += [arrow(x, ROWS[a], x, ROWS[b]) for a, b in (("θ", "z"), ("z", "w"))]
    drawn += parameters(x, ROWS["w"], "φ", "β", "C labels")
    drawn.append(plate(x - 44, ROWS["z"] - 34, x + 44, ROWS["w"] + 52, "N words"))
    if prior:
        drawn += [constant(x, ROWS["α′"], prior)]
        drawn += [arrow(x, ROWS["α′"], x, ROWS["θ"], 5)]
    return drawn


def labels_above(x: int) -> list[str]:
    """Return the prior that comes from label tokens c."""
    drawn = [circle(x, ROWS["c"], "c", "training"), circle(x, ROWS["α′"], "α′")]
    drawn += chain(x, ["c", "α′", "θ"])
    drawn += [constant(x - 82, ROWS["α′"] - 18, "η"), constant(x - 82, ROWS["α′"] + 32, "α")]
    drawn += [arrow(x - 82, ROWS["α′"] - 18, x, ROWS["α′"], 5),
              arrow(x - 82, ROWS["α′"] + 32, x, ROWS["α′"], 5)]  # fmt: skip
    return drawn


def title(x: int, name: str, text: str) -> str:
    return (
        f'<text x="{x}" y="700" font-size="17" font-weight="bold" text-anchor="middle" '
        f'fill="{{ink}}">{name}</text>'
        f'<text x="{x}" y="722" font-size="13.5" text-anchor="middle" fill="{{soft}}">{text}</text>'
    )


def three_models() -> None:
    tip = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{ink}"/></marker></defs>'
    )
    flat, prior, dependency = 90, 400, 720
    drawn = [tip, *words_below(flat, "α")]
    drawn.append(plate(flat - 62, ROWS["θ"] - 38, flat + 62, ROWS["w"] + 78, "D documents"))
    drawn += [*words_below(prior, ""), *labels_above(prior)]
    drawn += parameters(prior, ROWS["c"], "φ′", "β′", "")
    drawn.append(plate(prior - 44, ROWS["c"] - 34, prior + 44, ROWS["c"] + 46, "M"))
    drawn.append(plate(prior - 62, ROWS["c"] - 46, prior + 62, ROWS["w"] + 78, "D documents"))
    drawn += [*words_below(dependency, ""), *labels_above(dependency)]
    drawn += [circle(dependency, ROWS[name], name) for name in ("θ′", "z′")]
    drawn += [constant(dependency, ROWS["γ"], "γ"),
              arrow(dependency, ROWS["γ"], dependency, ROWS["θ′"], 5)]  # fmt: skip
    drawn += chain(dependency, ["θ′", "z′", "c"])
    drawn += parameters(dependency, ROWS["c"], "φ′", "β′", "T topics")
    m = ROWS["c"] + 46
    drawn.append(plate(dependency - 44, ROWS["z′"] - 34, dependency + 44, m, "M"))
    left, right = dependency - 62, dependency + 62
    drawn.append(plate(left, ROWS["θ′"] - 38, right, ROWS["w"] + 78, "D documents"))
    drawn.append(title(flat + 50, "Flat-LDA", "every label alike"))
    drawn.append(title(prior + 40, "Prior-LDA", "frequent labels rather"))
    drawn.append(title(dependency + 40, "Dependency-LDA", "labels that go together"))
    save("models", 900, 736, "\n".join(drawn))


if __name__ == "__main__":
    three_models()
    explained_document()
