"""What `make dist` does: wheel and sdist, built twice, looked into, and used where nothing else is.

A wheel of the tree and a wheel of the sdist must have the same bits, the sdist must hold what git
tracks, and the quickstart must run in a clean environment of each Python with the wheel alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import deplda
from tests.oldest import PROJECT

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
# Made by the build; everything else in an sdist is tracked.
MADE = {"PKG-INFO"}


def build() -> tuple[Path, Path]:
    """Return a new wheel and sdist, after both ways to a wheel gave the same bits."""
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)  # the wheel is made of the sdist
    wheel, sdist = _only("*.whl"), _only("*.tar.gz")
    with tempfile.TemporaryDirectory() as other:
        _run(sys.executable, "-m", "build", "--wheel", "--outdir", other, ROOT)
        if (Path(other) / wheel.name).read_bytes() != wheel.read_bytes():
            raise SystemExit("the wheel of the sdist is another one than the wheel of the tree")
    _run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def names_in_sdist(sdist: Path) -> set[str]:
    """Return the files of an sdist, which lie in one folder of its name."""
    with tarfile.open(sdist) as packed:
        files = [Path(member.name) for member in packed.getmembers() if member.isfile()]
    folder = sdist.name.removesuffix(".tar.gz")
    if any(file.parts[0] != folder for file in files):
        raise SystemExit(f"{sdist.name} has files outside of {folder}")
    return {file.relative_to(folder).as_posix() for file in files}


def check_contents(wheel: Path, sdist: Path, tracked: set[str]) -> None:
    """Stop at a file that is missing or too many in either of the two."""
    with zipfile.ZipFile(wheel) as packed:
        in_wheel = {name for name in packed.namelist() if not name.split("/")[0].endswith("-info")}
    prefix = "src/"
    sources = {name.removeprefix(prefix) for name in tracked if name.startswith(prefix)}
    for what, found, wanted in (
        (sdist.name, names_in_sdist(sdist), tracked | MADE),
        (wheel.name, in_wheel, sources),
    ):
        if found != wanted:
            missing, extra = sorted(wanted - found), sorted(found - wanted)
            raise SystemExit(f"{what}: missing are {missing}, and not tracked by git are {extra}")


def tracked_files() -> set[str]:
    """Return what git tracks; before a commit, also what was added."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {name for name in listed.stdout.split("\0") if name}


def try_wheel(python: str, wheel: Path, page: Path) -> None:
    """Run a page of the documentation with a wheel alone, in a new environment of a Python."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _run(python, "-m", "venv", place / "venv")
        inside = place / "venv" / "bin" / "python"
        _run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        # The folder of the tree is on the path for `tests`; the package itself lies below src.
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(place / "kernels"),
        }
        (place / "work").mkdir()
        _run(inside, "-m", "tests.dist", "--page", page, cwd=place / "work", env=environment)


def run_installed(page: Path) -> None:
    """Run a page with the deplda that is installed here, and stop at one of the tree."""
    from tests.pages import run_page

    home = Path(deplda.__file__).resolve()
    if ROOT.resolve() in home.parents or Path(sys.prefix).resolve() not in home.parents:
        raise SystemExit(f"{home} is not the wheel's")
    n = run_page(page)
    version = sys.version.split()[0]
    _say(f"deplda {deplda.__version__}, Python {version}: {n} blocks of {page.name} run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", help="the Pythons to try the wheel in")
    parser.add_argument("--tag", default="", help="the tag to be released: v and the version")
    parser.add_argument("--page", type=Path, help="run this page with the installed wheel")
    asked = parser.parse_args()
    if asked.page is not None:
        return run_installed(asked.page)
    if asked.tag:
        check_release(asked.tag, PROJECT["project"]["urls"])
    wheel, sdist = build()
    check_contents(wheel, sdist, tracked_files())
    found = [python for python in asked.pythons if _starts(python)]
    if not found:
        raise SystemExit(f"none of {asked.pythons} is here to try the wheel in; name others")
    for python in found:
        try_wheel(python, wheel, ROOT / "docs" / "quickstart.md")
    for python in sorted({*asked.pythons} - {*found}):
        _say(f"{python} is not here: the wheel was not tried in it")
    _say(f"{wheel.name} and {sdist.name} are in {DIST.name}/")
    return None


def check_release(tag: str, urls: dict[str, str]) -> None:
    """Stop at a tag that is not the version's, and where nobody would find the source."""
    if tag != f"v{deplda.__version__}":
        raise SystemExit(f"the tag is {tag}, but the version is {deplda.__version__}")
    if "Repository" not in urls:
        raise SystemExit("a release says where its source is: add Repository to [project.urls]")


def _starts(python: str) -> bool:
    """Return whether this Python is here; a version manager may have its name and not itself."""
    return (
        shutil.which(python) is not None
        and not subprocess.run([python, "-c", ""], capture_output=True).returncode
    )


def _only(pattern: str) -> Path:
    (found,) = DIST.glob(pattern)
    return found


def _run(*command: object, **options: object) -> None:
    subprocess.run([str(word) for word in command], check=True, **options)  # type: ignore[call-overload]


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
