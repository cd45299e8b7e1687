"""What the models learned, and what they say of one document."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from msgspec import structs

from deplda.comparison.page import explanation_of
from deplda.comparison.phrases import listed
from deplda.comparison.results import ShownText
from deplda.comparison.standing import Cell, Table
from deplda.data.wording import counted
from paper.report.parts import Block, Details, Section, table
from paper.report.phrases import signed
from paper.report.runs import Run, distinct


def learned_section(run: Run) -> Section | None:
    """Return the top words of some labels by every topic model, and the topics of labels."""
    cases = {model: run.unit(model).get("showcase", {}) for model in run.models}
    cases = {model: case for model, case in cases.items() if "top_words" in case}
    if not cases:
        return None
    words = distinct((model, case["top_words"]) for model, case in cases.items())
    topics = distinct(
        (model, (case["topics"], case.get("coherence"))) for model, case in cases.items()
    )
    return Section(
        "What was learned",
        (
            "Frequent labels, labels of middling frequency, and labels of a single training "
            "document, which learn from the words that the document’s other labels leave.",
            _top_words(run, {listed(models): found for models, found in words}),
            *(
                block
                for models, found in topics
                if len(found[0]) > 1
                for block in _topics(listed(models), *found)
            ),
        ),
    )


def document_section(run: Run) -> Section | None:
    """Return one test document's ten best labels by every model, and why."""
    if not run.shared_splits:
        return None
    split = run.shared_splits[0]
    cases: dict[str, dict[str, Any]] = {
        model: case
        for model in run.models
        if (case := run.unit(model, split).get("showcase")) is not None
    }
    if not cases:
        return None
    first = next(iter(cases.values()))
    true = first["true"]
    blocks: list[Block] = [
        f"Test document {first['document']} of split {split} has "
        f"{counted(len(true), 'label')}: {', '.join(true)}.",
        _top_ten(cases, set(true)),
    ]
    reasons = {m: explanation_of(case) for m, case in cases.items() if _has_parts(case)}
    written = _text_of(run, first["document"])
    if written is not None:
        spans = tuple(written.spans)
        reasons = {
            m: structs.replace(reason, text=written.text, spans=spans)
            for m, reason in reasons.items()
        }
    if reasons:
        main = run.dependency if run.dependency in reasons else next(iter(reasons))
        blocks += [f"Why {main} says so, and {_how_it_reads(written)}:", reasons.pop(main)]
        blocks += [Details(f"Why {m} says so", (reason,)) for m, reason in reasons.items()]
    return Section("One document", tuple(blocks))


def _text_of(run: Run, document: str) -> ShownText | None:
    """Return the document as it is written, if the folder of results has it."""
    known = run.data.document if run.data is not None else None
    return known if known is not None and known.id == document else None


def _how_it_reads(written: ShownText | None) -> str:
    if written is None:
        return "below it the words of the document, in no order: the data set has no texts"
    if written.is_whole:
        return "below it the document as it is written"
    return f"below it the first {len(written.text):,} characters of the document"


def _has_parts(showcase: dict[str, Any]) -> bool:
    """Return whether a unit kept an explanation of additive parts; those of old folders are not."""
    return any("parts" in reason for reason in showcase.get("explanation", {}).get("labels", ()))


def _top_words(run: Run, found: dict[str, dict[str, list[tuple[str, float]]]]) -> Table:
    known = run.data.shown_labels if run.data is not None else {}
    names = dict.fromkeys(name for by_label in found.values() for name in by_label)
    rows = [
        [
            name,
            f"{known[name]:,}" if name in known else "–",
            *(", ".join(word for word, _ in words.get(name, [])) for words in found.values()),
        ]
        for name in names
    ]
    columns = ("label", "training documents", *found)
    return table("The likeliest words of some labels.", columns, rows, prose=True)


def _topics(
    models: str, topics: list[list[tuple[str, float]]], coherence: list[float | None] | None
) -> list[Block]:
    rows = [
        [str(n), ", ".join(f"{name} {weight:.0%}" for name, weight in topic) or "–"]
        for n, topic in enumerate(topics, start=1)
    ]
    caption = f"{models}: {len(topics)} of the topics, each by its likeliest labels."
    if coherence is None:  # of an earlier version
        return [table(caption, ("topic", "labels"), rows, prose=True)]
    for row, value in zip(rows, coherence, strict=True):
        mixes = ", mixes themes" if value is not None and value < 0 else ""
        row.append("–" if value is None else f"{signed(value, 2)}{mixes}")
    mixed = [row[0] for row in rows if row[2].endswith("themes")]
    found = f"Here topic{'s' if len(mixed) > 1 else ''} {listed(mixed)} mix" if mixed else ""
    found = f" {found}{'es' if len(mixed) == 1 else ''} themes." if mixed else " Here none does."
    said = (
        "A topic should be of labels that go together. Coherence says whether these do in training "
        "documents: 1 always, 0 as by chance, −1 never (the mean NPMI of every two, by their "
        f"shares). A topic below 0 mixes themes.{found}"
    )
    return [table(caption, ("topic", "labels", "coherence"), rows, prose=True), said]


def _top_ten(cases: dict[str, dict[str, Any]], true: set[str]) -> Table:
    columns = ([name for name, _ in case["top"]] for case in cases.values())
    rows = [
        [Cell(str(rank)), *(Cell(name, "true" if name in true else "") for name in names)]
        for rank, names in enumerate(zip_longest(*columns, fillvalue="–"), start=1)
    ]
    caption = "The ten best labels by every model; ✓ and bold: the document has it."
    return table(caption, ("rank", *cases), rows, prose=True)
