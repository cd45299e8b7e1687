"""Files of earlier releases are read, and mean what they meant (docs/reference/versions.md).

One that fails here breaks a promise. Change the code, not the file.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deplda
from deplda import ReadError
from deplda.comparison import read_results, write_page
from tests import kept

RELEASES = sorted(path.name for path in kept.KEPT.iterdir())
MODELS = [
    (release, path.stem)
    for release in RELEASES
    for path in sorted((kept.KEPT / release).glob("*.json"))
]


def same_numbers(found: list[list[str]], told: list[list[str]]) -> None:
    """Compare to the last bits: exp and log may differ by one between processors."""
    left, right = ([[float.fromhex(v) for v in row] for row in rows] for rows in (found, told))
    np.testing.assert_allclose(left, right, rtol=1e-12)


def test_this_major_version_has_a_release_that_is_kept() -> None:
    assert f"{deplda.__version__.split('.')[0]}.0.0" in RELEASES
    assert {name for _, name in MODELS} == {"DependencyLDA", "HybridLDA"}


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.parametrize(("release", "name"), MODELS)
def test_a_kept_model_says_what_it_said(release: str, name: str) -> None:
    model = deplda.load(kept.KEPT / release / name)
    told = json.loads((kept.KEPT / release / f"{name}.json").read_bytes())
    if model.cutoff == "validated":
        model.set_params(cutoff="at-least-one")  # the rule of 1.0.0
    found = kept.told_by(model)
    assert model.counter_ is not None
    without_words = ~model._has_evidence(model.counter_.count(kept.NEW))  # get no labels since
    for row in np.flatnonzero(without_words):
        told["labels"][row] = []
    for what in ("scores", "probabilities"):
        same_numbers(found.pop(what), told.pop(what))
    assert found == told
    assert type(model).__name__ == name
    assert model.metrics_ == {"average_precision": 0.5}
    assert (model.vocabulary_ is not None) == (model.examples_ is not None) == (name == "HybridLDA")


@pytest.mark.parametrize("release", RELEASES)
def test_a_kept_checkpoint_goes_on_to_the_same_bits(release: str, tmp_path: Path) -> None:
    shutil.copytree(kept.KEPT / release / "checkpoint", tmp_path / "kept")
    (tmp_path / "kept" / "chain-0001.npz").unlink()
    resumed = kept.chains(tmp_path / "kept", resume=True)
    whole = kept.chains(tmp_path / "new", resume=False)
    assert resumed.weights.data.tobytes() == whole.weights.data.tobytes()
    assert resumed.base.tobytes() == whole.base.tobytes()


@pytest.mark.parametrize("release", RELEASES)
def test_a_kept_folder_of_results_is_reported_on(release: str, tmp_path: Path) -> None:
    folder = kept.KEPT / release / "results"
    results = read_results(folder)
    assert [(unit.model, unit.split) for unit in results.done] == [("Flat", 0), ("tf-idf SVM", 0)]
    assert results.head.library == release
    assert results.data is not None
    write_page(folder, tmp_path / "report.html")
    assert "tf-idf SVM" in (tmp_path / "report.html").read_text("utf-8")


def as_of_later(path: Path, **changes: Any) -> None:
    """Let a file say that a later version wrote it, in another shape."""
    content = json.loads(path.read_bytes())
    path.write_text(json.dumps({name: content[name] for name in ("format",) if name in content}
                               | changes), encoding="utf-8")  # fmt: skip


def test_what_a_later_version_wrote_is_refused_by_name(tmp_path: Path) -> None:
    shutil.copytree(kept.KEPT / RELEASES[-1], tmp_path / "new")
    new, mine = tmp_path / "new", f"deplda {deplda.__version__} reads format 1"
    as_of_later(new / "HybridLDA" / "card.json", version=2, library="7.3.0")
    as_of_later(new / "results" / "experiment.json", version=2, library="7.3.0")
    as_of_later(new / "checkpoint" / "manifest.json", format=2)
    for read in (
        lambda: deplda.load(new / "HybridLDA"),
        lambda: read_results(new / "results"),
    ):
        with pytest.raises(ReadError) as refused:
            read()
        said = "it has format 2, of deplda 7.3.0; {}: install deplda 7.3.0 or newer"
        assert refused.value.problem == said.format(mine)
    with pytest.raises(ReadError, match=f"has format 2; {mine}: a newer deplda reads it"):
        kept.chains(new / "checkpoint", resume=True)
