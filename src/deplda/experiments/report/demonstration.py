"""The demonstration: seven models on the newsroom corpus, a leaderboard, a story and a report."""

from __future__ import annotations

import shutil
from pathlib import Path

from msgspec import structs
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from deplda.data import datasets
from deplda.data.files import StrPath
from deplda.experiments import Results, read_experiment, read_results, run
from deplda.experiments.report.overview import leaderboard
from deplda.experiments.report.pages import write_report
from deplda.experiments.report.showcase import explanation_of
from deplda.models.registry import WHICH_MODEL

_RARE = "VIDEO GAMES"
_MODEL = "Dependency-LDA"


def demo(folder: StrPath, console: Console | None = None) -> Path:
    """Train seven models on the newsroom corpus, tell what came out, and return the report's path.

    What an earlier demonstration left in the folder is made anew.
    """
    console = Console() if console is None else console
    results, report = Path(folder) / "results", Path(folder) / "report.html"
    if (results / "experiment.json").exists():
        shutil.rmtree(results)
    results.parent.mkdir(parents=True, exist_ok=True)
    experiment = read_experiment("newsroom")
    names = ", ".join(experiment.models)
    console.print(f"Training {names} on the newsroom corpus, 2,000 generated articles …")
    run(experiment, results, budget="quick")
    write_report(results, report)
    _tell(read_results(results), console)
    console.print(leaderboard(results))
    console.print(f"\n{WHICH_MODEL}")
    console.print(f"\nThe whole report: {report.resolve()}", soft_wrap=True)
    return report


def _tell(results: Results, console: Console) -> None:
    """Print the story of a label of one document, and why a document got its labels."""
    found = next((u.found for u in results.done if u.model == _MODEL), None)
    if found is None:
        failed = [unit for unit in results.units if unit.status == "failed"]
        console.print("\n".join(f"{unit.model} failed: {unit.error}" for unit in failed))
        return
    corpus = datasets.load("newsroom").corpus
    counts = corpus.counts[[0]].toarray()[0]
    words = [corpus.vocabulary[w] for w in counts.argsort()[::-1][:14]]
    labels = [corpus.label_names[c] for c in corpus[[0]].labels.indices]
    console.print(f"\n{_RARE} has a single training document, beside two frequent labels:")
    console.print(Panel(Text(", ".join(words)), title=Text(" · ".join(labels)), title_align="left"))
    learned = found["showcase"]["top_words"].get(_RARE, [])
    console.print(
        f"The words that {_MODEL} learned for it there: "
        f"{', '.join(word for word, _ in learned[:8])}.\n"
    )
    true = " · ".join(found["showcase"]["true"])
    console.print(f"A test document that has {true}:", highlight=False)
    explanation = explanation_of(found["showcase"])
    best = tuple(
        structs.replace(reason, words=reason.words[:4]) for reason in explanation.reasons[:3]
    )
    console.print(structs.replace(explanation, reasons=best))
    console.print()
