"""Showing once more who one is: with the own link, for what only its owner should do with a browser that is signed in."""

from __future__ import annotations

from typing import Final

from bot.auth.confirming import CONFIRMED_FOR
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.settings.reading import live_of
from bot.operator.views import View
from runtime.http.errors import Refusal
from runtime.text.words import marked, say

NO_SESSION: Final = marked(
    "A browser without a cookie of ours can't be confirmed. Open a link of your own first: {command} people link NAME"
)
NOT_YOURS: Final = marked(
    "This isn't your link, or it doesn't work any more. On the machine that runs Signalbox, `{command} people link NAME` makes a "
    "new one. Open it in this browser; that confirms it, too."
)
CONFIRMED: Final = marked("Confirmed for {minutes} minutes.")


@by_role
class ConfirmationApi(PartialApi):
    """The session of whoever asks, confirmed for some minutes."""

    async def confirm(self, link: str) -> View:
        """Take the own link, or the token at its end. Errors: Refusal 403 for any other."""
        command = self._context.command
        if not self.actor.session:
            raise Refusal(409, say(NO_SESSION, command=command))
        token = link.strip().rstrip("/").rpartition("/")[2]
        known = await self._context.links.linked(token) if token else None
        if known is None or known.id != self.actor.person.id:
            await self._store.cluster.note_fact(
                "not confirmed", self.actor.name, "a session", "another link, or none that works"
            )
            raise Refusal(403, say(NOT_YOURS, command=command))
        live_of(self).confirmations.confirm(self.actor.session)
        await self._store.cluster.note_fact("confirmed", self.actor.name, "a session", "by the link")
        minutes = int(CONFIRMED_FOR.total_seconds() // 60)
        return {"state": "confirmed", "told": say(CONFIRMED, minutes=minutes), "seconds": minutes * 60}
