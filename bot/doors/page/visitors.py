"""People at the page as callers: by the page's own cookie or their proxy's sign-in, as the page itself lets them in."""

from __future__ import annotations

from functools import partial
from typing import Final

from aiohttp import web

from bot.doors.callers import Caller
from bot.operator.context import OperatorContext
from runtime.contract import Person
from runtime.domain.programs.token import ProgramToken
from runtime.http.authentication import Authenticator
from runtime.http.guard import check_page, shows_bearer

PAGE_CALLS_PER_MINUTE: Final = 600
"""Of one person, in all their tabs: each lists the rooms anew after a change, which is once in two seconds at most."""


class PageVisitors:
    """Finds the person at the page. A header with a bearer goes first: one that is refused is never saved by a cookie."""

    def __init__(self, context: OperatorContext) -> None:
        self._authenticator = Authenticator(
            links=context.links, identity=context.web_account, command=context.command, second=context.auth.page
        )

    async def caller(self, request: web.Request) -> Caller | None:
        """None for a request of a program. Errors: Refusal 401 for nobody we know; 403 and 421 for one from elsewhere."""
        if shows_bearer(request) or not self._authenticator.is_shown(request):
            return None
        check_page(request)
        token, person = await self._known(request)
        return Caller(token, person, partial(self._known, request, fresh=True), at_page=True)

    async def _known(self, request: web.Request, *, fresh: bool = False) -> tuple[ProgramToken, Person]:
        """The person who asks, with a token that speaks as them."""
        visitor = await self._authenticator.visitor(request, fresh=fresh)
        token = ProgramToken(
            name=visitor.identity,
            role=visitor.person.role,
            per_minute=PAGE_CALLS_PER_MINUTE,
            speaks_as=visitor.identity,
        )
        return token, visitor.person
