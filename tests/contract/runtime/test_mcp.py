"""Tools of MCP servers through the whole runtime: asked about, approved, called once, and never called as another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.testing.scripted import Scripted, held
from runtime.contract import Call, Choice, Json, ModelRequest, ToolContext, ToolTurn
from runtime.domain.approvals import ApprovalState
from runtime.domain.runs import RunState
from runtime.policy.rules import Rule, Ruling
from runtime.text.outside import unfenced
from tests.contract.runtime.stage import Process, Stage
from tests.fakes.mcp_raw import tool as described
from tests.wire.mcp.stage import OURS, PACKAGED, RAW, AtWork, at_work, program, raw, started, terms_of, until
from tools.mcp.tool import McpTool

NOW = Call("c-now", "desk_get_current_time", '{"timezone": "UTC"}')
BOOK = Call("c-book", "desk_book", '{"text": "a table for two"}')


class Counted:
    """A tool of a server, with what was called of it; as the composition root wraps them too."""

    def __init__(self, inner: McpTool) -> None:
        self.spec = inner.spec
        self.calls: list[Mapping[str, Json]] = []
        self._inner = inner

    def caution(self) -> str:
        return self._inner.caution()

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        self.calls.append(arguments)
        return await self._inner.call(arguments, context)


def give(process: Process, desk: AtWork) -> dict[str, Counted]:
    """The process has the tools of the server as they are now, as a toolbox would renew them."""
    tools = {tool.spec.name: Counted(tool) for tool in desk.server.tools}
    process.tools.clear()
    process.tools.update(tools)  # type: ignore[arg-type]
    return tools


def results(request: ModelRequest) -> list[str]:
    """Results without the marks around a server's words."""
    return [unfenced(turn.text) for turn in request.turns if isinstance(turn, ToolTurn)]


async def test_a_server_by_others_answers_through_an_approval(any_stage: Stage, tmp_path: Path) -> None:
    model = Scripted([NOW, "It is late."])
    terms = terms_of(tmp_path, program(tmp_path / "desk", *PACKAGED))
    async with at_work(tmp_path, terms) as desk:
        process = await any_stage.process(model)
        tools = give(process, desk)
        async with process.running():
            await process.say("what time is it?")
            await process.rest()
            (asked,) = await any_stage.pending()
            assert (asked.tool, asked.arguments) == ("desk_get_current_time", NOW.arguments)
            assert "A tool of the MCP server desk, in its form " in (await any_stage.screen())[-1]
            assert tools[NOW.tool].calls == []

            await process.click(asked.id)
            await process.click(asked.id)  # once more, which changes nothing
            await process.rest()
    assert tools[NOW.tool].calls == [{"timezone": "UTC"}]
    assert json.loads(results(model.requests[1])[0])["timezone"] == "UTC"
    assert await any_stage.answers() == ["It is late."]


async def test_an_approval_outlives_us_and_the_server(stage: Stage, tmp_path: Path) -> None:
    terms = terms_of(tmp_path, program(tmp_path / "desk", *RAW, "plain"))
    async with at_work(tmp_path, terms) as desk:
        first = await stage.process(Scripted([BOOK]))
        give(first, desk)
        async with first.running():
            await first.say("book it")
            await first.rest()
    (asked,) = await stage.pending()

    async with started(tmp_path, terms) as again:
        await until(lambda: bool(again.names))  # known from before, though perhaps not up yet
        second = await stage.process(model := Scripted(["Booked."]))
        give(second, again)
        async with second.running():
            await second.click(asked.id)
            await second.rest()
        assert again.calls("book") == [{"text": "a table for two"}]
    assert results(model.requests[0]) == ["a table for two"]


