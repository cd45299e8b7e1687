"""``deplda experiment``, ``report`` and ``demo``: comparing models, and showing what came out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deplda.cli.options import OneOf, device_option, jobs_option
from deplda.cli.output import as_json, check_output, force, note, show, show_json
from deplda.errors import InputError


@click.command()
@click.argument("name", metavar="PRESET|FILE|FOLDER")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for results; a second run continues the first.",
)
@click.option(
    "--budget",
    type=OneOf(["quick", "standard", "paper"]),
    default="standard",
    help="How many chains and samples the topic models use.",
)
@click.option("--splits", help="Run only these splits, such as 0,1.")
@click.option("--models", help="Run only these models, such as Flat-LDA,Prior-LDA.")
@device_option
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of data sets; by default they are downloaded, and paths are relative to FILE.",
)
@jobs_option
@as_json
def experiment(
    name: str,
    output: Path,
    budget: Any,
    splits: str | None,
    models: str | None,
    device: str,
    data_dir: Path | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Compare models on the splits of a data set, and store all results.

    FILE is a TOML file of an experiment; its data is the name of a data set or a path relative to
    the file. If FILE is a data set itself (a folder or its dataset.toml), all models run on it. To
    compare models on a file of documents use `deplda compare`.

    \b
    deplda experiment newsroom -o results --budget quick
    deplda experiment own.toml -o results
    deplda report results -o report.html
    """
    from deplda.data.datasets import is_known
    from deplda.experiments import read_experiment, run

    asked = read_experiment(name)
    if data_dir is None and not is_known(asked.data):
        data_dir = Path(name).absolute().parent
    results = run(
        asked,
        output,
        budget=budget,
        splits=numbers_in(splits),
        models=None if models is None else [name.strip() for name in models.split(",")],
        device=device,
        data_dir=data_dir,
        n_jobs=jobs,
        ended=say_fallback,
    )
    if as_json:
        show_json(
            [
                {"model": u.model, "split": u.split, "status": u.status, "error": u.error}
                for u in results.units
            ]
        )
    else:
        show(f"{len(results.done)} of {len(results.units)} units done: {output}")
    failed = [unit for unit in results.units if unit.status == "failed"]
    for unit in failed:
        note(f"{unit.model} on split {unit.split}: {unit.error}")
    if failed:
        raise InputError(f"{len(failed)} of {len(results.units)} units failed; run again to retry")


def say_fallback(unit: Any) -> None:
    """Say of a unit that asked for a GPU where there is one why it worked on the CPU."""
    machine = (unit.found or {}).get("machine", {})
    if machine.get("cpu_since"):
        note(f"{unit.model} on split {unit.split}: on the CPU, since {machine['cpu_since']}")


def numbers_in(text: str | None) -> list[int] | None:
    """Return the numbers of splits that an option names; None if it is not given."""
    if text is None:
        return None
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise click.UsageError(f"--splits is {text!r}; it must be numbers such as 0,1.")
    return [int(part) for part in parts]


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="HTML page.")
@click.option(
    "--markdown",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Markdown file: the summary and the paper's tables.",
)
@click.option(
    "--notes",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Text to put into the Markdown file.",
)
@click.option("--title", help="Title of the page and of the file; by default the name of the data.")
@force
def report(
    results: tuple[Path, ...],
    output: Path | None,
    markdown: Path | None,
    notes: Path | None,
    title: str | None,
    force: bool,
) -> None:
    """Show the results of experiments: a table here, a page, a Markdown file."""
    for path in (output, markdown):
        if path is not None:
            check_output(path, force)
    if notes is not None and markdown is None:
        raise click.UsageError("--notes needs --markdown, the file they go to.")
    from deplda.experiments.report import leaderboard, write_markdown, write_report

    if output is not None:
        write_report(results, output, title=title)
    if markdown is not None:
        write_markdown(results, markdown, notes=notes, title=title)
    show(leaderboard(results))


@click.command()
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("deplda-demo"),
    help="Folder for the results.",
)
@click.option(
    "--data",
    default="newsroom",
    help="A data set of `deplda datasets list`: newsroom is generated; debtags is real, and "
    "made from apt's lists on Debian.",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of data sets; by default they are downloaded.",
)
def demo(output: Path, data: str, data_dir: Path | None) -> None:
    """Run a demonstration: seven models on a data set, compared and explained.

    From a large data set only some documents are used, so that it takes a few minutes at most.

    \b
    deplda demo
    deplda demo --data debtags -o debtags-demo
    """
    from deplda.cli.documents import fetched
    from deplda.data import datasets
    from deplda.experiments.report import demo

    if not datasets.is_here(data, data_dir):
        fetched(data, data_dir)
    demo(output, data=data, data_dir=data_dir)
