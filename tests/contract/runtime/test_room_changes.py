"""Reactions and changed messages: in their own room alone, each made once whatever is killed."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from runtime.contract import Author, Call, Entry, Features, Identity, ToolTurn
from runtime.delivery.changing import RoomChanges
from runtime.delivery.posting import RoomPosting
from runtime.domain.ids import new_id
from runtime.guard.door import OPEN_DOOR
from runtime.policy.rules import SHIPPED
from runtime.store.protocol import NewDelivery
from tests.contract.runtime.stage import ADA, LEASE, Page, Process, ServingAll, Stage, address, crash_at
from tests.contract.runtime.strict import Planned
from tools.kit.rooms import AS_STORED
from tools.posting.changes import changing_tools
from tools.posting.messages import posting_tools

POSTED: Final = Call("c1", "channel_send", json.dumps({"to": "here", "text": "Two tests fail."}))
PAGE: Final = Page().features()


def react(emoji: str = "👍", message: str = "", number: int = 1) -> Call:
    return Call(f"r{number}", "react", json.dumps({"emoji": emoji, "message": message}))


def edit(message: str, text: str = "One test fails.", number: int = 1) -> Call:
    return Call(f"e{number}", "edit_own", json.dumps({"message": message, "text": text}))


async def life(stage: Stage, *plan: Call | tuple[Call, ...], features: Features | None = PAGE, **given: Any) -> Process:
    """A process whose agent posts messages and changes them."""
    made: list[Process] = []

    def couriers() -> ServingAll:
        return ServingAll([made[0].courier], stage.store.outbox)

    async def post(new: NewDelivery) -> bool:
        return await couriers().post(new)

    async def change(new: NewDelivery, most: int) -> bool:
        return await couriers().change(new, most)

    outbox, door = stage.store.outbox, lambda: OPEN_DOOR
    posting = RoomPosting(post=post, standing=outbox.standing, workspaces=stage.workspaces, new_id=new_id, door=door)
    changing = RoomChanges(outbox=outbox, change=change, features=lambda _: features, new_id=new_id, door=door)
    every: list[Any] = [
        *posting_tools(posting, rooms=AS_STORED, named=str),
        *changing_tools(changing),
    ]
    made.append(await stage.process(Planned(*plan, end="told"), every, rules=SHIPPED, **given))
    return made[0]


async def answered(stage: Stage, *plan: Call, who: Identity = ADA, room: str = "r1", **given: Any) -> list[str]:
    """Somebody asks, and the model makes these calls, one after another; what each was answered."""
    process = await life(stage, **given)
    process.ask(model := Planned(*plan, end="told"))
    await process.say("go on", who=who, room=room)
    await process.answer_all()
    return [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)][-len(plan) :]


async def entries(stage: Stage, room: str = "r1") -> list[Entry]:
    return list((await stage.store.history.view(address(room))).entries)


async def marks(stage: Stage) -> list[tuple[str, tuple[str, ...]]]:
    """Each message with the emoji on it."""
    return [(one.body, one.reactions) for one in await entries(stage)]


async def posted_name(stage: Stage) -> str:
    """The name by which the model knows the message that it posted."""
    [(origin,)] = await stage.rows("SELECT origin FROM deliveries WHERE origin LIKE 'posted:%'")
    return str(origin).rpartition(":")[2]


async def test_the_message_that_is_answered_is_marked_without_a_question(any_stage: Stage) -> None:
    assert await answered(any_stage, react(":tada:")) == ["It's marked with 🎉."]
    assert await any_stage.pending() == []
    assert await marks(any_stage) == [("go on", ("🎉",)), ("told", ())]


async def test_an_own_message_is_marked_by_its_name_and_the_last_answer_by_that_word(any_stage: Stage) -> None:
    await answered(any_stage, POSTED)
    await answered(any_stage, react("👀", await posted_name(any_stage)), react("🔥", "last", 2))
    assert sorted(await marks(any_stage)) == [
        ("Two tests fail.", ("👀",)),
        *(("go on", ()), ("go on", ())),
        *(("told", ()), ("told", ("🔥",))),
    ]


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished", "step-recorded"])
async def test_a_kill_anywhere_marks_it_once(any_stage: Stage, point: str) -> None:
    process = await life(any_stage, react(), probe=crash_at(point))
    await process.say("go on")
    await process.until_crash()
    any_stage.clock.advance(LEASE)
    await (await life(any_stage, react())).answer_all()
    assert await marks(any_stage) == [("go on", ("👍",)), ("told", ())]
    assert len(await any_stage.rows("SELECT id FROM deliveries WHERE origin LIKE 'reacted:%'")) == 1


async def test_a_message_of_its_own_is_changed_in_place(any_stage: Stage) -> None:
    await answered(any_stage, POSTED)
    name = await posted_name(any_stage)
    await answered(any_stage, edit(name), edit(name, "No test fails.", 2))
    shown = await entries(any_stage)
    assert sorted(one.body for one in shown if one.author is Author.AGENT) == ["No test fails.", "told", "told"]
    assert [one.version for one in shown if one.body == "No test fails."] == [2]


async def test_the_last_answer_is_changed_and_the_conversation_knows_it(any_stage: Stage) -> None:
    await answered(any_stage, POSTED)
    told = await answered(any_stage, edit("last"))
    assert told == ["That message was edited: people see the new text in its place."]
    assert sorted(await any_stage.screen()) == ["One test fails.", "Two tests fail.", "told"]


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished", "step-recorded"])
async def test_a_kill_anywhere_changes_it_once(any_stage: Stage, point: str) -> None:
    await answered(any_stage, POSTED)
    process = await life(any_stage, edit("last"), probe=crash_at(point))
    await process.say("go on")
    await process.until_crash()
    any_stage.clock.advance(LEASE)
    await (await life(any_stage, edit("last"))).answer_all()
    assert sorted(await any_stage.screen()) == ["One test fails.", "Two tests fail.", "told"]
    assert len(await any_stage.rows("SELECT id FROM deliveries WHERE origin LIKE 'rewritten:%'")) == 1


async def test_messages_of_other_conversations_are_out_of_reach(any_stage: Stage) -> None:
    await answered(any_stage, POSTED)
    name = await posted_name(any_stage)
    told = await answered(any_stage, edit(name), react("👍", name), edit("last"), room="r2")
    assert all("No message of this conversation has that name." in one for one in told)
    assert sorted(await any_stage.screen()) == ["Two tests fail.", "told"]


async def test_one_answer_marks_five_times_at_most(stage: Stage) -> None:
    told = await answered(stage, *(react(emoji, number=n) for n, emoji in enumerate("👍🎉🔥👀🙏💯")))
    assert ["limit" in one for one in told] == [False] * 5 + [True]
    assert (await entries(stage))[0].reactions == tuple("👍🎉🔥👀🙏")


@pytest.mark.parametrize(
    ("call", "features", "told"),
    [
        (react("hello"), PAGE, "can't be set as a reaction. These work everywhere: 👍"),
        (react(), Features(edits=True), "can't be marked with emoji here"),
        (react(), Features(edits=True, reacts=lambda _: "Not this one."), "Not this one."),
        (edit("last"), Features(), "can't be changed here once they are shown"),
        (react(), None, "Another process of Signalbox serves this room"),
        (edit("last"), None, "Another process of Signalbox serves this room"),
        (edit("last"), PAGE, "No message of this conversation has that name."),
        (edit("last", " "), PAGE, "Give a text of at most 1,800 characters."),
        (edit("last", "x" * 1_801), PAGE, "Give a text of at most 1,800 characters."),
        (edit(""), PAGE, "Name the message"),
    ],
)
async def test_what_cannot_be_changed_is_told(stage: Stage, call: Call, features: Features | None, told: str) -> None:
    assert told in (await answered(stage, call, features=features))[0]