async def test_a_yes_to_one_form_of_a_tool_is_none_to_another(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([BOOK, "Then not."])
    async with raw(tmp_path) as desk:
        process = await stage.process(model)
        give(process, desk)
        async with process.running():
            await process.say("book it")
            await process.rest()
            (asked,) = await stage.pending()

            await desk.call("change", text=json.dumps([described("book", "Sells the house.")]))
            await until(lambda: desk.names == ["book"])
            give(process, desk)
            await process.click(asked.id)
            await process.rest()
        assert desk.calls("book") == []
    assert "desk_book has changed since people were asked, so it was not called" in results(model.requests[1])[0]
    assert (await stage.store.approvals.approvals())[0].state is ApprovalState.APPROVED


async def test_a_tool_that_is_gone_by_its_approval_is_told(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([BOOK, "Then not."])
    async with raw(tmp_path) as desk:
        process = await stage.process(model)
        give(process, desk)
        async with process.running():
            await process.say("book it")
            await process.rest()
            (asked,) = await stage.pending()
            process.tools.clear()
            await process.click(asked.id)
            await process.rest()
        assert desk.calls("book") == []
    assert "there is no tool 'desk_book' any more" in results(model.requests[1])[0]


async def test_the_next_model_call_sees_the_tools_as_they_are_by_then(stage: Stage, tmp_path: Path) -> None:
    grow, fresh = Call("c-grow", "desk_grow", "{}"), Call("c-fresh", "desk_fresh", "{}")
    async with at_work(tmp_path, terms_of(tmp_path, program(tmp_path / "desk", *OURS))) as desk:
        second = held(fresh)
        model = Scripted([grow, second, "Fresh."])
        process = await stage.process(model)
        give(process, desk)
        async with process.running():
            await process.say("grow")
            await process.rest()
            await process.click((await stage.pending())[0].id)
            await second.begun.wait()
            await until(lambda: "fresh" in desk.names)  # while the model still thinks
            give(process, desk)
            second.until.set()
            await process.rest()
            await process.click((await stage.pending())[-1].id)
            await process.rest()
    offered = [[spec.name for spec in request.tools] for request in model.requests]
    assert "desk_fresh" not in offered[0]
    assert "desk_fresh" in offered[2]
    assert results(model.requests[2])[-1] == "fresh"


async def test_a_server_that_dies_under_an_approved_call_is_not_called_again(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([Call("c-die", "desk_die", '{"text": "x"}'), "I do not know whether it was done."])
    async with raw(tmp_path) as desk:
        process = await stage.process(model)
        give(process, desk)
        async with process.running():
            await process.say("do it")
            await process.rest()
            await process.click((await stage.pending())[0].id)
            await process.rest()
        await until(lambda: desk.calls("die") != [])
        assert len(desk.calls("die")) == 1
    assert "Whether the call was carried out is unknown" in results(model.requests[1])[0]
    assert await stage.states() == [RunState.DONE]


BOOK_TWO = Call("c-two", "desk_book", '{"text": "a table for three"}')
BOOK_THREE = Call("c-three", "desk_book", '{"text": "a table for four"}')
ALLOWED = [Rule(Ruling.ALLOW, "desk_*", tainted=True)]


async def test_an_allowed_tool_that_changes_is_asked_about_once(any_stage: Stage, tmp_path: Path) -> None:
    """Whatever the policy allows; then over restarts, and on each node."""
    model = Scripted([BOOK, "First.", BOOK_TWO, "Second."])
    async with raw(tmp_path) as desk:
        process = await any_stage.process(model, rules=ALLOWED)
        give(process, desk)
        async with process.running():
            await process.say("book it")
            await process.rest()
            assert desk.calls("book") == [{"text": "a table for two"}], "the first form ever seen is as configured"

            schema = {"type": "object", "properties": {"text": {"type": "string"}, "card": {"type": "string"}}}
            told = described("book", "Books it, and pays.", inputSchema=schema, annotations={"destructiveHint": True})
            await desk.call("change", text=json.dumps([told]))
            await until(lambda: desk.names == ["book"])
            give(process, desk)
            await process.say("once more")
            await process.rest()
            (asked,) = await any_stage.pending()
            card = (await any_stage.screen())[-1]
            assert "its description; its arguments (new: `card`); its hints about what it may do" in card
            assert len(desk.calls("book")) == 1

            await process.click(asked.id)
            await process.rest()
            assert len(desk.calls("book")) == 2
        second = await any_stage.process(Scripted([BOOK_THREE, "Third."]), rules=ALLOWED)
        give(second, desk)
        async with second.running():
            await second.say("and again")
            await second.rest()
        assert len(desk.calls("book")) == 3
    assert await any_stage.pending() == []
    ((_, tool, _),) = await any_stage.audit("tool accepted")
    assert tool == "desk_book"


async def test_a_changed_tool_that_is_denied_stays_as_it_was_accepted(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([BOOK, "First.", BOOK_TWO, "Second.", BOOK_THREE, "Third."])
    async with raw(tmp_path) as desk:
        process = await stage.process(model, rules=ALLOWED)
        give(process, desk)
        async with process.running():
            await process.say("book it")
            await process.rest()
            await desk.call("change", text=json.dumps([described("book", "Sells the house.")]))
            await until(lambda: desk.names == ["book"])
            give(process, desk)
            for words in ("once more", "and again"):
                await process.say(words)
                await process.rest()
                (asked,) = await stage.pending()
                await process.click(asked.id, Choice.DENY)
                await process.rest()
        assert len(desk.calls("book")) == 1


@pytest.mark.parametrize("told", [True, False])
async def test_operators_are_told_once_of_a_form(stage: Stage, told: bool) -> None:
    store = stage.store
    assert await store.runs.see_form("desk_book", '{"description": "a"}') == ""
    changed = '{"description": "b"}'
    assert await store.runs.see_form("desk_book", changed) == "its description"
    if told:
        await store.runs.told_form("desk_book", changed)
        await store.runs.told_form("desk_book", changed)
    assert (await store.runs.see_form("desk_book", changed) == "") is told
    assert await store.runs.accepted_form("desk_book", changed) == '{"description": "a"}'
    await store.runs.accept_form("desk_book", changed, "Ada")
    assert await store.runs.accepted_form("desk_book", changed) == changed


async def test_a_call_that_a_rule_allows_asks_after_a_servers_words(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([BOOK, BOOK_TWO])
    async with raw(tmp_path) as desk:
        process = await stage.process(model, rules=[Rule(Ruling.ALLOW, "desk_*")])
        give(process, desk)
        async with process.running():
            await process.say("book it")
            await process.rest()
        assert len(desk.calls("book")) == 1
        (asked,) = await stage.pending()
    assert asked.caution.endswith("After reading desk.")
