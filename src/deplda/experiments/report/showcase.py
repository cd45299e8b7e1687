"""What the models learned, and what they say of one document."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import msgspec

from deplda.experiments.report.parts import Block, Cell, Details, Section, Table, table
from deplda.experiments.report.phrases import counted, listed
from deplda.experiments.report.runs import Run, distinct
from deplda.models.explanation import Explanation
from deplda.models.reasons import Word


def learned_section(run: Run) -> Section | None:
    """Return the top words of some labels by every topic model, and the topics of labels."""
    cases = {model: run.found(model).get("showcase", {}) for model in run.models}
    cases = {model: case for model, case in cases.items() if "top_words" in case}
    if not cases:
        return None
    words = distinct((model, case["top_words"]) for model, case in cases.items())
    topics = distinct((model, case["topics"]) for model, case in cases.items())
    return Section(
        "What was learned",
        (
            "Frequent labels, labels of middling frequency, and labels of a single training "
            "document, which learn from the words that the document’s other labels leave.",
            _top_words(run, {listed(models): found for models, found in words}),
            *(_topics(listed(models), found) for models, found in topics if len(found) > 1),
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
        if (case := run.found(model, split).get("showcase")) is not None
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
    if reasons:
        main = run.dependency if run.dependency in reasons else next(iter(reasons))
        blocks += [f"Why {main} says so:", reasons.pop(main)]
        blocks += [Details(f"Why {m} says so", (reason,)) for m, reason in reasons.items()]
    return Section("One document", tuple(blocks))


def explanation_of(showcase: dict[str, Any]) -> Explanation:
    """Return the explanation that a unit kept."""
    words = [  # folders of earlier versions have not what words add
        Word(word, times, tuple(tokens), tuple(added[0] if added else tokens))
        for word, times, tokens, *added in showcase["words"]
    ]
    return msgspec.convert(showcase["explanation"] | {"words": words}, Explanation)


def _has_parts(showcase: dict[str, Any]) -> bool:
    """Return whether a unit kept an explanation of additive parts; those of old folders are not."""
    return any("parts" in reason for reason in showcase.get("explanation", {}).get("labels", ()))


def _top_words(run: Run, found: dict[str, dict[str, list[tuple[str, float]]]]) -> Table:
    known = run.results.data.shown_labels if run.results.data is not None else {}
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


def _topics(models: str, topics: list[list[tuple[str, float]]]) -> Table:
    rows = [
        [str(n), ", ".join(f"{name} {weight:.0%}" for name, weight in topic) or "–"]
        for n, topic in enumerate(topics, start=1)
    ]
    caption = f"{models}: {len(topics)} of the topics, each by its likeliest labels."
    return table(caption, ("topic", "labels"), rows, prose=True)


def _top_ten(cases: dict[str, dict[str, Any]], true: set[str]) -> Table:
    columns = ([name for name, _ in case["top"]] for case in cases.values())
    rows = [
        [Cell(str(rank)), *(Cell(name, "true" if name in true else "") for name in names)]
        for rank, names in enumerate(zip_longest(*columns, fillvalue="–"), start=1)
    ]
    caption = "The ten best labels by every model; ✓ and bold: the document has it."
    return table(caption, ("rank", *cases), rows, prose=True)
