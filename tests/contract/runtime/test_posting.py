"""Messages that tools post beside an answer: shown once whatever is killed, in rooms that somebody named."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import pytest

from runtime.contract import Address, Call, Content, ToolTurn
from runtime.delivery.posting import RoomPosting
from runtime.domain.ids import new_id
from runtime.errors import Retryable
from runtime.guard.door import OPEN_DOOR
from runtime.policy.rules import SHIPPED
from runtime.store.protocol import NewDelivery
from tests.contract.runtime.stage import LEASE, PATIENCE, Process, ServingAll, Stage, address, crash_at
from tests.contract.runtime.strict import Planned
from tools.kit.rooms import AS_STORED, Rooms
from tools.posting.messages import posting_tools

ELSEWHERE: Final = "web:main/other1"


def send(to: str = "here", text: str = "Hello there.", number: int = 1, **more: Any) -> Call:
    return Call(f"c{number}", "channel_send", json.dumps({"to": to, "text": text, **more}))


class NotConnected:
    """Rooms of an account that doesn't connect."""

    def known(self, text: str) -> Address | None:
        return None

    async def found(self, text: str) -> Address | None:
        raise Retryable("slack:work isn't connected. Its token is refused.")


async def life(stage: Stage, *plan: Call | tuple[Call, ...], rooms: Rooms = AS_STORED, **given: Any) -> Process:
    """A process whose agent posts messages."""
    made: list[Process] = []

    async def post(new: NewDelivery) -> bool:
        return await ServingAll([made[0].courier], stage.store.outbox).post(new)

    posting = RoomPosting(
        post=post,
        standing=stage.store.outbox.standing,
        workspaces=stage.workspaces,
        new_id=new_id,
        door=lambda: OPEN_DOOR,
    )
    every: list[Any] = posting_tools(posting, rooms=rooms, named=str)
    made.append(await stage.process(Planned(*plan, end="told"), every, rules=SHIPPED, **given))
    return made[0]


async def asked(stage: Stage, call: Call, room: str = "r1") -> str:
    """Somebody asks, and the model makes this call; what it was answered."""
    process = await life(stage)
    process.ask(model := Planned(call, end="told"))
    await process.say("go on", room=room)
    await process.answer_all()
    return [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)][-1]


async def posted(stage: Stage) -> list[tuple[str, str]]:
    """Room and text of each message that was posted."""
    rows = await stage.rows("SELECT address, content FROM deliveries WHERE origin LIKE 'posted:%' ORDER BY number")
    return [(room, Content.from_json(content).text) for room, content in rows]


async def test_a_message_here_needs_nobodys_word_and_is_shown_beside_the_answer(any_stage: Stage) -> None:
    process = await life(any_stage, send())
    await process.say("greet us")
    await process.answer_all()
    assert await any_stage.pending() == []
    assert await any_stage.screen() == ["Hello there.", "told"]


async def test_a_message_elsewhere_asks_first_and_is_shown_there(any_stage: Stage) -> None:
    process = await life(any_stage, send(ELSEWHERE))
    await process.say("greet the others")
    await process.answer_all()
    [question] = await any_stage.pending()
    assert await posted(any_stage) == []
    await process.click(question.id)
    await process.answer_all()
    assert await posted(any_stage) == [(ELSEWHERE, "Hello there.")]


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished", "step-recorded"])
async def test_a_kill_anywhere_shows_it_once(any_stage: Stage, point: str) -> None:
    process = await life(any_stage, send(), probe=crash_at(point))
    await process.say("greet us")
    await process.until_crash()
    any_stage.clock.advance(LEASE)
    await (await life(any_stage, send())).answer_all()
    assert [text for _, text in await posted(any_stage)] == ["Hello there."]
    screen = await any_stage.screen()
    assert sum("Hello there." in shown for shown in screen) == 1
    assert screen[-1] == "told"


async def test_a_repeat_is_no_failure_though_its_account_is_away_by_then(any_stage: Stage) -> None:
    """What the cut call put into the outbox is shown: the model isn't told otherwise."""
    process = await life(any_stage, send("page:main/r2"), probe=crash_at("tool-finished"))
    await process.say("greet the others")
    await process.answer_all()
    [question] = await any_stage.pending()
    await process.click(question.id)
    await process.until_crash()
    any_stage.clock.advance(LEASE)
    later = await life(any_stage, rooms=NotConnected())
    later.ask(model := Planned(send("page:main/r2"), end="told"))
    await later.answer_all()
    assert [text for _, text in await posted(any_stage)] == ["Hello there."]
    [told] = [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert "It is posted as message" in told


async def test_an_account_that_is_not_connected_is_told_as_the_reason(stage: Stage) -> None:
    process = await life(stage, rooms=NotConnected())
    process.ask(model := Planned(send("slack:work/C1"), end="told"))
    await process.say("go on")
    await process.answer_all()
    [question] = await stage.pending()
    await process.click(question.id)
    await process.answer_all()
    [told] = [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert "slack:work isn't connected. Its token is refused." in told
    assert await posted(stage) == []


async def test_it_stands_before_the_answer_even_when_both_wait_to_be_shown(stage: Stage) -> None:
    process = await life(stage, send())
    await process.say("greet us")
    async with process.beside(process.dispatch.run()), asyncio.timeout(PATIENCE):
        while await stage.rows("SELECT id FROM deliveries WHERE kind = 'final'") == []:  # noqa: ASYNC110 - a row is no event
            await asyncio.sleep(0)
    await process.answer_all()
    assert await stage.screen() == ["Hello there.", "told"]


async def test_the_same_words_twice_are_two_messages(stage: Stage) -> None:
    process = await life(stage, send(), send(number=2))
    await process.say("greet us twice")
    await process.answer_all()
    assert len(await posted(stage)) == 2


async def test_it_is_told_whether_a_message_is_shown_and_only_in_its_conversation(any_stage: Stage) -> None:
    process = await life(any_stage, send())
    await process.say("greet us")
    await process.answer_all()
    [(origin,)] = await any_stage.rows("SELECT origin FROM deliveries WHERE origin LIKE 'posted:%'")
    look = Call("c9", "delivery_status", json.dumps({"message": origin.rpartition(":")[2]}))
    for room, told in (("r1", "It is shown."), ("r2", "No message of this conversation has that name.")):
        assert told in await asked(any_stage, look, room)


async def test_files_go_along_into_the_other_room(stage: Stage) -> None:
    (stage.workspaces.folder(address("r1")) / "sales.csv").write_text("a,b\n", encoding="utf-8")
    process = await life(stage, send(ELSEWHERE, files=["sales.csv"]))
    await process.say("send them the file")
    await process.answer_all()
    [question] = await stage.pending()
    await process.click(question.id)
    await process.answer_all()
    [(content,)] = await stage.rows("SELECT content FROM deliveries WHERE origin LIKE 'posted:%'")
    [file] = Content.from_json(content).files
    assert (file.name, file.size, file.mime) == ("sales.csv", 4, "text/csv")
    assert stage.workspaces.has(Address.parse(ELSEWHERE), file.path)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (send(text=" "), "Give a text"),
        (send(text="x" * 20_001), "at most 20,000 characters"),
        (send(files=["../../etc/passwd"]), "can't be sent"),
        (send(files=["gone.txt"]), "No such file"),
        (send(files=["a"] * 11), "at most 10 files"),
    ],
)
async def test_what_cannot_be_posted_is_told(stage: Stage, call: Call, told: str) -> None:
    assert told in await asked(stage, call)
    assert await posted(stage) == []
