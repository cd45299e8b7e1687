"""The paper's data sets: catalogue, downloads, and readers of the published files."""

from paper.data.catalogue import Entry, entries, fetch, load

__all__ = ["Entry", "entries", "fetch", "load"]
