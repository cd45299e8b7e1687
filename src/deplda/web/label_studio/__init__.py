"""A model as the ML backend of Label Studio: labels for its tasks, and its annotations to learn."""
