"""Limits of rules: counted by tool, person and agent, whatever becomes of a call, on every store; and roles, which come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from runtime.contract import Call, Choice, Effect, Identity, Json, Role, ToolTurn
from runtime.domain.agents.manifest import Manifest
from runtime.errors import ToolFailed
from runtime.policy.limits import Limit
from runtime.policy.modes import READ_ONLY_REASON
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import ADA, OTTO, FakeTool, Process, Stage, fake_tool
from tests.contract.runtime.strict import Planned

FETCHING: Final = Rule(Ruling.ALLOW, "look", name="fetching", limit=Limit(3, "minute"), reason="The site is small")
FULL: Final = (
    "denied: the rule 'fetching' allows 3 calls a minute of this tool for each person. "
    "There is room again in {}. The site is small."
)


def looks(*which: int, tool: str = "look") -> tuple[Call, ...]:
    return tuple(Call(f"c{one}", tool, f'{{"path": "{one}"}}') for one in which)


def tools() -> list[FakeTool]:
    return [fake_tool("look", Effect.READ), fake_tool("peek", Effect.READ), fake_tool("write", Effect.WRITE)]


def results(model: Planned) -> Sequence[str]:
    return [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


async def ask(process: Process, *, who: Identity = ADA, room: str = "r1") -> None:
    await process.say("look around", who=who, room=room)
    await process.answer_all()


async def test_calls_beyond_a_limit_are_denied_until_there_is_room(any_stage: Stage) -> None:
    """In one answer and from one process to the next, for one person in every room, and for nobody else."""
    model = Planned(looks(1, 2), looks(3, 4))
    first = await any_stage.process(model, tools(), rules=[FETCHING])
    await ask(first)
    assert results(model) == ["look did it"] * 3 + [FULL.format("60 seconds")]
    again = await any_stage.process(Planned(looks(5)), tools(), rules=[FETCHING])
    await ask(again, room="r2")
    await ask(again, who=OTTO, room="r3")
    assert [one["path"] for one in again.tools["look"].calls] == ["5"], "it was Otto's"
    any_stage.clock.advance(timedelta(minutes=1))
    await ask(again, room="r4")
    assert len(again.tools["look"].calls) == 2


async def test_another_tool_has_a_count_of_its_own(stage: Stage) -> None:
    rule = Rule(Ruling.ALLOW, limit=Limit(1, "hour"))
    process = await stage.process(Planned((*looks(1), *looks(2, 3, tool="peek"))), tools(), rules=[rule])
    await ask(process)
    assert {name: len(tool.calls) for name, tool in process.tools.items()} == {"look": 1, "peek": 1, "write": 0}


async def test_a_failed_call_counts_and_one_beyond_the_limit_does_not(stage: Stage) -> None:
    async def fail(_: Mapping[str, Json]) -> str:
        raise ToolFailed("no luck")

    model = Planned(looks(1, 2, 3, 4, 5))
    process = await stage.process(model, [fake_tool("look", Effect.READ, fail)], rules=[FETCHING])
    await ask(process)
    assert results(model)[:3] == ["error: no luck"] * 3
    stage.clock.advance(timedelta(seconds=50))
    later = await stage.process(Planned(looks(6)), tools(), rules=[FETCHING])
    await ask(later)
    assert later.tools["look"].calls == []
    stage.clock.advance(timedelta(seconds=10))
    await ask(later, room="r2")
    assert len(later.tools["look"].calls) == 1, "a minute after the first three, the refused ones hold nothing up"


async def test_a_question_counts_once_also_where_it_is_denied(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "write", name="notes", limit=Limit(1, "hour"))
    model = Planned(looks(1, tool="write"))
    process = await stage.process(model, tools(), rules=[rule])
    await ask(process)
    [question] = await stage.pending()
    await process.click(question.id, Choice.DENY)
    await process.answer_all()
    await ask(process, room="r2")
    assert await stage.pending() == []
    assert "the rule 'notes' allows 1 call an hour" in results(model)[-1]


async def test_an_approved_call_runs_though_its_limit_is_reached_by_now(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "write", limit=Limit(1, "hour"))
    process = await stage.process(Planned(looks(1, tool="write")), tools(), rules=[rule])
    await ask(process)
    [question] = await stage.pending()
    await process.click(question.id)
    await process.answer_all()
    assert len(process.tools["write"].calls) == 1


async def test_a_limit_bounds_what_trust_lets_through(stage: Stage) -> None:
    rule = Rule(Ruling.ASK, "write", limit=Limit(1, "hour"))
    process = await stage.process(Planned(looks(1, 2, tool="write")), tools(), rules=[rule])
    await process.say("/mode trusted 2h", who=ADA)
    await ask(process)
    assert len(process.tools["write"].calls) == 1


async def test_what_a_mode_denies_counts_for_nothing(stage: Stage) -> None:
    rule = Rule(Ruling.ALLOW, "write", limit=Limit(1, "hour"))
    model = Planned(looks(1, tool="write"))
    process = await stage.process(model, tools(), rules=[rule])
    await process.say("/mode read-only", who=ADA)
    await ask(process)
    assert results(model) == [f"denied: {READ_ONLY_REASON}"]
    await process.say("/mode normal", who=ADA)
    await ask(process)
    assert len(process.tools["write"].calls) == 1


async def test_a_viewer_has_nothing_run_also_by_what_waits_since_before(stage: Stage) -> None:
    model = Planned(looks(1), looks(2))
    process = await stage.process(Planned(looks(1, tool="write")), tools())
    await ask(process, who=OTTO)
    [question] = await stage.pending()
    assert await stage.store.people.set_role("Otto", Role.VIEWER, actor="test")
    later = await stage.process(model, tools())
    await later.click(question.id)
    await later.answer_all()
    assert later.tools["look"].calls == []
    assert "may only read here" in results(model)[-1]


async def test_what_two_conversations_ask_at_once_goes_beyond_by_that_much_at_most(any_stage: Stage) -> None:
    """Each looks before the other's is recorded at worst; whatever comes after finds both."""
    rule = Rule(Ruling.ALLOW, "look", limit=Limit(1, "hour"))
    process = await any_stage.process(Planned(looks(1, 2)), tools(), rules=[rule])
    for room in ("r1", "r2"):
        await process.say("look around", who=ADA, room=room)
    await process.answer_all()
    assert 1 <= len(process.tools["look"].calls) <= 2
    made = len(process.tools["look"].calls)
    await ask(process, room="r3")
    assert len(process.tools["look"].calls) == made


