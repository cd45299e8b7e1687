"""What the models learned, and what they say of one document."""

from __future__ import annotations

from typing import Any

import msgspec

from deplda.experiments.report.parts import Block, Cell, Details, Section, Table, table
from deplda.experiments.report.phrases import counted, listed
from deplda.experiments.report.runs import Run
from deplda.models.explanation import Explanation
from deplda.models.reasons import Word


def learned_section(run: Run) -> Section | None:
    """Return the top words of some labels by every topic model, and the topics of labels."""
    shown = [m for m in run.models if "top_words" in run.found(m).get("showcase", {})]
    if not shown:
        return None
    blocks: list[Block] = [
        "Frequent labels, labels of middling frequency, and labels of a single training document, "
        "which learn from the words that the document’s other labels leave.",
        _top_words(run, shown),
    ]
    topics = _distinct({model: run.found(model)["showcase"]["topics"] for model in shown})
    blocks += [_topics(models, found) for models, found in topics.items() if len(found) > 1]
    return Section("What was learned", tuple(blocks))


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
    explained = [model for model, case in cases.items() if "explanation" in case]
    main = run.dependency if run.dependency in explained else next(iter(explained), None)
    if main is not None:
        blocks += [f"Why {main} says so:", explanation_of(cases[main])]
    blocks += [
        Details(f"Why {model} says so", (explanation_of(cases[model]),))
        for model in explained
        if model != main
    ]
    return Section("One document", tuple(blocks))


def explanation_of(showcase: dict[str, Any]) -> Explanation:
    """Return the explanation that a unit kept."""
    words = [Word(word, times, tuple(tokens)) for word, times, tokens in showcase["words"]]
    return msgspec.convert(showcase["explanation"] | {"words": words}, Explanation)


def _top_words(run: Run, models: list[str]) -> Table:
    found = _distinct({model: run.found(model)["showcase"]["top_words"] for model in models})
    known = run.results.data.shown_labels if run.results.data is not None else {}
    names = list(dict.fromkeys(name for by_label in found.values() for name in by_label))
    return table(
        "The likeliest words of some labels.",
        ("label", "training documents", *found),
        [
            [
                name,
                f"{known[name]:,}" if name in known else "–",
                *(", ".join(word for word, _ in words.get(name, [])) for words in found.values()),
            ]
            for name in names
        ],
        prose=True,
    )


def _distinct(found: dict[str, Any]) -> dict[str, Any]:
    """Return what was found under the names of all models that found just that.

    With the same seed and settings, all topic models learn the same words.
    """
    models: list[list[str]] = []
    for model, learned in found.items():
        same = next((names for names in models if found[names[0]] == learned), None)
        if same is None:
            models.append([model])
        else:
            same.append(model)
    return {listed(names): found[names[0]] for names in models}


def _topics(models: str, topics: list[list[tuple[str, float]]]) -> Table:
    return table(
        f"{models}: {len(topics)} of the topics, each by its likeliest labels.",
        ("topic", "labels"),
        [
            [str(n), ", ".join(f"{name} {weight:.0%}" for name, weight in topic) or "–"]
            for n, topic in enumerate(topics, start=1)
        ],
        prose=True,
    )


def _top_ten(cases: dict[str, dict[str, Any]], true: set[str]) -> Table:
    ranks = max(len(case["top"]) for case in cases.values())
    rows = []
    for rank in range(ranks):
        cells = [Cell(str(rank + 1))]
        for case in cases.values():
            name = case["top"][rank][0] if rank < len(case["top"]) else "–"
            cells.append(Cell(name, "true" if name in true else ""))
        rows.append(cells)
    caption = "The ten best labels by every model; ✓ and bold: the document has it."
    return table(caption, ("rank", *cases), rows, prose=True)
