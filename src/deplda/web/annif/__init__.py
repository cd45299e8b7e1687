"""Annif's REST API beside our own: to Annif's programs, each model is one of its projects."""
