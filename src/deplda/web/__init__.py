"""A fitted model as a service: a JSON API and an explorer page (extra ``[web]``)."""

from deplda.errors import needs_extra

with needs_extra("the service", "starlette and uvicorn", "web"):
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401

from deplda.web.app import create_app
from deplda.web.limits import Limits
from deplda.web.server import serve

__all__ = ["Limits", "create_app", "serve"]
