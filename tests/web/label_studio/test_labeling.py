"""A project's labeling configuration: what is read of it, and what is refused."""

import time

import pytest

from deplda import InputError
from deplda.web.label_studio.labeling import Option, read_config

CHOICES = """<View>
  <Header value="What is it about?"/>
  <Text name="text" value="$body"/>
  <Choices name="subjects" toName="text" choice="multiple">
    <Choice value="Law" alias="http://example.org/law"/>
    <Choice value="Sport &amp; games"/>
  </Choices>
</View>"""
TAXONOMY = """<View><Text name="t" value="$text"/>
<Taxonomy name="tree" toName="t" maxUsages="3">
  <Choice value="society"><Choice value="law"><Choice value="courts"/></Choice></Choice>
  <Choice value="culture" alias="C"><Choice value="law"/></Choice>
</Taxonomy></View>"""


def view(*elements: str) -> str:
    return f'<View><Text name="t" value="$text"/>{"".join(elements)}</View>'


def test_choices_are_read() -> None:
    (found,) = read_config(CHOICES)
    assert (found.name, found.to_name, found.kind, found.field) == (
        "subjects", "text", "choices", "body",
    )  # fmt: skip
    assert found.most is None
    law = "http://example.org/law"
    assert found.options == (
        Option((law,), (law, "Law")),
        Option(("Sport & games",), ("Sport & games",)),
    )


def test_a_taxonomy_is_read_with_its_paths() -> None:
    (found,) = read_config(TAXONOMY)
    assert (found.kind, found.most) == ("taxonomy", 3)
    assert [option.path for option in found.options] == [
        ("society",), ("society", "law"), ("society", "law", "courts"), ("C",), ("C", "law"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("attributes", "most"),
    [
        ('choice="multiple"', None),
        ('choice="single"', 1),
        ("", 1),  # it is Label Studio's default
        ('choice="multiple" maxUsages="2"', 2),
        ('choice="multiple" maxUsages="0"', None),
        (f'choice="multiple" maxUsages="{"9" * 5000}"', None),
    ],
)
def test_how_many_may_be_chosen(attributes: str, most: int | None) -> None:
    (found,) = read_config(view(f'<Choices name="c" toName="t" {attributes}/>'))
    assert found.most == most
    assert found.options == ()


def test_controls_of_something_else_than_a_text_are_passed_over() -> None:
    found = read_config(
        '<View><Image name="i" value="$image"/><Text name="t" value="$text"/>'
        '<Choices name="of-image" toName="i"/><Choices name="of-both" toName="i, t"/>'
        '<Choices toName="t"/><Rating name="stars" toName="t"/></View>'
    )
    assert [(each.name, each.to_name) for each in found] == [("of-both", "t")]


@pytest.mark.parametrize(
    "xml",
    [
        "<View></View>",
        view(),
        '<View><Text name="t" value="a fixed text"/><Choices name="c" toName="t"/></View>',
        '<View><Text name="t" value="$u" valueType="url"/><Choices name="c" toName="t"/></View>',
    ],
)
def test_a_project_without_labels_of_texts_is_refused(xml: str) -> None:
    with pytest.raises(
        InputError, match=r"has no <Choices> or <Taxonomy> whose toName is a <Text>"
    ):
        read_config(xml)


BILLION_LAUGHS = (
    "<!DOCTYPE lolz [<!ENTITY a0 'lol'>"
    + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
    + "]>"
)


@pytest.mark.parametrize(
    "doctype",
    [
        BILLION_LAUGHS,
        '<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
        "<!DOCTYPE View>",
    ],
)
def test_entities_are_neither_expanded_nor_fetched(doctype: str) -> None:
    name = "&a11;" if "a11" in doctype else "&secret;" if "secret" in doctype else "x"
    text = doctype + view(f'<Choices name="c" toName="t"><Choice value="{name}"/></Choices>')
    begin = time.process_time()
    with pytest.raises(InputError, match="has a document type"):
        read_config(text)
    assert time.process_time() - begin < 1
    with pytest.raises(InputError, match="not XML: undefined entity"):
        read_config(view("&secret;"))


def test_a_tree_that_is_too_deep_is_refused() -> None:
    def nested(depth: int) -> str:
        tree = '<Choice value="x">' * depth + "</Choice>" * depth
        return view(f'<Taxonomy name="c" toName="t">{tree}</Taxonomy>')

    assert len(read_config(nested(60))[0].options[-1].path) == 60
    begin = time.process_time()
    with pytest.raises(InputError, match="elements more than 64 deep; make its tree flatter"):
        read_config(nested(200_000))  # all its paths together would have 20 thousand million names
    assert time.process_time() - begin < 2


def test_what_is_not_xml_is_refused() -> None:
    for text in ("", "View", "<View>", "<View></Text>", "\0"):
        with pytest.raises(InputError, match="the labeling configuration is not XML: "):
            read_config(text)
