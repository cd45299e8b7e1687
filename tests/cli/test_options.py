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


def test_a_device_is_for_models_that_know_one(tmp_path: Path, corpus: Path) -> None:
    from tests.cli.running import done

    done("train", corpus, "-o", tmp_path / "m", "--model", "tfidf-svm")
    for verb in ("predict", "evaluate", "tune"):
        said = problem(2, verb, tmp_path / "m", corpus, "--device", "cuda")
        assert "--device is for" in said
