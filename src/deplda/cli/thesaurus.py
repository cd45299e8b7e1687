"""``deplda vocabulary``: what a thesaurus has, whether it fits a corpus, and files for Annif."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, corpus_argument, load_corpus, reading_options
from deplda.cli.output import as_json, check_output, force, note, show, show_json
from deplda.data.languages import NAMES, UNDETERMINED
from deplda.data.wording import counted
from deplda.errors import InputError

if TYPE_CHECKING:
    from deplda.data.corpus import Corpus
    from deplda.data.vocabulary import Matched, Vocabulary

_SHOWN, _MOST_LANGUAGES = 10, 50

_file = click.argument("vocabulary", type=click.Path(exists=True, path_type=Path))
language_option = click.option(
    "--label-language",
    help="Language of the names to show, and of those in a .tsv, which does not name it.",
)


told_language_option = click.option(
    "--label-language",
    help="Language of the label names; by default the one set in training, or that of the texts.",
)


def vocabulary_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options that say what its labels are."""
    for option in (
        click.option(
            "--replace-deprecated",
            is_flag=True,
            help="Replace deprecated concepts by their successors.",
        ),
        language_option,
        click.option(
            "--vocabulary",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Thesaurus of the labels: Annif's .tsv or .csv, or SKOS as .ttl or .rdf.",
        ),
    ):
        verb = option(verb)
    return verb


@click.group(invoke_without_command=True)
@click.pass_context
def vocabulary(ctx: click.Context) -> None:
    """Inspect a vocabulary, check it against documents, export it."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@vocabulary.command()
@_file
@language_option
@as_json
def info(vocabulary: Path, label_language: str | None, as_json: bool) -> None:
    """Show what VOCABULARY contains: concepts, languages, synonyms, hierarchy.

    VOCABULARY is a file (.tsv, .csv, .ttl, .rdf; plain or gzip) or a saved model that has one.

    \b
    deplda vocabulary info stw-skos.ttl.gz
    """
    found = open_vocabulary(vocabulary, label_language)
    told: dict[str, Any] = {
        "concepts": len(found),
        "deprecated": sum(concept.deprecated for concept in found),
        "languages": {code or "not said": n for code, n in found.languages.items()},
        "synonyms": sum(len(own) for c in found for own in c.synonyms.values()),
        "notations": sum(concept.notation is not None for concept in found),
        "with_broader": sum(bool(concept.broader) for concept in found),
        "with_note": sum(bool(concept.notes) for concept in found),
    }
    if as_json:
        show_json(told)
        return
    from rich.table import Table

    table = Table("what", show_edge=False)
    table.add_column("value", justify="right")
    for name, value in told.items():
        if name == "languages":
            for code, n in islice(value.items(), _MOST_LANGUAGES):
                table.add_row(f"names, {code}", f"{n:,}")
            if len(value) > _MOST_LANGUAGES:
                table.add_row("more languages", f"{len(value) - _MOST_LANGUAGES:,}")
        else:
            table.add_row(name.replace("_", " "), f"{value:,}")
    show(table)


@vocabulary.command()
@_file
@corpus_argument
@language_option
@reading_options
@as_json
def check(
    vocabulary: Path, corpus: str, label_language: str | None, reading: Reading, as_json: bool
) -> None:
    """List the labels of CORPUS that are not in VOCABULARY or are deprecated.

    Labels are matched by URI (with or without angle brackets), notation, name or synonym.

    \b
    deplda vocabulary check yso-fi.tsv.gz articles.jsonl
    """
    from deplda.data.text import WordCounter

    found = open_vocabulary(vocabulary, label_language)
    documents = load_corpus(corpus, reading, WordCounter(language=None)).corpus
    matched = found.match(documents.label_names)
    if as_json:
        show_json(
            {
                "labels": documents.n_labels,
                "matched": len(matched.uris),
                "unknown": matched.unknown,
                "ambiguous": {label: list(uris) for label, uris in matched.ambiguous.items()},
                "deprecated": matched.deprecated,
            }
        )
        return
    show(f"{len(matched.uris):,} of {counted(documents.n_labels, 'label')} in {vocabulary}")
    for line in _said(matched, found, label_language, None):
        show(line)


@vocabulary.command()
@_file
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@language_option
@force
def export(vocabulary: Path, output: Path, label_language: str | None, force: bool) -> None:
    """Write VOCABULARY to OUTPUT: .csv or .tsv for Annif's load-vocab, or .ttl (SKOS).

    \b
    deplda vocabulary export model yso.csv
    """
    from deplda.data.readers.vocabularies import write_vocabulary

    check_output(output, force)
    found = open_vocabulary(vocabulary, label_language)
    write_vocabulary(found, output, label_language)
    is_whole = output.suffix == ".ttl"
    n_left_out = 0 if is_whole else sum(concept.deprecated for concept in found)
    left_out = f", {counted(n_left_out, 'deprecated one')} left out" if n_left_out else ""
    show(f"{counted(len(found) - n_left_out, 'concept')}{left_out}: {output}")


def open_vocabulary(path: Path, language: str | None) -> Vocabulary:
    """Return the vocabulary of a file, or of a saved model."""
    from deplda.cli.output import saved_model
    from deplda.data.readers.vocabularies import read_vocabulary
    from deplda.errors import ReadError

    if path.is_dir():
        found: Vocabulary | None = saved_model(path).vocabulary_
        if found is None:
            raise ReadError(path, None, "this model has no vocabulary; train it with --vocabulary")
    else:
        found = read_vocabulary(path, language=language)
    _check_language(found, language)
    return found


def told_in(model: Any, language: str | None) -> Any:
    """Return a model that tells its labels in this language, or in its own where none is asked."""
    if language is not None:
        if model.vocabulary_ is None:
            raise InputError(
                "--label-language is for models with a vocabulary, and this one has none; train it "
                "with --vocabulary"
            )
        language = language.lower()
        _check_language(model.vocabulary_, language)
        if not model.label_languages_:
            raise InputError(
                f"--label-language is {language!r}, but the language of the vocabulary's names is "
                "not known; train with --label-language to say it"
            )
        model.label_language_ = language
    return model


def _check_language(vocabulary: Vocabulary, language: str | None) -> None:
    """Raise if the vocabulary has no name in this language, but in others."""
    known = [code for code in vocabulary.languages if code]
    if language is not None and known and language not in known:
        raise InputError(
            f"--label-language is {language!r}, but the vocabulary has names in "
            f"{', '.join(known)}; a CSV (uri,label_fi,label_sv,…) or SKOS may have several"
        )


def in_vocabulary(
    corpus: Corpus, vocabulary: Vocabulary, language: str | None, replace_deprecated: bool = False
) -> Corpus:
    """Return the corpus with concepts as labels; say what could not be matched."""
    from deplda.data.vocabulary import with_concepts

    found, matched = with_concepts(corpus, vocabulary, replace_deprecated=replace_deprecated)
    _tell(corpus.label_names, matched, vocabulary, language, replace_deprecated)
    return found


def rows_in_vocabulary(
    rows: Iterable[dict[str, Any]],
    vocabulary: Vocabulary,
    language: str | None,
    replace_deprecated: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield documents with concepts as labels; at the end say what could not be matched."""
    known: dict[str, str] = {}
    for row in rows:
        if new := [label for label in row["labels"] if label not in known]:
            uris = vocabulary.match(new).taken(replace_deprecated=replace_deprecated)
            known |= {label: uris.get(label, label) for label in new}
        yield row | {"labels": list(dict.fromkeys(known[label] for label in row["labels"]))}
    _tell(tuple(known), vocabulary.match(known), vocabulary, language, replace_deprecated)


