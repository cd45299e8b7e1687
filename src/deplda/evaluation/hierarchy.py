"""Nearly right predictions: precision, recall and F1 of labels with all their broader ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from deplda.data.wording import counted
from deplda.evaluation.binary import binary_metrics
from deplda.evaluation.matrices import Sparse, read_truth, same_shape


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far predicted and true labels agree, those of all documents counted together."""

    precision: float
    """NaN where nothing was predicted, as is recall where nothing is true."""
    recall: float
    f1: float
    predicted: float
    """Labels of a document, on average."""
    true: float


@dataclass(frozen=True, slots=True)
class HierarchicalMetrics:
    """The agreement of labels as they are, and of labels with all their broader ones."""

    n_documents: int
    plain: Agreement
    with_broader: Agreement

    def to_dict(self) -> dict[str, Any]:
        """Return both as plain values."""
        return asdict(self)

    def __rich__(self) -> Table:
        """Return both as a table."""
        title = f"labels given, and their broader terms ({counted(self.n_documents, 'document')})"
        table = Table("measure", title=title, show_edge=False)
        for column in ("labels alone", "with broader terms"):
            table.add_column(column, justify="right")
        for name, field, digits in (
            ("precision, 0 to 1", "precision", 3),
            ("recall, 0 to 1", "recall", 3),
            ("F1, 0 to 1", "f1", 3),
            ("given, labels per document", "predicted", 1),
            ("true, labels per document", "true", 1),
        ):
            both = (getattr(part, field) for part in (self.plain, self.with_broader))
            table.add_row(name, *(f"{value:.{digits}f}" for value in both))
        return table


def hierarchical_metrics(predicted: Any, truth: Any, broader: Any) -> HierarchicalMetrics:
    """Return precision, recall and F1 of predictions, plain and with all broader labels.

    `predicted` and `truth` are documents × labels, 0 or 1; `broader` is labels × labels, 1 where
    the label of the column is broader than that of the row. With each label come those broader
    than it, however far up, the top ones too (Kiritchenko, Matwin and Famili 2005: hP, hR, hF).
    """
    truth, predicted = read_truth(truth), read_truth(predicted, "predicted")
    same_shape(predicted.shape, truth.shape, "predicted")
    relation = read_truth(broader, "broader")
    return HierarchicalMetrics(
        truth.shape[0],
        _agreement(predicted, truth),
        _agreement(with_ancestors(predicted, relation), with_ancestors(truth, relation)),
    )


def with_ancestors(labels: Sparse, broader: Sparse) -> Sparse:
    """Return documents × labels with all broader labels; a circle of them ends where it began."""
    found = new = labels
    while new.nnz:  # one level higher each time, from what the last one added
        new = (new @ broader) > found
        found = found + new
    return found


def _agreement(predicted: Sparse, truth: Sparse) -> Agreement:
    found, n_documents = binary_metrics(predicted, truth), truth.shape[0]
    return Agreement(
        found["micro_precision"],
        found["micro_recall"],
        found["micro_f1"],
        predicted.nnz / n_documents,
        truth.nnz / n_documents,
    )
