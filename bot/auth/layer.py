"""The second layer of sign-in, as others are given it, and the one that isn't there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from runtime.contract import Person
from runtime.domain.programs.token import ProgramToken
from runtime.http.authentication import NO_LAYER, SecondLayer


@dataclass(frozen=True, slots=True)
class AuthLayer:
    """`page` is for pages, `holder` tells whose a bearer is, and `routes` sign in and out."""

    page: SecondLayer = NO_LAYER
    holder: Callable[[str], Awaitable[tuple[ProgramToken, Person]]] | None = None
    routes: Sequence[web.RouteDef] = ()


NO_AUTH: Final = AuthLayer()
