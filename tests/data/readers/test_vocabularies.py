"""Files of vocabularies."""

import gzip
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from deplda import InputError, ReadError
from deplda.data.datasets.newsroom_thesaurus import newsroom_thesaurus
from deplda.data.readers.vocabularies import read_vocabulary, write_vocabulary
from deplda.data.sizes import VARIABLE
from deplda.data.vocabulary import Concept, Vocabulary

TURTLE = """
@base <http://x/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dct: <http://purl.org/dc/terms/> .
<1> a skos:Concept ; skos:prefLabel "Libraries"@en, "kirjastot"@fi ;
    skos:altLabel "Collections"@en, "Book rooms"@en ; skos:notation "02" ;
    skos:scopeNote "Places of books."@en ; skos:broader <2> ; skos:related <3> .
<2> a skos:Concept ; skos:prefLabel "Culture"@en .
<3> a skos:Concept ; rdfs:label "Books"@en .
<4> a <Descriptor> ; rdfs:label "Scrolls"@en ; owl:deprecated true ; dct:isReplacedBy <3> .
<scheme> a skos:ConceptScheme ; rdfs:label "All of it"@en .
[] a skos:Concept ; skos:prefLabel "without an address"@en .
"""
CONCEPTS = [
    Concept(
        uri="http://x/1", names={"en": "Libraries", "fi": "kirjastot"}, notation="02",
        synonyms={"en": ("Book rooms", "Collections")}, notes={"en": "Places of books."},
        broader=("http://x/2",), related=("http://x/3",),
    ),
    Concept(uri="http://x/2", names={"en": "Culture"}),
    Concept(uri="http://x/3", names={"en": "Books"}),
    Concept(uri="http://x/4", names={"en": "Scrolls"}, deprecated=True, replaced_by="http://x/3"),
]  # fmt: skip
XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:Concept rdf:about="http://x/2"><skos:prefLabel xml:lang="EN">Culture</skos:prefLabel>
  </skos:Concept>
</rdf:RDF>
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", "labels.txt"])
def test_a_table_without_a_header_has_addresses_and_names(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name, "<http://x/1>\tlibraries\t02\n\n5573\tState trading\r\n")
    assert list(read_vocabulary(path)) == [
        Concept(uri="http://x/1", names={"": "libraries"}, notation="02"),
        Concept(uri="5573", names={"": "State trading"}),
    ]
    assert read_vocabulary(path, language="en").languages == {"en": 2}


def test_a_table_with_a_header_has_names_in_languages(tmp_path: Path) -> None:
    text = '\ufeffuri,label_fi,label_en,notation,x\nu1,kirjastot,"a, b",02,?\n<u2>,,,,\n'
    assert list(read_vocabulary(written(tmp_path, "a.csv", text))) == [
        Concept(uri="u1", names={"fi": "kirjastot", "en": "a, b"}, notation="02"),
        Concept(uri="u2", deprecated=True),
    ]


def test_skos_is_read_as_turtle_and_as_xml(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph", reason="the extra [skos] is not installed")
    assert list(read_vocabulary(written(tmp_path, "a.ttl.gz", TURTLE))) == CONCEPTS
    assert list(read_vocabulary(written(tmp_path, "a.rdf", XML))) == [CONCEPTS[1]]


def test_annif_reads_what_is_written(tmp_path: Path) -> None:
    vocabulary = Vocabulary(CONCEPTS)
    write_vocabulary(vocabulary, tmp_path / "a.tsv", "fi")
    assert (tmp_path / "a.tsv").read_text() == (
        "<http://x/1>\tkirjastot\t02\n<http://x/2>\tCulture\n<http://x/3>\tBooks\n"
    )
    write_vocabulary(vocabulary, tmp_path / "a.csv")
    again = read_vocabulary(tmp_path / "a.csv")
    assert again["http://x/1"].names == CONCEPTS[0].names
    assert [concept.uri for concept in again] == ["http://x/1", "http://x/2", "http://x/3"]
    assert not any(concept.deprecated for concept in again)
    nameless = Vocabulary([Concept(uri="u"), Concept(uri="v", names={"en": "a"})])
    write_vocabulary(nameless, tmp_path / "c.csv")
    assert [concept.deprecated for concept in read_vocabulary(tmp_path / "c.csv")] == [False, False]
    with pytest.raises(InputError, match=r"must end in \.tsv, \.csv or \.ttl"):
        write_vocabulary(vocabulary, tmp_path / "a.rdf")
    odd = Vocabulary([Concept(uri="u", names={"": "a\tb\nc"})])
    write_vocabulary(odd, tmp_path / "b.tsv")
    assert read_vocabulary(tmp_path / "b.tsv")["u"].name() == "a b c"
    with pytest.raises(InputError, match="the language of the names is not known"):
        write_vocabulary(odd, tmp_path / "b.csv")
    write_vocabulary(odd, tmp_path / "b.csv", "fi")
    assert read_vocabulary(tmp_path / "b.csv")["u"].names == {"fi": "a\tb\nc"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "u1\tone\nno tab\n", "line 2: expected an address, a name"),
        ("a.tsv", "\tname\n", "line 1: expected an address"),
        ("a.tsv", "u\ta\tb\tc\n", "line 1: expected an address"),
        ("a.tsv", "", "there is no concept in it"),
        ("a.tsv", "u\ta\nu\tb\n", "holds 'u' twice"),
        ("a.csv", "uri,name\n", r"line 1: expected columns uri and label_xx \(found: uri, name\)"),
        ("a.csv", "uri,label_en\nu\n", "line 2: expected 2 values"),
        ("a.ttl", "this is not turtle", "this is not TURTLE"),
        ("a.rdf", "<a>", "this is not RDF_XML"),
        ("a.owl", "x", r"cannot tell the format of this vocabulary.*\.ttl"),
    ],
)
def test_what_is_no_vocabulary_is_said(name: str, text: str, message: str, tmp_path: Path) -> None:
    if name.endswith((".ttl", ".rdf")):
        pytest.importorskip("pyoxigraph", reason="the extra [skos] is not installed")
    with pytest.raises(ReadError, match=message):
        read_vocabulary(written(tmp_path, name, text))


