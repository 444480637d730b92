"""Taking back what an approved call did: who may, how often, for how long, and what everybody reads of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.agent.duties.undoing import BROKE, GONE
from runtime.contract import (
    Addressing,
    ApprovalId,
    Call,
    Choice,
    Effect,
    Identity,
    Json,
    Outcome,
    Said,
    ToolContext,
    ToolTurn,
    Undo,
    UserTurn,
)
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id
from runtime.errors import ToolFailed
from runtime.policy.rules import Rule, Ruling
from runtime.store.approvals.undo_offers import OFFERED
from runtime.store.approvals.undos import CUT_AFTER
from runtime.store.operations.after_restore import Origin, after_restore
from tests.contract.runtime.stage import (
    ADA,
    LEASE,
    OTTO,
    PATIENCE,
    STRANGER,
    UMA,
    VERA,
    Crash,
    FakeTool,
    Process,
    Stage,
    address,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Planned
from tools.files.files import write_file

GENERAL: Final = "general"
NOTES: Final = Call("c-write", "write_file", '{"path": "notes.txt", "content": "new"}')
APPROVED: Final = (
    "✅ **Approved** by Ada, [2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z): `write_file` · done at once"
)
UNDONE: Final = "↩ **Undone** by Ada: `write_file` · **Approved** by Ada, [2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z) · done at once"


@dataclass
class Switch:
    """A thing that is on or off, which a tool turns on and its undo off; it notes how often that was tried."""

    undone: list[str] = field(default_factory=list)
    trouble: Exception | None = None

    def tool(self) -> FakeTool:
        made = fake_tool("switch", Effect.WRITE)
        return FakeTool(replace(made.spec, undo=Undo(self.keep, self.take_back)))

    def keep(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        return json.dumps([arguments["name"], context.call_id])

    def take_back(self, kept: str, context: ToolContext) -> str:
        self.undone.append(f"{kept} {context.call_id}")
        if self.trouble:
            raise self.trouble
        return "It is off again."


LAMP: Final = Call("c-lamp", "switch", '{"name": "lamp"}')


def folder(stage: Stage, room: str = GENERAL) -> Path:
    return stage.workspaces.folder(address(room))


async def tell(process: Process, words: str = "write it", *, who: Identity = UMA, room: str = GENERAL) -> None:
    signal = replace(process.stage.signal(Said(words), who, room), reach=Addressing.MENTION)
    await process.reception.sink(signal)
    await process.answer_all()


async def approved(process: Process, **say: Any) -> ApprovalId:
    """Somebody asked for a call, which was approved and ended."""
    await tell(process, **say)
    [question] = await process.stage.pending()
    await process.click(question.id, who=ADA, room=question.address.room)
    await process.answer_all()
    return question.id


async def undo(
    process: Process, approval: ApprovalId, *, who: Identity = ADA, room: str = GENERAL, key: str = ""
) -> str:
    """A press on Undo, and all that follows; what the presser alone is told."""
    verdict = await process.click(approval, Choice.UNDO, who=who, room=room, key=key)
    await process.undoer.look()
    await process.answer_all()
    return verdict.notice or ""


async def card(stage: Stage, room: str = GENERAL) -> str:
    return (await stage.screen(room))[0]


# ------------------------------------------------------------------------------------------------------------ files


async def writing(stage: Stage, call: Call = NOTES, **setting: Any) -> Process:
    tools: list[Any] = [write_file]
    return await stage.process(Planned(call, end="written"), tools, **setting)


async def test_the_card_of_a_call_that_ended_well_offers_undo(any_stage: Stage) -> None:
    await approved(await writing(any_stage))
    told = await card(any_stage)
    assert told.startswith(APPROVED + "\n\n")
    assert told.endswith("[Undo]")


async def test_undo_brings_the_old_file_back(any_stage: Stage) -> None:
    notes = folder(any_stage) / "notes.txt"
    notes.write_bytes(b"old \xff")
    notes.chmod(0o755)
    process = await writing(any_stage)
    question = await approved(process)
    assert notes.read_bytes() == b"new"
    assert await undo(process, question) == ""
    assert (notes.read_bytes(), notes.stat().st_mode & 0o777) == (b"old \xff", 0o755)
    told = await card(any_stage)
    assert told.startswith(UNDONE + "\n\n")
    assert "[Undo]" not in told


async def test_undo_removes_a_file_that_was_new(any_stage: Stage) -> None:
    process = await writing(any_stage, Call("c", "write_file", '{"path": "a/b.txt", "content": "new"}'))
    question = await approved(process)
    await undo(process, question)
    assert list((folder(any_stage) / "a").iterdir()) == []


@pytest.mark.parametrize("change", ["changed", "gone", "link", "folder"])
async def test_a_file_that_is_another_one_by_now_is_left_as_it_is(change: str, stage: Stage) -> None:
    notes = folder(stage) / "notes.txt"
    notes.write_text("old")
    process = await writing(stage)
    question = await approved(process)
    notes.unlink()
    match change:
        case "changed":
            notes.write_text("mine")
        case "link":
            (folder(stage) / "other.txt").write_text("new")
            notes.symlink_to("other.txt")
        case "folder":
            notes.mkdir()
        case _:
            assert change == "gone"
    before = sorted((path.name, path.is_symlink(), path.is_dir()) for path in folder(stage).iterdir())
    await undo(process, question)
    assert sorted((path.name, path.is_symlink(), path.is_dir()) for path in folder(stage).iterdir()) == before
    assert (await card(stage)).startswith(
        APPROVED + " · Ada tried to undo it: 'notes.txt' has changed since, so I left it alone.\n\n"
    )


async def test_a_file_too_long_to_keep_gets_no_undo(stage: Stage) -> None:
    (folder(stage) / "notes.txt").write_bytes(b"x" * (1024 * 1024 + 1))
    await approved(await writing(stage))
    assert not (await card(stage)).endswith("[Undo]")
    assert await stage.rows("SELECT * FROM undos") == []


async def test_a_call_that_failed_gets_no_undo(stage: Stage) -> None:
    (folder(stage) / "notes.txt").mkdir()
    await approved(await writing(stage))
    assert " · failed: see below" in await card(stage)
    assert "[Undo]" not in await card(stage)


async def test_a_call_that_nobody_approved_has_no_card_and_no_undo(stage: Stage) -> None:
    await tell(await writing(stage, rules=[Rule(Ruling.ALLOW, "write_file")]))
    assert await stage.answers(GENERAL) == ["written"]
    assert await stage.rows("SELECT * FROM undos") == []


# ------------------------------------------------------------------------------------------------------- who and when


@pytest.mark.parametrize(
    ("who", "room", "why"),
    [
        (ADA, GENERAL, ""),
        (OTTO, GENERAL, ""),
        (UMA, GENERAL, ""),  # who asked for it
        (VERA, GENERAL, "Only the person who asked, or an approver, can undo this."),
        (ADA, "r9", "This card belongs to another room."),
    ],
)
async def test_who_may_approve_or_asked_may_undo(who: Identity, room: str, why: str, any_stage: Stage) -> None:
    switch = Switch()
    process = await any_stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(process)
    assert await undo(process, question, who=who, room=room) == why
    assert len(switch.undone) == (not why)
    assert [detail for _, _, detail in await any_stage.audit("undo refused")] == [why] * bool(why)


async def test_somebody_elses_user_may_not(stage: Stage) -> None:
    switch = Switch()
    process = await stage.process(Planned(LAMP, end="on"), [switch.tool()], rights=Rights(approvers=frozenset({ADA})))
    question = await approved(process, who=UMA)
    assert await undo(process, question, who=OTTO) == "Only the person who asked, or an approver, can undo this."
    assert (await process.click(question, Choice.UNDO, who=STRANGER, room=GENERAL)).outcome is Outcome.REFUSED
    assert switch.undone == []


async def test_an_open_question_has_nothing_to_undo(stage: Stage) -> None:
    process = await stage.process(Planned(LAMP), [Switch().tool()])
    await tell(process)
    [question] = await stage.pending()
    assert await undo(process, question.id) == "There's nothing left to undo here."
    assert len(await stage.pending()) == 1


async def test_after_ten_minutes_the_button_is_gone_and_a_late_press_refused(any_stage: Stage) -> None:
    switch = Switch()
    process = await any_stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(process)
    any_stage.clock.advance(OFFERED)
    verdict = await process.click(question, Choice.UNDO, room=GENERAL)
    assert (verdict.outcome, verdict.notice) == (Outcome.UNCHANGED, "It's too late to undo this.")
    assert await undo(process, question) == "It's too late to undo this."
    assert "[Undo]" not in await card(any_stage)
    assert await undo(process, question) == "There's nothing left to undo here."
    assert (switch.undone, await any_stage.rows("SELECT * FROM undos")) == ([], [])


async def test_nothing_that_was_kept_stays_after_an_undo(stage: Stage) -> None:
    (folder(stage) / "notes.txt").write_text("secret")
    process = await writing(stage)
    await undo(process, await approved(process))
    assert await stage.rows("SELECT kept, undone_by FROM undos") == [("", "Ada")]


# ---------------------------------------------------------------------------------------------------------- only once


async def test_many_presses_at_once_undo_once(any_stage: Stage) -> None:
    switch = Switch()
    process = await any_stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(process)
    presses = (process.click(question, Choice.UNDO, who=who, room=GENERAL) for who in (ADA, OTTO, UMA, ADA))
    verdicts = await asyncio.gather(*presses)
    await asyncio.gather(*(process.undoer.look() for _ in range(4)))
    await process.answer_all()
    assert sorted(verdict.outcome for verdict in verdicts) == [Outcome.DECIDED] + [Outcome.UNCHANGED] * 3
    assert switch.undone == ['["lamp", "c-lamp"] c-lamp']
    assert [kind for kind in ("undo wanted", "undo done") for _ in await any_stage.audit(kind)] == [
        "undo wanted",
        "undo done",
    ]


@pytest.mark.parametrize(
    ("point", "times", "ended"),
    [
        ("approval-decided", 1, "**Undone** by Ada"),  # the press counted: another process does it
        ("undo-begun", 0, "Ada tried to undo it, but I was cut off. Please check whether it worked."),
        ("undo-done", 1, "Ada tried to undo it, but I was cut off. Please check whether it worked."),
    ],
)
async def test_a_kill_undoes_at_most_once_and_leaves_no_doubt_untold(
    point: str, times: int, ended: str, any_stage: Stage
) -> None:
    switch = Switch()
    before = await any_stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(before)
    dying = await any_stage.process(Planned(end="on"), [switch.tool()], probe=crash_at(point))
    with pytest.raises(Crash):
        await undo(dying, question, key="e-undo")
    any_stage.clock.advance(LEASE)
    after = await any_stage.process(Planned(end="on"), [switch.tool()])
    await undo(after, question, key="e-undo")
    any_stage.clock.advance(CUT_AFTER)
    for _ in range(2):
        await after.undoer.look()
    await after.answer_all()
    assert len(switch.undone) == times
    told = await card(any_stage)
    assert f" {ended}" in told
    assert "[Undo]" not in told


async def test_a_node_whose_lease_is_over_begins_no_undo(stage: Stage) -> None:
    switch = Switch()
    process = await stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(process)
    process.fresh = False
    await process.click(question, Choice.UNDO, room=GENERAL)
    await process.undoer.look()
    assert switch.undone == []
    process.fresh = True
    await process.undoer.look()
    assert len(switch.undone) == 1


async def test_a_press_is_heard_at_once(stage: Stage) -> None:
    switch = Switch()
    process = await stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(process)
    async with process.beside(process.undoer.run()), asyncio.timeout(PATIENCE):
        await process.click(question, Choice.UNDO, room=GENERAL)
        while not await stage.audit("undo done"):  # noqa: ASYNC110 - no event tells of a row
            await asyncio.sleep(0.01)
    assert len(switch.undone) == 1


async def test_an_undo_wanted_before_a_backup_is_not_made_after_it_is_restored(stage: Stage) -> None:
    switch = Switch()
    process = await stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(process)
    await process.click(question, Choice.UNDO, room=GENERAL)
    now = stage.clock()
    await stage.store.driver.write(lambda: after_restore(Origin("b1", now, "1.0"), "test", now, new_id))
    stage.clock.advance(CUT_AFTER)
    process = await stage.process(Planned(end="on"), [switch.tool()])
    await process.undoer.look()
    await process.answer_all()
    assert switch.undone == []
    assert "I was cut off" in await card(stage)


# ------------------------------------------------------------------------------------------------------ what is told


def notes(model: Planned) -> list[str]:
    return [line for turn in model.requests[-1].turns if isinstance(turn, UserTurn) for line in turn.text.splitlines()]


async def test_the_agent_reads_of_it_in_its_next_turn(any_stage: Stage) -> None:
    process = await any_stage.process(Planned(LAMP, end="on"), [Switch().tool()])
    await undo(process, await approved(process))
    process.ask(model := Planned(end="I see"))
    await tell(process, "is it on?")
    assert "[from Signalbox] Ada undid your call switch lamp. Do not repeat it unless you are asked to." in notes(model)
    assert await any_stage.answers(GENERAL) == ["on", "I see"]


async def test_a_run_that_waits_meanwhile_reads_of_it_and_its_results_stay_in_place(stage: Stage) -> None:
    """Two calls of one answer: the first is taken back while the second is asked about."""
    shell = Call("c-shell", "shell", '{"command": "ls"}')
    model = Planned(LAMP, shell, end="done")
    process = await stage.process(model, [Switch().tool(), fake_tool("shell", Effect.DANGER)])
    question = await approved(process)
    await undo(process, question)
    [second] = await stage.pending()
    await process.click(second.id, room=GENERAL)
    await process.answer_all()
    assert [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)] == [
        "switch did it",
        "shell did it",
    ]
    assert any("Ada undid your call" in line for line in notes(model))


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (ToolFailed("the lamp is gone."), "the lamp is gone."),
        (ValueError("oops"), BROKE),
        (None, GONE),
    ],
)
async def test_an_undo_that_fails_says_why(trouble: Exception | None, told: str, stage: Stage) -> None:
    switch = Switch(trouble=trouble)
    process = await stage.process(Planned(LAMP, end="on"), [switch.tool()])
    question = await approved(process)
    if trouble is None:
        del process.tools["switch"]
    await undo(process, question)
    assert f" · Ada tried to undo it: {told}\n\n" in await card(stage)
    assert [detail for _, _, detail in await stage.audit("undo refused")] == [told]
    process.ask(model := Planned(end="I see"))
    await tell(process, "and?")
    assert f"[from Signalbox] Ada wanted to undo your call switch lamp. It was not undone: {told}" in notes(model)


async def test_a_way_back_that_breaks_before_the_call_stops_no_call(stage: Stage) -> None:
    def broken(arguments: Mapping[str, Json], context: ToolContext) -> str:
        raise RuntimeError("oops")

    tool = fake_tool("switch", Effect.WRITE)
    tool = FakeTool(replace(tool.spec, undo=Undo(broken, Switch().take_back)))
    await approved(await stage.process(Planned(LAMP, end="on"), [tool]))
    assert await stage.answers(GENERAL) == ["on"]
    assert "[Undo]" not in await card(stage)


async def test_every_copy_offers_undo_and_tells_of_it(stage: Stage) -> None:
    process = await stage.process(Planned(end="hello"), [Switch().tool()])
    await process.say("hi", who=OTTO, room="otto")
    await process.answer_all()
    process.ask(Planned(LAMP, end="on"))
    question = await approved(process)
    assert (await stage.screen("otto"))[1].endswith("[Undo]")
    assert await undo(process, question, who=OTTO, room="otto") == ""
    assert "**Undone** by Otto: " in (await stage.screen("otto"))[1]
    assert "**Undone** by Otto: " in await card(stage)


def test_offers_last_ten_minutes() -> None:
    assert timedelta(minutes=10) == OFFERED
