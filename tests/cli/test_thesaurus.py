"""``deplda vocabulary``, and labels with names."""

import json
from pathlib import Path

import pytest

import deplda
from tests.cli.running import articles, done, lines, problem, run, write_jsonl
from tests.models.test_knows_names import never, world

NAMES = "<http://x/law>\tlaki\t34\n<http://x/music>\tMUSIC\n<http://x/more>\tunused\n"


@pytest.fixture(scope="module")
def thesaurus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("thesaurus") / "names.tsv"
    path.write_text(NAMES)
    return path


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Articles whose labels are notations, names, and some that no thesaurus has."""
    rows = [
        row | {"labels": ["34" if label == "LAW" else label.lower() for label in row["labels"]]}
        for row in articles()
    ]
    return write_jsonl(tmp_path_factory.mktemp("labelled") / "a.jsonl", rows)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, labelled: Path, thesaurus: Path) -> Path:
    folder = tmp_path_factory.mktemp("named") / "model"
    result = run(
        "train", labelled, "-o", folder, "--model", "flat", "--language", "none",
        "--vocabulary", thesaurus, "--label-language", "fi",
    )  # fmt: skip
    assert "labels that are not in the vocabulary, kept as they are (1): sport" in result.stderr
    return folder


def test_labels_are_told_by_name_with_address_and_notation(model: Path) -> None:
    (line,) = lines(done("predict", model, "-", "-k", 1, input="judge and jury in court"))
    (label,) = line["labels"]
    assert (label["label"], label["uri"], label["notation"]) == ("laki", "http://x/law", "34")
    (line,) = lines(done("predict", model, "-", "-k", 1, input="team league goal coach"))
    assert line["labels"][0]["label"] == "sport"
    assert "uri" not in line["labels"][0]


def test_reasons_words_and_topics_have_names(model: Path) -> None:
    found = json.loads(done("explain", model, "judge and jury in court", "-k", 1, "--json"))
    (label,) = found["labels"]
    assert (label["label"], label["uri"], label["notation"]) == ("laki", "http://x/law", "34")
    assert "laki" in done("explain", model, "judge and jury in court", "-k", 1)
    assert "judge" in done("show", model, "laki")
    assert done("show", model, "http://x/law") == done("show", model, "laki")
    assert "did you mean 'laki'?" in problem(1, "show", model, "lakki")


def test_labels_of_one_name_are_told_apart(labelled: Path, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("34\tsame\nmusic\tsame\n")
    run("train", labelled, "-o", tmp_path / "m", "--model", "dependency", "--language", "none",
        "--vocabulary", tmp_path / "a.tsv")  # fmt: skip
    assert deplda.load(tmp_path / "m").shown_labels_ == ("same <34>", "same <music>", "sport")
    assert "same <34>" in done("show", tmp_path / "m", "--topics")


def test_the_vocabulary_is_kept_with_the_model(model: Path, tmp_path: Path) -> None:
    loaded = deplda.load(model)
    assert loaded.label_language_ == "fi"
    assert loaded.vocabulary_ is not None
    assert len(loaded.vocabulary_) == 3
    assert done("vocabulary", "export", model, tmp_path / "a.tsv") == (
        f"3 concepts: {tmp_path / 'a.tsv'}\n"
    )
    assert (tmp_path / "a.tsv").read_text() == NAMES
    assert json.loads(done("vocabulary", "info", model, "--json"))["languages"] == {"fi": 3}


@pytest.mark.filterwarnings("ignore::deplda.errors.LearnedFromWarning")
def test_documents_to_evaluate_and_to_learn_from_are_matched_too(
    model: Path, labelled: Path, tmp_path: Path
) -> None:
    found = json.loads(done("evaluate", model, labelled, "--json"))
    assert found["n_unseen"] == 0
    rows = [{"id": "n", "text": "a judge", "labels": ["LAKI", "unused"]}]
    new = write_jsonl(tmp_path / "new.jsonl", rows)
    said = json.loads(done("learn", model, new, "-o", tmp_path / "m", "--json"))["learned"]
    assert (said["known_labels"], said["new_labels"]) == (1, ["http://x/more"])
    assert deplda.load(tmp_path / "m").vocabulary_ == deplda.load(model).vocabulary_


def test_only_the_most_frequent_of_many_languages_are_shown(tmp_path: Path) -> None:
    codes = [f"x{n:03}" for n in range(200)]
    table = f"uri,{','.join(f'label_{code}' for code in codes)}\nu{',name' * 200}\n"
    (tmp_path / "a.csv").write_text(table)
    shown = done("vocabulary", "info", tmp_path / "a.csv")
    assert shown.count("names, x") == 50
    assert "more languages │   150" in shown


def test_a_corpus_is_checked(thesaurus: Path, labelled: Path) -> None:
    said = done("vocabulary", "check", thesaurus, labelled)
    assert said.splitlines()[0] == f"2 of 3 labels in {thesaurus}"
    assert "labels that are not in the vocabulary, kept as they are (1): sport" in said
    told = json.loads(done("vocabulary", "check", thesaurus, labelled, "--json"))
    assert told == {
        "labels": 3, "matched": 2, "unknown": ["sport"], "ambiguous": {}, "deprecated": {},
    }  # fmt: skip


def test_deprecated_labels_are_replaced_if_asked(tmp_path: Path, labelled: Path) -> None:
    skos = "http://www.w3.org/2004/02/skos/core#"
    pytest.importorskip("pyoxigraph", reason="the extra [skos] is not installed")
    path = tmp_path / "a.ttl"
    path.write_text(
        f'<http://x/a> a <{skos}Concept> ; <{skos}prefLabel> "music"@en ;'
        " <http://www.w3.org/2002/07/owl#deprecated> true ;"
        " <http://purl.org/dc/terms/isReplacedBy> <http://x/b> .\n"
        f'<http://x/b> a <{skos}Concept> ; <{skos}prefLabel> "sport"@en .\n'
    )
    assert "labels that are deprecated, kept; --replace-deprecated takes" in done(
        "vocabulary", "check", path, labelled
    )
    arguments = ("train", labelled, "--model", "flat", "--vocabulary", path)
    run(*arguments, "-o", tmp_path / "m")
    assert set(deplda.load(tmp_path / "m").classes_) == {"34", "http://x/a", "http://x/b"}
    result = run(*arguments, "-o", tmp_path / "n", "--replace-deprecated")
    assert "labels that are deprecated, replaced (1): music → sport <http://x/b>" in result.stderr
    assert set(deplda.load(tmp_path / "n").classes_) == {"34", "http://x/b"}


def test_what_has_no_vocabulary_says_so(tmp_path: Path, labelled: Path, thesaurus: Path) -> None:
    run("train", labelled, "-o", tmp_path / "m", "--model", "flat")
    said = problem(1, "vocabulary", "info", tmp_path / "m")
    assert "this model has no vocabulary; train it with --vocabulary" in said
    said = problem(
        2, "train", tmp_path, "-o", tmp_path / "n", "--scratch", tmp_path / "s",
        "--vocabulary", thesaurus,
    )  # fmt: skip
    assert "--vocabulary is for documents in memory, not for --scratch" in said


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hybrid of texts that name their labels, with concepts that none of them has."""
    folder, made = tmp_path_factory.mktemp("hybrid"), world()
    rows = [
        {"id": str(d), "text": text, "labels": labels}
        for d, (text, labels) in enumerate(zip(made.texts, made.labels, strict=True))
    ]
    names = "".join(f"<{each.uri}>\t{each.name('en')}\n" for each in made.vocabulary)
    (folder / "names.tsv").write_text(names)
    shown = done(
        "train", write_jsonl(folder / "a.jsonl", rows), "-o", folder / "model",
        "--language", "none", "--vocabulary", folder / "names.tsv",
        "--set", "n_topic_sweeps=20", "--set", "C=1",
    )  # fmt: skip
    n = len(never())
    assert f"{n} of {n} more labels of the vocabulary can be suggested by their names." in shown
    more = f"; its vocabulary has {n} more, of which {n} can be suggested by their names; it takes"
    assert more in done("show", folder / "model")
    return folder / "model"


