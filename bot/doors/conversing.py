"""Programs speak and are answered: one way for all doors. What they say comes through the one sink."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bot.doors.callers import Caller
from bot.doors.rooms import NOT_YOURS, ProgramRooms
from bot.operator.context import OperatorContext
from runtime.chat.cards.card_facts import labels_of
from runtime.cluster.notifier import rung
from runtime.contract import (
    Address,
    ApprovalId,
    Choice,
    Clicked,
    FileRef,
    Outcome,
    Said,
    Signal,
    SignalId,
    Stopped,
    Trigger,
    Urgency,
    room_topic,
)
from runtime.domain.agents.manifest import MAIN
from runtime.domain.ids import digest
from runtime.domain.programs.followed import Followed, OpenQuestion
from runtime.errors import Rejected
from runtime.http.errors import Refusal
from runtime.text.naming import folded

LOOK_AGAIN: Final = timedelta(seconds=15)
"""As an open page does: a ring may be lost."""
BODY_DIGEST_CHARS: Final = 24
OTHER_BODY: Final = "This Idempotency-Key was used for another request. Use a new key for each message."
NO_MESSAGE: Final = "There is no such message for this token."
NO_AGENT: Final = "There is no agent {name!r} for this token. There are: {names}."
NO_QUESTION: Final = "This question isn't open any more."
TURNED_AWAY: Final = "This message was refused: the settings don't let this program speak there."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Words of a program: `room` as it names it, `key` the same for each try, `agent` empty for its usual one.

    A repeat with its key must say the same: the same `text`, or `same` where that is made of more than the request.
    """

    room: str | Address
    text: str
    key: str
    agent: str = ""
    urgency: Urgency = Urgency.NORMAL
    trigger: Trigger = Trigger.MESSAGE
    files: tuple[FileRef, ...] = ()
    same: str = ""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A message of a program that is stored; `repeated` where it was before."""

    id: SignalId
    outcome: Outcome
    notice: str = ""

    @property
    def repeated(self) -> bool:
        return self.outcome is Outcome.DUPLICATE


class Conversing:
    """Says, follows and stops for whoever `Callers` let in."""

    def __init__(self, context: OperatorContext, rooms: ProgramRooms) -> None:
        self._context = context
        self._rooms = rooms

    async def say(self, caller: Caller, wanted: Wanted) -> TakenIn:
        """Take a message in; the same key again is the same message.

        Errors: Refusal 403, 404 with the agents there are, 409 for a key that came with other words before.
        """
        agent = self.agent(caller, wanted.agent)
        address = await self.place(caller, wanted.room)
        body = digest(f"{address}\n{agent}\n{wanted.urgency}\n{wanted.same or wanted.text}")[:BODY_DIGEST_CHARS]
        signal = self._signal(caller, address, wanted, agent, f"{wanted.key}#{body}")
        try:
            verdict = await self._context.sink(signal)
        except Rejected as error:
            raise Refusal(503, str(error)) from error
        if verdict.outcome in (Outcome.REFUSED, Outcome.IGNORED):
            raise Refusal(403, verdict.notice or TURNED_AWAY)
        if verdict.outcome is Outcome.DUPLICATE:
            await self._same(verdict.signal_id, signal)
        return TakenIn(verdict.signal_id, verdict.outcome, verdict.notice or "")

    async def _same(self, signal_id: SignalId, signal: Signal) -> None:
        before = await self._context.store.programs.followed(signal_id)
        if before is not None and before.body != (signal.natural_key or ""):
            raise Refusal(409, OTHER_BODY)

    def _signal(self, caller: Caller, address: Address, wanted: Wanted, agent: str, body: str) -> Signal:
        return Signal(
            platform=caller.identity,
            dedupe_key=wanted.key,
            natural_key=body,
            actor=caller.identity,
            actor_name=caller.person.name,
            address=address,
            body=Said(wanted.text, wanted.files),
            received_at=self._context.now(),
            urgency=wanted.urgency,
            trigger=wanted.trigger,
            agent=agent,
        )

    async def place(self, caller: Caller, room: str | Address) -> Address:
        """The room that a program names, or one that it may read already. Errors: Refusal 403."""
        if isinstance(room, str):
            return await self._rooms.meant(caller, room)
        if not await self._rooms.may_read(caller, room):
            raise Refusal(403, NOT_YOURS)
        return room

    def agent(self, caller: Caller, name: str) -> str:
        """The agent that is asked. Errors: Refusal 404 names those there are for this token."""
        names = self.agents(caller)
        chosen = name or (caller.token.agents[0] if caller.token.agents else MAIN)
        if chosen not in names:
            raise Refusal(404, NO_AGENT.format(name=chosen, names=", ".join(names) or "none"))
        return chosen

    def agents(self, caller: Caller) -> list[str]:
        """Agents that this token may ask."""
        return [row["name"] for row in self._context.agents() if caller.token.may_ask(row["name"])]

    async def look(self, caller: Caller, signal_id: str) -> Followed:
        """A message as it stands. Errors: Refusal 404, also for one that is not this program's to read."""
        found = await self._context.store.programs.followed(signal_id)
        if found is None:
            raise Refusal(404, NO_MESSAGE)
        if found.platform != caller.identity and not await self._rooms.may_read(caller, found.address):
            raise Refusal(404, NO_MESSAGE)
        if not caller.token.may_ask(found.agent or MAIN):
            raise Refusal(404, NO_MESSAGE)
        return found

    async def follow(self, caller: Caller, signal_id: str, within: timedelta) -> AsyncGenerator[Followed, None]:
        """The message as it stands now, and after each change, until it is over or `within` is."""
        found = await self.look(caller, signal_id)
        loop = asyncio.get_running_loop()
        end = loop.time() + within.total_seconds()
        rings = self._context.notifier.listen(room_topic(found.address))
        last = None
        while True:
            caller = await caller.renewed()
            found = await self.look(caller, signal_id)
            if found != last:
                yield found
            last = found
            left = end - loop.time()
            if found.state.is_over or left <= 0:
                return
            await rung(rings, min(left, LOOK_AGAIN.total_seconds()))

    async def answered(self, caller: Caller, signal_id: str, within: timedelta) -> Followed:
        """The message once it is over or asks people something, or as it is after `within`."""
        found = await self.look(caller, signal_id)
        async with aclosing(self.follow(caller, signal_id, within)) as changes:
            async for found in changes:
                if found.questions:
                    break
        return found

    async def answer(self, caller: Caller, found: Followed, asked: OpenQuestion, text: str, key: str) -> str:
        """Answer a question that is this program's to answer; the reason in words where it isn't, or is answered."""
        question = await self._context.store.approvals.approval(ApprovalId(asked.id))
        if question is None:
            return NO_QUESTION
        named = [choice for choice, label in labels_of(question).items() if folded(label) == folded(text)]
        click = Clicked(question.id, *((named[0], "") if named else (Choice.TEXT, text.strip())))
        signal = self._signal(caller, found.address, Wanted(room=found.address, text="", key=key), found.agent, "")
        verdict = await self._context.sink(replace(signal, body=click, natural_key=None))
        if verdict.outcome in (Outcome.DECIDED, Outcome.DUPLICATE):
            return ""
        return verdict.notice or NO_QUESTION

    async def stop(self, caller: Caller, room: str | Address, key: str) -> TakenIn:
        """End what this program asked for in a room. Errors: Refusal 409 for the key of a message, which stops nothing."""
        address = await self.place(caller, room)
        signal = self._signal(caller, address, Wanted(room=room, text="", key=key), self.agent(caller, ""), "")
        signal = replace(signal, body=Stopped(own=True), natural_key=None)
        verdict = await self._context.sink(signal)
        if verdict.outcome is Outcome.DUPLICATE:
            await self._same(verdict.signal_id, signal)
        return TakenIn(verdict.signal_id, verdict.outcome, verdict.notice or "")
