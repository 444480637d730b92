"""Invitations for operators: links by which people join, once each, with a code that a phone's camera reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from bot.operator.partial_api import PartialApi, by_role, role_of
from bot.operator.views import View, at
from runtime.calendar.errors import WhenError
from runtime.calendar.until import until as until_of
from runtime.contract import Role
from runtime.http.errors import Refusal
from runtime.http.guard import LOOPBACK
from runtime.store.protocol.people import Ending, Invitation
from runtime.text.words import marked, say

INVITATION_LIFE_MOST: Final = timedelta(days=30)
JOIN_PATH: Final = "/join/"
ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]{1,253}")
NO_OWNERS: Final = marked(
    "A link can't make an owner: whoever finds it first would own this. Invite them with another role, and change it once they're in."
)
INVITATION_TOO_LONG: Final = marked("An invitation is good for at most 30 days.")
BAD_ORIGIN: Final = marked("`at` must be the address of this page, such as https://box.example:8443.")
NOT_OPEN: Final = marked("This invitation isn't open any more.")
ONLY_HERE: Final = marked(
    "This address only works on this machine. For one that works on phones, set web.public_url, and listen where they can reach you."
)
INVITATION_TOLD: Final = marked("Here's the link. It's shown only now, and lets one person in.")
INVITATION_ZONE: Final = "UTC"


def drawn(url: str) -> View:
    """The code of `url` for a camera: the path of its dark modules, and how many modules it is wide with its quiet zone."""
    import segno  # with the first invitation

    code = segno.make(url, error="m", micro=False)
    quiet = code.default_border_size
    rows = ((y, x) for y, row in enumerate(code.matrix, quiet) for x, dark in enumerate(row, quiet) if dark)
    return {"size": code.symbol_size()[0], "path": "".join(f"M{x} {y}h1v1h-1z" for y, x in rows)}


def address_of(path: str, public_url: str, shown_at: str) -> Mapping[str, object]:
    """A link as people get it: `url`, a `note` where it only works here, and its code. Errors: Refusal."""
    if shown_at and not ORIGIN.fullmatch(shown_at):
        raise Refusal(400, BAD_ORIGIN)
    origin = public_url or shown_at
    if not origin:
        return {"path": path, "url": "", "note": "", "qr": None}
    url = f"{origin.rstrip('/')}{path}"
    is_here = urlsplit(url).hostname in {name.strip("[]") for name in LOOPBACK}
    return {"path": path, "url": url, "note": say(ONLY_HERE) if is_here else "", "qr": drawn(url)}


@by_role
class InvitationsApi(PartialApi):
    """Invitations."""

    async def invitations(self) -> list[View]:
        """Open ones, and those that ended within a month, the newest first. Their links aren't in it."""
        return [self._view(one) for one in await self._store.people.invitations()]

    async def invite(self, role: str = "user", until: str = "1d", at: str = "") -> View:
        """Make a link by which one person joins; it is in this answer and nowhere else. `at` begins it where the settings don't."""
        wanted = role_of(role)
        if wanted is Role.OWNER:
            raise Refusal(400, NO_OWNERS)
        within = self._within(until)
        address_of("", self._context.public_url, at)  # refused before anything is made
        made, token = await self._store.people.make_invitation(wanted, within, actor=self.actor.name)
        link = address_of(f"{JOIN_PATH}{token}", self._context.public_url, at)
        return {**self._view(made), **link, "told": say(INVITATION_TOLD)}

    async def revoke_invitation(self, which: str) -> View:
        """End an invitation that nobody used."""
        if not await self._store.people.revoke_invitation(which, actor=self.actor.name):
            raise Refusal(404, NOT_OPEN)
        return {"id": which, "state": "revoked", "told": say("The invitation is revoked. Its link lets nobody in.")}

    def _within(self, until: str) -> timedelta:
        try:
            within = until_of(until, zone=INVITATION_ZONE, now=self._context.now()) - self._context.now()
        except WhenError as error:
            raise Refusal(400, str(error)) from error
        if within > INVITATION_LIFE_MOST + timedelta(minutes=1):
            raise Refusal(400, INVITATION_TOO_LONG)
        return within

    def _view(self, one: Invitation) -> View:
        is_late = one.expires_at <= self._context.now()
        return {
            "id": one.id,
            "role": one.role.word,
            "state": one.ending.value or ("expired" if is_late else "open"),
            "made_by": one.made_by,
            "made_at": at(one.made_at),
            "until": at(one.expires_at),
            "ended_at": at(one.ended_at),
            "joined": one.joined if one.ending is Ending.USED else "",
        }
