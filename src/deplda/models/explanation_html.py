"""An explanation as HTML that needs nothing else: no script, no network, light and dark."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from scipy.special import expit

from deplda.data.wording import counted
from deplda.models.lighting import lit_by_labels
from deplda.models.reasons import WITHOUT_REASONS, Explained, Reason, percent

_COLOURS = 8
_NEVER = " <small>(no training document)</small>"
_NAMES = {
    "share": "topic model", "margin": "SVM", "likeness": "like its documents",
    "base": "any candidate", "name": "its name", "vectors": "labels near by vector",
    "neighbours": "the nearest documents",
}  # fmt: skip
"""Of parts whose names say too little."""
LIGHT = """--ink:#1d2330;--soft:#5b6473;--line:#d8dde6;--paper:#fff;--c0:#2563b8;--c1:#b4520a;
--c2:#1b7f4b;--c3:#a02c6d;--c4:#6b47b8;--c5:#8a6d00;--c6:#0b7f8a;--c7:#6d5140"""
DARK = """--ink:#e8ebf1;--soft:#a3adbd;--line:#3a4252;--paper:#14171d;--c0:#7db3ff;--c1:#ffab6b;
--c2:#6fd6a0;--c3:#f08fc4;--c4:#bda4ff;--c5:#e0c04d;--c6:#5fd3de;--c7:#d2b29c"""
STYLE = f"""
.dx{{{LIGHT};color:var(--ink);background:var(--paper);font:16px/1.6 system-ui,sans-serif;
max-width:60rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}}
@media (prefers-color-scheme:dark){{.dx{{{DARK}}}}}
"""
STYLE += """
.dx .head{font-size:1.3rem;margin:.2rem 0}.dx .part{font-size:1.05rem;margin:1.6rem 0 .4rem}
.dx ol{list-style:none;margin:.8rem 0 0;padding:0}
.dx li{border-top:1px solid var(--line);padding:.6rem 0;margin:0}
.dx .name{font-weight:600}.dx .score{color:var(--soft);font-variant-numeric:tabular-nums}
.dx .bar{display:flex;height:.55rem;margin:.3rem 0;background:var(--line);border-radius:3px;
overflow:hidden}
.dx .bar i{display:block;height:100%;background:var(--own)}.dx .bar i.prior{opacity:.45}
.dx .halved{position:relative}.dx .halved::after{content:"";position:absolute;left:50%;width:2px;
height:100%;margin-left:-1px;background:var(--paper)}
.dx .why{color:var(--soft);font-size:.92rem;margin:0}
.dx .key{font-size:.92rem;margin:0 0 .6rem;line-height:1.9}
.dx .text{white-space:pre-wrap;border-top:1px solid var(--line);padding-top:.6rem;margin:0}
.dx .word{display:inline-block;max-width:100%;margin-right:.35em}
.dx .times{color:var(--soft);font-size:.85em}
.dx mark{color:inherit;border-radius:3px;padding:0 .15em;background:none;
border-bottom:2px solid var(--own);border-color:color-mix(in srgb,var(--own) calc(var(--how)*100%),
transparent);background:color-mix(in srgb,var(--own) calc(var(--how)*38%),transparent)}
"""


