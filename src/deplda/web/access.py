"""Who may come in: the names that the service is called by, and the token that clients show."""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Iterable
from ipaddress import ip_address
from secrets import compare_digest
from socket import SOCK_STREAM, getaddrinfo

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from deplda.errors import InputError
from deplda.web.http_errors import path_of, refusal

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
TOKEN = "DEPLDA_TOKEN"  # noqa: S105  # the variable's name
_LEAST_CHARACTERS = 16
_MAKE_ONE = 'python -c "import secrets; print(secrets.token_urlsafe())"'
_NAME = r"\[[0-9a-f:.]+\]|[a-z0-9._-]+"
_HOST_HEADER = re.compile(rf"({_NAME})(?::\d{{1,5}})?", re.IGNORECASE)


class HostMiddleware:
    """Answers only to the service's own names.

    A page of another site can make its own name lead here (DNS rebinding), and its browser then
    takes the answers to be that site's; the name in the Host header tells. Starlette's
    TrustedHostMiddleware answers without the service's form of errors.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app, self.hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, 421 if it was meant for somebody else."""
        if scope["type"] == "http":
            asked = Headers(scope=scope).get("host", "")
            found = _HOST_HEADER.fullmatch(asked)
            if not found or found[1].lower() not in self.hosts:
                message = (
                    f"the service is not known by the host {asked[:80]!r}; if that is its name, "
                    f"start it with --allowed-host NAME"
                )
                await refusal(scope, message, 421)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class TokenMiddleware:
    """Answers only to those who show the token; the page itself, and /health, are for all.

    It may also be the password, of any name, of an address: http://annif:TOKEN@host. It is not
    asked for so, or browsers would open a window of their own.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app, self._token = app, token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, 401 if it has no token or another one."""
        if scope["type"] == "http" and not _is_open(scope) and not self._is_shown(scope):
            message = "send the service's token: Authorization: Bearer TOKEN"
            challenge = {"WWW-Authenticate": 'Bearer realm="deplda"'}
            await refusal(scope, message, 401, challenge)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_shown(self, scope: Scope) -> bool:
        scheme, _, shown = Headers(scope=scope).get("authorization", "").partition(" ")
        given = shown.encode("latin-1")
        if scheme.lower() == "basic":
            given = _password(given)
        elif scheme.lower() != "bearer":
            return False
        return compare_digest(given, self._token)


def _password(given: bytes) -> bytes:
    """Return the password of a client that has no other way to show a token, as Annif has none."""
    try:
        return b64decode(given, validate=True).partition(b":")[2]
    except ValueError:
        return b""


def _is_open(scope: Scope) -> bool:
    path = path_of(scope)
    return path in ("/", "/health") or path.startswith("/static/")


def host_name(name: str) -> str:
    """Return a host as Host headers have it, without a port; raise if it is none."""
    host = f"[{name}]" if ":" in name and not name.startswith("[") else name
    if not re.fullmatch(_NAME, host.lower()):
        raise InputError(
            f"{name!r} is not the name of a host; give it without a scheme and a port, "
            "as in labels.example.org"
        )
    return host.lower()


def read_token() -> str | None:
    """Return the token of the environment, None if there is none; raise if it is a poor one."""
    token = os.environ.get(TOKEN)
    if token is not None:
        check_token(token)
    return token


def check_token(token: str) -> None:
    """Raise, without telling it, if a token is easily guessed or cannot be sent as a header."""
    if len(token) < _LEAST_CHARACTERS:
        problem = f"has {len(token)} characters; it must have {_LEAST_CHARACTERS} or more"
    elif not all("!" <= character <= "~" for character in token):
        problem = "has characters other than ASCII letters, digits and signs, such as a blank"
    else:
        return
    raise InputError(f"the token ({TOKEN}) {problem}. Make one with: {_MAKE_ONE}")


def check_exposure(host: str, token: str | None) -> None:
    """Raise if other machines could reach the service and nobody would ask who they are."""
    if token is None and not _is_loopback(host):
        raise InputError(
            f"other machines can reach {host}, and there is no token. Either set {TOKEN} (make "
            f"one with: {_MAKE_ONE}), or serve at 127.0.0.1, behind a proxy that checks who comes "
            "in"
        )


def _is_loopback(host: str) -> bool:
    found = {str(there[0]) for *_, there in getaddrinfo(host, None, type=SOCK_STREAM)}
    return all(ip_address(address).is_loopback for address in found)
