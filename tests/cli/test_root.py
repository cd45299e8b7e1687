"""The root: help, completion, the configuration file, errors, pipes."""

import json
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import click
import pytest

import deplda
from deplda.cli import root
from tests.cli.running import ENVIRONMENT, QUICK, done, in_shards, lines, problem, run

# Help, versions, completion -----------------------------------------------------------------------


def verbs(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        return [path]
    return [path] + [
        v for name, each in command.commands.items() for v in verbs(each, (*path, name))
    ]


VERBS = verbs(root)


def test_every_verb_is_there() -> None:
    assert {" ".join(verb) for verb in VERBS} >= {
        "train", "predict", "explain", "evaluate", "show", "compare",
        "completion", "datasets list", "datasets fetch",
        "datasets stats", "datasets convert", "serve", "warm-up",
    }  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_help_costs_little_and_says_what_every_option_is_for(verb: tuple[str, ...]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, "-m", "deplda", *verb, "--help"],
        env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime <= 0.4
    assert ended.stdout.startswith("Usage: deplda")
    assert "\\b" not in ended.stdout
    command: Any = root
    for name in verb:
        command = command.commands[name]
    for option in command.params:
        assert isinstance(option, click.Argument) or option.help, option.name


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_h_is_help(verb: tuple[str, ...]) -> None:
    assert done(*verb, "-h") == done(*verb, "--help")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (["trian", "a.csv"], "'train'"),
        (["datasets", "lst"], "'list'"),
        (["train", "a.csv", "-o", "m", "--text-feild", "body"], "'--text-field'"),
        (["train", "a.csv", "-o", "m", "--model", "hybrd"], "'hybrid'"),
        (["train", "a.csv", "-o", "m", "--format", "jsnol"], "'jsonl'"),
        (["train", "a.csv", "-o", "m", "--set", "n_topcs=3"], "'n_topics'"),
        (["predict", "m", "a.csv", "--output-format", "xslx"], "'xlsx'"),
    ],
)
def test_a_misspelt_verb_option_or_value_is_answered_with_the_near_one(
    asked: list[str], meant: str
) -> None:
    assert f" Did you mean {meant}? See: deplda " in problem(2, *asked)


def test_a_misspelt_data_set_is_answered_with_the_near_one(tmp_path: Path) -> None:
    for verb in (["train", "newsrom", "-o", tmp_path / "m"], ["datasets", "fetch", "newsrom"]):
        assert problem(1, *verb).count(": did you mean 'newsroom'? (data sets: ") == 1


def test_a_misspelt_key_of_the_configuration_is_answered_with_the_near_one(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[train]\nlabel_feild = 'x'")
    said = problem(2, "--config", tmp_path / "c.toml", "train", "a.csv", "-o", "m")
    assert "Did you mean 'labels-field'?" in said


def test_without_a_verb_help_is_shown_and_exit_codes_are_said() -> None:
    assert "Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130" in done()
    assert "convert" in done("datasets")


def test_the_version_is_the_packages() -> None:
    assert done("--version") == f"deplda, version {deplda.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_asks_the_command_itself(shell: str) -> None:
    assert f"_DEPLDA_COMPLETE={shell}_complete" in done("completion", shell)


def test_a_shell_is_told_verbs_options_and_choices() -> None:
    def complete(line: str) -> str:
        words = line.split(" ")
        asked = {
            "_DEPLDA_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        }
        return subprocess.run(
            [sys.executable, "-m", "deplda"],
            env=ENVIRONMENT | asked, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    assert complete("deplda tr") == "plain,train\n"
    assert complete("deplda train --model v") == "plain,vanilla-svm\n"
    assert complete("deplda train ").startswith("file,")


# The configuration file, the environment, debugging -----------------------------------------------


def test_a_configuration_file_holds_any_option_and_the_command_line_wins(
    tmp_path: Path, corpus: Path
) -> None:
    config = tmp_path / "deplda.toml"
    config.write_text(
        f"[train]\nmodel = 'prior'\noutput = '{tmp_path / 'm'}'\nmin-count = 2\n"
        "set = ['alpha=20', 'eta=10']\n[predict]\nlimit = 1\n[datasets.stats]\njson = true\n"
    )
    done("--config", config, "train", corpus)
    told = json.loads(done("show", tmp_path / "m", "--json"))
    assert (told["model"], told["parameters"]["alpha"]) == ("PriorLDA", 20)
    found = lines(done("--config", config, "predict", tmp_path / "m", corpus))
    assert max(len(line["labels"]) for line in found) == 1
    found = lines(done("--config", config, "predict", tmp_path / "m", corpus, "-k", 2))
    assert {len(line["labels"]) for line in found} <= {1, 2}
    assert max(len(line["labels"]) for line in found) == 2
    json.loads(done("--config", config, "datasets", "stats", corpus))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[train]\nmodle = 'x'", "[train]: the key 'modle' is unknown; known: checkpoint, "),
        ("[trian]\nmodel = 'x'", "the key 'trian' is unknown; known: compare, completion, "),
        ("model = 'flat'", "the key 'model' is unknown"),
        ("[datasets.convret]\nforce = true", "[datasets]: the key 'convret' is unknown"),
        ("[train", "this is not TOML"),
        ("[predict]\nlimit = 'many'", "Invalid value for '--limit'"),
    ],
)
def test_a_wrong_key_in_the_configuration_is_named_with_the_known_ones(
    text: str, message: str, tmp_path: Path, model: Path, corpus: Path
) -> None:
    config = tmp_path / "deplda.toml"
    config.write_text(text)
    assert message in problem(2, "--config", config, "predict", model, corpus)


def test_options_may_come_from_the_environment(model: Path, corpus: Path) -> None:
    found = lines(done("predict", model, corpus, env={"DEPLDA_PREDICT_LIMIT": "1"}))
    assert max(len(line["labels"]) for line in found) == 1


def test_a_traceback_is_shown_only_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("--debug", "show", tmp_path)
    assert isinstance(result.exception, deplda.ReadError)

    def broken(path: object, *, trusted: bool) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("deplda.models.card.read_card", broken)
    assert problem(1, "show", tmp_path) == "RuntimeError: two lines (deplda --debug … shows where)"


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_too(monkeypatch: pytest.MonkeyPatch, corpus: Path) -> None:
    keep = deplda.describe

    def describe(given: Any) -> Any:
        warnings.warn("look out", stacklevel=1)
        return keep(given)

    monkeypatch.setattr("deplda.data.statistics.describe", describe)
    assert run("datasets", "stats", corpus, "--language", "none").stderr == "Warning: look out\n"


def test_output_shorter_than_a_pipe_may_lose_its_reader_too() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "deplda", "datasets", "list"],
        env=ENVIRONMENT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_a_model_that_asks_for_much_is_loaded_by_who_trusts_it(
    tmp_path: Path, corpus: Path
) -> None:
    model = tmp_path / "m"
    done("train", corpus, "-o", model, *QUICK, "--token-pattern", r"\w+(?:-\w+)*")
    for verb in (
        ["predict", model, corpus],
        ["explain", model, "court"],
        ["evaluate", model, corpus],
        ["predict", model, in_shards(tmp_path / "shards"), "-o", tmp_path / "parts"],
    ):
        assert "load it with trusted=True (deplda --trust-model …)" in problem(1, *verb)
        done("--trust-model", *verb)
