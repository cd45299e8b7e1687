"""An explanation as it is shown: plain values, a table in a terminal, a page of its own."""

from __future__ import annotations

from typing import Any

import msgspec
from rich.console import Group
from rich.table import Table
from rich.text import Text

from deplda.models import explanation_html
from deplda.models.reasons import Explained, percent


class Explanation(Explained, frozen=True):
    """A document's best labels with their reasons, and every known word of it."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        found = msgspec.json.decode(msgspec.json.encode(self))
        return {name: found[name] for name in ("n_tokens", "n_unknown", "n_background", "labels")}

    def __rich__(self) -> Group:
        parts = list(self.reasons[0].parts) if self.reasons else []
        has_svm = any(reason.svm_words for reason in self.reasons)
        table = Table(title="suggested labels", title_justify="left")
        table.add_column("label", overflow="fold")
        is_told = all(reason.probability is not None for reason in self.reasons)
        for name in ("probability" if is_told else "score", *parts):
            table.add_column(name, justify="right")
        for name in ("words that argue for it", "goes with", *["words in the SVM"] * has_svm):
            table.add_column(name, overflow="fold")
        for reason in self.reasons:
            svm = ", ".join(f"{w.name} {w.weight:.2f}" for w in reason.svm_words)
            table.add_row(
                Text(str(reason.label)),
                f"{reason.score:.3f}"
                if reason.probability is None
                else percent(reason.probability),
                *(f"{value:.3f}" for value in reason.rounded_parts().values()),
                Text(", ".join(f"{w.name} {w.weight:.1f}" for w in reason.words)),
                Text(", ".join(f"{c.name} {c.weight:.0%}" for c in reason.companions)),
                *[Text(svm)] * has_svm,
            )
        known = f"{self.n_tokens:,} tokens of known words"
        unknown = f", {self.n_unknown:,} of unknown ones left out" if self.n_unknown else ""
        shared = f"; the background has {self.n_background:.1f}" if self.n_background else ""
        return Group(table, Text(known + unknown + shared + "."))

    def to_html(self) -> str:
        """Return a page of its own: the labels, and the words coloured by label."""
        return explanation_html.page(self)

    def _repr_html_(self) -> str:
        return explanation_html.body(self)
