"""Whether the same seed gives the same model with one thread and with two.

Run: ``python -m benchmarks.threads``. tomotopy is in the extra [bench].
"""

from __future__ import annotations

import numpy as np
from rich.console import Console

from deplda import Corpus, Schedule, datasets, train_label_words


def ours(corpus: Corpus, n_jobs: int) -> np.ndarray:
    trained = train_label_words(corpus, n_chains=2, schedule=Schedule(5), seed=1, n_jobs=n_jobs)
    return trained.label_words.weights.toarray()


def tomotopys(corpus: Corpus, workers: int) -> np.ndarray:
    import tomotopy

    model = tomotopy.LLDAModel(seed=1)
    words, starts = corpus.tokens()
    for d in range(len(corpus)):
        labels = corpus.labels.indices[corpus.labels.indptr[d] : corpus.labels.indptr[d + 1]]
        tokens = [str(word) for word in words[starts[d] : starts[d + 1]]]
        model.add_doc(tokens, labels=[str(label) for label in labels])
    model.train(5, workers=workers, show_progress=False)
    return np.array([model.get_topic_word_dist(k) for k in range(model.k)])


def main() -> None:
    corpus = datasets.newsroom(300).corpus
    for name, train in (("deplda", ours), ("tomotopy LLDAModel", tomotopys)):
        same = np.array_equal(train(corpus, 1), train(corpus, 2))
        Console().print(f"{name}: {'the same bits' if same else 'another model'}")


if __name__ == "__main__":
    main()
