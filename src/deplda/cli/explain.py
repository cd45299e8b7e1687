"""``deplda explain``, ``label``, ``words``, ``topics``: what a model knows, and why."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.beside import Beside, asked_by
from deplda.cli.documents import Reading, as_path, format_of, is_readable, reading_options
from deplda.cli.output import as_json, check_output, force, note, saved_model, show, show_json
from deplda.cli.thesaurus import told_in, told_language_option
from deplda.data.files import StandardInput
from deplda.data.wording import counted
from deplda.errors import InputError, ReadError
from deplda.models.registry import can, verbs_that_can

if TYPE_CHECKING:
    from deplda.data.readers import Fields, Row

_model = click.argument("model", type=click.Path(path_type=Path))
_FILE_NAME = re.compile(r"\S*(?:\.[A-Za-z][A-Za-z0-9]{0,7}|[/\\]\S*)")
"""What is taken for the name of a file though there is none: it has an ending, or a folder."""


@click.command()
@_model
@click.argument("document", required=False, type=click.Path(allow_dash=True))
@click.option(
    "--limit", "-k", type=click.IntRange(1), default=5, help="Number of labels to explain."
)
@click.option("--words", "-n", type=click.IntRange(1), default=8, help="Number of words per label.")
@click.option(
    "--pick", metavar="ID", help="Which document of the file to explain; the first by default."
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the explanation as an HTML page.",
)
@told_language_option
@reading_options
@force
@as_json
def explain(
    model: Path,
    document: str | None,
    limit: int,
    words: int,
    pick: str | None,
    html: Path | None,
    label_language: str | None,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """Explain why labels are suggested for one document.

    DOCUMENT is a file, if there is one of that name, or else a text; - is standard input, which is
    also the default. If a file has several documents, --pick selects one; the default is the first.

    \b
    deplda explain model 'stocks fell on fears of recession'
    deplda explain model articles.jsonl --pick a17 --html a17.html
    """
    if html is not None:
        check_output(html, force)
    classifier, _ = asked_by(_topic_model(model, "explain"), Beside({}, None))
    told_in(classifier, label_language)
    explanation = _explained(
        classifier, *_row(document, pick, reading, classifier.fields_), k=limit, n_words=words
    )
    if html is not None:
        from deplda.data.atomic import write_whole

        with write_whole(html) as file:
            file.write(explanation.to_html().encode())
    if as_json:
        show_json(explanation.to_dict())
    else:
        show(explanation)


def _explained(model: Any, row: Row, fields: Fields, **how: Any) -> Any:
    """Return the explanation of a document read as for predictions, with its text if it is one."""
    from deplda.data.readers import CorpusBuilder, counts_in, plain_row
    from deplda.data.text import CountsOnly

    plain = plain_row(row, fields)
    counter, builder = model.counter_ or CountsOnly(), CorpusBuilder()
    builder.add(counts_in(row, fields, counter.analyzer().counts), ())
    found = model.explain(builder.corpus(), **how)
    if "counts" in plain or "tokens" in plain:
        return found
    return found.located(plain["text"], counter)


def _row(
    given: str | None, pick: str | None, reading: Reading, remembered: Fields | None
) -> tuple[Row, Fields]:
    """Return the document that is meant, and the fields it is to be read by."""
    from deplda.data.readers import Fields, fields_in, id_in, read_rows, read_shards, rows_of

    path = as_path("-" if given is None else given)
    if (given is None and sys.stdin.isatty()) or (given is not None and not given.strip()):
        raise click.UsageError("Give a text, a file, or a document on standard input.")
    if os.path.isdir(path) and not is_readable(path, reading):
        raise ReadError(path, None, "this is a folder; name one of its files")
    if not isinstance(path, StandardInput) and not os.path.exists(path):  # a text may be long
        if _FILE_NAME.fullmatch(str(given)):
            problem = (
                "there is no such file; if this is a text to explain, give it on standard input"
            )
            raise ReadError(path, None, problem)
        return {"text": given}, Fields()
    fields = reading.fields(remembered, labelled=False)
    format = format_of(path, reading, fields)
    if format == "lines" and isinstance(path, StandardInput):
        format = "text"  # all of it is one document
    rows: Any
    if format in ("svmlight", "mat"):
        fields = Fields()
        rows = (row for shard in read_shards(path, 1000, format) for row in rows_of(shard))
    else:
        fields = fields_in(format, fields)
        rows = (row for _, row in read_rows(path, format, fields, *reading.written))
    for number, row in enumerate(rows):
        id = id_in(row, fields)
        name = str(number) if id is None else str(id)
        if pick is None or name == pick:
            if not isinstance(path, StandardInput):
                _note_file(path, name, is_first=pick is None and next(rows, None) is not None)
            return row, fields
    problem = "there is no document in it" if pick is None else f"it has no document {pick!r}"
    raise ReadError(path, None, problem)


def _note_file(path: Path, id: str, *, is_first: bool) -> None:
    """Say that a file is explained and not its name, and which document if it has others."""
    which = f", its first document, {id!r} (--pick ID takes another)" if is_first else ""
    note(f"explained: the file {path}{which}")


@click.command()
@_model
@click.argument("label")
@click.option("--limit", "-k", type=click.IntRange(1), default=20, help="Number of words to show.")
@as_json
def words(model: Path, label: str, limit: int, as_json: bool) -> None:
    """Show the likeliest words of LABEL.

    \b
    deplda words model 'VIDEO GAMES'
    """
    classifier = _topic_model(model, "words")
    found = classifier.top_words(_wanted(classifier, label), limit)
    if as_json:
        show_json([{"word": word.name, "probability": word.weight} for word in found])
        return
    if not found:
        note(f"no training document has {label!r}: it is known by name alone, and has no words")
        return
    from rich.table import Table

    table = Table("word", show_edge=False)
    table.add_column("probability", justify="right")
    for word in found:
        table.add_row(word.name, f"{word.weight:.4f}")
    show(table)


def _wanted(classifier: Any, label: str) -> Any:
    """Return the label that is meant by its name or address, or what was given."""
    named = zip(classifier.classes_, classifier.shown_labels_, strict=True)
    return next((each for each, name in named if label in (str(each), name)), label)


@click.command()
@_model
@click.argument("label")
@click.option(
    "--limit", "-k", type=click.IntRange(1), default=8, help="Number of labels from the model."
)
@told_language_option
@as_json
def label(model: Path, label: str, limit: int, label_language: str | None, as_json: bool) -> None:
    """Show labels related to LABEL, by the thesaurus and by the model.

    The thesaurus has broader, narrower and related terms. The model has labels that occur together
    in its topics, and labels that occur together in training documents.

    \b
    deplda label model 'VIDEO GAMES'
    """
    found = _next_to(told_in(saved_model(model), label_language), label, limit)
    if as_json:
        show_json(found)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("by the thesaurus", "by the model", show_edge=False)
    by_name = "" if found["documents"] else ": known by name alone"
    documents = counted(found["documents"], "training document")
    table.title = Text(f"{found['label']} ({documents}{by_name})")
    table.add_row(Text(_by_thesaurus(found["thesaurus"])), Text(_by_model(found["model"])))
    show(table)
    if any(not each["known"] for own in (found["thesaurus"] or {}).values() for each in own):
        show("* not a label of the model")


def _by_thesaurus(found: dict[str, Any] | None) -> str:
    if found is None:
        return "no term of a thesaurus"
    return "\n\n".join(
        _headed(title, [each["label"] + ("" if each["known"] else " *") for each in terms])
        for title, terms in found.items()
    )


def _by_model(found: dict[str, Any]) -> str:
    goes = [f"{each['label']} {each['probability']:.0%}" for each in found["goes_with"]]
    stands = [f"{each['label']} {each['share']:.0%}" for each in found["stands_beside"]]
    return "\n\n".join(
        (
            _headed("goes with, likely in its topics", goes),
            _headed("stands beside, in share of its documents", stands),
        )
    )


def _headed(title: str, names: list[str]) -> str:
    """Return names under their title, a line each."""
    return "\n".join([f"{title}:", *(f"  {name}" for name in names or ["none"])])


def _next_to(model: Any, label: str, n: int) -> dict[str, Any]:
    """Return the labels next to one: by the thesaurus, if it is a term of one, and by the model."""
    from scipy.sparse import csr_array

    from deplda.models.neighbours import beside, number_of

    number = number_of(model, _wanted(model, label))
    shown, label_sets = model.shown_labels_, csr_array(model.label_sets_)
    own, concepts = model.classes_.tolist()[number], model.vocabulary_
    documents = label_sets[:, [number]].nonzero()[0]
    goes = model.similar_labels(own, n, by="topics") if _has_topics(model) else []
    thesaurus = None
    if concepts is not None and own in concepts:
        known = set(model.classes_.tolist())
        thesaurus = {
            name: [model.told_label(uri) | {"known": uri in known} for uri in uris]
            for name, uris in concepts.relatives(own)._asdict().items()
        }
    return model.told_label(own) | {
        "label": shown[number],
        "documents": len(documents),
        "thesaurus": thesaurus,
        "model": {
            "goes_with": [{"label": str(x.name), "probability": x.weight} for x in goes],
            "stands_beside": [
                {"label": shown[each.number], "documents": each.documents, "share": each.share}
                for each in beside(label_sets, documents, number, n)
            ],
        },
    }


@click.command()
@_model
@click.option(
    "--limit", "-k", type=click.IntRange(1), default=8, help="Number of labels per topic."
)
@click.option("--topic-set", type=click.IntRange(0), default=0, help="Which set of topics to show.")
@as_json
def topics(model: Path, limit: int, topic_set: int, as_json: bool) -> None:
    """Show topics: labels that occur together, with their probabilities.

    A Dependency-LDA model has several independent sets of topics; one is shown.
    """
    classifier = saved_model(model)
    if not _has_topics(classifier):
        raise InputError(
            f"{model} is a {type(classifier).__name__}, which has no topics of labels that go "
            "together; the hybrid and dependency models have them (deplda train --model hybrid)"
        )
    n_sets = len(classifier.topic_labels_)
    if topic_set >= n_sets:
        told = f"the last of its {n_sets} is {n_sets - 1}" if n_sets > 1 else "its only one is 0"
        raise InputError(f"there is no set of topics {topic_set}; {told}")
    found = [topic for topic in classifier.topics(limit) if topic.set == topic_set]
    if as_json:
        show_json(
            [
                {
                    "topic": topic.number,
                    "labels": [{"label": x.name, "probability": x.weight} for x in topic.labels],
                }
                for topic in found
            ]
        )
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("topic", "labels", show_edge=False)
    for topic in found:
        labels = ", ".join(f"{label.name} {label.weight:.0%}" for label in topic.labels)
        table.add_row(str(topic.number), Text(labels))
    show(table)


def _has_topics(model: Any) -> bool:
    """Return whether labels go together in topics; Flat-LDA has none, and Prior-LDA one."""
    return can(model, "explain") and any(len(each.base) > 1 for each in model.topic_labels_)


def _topic_model(path: Path, verb: str) -> Any:
    """Return a saved model that can explain itself."""
    model = saved_model(path)
    if not can(model, "explain"):
        raise InputError(
            f"{path} is a {type(model).__name__}, which knows no words of labels; {verb} is for "
            f"{verbs_that_can('explain')} models (deplda train --model hybrid)"
        )
    return model
