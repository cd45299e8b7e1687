"""The top of the page: what was found in plain words, leaderboards, all data sets together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from rich.console import Group as Stack
from rich.text import Text

from deplda.comparison.facts import statistics_of
from deplda.comparison.measured import versus
from deplda.comparison.phrases import CLEAR, NOISE, documents, listed, rate
from deplda.comparison.standing import (
    Cell,
    Table,
    best_at,
    best_on_rarest,
    leaderboard_of,
    to_rich,
)
from deplda.data.files import StrPath
from deplda.data.statistics import Statistics
from deplda.data.wording import counted
from deplda.evaluation import scorecard
from paper.report.charts import Axis, Chart, Point, Series
from paper.report.measures import (
    BY_DOCUMENT,
    BY_LABEL,
    METRICS,
    MICRO_F1,
    ONE_ERROR,
    Metric,
    nested,
)
from paper.report.parts import Block, Bullets, Figure, Remark, Section, table
from paper.report.phrases import signed
from paper.report.rare_labels import verdicts
from paper.report.runs import Group, Run, read_groups

_NARROW = (BY_DOCUMENT, BY_LABEL)
"""What fits into 80 columns."""
_MAIN = (
    BY_DOCUMENT,
    ONE_ERROR,
    MICRO_F1,
    BY_LABEL,
)
_BY: dict[Axis, Callable[[Statistics], float]] = {
    Axis("median label frequency", log=True): lambda facts: facts.label_frequency_median,
    Axis("labels per document (cardinality)"): lambda facts: facts.cardinality,
}


def overview_section(groups: Sequence[Group]) -> Section:
    """Return the summary, one leaderboard for each data set, and Dependency-LDA by frequency."""
    blocks: list[Block] = [*_warning(groups), _summary(groups), Bullets(tuple(_found(groups)))]
    blocks += [*(_leaderboard(group) for group in groups), NOISE]
    # Against the tuned and the tf-idf SVM, or the like.
    found = [
        f"{_prefix(group, groups)}{said}" for group in groups for said in verdicts(group.main)[:2]
    ]
    if found:
        blocks += ["By label frequency:", Bullets(tuple(found))]
    return Section("Summary", tuple(blocks))


def leaderboard(folders: StrPath | Iterable[StrPath]) -> Stack:
    """Return the main metrics of every model for ``rich.print``, a table for each data set."""
    tables = [to_rich(_leaderboard(group, _NARROW)) for group in read_groups(folders)]
    return Stack(*tables, Text(NOISE, style="dim"))


def _leaderboard(group: Group, metrics: tuple[Metric, ...] = _MAIN) -> Table:
    board = leaderboard_of(group.main, metrics)
    caption = f"Leaderboard of {group.name}: {group.main.about}. {group.main.gpus}".strip()
    return board._replace(caption=caption)


def across_section(groups: Sequence[Group]) -> Section:
    """Return the scorecard, and of several data sets how the models do by the kind of data."""
    shared = _shared_models(groups)
    if not shared:
        return Section("All data sets", ("No model was run on all data sets.",))
    blocks: list[Block] = [
        "On how many metrics each model is best, alone or with others (equal to three digits): six "
        "of ranking (Rank-Loss repeats AUC-ROC) and six F1, by document and by label. Only models "
        "that were run on every data set are counted.",
        _scorecard(groups, shared),
    ]
    if len(groups) > 1 and len(shared) > 1:
        blocks += _relative(groups, shared)
    return Section("All data sets" if len(groups) > 1 else "Scorecard", tuple(blocks))


def _summary(groups: Sequence[Group]) -> str:
    """Return what was run, in one paragraph."""
    models = list(dict.fromkeys(model for group in groups for model in group.main.models))
    same = len(models) == len(_shared_models(groups))
    parts = [
        f"{listed(models)} on {listed(_data(group) for group in groups)}"
        f"{'' if same else ', not every model on each'}."
    ]
    failed = sum(len(run.results.failed) for group in groups for run in group.runs)
    if failed:
        parts.append(f"{counted(failed, 'unit')} failed; see the end of the page.")
    return " ".join(parts)


def _warning(groups: Sequence[Group]) -> list[Remark]:
    """Return which data is generated, as the first thing to be said; nothing if none is."""
    names = [group.name for group in groups if group.main.is_generated]
    if not names:
        return []
    said = (
        f"The documents of {listed(names)} are generated: a program drew them. They show what "
        "models do and how they differ in kind; how good one is on documents that people wrote is "
        "to be measured on such documents."
    )
    return [Remark(said)]


def _found(groups: Sequence[Group]) -> list[str]:
    """Return who is best at what, and who ties, in sentences."""
    said = []
    for group in groups:
        run = group.main
        found = [best_at(run, BY_DOCUMENT), best_at(run, BY_LABEL), best_on_rarest(run), _rare(run)]
        said += [f"{_prefix(group, groups)}{sentence}" for sentence in found if sentence]
    return said


def _prefix(group: Group, groups: Sequence[Group]) -> str:
    return f"{group.name}: " if len(groups) > 1 else ""


def _data(group: Group) -> str:
    size = ""
    if group.main.data is not None:
        facts = statistics_of(group.main.data)
        size = f"{facts.n_documents:,} documents, {facts.n_labels:,} labels, "
    return f"{group.name} ({size}{group.main.about})"


def _rare(run: Run) -> str:
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
        f"On the rarest labels, of {documents(rarest.low, rarest.high)}, "
        f"{run.dependency} is {verdict} {rival}, the best SVM there "
        f"({rate(rarest.means[run.dependency].value)} to {rate(rarest.means[rival].value)})."
    )


def _shared_models(groups: Sequence[Group]) -> list[str]:
    """Return the models that were run on every data set."""
    return [m for m in groups[0].main.models if all(m in group.main.models for group in groups)]


def _scorecard(groups: Sequence[Group], models: list[str]) -> Table:
    rows = []
    for group in groups:
        run = group.main
        card = scorecard(
            {group.name: {m: nested({k: run.mean(m, k) for k in METRICS}) for m in models}}
        )
        rows += [
            _counts(f"{group.name}, {pivot}-pivoted {task}", card.n_metrics[key], counts)
            for key, counts in card.counts.items()
            for _, pivot, task in [key]
        ]
        of = sum(card.n_metrics.values())
        rows.append(_counts(f"{group.name}, all", of, card.total(group.name)))
        if run.paper:
            printed = {
                model: nested({metric: float(text) for metric, text in row.items()})
                for model, row in run.paper.items()
            }
            totals = scorecard({"paper": printed}).total("paper")
            theirs = (str(totals.get(model, "–")) for model in models)
            named = f"{run.experiment.paper}, the paper’s own, all"
            rows.append([Cell(text, "soft") for text in (named, str(of), *theirs)])
    return table("Best on how many metrics.", ("data set", "of", *models), rows)


def _counts(name: str, of: int, counts: Mapping[str, int]) -> list[Cell]:
    return [Cell(name), Cell(str(of)), *(Cell(str(n)) for n in counts.values())]


def _relative(groups: Sequence[Group], models: list[str]) -> list[Block]:
    facts = {g.name: statistics_of(g.main.data) for g in groups if g.main.data}
    left_out = [group.name for group in groups if group.name not in facts]
    blocks: list[Block] = []
    if left_out:
        blocks.append(f"Not in the figures, as the data is not described: {listed(left_out)}.")
    if len(facts) > 1:
        for axis, statistic in _BY.items():
            places = {name: statistic(found) for name, found in facts.items()}
            known = [group for group in groups if group.name in facts]
            known.sort(key=lambda group: places[group.name])
            blocks += [
                _relative_figure(known, models, metric, axis, places)
                for metric in (BY_DOCUMENT, BY_LABEL)
            ]
    return blocks


def _relative_figure(
    groups: Sequence[Group], models: list[str], metric: Metric, axis: Axis, places: dict[str, float]
) -> Figure:
    """Return the models' values less their mean on each data set, by one of its statistics."""
    means = {g.name: np.array([g.main.mean(m, metric) for m in models]) for g in groups}
    above = {name: values - values.mean() for name, values in means.items()}
    series = tuple(
        Series(model, tuple(Point(places[name], float(v[k])) for name, v in above.items()), k)
        for k, model in enumerate(models)
    )
    rows = [
        [name, f"{places[name]:,.4g}", rate(means[name].mean()), *map(signed, values)]
        for name, values in above.items()
    ]
    what = f"average precision by {metric.pivot}"
    tops = [f"{models[int(values.argmax())]} on {name}" for name, values in above.items()]
    return Figure(
        f"Relative {what}, by {axis.title}",
        f"Each model’s {what} less the models’ mean on that data set: above 0 is better than most. "
        f"From left to right, best are {listed(tops)}.",
        Chart("lines", axis, Axis("relative average precision"), series),
        table(
            f"{what.capitalize()}, less the mean.", ("data set", axis.title, "mean", *models), rows
        ),
    )
