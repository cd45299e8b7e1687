"""A real Annif: what `benchmarks.annif` has it do, and `deplda serve` as one of its projects."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from benchmarks.annif import scores_of
from benchmarks.annif_process import Annif, Found
from click.testing import CliRunner

from deplda import Concept, Vocabulary, datasets, load
from deplda.cli import root
from deplda.data.readers import write_rows
from deplda.errors import DepldaError
from tests.web.serving import started

pytestmark = pytest.mark.annif

CAT, DOG, COW = (f"http://example.org/{name}" for name in ("cat", "dog", "cow"))
TEXTS = (
    "A kitten purrs\nand chases the mouse.",
    "The puppy barks at the postman.",
    "Kittens purr, whiskers and all.",
    "A barking puppy fetches sticks.",
)
SUBJECTS = ([CAT], [DOG], [CAT], [DOG])
ENGLISH = "snowball(english)"


def test_a_real_annif_learns_from_texts_and_suggests_labels_of_others(
    annif: Path, tmp_path: Path
) -> None:
    concepts = zip((CAT, DOG, COW), ("cats", "dogs", "cows"), strict=True)
    vocabulary = Vocabulary(Concept(uri=uri, names={"en": name}) for uri, name in concepts)
    real = Annif(annif, tmp_path, vocabulary, "en", {"tfidf": {}}, ENGLISH)
    real.train("tfidf", TEXTS, SUBJECTS)
    found = real.suggest("tfidf", ["My puppy barks.", "", "It purrs:\na kitten!"])
    assert [[uri for uri, _ in own] for own in found] == [[DOG], [], [CAT]]
    scores = scores_of(found, (CAT, DOG, COW))
    assert scores.shape == (3, 3)
    assert scores[0, 1] == found[0][0][1] > 0
    assert scores[2, 0] == found[2][0][1] > 0
    assert scores.nnz == 2


def test_what_annif_says_of_a_mistake_is_in_the_error(annif: Path, tmp_path: Path) -> None:
    vocabulary = Vocabulary([Concept(uri=CAT, names={"en": "cats"})])
    real = Annif(annif, tmp_path, vocabulary, "en", {"tfidf": {}}, ENGLISH)
    with pytest.raises(DepldaError, match=r"annif index .* ended with 1; it said: .*not trained"):
        real.suggest("tfidf", ["A kitten purrs."])


class News(NamedTuple):
    """A model of a thesaurus, served to a real Annif that was given its vocabulary."""

    annif: Annif
    folder: Path
    texts: list[str]
    subjects: list[list[str]]
    """The records to test with."""


MIN_DOCS = 3
PROJECTS: dict[str, dict[str, str]] = {
    "tfidf": {},
    "mean": {"backend": "ensemble", "sources": "tfidf:1,deplda:3"},
    "pav": {"sources": "tfidf:1,deplda:1", "min-docs": str(MIN_DOCS)},
}


@pytest.fixture(scope="module")
def news(annif: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[News]:
    folder = tmp_path_factory.mktemp("news")
    datasets.newsroom(400).write(folder)
    thesaurus = "--vocabulary", folder / "thesaurus.ttl", "--label-language", "en"
    deplda("train", folder / "train.jsonl", "-o", folder / "model", *thesaurus)
    deplda("vocabulary", "export", folder / "model", folder / "names.csv")
    with started(None, folder, "--project-id=news-en") as (_, address, _):
        endpoint = f"{address}/v1/projects/news-en/suggest"
        projects = {"deplda": {"backend": "http", "endpoint": endpoint}} | PROJECTS
        real = Annif(annif, folder, folder / "names.csv", "en", projects, ENGLISH)
        train, test = (
            ([row["text"] for row in rows], [row["labels"] for row in rows])
            for name in ("train.jsonl", "test.jsonl")
            for rows in [[*map(json.loads, (folder / name).read_text("utf-8").splitlines())]]
        )
        real.train("tfidf", *train)
        real.write("records.jsonl", *test)
        yield News(real, folder, *test)


def deplda(*arguments: object) -> str:
    """Run a command of ours; return what it printed."""
    result = CliRunner().invoke(root, [*map(str, arguments)], prog_name="deplda")
    assert result.exit_code == 0, result.output
    return result.stdout


def predicted(news: News, k: int) -> Found:
    """Return the k likeliest labels of each text, by our own command."""
    printed = deplda(
        "predict", news.folder / "model", news.folder / "test.jsonl", "-k", k, "--threshold", 0
    )
    rows = [json.loads(line)["labels"] for line in printed.splitlines()]
    return [[(label["uri"], label["probability"]) for label in own] for own in rows]


def assert_same(found: Found, expected: Found, precision: float = 0.0) -> None:
    """See that the same labels have the same scores, to this precision, or to single precision."""
    assert [dict(own).keys() for own in found] == [dict(own).keys() for own in expected]
    for own, ours in zip(found, expected, strict=True):
        assert dict(own) == pytest.approx(dict(ours), rel=1e-5, abs=precision)


def test_annif_suggests_for_one_text_what_we_do(news: News) -> None:
    printed = news.annif.run("suggest", "deplda", "--limit", "5", given=news.texts[0])
    rows = [line.split("\t") for line in printed.splitlines()]
    names = load(news.folder / "model").vocabulary_
    assert names is not None
    assert [row[1] for row in rows] == [names[row[0].strip("<>")].name("en") for row in rows]
    found = [(row[0].strip("<>"), float(row[-1])) for row in rows]
    assert len(found) == 5
    assert_same([found], predicted(news, 5)[:1], 0.00005001)


def test_annif_indexes_a_corpus_as_we_do(news: News) -> None:
    found = news.annif.suggest("deplda", news.texts)
    assert max(map(len, found)) == 100
    assert_same(found, predicted(news, 100))


def test_an_ensemble_of_annif_weighs_our_suggestions_with_others(news: News) -> None:
    for own, mean in both(news, "mean", 3, 1):
        for uri, score in own:
            assert score == pytest.approx(mean[uri], rel=1e-5)


def test_annif_learns_how_far_to_trust_us(news: News) -> None:
    news.annif.run("train", "pav", "records.jsonl")
    n_documents = Counter(uri for own in news.subjects for uri in own)
    is_changed = []
    for own, mean in both(news, "pav", 1, 1):
        for uri, score in own:
            if n_documents[uri] < MIN_DOCS:
                assert score == pytest.approx(mean[uri], rel=1e-5)
            else:
                is_changed.append(score != pytest.approx(mean[uri], rel=1e-5))
    assert np.mean(is_changed) > 0.9


def both(
    news: News, project: str, *weights: int
) -> Iterator[tuple[Sequence[tuple[str, float]], dict[str, float]]]:
    """Yield what a project suggests for texts, and the weighted mean of our scores and tf-idf's."""
    found, *parts = (
        news.annif.suggest(name, news.texts[:20]) for name in (project, "deplda", "tfidf")
    )
    for own, *scores in zip(found, *(map(dict, part) for part in parts), strict=True):
        mean: Counter[str] = Counter()
        for weight, part in zip(weights, scores, strict=True):
            mean.update({uri: score * weight / sum(weights) for uri, score in part.items()})
        yield own, dict(mean)