async def test_the_calls_of_an_agent_are_counted_on_all_nodes_whatever_they_are(any_stage: Stage) -> None:
    full = "denied: the agent main makes at most 3 calls a minute. There is room again in {}."
    model = Planned((*looks(1), *looks(2, tool="peek")), looks(3, 4))
    first = await any_stage.process(model, tools())
    bounded(first, 3)
    await ask(first)
    assert results(model) == ["look did it", "peek did it", "look did it", full.format("60 seconds")]
    again = await any_stage.process(Planned(looks(5)), tools())
    bounded(again, 3)
    await ask(again, who=OTTO, room="r2")
    assert again.tools["look"].calls == []
    any_stage.clock.advance(timedelta(minutes=1))
    await ask(again, room="r3")
    assert len(again.tools["look"].calls) == 1


async def test_of_a_clock_that_was_set_back_nothing_locks_an_agent_out(stage: Stage) -> None:
    process = await stage.process(Planned(looks(1)), tools())
    bounded(process, 1)
    await ask(process)
    stage.clock.advance(timedelta(days=-1))
    await ask(process, room="r2")
    assert len(process.tools["look"].calls) == 2


def bounded(process: Process, most: int) -> None:
    """From now on the main agent makes so many calls a minute at most."""
    agents = process.agent._agents
    agents["main"] = agents.main = replace(agents.main, manifest=Manifest(tool_calls_per_minute=most))
