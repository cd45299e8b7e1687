"""
A first model
=============

Train a model on texts with labels, and let it suggest labels for a text that
it has not seen.
"""

# %%
# The data
# --------
# ``newsroom`` generates news articles and labels them as the indexers of a
# newspaper do. Most of its labels are rare. A model takes plain lists: texts,
# and a list of labels for each of them.

import matplotlib.pyplot as plt

import deplda

news = deplda.datasets.newsroom(600)
names = news.corpus.label_names
labels = [
    [names[label] for label in news.corpus.labels[[row]].indices]
    for row in range(600)
]
train, test = range(450), range(450, 600)
print(news.texts[450].splitlines()[0])
print(labels[450])

# %%
# Train
# -----
# ``HybridLDA`` is the default model. ``fit`` counts the words of the texts,
# trains a topic model and SVMs, and holds training documents out to learn
# probabilities.

model = deplda.HybridLDA(random_state=0)
model.fit([news.texts[i] for i in train], [labels[i] for i in train])
print(f"{model.n_features_in_:,} words, {len(model.classes_)} labels")
held_out = model.held_out_
print(
    f"Of {held_out['documents']:.0f} documents held out, the first label is "
    f"right for {100 - held_out['one_error']:.0f} %; "
    f"average precision {held_out['average_precision']:.2f}"
)

# %%
# Suggest labels
# --------------
# ``suggest`` returns the labels whose probability reaches the model's cut-off,
# the likeliest first.

article = 455
suggested, probabilities = model.suggest([news.texts[article]])[0]
for label, probability in zip(suggested, probabilities, strict=True):
    print(f"{probability:.0%}  {label}")

# %%
# The picture shows the ten best labels of the article. Green labels are those
# that the indexers assigned. A good model puts them first, and gives the
# others low probabilities. The labels above the dotted line reach the cut-off.

chances = model.predict_proba([news.texts[article]])[0]
best = chances.argsort()[::-1][:10]
is_true = [model.classes_[i] in labels[article] for i in best]

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.barh(
    range(10),
    chances[best],
    color=["tab:green" if each else "silver" for each in is_true],
)
axes.set_yticks(range(10), [model.classes_[i].capitalize() for i in best])
axes.invert_yaxis()
axes.set(
    xlim=(0, 1),
    xlabel="probability",
    title="Ten best labels (green: assigned by indexers)",
)
axes.axhline(len(suggested) - 0.5, color="black", linestyle=":", linewidth=1)
axes.text(0.99, len(suggested) - 0.55, "suggested", ha="right", va="bottom")
plt.show()

# %%
# Next, use your own CSV. Or save the model with ``model.save("folder")`` and
# use it on the command line: ``deplda predict folder texts.jsonl``.
