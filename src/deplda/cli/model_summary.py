"""The summary of a saved model: what it was trained on, how good it is, and its settings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deplda.cli.output import show, show_json
from deplda.data.wording import counted

if TYPE_CHECKING:
    from deplda.data.readers import Fields
    from deplda.models.card import Card


def show_summary(card: Card, path: Path, as_json: bool) -> None:
    """Print what the card of a saved model says."""
    facts = _facts(card)
    if as_json:
        show_json(facts)
        return
    for line in (_trained_on(facts), *_how_good(facts, path)):
        show(line)
    show("")
    show(_table(facts | {"metrics": _most_important(card.metrics)}))


def _facts(card: Card) -> dict[str, Any]:
    """Return what a card says, by name."""
    text = card.text and {k: v for k, v in card.text.items() if k != "surface_words"}
    begin, end = (text or {}).pop("names_at", (0, 0))
    n_labels = card.learned.get("n_learned", len(card.labels))
    n_unlearned = len(card.labels) - n_labels
    settings = {name: card.learned[name] for name in ("C", "candidates") if name in card.learned}
    return {
        "model": card.model,
        "labels": n_labels,
        "labels_without_documents": n_unlearned or None,
        "known_by_name": card.learned.get("n_known_by_name", n_unlearned) or None,
        "words": card.n_words - (end - begin),
        "takes_text": card.text is not None,
        "seed": card.seed,
        "saved_by": f"deplda {card.library}",
        "statistics": card.statistics,
        "parameters": card.parameters,
        "settings": settings | card.learned.get("settings", {}),
        "held_out": card.learned.get("held_out"),
        "calibration": card.learned.get("calibration"),
        "text": text,
        "fields": None if card.fields is None else _without_conditions(card.fields),
        "metrics": card.metrics,
    }


def _trained_on(found: dict[str, Any]) -> str:
    """Return what the model is and was trained on, as a sentence."""
    statistics = found["statistics"]
    n_tokens = statistics.get("n_tokens")
    size = [
        counted(statistics.get("n_documents", 0), "document"),
        counted(found["labels"], "label"),
        counted(found["words"], "different word")
        + ("" if n_tokens is None else f" ({n_tokens:,} in all)"),
    ]
    by_name = ""
    if found["labels_without_documents"]:
        by_name = (
            f"; its vocabulary has {found['labels_without_documents']:,} more, of which "
            f"{found['known_by_name'] or 0:,} can be suggested by their names"
        )
    takes = "takes texts" if found["takes_text"] else "takes counts of words alone, no texts"
    return f"{found['model']}, trained on {', '.join(size)}{by_name}; it {takes}."


def _how_good(found: dict[str, Any], path: Path) -> list[str]:
    """Return how good the model is, as sentences."""
    from deplda.models.quality import held_out_in_words
    from deplda.models.reasons import percent, percent_of_documents

    reached, calibration = found["held_out"] or {}, found["calibration"] or {}
    lines = []
    if reached:
        held_out = held_out_in_words(reached, found["statistics"].get("n_documents", 0))
        lines.append(
            f"On {held_out}, a model of the others gave the right label first for "
            f"{100 - reached['one_error']:.0f} %; average precision, 0 to 1, is "
            f"{reached['average_precision']:.3f} by document{_by_label(reached)}."
        )
    else:
        lines.append(
            "How good it is was not measured in training; deplda evaluate says it for labelled "
            "documents."
        )
    if calibration:
        lines.append(
            f"Its probabilities are off by {100 * calibration['error']:.1f} percentage points on "
            "average (expected calibration error), on documents held out."
        )
        none = calibration.get("without_labels")
        rest = (
            "" if none is None
            else f"; {percent_of_documents(none)} of the documents held out get none"
        )  # fmt: skip
        lines.append(
            f"It suggests labels from a probability of {percent(calibration['threshold'])}{rest}."
        )
    tested = _most_important(found["metrics"]) or {}
    if isinstance(tested.get("right"), dict):
        lines.append(
            f"Tested on {counted(tested['documents'], 'other document')} (train --holdout): "
            f"{_per_cent(tested['right'])} of the labels given were right, "
            f"{_per_cent(tested['found'])} of the true ones were found, average precision "
            f"{tested['average_precision']['value']:.3f} by document."
        )
    if "label_average_precision" in reached:
        lines.append(f"Label by label: deplda show {path} --sort worst")
    return lines


def _by_label(reached: dict[str, float]) -> str:
    """Return the means over labels, of models that know them."""
    if "label_average_precision" not in reached:
        return ""
    from deplda.models.quality import RARE

    every = f" and {reached['label_average_precision']:.3f} by label"
    every += f" ({counted(round(reached['labels']), 'label')})"
    if not 0 < reached["rare_labels"] < reached["labels"]:
        return every
    n = counted(round(reached["rare_labels"]), "label")
    return (
        f"{every}, {reached['rare_label_average_precision']:.3f} for the {n} with {RARE} training "
        "documents or fewer"
    )


def _per_cent(estimate: dict[str, float]) -> str:
    from deplda.evaluation.frames import percent

    value, low, high = (percent(estimate[name]) for name in ("value", "low", "high"))
    return f"{value} % [{low}, {high}]"


def _table(found: dict[str, Any]) -> Any:
    """Return all that is known as a table."""
    from rich.table import Table
    from rich.text import Text

    table = Table("what", "value", show_edge=False)
    for name, value in found.items():
        if isinstance(value, dict):
            table.add_section()
            for key, each in value.items():
                table.add_row(f"{name}: {key}", Text(_brief(each)))
        elif value is not None:
            table.add_row(name, Text(_brief(value)))
    return table


def _without_conditions(fields: Fields) -> dict[str, Any]:
    """Return what is said of a model's fields; it has no conditions."""
    return {name: value for name, value in asdict(fields).items() if name != "where"}


def _most_important(metrics: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the headline of a model's metrics; all where there is none, as of earlier versions."""
    found = (metrics or {}).get("headline")
    return found if isinstance(found, dict) else metrics


def _brief(value: Any) -> str:
    if isinstance(value, dict) and value.keys() == {"value", "low", "high"}:
        return f"{_brief(value['value'])} [{_brief(value['low'])}, {_brief(value['high'])}]"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]} …"
