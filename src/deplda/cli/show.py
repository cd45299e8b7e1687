"""``deplda show``: a saved model, its labels, one label, or its topics."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli import model_summary
from deplda.cli.options import OneOf
from deplda.cli.output import (
    as_json,
    as_line,
    check_output,
    force,
    note,
    saved_model,
    show,
    show_json,
    trusts_models,
)
from deplda.cli.thesaurus import told_in, told_language_option
from deplda.data.wording import counted
from deplda.errors import InputError
from deplda.models.registry import can

if TYPE_CHECKING:
    from deplda.models.label_table import LabelEntry, LabelTable

_IN_A_TABLE = 20
_OF_A_LABEL = 10
_OF_A_TOPIC = 8
_ORDERS = ("frequency", "rarest", "quality", "worst", "name")
_FORMATS = (".csv", ".tsv", ".jsonl")


@click.command("show")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("label", required=False)
@click.option("--labels", is_flag=True, help="List the labels.")
@click.option(
    "--sort",
    type=OneOf(_ORDERS),
    help="List the labels in this order: most or fewest training documents first, or best or worst "
    "average precision on held-out documents first.",
    show_default="frequency",
)
@click.option("--search", metavar="TEXT", help="List only the labels whose names contain this.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the list of labels to a .csv, .tsv or .jsonl file.",
)
@click.option("--topics", is_flag=True, help="Show the topics: labels that occur together.")
@click.option("--topic-set", type=click.IntRange(0), default=0, help="Which set of topics to show.")
@click.option(
    "--limit",
    "-k",
    type=click.IntRange(1),
    show_default=f"{_IN_A_TABLE} labels in a table, else all; {_OF_A_LABEL} words and labels of a "
    f"label; {_OF_A_TOPIC} labels of a topic",
    help="Maximum number of labels or words.",
)
@told_language_option
@force
@as_json
def show_model(
    model: Path,
    label: str | None,
    labels: bool,
    sort: Any,
    search: str | None,
    output: Path | None,
    topics: bool,
    topic_set: int,
    limit: int | None,
    label_language: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show what MODEL was trained on and how good it is, or a LABEL, all labels, or the topics.

    A label is shown with its words, the labels that occur in the same training documents or
    topics, and its terms in the thesaurus. The quality of a label is its average precision, 0 to
    1, in the ranking of the training documents that `train` held out.

    \b
    deplda show model
    deplda show model 'VIDEO GAMES'
    deplda show model --sort worst --limit 50
    deplda show model --search law -o labels.csv
    deplda show model --topics
    """
    labels = labels or sort is not None or search is not None or output is not None
    if (label is not None) + labels + topics > 1:
        raise click.UsageError("Give a label, options of the list of labels, or --topics: one.")
    if label is not None:
        _show_label(told_in(saved_model(model), label_language), label, limit, as_json)
    elif labels:
        if output is not None:
            if output.suffix.lower() not in _FORMATS:
                raise click.UsageError(f"{output}: labels are written as {', '.join(_FORMATS)}.")
            check_output(output, force)
        elif not as_json:
            limit = limit or _IN_A_TABLE
        classifier = told_in(saved_model(model), label_language)
        _list_labels(classifier, sort or "frequency", search or "", limit, output, as_json)
    elif topics:
        _show_topics(saved_model(model), topic_set, limit or _OF_A_TOPIC, as_json)
    else:
        from deplda.models.card import read_card

        model_summary.show_summary(read_card(model, trusted=trusts_models()), model, as_json)


# Labels -------------------------------------------------------------------------------------------


def _list_labels(
    model: Any, order: Any, search: str, limit: int | None, output: Path | None, as_json: bool
) -> None:
    from deplda.models.label_table import label_table

    table = label_table(model, order, search=search, limit=limit)
    if not table.is_measured:
        note(
            "Note: the quality of labels is not measured: no training documents were held out, or "
            "the model has learned since; train it on all documents, with n_held_out above 0"
        )
    if output is not None:
        _write(output, table.entries)
        show(f"{counted(len(table.entries), 'label')}: {output}")
    elif as_json:
        entries = [_to_dict(entry) for entry in table.entries]
        show_json({"total": table.n_found, "measured": table.is_measured, "labels": entries})
    elif not table.entries:
        note(f"none of {counted(table.n_labels, 'label')} has {search!r} in its name")
    else:
        show(_label_table(table))
        if len(table.entries) < table.n_found:
            note(
                f"({len(table.entries):,} of {counted(table.n_found, 'label')}; --limit N shows "
                "more, -o labels.csv has all)"
            )
        elif table.n_found < table.n_labels:
            note(f"({table.n_found:,} of {counted(table.n_labels, 'label')} found)")
        if table.is_measured and "documents" in model.held_out_:
            n = counted(round(model.held_out_["documents"]), "training document")
            note(f"(average precision, 0 to 1, of the ranking of {n} held out; – if none has it)")


def _to_dict(entry: LabelEntry) -> dict[str, Any]:
    """Return an entry without the URI and the notation that a model without vocabulary lacks."""
    concept = {name: getattr(entry, name) for name in ("uri", "notation")}
    others = {name: value for name, value in entry._asdict().items() if name not in concept}
    return others | {name: value for name, value in concept.items() if value is not None}


