"""The top of the page: what was found in plain words, and the leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group as Stack
from rich.table import Table as RichTable
from rich.text import Text

from deplda.data.files import StrPath
from deplda.experiments.report.across import shared_models
from deplda.experiments.report.data_set import statistics_of
from deplda.experiments.report.measures import BY_DOCUMENT, BY_LABEL, ONE_ERROR, Metric
from deplda.experiments.report.parts import Block, Bullets, Cell, Section, Table, marked, table
from deplda.experiments.report.phrases import CLEAR, counted, duration, listed, rate, span
from deplda.experiments.report.rare_labels import verdicts
from deplda.experiments.report.runs import Group, Run, read_groups, versus

_NARROW = (BY_DOCUMENT, ONE_ERROR, BY_LABEL)
"""What fits into 80 columns."""
_MAIN = (
    BY_DOCUMENT,
    ONE_ERROR,
    Metric("document", "ranking", "ranking_loss"),
    Metric("document", "binary", "micro_f1@calibrated"),
    BY_LABEL,
    Metric("label", "binary", "macro_f1@calibrated"),
)


def title_of(groups: Sequence[Group]) -> str:
    """Return the report's title."""
    return f"Multi-label classification of {listed(group.name for group in groups)}"


def overview_section(groups: Sequence[Group]) -> Section:
    """Return the summary, one leaderboard for each data set, and Dependency-LDA by frequency."""
    blocks: list[Block] = [_summary(groups), *(leaderboard_of(group) for group in groups)]
    # Against the tuned and the tf-idf SVM, or the like.
    found = [f"{group.name}. {said}" for group in groups for said in verdicts(group.main)[:2]]
    if found:
        blocks += ["By label frequency:", Bullets(tuple(found))]
    return Section("Summary", tuple(blocks))


def leaderboard(folders: StrPath | Iterable[StrPath]) -> Stack:
    """Return the main metrics of every model for ``rich.print``, a table for each data set."""
    return Stack(*(_rich(leaderboard_of(group, _NARROW)) for group in read_groups(folders)))


def leaderboard_of(group: Group, metrics: Sequence[Metric] = _MAIN) -> Table:
    """Return the main metrics of every model, the best of each in bold; best model first."""
    run = group.main
    columns = ["model", *(metric.full_title for metric in metrics)]
    rarest = dict[str, str]()
    if run.by_frequency is not None:
        part = run.by_frequency.bins[0]
        rarest = {model: rate(mean.value) for model, mean in part.means.items()}
        columns.append(f"Avg-Prec of labels of {span(part.low, part.high)} documents")
    rows = []
    for model in sorted(run.models, key=lambda m: -run.mean(m, BY_DOCUMENT)):
        cells = [
            marked(metric.shown(run.mean(model, metric)), run.is_best(model, metric))
            for metric in metrics
        ]
        if rarest:
            cells.append(marked(rarest[model], rarest[model] == max(rarest.values())))
        cells += [Cell(duration(run.cpu_seconds(model, part))) for part in ("fit", "predict")]
        rows.append([Cell(model), *cells])
    caption = f"Leaderboard of {group.name}: {run.about}. {run.gpus}".strip()
    return table(caption, (*columns, "fit, CPU s", "predict, CPU s"), rows)


def _summary(groups: Sequence[Group]) -> str:
    """Return what was run, and who is best, in one paragraph."""
    models = list(dict.fromkeys(model for group in groups for model in group.main.models))
    same = len(models) == len(shared_models(groups))
    parts = [
        f"{listed(models)} on {listed(_data(group) for group in groups)}"
        f"{'' if same else ', not every model on each'}."
    ]
    for metric, ranked in (
        (BY_DOCUMENT, "labels for a document"),
        (BY_LABEL, "documents for a label"),
    ):
        tops: dict[str, list[str]] = {}
        for group in groups:
            tops.setdefault(group.main.best(metric), []).append(group.name)
        best = "; ".join(f"{model} on {listed(names)}" for model, names in tops.items())
        parts.append(f"Best at ranking {ranked}: {best}.")
    parts += [said for group in groups if (said := _rare(group.main, group.name))]
    failed = sum(len(run.failed) for group in groups for run in group.runs)
    if failed:
        parts.append(f"{counted(failed, 'unit')} failed; see the end of the page.")
    return " ".join(parts)


def _data(group: Group) -> str:
    size = ""
    if group.main.results.data is not None:
        facts = statistics_of(group.main.results.data)
        size = f"{facts.n_documents:,} documents, {facts.n_labels:,} labels, "
    return f"{group.name} ({size}{group.main.about})"


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


def _rich(table: Table) -> RichTable:
    drawn = RichTable(
        title=Text(table.caption),
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    for number, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="right" if number else "left", no_wrap=not number)
    for row in table.rows:
        drawn.add_row(*(Text(c.text, style="bold" if c.tone == "best" else "") for c in row))
    return drawn
