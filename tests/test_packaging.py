"""What pyproject.toml says that deplda is and needs, and what else says so."""

import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import deplda
from tests.dist import check_contents, check_release
from tests.oldest import EXTRAS, PROJECT, requirements, taken_apart
from tests.pages import ROOT
from tests.test_layers import SOURCE, imported

FOR_DEVELOPERS = {"bench", "dev", "docs", "paper", "release", "test"}
# Where a package is imported by another name than it is installed by.
INSTALLED_AS = {"cupy": "cupy-cuda12x", "sklearn": "scikit-learn"}
OF_THE_NOTEBOOK = {"IPython"}  # imported where it runs already


def packages_imported(source: str) -> set[str]:
    """Return the packages of others among what is imported, by the names they are installed by."""
    packages = {name.split(".")[0] for name in imported(source)}
    packages -= sys.stdlib_module_names | {"deplda"}
    return {INSTALLED_AS.get(package, package.replace("_", "-")) for package in packages}


def test_every_requirement_has_a_lower_bound_and_is_named_once() -> None:
    names = [requirement.name for requirement in requirements(*EXTRAS)]
    assert sorted(names) == sorted(set(names))
    assert [taken_apart(line).name for line in PROJECT["build-system"]["requires"]] == ["hatchling"]


@pytest.mark.parametrize("line", ["numpy", "numpy<3", "numpy==2.2", "numpy>=2.2; os_name == 'nt'"])
def test_a_requirement_without_a_plain_lower_bound_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no lower bound"):
        taken_apart(line)


def test_every_package_that_is_imported_is_a_requirement_or_of_an_extra() -> None:
    named = set()
    for requirement in requirements(*EXTRAS.keys() - FOR_DEVELOPERS):
        named |= {requirement.name, *requirement.extras}  # dask[distributed] installs both
    needed = set()
    for path in SOURCE.rglob("*.py"):
        needed |= packages_imported(path.read_text("utf-8"))
    assert needed - named == OF_THE_NOTEBOOK
    assert {"cupy-cuda12x", "distributed", "scikit-learn"} < needed


def test_packages_are_found_wherever_they_are_imported() -> None:
    source = "import os\ndef f():\n    from sklearn.base import clone\n    import stop_words"
    assert packages_imported(source) == {"scikit-learn", "stop-words"}


# What a release says of itself --------------------------------------------------------------------

CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text("utf-8"))
# Packages that conda-forge has by other names, or as several.
OF_CONDA = {"PyStemmer": ["pystemmer"], "matplotlib": ["matplotlib-base"],
            "dask": ["dask", "distributed"],
            "prometheus-client": ["prometheus_client"]}  # fmt: skip


def test_the_version_stands_in_one_place_and_is_the_same_everywhere() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/deplda/__init__.py"
    assert CITATION["version"] == deplda.__version__
    assert RECIPE["context"]["version"] == deplda.__version__
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.findall(r"^## (\d\S*) - (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE)[0]
    assert newest == (deplda.__version__, str(CITATION["date-released"]))


def test_the_pythons_that_are_named_are_those_that_are_tried() -> None:
    heading = "Programming Language :: Python :: 3."
    named = [
        each.removeprefix(heading)
        for each in PROJECT["project"]["classifiers"]
        if each.startswith(heading)
    ]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"PYTHONS ?= {' '.join(f'python3.{minor}' for minor in named)}\n" in makefile
    assert PROJECT["project"]["requires-python"] == f">=3.{named[0]}"
    assert RECIPE["context"]["python_min"] == f"3.{named[0]}"


def test_all_is_every_extra_for_users_but_the_gpus() -> None:
    (line,) = EXTRAS["all"]
    named = line.removeprefix("deplda[").removesuffix("]").split(",")
    assert named == sorted(EXTRAS.keys() - FOR_DEVELOPERS - {"all", "gpu"})


def test_addresses_stand_in_one_place() -> None:
    urls = PROJECT["project"]["urls"]
    assert all(url.startswith("https://") for url in urls.values())
    assert CITATION.get("repository-code") == urls.get("Repository")
    assert RECIPE["about"].get("repository") == urls.get("Repository")
    assert RECIPE["about"].get("documentation") == urls.get("Documentation")
    assert urls["Paper"].endswith(CITATION["preferred-citation"]["doi"])


def in_conda(*extras: str) -> list[str]:
    return sorted(
        f"{name} >={needed.oldest}"
        for needed in requirements(*extras)
        for name in OF_CONDA.get(needed.name, [needed.name])
    )


def test_the_conda_recipe_needs_what_pyproject_needs() -> None:
    python, *others = RECIPE["requirements"]["run"]
    assert python == "python >=${{ python_min }}"
    assert others == sorted(others) == in_conda()
    users = sorted(EXTRAS.keys() - FOR_DEVELOPERS - {"all", "gpu"})
    optional = RECIPE["requirements"]["run_constraints"]
    assert optional == sorted(optional) == sorted({*in_conda(*users)} - {*in_conda()})
    build = PROJECT["build-system"]["requires"][0].replace(">=", " >=")
    assert RECIPE["requirements"]["host"] == ["python ${{ python_min }}.*", "pip", build]


def test_the_conda_recipe_says_what_pyproject_says() -> None:
    project = PROJECT["project"]
    assert RECIPE["package"]["name"] == project["name"]
    assert RECIPE["about"]["summary"] == project["description"]
    assert RECIPE["about"]["license"] == project["license"] == CITATION["license"]
    assert project["license-files"] == [RECIPE["about"]["license_file"]]
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == scripts


# Wheel and sdist ----------------------------------------------------------------------------------


def packed(folder: Path, in_wheel: set[str], in_sdist: set[str]) -> tuple[Path, Path]:
    wheel, sdist = folder / "x-1-py3-none-any.whl", folder / "x-1.tar.gz"
    with zipfile.ZipFile(wheel, "w") as file:
        for name in in_wheel | {"x-1.dist-info/METADATA"}:
            file.writestr(name, "")
    with tarfile.open(sdist, "w:gz") as file:
        for name in in_sdist | {"PKG-INFO"}:
            file.addfile(tarfile.TarInfo(f"x-1/{name}"), io.BytesIO())
    return wheel, sdist


def test_what_is_missing_or_too_many_in_a_release_is_found(tmp_path: Path) -> None:
    tracked = {"src/x/a.py", "src/x/page.css", "SECURITY.md"}
    whole = {"x/a.py", "x/page.css"}
    check_contents(*packed(tmp_path, whole, tracked), tracked)
    for in_wheel, in_sdist, said in (
        (whole, tracked - {"SECURITY.md"}, r"missing are \['SECURITY.md'\]"),
        (whole, tracked | {"x.log"}, r"not tracked by git are \['x.log'\]"),
        (whole - {"x/page.css"}, tracked, r"missing are \['x/page.css'\]"),
        (whole | {"x/a.pyc"}, tracked, r"not tracked by git are \['x/a.pyc'\]"),
    ):
        with pytest.raises(SystemExit, match=said):
            check_contents(*packed(tmp_path, in_wheel, in_sdist), tracked)


def test_a_release_has_the_tag_of_its_version_and_a_repository() -> None:
    version, urls = deplda.__version__, {"Repository": "https://code.example/deplda"}
    check_release(f"v{version}", urls)
    with pytest.raises(SystemExit, match=f"the tag is v9.0, but the version is {version}"):
        check_release("v9.0", urls)
    with pytest.raises(SystemExit, match="add Repository to"):
        check_release(f"v{version}", {})
