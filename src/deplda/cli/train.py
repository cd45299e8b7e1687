"""``deplda train``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import (
    Loaded,
    Reading,
    Words,
    corpus_argument,
    load_corpus,
    part_of,
    reading_options,
    word_options,
)
from deplda.cli.external import ExternalArrays, ExternalFiles, external_options
from deplda.cli.measuring import Measured, measure
from deplda.cli.options import OneOf, device_option, engine_option, jobs_option, split_option
from deplda.cli.output import (
    as_json,
    asked_back,
    check_output,
    force,
    note,
    show,
    show_json,
    waiting,
)
from deplda.cli.scratch import check_place, learn_shards
from deplda.cli.thesaurus import (
    in_vocabulary,
    label_languages_line,
    note_languages,
    open_vocabulary,
    vocabulary_options,
)
from deplda.cli.titles import check_source, titles_of
from deplda.data.wording import counted
from deplda.errors import InputError
from deplda.models.registry import MODELS, WHICH_MODEL, can, model_class, verbs_that_can

if TYPE_CHECKING:
    from deplda.data.corpus import Corpus
    from deplda.data.text import WordCounter

_OWN_OPTIONS = {
    "random_state": "--seed", "n_jobs": "--jobs", "engine": "--engine", "device": "--device",
    "verbose": "nothing",
}  # fmt: skip


@click.command()
@corpus_argument
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to save the model in.",
)
@click.option(
    "--model",
    type=OneOf([entry.verb for entry in MODELS.values()]),
    help=f"{WHICH_MODEL} The default is hybrid.",
)
@click.option(
    "--n-topics", type=click.IntRange(1), help="Number of topics over labels (hybrid, dependency)."
)
@click.option(
    "--paper",
    type=OneOf(["eurlex", "yahoo", "rcv1", "nyt"]),
    help="Use the paper's settings for this data set.",
)
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set any parameter of the estimator; can be repeated.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    help="Random seed; the same seed gives the same bits.",
)
@jobs_option
@engine_option
@device_option
@click.option(
    "--checkpoint",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for checkpoints of the running chains.",
)
@click.option("--resume", is_flag=True, help="Continue from the checkpoint.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Hold out this share of the documents, and test the model on them.",
)
@click.option(
    "--scratch",
    type=click.Path(file_okay=False, path_type=Path),
    help="CORPUS is a folder of files that do not fit in memory together; working folder for them, "
    "from which an interrupted run continues.",
)
@click.option(
    "--max-words",
    type=click.IntRange(1),
    show_default="1,000,000",
    help="With --scratch: count at most this many distinct words, some 200 bytes each; beyond, "
    "rare ones may be left out.",
)
@split_option
@click.option(
    "--keep-examples",
    is_flag=True,
    help="Store the title, or the first words, of each training document in the model, to show"
    " similar ones in explanations. Anyone who has the model can read them: not for "
    "private texts.",
)
@external_options
@reading_options
@word_options
@vocabulary_options
@force
@as_json
def train(
    corpus: str,
    output: Path,
    checkpoint: Path | None,
    resume: bool,
    holdout: float | None,
    scratch: Path | None,
    max_words: int | None,
    split: str,
    keep_examples: bool,
    external: ExternalFiles,
    reading: Reading,
    words: Words,
    vocabulary: Path | None,
    label_language: str | None,
    replace_deprecated: bool,
    force: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Train a model on CORPUS and save it.

    CORPUS is a file (JSONL, CSV, TSV, Parquet, svmlight, Annif's; plain or gzip), a folder
    made by `deplda datasets convert` or of Annif's full texts, the name of a data set
    (`deplda datasets list`), or - for standard input. If it was trained on text, the model accepts
    texts from then on.

    \b
    deplda train articles.jsonl -o model --labels-field subjects
    deplda train newsroom -o model --set n_topic_sweeps=200
    deplda train shards -o model --scratch scratch --engine tcp://10.0.0.1:8786
    """
    from deplda.models import card as store

    check_output(output, force)
    store.check_target(output)
    if keep_examples:
        check_source(corpus)
    _check_checkpoint(checkpoint, resume)
    check_place(corpus, reading, scratch, max_words)
    if asked["model"] is None:
        asked["model"] = _usual_model(asked, checkpoint)
    model = _make_model(**asked)
    if external and (scratch is not None or not can(model, "external")):
        raise click.UsageError(
            f"--scores and --embeddings are for {verbs_that_can('external')}, not for --scratch."
        )
    concepts = None if vocabulary is None else open_vocabulary(vocabulary, label_language)
    arrays = external.read() if external else None
    begin = time.perf_counter()
    kept = None
    if scratch is not None:
        for option, is_given in (
            ("--vocabulary", concepts is not None), ("--keep-examples", keep_examples)
        ):  # fmt: skip
            if is_given:
                raise click.UsageError(f"{option} is for documents in memory, not for --scratch.")
        counter = words.counter(**{} if max_words is None else {"max_words": max_words})
        learn_shards(model, Path(corpus), scratch, reading, counter, checkpoint, holdout)
    else:
        how = {} if checkpoint is None else {"checkpoint": checkpoint, "resume": resume}
        named = None
        if concepts is not None:
            named = partial(
                in_vocabulary, vocabulary=concepts, language=label_language,
                replace_deprecated=replace_deprecated,
            )  # fmt: skip
        counter = words.counter()
        if concepts is not None and can(model, "names"):
            counter.set_params(names=concepts)
            how["vocabulary"] = concepts
        kept = _learn(model, corpus, reading, counter, words, split, holdout, asked["seed"],
                      how, named, arrays, keep_examples)  # fmt: skip
        model.vocabulary_, model.label_language_ = concepts, label_language
    found = None
    if kept is not None:
        with waiting(f"evaluating on {counted(len(kept), 'document')}"):
            found = measure(model, kept, arrays=arrays)
    # How it was run this time is nothing to remember.
    model.set_params(verbose=False, n_jobs=None)
    model.save(output, metrics=None if found is None else found.to_dict())
    summary = summary_of(output, model, found, round(time.perf_counter() - begin, 1))
    if as_json:
        show_json(summary)
        return
    if found is not None:
        show(str(found.headline))
    show(made("trained", summary))
    if line := label_languages_line(model):
        show(line)
    if summary["known_by_name"]:
        n_more = len(model.classes_) - summary["labels"]
        show(
            f"{summary['known_by_name']:,} of {counted(n_more, 'more label')} of the vocabulary "
            "can be suggested by their names."
        )
    elif len(model.classes_) > summary["labels"]:
        show(
            "Names of concepts are not used: held-out documents were labelled no better with them."
        )
    if arrays is not None:
        from deplda.models.external import in_words

        show(
            f"The model uses {in_words(model.external_)}, and requires them of every new document."
            if model.external_
            else "Scores and embeddings are not used: held-out documents were labelled no better "
            "with them, or not clearly so."
        )
    if model.examples_ is not None:
        show(
            f"Kept as examples: titles or first words of {len(model.examples_.titles):,} documents "
            f"({model.examples_.n_bytes / 1e6:,.1f} MB); whoever has the model can read them."
        )
    if model.held_out_:
        show(_quality(model.held_out_, summary["documents"]))
    if model.calibration_ is not None:
        show(_suggests_from(model.calibration_))
    show(f"Next: deplda predict {output} {'new.jsonl' if summary['takes_text'] else 'new.svm'}")


