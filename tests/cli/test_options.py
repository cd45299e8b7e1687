"""Options that several verbs have."""

from pathlib import Path

import pytest

from deplda.cli import root
from tests.cli.running import problem


@pytest.mark.parametrize("option", ["--limit", "--threshold", "--cutoff"])
def test_labels_are_asked_for_alike_where_they_are_given_and_judged(option: str) -> None:
    first, second = (
        next(each for each in root.commands[verb].params if option in each.opts)
        for verb in ("predict", "evaluate")
    )
    assert first.to_info_dict() == second.to_info_dict()


def test_a_gpu_that_is_not_there_is_missed_by_every_verb(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.running import done

    monkeypatch.setattr("deplda.kernels.cuda.device.problem", lambda: "CuPy is not installed")
    done("train", corpus, "-o", tmp_path / "m", "--model", "tfidf-svm")
    for verb in ("predict", "evaluate", "tune"):
        said = problem(1, verb, tmp_path / "m", corpus, "--device", "cuda")
        assert "device is 'cuda', but CuPy is not installed" in said
