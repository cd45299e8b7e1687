"""``deplda serve``: a model behind an HTTP API, with a page for people who index documents."""

from __future__ import annotations

from pathlib import Path

import click

from deplda.cli.output import trusts_models


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
@click.option(
    "--allowed-host",
    "allowed_hosts",
    metavar="NAME",
    multiple=True,
    help="Another name that the service is called by, as in its address; may be repeated.",
)
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate (PEM), for HTTPS.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="The certificate's key (PEM).")
def serve(
    model: Path,
    host: str,
    port: int,
    workers: int,
    allowed_hosts: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Serve a model: a JSON API, and a page to suggest and explain labels.

    It needs: pip install 'deplda[web]'. Ctrl-C finishes what is running and stops.

    If the environment variable DEPLDA_TOKEN is set, clients have to show that token; where other
    machines can reach the service, it has to be set.

    \b
    deplda serve model
    deplda serve model --port 9000 --workers 2
    deplda serve model --host 0.0.0.0 --allowed-host labels.example.org
    """
    from deplda.web import serve

    serve(
        model,
        host,
        port,
        workers,
        allowed_hosts=allowed_hosts,
        tls_cert=tls_cert,
        tls_key=tls_key,
        trusted=trusts_models(),
    )
