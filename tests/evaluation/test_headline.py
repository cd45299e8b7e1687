import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.evaluation import evaluate, headline, rare_labels, suggestion_metrics
from deplda.evaluation.headline import Headline
from tests.evaluation.cases import random_case

KNOWN = 7


def made(shift: float = 0.0) -> Headline:
    """Return the headline of labels of which the model does not know the last two."""
    scores, truth, train = random_case(80, KNOWN + 2)
    scores += shift * truth
    found = evaluate(scores[:, :KNOWN], truth[:, :KNOWN], train[:, :KNOWN])
    scores[:, KNOWN:] = 0
    given = np.where(scores > 0.5, np.clip(scores / 9, 0, 1), 0)
    counts = np.append(train[:, :KNOWN].sum(axis=0), [-1, -1])
    known = csr_array(truth)
    return headline(
        found,
        suggestion_metrics(given, truth),
        suggestion_metrics(np.clip(scores / 9 + 0.5, 0, 1), truth, limit=5),
        rare_labels(csr_array(given), known, counts),
        n_unknown=int(known[:, KNOWN:].nnz),
        asked="predict",
    )


@pytest.mark.parametrize("shift", [0.0, 9.0])
def test_there_are_six_lines_of_at_most_80_characters(shift: float) -> None:
    heading, *lines = str(made(shift)).splitlines()
    assert heading == "predict on 80 documents: per cent, with 95 % intervals"
    tags = ["given", "found", "best 5", "ranking", "rarest", "unknown"]
    assert [line[:9].strip() for line in lines] == tags
    assert max(map(len, lines)) <= 80


def test_its_numbers_are_per_cent_of_those_that_programs_get() -> None:
    found = made()
    told = found.to_dict()
    lines = dict(zip("gfbrau", str(found).splitlines()[1:], strict=True))
    value, low, high = (100 * told["right"][name] for name in ("value", "low", "high"))
    assert low < value < high
    assert f"{value:.1f} [{low:.1f}, {high:.1f}] of them right" in lines["g"]
    assert f"{told['labels_given'] / 80:.1f} labels per document" in lines["g"]
    assert f"of {told['labels_true']:,} true labels" in lines["f"]
    n_unknown, n_true = told["labels_unknown"], told["labels_true"]
    assert lines["u"].endswith(
        f"{100 * n_unknown / n_true:.1f} of the true labels ({n_unknown}); "
        f"AP is of the other {n_true - n_unknown}, in {told['documents_ranked']} documents"
    )
    assert "AP of known labels" in lines["r"]
    hits = told["right"]["value"] * told["labels_given"]
    assert told["found"]["value"] == pytest.approx(hits / told["labels_true"])
    assert told["f1"]["value"] == pytest.approx(
        2 * hits / (told["labels_given"] + told["labels_true"])
    )


def test_all_right_is_told_as_100_and_nearly_all_is_not() -> None:
    truth = np.ones((1001, 1))
    given = truth.copy()
    given[0] = 0
    found = evaluate(np.ones((1001, 1)), truth, truth)
    counts = np.array([1001])
    for scores, share in ((given, "99.9"), (truth, "100 [100, 100]")):
        of_all = suggestion_metrics(scores, truth, limit=5)
        rare = rare_labels(csr_array(scores), csr_array(truth), counts)
        text = str(headline(found, of_all, of_all, rare, n_unknown=0, asked="predict -k 5"))
        assert f"found     {share}" in text
        assert text.endswith("unknown   0: the model knows all labels of the documents")
        assert "found: 1 label with 1,001 training documents" in text
    text = str(headline(found, of_all, of_all, rare, n_unknown=0, n_by_name=64, asked=""))
    assert "unknown   0: the model knows all labels of the documents, 64 by name alone" in text
    with pytest.raises(InputError, match="the best few have no limit"):
        headline(found, of_all, suggestion_metrics(given, truth), rare, n_unknown=0, asked="")


def test_rare_are_the_labels_of_the_lowest_fifth_that_documents_have() -> None:
    truth = csr_array(np.eye(6))
    given = csr_array(np.diag([1.0, 0, 0, 1, 1, 1]))
    counts = np.array([1, 1, 5, 9, 20, -1])
    rare = rare_labels(given, truth, counts)
    assert (rare.low, rare.high, rare.n_labels) == (1, 1, 2)
    assert str(rare) == "2 labels with 1 training document"
    assert rare.found.value == 0.5  # the third is not rare, the last not known