def _label_table(labels: LabelTable) -> Any:
    from rich.table import Table
    from rich.text import Text

    has_notations = any(entry.notation is not None for entry in labels.entries)
    has_words = any(entry.words for entry in labels.entries)
    table = Table("label", show_edge=False)
    if has_notations:
        table.add_column("notation")
    for name in ("training\ndocuments", "held out", "average\nprecision"):
        table.add_column(name, justify="right")
    if has_words:
        table.add_column("likeliest words")
    for entry in labels.entries:
        held_out = "–" if entry.held_out is None else f"{entry.held_out:,}"
        quality = "–" if entry.average_precision is None else f"{entry.average_precision:.3f}"
        cells = [f"{entry.documents:,}", held_out, quality]
        cells = [entry.notation or "", *cells] if has_notations else cells
        cells = [*cells, ", ".join(entry.words)] if has_words else cells
        table.add_row(Text(entry.label), *map(Text, cells))
    return table


def _write(output: Path, entries: list[LabelEntry]) -> None:
    from deplda.data.atomic import write_whole
    from deplda.data.readers.tables import header_line, row_line
    from deplda.models.label_table import LabelEntry

    suffix = output.suffix.lower()
    delimiter = "," if suffix == ".csv" else "\t"
    with write_whole(output) as file:
        if suffix != ".jsonl":
            file.write(header_line(LabelEntry._fields, delimiter))
        for entry in entries:
            if suffix == ".jsonl":
                file.write(as_line(_to_dict(entry)).encode() + b"\n")
            else:
                file.write(row_line((*entry[:-1], " ".join(entry.words)), delimiter))


# A label ------------------------------------------------------------------------------------------


def _show_label(model: Any, name: str, limit: int | None, as_json: bool) -> None:
    details = _label_details(model, name, limit or _OF_A_LABEL)
    if as_json:
        show_json(details)
        return
    from rich.table import Table
    from rich.text import Text

    by_name = "" if details["documents"] else ": known by name alone"
    show(f"{details['label']} ({counted(details['documents'], 'training document')}{by_name})")
    columns = {
        "words": [f"{x['word']} {x['probability']:.1%}" for x in details["words"]],
        "in its documents": [f"{x['label']} {x['share']:.0%}" for x in details["together"]],
        "in its topics": [f"{x['label']} {x['probability']:.0%}" for x in details["in_topics"]],
    }
    columns = {title: cells for title, cells in columns.items() if cells}
    if columns:
        table = Table(*columns, show_edge=False)
        for cells in zip_longest(*columns.values(), fillvalue=""):
            table.add_row(*map(Text, cells))
        show(table)
    thesaurus = details["thesaurus"] or {}
    for relation, terms in thesaurus.items():
        if terms:
            names = (x["label"] + ("" if x["known"] else " *") for x in terms)
            show(f"{relation}: {', '.join(names)}")
    if any(not x["known"] for terms in thesaurus.values() for x in terms):
        show("* not a label of the model")


def _label_details(model: Any, name: str, n: int) -> dict[str, Any]:
    """Return a label's words and related labels, from the model and from its thesaurus."""
    from scipy.sparse import csr_array

    from deplda.models.neighbours import beside, number_of

    number = number_of(model, name)
    names, label_sets = model.shown_labels_, csr_array(model.label_sets_)
    label, vocabulary = model.classes_.tolist()[number], model.vocabulary_
    documents = label_sets[:, [number]].nonzero()[0]
    words = model.top_words(label, n) if can(model, "explain") else []
    in_topics = model.similar_labels(label, n, by="topics") if _has_topics(model) else []
    thesaurus = None
    if vocabulary is not None and label in vocabulary:
        known = set(model.classes_.tolist())
        thesaurus = {
            relation: [model.told_label(uri) | {"known": uri in known} for uri in uris]
            for relation, uris in vocabulary.relatives(label)._asdict().items()
        }
    return model.told_label(label) | {
        "label": names[number],
        "documents": len(documents),
        "words": [{"word": word.name, "probability": word.weight} for word in words],
        "together": [
            {"label": names[other.number], "documents": other.documents, "share": other.share}
            for other in beside(label_sets, documents, number, n)
        ],
        "in_topics": [{"label": str(x.name), "probability": x.weight} for x in in_topics],
        "thesaurus": thesaurus,
    }


# Topics -------------------------------------------------------------------------------------------


def _show_topics(model: Any, topic_set: int, limit: int, as_json: bool) -> None:
    if not _has_topics(model):
        raise InputError(
            f"a {type(model).__name__} has no topics of labels; the hybrid and dependency models "
            "have them (deplda train --model hybrid)"
        )
    n_sets = len(model.topic_labels_)
    if topic_set >= n_sets:
        raise InputError(f"there is no set of topics {topic_set}; the last is {n_sets - 1}")
    topics = [topic for topic in model.topics(limit) if topic.set == topic_set]
    if as_json:
        show_json(
            [
                {
                    "topic": topic.number,
                    "labels": [{"label": x.name, "probability": x.weight} for x in topic.labels],
                }
                for topic in topics
            ]
        )
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("topic", "labels", show_edge=False)
    for topic in topics:
        labels = ", ".join(f"{label.name} {label.weight:.0%}" for label in topic.labels)
        table.add_row(str(topic.number), Text(labels))
    show(table)


def _has_topics(model: Any) -> bool:
    """Return whether the model has several topics of labels; Flat-LDA has none, Prior-LDA one."""
    return can(model, "explain") and any(len(one.base) > 1 for one in model.topic_labels_)
