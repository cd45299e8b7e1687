"""
Explain a document
==================

Every suggestion comes with reasons that add up to its score.
"""

# %%
# A model and a text
# ------------------

import matplotlib.pyplot as plt

import deplda

news = deplda.datasets.newsroom(600)
counter = deplda.WordCounter(
    language=None, vocabulary=news.corpus.vocabulary
).fit([])
model = deplda.HybridLDA(random_state=0).fit(news.corpus, counter=counter)

text = (
    "The maker of a popular video game was sued in federal court on Tuesday "
    "by two rivals, who say it built a monopoly on cartridges. The lawsuit "
    "asks the judge for damages. Lawyers for the plaintiffs said that no "
    "controller and no avatar reaches a gamer without its consent."
)

# %%
# The document, word by word
# --------------------------
# In a notebook an explanation displays itself: the words in the colour of the
# label that they support most, and a table of the reasons. ``to_html()``
# returns it as a page.

explanation = model.explain(text, k=3)
explanation

# %%
# From zero to the score
# ----------------------
# A score is the log-odds of the probability. Its parts are one number for each
# signal: the margin of the label's SVM, the share in the topic model, the
# similarity to the label's documents, and so on. They add up exactly.

reason = explanation.reasons[0]
print(reason.label, f"{reason.probability:.0%}")
print({name: round(value, 2) for name, value in reason.parts.items()})

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
total = 0.0
for place, value in enumerate(reason.parts.values()):
    axes.bar(
        place,
        value,
        bottom=total,
        color="tab:blue" if value > 0 else "tab:orange",
    )
    total += value
axes.bar(len(reason.parts), total, color="black")
axes.set_xticks(
    range(len(reason.parts) + 1),
    [*reason.parts, "score"],
    rotation=45,
    ha="right",
)
axes.axhline(0, color="black", linewidth=0.8)
axes.set(
    ylabel="log-odds, cumulative",
    title=f"{str(reason.label).capitalize()}: the parts",
)
plt.show()

# %%
# The words behind it
# -------------------
# The margin and the share come from words. This picture shows what each word
# adds, by the SVM and by the topic model.

words = reason.evidence[::-1]
places = range(len(words))
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.barh(places, [word.margin for word in words], label="margin of the SVM")
axes.barh(
    places,
    [word.share for word in words],
    left=[word.margin for word in words],
    label="share in the topic model",
)
axes.set_yticks(places, [word.name for word in words])
axes.set(
    xlabel="added to the log-odds",
    title=f"{str(reason.label).capitalize()}: the words",
)
axes.legend(loc="lower right")
plt.show()

# %%
# A rare label
# ------------
# *VIDEO GAMES* has a single training document, which also has two frequent
# labels. The model learned the right words from it, because the frequent
# labels account for theirs.

print([word.name for word in model.top_words("VIDEO GAMES", 6)])
