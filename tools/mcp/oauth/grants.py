"""Grants of MCP servers: the tokens that a login gave us, and what they are bound to."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

BACK: Final = "http://127.0.0.1/callback"
"""Where a browser would return to if somebody logged in: nobody does while a token is used or renewed."""
LOGIN: Final = "it needs a login: signalbox mcp login {name}"
"""Why a server isn't at work, as a clause."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens for the server at `url`. `client` is our registration, bound to its issuer; `expires_at` is in epoch seconds.

    `issuer` and `resource` are the metadata that were found at the login: a refresh goes where they say, after a restart too.
    """

    url: str
    client: Mapping[str, Any] = field(repr=False)
    token: Mapping[str, Any] = field(repr=False)
    expires_at: float | None = None
    issuer: Mapping[str, Any] | None = None
    resource: Mapping[str, Any] | None = None

    def text(self) -> str:
        return json.dumps(asdict(self))

    @property
    def issuer_name(self) -> str:
        return str((self.issuer or {}).get("issuer") or self.client.get("issuer") or "")

    @property
    def can_renew(self) -> bool:
        return bool(self.token.get("refresh_token"))


def grant_of(text: str) -> Grant | None:
    """A grant as `text` wrote it; None for anything else."""
    try:
        return Grant(**json.loads(text))
    except (ValueError, TypeError):
        return None


class Grants(Protocol):
    """Keeps the grant of one server, sealed, for all processes. A grant for another address than `url` is as none."""

    async def read(self, url: str) -> Grant | None: ...

    async def write(self, grant: Grant) -> None: ...

    async def claim(self, known: Grant) -> bool:
        """Be the one who renews `known`; false where another process has, or the grant is gone. `write` or `free` ends it."""

    async def free(self, *, refused: bool) -> None:
        """End a claim without a grant. `refused`: the login server takes its token no more. Nothing where there is none."""


@dataclass(frozen=True, slots=True)
class Return:
    """Parameters with which a browser came back from the login page."""

    code: str
    state: str | None
    issuer: str | None


AskPerson = Callable[[str], Awaitable[Return]]
"""Shows a person the address of the login page, and waits for their return. Errors: NoServer."""


@dataclass(frozen=True, slots=True)
class Login:
    """Terms of the login at one server. Without `ask` nobody is there to log in: tokens are used and renewed, no more.

    `client_id` is one that the server's operator gave us, or the address of a document that describes us; without it we
    register ourselves. `back` is where the browser returns to.
    """

    server: str
    grants: Grants
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scopes: str = ""
    back: str = BACK
    ask: AskPerson | None = None

    @property
    def needed(self) -> str:
        return LOGIN.format(name=self.server)
