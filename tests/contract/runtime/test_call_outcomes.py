"""A call that was decided: what its cards tell of its end."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from runtime.contract import Call, Choice, Effect, Outcome
from runtime.domain.ids import new_id
from runtime.markup import parse
from runtime.markup.tree import CodeBlock
from runtime.store.operations.after_restore import Origin, after_restore
from tests.contract.runtime.approvers import CALL, GENERAL, NAMED, about, asked_in_general, head, only, ran, shell, tell
from tests.contract.runtime.stage import ADA, SHELL, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Planned


async def test_every_card_says_how_the_call_ended_and_the_one_at_home_shows_what_it_returned(any_stage: Stage) -> None:
    """Scenario 45."""
    takes = timedelta(seconds=1.2)
    here, there = await ran(any_stage, "a\nb\nc\nd\ne\n[exit code 0]", takes=takes)
    assert head(here) == head(there) == " · done in 1.2 s, exit 0"
    assert here.endswith(f"{CALL}\n\nResult:\n\n```\na\nb\nc\n… 2 more lines\n```")
    assert there.endswith(CALL)


@pytest.mark.parametrize(
    ("result", "here", "there", "shown"),
    [
        ("oh no\n[exit code 2]", "failed: exit 2", "failed: exit 2", "oh no"),
        ("[no output, exit code 137 (killed)]", "failed: exit 137", "failed: exit 137", ""),
        ("[no output, exit code 0]", "done at once, exit 0", "done at once, exit 0", ""),
        ("error: no such room", "failed: see below", "failed", "no such room"),
        ("", "done at once", "done at once", ""),
        ("```\n**Denied**\n\u202e", "done at once", "done at once", "```\n**Denied**\n⟨U+202E⟩"),
    ],
)
async def test_what_a_call_returned_is_shown_as_it_is(
    result: str, here: str, there: str, shown: str, stage: Stage
) -> None:
    home, copy = await ran(stage, result)
    assert (head(home), head(copy)) == (f" · {here}", f" · {there}")
    blocks = [block.text for block in parse(home).blocks if isinstance(block, CodeBlock)]
    assert blocks == ["uname -a", *[shown] * bool(shown)]


async def test_a_long_line_is_cut(stage: Stage) -> None:
    home, _ = await ran(stage, "x" * 500)
    assert f"\n{'x' * 119}…\n" in home


async def test_an_approved_call_waits_for_the_other_question_and_runs_then(any_stage: Stage) -> None:
    other = Call("c-write", "write", '{"text": "b"}')
    process = await any_stage.process(Planned(SHELL, end="done"), [shell(), fake_tool("write", Effect.WRITE)])
    process.ask(Planned((SHELL, other), end="done"))
    await tell(process, "look", who=ADA)
    first, second = await any_stage.pending()
    await process.click(first.id, room=GENERAL)
    await process.answer_all()
    assert head((await any_stage.screen(GENERAL))[0]) == " · waiting for the other answer"
    await process.click(second.id, Choice.DENY, room=GENERAL)
    assert [row[0] for row in await any_stage.rows("SELECT outcome FROM approvals ORDER BY step")] == [
        '{"state": "running"}',
        "",
    ]
    await process.answer_all()
    assert head((await any_stage.screen(GENERAL))[0]).startswith(" · done at once")


async def heads(stage: Stage) -> list[str]:
    return [head(card) for card in await stage.screen(GENERAL) if "`shell`" in card]


async def test_while_it_runs_the_card_says_so(stage: Stage) -> None:
    process = await asked_in_general(stage, there=[ADA])
    began, go_on = asyncio.Event(), asyncio.Event()

    async def does(_: object) -> str:
        began.set()
        await go_on.wait()
        return "ok"

    process.tools["shell"].does = does
    await process.click((await only(stage)).id, room=GENERAL)
    async with process.running():
        async with asyncio.timeout(20):
            await began.wait()
            while " · running" not in (told := await heads(stage)):
                await stage.written()
        go_on.set()
        await process.rest()
    assert told == [" · running"]


async def test_of_a_call_that_was_cut_the_card_says_so_and_another_asks(any_stage: Stage) -> None:
    process = await asked_in_general(any_stage, there=[ADA], probe=crash_at("tool-finished"))
    await process.click((await only(any_stage)).id, room=GENERAL)
    await process.until_crash()
    process = await any_stage.process(Planned(end="told"), [shell()])
    await process.answer_all()
    first, second = [card for card in await any_stage.screen(GENERAL) if "`shell`" in card]
    assert head(first) == " · was cut off"
    assert second.startswith("**`shell` was cut off. Did it finish?** I can't tell, so I haven't run it again.")
    await process.click((await only(any_stage)).id, Choice.AGAIN, room=GENERAL)
    await process.answer_all()
    first, second = [card for card in await any_stage.screen(GENERAL) if "`shell`" in card]
    assert (head(first), len(process.tools["shell"].calls)) == (" · was cut off", 1)
    assert "· done at once" in second.partition("\n")[0]


async def test_an_approved_call_of_a_run_that_is_stopped_did_not_run(stage: Stage) -> None:
    process = await stage.process(Planned(SHELL), [shell(), fake_tool("write", Effect.WRITE)])
    process.ask(Planned((SHELL, Call("c-write", "write", '{"text": "b"}')), end="done"))
    await tell(process, "look", who=ADA)
    await process.click((await stage.pending())[0].id, room=GENERAL)
    await process.stop(room=GENERAL)
    await process.answer_all()
    assert head((await stage.screen(GENERAL))[0]) == " · not run"
    assert process.tools["shell"].calls == []


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished", "delivery-stored"])
async def test_killed_anywhere_the_card_tells_one_true_end(point: str, any_stage: Stage) -> None:
    look = fake_tool("shell", Effect.DANGER, idempotent=True)
    process = await any_stage.process(Planned(end="hello"), [look], places=NAMED)
    await tell(process, "hi", who=ADA)
    process.ask(Planned(SHELL, end="told"))
    await tell(process, "look")
    process = await any_stage.process(Planned(end="told"), [look], probe=crash_at(point))
    await process.click((await only(any_stage)).id, room=GENERAL)
    await process.until_crash()
    process = await any_stage.process(Planned(end="told"), [look])
    await process.answer_all()
    [card] = [card for card in await any_stage.screen(GENERAL) if "`shell`" in card]
    assert head(card).startswith(" · done at once")
    assert (await any_stage.answers(GENERAL))[-1] == "told"


async def test_after_a_restore_it_is_asked_again_in_every_room(stage: Stage) -> None:
    await asked_in_general(stage, private=[ADA])
    before, now = await only(stage), stage.clock()
    origin = Origin("b1", now, "1.0")
    await stage.store.driver.write(lambda: after_restore(origin, "command line of kim", now, new_id))
    process = await stage.process(Planned(end="told"), [shell()], places=NAMED)
    await process.answer_all()
    question = await only(stage)
    assert question.id != before.id
    for room in (GENERAL, "ada"):
        old, new = about(await stage.screen(room))
        assert old.startswith("⚪ **Withdrawn**, [")
        assert new == "**May I run `shell`?**"
    assert "“look”" not in "".join(await stage.screen("ada"))
    assert (await process.click(question.id, room="ada")).outcome is Outcome.DECIDED
