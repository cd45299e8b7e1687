"""``deplda serve``; what it serves, and how it ends, is tested with the service."""

import socket
from pathlib import Path

from tests.cli.running import problem


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
    assert "70000 is not in the range" in problem(2, "serve", model, "--port", 70000)
    assert "0 is not in the range" in problem(2, "serve", model, "--workers", 0)
