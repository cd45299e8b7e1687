"""Where the documentation is, for the links in the diagrams that notebooks draw of estimators."""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata


class Documented:
    """An estimator whose diagram links to its page in the documentation, if it is known where."""

    _doc_link_module = "deplda"

    @property
    def _doc_link_template(self) -> str:
        site = (os.environ.get("DEPLDA_DOCUMENTATION") or _published()).rstrip("/")
        escaped = site.replace("{", "{{").replace("}", "}}")
        return f"{escaped}/reference/generated/deplda.{{estimator_name}}.html" if site else ""


@cache
def _published() -> str:
    """Return the address that the package names for its documentation; empty if it names none."""
    try:
        named = metadata("deplda").get_all("Project-URL") or []
    except PackageNotFoundError:  # run from a folder, not installed
        return ""
    sites = dict(each.split(", ", maxsplit=1) for each in named)
    return sites.get("Documentation", "")
