"""Questions to approvers in a room of several people, and what the tests about them do and read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from runtime.chat.audience import Places
from runtime.contract import Address, Addressing, Choice, Effect, Identity, Outcome, Said
from runtime.domain.approvals import Approval, Rights
from runtime.policy.grants import form_of
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from tests.contract.runtime.stage import ADA, ANYONE, OTTO, SHELL, UMA, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned

GENERAL: Final = "general"
NAMED: Final = Places(room_name=lambda address: f"#{address.room}" if address.room == GENERAL else "")
CALL: Final = "```\nuname -a\n```"
ASKS: Final = "[Approve]\n[Deny]\n[Edit…]\n[Why?]"
OWNERS: Final = f"{ASKS}\n[This conversation]\n[Always…]"
FORM: Final = form_of(fake_tool("shell", Effect.DANGER).spec, "")
EXPIRES: Final = "expires [2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z) (in 12\u00a0h)"


def shell() -> FakeTool:
    return fake_tool("shell", Effect.DANGER)


async def tell(process: Process, words: str, *, who: Identity = UMA, room: str = GENERAL) -> None:
    """Somebody says something in a room of several people, and all there is to do is done."""
    signal = replace(process.stage.signal(Said(words), who, room), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()


async def only(stage: Stage) -> Approval:
    [question] = await stage.pending()
    return question


async def alone(process: Process, *people: Identity) -> None:
    """Each of `people` wrote to the agent in a private room of theirs, called as they are."""
    for who in people:
        await process.say("hi", who=who, room=who.partition(":")[2])
        await process.answer_all()


async def asked_in_general(
    stage: Stage, *, there: Sequence[Identity] = (), private: Sequence[Identity] = (), who: Identity = UMA, **more: Any
) -> Process:
    """Somebody asked for a dangerous call in a room where `there` spoke before; `private` have private rooms."""
    process = await stage.process(Planned(end="hello"), [shell()], **{"places": NAMED, **more})
    await alone(process, *private)
    for one in there:
        await tell(process, "hi", who=one)
    process.ask(Planned(SHELL, end="Linux"))
    await tell(process, "look", who=who)
    return process


async def cards(stage: Stage, *rooms: str) -> list[str]:
    """The newest thing in each room."""
    return [(await stage.screen(room))[-1] for room in rooms]


def ruled(**terms: Any) -> list[Rule]:
    return [Rule(Ruling.ASK, "shell", name="kernel", asking=Changes(**terms))]


async def asked_for(stage: Stage, *, who: Identity = UMA, rights: Rights = ANYONE, **terms: Any) -> Process:
    """Somebody asked for a call on these terms, in a room where Ada and Otto are."""
    return await asked_in_general(stage, there=[ADA, OTTO], who=who, rules=ruled(**terms), rights=rights)


async def answered(
    process: Process, choice: Choice = Choice.APPROVE, reason: str = "", *, who: Identity = ADA
) -> tuple[Outcome, str | None]:
    verdict = await process.click((await only(process.stage)).id, choice, reason, who=who, room=GENERAL)
    await process.answer_all()
    return verdict.outcome, verdict.notice


HOUR: Final = timedelta(hours=1)


async def waited(process: Process, time: timedelta, looks: int = 1) -> list[Address]:
    """Time passes, and somebody looks at what waits, perhaps several at once."""
    process.stage.clock.advance(time)
    told = await asyncio.gather(*(process.reminders.look() for _ in range(looks)))
    for room in (rooms := [room for one in told for room in one]):
        process.courier.nudge(room)
    await process.answer_all()
    return rooms


def about(screen: Sequence[str]) -> list[str]:
    """First lines of what is said about the call."""
    return [card.partition("\n")[0] for card in screen if "`shell`" in card]


def head(card: str) -> str:
    """What the first line says behind the tool."""
    return card.partition("\n")[0].rpartition("`shell`")[2]


async def ran(stage: Stage, result: str, *, takes: timedelta = timedelta(), tool: FakeTool | None = None) -> list[str]:
    """The cards at home and elsewhere of an approved call that returned this."""
    tool = tool or shell()

    async def does(_: object) -> str:
        stage.clock.advance(takes)
        return result

    tool.does = does
    process = await stage.process(Planned(end="hello"), [tool], places=NAMED)
    await alone(process, OTTO)
    await tell(process, "hi", who=ADA)
    process.ask(Planned(SHELL, end="told"))
    await tell(process, "look")
    await answered(process)
    [here] = [card for card in await stage.screen(GENERAL) if "`shell`" in card]
    return [here, (await stage.screen("otto"))[-1]]
