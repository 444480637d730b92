"""A secret in the words of others: names that platforms give, errors of vendors and tools, and tools of MCP servers."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Final

from bot.wiring.safety.tools import guarded
from runtime.cluster.cooldowns import SharedCooldowns
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Call, Choice, Effect, Said, Undo
from runtime.errors import Cause, ToolFailed
from runtime.guard.door import OPEN_DOOR
from runtime.guard.findings import Gate
from runtime.models.choice.cooling import Failed
from tests.contract.runtime.leaks import Leaks, Watched
from tests.contract.runtime.stage import ADA, STRANGER, FakeTool, Stage, fake_tool

MARK: Final = "[redacted: "
BOOK: Final = Call("c-book", "desk_book", '{"text": "a table for two"}')


async def test_names_of_a_person_and_of_a_room(any_stage: Stage, secret: str, leaks: Leaks) -> None:
    model = Watched(["Hello."])
    process = await any_stage.process(model)
    said = any_stage.signal(Said("hello"), ADA, "r1")
    await process.reception.sink(replace(said, actor_name=f"Ada {secret}", room_name=f"Room {secret}"))
    await process.answer_all()
    assert MARK in (await any_stage.rows("SELECT actor_name FROM signals"))[0][0]
    await leaks.nowhere(any_stage, model, secret, process=process)


async def test_the_name_of_somebody_who_asks_to_be_let_in(stage: Stage, secret: str, leaks: Leaks) -> None:
    process = await stage.process(model := Watched([]))
    said = stage.signal(Said("let me in"), STRANGER, "r1")
    await process.reception.sink(replace(said, actor_name=secret))
    await process.answer_all()
    await leaks.nowhere(stage, model, secret, process=process)


async def test_words_of_a_vendor_about_an_error(any_stage: Stage, secret: str, leaks: Leaks) -> None:
    cooldowns = SharedCooldowns(store=any_stage.store.cooldowns, notifier=LocalNotifier(), now=any_stage.clock)
    cooldowns.clean = partial(OPEN_DOOR.clean, gate=Gate.DELIVERY)
    await cooldowns.failed(Failed("first", "mark", Cause.AUTH, any_stage.clock(), f"There is no key {secret}."))
    rest = cooldowns.of("first")
    assert rest
    assert MARK in rest.reason
    await leaks.not_stored(any_stage, secret)


async def test_words_of_a_tool_that_takes_nothing_back(stage: Stage, secret: str, leaks: Leaks) -> None:
    def fails(*_: object) -> str:
        raise ToolFailed(f"it is locked by {secret}")

    made = fake_tool("switch", Effect.WRITE)
    tool = FakeTool(replace(made.spec, undo=Undo(lambda *_: "kept", fails)))
    process = await stage.process(model := Watched([Call("c-lamp", "switch", "{}"), "On."]), [tool])
    await process.say("switch it on")
    await process.answer_all()
    [question] = await stage.pending()
    await process.click(question.id)
    await process.answer_all()
    await process.click(question.id, Choice.UNDO)
    await process.undoer.look()
    await process.answer_all()
    [[refused]] = await stage.rows("SELECT detail FROM audit WHERE kind = 'undo refused'")
    assert MARK in refused
    await leaks.nowhere(stage, model, secret, process=process)


def desk_book(secret: str) -> FakeTool:
    """A tool as an MCP server describes it: with a secret in its words, in a default, in a name and in a hint."""
    properties = {"text": {"type": "string", "default": secret}, f"key {secret}": {"type": "string"}}
    schema = {"type": "object", "properties": properties}
    told = {"name": "book", "description": f"Books. Use {secret}.", "schema": schema, "hints": {"title": secret}}
    spec = fake_tool("desk_book", Effect.WRITE).spec
    form = json.dumps(told, sort_keys=True, ensure_ascii=False)
    return FakeTool(replace(spec, description=str(told["description"]), schema=schema, form=form))


async def test_a_tool_in_the_words_of_its_server(stage: Stage, secret: str, leaks: Leaks) -> None:
    tool = desk_book(secret)
    process = await stage.process(model := Watched([BOOK, "Booked."]), [tool])
    process.tools.update(guarded({"desk_book": tool}, OPEN_DOOR))  # type: ignore[arg-type]  # a tool is all that is asked for
    await stage.store.runs.see_form("desk_book", process.tools["desk_book"].spec.form)
    await process.say("book it")
    await process.answer_all()
    [question] = await stage.pending()
    await process.click(question.id)
    await process.answer_all()
    assert tool.calls == [{"text": "a table for two"}]
    assert MARK in (await stage.rows("SELECT accepted FROM tool_forms"))[0][0]
    await leaks.nowhere(stage, model, secret, process=process)
