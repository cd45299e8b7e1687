"""
A thesaurus
===========

Labels are concepts of a thesaurus. The model uses their names, so it can
suggest concepts that no training document has.
"""

# %%
# Records and concepts
# --------------------
# ``museum`` generates the records of a small museum and a thesaurus in English
# and German. 73 of the 250 concepts in use have no training record.

# sphinx_gallery_thumbnail_number = 2
import textwrap
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

import deplda

museum = deplda.datasets.museum()
texts = [record.text for record in museum.train]
labels = [list(record.labels) for record in museum.train]
frequency = Counter(label for several in labels for label in several)
print(len(texts), "records,", len(museum.thesaurus), "concepts")
concept = museum.thesaurus["https://museum.example/thesaurus/1167"]
print(concept.name("en"), "/", concept.name("de"))

# %%
# Train with names
# ----------------
# The counter looks for names of concepts in the texts, and the model learns
# how far a name can be trusted.

counter = deplda.WordCounter(language="en", names=museum.thesaurus)
model = deplda.HybridLDA(random_state=0).fit(
    texts, labels, counter=counter, vocabulary=museum.thesaurus
)
without = deplda.HybridLDA(random_state=0).fit(
    texts, labels, counter=deplda.WordCounter(language="en")
)
print(
    model.n_learned_labels_, "concepts learned,", len(model.classes_), "known"
)

# %%
# A concept that no record has
# ----------------------------

text = museum.new[0].text
print(textwrap.fill(text, 76), end="\n\n")
for uri, probability in zip(*model.suggest([text])[0], strict=True):
    name, name_de = (museum.thesaurus[uri].name(code) for code in ("en", "de"))
    print(f"{probability:.0%}  {name} ({name_de}), {frequency[uri]} records")

# %%
# What names are worth
# --------------------
# Of the true labels of the test records, the share that is among the five best
# suggestions, by the number of training records of the label. Without names,
# concepts without records cannot be found.

tests = [record.text for record in museum.test]
truth = [set(record.labels) for record in museum.test]
groups = {"0": (0, 0), "1–2": (1, 2), "3–9": (3, 9), "10 or more": (10, 10_000)}


def recall(fitted: deplda.HybridLDA) -> list[float]:
    """Return the share of true labels among the five best, by group."""
    best = [set(row) for row in fitted.rank(tests, 5).labels]
    pairs = [
        (label, label in five)
        for own, five in zip(truth, best, strict=True)
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
    xlabel="training records of a concept",
    ylabel="found among the five best",
    ylim=(0, 1.05),
)
axes.legend(loc="upper left")
plt.show()
