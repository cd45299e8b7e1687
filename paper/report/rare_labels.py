"""Rare and frequent labels apart: where a model is better than another, and where not."""

from __future__ import annotations

from collections.abc import Sequence

from deplda.comparison.measured import versus
from deplda.comparison.phrases import CLEAR, listed, span
from deplda.comparison.standing import Cell, Table, best_on_rarest, bin_cell
from deplda.evaluation import FrequencyBin
from paper.report.charts import Axis, Chart, Point, Series
from paper.report.parts import Block, Bullets, Figure, Section, table
from paper.report.phrases import p_value, signed, stars
from paper.report.runs import Run

_TITLE = "Rare and frequent labels"


def frequency_section(run: Run) -> Section:
    """Return average precision by quintile of label frequency, as sentences, figure and table."""
    if run.by_frequency is None:
        said = "No split has been finished by every model, so that labels cannot be paired."
        return Section(_TITLE, (said,))
    blocks: list[Block] = [
        "Labels are parted into fifths by their number of training documents (those of one "
        "frequency stay together). Each label of each split is one pair of the t-tests, as in the "
        "paper; pairs of one label in several splits are not independent, so read small p values "
        "with care."
    ]
    sentences = verdicts(run)
    if sentences:
        blocks.append(Bullets(tuple(sentences)))
    return Section(_TITLE, (*blocks, _figure(run, run.by_frequency.bins)))


def verdicts(run: Run) -> list[str]:
    """Return one sentence for each pair that is compared: where the first is better, where not."""
    bins = () if run.by_frequency is None else run.by_frequency.bins
    return [_verdict(first, second, bins) for first, second in run.compared if bins]


def _verdict(first: str, second: str, bins: Sequence[FrequencyBin]) -> str:
    places: dict[str, list[str]] = {"better": [], "worse": [], "not clearly different": []}
    for part in bins:
        test = versus(part, first, second)
        where = f"{span(part.low, part.high)} ({signed(test.difference)}"
        if test.p < CLEAR:
            side = "better" if test.difference > 0 else "worse"
            places[side].append(f"{where}, {p_value(test.p)})")
        else:
            places["not clearly different"].append(f"{where})")
    parts = [
        f"{side} on labels of {listed(found)} training documents"
        for side, found in places.items()
        if found
    ]
    return f"{first} against {second}: {'; '.join(parts)}."


def _figure(run: Run, bins: Sequence[FrequencyBin]) -> Figure:
    names = tuple(span(part.low, part.high) for part in bins)
    series = tuple(
        Series(model, tuple(_point(run, model, part, k) for k, part in enumerate(bins)), number)
        for number, model in enumerate(run.models)
    )
    x = Axis("training documents of a label", names=names)
    chart = Chart("lines", x, Axis("average precision by label"), series)
    caption = f"{best_on_rarest(run)} Whiskers are 95 % bootstrap intervals.".strip()
    if run.dependency is not None and run.svms:
        caption += f" A hollow mark of an SVM: no clear difference from {run.dependency}."
    return Figure("Average precision by label frequency", caption, chart, _table(run, bins))


def _point(run: Run, model: str, part: FrequencyBin, place: int) -> Point:
    # Side by side within the bin, so that whiskers can be told apart.
    x = place + (run.models.index(model) - (len(run.models) - 1) / 2) * 0.07
    is_clear = (
        run.dependency is None
        or model not in run.svms
        or versus(part, run.dependency, model).p < CLEAR
    )
    mean = part.means[model]
    return Point(x, mean.value, mean.low, mean.high, not is_clear)


def _table(run: Run, bins: Sequence[FrequencyBin]) -> Table:
    svms = run.svms if run.dependency is not None else ()
    rows: list[list[str | Cell]] = []
    for part in bins:
        tests = [versus(part, str(run.dependency), svm) for svm in svms]
        rows.append(
            [
                span(part.low, part.high),
                f"{part.n_labels:,}",
                *(bin_cell(part, model) for model in run.models),
                *(f"{signed(test.difference)} {stars(test.p)}".strip() for test in tests),
            ]
        )
    compared = (f"{run.dependency} − {svm}" for svm in svms)
    caption = "Average precision by label, by training documents."
    if svms:
        legend = "* p < .05, ** p < .01, *** p < .001, two-sided paired t-test"
        caption += f" Differences: {legend}."
    return table(caption, ("training documents", "labels", *run.models, *compared), rows)
