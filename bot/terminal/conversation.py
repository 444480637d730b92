"""One conversation with the running process: what is said, and what is new since."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from bot.node.lock import Control
from bot.operator.client import Client, connected
from bot.operator.views import View
from runtime.errors import ConfigError
from runtime.text.glyphs import clip, visible

PREFIX: Final = "cli"
ROOM_SHOWN_CHARS: Final = 60
NO_ROOM_NAME: Final = "expected 6 to 32 lowercase letters and digits, such as talk01."
Watch = Callable[[str, Sequence[View]], None]
"""Told a run by its id, with all its events so far."""
EVENT_LOOK_SECONDS: Final = 1
QUESTION: Final = 0
"""In place of a version, for a question that is known."""


class Conversation:
    """Speaks as the owner in one room of the web channel."""

    def __init__(self, client: Client, room: str, known: set[tuple[str, int]] | None = None) -> None:
        self._client = client
        self.room = room or new_room()
        self.known: set[tuple[str, int]] = set() if known is None else known

    async def join(self) -> View:
        """Join a conversation: what was said so far counts as known."""
        view = await self._client.room(self.room)
        self.fresh(view)
        return view

    async def say(self, text: str, message_id: str = "", agent: str = "") -> None:
        """Say something, to one agent if it is named. An equal `message_id` is the same message."""
        await self._client.say(self.room, text, message_id or new_message(), agent)

    async def bound(self, fields: Mapping[str, Any]) -> View:
        """Bound this conversation, ahead of its first word."""
        return await self._client.bound(self.room, fields)

    async def decide(self, approval: View, choice: str, reason: str = "") -> View:
        return await self._client.decide(approval["id"], choice, reason)

    async def settled(self, watch: Watch | None = None) -> View:
        """The conversation once nothing in it is worked on: it is answered, or a person has to decide.

        `watch` is told the events of its newest run as they come.
        """
        view = await self._client.room(self.room)
        while True:
            if watch and view["run_id"]:
                watch(view["run_id"], await self._client.run_events(view["run_id"]))
            if not view["busy"]:
                return view
            if watch:
                view = await self._client.change(self.room, view["version"], EVENT_LOOK_SECONDS)
            else:
                view = await self._client.change(self.room, view["version"])

    def asked(self, view: View) -> list[View]:
        """Open questions that were asked since; older ones of the room are about something else."""
        return [question for question in view["approvals"] if (question["id"], QUESTION) not in self.known]

    def fresh(self, view: View) -> list[View]:
        """New words of the agent, without cards: those are in `approvals`."""
        fresh = [
            entry
            for entry in view["entries"]
            if entry["author"] == "agent"
            and entry.get("kind") != "approval"
            and (entry["id"], entry["version"]) not in self.known
        ]
        self.known.update((entry["id"], entry["version"]) for entry in view["entries"])
        self.known.update((question["id"], QUESTION) for question in view["approvals"])
        return [{**entry, "markdown": entry.get("markdown", entry.get("text", ""))} for entry in fresh]


def check_room(room: str) -> None:
    """Errors: ConfigError for what is no name of a room. None at all is a new one."""
    from adapters.web.rooms import ROOM_NAME

    if room and not ROOM_NAME.fullmatch(room):
        raise ConfigError(f"--room {clip(visible(room), ROOM_SHOWN_CHARS)}: {NO_ROOM_NAME}")


def new_room(prefix: str = PREFIX) -> str:
    return f"{prefix}{secrets.token_hex(6)}"


def new_message() -> str:
    return secrets.token_hex(8)


@asynccontextmanager
async def conversing(
    control: Control, room: str = "", known: set[tuple[str, int]] | None = None
) -> AsyncIterator[Conversation]:
    """A conversation through this process. It is joined anew, or goes on where what is `known` was seen."""
    async with connected(control) as client:
        conversation = Conversation(client, room, known)
        if known is None:
            await conversation.join()
        yield conversation
