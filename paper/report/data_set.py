"""The data of an experiment: its statistics and its two distributions."""

from __future__ import annotations

from itertools import pairwise

from deplda.comparison.facts import statistics_of
from deplda.comparison.phrases import span
from deplda.data.wording import counted
from paper.report.charts import Axis, Chart, Point, Series
from paper.report.parts import Figure, Section, table
from paper.report.runs import Run
from paper.results import PaperFacts


def data_section(run: Run) -> Section:
    """Return the statistics of the corpus, and how labels and documents are distributed."""
    facts = run.data
    if facts is None:
        said = (
            "The folder of results does not describe its data; run the experiment on it once "
            "more (units that are done stay) to add that."
        )
        return Section("Data", (said,))
    about = (
        f"Split {facts.split} has {facts.n_train:,} training documents, in which "
        f"{facts.n_training_words:,} words are kept, and {facts.n_test:,} test documents."
    )
    statistics = table(
        f"The whole of {run.experiment.data}, all splits together.",
        ("statistic", "value"),
        statistics_of(facts).rows(),
    )
    return Section("Data", (about, statistics, _labels(facts), _documents(facts)))


def _labels(facts: PaperFacts) -> Figure:
    found = facts.labels_by_frequency
    total = sum(n for _, n in found)
    rare = sum(n for k, n in found if k <= 5)
    single = sum(n for k, n in found if k == 1)
    caption = f"None of the {counted(total, 'label')} has fewer than {found[0][0]:,} documents."
    if rare:
        caption = (
            f"Of {counted(total, 'label')} in the training part, {rare:,} ({rare / total:.0%}) "
            f"have at most 5 documents and {single:,} a single one. Points on a straight line "
            "would be a power law."
        )
    axes = (
        Axis("training documents, k", log=True, whole=True),
        Axis("labels that have k", log=True, whole=True),
    )
    chart = Chart("points", *axes, (_series("labels", found),))
    rows = [(span(low, high), f"{n:,}") for low, high, n in _bins(found)]
    numbers = table("Labels by training documents.", ("training documents", "labels"), rows)
    return Figure("Labels by number of training documents", caption, chart, numbers)


def _documents(facts: PaperFacts) -> Figure:
    found = facts.documents_by_labels
    least, highest = found[0][0], found[-1][0]
    most, n_most = max(found, key=lambda pair: pair[1])
    total = sum(n for _, n in found)
    caption = (
        f"The commonest number of labels is {most} ({n_most / total:.0%} of the training "
        f"documents), the highest {highest}."
    )
    x = Axis("labels of a document", names=tuple(map(str, range(least, highest + 1))))
    series = _series("documents", [(k - least, n) for k, n in found])
    chart = Chart("bars", x, Axis("training documents", whole=True), (series,))
    rows = [(str(k), f"{n:,}") for k, n in found]
    numbers = table("Training documents by labels.", ("labels", "training documents"), rows)
    return Figure("Training documents by number of labels", caption, chart, numbers)


def _series(name: str, found: list[tuple[int, int]]) -> Series:
    return Series(name, tuple(Point(k, n) for k, n in found), 0)


def _bins(found: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Return ranges of frequencies and the labels in each: single ones to 5, then 10, 20, 50."""
    ends = [*range(6), *(n * 10**power for power in range(1, 10) for n in (1, 2, 5))]
    bins = [
        (low + 1, end, sum(n for k, n in found if low < k <= end)) for low, end in pairwise(ends)
    ]
    return [part for part in bins if part[2]]
