"""
Rare labels
===========

Most labels have few documents, and an average over documents hides how a model
treats them. Look at them separately.
"""

# %%
# Four models, one split
# ----------------------

import matplotlib.pyplot as plt

import deplda

corpus = deplda.datasets.newsroom(600).corpus
rows = deplda.splits.random_split(corpus, 0.3, seed=0)
train = corpus[rows.train].keep_words(2)
test = corpus[rows.test].align(train)

models = {
    "Hybrid": deplda.HybridLDA(random_state=0),
    "tf-idf SVM": deplda.TfidfSVM(n_held_out=0),
    "Dependency-LDA": deplda.DependencyLDA(random_state=0, n_held_out=0),
    "Vanilla-SVM": deplda.VanillaSVM(n_held_out=0),
}
scores = {
    name: model.fit(train).decision_function(test)
    for name, model in models.items()
}

# %%
# Average precision by label frequency
# ------------------------------------
# ``compare`` groups the labels by their number of training documents and gives
# the mean average precision of each group, with a 95 % bootstrap interval.

found = {
    name: deplda.evaluate(matrix, test, train)
    for name, matrix in scores.items()
}
compared = deplda.compare(found)
bins = [part for part in compared.by_frequency.bins if part.high > 0]
for part in bins:
    values = {name: round(mean.value, 2) for name, mean in part.means.items()}
    print(f"{part.low}–{part.high} documents, {part.n_labels} labels: {values}")

figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
for number, name in enumerate(models):
    means = [part.means[name] for part in bins]
    places = [place + 0.12 * (number - 1.5) for place in range(len(bins))]
    below = [mean.value - mean.low for mean in means]
    above = [mean.high - mean.value for mean in means]
    axes.errorbar(
        places,
        [mean.value for mean in means],
        (below, above),
        fmt="o-",
        capsize=3,
        label=name,
    )
spans = [f"{b.low}" if b.low == b.high else f"{b.low}–{b.high}" for b in bins]
axes.set_xticks(
    range(len(bins)),
    [
        f"{span}\n({b.n_labels} labels)"
        for span, b in zip(spans, bins, strict=True)
    ],
)
axes.set(
    xlabel="training documents of a label",
    ylabel="average precision by label",
    ylim=(0, 1),
)
axes.legend()
plt.show()

# %%
# Is the difference real?
# -----------------------
# Each group has a paired t-test over its labels, for every two models.

test_of_rarest = bins[0].tests["Hybrid", "Vanilla-SVM"]
print(
    f"difference {test_of_rarest.difference:+.3f}, p = {test_of_rarest.p:.2g}"
)
