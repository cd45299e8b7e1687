"""``deplda train --scratch``: a folder of files that do not fit in memory together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, as_path, is_readable
from deplda.cli.output import note
from deplda.errors import GuessedSeparatorWarning, InputError, warn
from deplda.models.registry import can, verbs_that_can

if TYPE_CHECKING:
    from deplda.data.fields import Fields
    from deplda.data.text import WordCounter


def check_place(corpus: str, reading: Reading, scratch: Path | None, max_words: int | None) -> None:
    """Raise if a corpus is a file with --scratch, or a folder of files without it."""
    from deplda.data.datasets.described import is_data_set

    if scratch is not None:
        if corpus == "-" or Path(corpus).is_file():
            raise click.UsageError(
                f"--scratch is for a folder of files, and {corpus} is none: leave --scratch out, "
                "or give the folder."
            )
        return
    if max_words is not None:
        raise click.UsageError(
            "--max-words goes with --scratch; of documents in memory all words are counted."
        )
    place = Path(corpus)
    if place.is_dir() and not is_data_set(place) and not is_readable(as_path(corpus), reading):
        raise InputError(
            f"{corpus} is a folder and no data set; add --scratch WORK, a working folder, to train "
            "on the files of documents in it (.jsonl, .csv, …), or name one file; of full texts "
            "give the folder in which the .txt files lie, with --format annif"
        )


def learn_shards(
    model: Any, corpus: Path, scratch: Path, reading: Reading, counter: WordCounter,
    checkpoint: Path | None, holdout: float | None,
) -> None:  # fmt: skip
    """Let the model learn from a folder of files, one of which is in memory at a time."""
    if not can(model, "shards"):
        raise InputError(
            f"--scratch is for {verbs_that_can('shards')}; {type(model).__name__} learns from "
            "documents in memory"
        )
    if checkpoint is not None or holdout is not None:
        raise click.UsageError(
            "--scratch goes without --checkpoint (a run that was cut off goes on from it) and "
            "--holdout (test by `deplda evaluate`)."
        )
    from deplda.training.shards import settled_words

    is_detected = counter.language == "auto"
    fields: Fields | None = _with_separator(corpus, reading.fields())
    counter, fields = settled_words(corpus, fields, counter)
    if counter.choice_ is not None:
        note(str(counter.choice_))
    try:
        model.fit_shards(corpus, scratch, fields=fields, counter=counter)
    except KeyboardInterrupt as error:
        message = "interrupted; run the same command again to continue"
        raise KeyboardInterrupt(message) from error
    if is_detected and model.counter_ is not None:
        from deplda.data.languages import NAMES

        code = model.counter_.language_code_
        note(f"language: {NAMES[code]} ({code}), by texts of its files (--language sets another)")
    if model.n_held_out and not can(model, "mix"):  # a hybrid holds some out
        note(
            f"{type(model).__name__} holds out no documents of shards, so there are no "
            "probabilities, and predict gives as many labels as the median training document has; "
            "train the hybrid, or calibrate(X, y) it in Python with labelled documents that it has "
            "not learned from, and save it"
        )


def _with_separator(folder: Path, fields: Fields) -> Fields:
    """Return the fields with what separates labels, and say so; warn of files that tell another."""
    from deplda.data.readers.shard_files import separators_in

    told = separators_in(folder, fields)
    if not told:
        return fields
    first, *others = told
    note(told[first].note)
    differing = [name for name in others if told[name].text != told[first].text]
    if differing:
        other = differing[0]
        more = f" (and {len(differing) - 1:,} more)" if len(differing) > 1 else ""
        warn(
            f"labels in {other}{more} look separated by {told[other].text!r}, not by "
            f"{told[first].text!r} as in {first}, and {told[first].text!r} is used for all files; "
            "write them alike, or set --separator",
            GuessedSeparatorWarning,
        )
    return replace(fields, separator=told[first].text)
