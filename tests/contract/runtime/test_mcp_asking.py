"""A server that asks in the middle of a call: the run parks, a person answers, and the call goes on once."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from bot.testing.scripted import Scripted
from bot.wiring.logins.sealed_files import SealedFolder
from runtime.contract import ApprovalKind, Asking, Call, Choice, Effect, Tool
from runtime.domain.approvals import Approval
from runtime.domain.runs import RunState
from runtime.guard.sealing import Sealer
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import Process, Stage
from tests.contract.runtime.test_mcp import results
from tests.fakes import mcp_asking
from tests.wire.mcp.stage import AtWork, program, started, terms_of, until

ALLOWED: Final = [Rule(Ruling.ALLOW, "desk_*", tainted=True)]
BOOKED: Final = {"name": "Ada", "seats": 4, "table": "inside"}


def call(tool: str) -> Call:
    return Call(f"c-{tool}", f"desk_{tool}", "{}")


@asynccontextmanager
async def asking(folder: Path, revision: str) -> AsyncIterator[AtWork]:
    """The server, whose waiting calls are kept as the composition root keeps them."""
    way = program(folder / "desk", sys.executable, "-I", "-S", mcp_asking.__file__, revision)
    keep = SealedFolder(folder / "desk.asked", lambda: Sealer(b"k" * 32))
    async with started(folder, terms_of(folder, way, effect=Effect.WRITE), keep=keep) as desk:
        await until(lambda: desk.server.trouble == "" or bool(desk.names))
        yield desk


async def at_stage(stage: Stage, desk: AtWork, model: Scripted) -> Process:
    process = await stage.process(model, rules=ALLOWED, own_call=desk.server.held.next_call)
    tools: Sequence[Tool] = [*desk.server.tools, *desk.server.asking]
    process.tools.clear()
    process.tools.update({tool.spec.name: tool for tool in tools})  # type: ignore[misc]
    return process


async def question(stage: Stage) -> tuple[Approval, Asking]:
    (asked,) = await stage.pending()
    assert asked.kind is ApprovalKind.ANSWER
    return asked, Asking.from_json(asked.card)


async def answer(stage: Stage, process: Process, words: str) -> Asking:
    """Answer the open question with a button if it has one of these words, else in words; the question."""
    asked, told = await question(stage)
    choices = dict(zip(told.options, (Choice.FIRST, Choice.SECOND, Choice.THIRD, Choice.FOURTH), strict=False))
    if words in choices:
        await process.click(asked.id, choices[words])
    else:
        await process.click(asked.id, Choice.TEXT, words)
    await process.rest()
    return told


def noted(desk: AtWork) -> list[Any]:
    return [json.loads(line) for line in (desk.folder / "calls").read_text().splitlines()]


def answers(desk: AtWork) -> list[Any]:
    return [value for what, value in noted(desk) if what == "answer"]


@pytest.mark.parametrize("revision", ["new", "old"])
async def test_a_form_is_asked_field_by_field_and_the_call_goes_on_once(
    any_stage: Stage, tmp_path: Path, revision: str
) -> None:
    model = Scripted([call("book"), "Booked."])
    async with asking(tmp_path, revision) as desk:
        process = await at_stage(any_stage, desk, model)
        async with process.running():
            await process.say("book a table")
            await process.rest()
            assert await any_stage.states() == [RunState.PARKED]
            first = await answer(any_stage, process, "Ada")
            assert first.question.startswith("The MCP server desk asks: Who is coming? — Name")
            await answer(any_stage, process, "many")
            again = await answer(any_stage, process, "4")
            assert again.question.startswith("Please answer with a whole number. The MCP server desk asks")
            last = await answer(any_stage, process, "inside")
            assert last.options == ("inside", "outside", "Decline")
        assert [one["content"] for one in answers(desk)] == [BOOKED]
    assert len(model.requests) == 2, "the model is asked once the call has ended"
    told = results(model.requests[1])
    assert told[-1] == f"booked: {json.dumps(BOOKED)}"
    assert await any_stage.answers() == ["Booked."]
    assert not list((tmp_path / "desk.asked").glob("*.sealed"))


@pytest.mark.parametrize("revision", ["new", "old"])
async def test_a_person_may_decline(stage: Stage, tmp_path: Path, revision: str) -> None:
    model = Scripted([call("book"), "Then not."])
    async with asking(tmp_path, revision) as desk:
        process = await at_stage(stage, desk, model)
        async with process.running():
            await process.say("book a table")
            await process.rest()
            await answer(stage, process, "decline")
        assert answers(desk) == [{"action": "decline"}]
    assert await stage.answers() == ["Then not."]


async def test_a_page_is_shown_with_its_host_and_consent_goes_back_without_more(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([call("page"), "Paid."])
    async with asking(tmp_path, "new") as desk:
        process = await at_stage(stage, desk, model)
        async with process.running():
            await process.say("pay")
            await process.rest()
            asked = await answer(stage, process, "Done")
        assert "open a page at pay.example.org: https://pay.example.org/t/1 ." in asked.question
        assert asked.options == ("Done", "Decline")
        assert answers(desk) == [{"action": "accept"}]


@pytest.mark.parametrize(("revision", "ended"), [("new", "booked"), ("old", "unknown")])
async def test_after_a_kill_the_answer_goes_on_where_the_server_can(
    any_stage: Stage, tmp_path: Path, revision: str, ended: str
) -> None:
    """The newer revision gives us all that is needed. Of a call that the older one held open, nobody knows any more."""
    async with asking(tmp_path, revision) as desk:
        process = await at_stage(any_stage, desk, Scripted([call("book")]))
        async with process.running():
            await process.say("book a table")
            await process.rest()
            await answer(any_stage, process, "Ada")
    model = Scripted(["Booked."])
    async with asking(tmp_path, revision) as desk:
        process = await at_stage(any_stage, desk, model)
        async with process.running():
            await answer(any_stage, process, "4")
            await answer(any_stage, process, "inside")
        accepted = [one["content"] for one in answers(desk) if one.get("action") == "accept"]
        assert accepted == ([BOOKED] if revision == "new" else [])
    assert ended in results(model.requests[0])[-1]
    assert await any_stage.answers() == ["Booked."]


async def test_a_server_that_asks_without_end_is_told_off(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([call("nag"), "Enough."])
    async with asking(tmp_path, "new") as desk:
        process = await at_stage(stage, desk, model)
        async with process.running():
            await process.say("go")
            await process.rest()
            while await stage.pending():
                await answer(stage, process, "-" if "Seats" in (await question(stage))[1].question else "inside")
        assert noted(desk) == [["call", "nag"]] * 6
    assert "asked 5 times and didn't finish" in results(model.requests[-1])[-1]


async def test_a_server_gets_no_answer_of_a_model(stage: Stage, tmp_path: Path) -> None:
    model = Scripted([call("think"), "It wanted a model."])
    async with asking(tmp_path, "new") as desk:
        process = await at_stage(stage, desk, model)
        async with process.running():
            await process.say("go")
            await process.rest()
    assert "an answer of a language model, which it does not get here" in results(model.requests[1])[0]
    assert await stage.pending() == []
