"""Options that several verbs have."""

from __future__ import annotations

from typing import Any

import click

from deplda.cli.output import asked_back


class OneOf(click.Choice[str]):
    """One of some names; a misspelt one is answered with the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or say which may be meant."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            problem = f"{error.message}{asked_back(str(value), self.choices)}"
            raise click.BadParameter(problem, ctx, param) from error


split_option = click.option(
    "--split", default="0", help="Of a data set with splits; none: all of it."
)
engine_option = click.option(
    "--engine",
    default="threads",
    metavar="threads|processes|ADDRESS",
    help="Where work is done; an address such as tcp://… is that of a Dask scheduler.",
)
device_option = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda", "auto"]),
    default="cpu",
    help="The CPU, a CUDA GPU (extra [gpu]), or a GPU if there is one (topic models).",
)
jobs_option = click.option("--jobs", "-j", type=click.IntRange(1), help="Cores; all by default.")
cutoff_option = click.option(
    "--cutoff",
    metavar="validated|expected-f1|macro-f1|proportional|N|P",
    help="How many labels: by documents held out in training (validated, the default), so many (2),"
    " or all that are so likely (0.5).",
)
limit_option = click.option("--limit", "-k", type=click.IntRange(1), help="Labels to give at most.")
threshold_option = click.option(
    "--threshold", "-t", type=float, help="Give all labels that are so likely (0 to 1)."
)