def _usual_model(asked: dict[str, Any], checkpoint: Path | None) -> str:
    """Return the model that is trained where none is named, and say so if it is not the usual."""
    for option, is_given in (
        ("--checkpoint", checkpoint is not None), ("--paper", asked["paper"] is not None)
    ):  # fmt: skip
        if is_given:
            note(f"{option} is for topic models: --model dependency is trained, not the hybrid")
            return "dependency"
    return "hybrid"


def _quality(held_out: dict[str, float], n_documents: int) -> str:
    """Return what a model reached on documents held out, as a sentence."""
    from deplda.models.quality import held_out_in_words

    return (
        f"On {held_out_in_words(held_out, n_documents)}: average precision "
        f"{held_out['average_precision']:.3f} by document; the first label is right for "
        f"{100 - held_out['one_error']:.0f} % of the documents."
    )


def _suggests_from(calibration: Any) -> str:
    """Return how likely a label must be to be suggested, and how many documents get none."""
    from deplda.models.reasons import percent, percent_of_documents

    return (
        f"Suggests labels from a probability of {percent(calibration.threshold)}; "
        f"{percent_of_documents(calibration.without_labels)} of the documents held out get none."
    )


def _learn(
    model: Any, corpus: str, reading: Reading, counter: WordCounter, words: Words, split: str,
    holdout: float | None, seed: int, how: dict[str, Any],
    named: Callable[[Corpus], Corpus] | None, arrays: ExternalArrays | None, keep_examples: bool,
) -> Corpus | None:  # fmt: skip
    """Let the model learn from a corpus; return what was kept for testing."""
    from deplda.data.splits import TrainingPart

    if "checkpoint" in how and not can(model, "checkpoint"):
        raise InputError(f"--checkpoint is for models with chains; {type(model).__name__} has none")
    training = TrainingPart(None if split == "none" else split, holdout, seed)
    loaded = load_corpus(corpus, reading, counter, training=training)
    titles = titles_of(corpus, reading, loaded) if keep_examples else {}
    if arrays is not None:
        arrays.number(loaded.corpus.ids)
    if named is not None:
        loaded = loaded._replace(corpus=named(loaded.corpus))
    learned, kept = _parts(loaded, split, holdout, seed)
    if can(model, "names") and len(learned) < len(loaded.corpus):
        # It suggests labels by their names: it must not know names from what it is tested with.
        learned = learned.keep_labels_met()
    learned, options = _with_kept_words(learned, loaded, words)
    fields = loaded.fields
    del loaded  # the words that are not kept take more memory than those that are
    if "vocabulary" in how:
        note_languages(how["vocabulary"], options.get("counter"))
    documents = learned if arrays is None else arrays.of_corpus(learned, learned.label_names)
    model.fit(documents, **options, **how)
    model.fields_ = fields
    if keep_examples:
        model.keep_examples(learned, [titles[id] for id in learned.ids])
    return kept


