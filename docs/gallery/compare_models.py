"""
Compare models
==============

Which model is better, is the difference more than noise, and are the
probabilities right?
"""

# %%
# Train and evaluate
# ------------------
# All models get the same training and test documents. The last one knows only
# how frequent each label is; it shows what a value is worth.

import matplotlib.pyplot as plt
import numpy as np

import deplda
from deplda.evaluation import reliability

corpus = deplda.datasets.newsroom(600).corpus
rows = deplda.splits.random_split(corpus, 0.3, seed=1)
train = corpus[rows.train].keep_words(2)
test = corpus[rows.test].align(train)

models = {
    "Hybrid": deplda.HybridLDA(random_state=0),
    "tf-idf SVM": deplda.TfidfSVM(),
    "Dependency-LDA": deplda.DependencyLDA(random_state=0),
    "Flat-LDA": deplda.FlatLDA(random_state=0),
}
scores = {
    name: model.fit(train).decision_function(test)
    for name, model in models.items()
}
scores["label frequency"] = np.tile(train.label_counts, (len(test), 1))
found = {
    name: deplda.evaluate(matrix, test, train)
    for name, matrix in scores.items()
}

# %%
# Values with intervals
# ---------------------
# An interval says how much a value would change with other test documents of
# the same kind.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.6), layout="constrained", sharey=True
)
for axes, pivot in ((left, "document"), (right, "label")):
    for place, (name, each) in enumerate(found.items()):
        value, low, high = each.interval(pivot, "average_precision", seed=0)
        axes.errorbar(
            value,
            place,
            xerr=[[value - low], [high - value]],
            fmt="o",
            capsize=4,
        )
        print(f"{name}, by {pivot}: {value:.3f} [{low:.3f}, {high:.3f}]")
    axes.set(xlim=(0, 1), xlabel=f"average precision by {pivot}")
left.set_yticks(range(len(found)), list(found))
left.invert_yaxis()
plt.show()

# %%
# More than one metric
# --------------------
# ``scorecard`` counts on how many metrics each model is best.

print(deplda.compare(found).scorecard.total("all"))

# %%
# Are the probabilities right?
# ----------------------------
# Of the suggestions with a probability of 70 %, about 70 % should be true.
# Points on the diagonal are calibrated; points below it are overconfident.

figure, axes = plt.subplots(figsize=(4.8, 4.6), layout="constrained")
axes.plot([0, 1], [0, 1], color="silver")
for name, model in models.items():
    bins = reliability(model.predict_proba(test), test.labels, bins=8)
    axes.plot(
        [each.told for each in bins],
        [each.seen for each in bins],
        "o-",
        label=name,
    )
axes.set(
    xlabel="predicted probability", ylabel="share that is true", aspect="equal"
)
axes.legend()
plt.show()
