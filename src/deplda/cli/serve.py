"""``deplda serve``: a model behind an HTTP API, with a page for people who index documents."""

from __future__ import annotations

import os
from pathlib import Path

import click

from deplda.cli.output import trusts_models


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="[ID=]MODEL...")
@click.option(
    "--project-id",
    metavar="ID",
    help="Project id of a single model, such as yso-fi; by default the name of its folder.",
)
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="Port to listen on; 0: any free port.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    help="Number of processes; each has a thread per core.",
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    metavar="NAME",
    multiple=True,
    help="Another host name of the service, as in its address; can be repeated.",
)
@click.option(
    "--learn",
    metavar="[ID=]FILE",
    multiple=True,
    help="Append labelled documents that are sent to `learn` to this file, for `deplda learn`;"
    " with several models, one file for each that accepts them.",
)
@click.option(
    "--label-language",
    metavar="CODE",
    help="Language of the label names, for all models whose vocabulary has it, unless a request"
    " names another; by default the one set in training, or that of the texts.",
)
@click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate (PEM), for HTTPS.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="The certificate's key (PEM).")
def serve(
    models: tuple[str, ...],
    project_id: str | None,
    host: str,
    port: int,
    workers: int,
    allowed_hosts: tuple[str, ...],
    learn: tuple[str, ...],
    label_language: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Serve models: a JSON API, Annif's API, and a page to suggest and explain labels.

    It needs: pip install 'deplda[web]'. Ctrl-C finishes what is running and stops.

    If the environment variable DEPLDA_TOKEN is set, clients must send that token. It must be set if
    other machines can reach the service.

    When the folder of a model is replaced, the new model is loaded; SIGHUP reloads all. No request
    fails. Replace the whole folder, as train, learn and mv do: files copied over those of a served
    model change what is being read.

    \b
    deplda serve model
    deplda serve model --port 9000 --workers 2
    deplda serve yso-fi=model-1 stw-de=model-2
    deplda serve model --project-id yso-fi --learn feedback.jsonl
    deplda serve model --label-language fi
    deplda serve model --host 0.0.0.0 --allowed-host labels.example.org
    """
    from deplda.web import serve

    serve(
        _by_id(models, project_id),
        host,
        port,
        workers,
        allowed_hosts=allowed_hosts,
        tls_cert=tls_cert,
        tls_key=tls_key,
        trusted=trusts_models(),
        learn=_files(learn),
        label_language=label_language,
    )


def _by_id(models: tuple[str, ...], project_id: str | None) -> dict[str, str]:
    """Return the models by the ids of their projects."""
    from deplda.web.projects import check_ids, id_of

    if project_id is not None:
        if len(models) > 1:
            raise click.UsageError(
                f"--project-id names one model, and there are {len(models)}; write ID=MODEL."
            )
        named: list[tuple[str, str]] = [(project_id, models[0])]
    else:
        named = [
            (id_of(text) if id is None else id, path)
            for text in models
            for id, path in [_named(text)]
        ]
    check_ids(id for id, _ in named)
    return dict(named)


def _files(learn: tuple[str, ...]) -> str | dict[str, str] | None:
    """Return the file to learn from, or those of several projects."""
    named = [_named(text) for text in learn]
    if len(named) == 1 and named[0][0] is None:
        return named[0][1]
    found: dict[str, str] = {}
    for id, path in named:
        if id is None or id in found:
            raise click.UsageError("of several --learn, each must be ID=FILE, with another id.")
        found[id] = path
    return found or None


def _named(text: str) -> tuple[str | None, str]:
    """Return the id and the path of ID=PATH; None where there is a path alone."""
    id, equals, path = text.partition("=")
    is_path = not equals or os.sep in id or os.path.exists(text)
    return (None, text) if is_path else (id, path)