_LAUGHS = '<!DOCTYPE rdf:RDF [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>'
_RDF = '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.rdf", f"{_LAUGHS}<a>&b;</a>", r"has a document type \(<!DOCTYPE …>\).*as Turtle"),
        (
            "a.rdf",
            _RDF + "<r:a>" * 50_000 + "</r:a>" * 50_000,
            "1,001 elements within each other",
        ),
        (
            "a.rdf",
            "<a " + " ".join(f"b{n}='c'" for n in range(2000)) + "/>",
            "attributes of a tag, more than 1,000",
        ),
        ("a.rdf", f"<a b='{'c' * (5 << 20)}'/>", "bytes of a tag, more than 4,194,304"),
        (
            "a.rdf",
            "<a " + " ".join(f"xmlns:b{n}='c'" for n in range(2000)) + "/>",
            "1,001 namespaces",
        ),
        (
            "a.rdf",
            f"<a xmlns='u:{'c' * 2048}'/>",
            "characters of a namespace or base",
        ),
        (
            "a.rdf",
            f"<a xml:base='u:{'c' * 2048}'/>",
            "characters of a namespace or base",
        ),
        (
            "a.ttl",
            f"@prefix p: <u:{'c' * 5_000}> . <u:a> <u:b> <u:c> .",
            "has a prefix or base of more than 2,048 characters; remove it$",
        ),
        ("a.ttl", f"@base <u:{'c' * 2048}> . <a> <b> <c> .", "a prefix or base of more than 2,048"),
        (
            "a.ttl",
            "".join(f"PREFIX p{n}: <u:>\n" for n in range(1001)) + "<u:a> <u:b> <u:c> .",
            "more than 1,000 prefixes",
        ),
        ("a.ttl", "@base <u:/> ." + "@base <b/> ." * 100_000, "too many prefixes and bases"),
        ("a.rdf", _RDF + "<r:a>" + "b" * 300_000, "a statement has more than 100 KiB"),
        ("a.ttl", "# comment\n" * 30_000, "a statement has more than 100 KiB"),
        ("a.ttl", f'<u:a> <u:b> "{"c" * 300_000}" .', "a statement has more than 100 KiB"),
    ],
)
def test_skos_that_could_fill_the_memory_is_refused(
    name: str, content: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyoxigraph", reason="the extra [skos] is not installed")
    if "statement" in message:
        monkeypatch.setenv(VARIABLE, "100KiB")
    with pytest.raises(ReadError, match=message):
        read_vocabulary(written(tmp_path, name, content))
    with pytest.raises(ReadError, match=message):
        read_vocabulary(written(tmp_path, f"{name}.gz", content))


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    other: Any = "owl"
    with pytest.raises(InputError, match="format is 'owl'; it must be one of 'tsv', 'csv'"):
        read_vocabulary(tmp_path / "a.tsv", other)


def test_without_the_extra_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(InputError, match=r"pip install 'deplda\[skos\]'"):
        read_vocabulary(written(tmp_path, "a.ttl", TURTLE))


def test_skos_that_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    odd = Concept(uri="http://x/9", names={"en": 'a "b"\n\\c'}, notation="9", notes={"fi": "ä"})
    for concepts in (CONCEPTS, newsroom_thesaurus(), [odd]):
        write_vocabulary(Vocabulary(concepts), tmp_path / "a.ttl")
        again = {concept.uri: concept for concept in read_vocabulary(tmp_path / "a.ttl")}
        for concept in concepts:
            same = structs.replace(
                concept,
                synonyms={code: tuple(sorted(names)) for code, names in concept.synonyms.items()},
                related=tuple(sorted(concept.related)),
                broader=tuple(sorted(concept.broader)),
            )
            assert again[concept.uri] == same
