"""Several data sets together: who is best how often, and on what kind of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from deplda.data.statistics import Statistics
from deplda.evaluation import scorecard
from deplda.experiments.report.charts import Axis, Chart, Point, Series
from deplda.experiments.report.data_set import statistics_of
from deplda.experiments.report.measures import BY_DOCUMENT, BY_LABEL, METRICS, Metric, nested
from deplda.experiments.report.parts import Block, Cell, Figure, Section, Table, marked, table
from deplda.experiments.report.phrases import listed, rate, signed
from deplda.experiments.report.runs import Group

_BY: dict[Axis, Callable[[Statistics], float]] = {
    Axis("median label frequency", log=True): lambda facts: facts.label_frequency_median,
    Axis("labels per document (cardinality)"): lambda facts: facts.cardinality,
}


def across_section(groups: Sequence[Group]) -> Section:
    """Return the scorecard, and of several data sets how the models do by the kind of data."""
    shared = shared_models(groups)
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


def shared_models(groups: Sequence[Group]) -> list[str]:
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
    best = max(counts.values())
    return [Cell(name), Cell(str(of)), *(marked(str(n), n == best) for n in counts.values())]


def _relative(groups: Sequence[Group], models: list[str]) -> list[Block]:
    facts = {g.name: statistics_of(g.main.results.data) for g in groups if g.main.results.data}
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
