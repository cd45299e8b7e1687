"""``deplda warm-up``: compile the numerical code before it is first used."""

from __future__ import annotations

import click

from deplda.cli.output import show, waiting


@click.command("warm-up")
def warm_up() -> None:
    """Compile the numerical code of all models, for instance into a container image.

    Without this, the first command that trains or predicts compiles it. NUMBA_CACHE_DIR names the
    folder of the result; by default it is in the installation, or in your home directory if that
    is read-only. A processor of another type compiles again.

    \b
    deplda warm-up
    NUMBA_CACHE_DIR=/var/cache/deplda deplda warm-up
    """
    from deplda.kernels.compilation import cache_folder
    from deplda.models.precompile import precompile

    with waiting("compiling"):
        precompile()
    show(f"The compiled code is in {cache_folder()}.")
