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
    "--split", default="0", help="Which split of a data set to use; none: all documents."
)
engine_option = click.option(
    "--engine",
    default="threads",
    metavar="threads|processes|ADDRESS",
    help="Where to run: threads, processes, or the address of a Dask scheduler, such as tcp://….",
)
device_option = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda", "auto"]),
    default="cpu",
    help="The CPU, a CUDA GPU (extra [gpu]), or auto: a GPU if there is one.",
)
jobs_option = click.option(
    "--jobs", "-j", type=click.IntRange(1), help="Number of cores; all by default."
)
cutoff_option = click.option(
    "--cutoff",
    metavar="validated|at-least-one|expected-f1|macro-f1|proportional|N|P",
    help="How many labels to suggest: all that reach a threshold tuned on held-out training "
    "documents (validated, the default), the same but at least one (at-least-one), a number (2), "
    "or all that reach a probability (0.5).",
)
limit_option = click.option(
    "--limit", "-k", type=click.IntRange(1), help="Maximum number of labels per document."
)
threshold_option = click.option(
    "--threshold", "-t", type=float, help="Suggest all labels that reach this probability (0 to 1)."
)
