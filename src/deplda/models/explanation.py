"""An explanation as it is shown: plain values, a table in a terminal, a page of its own."""

from __future__ import annotations

from typing import Any, Self

import msgspec
from msgspec import structs
from rich.console import Group
from rich.table import Table
from rich.text import Text

from deplda.data.text import WordCounter
from deplda.data.wording import counted
from deplda.models import explanation_html
from deplda.models.name_evidence import places_of
from deplda.models.reasons import WITHOUT_REASONS, Explained, Reason, percent


class Explanation(Explained, frozen=True):
    """A document's best labels with their reasons, and every known word of it."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        found = msgspec.json.decode(msgspec.json.encode(self))
        told = ("n_tokens", "n_unknown", "n_background", "scale", "labels")
        return {name: found[name] for name in told}

    def located(self, text: str, counter: WordCounter) -> Self:
        """Return it with the text of the document, and where words and names stand in it."""

        def with_places(reason: Reason) -> Reason:
            if reason.named is None:
                return reason
            places, is_whole = places_of(reason.named.name, text, counter)
            written = text[slice(*places[0])] if places else None
            named = structs.replace(
                reason.named, places=places, as_written=written, is_whole=is_whole
            )
            return structs.replace(reason, named=named)

        return structs.replace(
            self, text=text, spans=tuple(counter.spans(text)),
            reasons=tuple(map(with_places, self.reasons)),
        )  # fmt: skip

    def __rich__(self) -> Group:
        if not self.reasons:
            return Group(Text(WITHOUT_REASONS))
        is_hybrid = any(reason.evidence or reason.named for reason in self.reasons)
        parts = [] if is_hybrid else list(self.reasons[0].parts)
        table = Table(title="likeliest labels", title_justify="left")
        table.add_column("label", overflow="fold")
        is_told = all(reason.probability is not None for reason in self.reasons)
        for name in ("probability" if is_told else "score", *parts):
            table.add_column(name, justify="right")
        evidence = "its words" if is_hybrid else "words that argue for it"
        for name in (*["its log-odds"] * is_hybrid, evidence, "goes with"):
            table.add_column(name, overflow="fold")
        for reason in self.reasons:
            chance = reason.probability
            shown = _log_odds(reason) if is_hybrid else _shares(reason)
            table.add_row(
                Text(f"{reason.label}{' (no training document)' * reason.by_name}"),
                f"{reason.score:.3f}" if chance is None else percent(chance),
                *shown,
                Text("; ".join(filter(None, (reason.told_name(), _words(reason))))),
                Text(_companions(reason)),
            )
        known = f"{counted(self.n_tokens, 'token')} of known words"
        unknown = f", {self.n_unknown:,} of unknown ones left out" if self.n_unknown else ""
        shared = f"; the background has {self.n_background:.1f}" if self.n_background else ""
        scale = " Numbers at words and labels are parts of the log-odds." * is_hybrid
        similar = [
            Text(f"Training documents of {reason.label} like it: {_similar(reason)}")
            for reason in self.reasons
            if reason.examples
        ]
        return Group(table, Text(f"{known}{unknown}{shared}.{scale}"), *similar)

    def to_html(self) -> str:
        """Return a page of its own: the labels, and the words coloured by label."""
        return explanation_html.page(self)

    def _repr_html_(self) -> str:
        return explanation_html.body(self)


def _log_odds(reason: Reason) -> list[str]:
    """Return the sum and its parts, in one cell."""
    parts = ", ".join(f"{name} {value:+.2f}" for name, value in reason.rounded_parts(2).items())
    return [f"{reason.score:+.2f}: {parts}"]


def _shares(reason: Reason) -> list[str]:
    return [f"{value:.3f}" for value in reason.rounded_parts().values()]


def _words(reason: Reason) -> str:
    if reason.evidence:
        return ", ".join(f"{w.name} {w.margin + w.share:+.2f}" for w in reason.evidence)
    return ", ".join(f"{w.name} {w.weight:.1f}" for w in reason.words)


def _similar(reason: Reason) -> str:
    return "; ".join(f"{each.title} ({each.similarity:.0%})" for each in reason.examples)


def _companions(reason: Reason) -> str:
    return ", ".join(
        f"{c.name} {c.weight:.0%}" if c.added is None else f"{c.name} {c.added:+.2f}"
        for c in reason.companions
    )
