"""The top of the page: what was found in plain words, and the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

from deplda.experiments.report.across import shared_models
from deplda.experiments.report.data_set import statistics_of
from deplda.experiments.report.measures import BY_DOCUMENT, BY_LABEL, ONE_ERROR, Metric, rate
from deplda.experiments.report.paper_tables import splits_of
from deplda.experiments.report.parts import Block, Bullets, Cell, Section, Table, table
from deplda.experiments.report.phrases import CLEAR, counted, duration, listed, span
from deplda.experiments.report.rare_labels import verdicts
from deplda.experiments.report.runs import Group, Run, versus

MAIN = (
    BY_DOCUMENT,
    ONE_ERROR,
    Metric("document", "ranking", "ranking_loss"),
    Metric("document", "binary", "micro_f1@calibrated"),
    BY_LABEL,
    Metric("label", "binary", "macro_f1@calibrated"),
)


def title_of(groups: Sequence[Group]) -> str:
    """Return the report's title."""
    return f"Multi-label classification of {listed([group.name for group in groups])}"


def overview_section(groups: Sequence[Group]) -> Section:
    """Return the summary and one leaderboard for each data set."""
    found = [sentence for group in groups for sentence in _found(group)]
    boards = [leaderboard_of(group) for group in groups]
    blocks: list[Block] = [summary(groups), *boards]
    if found:
        blocks += ["By label frequency:", Bullets(tuple(found))]
    return Section("Summary", tuple(blocks))


def summary(groups: Sequence[Group]) -> str:
    """Return what was run, and who is best, in one paragraph."""
    models = list(dict.fromkeys(model for group in groups for model in group.main.models))
    same = len(models) == len(shared_models(groups))
    parts = [
        f"{listed(models)} on {listed([_data(group) for group in groups])}"
        f"{'' if same else ', not every model on each'}."
    ]
    for metric in (BY_DOCUMENT, BY_LABEL):
        tops: dict[str, list[str]] = {}
        for group in groups:
            tops.setdefault(group.main.best(metric), []).append(group.name)
        best = "; ".join(f"{model} on {listed(names)}" for model, names in tops.items())
        ranked = "labels for a document" if metric.pivot == "document" else "documents for a label"
        parts.append(f"Best at ranking {ranked}: {best}.")
    rare = [said for group in groups if (said := _rare(group.main, group.name))]
    failed = sum(len(run.failed) for group in groups for run in group.runs)
    missed = [f"{counted(failed, 'unit')} failed; see the end of the page."] if failed else []
    return " ".join([*parts, *rare, *missed])


def leaderboard_of(group: Group, metrics: Sequence[Metric] = MAIN) -> Table:
    """Return the main figures of every model, the best of each in bold; best model first."""
    run = group.main
    rarest = run.by_frequency.bins[0] if run.by_frequency is not None else None
    rows = []
    for model in sorted(run.models, key=lambda m: -run.mean(m, BY_DOCUMENT)):
        cells = [Cell(model)]
        for metric in metrics:
            text = metric.shown(run.mean(model, metric))
            cells.append(Cell(text, "best" if run.is_best(model, metric) else ""))
        if rarest is not None:
            values = {name: rate(mean.value) for name, mean in rarest.means.items()}
            tops = values[model] == max(values.values())
            cells.append(Cell(values[model], "best" if tops else ""))
        cells += [Cell(duration(run.seconds(model, part))) for part in ("fit", "predict")]
        rows.append(cells)
    named = [f"{metric.title} by {metric.pivot}" for metric in metrics]
    rare = (
        []
        if rarest is None
        else [f"Avg-Prec of labels of {span(rarest.low, rarest.high)} documents"]
    )
    return table(
        f"Leaderboard of {group.name}: {splits_of(run)}, budget {run.title}. {run.gpus}".strip(),
        ("model", *named, *rare, "fit, CPU s", "predict, CPU s"),
        rows,
    )


def _data(group: Group) -> str:
    run = group.main
    size = ""
    if run.results.data is not None:
        facts = statistics_of(run.results.data)
        size = f"{facts.n_documents:,} documents, {facts.n_labels:,} labels, "
    return f"{group.name} ({size}{splits_of(run)}, budget {run.title})"


def _found(group: Group) -> list[str]:
    """Return where Dependency-LDA is better than the tuned and the tf-idf SVM (or the like)."""
    run = group.main
    if run.by_frequency is None:
        return []
    return [f"{group.name}. {said}" for said in verdicts(run, run.by_frequency)[:2]]


def _rare(run: Run, name: str) -> str:
    """Return how Dependency-LDA does on the rarest labels, against the best SVM there."""
    if run.by_frequency is None or run.dependency is None or not run.svms:
        return ""
    rarest = run.by_frequency.bins[0]
    rival = max(run.svms, key=lambda svm: rarest.means[svm].value)
    test = versus(rarest, run.dependency, rival)
    verdict = "not clearly different from"
    if test.p < CLEAR:
        verdict = "better than" if test.difference > 0 else "worse than"
    return (
        f"On the rarest labels of {name} ({span(rarest.low, rarest.high)} training documents) "
        f"{run.dependency} is {verdict} {rival}, the best SVM there "
        f"({rate(rarest.means[run.dependency].value)} to {rate(rarest.means[rival].value)})."
    )
