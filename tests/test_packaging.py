"""What pyproject.toml says that deplda needs."""

import sys

import pytest

from tests.oldest import EXTRAS, PROJECT, requirements, taken_apart
from tests.test_layers import SOURCE, imported

FOR_DEVELOPERS = {"bench", "dev", "docs", "test"}
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