def page(explanation: Explained) -> str:
    """Return a whole document."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<title>Suggested labels and why</title>"
        "<style>html,body{margin:0}@media (prefers-color-scheme:dark){body{background:#14171d}}"
        f"</style></head><body>{body(explanation)}</body></html>\n"
    )


def body(explanation: Explained) -> str:
    """Return the part of the page that a notebook shows."""
    return f"<style>{STYLE}</style>{fragment(explanation)}"


def fragment(explanation: Explained, level: int = 1) -> str:
    """Return the explanation for a page that has the style, its first heading of a level."""
    best = max((reason.score for reason in explanation.reasons), default=0.0)
    items = "".join(
        _item(reason, number, best, explanation.has_shares)
        for number, reason in enumerate(explanation.reasons)
    )
    unknown = (
        f" Left out: {counted(explanation.n_unknown, 'token')} of unknown words."
        if explanation.n_unknown
        else ""
    )
    return (
        f'<div class="dx"><h{level} class="head">Suggested labels</h{level}>'
        f'<p class="why">{_key(explanation)}{unknown}</p>'
        f'<ol>{items}</ol><h{level + 1} class="part">The document, and the words that say most for '
        f"labels</h{level + 1}>"
        f"{_words(explanation)}</div>"
    )


def _key(explanation: Explained) -> str:
    """Return how the bars and the numbers are read."""
    if not explanation.reasons:
        return WITHOUT_REASONS
    has_companions = any(reason.companions for reason in explanation.reasons)
    if any(reason.evidence or reason.named for reason in explanation.reasons):
        brackets = "In brackets: what a word, or a label it goes with, adds to the log-odds"
    else:
        brackets = "In brackets: how often a word stands for the label"
        brackets += ", and the share of a label it goes with" * has_companions
    is_told = any(reason.probability is not None for reason in explanation.reasons)
    likely = "A bar is as long as the label is likely. " if is_told else ""
    if not explanation.has_shares and is_told:
        bars = "In small: the parts of its log-odds, which add up"
    elif not explanation.has_shares:
        bars = "A score is the sum of its parts; a bar beyond its middle is a score above 0"
    elif any("prior" in reason.parts for reason in explanation.reasons):
        before = ", by the labels it goes with" if has_companions else " they were read"
        bars = f"Full colour: what the words say. Pale: what was likely before{before}"
    else:
        bars = "In small: its score" if is_told else "A bar compares a score with the best"
    return f"{likely}{bars}. {brackets}."


def _item(reason: Reason, number: int, best: float, has_shares: bool) -> str:
    rounded = reason.rounded_parts().items()
    # The name of an external signal may be any text.
    parts = ", ".join(
        f"{escape(_NAMES.get(name, name))} {_signed(value)}" for name, value in rounded
    )
    if reason.probability is None:
        told, scale = f"{_signed(reason.score).removeprefix('+')} = {parts}", best or 1.0
    else:  # a bar is as long as the label is likely
        told = f"{escape(percent(reason.probability))} <small>({parts})</small>"
        scale = (reason.score or 1.0) / reason.probability
    # Shares lie end to end; of terms of either sign only their sum can be drawn.
    if has_shares:
        values = [value / scale for value in reason.parts.values()]
    else:
        values = [float(expit(reason.score)) if reason.probability is None else reason.probability]
    is_halved = not has_shares and reason.probability is None
    bars = "".join(
        f'<i{" class=prior" * (place > 0)} style="width:{value * 100:.1f}%"></i>'
        for place, value in enumerate(values)
    )
    lines = {
        "Name": escape(reason.told_name() or ""), "Words": _words_of(reason),
        "Goes with": _companions_of(reason), "Similar training documents": _examples_of(reason),
    }  # fmt: skip
    why = "".join(f'<p class="why">{name}: {told}</p>' for name, told in lines.items() if told)
    return (
        f'<li style="--own:var(--c{number % _COLOURS})"><span class="name">'
        f'{escape(str(reason.label))}</span>{_NEVER * reason.by_name} <span class="score">{told}'
        f'</span><div class="bar{" halved" * is_halved}" role="img" '
        f'aria-label="{parts}">{bars}</div>{why}</li>'
    )


def _words_of(reason: Reason) -> str:
    if reason.evidence:
        pairs = [(w.name, f"{w.margin + w.share:+.2f}") for w in reason.evidence]
    else:
        pairs = [(w.name, f"{w.weight:.1f}") for w in reason.words]
    return ", ".join(f"{escape(name)}&nbsp;({value})" for name, value in pairs)


def _companions_of(reason: Reason) -> str:
    return ", ".join(
        f"{escape(c.name)}&nbsp;({f'{c.weight:.0%}' if c.added is None else f'{c.added:+.2f}'})"
        for c in reason.companions
    )


def _examples_of(reason: Reason) -> str:
    return "; ".join(
        f"{escape(each.title)}&nbsp;({each.similarity:.0%})" for each in reason.examples
    )


def _signed(value: float) -> str:
    """Return a number with its sign, a true minus."""
    return f"{round(value, 3) + 0.0:+.3f}".replace("-", "−")


def _words(explanation: Explained) -> str:
    marks = _word_marks(explanation)
    in_text = {word for _, _, word in explanation.spans}
    rest = " ".join(
        f'<span class="word">{_marked(word.word, marks.get(word.word))}{_times(word.times)}</span>'
        for word in explanation.words
        if word.word not in in_text
    )
    named = _name_marks(explanation)
    used = sorted({mark.label for mark in (*marks.values(), *named.values())})
    names = [str(explanation.reasons[number].label) for number in used]
    key = " ".join(
        f'<span class="word">{_marked(name, _Mark(number, 1.0, name))}</span>'
        for number, name in zip(used, names, strict=True)
    )
    key = f'<p class="key">{key}</p>' if key else ""
    if explanation.text is None:
        return f'{key}<p class="text">{rest or "No known words."}</p>'
    parts, at = [], 0
    for begin, end, word in explanation.spans:
        parts.append(escape(explanation.text[at:begin]))
        parts.append(_marked(explanation.text[begin:end], marks.get(word) or named.get(begin)))
        at = end
    parts.append(escape(explanation.text[at:]))
    also = f'<p class="why">Counted beside single words: {rest}</p>' if rest else ""
    return f'{key}<p class="text">{"".join(parts)}</p>{also}'


class _Mark(NamedTuple):
    """How a word is marked: for which label, how brightly, and what is said of it."""

    label: int
    how: float
    said: str


def _word_marks(explanation: Explained) -> dict[str, _Mark]:
    """Return the marks of words that make up most of what speaks for labels."""
    chances = [
        1.0 if reason.probability is None else reason.probability for reason in explanation.reasons
    ]
    added = {word.word: word.added for word in explanation.words}
    unit = "" if explanation.scale == "log-odds" else " tokens"
    return {
        word: _Mark(
            label, how, f"{explanation.reasons[label].label}: {added[word][label]:+.2f}{unit}"
        )
        for word, (label, how) in lit_by_labels(explanation.words, chances).items()
    }


def _name_marks(explanation: Explained) -> dict[int, _Mark]:
    """Return the marks of words that names of labels have, by where they begin in the text."""
    return {
        begin: _Mark(number, 1.0, str(reason.label))
        for number, reason in reversed([*enumerate(explanation.reasons)])
        for first, last in (reason.named.places if reason.named else ())
        for begin, _, _ in explanation.spans
        if first <= begin < last
    }


def _times(times: float) -> str:
    return f'<span class="times">&nbsp;×{times:g}</span>' if times > 1 else ""


def _marked(text: str, mark: _Mark | None) -> str:
    if mark is None:
        return escape(text)
    return (
        f'<mark style="--own:var(--c{mark.label % _COLOURS});--how:{mark.how:.2f}" '
        f'title="{escape(mark.said)}">{escape(text)}</mark>'
    )
