"""The files of .github and pre-commit: what they run is there, and they may do no more."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.oldest import PROJECT, requirements
from tests.pages import ROOT

GITHUB = ROOT / ".github"


def content_of(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


WORKFLOWS = {path.stem: content_of(path) for path in sorted(GITHUB.glob("workflows/*.yml"))}
FORMS = {path.stem: content_of(path) for path in sorted(GITHUB.glob("ISSUE_TEMPLATE/*.yml"))}
CONFIG = FORMS.pop("config")
JOBS = {
    f"{name} {job}": each for name, flow in WORKFLOWS.items() for job, each in flow["jobs"].items()
}
TARGETS = {*re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)}
VARIABLES = {"PYTHON", "TAG"}
# An action in full: who, what, and the exact version.
PINNED = re.compile(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+")
PUBLISHES = {"attest": {"attestations", "id-token"}, "publish": {"id-token"}}


def steps() -> Iterator[dict[str, Any]]:
    for job in JOBS.values():
        yield from job["steps"]


def test_there_are_tests_documentation_and_releases() -> None:
    assert set(WORKFLOWS) == {"docs", "release", "tests"}
    run = [step["run"] for step in steps() if "run" in step]
    named = {word for line in run for word in shlex.split(line)[1:] if "=" not in word}
    assert {"test", "test-oldest", "test-newest", "docs", "links", "dist"} <= named


def test_workflows_run_targets_of_the_makefile_and_nothing_else() -> None:
    for step in steps():
        assert ("run" in step) != ("uses" in step)
        for line in step.get("run", "").splitlines():
            program, *words = shlex.split(line)
            assert program == "make"
            assert {word for word in words if "=" not in word} <= TARGETS
            assert {word.partition("=")[0] for word in words if "=" in word} <= VARIABLES
            assert "${{" not in line  # what others name is never put into a shell


def test_actions_are_pinned_and_keep_no_credentials() -> None:
    used = [step for step in steps() if "uses" in step]
    assert all(PINNED.fullmatch(step["uses"]) for step in used)
    versions = {step["uses"].partition("@")[::2] for step in used}
    assert len(dict(versions)) == len(versions)  # one version of each
    checkouts = [step for step in used if step["uses"].startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("name", JOBS)
def test_a_job_may_do_no_more_than_it_needs(name: str) -> None:
    flow, job = name.split()
    allowed = JOBS[name].get("permissions", WORKFLOWS[flow]["permissions"])
    writes = {what for what, how in allowed.items() if how == "write"}
    assert writes == (PUBLISHES.get(job, set()) if flow == "release" else set())
    assert {what for what, how in allowed.items() if how == "read"} <= {"contents"}
    assert JOBS[name]["timeout-minutes"] <= 240


def test_tests_run_on_every_python_and_system_that_is_named() -> None:
    classifiers = PROJECT["project"]["classifiers"]
    pythons = [c.rpartition(" :: ")[2] for c in classifiers if re.search(r"Python :: 3\.\d+$", c)]
    matrix = WORKFLOWS["tests"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == pythons
    systems = {"POSIX :: Linux": "ubuntu-latest", "MacOS": "macos-latest"}
    named = [c.removeprefix("Operating System :: ") for c in classifiers if "Operating" in c]
    assert sorted(matrix["os"]) == sorted(systems[each] for each in named)
    for name in ("tests dist", "release build"):
        (setup,) = [s for s in JOBS[name]["steps"] if "setup-python" in s.get("uses", "")]
        assert setup["with"]["python-version"].split() == pythons


def test_a_release_is_built_once_and_published_from_a_tag_alone() -> None:
    release = WORKFLOWS["release"]
    assert release[True] == {"push": {"tags": ["v[0-9]*"]}}  # YAML takes `on` for a truth value
    jobs = release["jobs"]
    assert [job for job in jobs if any("run" in step for step in jobs[job]["steps"])] == ["build"]
    assert (jobs["attest"]["needs"], jobs["publish"]["needs"]) == ("build", "attest")
    assert jobs["publish"]["environment"] == "pypi"
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text("utf-8")


@pytest.mark.parametrize("name", FORMS)
def test_a_form_for_issues_is_one_that_can_be_filled_in(name: str) -> None:
    form = FORMS[name]
    assert set(form) == {"name", "description", "labels", "body"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 0
    assert all(field["type"] == "textarea" and field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_there_are_forms_for_mistakes_wishes_and_questions() -> None:
    assert set(FORMS) == {"bug", "feature", "question"}
    assert CONFIG == {"blank_issues_enabled": False}


def test_pre_commit_has_the_ruff_of_pyproject_and_the_mypy_of_the_environment() -> None:
    repos = content_of(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = {
        hook["id"]: hook | {"rev": repo.get("rev")} for repo in repos for hook in repo["hooks"]
    }
    oldest = {needed.name: needed.oldest for needed in requirements("dev")}
    assert hooks["ruff-check"]["rev"] == hooks["ruff-format"]["rev"] == f"v{oldest['ruff']}"
    assert hooks["mypy"]["entry"] == ".venv/bin/mypy"
    assert all(re.fullmatch(r"v\d+\.\d+\.\d+", r["rev"]) for r in repos if r["repo"] != "local")
