"""Who stands at the door: a link sets a cookie, the cookie names a person."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from aiohttp import web

from adapters.web.errors import Refusal
from adapters.web.guard import notice_page
from runtime.contract import Identity, Links, Person, Role

COOKIE_LIFE: Final = timedelta(days=365)  # a link lives until a new one voids it; the cookie should not end first
NO_LINK: Final = (
    "This page opens with a link of your own. On the machine that runs Signalbox, "
    "`signalbox people link NAME` makes a new one; open the address it prints."
)
OLD_LINK: Final = (
    "This link does not work, or no longer: a newer link replaces the older one. On the machine that runs Signalbox, "
    "`signalbox people link NAME` makes a new one; open the address it prints."
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person at the page, and the web identity under which they speak."""

    person: Person
    identity: Identity

    def must_be_able_to_write(self) -> None:
        if self.person.role < Role.USER:
            raise Refusal(403, "Your role is viewer: you can read here, but not write. An owner can change that.")


class Door:
    """The cookie's name holds the installation's identity: two of them on one machine do not log each other out."""

    def __init__(self, *, links: Links, identity: str) -> None:
        self._links = links
        self.cookie = f"signalbox-{hashlib.sha256(identity.encode()).hexdigest()[:10]}"

    async def visitor(self, request: web.Request) -> Visitor:
        """Who asks. Errors: Refusal 401 tells how to get a link."""
        token = request.cookies.get(self.cookie)
        if not token:
            raise Refusal(401, NO_LINK)
        known = await self._links.person_of(token)
        if known is None:
            raise Refusal(401, OLD_LINK)
        return Visitor(*known)

    async def enter(self, request: web.Request) -> web.Response:
        """GET /link/{token}: hang the cookie in and go to the page."""
        token = request.match_info["token"]
        if await self._links.person_of(token) is None:
            raise Refusal(401, OLD_LINK)
        response = _go_to_the_page(request)
        response.set_cookie(
            self.cookie,
            token,
            max_age=int(COOKIE_LIFE.total_seconds()),
            httponly=True,
            samesite="Strict",
            secure=request.secure,
        )
        return response


def _go_to_the_page(request: web.Request) -> web.Response:
    """A redirect; but after a click in another site's page a browser sends no strict cookie along with one.

    So there a page of our own makes the next step. Source: RFC 6265bis, 5.2 (a redirect keeps the first initiator).
    """
    if request.headers.get("Sec-Fetch-Site") in (None, "none", "same-origin"):
        return web.Response(status=303, headers={"Location": "/"})
    page = notice_page(title="Welcome", sentence="One moment: the page opens.")
    return web.Response(text=page, content_type="text/html", headers={"Refresh": "0; url=/"})
