"""Rare and frequent labels apart: where a model is better than another, and where not."""

from __future__ import annotations

from collections.abc import Sequence

from deplda.evaluation import FrequencyBin, FrequencyTable
from deplda.experiments.report.charts import Axis, Chart, Point, Series
from deplda.experiments.report.measures import rate, signed
from deplda.experiments.report.parts import Block, Bullets, Cell, Figure, Section, Table, table
from deplda.experiments.report.phrases import CLEAR, listed, p_value, span, stars
from deplda.experiments.report.runs import Run, versus


def frequency_section(run: Run) -> Section:
    """Return average precision by quintile of label frequency, as sentences, figure and table."""
    found = run.by_frequency
    if found is None:
        return Section(
            "Rare and frequent labels",
            ("No split has been finished by every model, so that labels cannot be paired.",),
        )
    sentences = verdicts(run, found)
    blocks: list[Block] = [
        "Labels are parted into fifths by their number of training documents (those of one "
        "frequency stay together). Each label of each split is one pair of the t-tests, as in the "
        "paper; pairs of one label in several splits are not independent, so read small p values "
        "with care."
    ]
    if sentences:
        blocks.append(Bullets(tuple(sentences)))
    return Section("Rare and frequent labels", (*blocks, _figure(run, found)))


def verdicts(run: Run, found: FrequencyTable) -> list[str]:
    """Return one sentence for each pair that is compared: where the first is better, where not."""
    return [_verdict(first, second, found.bins) for first, second in run.compared]


def _verdict(first: str, second: str, bins: Sequence[FrequencyBin]) -> str:
    better, worse, open_ = list[str](), list[str](), list[str]()
    for part in bins:
        test = versus(part, first, second)
        where = span(part.low, part.high)
        if test.p < CLEAR:
            side = better if test.difference > 0 else worse
            side.append(f"{where} ({signed(test.difference)}, {p_value(test.p)})")
        else:
            open_.append(f"{where} ({signed(test.difference)})")
    parts = [
        f"{what} on labels of {listed(places)} training documents"
        for what, places in (
            ("better", better),
            ("worse", worse),
            ("not clearly different", open_),
        )
        if places
    ]
    return f"{first} against {second}: {'; '.join(parts)}."


def _figure(run: Run, found: FrequencyTable) -> Figure:
    bins = found.bins
    names = tuple(span(part.low, part.high) for part in bins)
    series = tuple(
        Series(model, tuple(_point(run, model, part, k) for k, part in enumerate(bins)), number)
        for number, model in enumerate(run.models)
    )
    x = Axis("training documents of a label", names=names)
    chart = Chart("lines", x, Axis("average precision by label"), series)
    compared = run.dependency is not None and run.svms
    hollow = (
        f" A hollow mark of an SVM: no clear difference from {run.dependency}." if compared else ""
    )
    rarest = max(run.models, key=lambda model: bins[0].means[model].value)
    caption = (
        f"On the rarest labels ({names[0]} documents) {rarest} is best, "
        f"at {rate(bins[0].means[rarest].value)}. Whiskers are 95 % bootstrap intervals.{hollow}"
    )
    return Figure("Average precision by label frequency", caption, chart, _table(run, found))


def _point(run: Run, model: str, part: FrequencyBin, place: int) -> Point:
    mean = part.means[model]
    # Side by side within the bin, so that whiskers can be told apart.
    n = len(run.models)
    x = place + (run.models.index(model) - (n - 1) / 2) * 0.07
    clear = (
        run.dependency is None
        or model not in run.svms
        or versus(part, run.dependency, model).p < CLEAR
    )
    return Point(x, mean.value, mean.low, mean.high, not clear)


def _table(run: Run, found: FrequencyTable) -> Table:
    svms = run.svms if run.dependency is not None else ()
    rows = []
    for part in found.bins:
        best = max(rate(mean.value) for mean in part.means.values())
        values = [rate(part.means[model].value) for model in run.models]
        tests = [versus(part, str(run.dependency), svm) for svm in svms]
        rows.append(
            [
                Cell(span(part.low, part.high)),
                Cell(f"{part.n_labels:,}"),
                *(Cell(value, "best" if value == best else "") for value in values),
                *(Cell(f"{signed(test.difference)} {stars(test.p)}".strip()) for test in tests),
            ]
        )
    compared = tuple(f"{run.dependency} − {svm}" for svm in svms)
    marks = f" Differences: {LEGEND}." if svms else ""
    caption = f"Average precision by label, by training documents; the best in bold.{marks}"
    return table(caption, ("training documents", "labels", *run.models, *compared), rows)


LEGEND = "* p < .05, ** p < .01, *** p < .001, two-sided paired t-test"
