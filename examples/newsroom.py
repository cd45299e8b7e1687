"""A first look: the generated newsroom corpus, a model of it, and why it suggests what it does."""

import rich
from rich.console import Console
from rich.panel import Panel

from deplda import Corpus, DependencyLDA, datasets, describe, evaluate


def words_of(corpus: Corpus, row: int, n: int = 18) -> str:
    counts = corpus.counts[[row]].toarray()[0]
    return ", ".join(corpus.vocabulary[i] for i in counts.argsort()[::-1][:n] if counts[i])


def labels_of(corpus: Corpus, row: int) -> str:
    return " · ".join(corpus.label_names[i] for i in corpus[[row]].labels.indices)


def main() -> None:
    data = datasets.load("newsroom")
    corpus, split = data.corpus, data.splits[0]
    console = Console()
    console.rule("newsroom: 2,000 generated documents")
    console.print(describe(corpus))
    console.print(
        "\nDocument 0 is the only one with the label VIDEO GAMES, beside two frequent labels:"
    )
    console.print(Panel(words_of(corpus, 0), title=labels_of(corpus, 0), title_align="left"))
    train = corpus[split.train]
    rare = int((train.label_counts < 10).sum())
    test = corpus[split.test]
    rich.print(
        f"Of {corpus.n_labels} labels, {rare} have fewer than 10 of the {len(train):,} training "
        f"documents; {len(test)} documents are kept for testing."
    )
    console.rule("Dependency-LDA")
    model = DependencyLDA().fit(train)
    found = evaluate(model.decision_function(test), test, train)
    rich.print(
        f"Mean average precision {found.document['average_precision']:.3f} by document, "
        f"{found.label['average_precision']:.3f} by label.\n"
        "VIDEO GAMES learned its own words from its one document: "
        + ", ".join(word.name for word in model.top_words("VIDEO GAMES", 8))
        + f".\n\nA test document that has {labels_of(test, 0)}:"
    )
    console.print(model.explain(test[[0]], k=4, n_words=5))


if __name__ == "__main__":
    main()
