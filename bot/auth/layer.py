"""The second layer of sign-in, as others are given it, and the one that isn't there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from bot.auth.confirming import Confirmations
from runtime.contract import Person
from runtime.domain.programs.token import ProgramToken
from runtime.http.authentication import NO_LAYER, SecondLayer


@dataclass(frozen=True, slots=True)
class AuthLayer:
    """`page` is for pages, `holder` tells whose a bearer is, and `routes` sign in and out. `confirmations` know which browsers
    have shown just now who they are of.
    """

    page: SecondLayer = NO_LAYER
    holder: Callable[[str], Awaitable[tuple[ProgramToken, Person]]] | None = None
    routes: Sequence[web.RouteDef] = ()
    confirmations: Confirmations = field(default_factory=Confirmations)


NO_AUTH: Final = AuthLayer()
