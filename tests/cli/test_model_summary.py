"""``deplda show`` of a model."""

import json
from pathlib import Path

import pytest

from tests.cli.running import QUICK, done

OLD = Path(__file__).parents[1] / "models" / "fixtures" / "model-v1"


def test_the_summary_says_what_the_model_is(model: Path) -> None:
    told = json.loads(done("show", model, "--json"))
    assert (told["model"], told["labels"], told["takes_text"]) == ("DependencyLDA", 3, True)
    assert told["statistics"]["n_documents"] == 24
    first = done("show", model).splitlines()[0]
    assert first.startswith(
        "DependencyLDA, trained on 24 documents, 3 labels, 23 different words ("
    )
    assert first.endswith("it takes texts.")


def test_the_summary_says_how_good_the_model_is_in_plain_words(model: Path) -> None:
    reached = json.loads(done("show", model, "--json"))["held_out"]
    shown = done("show", model)
    assert (
        f"On {reached['documents']:.0f} training documents held out (of 24), a model of the"
        in shown
    )
    assert f"gave the right label first for {100 - reached['one_error']:.0f} %" in shown
    n = round(reached["labels"])
    by_label = f"{reached['label_average_precision']:.3f} by label ({n} labels"
    assert f"{reached['average_precision']:.3f} by document and {by_label})" in shown
    assert "percentage points on average (expected calibration error)" in shown
    assert f"Label by label: deplda show {model} --sort worst" in shown


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")  # some articles are alike
def test_the_summary_says_what_a_test_on_other_documents_gave(tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "m", *QUICK, "--holdout", "0.2")
    metrics = json.loads(done("show", tmp_path / "m", "--json"))["metrics"]["headline"]
    shown = done("show", tmp_path / "m")
    assert "Tested on 6 other documents (train --holdout): " in shown
    assert f"average precision {metrics['average_precision']['value']:.3f} by document." in shown


def test_a_model_that_was_not_measured_says_so(tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "m", *QUICK, "--set", "n_held_out=0")
    for model in (tmp_path / "m", OLD):
        assert "How good it is was not measured in training; deplda evaluate says" in done(
            "show", model
        )