def test_a_hybrid_finds_names_that_no_document_was_given(hybrid: Path, tmp_path: Path) -> None:
    made = world()
    rows = [
        {"id": str(d), "text": text, "labels": labels}
        for d, (text, labels) in enumerate(zip(made.new_texts, made.new_labels, strict=True))
    ]
    new = write_jsonl(tmp_path / "new.jsonl", rows)
    told = lines(done("predict", hybrid, new))
    given = {label["uri"] for line in told for label in line["labels"]}
    assert given & never()
    words = set(deplda.load(hybrid).words_)  # those of names are known too
    assert [line["n_known"] for line in told] == [
        sum(word in words for word in text.split()) for text in made.new_texts
    ]
    info = json.loads(done("show", hybrid, "--json"))
    assert info["known_by_name"] == len(never())
    assert info["labels"] + info["known_by_name"] == len(made.vocabulary)
    found = json.loads(done("evaluate", hybrid, new, "--json"))
    assert found["n_unseen"] == 0
    reasons = json.loads(done("explain", hybrid, new, "-k", 5, "--json"))["labels"]
    assert any(reason["named"] for reason in reasons)
    assert "stands in" in done("explain", hybrid, new, "-k", 5)
    assert json.loads(done("show", hybrid, next(iter(never())), "--json"))["documents"] == 0


