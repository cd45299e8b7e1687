"""
Your own CSV
============

Read a table of documents, look at its labels, train on it and write
suggestions to a new table.
"""

# %%
# A table
# -------
# Any column names will do. This one has ``key``, ``body`` and ``subjects``,
# with ``|`` between labels; take your own file instead.

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import deplda

folder = Path(tempfile.mkdtemp())
news = deplda.datasets.newsroom(500)
with (folder / "articles.csv").open("w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["key", "body", "subjects"])
    for row, body in enumerate(news.texts):
        subjects = [
            news.corpus.label_names[i]
            for i in news.corpus.labels[[row]].indices
        ]
        table.writerow([f"a{row}", body, "|".join(subjects)])

# %%
# Read it
# -------
# ``Fields`` names the columns. A ``WordCounter`` decides which words count:
# here it detects the language, drops its stop words, stems the other words, and
# drops those that occur only once.

fields = deplda.Fields(id="key", text="body", labels="subjects", separator="|")
counter = deplda.WordCounter(min_count=2)
corpus = deplda.read_corpus(
    folder / "articles.csv", fields=fields, counter=counter
)
found = deplda.describe(corpus)
print(corpus)
print(f"{found.cardinality:.1f} labels per document")

# %%
# Look at the labels
# ------------------
# Look at the label frequencies before you train. In most collections a few
# labels are frequent and most are rare, as here: half of the labels have three
# documents or fewer.

frequencies = np.sort(corpus.label_counts)[::-1]
figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
axes.loglog(np.arange(1, len(frequencies) + 1), frequencies, ".", markersize=5)
axes.axhline(np.median(frequencies), color="tab:red", linewidth=1)
axes.text(
    1, np.median(frequencies) * 1.1, "median", color="tab:red", va="bottom"
)
axes.set(
    xlabel="rank of the label",
    ylabel="documents",
    title=f"{len(frequencies)} labels by frequency",
)
plt.show()

# %%
# Train and suggest
# -----------------
# The model gets a counter with the words of the corpus, so that it takes texts
# from now on.

counter = counter.with_words(corpus.vocabulary)
model = deplda.HybridLDA(random_state=0).fit(corpus, counter=counter)
new = [
    "The pitcher was suspended for two games over steroids.",
    "Stocks fell on recession fears.",
]
with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["text", "labels"])
    for text, given in zip(new, model.suggest(new), strict=True):
        table.writerow([text, "|".join(given.labels)])
print((folder / "labels.csv").read_text(encoding="utf-8"))

# %%
# The same on the command line: ``deplda train articles.csv -o model
# --text-field body --labels-field subjects`` and ``deplda predict model
# new.csv -o labels.csv``.