OUR_NAMES = {
    **{
        f"{theirs} ({average})": f"{of}_{name}"
        for theirs, name in (("Precision", "precision"), ("Recall", "recall"), ("F1 score", "f1"))
        for average, of in (
            ("doc avg", "document"),
            ("subj avg", "label"),
            ("weighted subj avg", "weighted"),
            ("microavg", "micro"),
        )
    },
    **{f"Precision@{k}": f"given_precision@{k}" for k in (1, 3, 5)},
    **{f"NDCG{end}": f"given_ndcg{end}" for end in ("", "@5", "@10")},
    "F1@5": "given_f1@5",
    "True positives": "true_positives",
    "False positives": "false_positives",
    "False negatives": "false_negatives",
    "Documents evaluated": "documents",
}
"""What our evaluation calls the measures of `annif eval`."""


@pytest.mark.parametrize(("limit", "threshold"), [(10, 0.01), (3, 0.2)])
def test_annif_and_we_measure_the_same_suggestions_alike(
    news: News, limit: int, threshold: float
) -> None:
    kept = without_ties(news, limit, threshold)
    cut = "--limit", str(limit), "--threshold", str(threshold)
    texts, subjects = [news.texts[row] for row in kept], [news.subjects[row] for row in kept]
    news.annif.write("kept.jsonl", texts, subjects)
    rows = zip(texts, subjects, strict=True)
    write_rows(({"text": text, "labels": own} for text, own in rows), news.folder / "ours.jsonl")
    printed = news.annif.run("eval", "deplda", "kept.jsonl", *cut, "-r", "theirs.tsv")
    theirs = dict(line.split(":") for line in printed.splitlines() if line.count(":") == 1)
    ours = deplda(
        "evaluate", news.folder / "model", news.folder / "ours.jsonl", *cut, "--json",
        "--by-subject", news.folder / "ours.tsv", "--force",
    )  # fmt: skip
    measured = json.loads(ours)["suggestions"]
    assert theirs.keys() == OUR_NAMES.keys()
    for name, value in theirs.items():
        digits = len(value.strip().partition(".")[2])
        assert f"{measured[OUR_NAMES[name]]:.{digits}f}" == value.strip(), name
    assert by_subject(news, "theirs.tsv") == by_subject(news, "ours.tsv")