def test_a_hybrid_learns_a_label_that_it_knew_by_name(hybrid: Path, tmp_path: Path) -> None:
    uri = min(never())
    new = write_jsonl(tmp_path / "new.jsonl", [{"text": world().new_texts[0], "labels": [uri]}])
    shown = done("learn", hybrid, new, "-o", tmp_path / "grown")
    assert "1 new one" in shown
    info = [json.loads(done("show", path, "--json")) for path in (hybrid, tmp_path / "grown")]
    assert [each["known_by_name"] for each in info] == [len(never()), len(never()) - 1]


MULTILINGUAL = (
    "uri,label_fi,label_sv,label_en,notation\n"
    "http://x/law,laki,lag,law,34\nhttp://x/music,musiikki,musik,music,\n"
)


@pytest.fixture(scope="module")
def finnish(tmp_path_factory: pytest.TempPathFactory, labelled: Path) -> tuple[Path, str]:
    """A model of texts counted as Finnish with names in three languages, and what train printed."""
    folder = tmp_path_factory.mktemp("finnish")
    (folder / "a.csv").write_text(MULTILINGUAL)
    train = "train", labelled, "-o", folder / "m", "--model", "dependency", "--language", "fi"
    return folder / "m", done(*train, "--vocabulary", folder / "a.csv")


def test_labels_have_names_in_the_language_of_the_texts(finnish: tuple[Path, str]) -> None:
    model, printed = finnish
    line = "Label names in Finnish (fi); the vocabulary also has en, sv: --label-language"
    assert line in printed.splitlines()
    text = "judge and jury in court"
    (found,) = lines(done("predict", model, "-", "-k", 1, input=text))
    assert found["labels"][0]["label"] == "laki"
    (label,) = json.loads(done("explain", model, text, "-k", 1, "--json"))["labels"]
    assert label["label"] == "laki"
    assert "laki" in done("show", model, "--labels")
    assert "laki" in done("show", model, "--topics")
    assert "judge" in done("show", model, "laki")
    assert json.loads(done("show", model, "laki", "--json"))["label"] == "laki"
    queued = done("queue", model, "-", "--json", input=text)
    assert '"laki"' in queued or '"musiikki"' in queued
    (found,) = lines(done("predict", model, "-", "-k", 1, "--label-language", "sv", input=text))
    assert found["labels"][0]["label"] == "lag"


def test_a_vocabulary_without_the_language_of_the_texts_is_reported(
    labelled: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(MULTILINGUAL)
    train = "train", labelled, "-o", tmp_path / "m", "--model", "flat", "--language", "de"
    printed = done(*train, "--vocabulary", tmp_path / "a.csv")
    line = (
        "Label names in English (en), as there are none in German (de); the vocabulary also has "
        "fi, sv: --label-language"
    )
    assert line in printed.splitlines()
    (tmp_path / "b.csv").write_text("uri,label_sv,notation\nhttp://x/law,lag,34\n")
    train = "train", labelled, "-o", tmp_path / "n", "--model", "flat", "--language", "sv"
    printed = done(*train, "--vocabulary", tmp_path / "b.csv")
    assert "Label names in Swedish (sv)." in printed.splitlines()
