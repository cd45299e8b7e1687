"""What the paper says of its models beside its tables, tried on real data sets.

Run: ``python -m benchmarks.claims sensitivity --data-dir DIR [--data SET …]``: Dependency-LDA with
one setting changed at a time: η and β of training, η of test time, T. A fifth of the training
documents is held out and scored, on each of a set's splits; test documents play no part.

Run: ``python -m benchmarks.claims inference --data-dir DIR [--data SET …]``: fast against proper
inference with the same φ and φ′, chains, samples and documents, also held out, by three seeds.

Run: ``python -m benchmarks.claims scorecard RESULTS …``: on how many of the paper's measures each
model is best, of those that the paper compares, and average precision by label frequency; of
folders that ``python -m paper run`` has made, on test documents.

Prints Markdown. φ is found by expectations throughout, and so are labels but for fast and proper
inference, which sample.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from paper.data import load
from paper.report.measures import METRICS, Metric, nested
from paper.report.runs import Run, read_groups

from benchmarks.defaults import held_out
from deplda import Corpus, DependencyLDA, evaluate
from deplda.comparison.measured import versus
from deplda.evaluation import scorecard
from deplda.evaluation.frequency import PairedTest
from deplda.models.parameters import PaperData

PAPER: dict[str, PaperData] = {
    "yahoo-arts": "yahoo", "yahoo-health": "yahoo", "rcv1-subset1": "rcv1", "eurlex20k": "eurlex",
}  # fmt: skip
SETS = (*PAPER, "bibtex")
QUICK: dict[str, Any] = {
    "fit_method": "deterministic", "inference": "deterministic", "n_topic_chains": 4,
    "n_topic_sweeps": 200, "n_held_out": 0,
}  # fmt: skip
TRAIN_ETAS, BETAS = (1.0, 10.0, 50.0, 200.0, 1000.0), (0.001, 0.01, 0.1, 1.0)
ETA_FACTORS, TOPIC_FACTORS = (0.25, 0.5, 2.0, 4.0), (0.25, 0.5, 2.0, 5.0)
COMPARED = ("DependencyLDA", "PriorLDA", "FlatLDA", "VanillaSVM")
PAIRS = (
    ("DependencyLDA", "PriorLDA"), ("DependencyLDA", "FlatLDA"), ("PriorLDA", "FlatLDA"),
    ("DependencyLDA", "TunedSVM"), ("TunedSVM", "VanillaSVM"),
)  # fmt: skip
N_ASKED, SEEDS = 300, (0, 1, 2)
CHAINS: dict[str, Any] = {"n_test_chains": 1, "burn_in": 50, "n_samples": 15, "lag": 5}
N_CYCLES = 50 + 15 * 5


class Part(NamedTuple):
    """Documents to learn from, and some held out of them to be scored."""

    train: Corpus
    rest: Corpus


def parts(name: str, data_dir: Path) -> list[Part]:
    """Return the parts of each split's training documents; of ten folds, the first alone."""
    data = load(name, data_dir)
    splits = data.splits if len(data.splits) <= 5 else data.splits[:1]
    found = []
    for split in splits:
        train, rest = held_out(data.corpus[split.train], 0.2)
        train = train.keep_words(1)
        found.append(Part(train, rest.align(train)))
    return found


def model_of(name: str, **changes: Any) -> DependencyLDA:
    """Return Dependency-LDA with the paper's settings for a set, or those of the paper's rule."""
    given = QUICK | changes
    return DependencyLDA.paper(PAPER[name], **given) if name in PAPER else DependencyLDA(**given)