def without_ties(news: News, limit: int, threshold: float) -> list[int]:
    """Return the records of whose labels no two have one score, where the cut could tell them.

    Which of them comes first is chance in Annif, and their order in the vocabulary with us.
    """
    kept = []
    for row, own in enumerate(predicted(news, limit + 1)):
        # Annif's scores are of single precision.
        scores = [np.float32(score) for _, score in own if score >= threshold]
        if len({*scores}) == len(scores):
            kept.append(row)
    assert len(kept) > 40
    return kept


def by_subject(news: News, file: str) -> dict[str, tuple[Any, ...]]:
    """Return the rows of a table by subject."""
    head, *lines = (news.folder / file).read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]
    assert len(rows) > 100
    return {
        row["URI"].strip("<>"): (
            row["Label"],
            *(round(float(n), 9) for n in list(row.values())[2:]),
        )
        for row in rows
    }


def test_annif_reads_the_documents_that_we_write(news: News) -> None:
    found = set()
    for target in ("records.jsonl", "converted.tsv", "converted.csv", "converted.jsonl", "full"):
        if target != "records.jsonl":
            options = "--output-format", "annif", "--vocabulary", news.folder / "names.csv"
            source = news.folder / "test.jsonl"
            deplda("datasets", "convert", source, news.folder / target, *options)
        found.add(news.annif.run("eval", "tfidf", target, "--metric", "F1@5"))
    assert len(found) == 1


def test_our_files_of_suggestions_are_those_of_annif(news: News) -> None:
    new, ours = news.folder / "new", news.folder / "suggested"
    news.annif.run("index", "deplda", "new", "--limit", "3")
    options = "-k", 3, "--threshold", 0, "--output-format", "annif", "-o", ours
    deplda("predict", news.folder / "model", new, *options)
    for text in new.glob("*.txt"):
        theirs, mine = (
            [line.split("\t") for line in (folder / f"{text.stem}.annif").read_text().splitlines()]
            for folder in (new, ours)
        )
        assert [line[:-1] for line in theirs] == [line[:-1] for line in mine]
        scores = [[float(line[-1]) for line in lines] for lines in (theirs, mine)]
        assert scores[0] == pytest.approx(scores[1], abs=0.0001)


def test_annif_shows_a_token_that_stands_in_the_address(news: News, tmp_path: Path) -> None:
    token = "t" * 40
    with started(
        None, news.folder, "--project-id=news-en", environment={"DEPLDA_TOKEN": token}
    ) as (_, address, _):
        found = {}
        for name, place in (("with", f"annif:{token}@127.0.0.1"), ("without", "127.0.0.1")):
            endpoint = address.replace("127.0.0.1", place) + "/v1/projects/news-en/suggest"
            found[name] = {"backend": "http", "endpoint": endpoint}
        real = Annif(news.annif.command, tmp_path, news.folder / "names.csv", "en", found)
        assert len(real.run("suggest", "with", given=news.texts[0]).splitlines()) == 10
        with pytest.raises(DepldaError, match="HTTP request failed: 401"):
            real.run("suggest", "without", given=news.texts[0])


def test_annif_cannot_teach_a_project_of_its_http_backend(news: News) -> None:
    with pytest.raises(DepldaError, match="Learning not supported"):
        news.annif.run("learn", "deplda", "records.jsonl")


def test_a_service_that_is_gone_is_an_error_here_where_annif_only_warns(news: News) -> None:
    projects = {"gone": {"backend": "http", "endpoint": "http://127.0.0.1:9/v1/projects/x/suggest"}}
    settings = (news.annif.folder / "projects.cfg").read_text(encoding="utf-8")
    news.annif.configure(projects)
    try:
        with pytest.raises(DepldaError, match="HTTP request failed"):
            news.annif.run("suggest", "gone", given="A text.")
    finally:
        (news.annif.folder / "projects.cfg").write_text(settings, encoding="utf-8")
