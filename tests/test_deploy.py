"""The files of deploy/: what they say fits together, and is what programs of this version take."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from deplda.cli.serve import serve
from tests.pages import ROOT
from tests.web.serving import text_model

DEPLOY = ROOT / "deploy"
TOKEN = "a-token-for-these-tests"  # noqa: S105


def documents_in(path: Path) -> list[dict[str, Any]]:
    return [*yaml.safe_load_all(path.read_text("utf-8"))]


KUSTOMIZATION = documents_in(DEPLOY / "kubernetes" / "kustomization.yaml")[0]
RESOURCES = [
    each
    for name in KUSTOMIZATION["resources"]
    for each in documents_in(DEPLOY / "kubernetes" / name)
]
BY_KIND = {each["kind"]: each for each in RESOURCES}
COMPOSE = documents_in(DEPLOY / "compose.yaml")[0]

# What Kubernetes asks for, and the version of each kind that is served from 1.25 on.
REQUIRED = {
    "PersistentVolumeClaim": ("v1", "accessModes", "resources"),
    "Deployment": ("apps/v1", "selector", "template"),
    "Service": ("v1", "selector", "ports"),
    "PodDisruptionBudget": ("policy/v1", "selector", "minAvailable"),
    "HorizontalPodAutoscaler": ("autoscaling/v2", "scaleTargetRef", "maxReplicas", "metrics"),
    "NetworkPolicy": ("networking.k8s.io/v1", "podSelector", "ingress"),
    "DaskCluster": ("kubernetes.dask.org/v1", "worker", "scheduler"),
}
PODS = {
    "service": BY_KIND["Deployment"]["spec"]["template"]["spec"],
    "worker": BY_KIND["DaskCluster"]["spec"]["worker"]["spec"],
    "scheduler": BY_KIND["DaskCluster"]["spec"]["scheduler"]["spec"],
}
COMMANDS = {f"compose {name}": each["command"] for name, each in COMPOSE["services"].items()}
COMMANDS |= {f"pod {name}": pod["containers"][0]["args"] for name, pod in PODS.items()}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_commands_are_ones_that_there_are(command: list[str]) -> None:
    from distributed.cli.dask_scheduler import main as scheduler
    from distributed.cli.dask_worker import main as worker

    dask = {"scheduler": scheduler, "worker": worker}
    program = serve if command[0] == "deplda" else dask[command[1]]
    assert command[0] in ("deplda", "dask")
    assert all(isinstance(word, str) for word in command)
    program.make_context(command[1], command[2:])  # raises at what it does not know


# Compose ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_containers_of_compose_have_no_privileges_and_are_watched(name: str) -> None:
    service = COMPOSE["services"][name]
    known = {
        "build", "cap_drop", "command", "depends_on", "deploy", "environment", "healthcheck",
        "image", "init", "networks", "ports", "read_only", "restart", "security_opt",
        "stop_grace_period", "tmpfs", "user", "volumes",
    }  # fmt: skip
    assert service.keys() <= known
    assert service["user"] == "10001:10001"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["healthcheck"].keys() == {
        "test", "interval", "timeout", "retries", "start_period"
    }  # fmt: skip
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}
    assert set(service.get("depends_on", ())) <= COMPOSE["services"].keys()
    assert set(service["networks"]) <= COMPOSE["networks"].keys()
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_compose_has_two_workers_and_lets_nobody_else_reach_the_scheduler() -> None:
    services = COMPOSE["services"]
    assert services["worker"]["deploy"]["replicas"] == 2
    assert COMPOSE["networks"]["cluster"]["internal"] is True
    assert services["service"]["networks"] == ["front"]
    assert all(port.startswith("127.0.0.1:") for port in services["service"]["ports"])
    assert not any("ports" in services[name] for name in ("scheduler", "worker"))
    assert services["service"]["environment"]["DEPLDA_TOKEN"].startswith("${DEPLDA_TOKEN:?")
    assert services["service"]["volumes"] == ["../models:/models:ro"]


# Kubernetes ---------------------------------------------------------------------------------------


def test_every_file_is_named_and_every_kind_has_what_it_needs() -> None:
    files = {path.name for path in (DEPLOY / "kubernetes").iterdir()}
    assert files == {*KUSTOMIZATION["resources"], "kustomization.yaml"}
    assert sorted(each["kind"] for each in RESOURCES) == sorted(REQUIRED)
    for each in RESOURCES:
        version, *needed = REQUIRED[each["kind"]]
        assert each["apiVersion"] == version
        assert each["metadata"]["name"]
        assert set(needed) <= each["spec"].keys(), each["kind"]


@pytest.mark.parametrize("name", PODS)
def test_pods_have_no_privileges_and_are_limited_and_watched(name: str) -> None:
    pod = PODS[name]
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    for which in ("requests", "limits"):
        assert container["resources"][which].keys() == {"cpu", "memory"}
    ports = {port["name"] for port in container["ports"]}
    assert container["livenessProbe"]["httpGet"]["port"] in ports
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes.keys()
    assert any(mount["mountPath"] == "/tmp" for mount in container["volumeMounts"])  # noqa: S108
    if name != "scheduler":
        claim = volumes["models"]["persistentVolumeClaim"]["claimName"]
        assert claim == BY_KIND["PersistentVolumeClaim"]["metadata"]["name"]
    assert container["image"] == KUSTOMIZATION["images"][0]["name"]


def test_what_belongs_to_the_service_finds_it() -> None:
    deployment = BY_KIND["Deployment"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert BY_KIND["Service"]["spec"]["selector"] == labels
    assert BY_KIND["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    target = BY_KIND["HorizontalPodAutoscaler"]["spec"]
    assert target["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert target["scaleTargetRef"]["kind"] == "Deployment"
    assert BY_KIND["PodDisruptionBudget"]["spec"]["minAvailable"] < target["minReplicas"]
    assert "replicas" not in deployment["spec"]  # or each `apply` would undo the autoscaler
    (port,) = BY_KIND["Service"]["spec"]["ports"]
    assert port["targetPort"] == container["ports"][0]["name"]
    allowed = container["args"][container["args"].index("--allowed-host") + 1]
    assert allowed == BY_KIND["Service"]["metadata"]["name"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):  # by its own name
        asked = container[probe]["httpGet"]
        assert (asked["path"], asked["httpHeaders"]) == (
            "/health", [{"name": "Host", "value": "localhost"}]
        )  # fmt: skip


def test_the_cluster_is_what_the_operator_takes() -> None:
    cluster = BY_KIND["DaskCluster"]
    name, spec = cluster["metadata"]["name"], cluster["spec"]
    assert spec["worker"]["replicas"] == 2
    assert "$(DASK_WORKER_NAME)" in spec["worker"]["spec"]["containers"][0]["args"]
    service = spec["scheduler"]["service"]
    assert service["selector"] == {
        "dask.org/cluster-name": name, "dask.org/component": "scheduler"
    }  # fmt: skip
    (container,) = PODS["scheduler"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"tcp-comm": 8786, "http-dashboard": 8787}
    assert {port["name"]: port["port"] for port in service["ports"]} == ports
    policy = BY_KIND["NetworkPolicy"]["spec"]
    assert policy["podSelector"]["matchLabels"] == {"dask.org/cluster-name": name}


@pytest.mark.parametrize("version", ["1.30", "1.33"])
def test_kubernetes_takes_every_field(version: str) -> None:
    validate = pytest.importorskip(
        "kubernetes_validate", reason="no schemas of Kubernetes: pip install kubernetes-validate"
    ).validate
    parts = [each for each in RESOURCES if each["kind"] != "DaskCluster"]
    head = {"apiVersion": "v1", "metadata": {"name": "part"}}
    parts += [head | {"kind": "Pod", "spec": pod} for pod in PODS.values()]
    service = BY_KIND["DaskCluster"]["spec"]["scheduler"]["service"]
    for each in [*parts, head | {"kind": "Service", "spec": service}]:
        validate(each, version, strict=True)


def test_kustomize_puts_all_of_it_together() -> None:
    if not shutil.which("kubectl"):
        pytest.skip("no kubectl to put it together with")
    command = ["kubectl", "kustomize", str(DEPLOY / "kubernetes")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    made = [*yaml.safe_load_all(done.stdout)]
    assert sorted(each["kind"] for each in made) == sorted(REQUIRED)
    assert done.stdout.count("image: registry.example.org/deplda:1\n") == len(PODS)


# A container --------------------------------------------------------------------------------------


def container_tool() -> str:
    """Return the program that runs containers here; skip the test where there is none."""
    for tool in ("podman", "docker"):
        if shutil.which(tool):
            done = subprocess.run([tool, "info"], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return tool
    pytest.skip("neither podman nor docker can run containers here")


def run(*command: str, **how: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.strip()


@contextmanager
def contained(tool: str, model: Path) -> Iterator[tuple[str, str]]:
    """Serve a model in a container; yield its id and its address."""
    options = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--publish=127.0.0.1::8000"]
    options += ["--env=DEPLDA_TOKEN", f"--volume={model}:/model:ro"]
    environment = os.environ | {"DEPLDA_TOKEN": TOKEN}
    id = run(tool, "run", "--detach", *options, "deplda-test", env=environment)
    try:
        port = run(tool, "port", id, "8000").splitlines()[0].rpartition(":")[2]
        yield id, f"http://127.0.0.1:{port}"
    finally:
        run(tool, "rm", "--force", id)


@pytest.mark.slow
def test_the_service_is_built_and_answers_in_a_container(tmp_path: Path) -> None:
    tool = container_tool()
    run(tool, "build", "-t", "deplda-test", "-f", str(DEPLOY / "Containerfile"), str(ROOT))
    model = tmp_path / "model"
    text_model().save(model)
    for path, mode in ((model, 0o755), *((each, 0o644) for each in model.iterdir())):
        path.chmod(mode)
    with contained(tool, model) as (id, address):
        deadline = time.monotonic() + 300
        while True:
            try:
                if httpx.get(f"{address}/health").status_code == 200:
                    break
            except httpx.TransportError:
                assert time.monotonic() < deadline, run(tool, "logs", id)
                time.sleep(0.5)
        asked = {"documents": [{"text": "a game in the arena"}]}
        refused = httpx.post(f"{address}/v1/suggest", json=asked)
        told = httpx.post(
            f"{address}/v1/suggest", json=asked, headers={"Authorization": f"Bearer {TOKEN}"}
        )
        assert (refused.status_code, told.status_code) == (401, 200)
        assert told.json()["documents"][0]["labels"][0]["label"] == "SPORT"
        assert run(tool, "exec", id, "id", "-u") == "10001"
        run(tool, "stop", "--time=40", id)
        state = json.loads(run(tool, "inspect", id))[0]["State"]
        assert state["ExitCode"] == 0
