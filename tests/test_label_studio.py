"""A real Label Studio with `deplda serve` as its ML backend: predictions there, decisions here."""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.serving import running, text_model

CHOICES = """<View>
  <Text name="text" value="$text"/>
  <Choices name="subjects" toName="text" choice="multiple">
    <Choice value="LAW"/><Choice value="SPORT"/><Choice value="MUSIC"/>
  </Choices>
</View>"""
TAXONOMY = """<View>
  <Text name="text" value="$text"/>
  <Taxonomy name="subjects" toName="text">
    <Choice value="society"><Choice value="LAW"/><Choice value="SPORT"/></Choice>
  </Taxonomy>
</View>"""
TEXTS = ["judge and jury in court", "a game in the arena"]
USER = {"email": "somebody@example.org", "password": "not-a-secret-at-all"}
TOKEN = "not-a-secret-either"  # noqa: S105  # it is none
_SECONDS = 600


def free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port: int = line.getsockname()[1]
        return port


class LabelStudio:
    """A Label Studio that runs, and its API as its own pages use it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = httpx.Client(base_url=address, timeout=120, follow_redirects=True)

    def close(self) -> None:
        self._client.close()

    def log_in(self) -> None:
        page = self._client.get("/user/login/").text
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found, page
        form = {"csrfmiddlewaretoken": found[1], **USER}
        headers = {"Referer": f"{self.address}/user/login/"}
        assert self._client.post("/user/login/", data=form, headers=headers).status_code == 200

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"X-CSRFToken": self._client.cookies["csrftoken"], "Referer": self.address}
        answer = self._client.request(method, path, json=body, headers=headers)
        assert answer.status_code < 300, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    def project(self, config: str, backend: str, **others: Any) -> tuple[int, dict[str, Any]]:
        """Make a project of two texts with an ML backend; return its id and what it says of it."""
        project = self.ask("POST", "/api/projects", {"title": "deplda", "label_config": config})[
            "id"
        ]
        made = {"url": backend, "project": project, "title": "deplda", **others}
        connected = self.ask("POST", "/api/ml", made)
        tasks = [{"text": text} for text in TEXTS]
        self.ask("POST", f"/api/projects/{project}/import", tasks)
        return project, connected

    def tasks(self, project: int) -> list[dict[str, Any]]:
        found = self.ask("GET", f"/api/tasks?project={project}&fields=all")["tasks"]
        return sorted((self.ask("GET", f"/api/tasks/{each['id']}") for each in found),
                      key=lambda task: task["id"])  # fmt: skip

    def predict(self, project: int) -> list[list[dict[str, Any]]]:
        """Have predictions of all tasks fetched; return them."""
        chosen = {"selectedItems": {"all": True, "excluded": []}, "project": project}
        action = f"/api/dm/actions?id=retrieve_tasks_predictions&project={project}"
        self.ask("POST", action, chosen)
        return [task["predictions"] for task in self.tasks(project)]


@contextmanager
def started(command: Path, folder: Path) -> Iterator[LabelStudio]:
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {
        "COLLECT_ANALYTICS": "False",
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "LABEL_STUDIO_USERNAME": USER["email"],
        "LABEL_STUDIO_PASSWORD": USER["password"],
        "ML_BLOCK_LOCAL_IP": "false",
        "SSRF_PROTECTION_ENABLED": "false",
    }
    options = ["start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [command.absolute(), *options], env=environment, stdout=log, stderr=log, cwd=folder
        )
        found = LabelStudio(f"http://127.0.0.1:{port}")
        try:
            until = time.monotonic() + _SECONDS
            while True:
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, (folder / "log").read_text()
                try:
                    if httpx.get(f"{found.address}/health", timeout=5).status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.5)
            found.log_in()
            yield found
        finally:
            found.close()
            process.terminate()
            process.wait(60)


@pytest.fixture(scope="module")
def studio(label_studio: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    with started(label_studio, tmp_path_factory.mktemp("label-studio")) as found:
        yield found


def chosen(kind: str, value: Any) -> dict[str, Any]:
    region = {"from_name": "subjects", "to_name": "text", "type": kind, "value": {kind: value}}
    return {"result": [region | {"id": "r"}]}


def lines(path: Path) -> list[tuple[str, list[str]]]:
    read = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return [(line["text"], line["labels"]) for line in read]


@pytest.mark.label_studio
def test_a_real_label_studio_shows_labels_and_sends_back_what_people_decide(
    studio: LabelStudio, tmp_path: Path
) -> None:
    models: Any = {"first": text_model(), "second": text_model({"SPORT": "GAMES"})}
    kept = {name: tmp_path / f"{name}.jsonl" for name in models}
    with running(models, learn=kept, token=TOKEN) as ours:
        password = {
            "auth_method": "BASIC_AUTH", "basic_auth_user": "label-studio",
            "basic_auth_pass": TOKEN,
        }  # fmt: skip
        project, connected = studio.project(CHOICES, ours, **password)
        assert connected["readable_state"] == "Connected", connected
        assert connected["model_version"].startswith("first 20")
        for (found,), text in zip(studio.predict(project), TEXTS, strict=True):
            (own,) = models["first"].suggest([text], cutoff="validated")
            assert found["result"][0]["value"] == {"choices": own.labels.tolist()}
            assert found["score"] == pytest.approx(own.probabilities.mean())
            assert found["model_version"] == connected["model_version"]
        # Its webhook knows no password; it is given the token as a header.
        for hook in studio.ask("GET", f"/api/webhooks/?project={project}"):
            header = {"headers": {"Authorization": f"Bearer {TOKEN}"}}
            studio.ask("PATCH", f"/api/webhooks/{hook['id']}/", header)
        first, second = (task["id"] for task in studio.tasks(project))
        made = studio.ask("POST", f"/api/tasks/{first}/annotations/", chosen("choices", ["LAW"]))
        studio.ask(
            "POST", f"/api/tasks/{second}/annotations/", {"result": [], "was_cancelled": True}
        )
        assert lines(kept["first"]) == [(TEXTS[0], ["LAW"])]
        again = chosen("choices", ["LAW", "MUSIC"])
        studio.ask("PATCH", f"/api/annotations/{made['id']}/", again)
        assert lines(kept["first"])[1:] == [(TEXTS[0], ["LAW", "MUSIC"])]
        assert lines(kept["second"]) == []

        with pytest.raises(AssertionError, match="authentication parameters were either not"):
            studio.project(CHOICES, f"{ours}/label-studio/second")  # it shows no token
        project, connected = studio.project(TAXONOMY, f"{ours}/label-studio/second/", **password)
        assert connected["readable_state"] == "Connected", connected
        (one,), _ = studio.predict(project)
        assert one["result"][0]["value"] == {"taxonomy": [["society", "LAW"]]}


@pytest.mark.label_studio
def test_the_example_of_the_how_to_is_a_configuration_of_label_studio(
    studio: LabelStudio,
) -> None:
    page = Path(__file__).parents[1] / "docs" / "how-to" / "label-studio.md"
    examples = re.findall(r"```xml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 2
    for example in examples:
        studio.ask("POST", "/api/projects", {"title": "deplda", "label_config": example})
