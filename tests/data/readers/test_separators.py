from pathlib import Path

import pytest

from deplda import Fields, GuessedSeparatorWarning, read_corpus, read_shards
from deplda.data.readers.separators import told_separator

CRUDE = ["Crude, Gas", "Wheat", "Crude", "Gas, Wheat"]


@pytest.mark.parametrize(
    ("cells", "separator", "said"),
    [
        (["a; b", "c"], ";", "labels are separated by '; ' (--separator sets another)"),
        (["a|b", "c"], "|", "labels are separated by '|' (--separator sets another)"),
        (["a\nb", "c"], "\n", "labels are separated by line breaks (--separator sets another)"),
        (
            CRUDE, ",",
            "labels are separated by ', ': 'Crude, Gas' is taken as 2 labels (--separator ';' "
            "keeps it as one)",
        ),
        (["Paris, Texas; Music", "Sport"], ";", "labels are separated by '; ' (--separator sets "
         "another)"),
        (
            [*CRUDE, "Tax; Law"], ";",
            "labels are separated by '; ': 'Crude, Gas' is taken as one label (--separator ',' "
            "splits it)",
        ),
    ],
)  # fmt: skip
def test_what_separates_labels_is_told_and_said(
    cells: list[str], separator: str, said: str
) -> None:
    found = told_separator(cells)
    assert found is not None
    assert (found.text, found.note) == (separator, said)


def test_a_comma_belongs_to_names_that_recur_and_share_nothing_with_others() -> None:
    names = ["crime, law and justice", "arts, culture and media", "sport", "health"]
    found = told_separator(names * 3)
    assert found is not None
    assert found.text == ";"
    assert found.note == (
        "'crime, law and justice' is taken as one label (--separator ',' splits it)"
    )
    assert not found.is_sure
    several = told_separator([*names * 3, *["sport, health", "health, sport", "law, sport"] * 5])
    assert several is not None
    assert several.text == ","


def test_cells_of_few_documents_are_taken_as_several_labels() -> None:
    found = told_separator(["Crude, Gas", "Wheat"])
    assert found is not None
    assert found.text == ","


@pytest.mark.parametrize("cells", [[], ["a", "b c"], ["", ","], ["trailing,"]])
def test_nothing_to_separate_is_nothing_told(cells: list[str]) -> None:
    assert told_separator(cells) is None


def test_labels_by_commas_are_several_and_python_is_warned(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text;labels\n" + "".join(f"bee;{cell}\n" for cell in CRUDE))
    with pytest.warns(GuessedSeparatorWarning, match="labels are separated by ', '"):
        corpus = read_corpus(path)
    assert corpus.label_names == ("Crude", "Gas", "Wheat")
    with pytest.warns(GuessedSeparatorWarning):
        shards = list(read_shards(path, 2))
    assert [shard.label_names for shard in shards] == [corpus.label_names] * 2
    whole = read_corpus(path, fields=Fields(separator=";"))
    assert whole.label_names == ("Crude", "Crude, Gas", "Gas, Wheat", "Wheat")


def test_strings_of_jsonl_follow_the_same_rule_and_lists_are_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "bee", "labels": "x|y"}\n{"text": "bee", "labels": ["v|w, z"]}\n')
    assert read_corpus(path).label_names == ("v|w, z", "x", "y")


def test_a_separator_is_told_by_the_first_thousand_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\n" + "bee,x|y\n" * 1000 + "cat,v;w\n")
    assert read_corpus(path).label_names == ("v;w", "x", "y")
