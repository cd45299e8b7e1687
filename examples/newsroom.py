"""A first look: the generated newsroom corpus, its statistics, a document and a split."""

import rich
from rich.console import Console
from rich.panel import Panel

from deplda import Corpus, datasets, describe


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
    rich.print(
        f"Of {corpus.n_labels} labels, {rare} have fewer than 10 of the {len(train):,} training "
        f"documents; {len(split.test)} documents are kept for testing."
    )


if __name__ == "__main__":
    main()
