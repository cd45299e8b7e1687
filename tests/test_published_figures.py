"""The benchmark of published figures reads the repository's files, and counts as it does."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.published import COLUMNS, PUBLISHED, lines, measured, repository_source, rows_of

from deplda.errors import ReadError
from tests.evaluation import naive_evaluation as naive


def repository(folder: Path) -> Path:
    """Write Bibtex as the repository has it: 40 documents, of which three labels tell words."""
    rng, own = np.random.default_rng(0), folder / "Bibtex"
    own.mkdir()
    rows = []
    for document in range(40):
        words = sorted({document % 3, *rng.integers(3, 8, 3).tolist()})
        labels = f"{document % 3},{3 + document % 2}"
        rows.append(f"{labels} {' '.join(f'{word}:1.000000' for word in words)}")
    (own / "Bibtex_data.txt").write_text("\n".join(["40 8 5", *rows]) + "\n")
    train, test = np.arange(1, 31), np.arange(31, 41)
    np.savetxt(own / "bibtex_trSplit.txt", np.stack([train, train + 10], axis=1), fmt="%d")
    np.savetxt(own / "bibtex_tstSplit.txt", np.stack([test, test - 30], axis=1), fmt="%d")
    return folder


def test_the_repositorys_rows_are_counted_from_one(tmp_path: Path) -> None:
    source = repository_source("Bibtex", repository(tmp_path), 10)
    assert source.corpus.counts.shape == (40, 8)
    assert [len(split.train) for split in source.splits] == [30, 30]
    assert source.splits[0].train[0] == 0
    assert source.splits[0].test.tolist() == list(range(30, 40))
    assert source.splits[1].test.tolist() == list(range(10))
    assert len(repository_source("Bibtex", tmp_path, 1).splits) == 1


@pytest.mark.parametrize(("text", "said"), [("0 1\n", "from 1 to 40"), ("1 41\n", "from 1 to 40"),
                                            ("1 x\n", "row numbers alone")])  # fmt: skip
def test_rows_that_are_none_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "split.txt"
    path.write_text(text)
    with pytest.raises(ReadError, match=said):
        rows_of(path, 40)


def test_measures_are_the_repositorys(tmp_path: Path) -> None:
    from deplda import TfidfSVM

    source = repository_source("Bibtex", repository(tmp_path), 1)
    *found, seconds = measured(source, "TfidfSVM")
    train, test = (source.corpus[rows] for rows in source.splits[0])
    scores, truth = TfidfSVM().fit(train).decision_function(test), test.labels.toarray()
    counts = train.labels.toarray().sum(axis=0).tolist()
    weights = [naive.inverse_propensity(n, len(train)) for n in counts]
    for k, value, scored in zip((1, 3, 5), found[:3], found[3:], strict=True):
        best = np.argsort(-scores, axis=1)[:, :k]
        assert value == pytest.approx(100 * np.take_along_axis(truth, best, axis=1).sum() / k / 10)
        expected = naive.propensity_precision(scores.tolist(), truth.tolist(), weights, k)
        assert scored == pytest.approx(100 * expected)
    assert seconds >= 0


def test_published_figures_stand_in_the_same_columns(tmp_path: Path) -> None:
    for rows in PUBLISHED.values():
        assert all(len(row.split()) == len(COLUMNS) for row in rows.values())
    table = list(lines(repository_source("Bibtex", repository(tmp_path), 1), ["TfidfSVM"]))
    assert len({line.count("|") for line in table[1:]}) == 1
    assert table[-1].startswith("| PfastreXML")
