"""``python -m paper``: run presets, download data sets, and write the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deplda.cli.options import device_option, jobs_option
from deplda.cli.output import check_output, force, note, show
from deplda.cli.root import Root
from deplda.errors import InputError
from paper.protocol import BUDGETS


@click.group(cls=Root)
@click.option("--debug", is_flag=True, help="Show the whole of an error.")
def main(debug: bool) -> None:
    """Reproduce the paper, from the root of the repository."""


_data_dir = click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of data sets; by default they are downloaded.",
)


@main.command()
@click.argument("preset", metavar="PRESET|FILE")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for results; a second run continues the first.",
)
@click.option(
    "--budget",
    type=click.Choice(list(BUDGETS)),
    default="standard",
    show_default=True,
    help="How many chains and samples the topic models use.",
)
@click.option("--splits", help="Run only these splits, such as 0,1.")
@click.option("--models", help="Run only these models, such as Flat-LDA,Prior-LDA.")
@device_option
@_data_dir
@jobs_option
def run(
    preset: str,
    output: Path,
    budget: Any,
    splits: str | None,
    models: str | None,
    device: str,
    data_dir: Path | None,
    jobs: int | None,
) -> None:
    """Compare the models of a preset on its data set.

    PRESET is the name of a file in paper/presets, FILE the path of such a file.
    """
    from paper.run import run_preset

    results = run_preset(
        preset,
        output,
        budget=budget,
        splits=None if splits is None else [int(number) for number in splits.split(",")],
        models=None if models is None else [name.strip() for name in models.split(",")],
        device=device,
        data_dir=data_dir,
        n_jobs=jobs,
    )
    show(f"{len(results.done)} of {len(results.units)} units done: {output}")
    for unit in results.failed:
        note(f"{unit.model} on split {unit.split}: {unit.error}")
    if results.failed:
        raise InputError(f"{len(results.failed)} units failed; run again to retry")


@main.command()
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
    help="Remarks to insert into the Markdown file.",
)
@click.option("--title", help="Title of the page and of the file; by default the data sets.")
@force
def report(
    results: tuple[Path, ...],
    output: Path | None,
    markdown: Path | None,
    notes: Path | None,
    title: str | None,
    force: bool,
) -> None:
    """Show folders of results: a table here, a page, a Markdown file."""
    for path in (output, markdown):
        if path is not None:
            check_output(path, force)
    if notes is not None and markdown is None:
        raise click.UsageError("--notes needs --markdown, the file they go to.")
    from paper.report import leaderboard, write_markdown, write_report

    if output is not None:
        write_report(results, output, title=title)
    if markdown is not None:
        write_markdown(results, markdown, notes=notes, title=title)
    show(leaderboard(results))


@main.command()
@click.argument("name")
@_data_dir
def fetch(name: str, data_dir: Path | None) -> None:
    """Download the files of a data set."""
    from paper.data import fetch as fetch_files

    show("\n".join(map(str, fetch_files(name, data_dir).values())))


if __name__ == "__main__":
    main(prog_name="python -m paper")
