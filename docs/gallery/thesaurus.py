"""
A thesaurus
===========

Labels are concepts of a thesaurus. The model uses their names, so it can
suggest concepts that no training document has.
"""

# %%
# Articles and concepts
# ---------------------
# ``newsroom`` generates articles and a thesaurus in English and German. Most of
# the concepts have no training article.

# sphinx_gallery_thumbnail_number = 2
import textwrap
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

import deplda

news = deplda.datasets.newsroom(600)
names = {concept.name("en"): concept for concept in news.thesaurus}
labels = [
    [names[news.corpus.label_names[c]].uri for c in row.indices]
    for row in (news.corpus.labels[[k]] for k in range(600))
]
train, test = slice(450), slice(450, 600)
frequency = Counter(label for several in labels[train] for label in several)
print(len(frequency), "labels,", len(news.thesaurus), "concepts")
concept = names["VOLCANOES"]
print(concept.name("en"), "/", concept.name("de"), "/", concept.synonyms["en"])

# %%
# Train with names
# ----------------
# The counter looks for names of concepts in the texts, and the model learns
# how far a name can be trusted.

counter = deplda.WordCounter(language="en", names=news.thesaurus)
model = deplda.HybridLDA(random_state=0).fit(
    news.texts[train], labels[train], counter=counter, vocabulary=news.thesaurus
)
without = deplda.HybridLDA(random_state=0).fit(
    news.texts[train], labels[train], counter=deplda.WordCounter(language="en")
)
print(
    model.n_learned_labels_, "concepts learned,", len(model.classes_), "known"
)

# %%
# A concept that no article has
# -----------------------------

text = (
    "Two heists in one night. The first of the robberies took three minutes, "
    "the second an hour. Police officers found handcuffs, but no burglars."
)
print(textwrap.fill(text, 76), end="\n\n")
for uri, probability in zip(*model.suggest([text])[0], strict=True):
    name, name_de = (news.thesaurus[uri].name(code) for code in ("en", "de"))
    print(f"{probability:.0%}  {name} ({name_de}), {frequency[uri]} articles")

# %%
# What names are worth
# --------------------
# Of the true labels of the test articles, the share that is among the ten best
# suggestions, by the number of training articles of the label. Without names,
# concepts without articles cannot be found.

groups = {"0": (0, 0), "1–2": (1, 2), "3–9": (3, 9), "10 or more": (10, 10_000)}


def recall(fitted: deplda.HybridLDA) -> list[float]:
    """Return the share of true labels among the ten best, by group."""
    best = [set(row) for row in fitted.rank(news.texts[test], 10).labels]
    pairs = [
        (label, label in ten)
        for own, ten in zip(labels[test], best, strict=True)
        for label in own
    ]
    return [
        float(
            np.mean(
                [hit for label, hit in pairs if low <= frequency[label] <= high]
            )
        )
        for low, high in groups.values()
    ]


figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
places = np.arange(len(groups))
axes.bar(
    places - 0.2, recall(without), 0.4, label="without names", color="silver"
)
axes.bar(places + 0.2, recall(model), 0.4, label="with names")
axes.set_xticks(places, list(groups))
axes.set(
    xlabel="training articles of a concept",
    ylabel="found among the ten best",
    ylim=(0, 1.05),
)
axes.legend(loc="upper left")
plt.show()
