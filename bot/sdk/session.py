"""A conversation of a program: what was said there is remembered, and messages are answered in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from bot.doors.forms import NewMessage
from bot.sdk.deciding import Decide
from bot.sdk.program import CLOSING_TOPIC, Program
from bot.sdk.reading import checked, key_checked
from bot.sdk.results import Answer
from bot.sdk.run import Run
from runtime.contract import Address, Author, room_topic

if TYPE_CHECKING:
    from bot.sdk.agent import Agent

SHOWN_LOOKED_THROUGH: Final = 50
SHOWN_LOOK: Final = timedelta(seconds=1)
"""Longest wait between two looks: a ring may be lost."""


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said or shown in a conversation. `is_agent`: by the agent."""

    name: str
    text: str
    at: datetime
    is_agent: bool


class Session:
    """One conversation, by a name of the program's own or the address of a room."""

    def __init__(self, agent: Agent, program: Program, name: str, address: Address) -> None:
        self.name = name
        self.address = address
        self._agent = agent
        self._program = program

    @property
    def room(self) -> str:
        """Its address as settings write it, such as for the `to` of a schedule."""
        return self._program.context.named(self.address)

    async def run(self, task: str, *, agent: str = "", key: str = "") -> Run:
        """Have an agent work on `task`, once for each `key`: stored before this returns, and answered whatever is killed.

        Errors: Declined, also for a key that came with other words; AgentClosed; StoreError, and nothing was stored.
        """
        self._program.must_be_open()
        said = checked(NewMessage, text=task, agent=agent)
        return await self._agent._said(self, said.text, agent, key_checked(key) or self._program.context.new_id())

    async def ask(
        self,
        text: str,
        *,
        agent: str = "",
        key: str = "",
        decide: Decide | None = None,
        timeout: float | timedelta = 300,  # noqa: ASYNC109 - a program's own word for it
    ) -> Answer:
        """The answer to `text`. Where people are asked first and there is no `decide`, it comes with its `questions`.

        Errors: as `run`; RunFailed where there is no answer; TimeoutError after `timeout` seconds, and the run goes on.
        """
        run = await self.run(text, agent=agent, key=key)
        return await run.answered(decide=decide, timeout=timeout)

    async def history(self, limit: int = 50) -> Sequence[Line]:
        """Lines that were said and shown here last, oldest first."""
        self._program.must_be_open()
        rows = await self._program.places.said(self.address)
        return [
            Line(row["name"], row["text"], datetime.fromisoformat(row["at"]), row["author"] == Author.AGENT)
            for row in rows[-limit:]
        ]

    async def shown(self, words: str, *, timeout: float | timedelta = 60) -> Line:  # noqa: ASYNC109 - as of `ask`
        """The newest line of the agent with `words` in it, once there is one: an answer, a card or a report.

        Errors: TimeoutError after that many seconds; AgentClosed.
        """
        rings = self._program.app.base.notifier.listen(room_topic(self.address), CLOSING_TOPIC)
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        async with asyncio.timeout(seconds):
            while True:
                lines = await self.history(SHOWN_LOOKED_THROUGH)
                if found := next((one for one in reversed(lines) if one.is_agent and words in one.text), None):
                    return found
                await rings.within(SHOWN_LOOK.total_seconds())
