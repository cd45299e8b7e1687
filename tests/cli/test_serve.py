"""``deplda serve``; what it serves, and how it ends, is tested with the service."""

import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from deplda.cli.serve import _by_id
from tests.cli.running import problem
from tests.web.serving import bilingual_model, certificate, started


def test_what_is_no_model_is_not_served(tmp_path: Path) -> None:
    assert "there is no such folder" in problem(1, "serve", tmp_path / "nothing", "--port", 0)


def test_an_address_that_is_taken_is_named(model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = problem(1, "serve", model, "--port", port)
    assert said.startswith(f"127.0.0.1 port {port} cannot be listened at")
    assert "choose another host or port" in said
    assert "host.invalid port 0" in problem(
        1, "serve", model, "--host", "host.invalid", "--port", 0
    )


def test_numbers_out_of_range_are_wrong_usage(model: Path) -> None:
    assert "70000 is not a whole number from 0 to 65535" in problem(
        2, "serve", model, "--port", 70000
    )
    assert "0 is not a whole number from 1" in problem(2, "serve", model, "--workers", 0)


def test_what_other_machines_can_reach_is_not_served_without_a_token(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEPLDA_TOKEN", raising=False)
    said = problem(1, "serve", model, "--host", "::", "--port", 0)
    assert "set DEPLDA_TOKEN" in said
    assert "behind a proxy" in said
    monkeypatch.setenv("DEPLDA_TOKEN", "poor token")
    said = problem(1, "serve", model, "--port", 0)
    assert "has 10 characters; it must have 16 or more" in said
    assert "poor token" not in said


def test_a_host_that_cannot_be_one_is_said(model: Path) -> None:
    said = problem(1, "serve", model, "--port", 0, "--allowed-host", "https://labels.example.org")
    assert "give it without a scheme and a port" in said


def test_certificates_that_do_not_do_are_said(model: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        certificate(tmp_path, name)
    locked = ["openssl", "ec", "-aes256", "-passout", "pass:secret"]
    files = ["-in", f"{tmp_path}/one.key", "-out", f"{tmp_path}/locked.key"]
    subprocess.run([*locked, *files], check=True, capture_output=True)

    def told(cert: str | None, key: str | None) -> str:
        given: list[Any] = [] if cert is None else ["--tls-cert", tmp_path / cert]
        given += [] if key is None else ["--tls-key", tmp_path / key]
        return problem(1, "serve", model, "--port", 0, *given)

    assert "the key (--tls-key) is missing" in told("one.pem", None)
    assert "the certificate (--tls-cert) is missing" in told(None, "one.key")
    assert "no.pem cannot be read (No such file" in told("no.pem", "one.key")
    assert "other.key is the key of another certificate" in told("one.pem", "other.key")
    assert "locked.key has a password" in told("one.pem", "locked.key")
    assert "not a certificate and its key in PEM format" in told("one.key", "one.key")


def test_models_are_named_once_and_in_letters(model: Path, tmp_path: Path) -> None:
    said = problem(1, "serve", f"yso fi={model}", "--port", 0)
    assert said.startswith("the project id 'yso fi' must have letters")
    said = problem(1, "serve", f"a={model}", f"a={model}", "--port", 0)
    assert said == "two projects have the id 'a'; name each: yso-fi=MODEL"
    said = problem(1, "serve", model, model, "--port", 0)
    assert f"two projects have the id {model.name!r}" in said
    said = problem(2, "serve", f"a={model}", model, "--project-id", "b")
    assert "--project-id names one model, and there are 2" in said
    said = problem(1, "serve", f"a={tmp_path}/nothing", "--port", 0)
    assert "there is no such folder" in said


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path) -> None:
    assert _by_id((f"{tmp_path}/a=b",), None) == {"a-b": f"{tmp_path}/a=b"}
    assert _by_id(("yso-fi=a=b", "c"), None) == {"yso-fi": "a=b", "c": "c"}
    assert _by_id(("a=b",), "c") == {"c": "a=b"}


def test_files_to_learn_from_are_plain_ones_of_projects_that_are_there(
    model: Path, tmp_path: Path
) -> None:
    both = [f"a={model}", f"b={model}", "--port", "0"]
    said = problem(1, "serve", model, "--port", 0, "--learn", tmp_path)
    assert f"{tmp_path} cannot be written to (Is a directory)" in said
    said = problem(1, "serve", *both, "--learn", tmp_path / "f")
    assert "name a file for each that is to: a=FILE" in said
    said = problem(1, "serve", *both, "--learn", f"c={tmp_path / 'f'}")
    assert "there is no project 'c' to learn; there is a and b" in said
    said = problem(2, "serve", *both, "--learn", "a=f", "--learn", "a=g")
    assert "each must be ID=FILE" in said
    said = problem(
        1, "serve", *both, "--learn", f"a={tmp_path / 'f'}", "--learn", f"b={tmp_path}/f"
    )
    assert "two projects have the same file" in said


def test_a_label_language_that_no_model_has_is_an_error(model: Path, tmp_path: Path) -> None:
    bilingual_model().save(tmp_path / "named")
    options = f"yso={tmp_path / 'named'}", f"plain={model}", "--port", 0
    said = problem(1, "serve", *options, "--label-language", "sv")
    assert said == (
        "label_language is 'sv', but no model has label names in it; choose an available language "
        "(yso: en, fi; plain: none)"
    )


def test_models_are_served_with_names_in_a_language(model: Path, tmp_path: Path) -> None:
    bilingual_model().save(tmp_path / "model")
    options = f"plain={model}", "--label-language=EN"
    with started(bilingual_model(), tmp_path, *options) as (_, address, log):
        card = httpx.get(f"{address}/v1/model").json()
        project = httpx.get(f"{address}/v1/projects/model").json()
    assert (card["label_language"], card["label_languages"]) == ("en", ["en", "fi"])
    assert (project["language"], project["vocab_language"]) == ("fi", "en")
    assert "plain: " in (said := "".join(log))
    assert "has no label names in 'en'; they are displayed in 'no known language'" in said