def _tell(
    labels: Sequence[str],
    matched: Matched,
    vocabulary: Vocabulary,
    language: str | None,
    replace_deprecated: bool,
) -> None:
    """Say what could not be matched; raise if that is all."""
    if labels and not matched.uris:
        label, uri = labels[0], next(iter(vocabulary)).uri
        raise InputError(
            f"none of {counted(len(labels), 'label')} is in the vocabulary: they are such as "
            f"{label!r}, its concepts such as {uri!r}; give the vocabulary that they are of"
        )
    for line in _said(matched, vocabulary, language, _SHOWN, replace_deprecated):
        note(line)


def as_the_model_has_them(corpus: Corpus, model: Any) -> Corpus:
    """Return the corpus with the labels of a model: what replaces a deprecated one, if it has not.

    Labels that cannot be matched are listed.
    """
    from deplda.data.vocabulary import with_concepts

    learned = set(model.classes_[: model.n_learned_labels_].tolist())
    found, matched = with_concepts(
        corpus, model.vocabulary_, replace_deprecated=True, except_for=learned
    )
    told = matched._replace(deprecated={})
    for line in _said(told, model.vocabulary_, model.name_language_, _SHOWN):
        note(line)
    return found


def label_languages_line(model: Any) -> str | None:
    """Return which language label names are displayed in, and which others are available."""
    displayed, counter = model.name_language_, model.counter_
    if not displayed:
        return None
    texts = None if counter is None or model.label_language_ else counter.language_code_
    others = ", ".join(code for code in model.label_languages_ if code != displayed)
    is_missing = texts not in (None, UNDETERMINED, displayed)
    missing = f", as there are none in {_language(texts)}" if is_missing else ""
    also = f"; the vocabulary also has {others}: --label-language" if others else "."
    return f"Label names in {_language(displayed)}{missing}{also}"


def _language(code: str | None) -> str:
    return f"{NAMES[code].capitalize()} ({code})" if code in NAMES else str(code)


def note_languages(vocabulary: Vocabulary, counter: Any) -> None:
    """Say which names are looked for, where there are none in the language of the texts."""
    code = None if counter is None else counter.language_code_
    known = [each for each in vocabulary.languages if each]
    if code is not None and known and code not in known and "" not in vocabulary.languages:
        note(
            f"the vocabulary has no names in the language of the texts, {code}: those in "
            f"{', '.join(known)} are looked for"
        )


def _said(
    matched: Matched,
    vocabulary: Vocabulary,
    language: str | None,
    most: int | None,
    is_replaced: bool = False,
) -> list[str]:
    """Return what is to be said of labels that are not simply in a vocabulary."""

    def named(uri: str) -> str:
        return f"{vocabulary[uri].name(language)} <{uri}>"

    def given(label: str) -> str:
        uri = matched.uris[label]
        return named(uri) if label == uri else label

    ambiguous = [f"{label} ({', '.join(uris)})" for label, uris in matched.ambiguous.items()]
    replaced = [
        f"{given(label)} → {named(uri)}" for label, uri in matched.deprecated.items() if uri
    ]
    left = [given(label) for label, uri in matched.deprecated.items() if not uri]
    how = "replaced" if is_replaced else "kept; --replace-deprecated takes what replaces them"
    told = (
        ("labels that are not in the vocabulary, kept as they are", matched.unknown),
        ("labels that are names of several concepts, kept as they are", ambiguous),
        (f"labels that are deprecated, {how}", replaced),
        ("labels that are deprecated and replaced by nothing, kept as they are", left),
    )
    return [
        f"{what} ({len(labels):,}): {', '.join(labels[:most])}"
        + (", …" if most is not None and len(labels) > most else "")
        for what, labels in told
        if labels
    ]
