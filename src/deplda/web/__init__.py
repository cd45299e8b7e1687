"""A fitted model as a service: a JSON API and an explorer page (extra ``[web]``)."""

from deplda.errors import InputError

try:
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise InputError(
        "the service needs starlette and uvicorn; install them with: pip install 'deplda[web]'"
    ) from error

from deplda.web.app import create_app
from deplda.web.limits import Limits
from deplda.web.server import serve

__all__ = ["Limits", "create_app", "serve"]