def summary_of(output: Path, model: Any, found: Measured | None, seconds: float) -> dict[str, Any]:
    """Return what is said of a model that was made."""
    return {
        "model": str(output),
        "class": type(model).__name__,
        "documents": model.label_sets_.shape[0],
        "words": model.n_learned_words_,
        "labels": model.n_learned_labels_,
        "known_by_name": model.n_known_by_name_,
        "takes_text": model.counter_ is not None,
        "seconds": seconds,
        "held_out": model.held_out_ or None,
        "metrics": None if found is None else found.to_dict(),
    }


def made(how: str, summary: dict[str, Any]) -> str:
    """Return what a model is of and how long it took, as a line."""
    sizes = (counted(summary[f"{thing}s"], thing) for thing in ("document", "word", "label"))
    return "{class} of {}, {} and {}, {how} in {seconds} s: {model}".format(
        *sizes, how=how, **summary
    )


def _check_checkpoint(checkpoint: Path | None, resume: bool) -> None:
    if resume and checkpoint is None:
        raise click.UsageError("--resume needs --checkpoint, the folder to go on from.")
    if checkpoint is not None and not resume and checkpoint.is_dir() and any(checkpoint.iterdir()):
        raise InputError(
            f"{checkpoint} holds a checkpoint already; --resume goes on from it, or name another"
        )


def _make_model(
    model: str,
    n_topics: int | None,
    paper: str | None,
    parameters: tuple[str, ...],
    seed: int,
    jobs: int | None,
    engine: str,
    device: str,
) -> Any:
    import inspect

    kind: Any = model_class(next(name for name in MODELS if MODELS[name].verb == model))
    known = set(inspect.signature(kind).parameters) - set(_OWN_OPTIONS)
    given: dict[str, Any] = {} if n_topics is None else {"n_topics": n_topics}
    for text in parameters:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--set is {text!r}; it must be NAME=VALUE.")
        given[name] = _value(value)
    for name in given:
        if name not in known:
            other = f"; use {_OWN_OPTIONS[name]}" if name in _OWN_OPTIONS else ""
            raise click.UsageError(
                f"{model} has no parameter {name!r}{other}; it has {', '.join(sorted(known))}."
                f"{asked_back(name, known)}"
            )
    given |= {
        "random_state": seed, "n_jobs": jobs, "engine": engine, "device": device,
        "verbose": sys.stderr.isatty(),
    }  # fmt: skip
    if paper is None:
        return kind(**given)
    if not can(kind, "paper"):
        raise click.UsageError(f"--paper is for {verbs_that_can('paper')}, not for {model}.")
    return kind.paper(paper, **given)


def _value(text: str) -> Any:
    """Return a number or a truth value where it is one, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _parts(
    loaded: Loaded, split: str, holdout: float | None, seed: int
) -> tuple[Corpus, Corpus | None]:
    """Return the documents to learn from, and those to test with."""
    from deplda.data.splits import random_split

    corpus = part_of(loaded, split, "train")
    if holdout is None:
        return corpus, None
    rows = random_split(corpus, holdout, seed=seed)
    if not len(rows.train) or not len(rows.test):
        raise InputError(
            f"--holdout {holdout} of {counted(len(corpus), 'document')} leaves "
            f"{len(rows.train):,} to learn from and {len(rows.test):,} to test with; both need one "
            "at least"
        )
    note(f"held out for testing: {len(rows.test):,} of {counted(len(corpus), 'document')}")
    return corpus[rows.train], corpus[rows.test]


def _with_kept_words(corpus: Corpus, loaded: Loaded, words: Words) -> tuple[Corpus, dict[str, Any]]:
    """Drop rare words of the training documents; return what `fit` needs to count them in texts."""
    from deplda.data.readers import kept_counted

    if loaded.counter is None:
        note("the corpus holds counts, no text: the model will take counts only")
        return corpus.keep_words(1 if words.min_count == "auto" else words.min_count), {}
    corpus, counter = kept_counted(corpus, loaded.counter, words.min_count)
    if not corpus.n_words:
        raise InputError(
            f"no word has {counted(counter.min_count_, 'token')} or more in "
            f"{counted(len(loaded.corpus), 'document')}; lower --min-count, or see whether "
            "--text-field and --token-pattern are right"
        )
    return corpus, {"counter": counter}
