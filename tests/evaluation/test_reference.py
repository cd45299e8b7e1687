"""The authors' own scores and metrics for Yahoo! Health, split 1, and the paper's win counts."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paper.data import load

from deplda import Corpus
from deplda.evaluation import Evaluation, evaluate, rank_metrics, scorecard
from deplda.evaluation.scorecard import SCORED
from tests.evaluation.cases import Matrix

MODELS = ("flat", "prior", "dependency")
STATS = {"document": "docstats", "label": "labelstats"}
CUTS = {"TrainProp": "proportional", "Calib": "calibrated", "BEP": "break_even"}


@cache
def split(data_dir: Path) -> tuple[Corpus, Corpus]:
    data = load("yahoo-health", data_dir)
    return data.corpus[data.splits[0].train], data.corpus[data.splits[0].test]


@cache
def stored_scores(model: str, data_dir: Path) -> Matrix:
    stored = np.load(data_dir / "yahoo_health_rubin" / "reference" / f"{model}_lda_preds.npz")
    scores: Matrix = stored["total_doc_preds"]
    return scores


@cache
def evaluation(model: str, data_dir: Path, ties: str) -> Evaluation:
    train, test = split(data_dir)
    return evaluate(stored_scores(model, data_dir), test.labels, train.labels, ties=ties)


@cache
def stored_metrics(data_dir: Path) -> dict[str, Any]:
    path = data_dir / "yahoo_health_rubin" / "reference" / "reference_stats.json"
    metrics: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return metrics


def expected_ranking(theirs: dict[str, Any]) -> dict[str, float]:
    """Return the stored metrics in our terms: they count a perfect margin −1, coverage from 0."""
    ranks = theirs["rankstats"]
    return {
        "auc_roc": theirs["macro_AUC_ROC"],
        "auc_pr": theirs["macro_AUC_PR"],
        "average_precision": theirs["macro_AvgPrec"],
        "one_error": ranks["OneError"],
        "is_error": ranks["IsError"],
        "ranking_loss": ranks["RankLoss"],
        "margin": ranks["Margin"] + (1 - ranks["IsError"] / 100),
        "coverage": ranks["Coverage"] + 1,
    }


def tolerance(name: str, pivot: str, model: str) -> float:
    if name in ("margin", "coverage"):
        # Single precision, in which the scores were kept, makes hundreds of documents equal that
        # were not, and these two are ranks among 8,109.
        return 8 if pivot == "label" and model != "dependency" else 1e-4
    return 5e-3 if name.endswith(("error", "loss")) else 5e-5


@pytest.mark.data
@pytest.mark.parametrize("pivot", ["document", "label"])
@pytest.mark.parametrize("model", MODELS)
def test_the_authors_ranking_metrics_come_out(model: str, pivot: str, data_dir: Path) -> None:
    theirs = stored_metrics(data_dir)[f"{model}_lda"][STATS[pivot]]
    found = getattr(evaluation(model, data_dir, "order"), pivot)
    for name, value in expected_ranking(theirs).items():
        assert found[name] == pytest.approx(value, abs=tolerance(name, pivot, model)), name


@pytest.mark.data
@pytest.mark.parametrize("pivot", ["document", "label"])
@pytest.mark.parametrize("model", MODELS)
def test_the_authors_binary_metrics_come_out(model: str, pivot: str, data_dir: Path) -> None:
    theirs = stored_metrics(data_dir)[f"{model}_lda"][STATS[pivot]]
    found = getattr(evaluation(model, data_dir, "order"), pivot)
    for cut, ours in CUTS.items():
        for mean in ("macro", "micro"):
            for name in ("F1", "Precision", "Recall"):
                # Where several cuts give a document its best F1, theirs is not always the smallest.
                loose = cut == "BEP" and (mean, name) != ("macro", "F1")
                within = (5e-4 if name == "F1" else 1.1e-3) if loose else 5e-5
                value = theirs[f"{cut}_{mean}{name}"]
                figure = f"{mean}_{name.lower()}@{ours}"
                assert found[figure] == pytest.approx(value, abs=within), figure


@pytest.mark.data
@pytest.mark.parametrize("pivot", ["document", "label"])
@pytest.mark.parametrize("model", MODELS)
def test_the_authors_micro_auc_is_that_of_all_ranks_together(
    model: str, pivot: str, data_dir: Path
) -> None:
    scores, truth = stored_scores(model, data_dir), split(data_dir)[1].labels.toarray()
    if pivot == "label":
        scores, truth = scores.T, truth.T
    order = np.argsort(-scores, axis=1, kind="stable")
    by_rank = np.take_along_axis(truth, order, axis=1).reshape(1, -1)
    found = rank_metrics(np.tile(-np.arange(scores.shape[1]), (1, len(scores))), by_rank)
    theirs = stored_metrics(data_dir)[f"{model}_lda"][STATS[pivot]]["micro_AUC_ROC"]
    assert found["auc_roc"][0] == pytest.approx(theirs, abs=5e-5)


@pytest.mark.data
@pytest.mark.parametrize("model", MODELS)
def test_the_authors_values_of_every_label_come_out(model: str, data_dir: Path) -> None:
    theirs = stored_metrics(data_dir)[f"{model}_lda"]["labelstats"]
    found = evaluation(model, data_dir, "order").label
    assert found.training_documents.tolist() == theirs["nctrain"]
    assert found.positives.tolist() == theirs["nctest"]
    names = {
        "AUC_PR": "auc_pr",
        "AUC_ROC": "auc_roc",
        "AvgPrec": "average_precision",
        "optF1": "macro_f1@break_even",
    }
    within = 1e-9 if model == "dependency" else 2e-4  # for the ties that single precision made
    for name, ours in names.items():
        assert found.item_values(ours) == pytest.approx(np.array(theirs[name]), abs=within), name


@pytest.mark.data
@pytest.mark.parametrize("model", MODELS)
def test_the_authors_values_by_labels_of_a_document_come_out(model: str, data_dir: Path) -> None:
    theirs = stored_metrics(data_dir)[f"{model}_lda"]["docfstats"]
    found = evaluation(model, data_dir, "order").document
    names = {
        "macroAUC_PR": "auc_pr",
        "macroAUC_ROC": "auc_roc",
        "BEP_MacroF1": "macro_f1@break_even",
        "Calib_MacroF1": "macro_f1@calibrated",
        "TrainProp_MacroF1": "macro_f1@proportional",
    }
    for name, ours in names.items():
        means = [found.item_values(ours)[found.positives == n].mean() for n in theirs["ntrain"]]
        assert means == pytest.approx(theirs[name], abs=5e-5), name


@pytest.mark.data
@pytest.mark.parametrize("model", MODELS)
def test_expected_values_over_ties_are_near_the_authors(model: str, data_dir: Path) -> None:
    strict, expected = (evaluation(model, data_dir, ties) for ties in ("order", "expected"))
    for pivot in ("document", "label"):
        for name in SCORED["ranking"][:3] + SCORED["binary"]:
            ours, theirs = (getattr(found, pivot)[name] for found in (expected, strict))
            assert ours == pytest.approx(theirs, abs=3e-4), (pivot, name)


# The paper's tables (its figures 6, 7, 10 and 11), and the wins that it counts in them (figure 13).
RANKING = (
    "auc_pr",
    "auc_roc",
    "average_precision",
    "ranking_loss",
    "one_error",
    "is_error",
    "margin",
)
PAPER = {
    "Yahoo! Arts": {
        "Vanilla": ".553 .828 .565 17.15 55.5 68.3 4.28 .376 .339 .420 .397 .648 .502 "
        ".297 .751 .298 24.89 28.4 100 6370 .325 .428 .324 .429 .350 .420",
        "Tuned": ".615 .833 .625 16.71 44.2 60.9 4.28 .461 .425 .508 .482 .689 .519 "
        ".329 .757 .330 24.25 27.4 100 6367 .355 .454 .357 .457 .376 .448",
        "Dependency": ".619 .855 .630 14.51 45.4 62.4 3.76 .454 .416 .494 .464 .698 .548 "
        ".339 .755 .341 24.49 44.2 100 6355 .367 .451 .368 .452 .385 .439",
        "Prior": ".607 .853 .619 14.67 46.8 64.6 3.87 .448 .406 .479 .439 .690 .545 "
        ".332 .748 .333 25.24 46.3 100 6378 .358 .440 .359 .442 .378 .419",
        "Flat": ".579 .810 .589 18.99 47.1 66.7 5.01 .438 .403 .464 .431 .660 .496 "
        ".328 .749 .329 25.09 46.3 100 6377 .355 .435 .354 .437 .373 .417",
    },
    "Yahoo! Health": {
        "Vanilla": ".682 .887 .694 11.30 44.1 58.0 2.21 .463 .428 .574 .573 .763 .687 "
        ".541 .846 .542 15.38 20.0 100 7965 .548 .638 .553 .641 .571 .650",
        "Tuned": ".779 .898 .788 10.17 24.3 43.0 2.01 .617 .580 .693 .670 .824 .724 "
        ".569 .849 .570 15.08 14.3 100 7968 .571 .656 .575 .658 .593 .669",
        "Dependency": ".795 .926 .805 7.45 24.7 44.1 1.52 .619 .577 .700 .675 .841 .766 "
        ".568 .850 .569 15.03 17.1 100 7988 .562 .646 .567 .649 .589 .659",
        "Prior": ".738 .909 .750 9.06 34.3 53.9 1.89 .543 .503 .629 .613 .803 .736 "
        ".526 .820 .526 18.04 17.1 100 8016 .521 .610 .526 .611 .544 .617",
        "Flat": ".744 .893 .757 10.66 27.0 53.1 2.20 .594 .559 .633 .605 .796 .710 "
        ".513 .813 .514 18.69 15.7 100 8013 .512 .599 .517 .601 .532 .610",
    },
}


def printed(row: str) -> dict[str, Any]:
    values = [float(value) for value in row.split()]
    halves = {"document": values[:13], "label": values[13:]}
    return {
        pivot: {
            "ranking": dict(zip(RANKING, half[:7], strict=True)),
            "binary": dict(zip(SCORED["binary"], half[7:], strict=True)),
        }
        for pivot, half in halves.items()
    }


def test_the_papers_tables_give_the_wins_that_the_paper_counts() -> None:
    tables = {
        data: {model: printed(row) for model, row in rows.items()} for data, rows in PAPER.items()
    }
    card = scorecard(tables, digits=None)
    arts, health = card.total("Yahoo! Arts"), card.total("Yahoo! Health")
    assert (arts["Dependency"], arts["Tuned"]) == (13, 12)
    assert (health["Dependency"], health["Tuned"]) == (11, 13)
    assert sum(n for (data, _, _), n in card.n_metrics.items() if data == "Yahoo! Arts") == 24
