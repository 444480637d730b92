"""What a second layer of sign-in gives to the others, and the one that isn't there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aiohttp import web

from runtime.contract import Links, Person
from runtime.domain.programs.token import ProgramToken
from runtime.http.authentication import NO_LAYER, SecondLayer


@dataclass(frozen=True, slots=True)
class AuthLayer:
    """`links` tell whose a cookie is, `page` what the page is to know, `holder` whose a bearer is; `routes` sign in and out."""

    links: Links
    page: SecondLayer = NO_LAYER
    holder: Callable[[str], Awaitable[tuple[ProgramToken, Person]]] | None = None
    routes: Sequence[web.RouteDef] = ()