def line(*cells: Any) -> None:
    """Print a row of a Markdown table."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


# η, β and T --------------------------------------------------------------------------------------


def settings(name: str, part: Part) -> Iterator[dict[str, Any]]:
    """Yield nothing changed, and then one setting after another.

    With T goes the smoothing of topics: all of it together stays the same, as the paper has it.
    """
    usual = model_of(name).fit(part.train).settings_
    yield {}
    yield from ({"train_eta": value} for value in TRAIN_ETAS if value != usual["train_eta"])
    yield from ({"beta_words": value} for value in BETAS if value != usual["beta_words"])
    yield from ({"eta": usual["eta"] * factor} for factor in ETA_FACTORS)
    for factor in TOPIC_FACTORS:
        n_topics = int(usual["n_topics"] * factor)
        beta = usual["beta_labels"] * usual["n_topics"] / n_topics
        yield {"n_topics": n_topics, "beta_labels": beta}


def quality(model: DependencyLDA, part: Part) -> tuple[float, float, float]:
    """Return average precision by document and by label, and of the rarest fifth of labels."""
    found = evaluate(model.decision_function(part.rest), part.rest, part.train)
    rare = found.by_frequency().bins[0].means["average_precision"].value
    return found.document["average_precision"], found.label["average_precision"], rare


def sensitivity(name: str, data_dir: Path) -> None:
    """Print what Dependency-LDA reaches with each setting, means over splits, and the change."""
    every, usual = parts(name, data_dir), np.zeros(3)
    n = sum(len(part.rest) for part in every)
    print(f"\n{name}: {n:,} documents held out of {len(every)} training sets\n")
    line("setting", "by document", "", "by label", "", "rarest fifth", "")
    line(":--", *["--:"] * 6)
    for changes in settings(name, every[0]):
        model = model_of(name, **changes)
        found = np.mean([quality(model.fit(part.train), part) for part in every], axis=0)
        usual = usual if changes else found
        said = ", ".join(f"{key} = {value:g}" for key, value in changes.items())
        cells = [(f"{a:.3f}", f"{a - b:+.3f}") for a, b in zip(found, usual, strict=True)]
        line(said or str(model.settings_), *(cell for pair in cells for cell in pair))


# Fast and proper inference -----------------------------------------------------------------------


def inference(name: str, data_dir: Path) -> None:
    """Print quality and cost of three kinds of inference with the same model."""
    part = parts(name, data_dir)[0]
    rest = part.rest[:N_ASKED]
    print(f"\n{name}: {len(rest):,} documents held out, seeds {SEEDS}\n")
    line("inference", "by document, each seed", "CPU-ms a document", "µs a cycle of a chain")
    line(":--", "--:", "--:", "--:")
    for method in ("deterministic", "sampled", "proper"):
        reached, spent = [], 0.0
        for seed in SEEDS:
            model = model_of(name, **CHAINS, random_state=seed).fit(part.train)
            model.set_params(inference=method)
            model.decision_function(rest[:5])  # compiles
            begin = time.process_time()
            scores = model.decision_function(rest)
            spent += time.process_time() - begin
            reached.append(evaluate(scores, rest, part.train).document["average_precision"])
        each = spent / len(SEEDS) / len(rest)
        cycle = f"{each / (QUICK['n_topic_chains'] * N_CYCLES) * 1e6:.0f}"
        shown = ", ".join(f"{value:.3f}" for value in reached)
        line(method, shown, f"{each * 1e3:.1f}", "–" if method == "deterministic" else cycle)


# Results of experiments --------------------------------------------------------------------------


def of_kind(run: Run, *kinds: str) -> tuple[str, ...]:
    """Return the models of a run that are of some kinds."""
    return tuple(
        m for kind in kinds for m in run.models if run.experiment.models[m].estimator == kind
    )


def count_best(run: Run, models: Sequence[str]) -> None:
    """Print on how many measures each of some models is best, by pivot and in all."""
    values = {m: nested({k: run.mean(m, k) for k in METRICS}) for m in models}
    card = scorecard({"all": values})
    print(f"\n{run.experiment.name}, {run.about}: best on how many measures\n")
    line("", "of", *models)
    line(":--", *["--:"] * (len(models) + 1))
    for pivot in ("document", "label"):
        keys = [key for key in card.counts if key[1] == pivot]
        counts = [sum(card.counts[key][model] for key in keys) for model in models]
        line(f"by {pivot}", sum(card.n_metrics[key] for key in keys), *counts)
    line("all", sum(card.n_metrics.values()), *card.total("all").values())


def count_pairs(run: Run) -> None:
    """Print on how many of 13 measures of either pivot one model is before another."""
    print(f"\n{run.experiment.name}: measures on which the first is better, of 13\n")
    line("", "by document", "by label")
    line(":--", "--:", "--:")
    for first, second in PAIRS:
        for one, other in product(of_kind(run, first), of_kind(run, second)):
            counts = [
                sum(
                    is_before(run, one, other, metric)
                    for metric in METRICS
                    if metric.pivot == pivot
                )
                for pivot in ("document", "label")
            ]
            line(f"{one} before {other}", *counts)


def is_before(run: Run, one: str, other: str, metric: Metric) -> bool:
    """Return whether a model is better than another."""
    difference = run.mean(one, metric) - run.mean(other, metric)
    return difference < 0 if metric.lower_is_better else difference > 0


def by_frequency(run: Run) -> None:
    """Print average precision in fifths of label frequency, and Dependency-LDA against SVMs."""
    table = run.by_frequency
    if table is None or run.dependency is None:
        return
    svms = of_kind(run, "TunedSVM")
    models = (*of_kind(run, *COMPARED), *svms)
    print(f"\n{run.experiment.name}: average precision by label, by training documents\n")
    line("training documents", *models, *(f"{run.dependency} − {svm}" for svm in svms))
    line(":--", *["--:"] * (len(models) + len(svms)))
    for part in table.bins:
        means = [f"{part.means[model].value:.3f}" for model in models]
        tests = [said(versus(part, run.dependency, svm)) for svm in svms]
        line(f"{part.low}–{part.high}", *means, *tests)


def said(test: PairedTest) -> str:
    """Return a difference and how sure it is."""
    return f"{test.difference:+.3f} (p = {test.p:.3f})"


def show_results(folders: Sequence[Path]) -> None:
    """Print what folders of results say."""
    for group in read_groups(folders):
        run = group.main
        for tuned in of_kind(run, "TunedSVM"):
            count_best(run, (*of_kind(run, *COMPARED), tuned))
        count_pairs(run)
        by_frequency(run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="claim", required=True)
    for claim in ("sensitivity", "inference"):
        verb = verbs.add_parser(claim)
        verb.add_argument("--data-dir", type=Path, required=True)
        verb.add_argument("--data", nargs="+", choices=SETS, default=SETS)
    verbs.add_parser("scorecard").add_argument("results", nargs="+", type=Path)
    options = parser.parse_args()
    if options.claim == "scorecard":
        show_results(options.results)
        return
    for name in options.data:
        (sensitivity if options.claim == "sensitivity" else inference)(name, options.data_dir)


if __name__ == "__main__":
    main()
