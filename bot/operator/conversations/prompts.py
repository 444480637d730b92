"""The next request of a conversation, made without sending it."""

from __future__ import annotations

from bot.operator import views
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from runtime.context.measuring import Preview
from runtime.domain.agents.manifest import MAIN
from runtime.http.errors import Refusal
from runtime.store.protocol import Conversed


@by_role
class PromptsApi(PartialApi):
    """The next request of a conversation, and how full its window is."""

    async def context(self, room: str, agent: str = "") -> View:
        """Tell how full the window is for the next message of a conversation, and what was condensed of it."""
        made, conversed = await self._preview(room, agent)
        return await self._one_entitled(views.context(made, conversed, *self._names))

    async def prompt(self, room: str, agent: str = "") -> View:
        """Make the request that the next message of a conversation would send, without sending it."""
        made, conversed = await self._preview(room, agent)
        view = views.context(made, conversed, *self._names)
        return await self._one_entitled({**view, **views.prompt(made, self._context.mask)})

    async def _preview(self, room: str, agent: str) -> tuple[Preview, Conversed]:
        """Errors: Refusal where no process runs: its tools and its model make the request."""
        address, previews = await self._room_meant(room), self._context.previews
        if address is None:
            raise Refusal(400, "Name a room.")
        if previews is None:
            raise Refusal(409, "Only a running Signalbox knows what it would send: `signalbox run`.")
        name = agent or MAIN
        if not previews.knows(name):
            raise Refusal(404, f"There is no agent {name} here.")
        conversed = await self._store.runs.conversation(name, address)
        return await previews.of(conversed), conversed
