"""A small experiment."""

SMALL = """
name = "small"
data = "newsroom"

[models.Flat]
estimator = "FlatLDA"

[models."Dependency (few)"]
estimator = "DependencyLDA"
parameters = { n_topics = 8, n_topic_chains = 1, n_topic_sweeps = 20 }
"""
