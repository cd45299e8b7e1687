"""``deplda serve``: a model behind an HTTP API, with a page for people who index documents."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", help="Address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="Port to listen at; 0 is any that is free.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    help="Processes; each has a thread for every core.",
)
def serve(model: Path, host: str, port: int, workers: int) -> None:
    """Serve a model: a JSON API, and a page to suggest and explain labels.

    It needs: pip install 'deplda[web]'. Ctrl-C finishes what is running and stops.

    \b
    deplda serve model
    deplda serve model --port 9000 --workers 2
    """
    from deplda.web import serve

    serve(model, host, port, workers)
