"""
A GPU or a cluster
==================

Where the work is done is a parameter. The results do not depend on it.
"""

# %%
# On a cluster
# ------------
# Any Dask cluster will do; here it is one worker in this process. ``engine``
# takes its client. The chains of the sampler run on the workers.

import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

import deplda

corpus = deplda.datasets.newsroom(300).corpus
settings = {
    "fit_method": "sampled",
    "n_chains": 4,
    "n_sweeps": 40,
    "n_topic_chains": 1,
}

cluster = LocalCluster(
    n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
)
client = Client(cluster)
on_cluster = deplda.DependencyLDA(
    **settings, random_state=0, engine=client
).fit(corpus)
scores = on_cluster.decision_function(corpus[:20])
client.close()
cluster.close()

# %%
# The same bits
# -------------
# The same seed gives the same numbers, wherever the chains ran.

here = deplda.DependencyLDA(**settings, random_state=0).fit(corpus)
print(np.array_equal(here.decision_function(corpus[:20]), scores))

# %%
# Have the chains converged?
# --------------------------
# Four independent chains of φ should reach the same log-likelihood.

traces = on_cluster.traces_["label_words"].log_likelihood
figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
for number, trace in enumerate(traces, 1):
    axes.plot(range(1, len(trace) + 1), trace, label=f"chain {number}")
axes.set(xlabel="sweep", ylabel="log-likelihood of the words")
axes.legend()
plt.show()

# %%
# On a GPU
# --------
# ``device="auto"`` uses a CUDA GPU where there is one and falls back to the
# CPU where there is none. ``device="cuda"`` insists on it. Every model but
# the hybrid runs there; on a GPU sampled results differ in their random
# numbers, not in their distribution.

model = deplda.DependencyLDA(
    n_topic_sweeps=20, random_state=0, device="auto"
).fit(corpus)
print(model.suggest(corpus[:1])[0].labels)

# %%
# The how-to pages on scaling and on GPUs cover corpora larger than
# memory, and have measurements.
