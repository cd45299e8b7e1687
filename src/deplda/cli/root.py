"""The root of all verbs: errors as one line, exit codes, the configuration file, completion."""

from __future__ import annotations

import os
import re
import sys
import tomllib
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import click

import deplda
from deplda import errors
from deplda.cli.options import OneOf
from deplda.cli.output import asked_back, note
from deplda.errors import DepldaError

INTERRUPTED = 130
_ENDED = "Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted by Ctrl-C."


class _Interrupted(click.ClickException):
    """Ctrl-C, and what has been done until then."""

    exit_code = INTERRUPTED


_CLICKS_OWN = (click.ClickException, click.exceptions.Exit, click.Abort)


class Root(click.Group):
    """A group whose errors are one line on standard error, and whose exit codes mean something."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a verb and leave Python with its exit code."""
        try:
            code = super().main(*args, **options | {"standalone_mode": False})
        except click.exceptions.Abort:
            code = _say("interrupted", INTERRUPTED)
        except click.UsageError as error:
            verb = "deplda" if error.ctx is None else error.ctx.command_path
            code = _say(f"{_usage_problem(error)} See: {verb} --help", error.exit_code)
        except click.ClickException as error:
            code = _say(error.format_message(), error.exit_code)
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they are used."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the verb; whatever it raises becomes one line, unless all of it is asked for."""
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            for kind in vars(errors).values():  # ours are told, whatever Python's own filters say
                if isinstance(kind, type) and issubclass(kind, UserWarning):
                    warnings.simplefilter("default", kind)
            try:
                result = super().invoke(ctx)
                if sys.stdout is not None:
                    sys.stdout.flush()
            except BrokenPipeError:
                _forget_output()
                ctx.exit(0)
            except KeyboardInterrupt as error:
                raise _Interrupted(str(error) or "interrupted") from error
            except Exception as error:
                if ctx.params["debug"] or isinstance(error, _CLICKS_OWN):
                    raise
                raise click.ClickException(_in_words(error)) from error
            return result


def _usage_problem(error: click.UsageError) -> str:
    """Return what is wrong, with the nearest of the names that there are where one is misspelt."""
    near = getattr(error, "possibilities", None)  # of verbs and options, the nearest first
    if near:
        return f"{error.message} Did you mean {near[0]!r}?"
    told = error.format_message()
    if isinstance(error, click.BadParameter):
        return _NO_NUMBER.sub(partial(_wanted, error.param), told)
    return told


_NO_NUMBER = re.compile(r"is not (?:a valid (float|integer)(?: range)?|in the range .*)\.$")


def _wanted(parameter: click.Parameter | None, said: re.Match[str]) -> str:
    """Return which number an option takes, in words."""
    kind = None if parameter is None else parameter.type
    whole = isinstance(kind, click.types.IntParamType) or said[1] == "integer"
    wanted = ["a whole number" if whole else "a number"]
    if isinstance(kind, click.IntRange | click.FloatRange):
        if kind.min is not None:
            wanted.append(f"{'above' if kind.min_open else 'from'} {kind.min:g}")
        if kind.max is not None:
            wanted.append(f"{'and below' if kind.max_open else 'to'} {kind.max:g}")
    elif said[1] is None:
        return said[0]
    return f"is not {' '.join(wanted)}."


def _say(message: str, code: int) -> int:
    note(f"Error: {' '.join(message.split())}")
    return code


def _in_words(error: Exception) -> str:
    if isinstance(error, DepldaError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{os.fspath(error.filename)}: " if error.filename else ""
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({error}); try with fewer documents or --jobs 1"
    return f"{type(error).__name__}: {error} (deplda --debug … shows where)"


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"Warning: {message}")


def _forget_output() -> None:
    """Let nothing more be written to a pipe whose reader is gone, not even at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())


# The configuration file ---------------------------------------------------------------------------


def _configure(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Take the defaults of all options from a file: one table a verb, keys are options."""
    if path is None:
        return
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path}: this is not TOML ({error}).") from error
    ctx.default_map = _defaults(ctx.command, found, str(path))


def _defaults(command: click.Command, table: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the table with names as click has them; a key that is not an option is an error."""
    verbs = command.commands if isinstance(command, click.Group) else {}
    options = {
        option.removeprefix("--"): parameter
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and not verbs
    }
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("_", "-")
        if name in verbs and isinstance(value, dict):
            found[name] = _defaults(verbs[name], value, f"{where}, [{name}]")
        elif name in options:
            # click would take one text for several of one letter each.
            is_one = getattr(options[name], "multiple", False) and not isinstance(value, list)
            found[str(options[name].name)] = [value] if is_one else value
        else:
            known = sorted({*verbs, *options})
            raise click.UsageError(
                f"{where}: the key {key!r} is unknown; known: {', '.join(known)}."
                f"{asked_back(name, known)}"
            )
    return found


# The root -----------------------------------------------------------------------------------------


@click.group(
    "deplda",
    cls=Root,
    epilog=_ENDED,
    invoke_without_command=True,
    context_settings={
        "auto_envvar_prefix": "DEPLDA",
        "show_default": True,
        "help_option_names": ["-h", "--help"],
    },
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=_configure,
    is_eager=True,
    expose_value=False,
    help="TOML file of options, with one table per command, such as [train].",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option(
    "--trust-model",
    is_flag=True,
    help="Load models whose settings exceed the limits for untrusted files.",
)
@click.version_option(deplda.__version__, prog_name="deplda")
@click.pass_context
def root(ctx: click.Context, debug: bool, trust_model: bool) -> None:
    """Multi-label document classification with topic models that stay good on rare labels.

    Start with: deplda compare newsroom
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@root.command()
@click.argument("shell", type=OneOf(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes verbs and options in a shell.

    For bash: echo 'eval "$(deplda completion bash)"' >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"there is no completion for {shell}.")
    click.echo(kind(root, {}, "deplda", "_DEPLDA_COMPLETE").source())
