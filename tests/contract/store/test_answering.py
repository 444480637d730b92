"""Which of several agents a message is for: chosen, named, or bound; and what it costs where there is one alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from runtime.contract import Addressing, Body, Commanded, Identity, RunId, Said
from runtime.domain.agents.binding import binding_of
from runtime.domain.agents.manifest import Manifest
from runtime.domain.ids import new_id
from runtime.policy.modes import Mode
from runtime.store.intake.signals import accept
from runtime.store.protocol import Gate, Taken
from runtime.store.sql.driver import Op, each_of
from tests.contract.store.stage import ADA, GATE, OTTO, ROOM, UMA, VERA, Stage

OPS: Final = Manifest(name="ops", mentions=("ops", "operations"))
RESEARCH: Final = Manifest(name="research")
LOBBY: Final = Manifest(name="porter", rooms=("web:main/lobby*",))
AGENTS: Final = (OPS, RESEARCH, LOBBY)
SEVERAL: Final = replace(GATE, agents=AGENTS, bindings=tuple(binding_of(agent) for agent in AGENTS))
THREAD: Final = replace(ROOM, thread="t1")
LOBBY_ROOM: Final = replace(ROOM, room="lobby-2")


async def hear(
    stage: Stage,
    body: Body | str,
    *,
    actor: Identity = ADA,
    at: object = ROOM,
    reach: Addressing = Addressing.DIRECT,
    message: str = "",
) -> Taken:
    said = Said(body) if isinstance(body, str) else body
    signal = stage.signal(said, actor=actor, at=at)  # type: ignore[arg-type]  # an address
    return await stage.take_in(replace(signal, reach=reach, message_id=message, private=2000), SEVERAL)


async def lane_of(stage: Stage, taken: Taken) -> tuple[str, str]:
    """The agent that a message went to, and what it hears."""
    sql = "SELECT s.agent, g.text FROM signals g JOIN sessions s ON s.key = g.session WHERE g.id = :id"
    (row,) = await stage.rows(sql, id=taken.verdict.signal_id)
    return row[0], row[1]


async def test_a_message_is_for_the_usual_agent_where_no_other_is_bound_or_named(stage: Stage) -> None:
    assert await lane_of(stage, await hear(stage, "hello")) == ("main", "hello")


async def test_a_room_is_answered_by_the_agent_that_is_bound_to_it(stage: Stage) -> None:
    assert await lane_of(stage, await hear(stage, "hello", at=LOBBY_ROOM)) == ("porter", "hello")


async def test_what_is_said_again_is_for_the_same_agent_though_its_words_name_none_any_more(stage: Stage) -> None:
    old = (await hear(stage, "ops: restart it")).verdict.signal_id
    assert await lane_of(stage, await hear(stage, Said("ops: look", (), old))) == ("ops", "look")
    newest = (await stage.column("SELECT MAX(id) FROM signals"))[0]
    again = await hear(stage, Said("look", (), newest))
    assert await lane_of(stage, again) == ("ops", "look")
    named = await hear(stage, Said("research: look", (), again.verdict.signal_id))
    assert await lane_of(stage, named) == ("research", "look")


@pytest.mark.parametrize(
    ("text", "agent", "rest"),
    [
        ("ops: restart it", "ops", "restart it"),
        ("Operations:  restart\nit", "ops", "restart\nit"),
        ("/ask ops restart it", "ops", "restart it"),
        ("!ask research: look", "research", "look"),
        ("opsy: restart", "main", "opsy: restart"),
        ("the ops: restart", "main", "the ops: restart"),
        ("ops://host/x", "main", "ops://host/x"),
        ("ops:", "main", "ops:"),
        ("porter: hello", "main", "porter: hello"),
    ],
)
async def test_words_that_name_an_agent_are_taken_off_the_text(stage: Stage, text: str, agent: str, rest: str) -> None:
    assert await lane_of(stage, await hear(stage, text)) == (agent, rest)


async def test_nobody_is_told_so_where_ask_names_an_agent_that_is_not_there(stage: Stage) -> None:
    told = await hear(stage, "/ask nobody hi there")
    assert told.verdict.notice == (
        "There's no agent called `nobody` to ask here. Ask `/ask main …`, `/ask ops …`, `/ask operations …`, `/ask research …`."
    )
    assert "Did you mean `ops`?" in str((await hear(stage, "!ask oops: hi")).verdict.notice)
    assert await stage.rows("SELECT text FROM signals WHERE state <> 'decided'") == []


async def test_the_usual_agent_is_asked_by_its_name(stage: Stage) -> None:
    assert await lane_of(stage, await hear(stage, "/ask main hello", at=LOBBY_ROOM)) == ("main", "hello")


async def test_a_platforms_own_ask_names_an_agent_too(stage: Stage) -> None:
    assert await lane_of(stage, await hear(stage, Commanded("ask", "ops restart it"))) == ("ops", "restart it")
    assert await lane_of(stage, await hear(stage, Commanded("ask", "what now?"))) == ("main", "what now?")


async def test_a_thread_that_began_with_an_agents_name_stays_with_it(stage: Stage) -> None:
    await hear(stage, "ops: restart it", at=THREAD)
    assert await lane_of(stage, await hear(stage, "and now?", at=THREAD)) == ("ops", "and now?")
    assert await lane_of(stage, await hear(stage, "and here?")) == ("main", "and here?")


async def test_a_name_in_a_thread_of_another_counts_for_that_message_alone(stage: Stage) -> None:
    await hear(stage, "hello", at=THREAD)
    assert await lane_of(stage, await hear(stage, "ops: look", at=THREAD)) == ("ops", "look")
    assert await lane_of(stage, await hear(stage, "and now?", at=THREAD)) == ("main", "and now?")


async def test_who_may_only_read_names_no_agent(stage: Stage) -> None:
    await hear(stage, "ops: restart it", actor=VERA, at=THREAD)
    assert await stage.rows("SELECT address FROM agent_rooms") == []


async def test_an_operator_chooses_who_answers_in_a_room_and_everybody_reads_it(stage: Stage) -> None:
    taken = await hear(stage, Commanded("agent", "OPS"), actor=OTTO, reach=Addressing.MENTION)
    assert taken.verdict.notice is None
    assert (await stage.waiting())[-1].delivery.content.text == (
        "Otto chose ops for this room, from the next message on."
    )
    assert await lane_of(stage, await hear(stage, "hello", at=THREAD)) == ("ops", "hello")
    assert await stage.audit("agent chosen") == [("Otto", str(ROOM), "ops")]
    told = await hear(stage, Commanded("agent"))
    assert told.verdict.notice == (
        "ops answers here, as somebody chose. Choose `/agent main`, `/agent ops`, `/agent research`, `/agent porter`, "
        "`/agent default`."
    )
    await hear(stage, Commanded("agent", "default"), actor=OTTO)
    assert await lane_of(stage, await hear(stage, "hello", at=THREAD)) == ("main", "hello")


async def test_a_command_that_begins_a_thread_chooses_for_the_room(stage: Stage) -> None:
    await hear(stage, Said("!agent ops"), actor=OTTO, at=THREAD, message="t1")
    assert await stage.rows("SELECT address, agent FROM agent_rooms") == [(str(ROOM), "ops")]


async def test_a_room_is_told_once_that_the_agent_it_chose_is_gone_from_the_settings(stage: Stage) -> None:
    await hear(stage, Commanded("agent", "ops"), actor=OTTO)
    without = replace(SEVERAL, agents=(RESEARCH,), bindings=())
    for text in ("hello", "hello again"):
        taken = await stage.take_in(stage.signal(Said(text)), without)
        assert (await lane_of(stage, taken))[0] == "main"
    told = [one.delivery.content.text for one in await stage.waiting()]
    assert told[1:] == ["ops has ended: it's no longer in the settings. main answers here now."]
    assert await lane_of(stage, await hear(stage, "back?")) == ("ops", "back?")


async def test_everybody_chooses_in_a_direct_chat_and_operators_alone_elsewhere(stage: Stage) -> None:
    denied = await hear(stage, Commanded("agent", "ops"), actor=UMA, reach=Addressing.MENTION)
    assert denied.verdict.notice == "Only operators and owners can choose who answers in a room."
    assert await lane_of(stage, await hear(stage, "hello")) == ("main", "hello")
    await hear(stage, Commanded("agent", "ops"), actor=UMA)
    assert await lane_of(stage, await hear(stage, "hello again")) == ("ops", "hello again")


async def test_an_unknown_name_is_answered_with_the_nearest_one(stage: Stage) -> None:
    told = await hear(stage, Commanded("agent", "resaerch"), actor=OTTO)
    assert str(told.verdict.notice).startswith("There's no agent called `resaerch`. Did you mean `research`? Choose")


async def test_all_agents_are_listed_with_how_to_reach_them(stage: Stage) -> None:
    assert (await hear(stage, Commanded("agents"), actor=VERA)).verdict.notice == (
        "- `main` · answers where no other does · running\n"
        "- `ops` · write `ops: …` or `operations: …` · running\n"
        "- `research` · write `research: …` · running\n"
        "- `porter` · answers where it's set to · running\n\n"
        "`/agent` tells who answers here."
    )


async def test_a_command_is_about_the_agent_that_answers_there(stage: Stage) -> None:
    await hear(stage, "hello", at=LOBBY_ROOM)
    await stage.finish(await stage.claim())
    told = await hear(stage, Commanded("new"), at=LOBBY_ROOM)
    assert told.deliveries == (LOBBY_ROOM,)
    rows = await stage.rows("SELECT since_turn > 0 FROM sessions WHERE key = :k", k=f"porter|{LOBBY_ROOM}")
    assert [bool(row[0]) for row in rows] == [True]


async def test_where_there_is_one_agent_alone_no_rows_of_agents_are_asked_for(stage: Stage) -> None:
    await stage.write("INSERT INTO agent_rooms (address, agent, set_at) VALUES (:a, 'ops', 1)", a=str(ROOM))
    assert await lane_of(stage, await stage.say("ops: hello")) == ("main", "ops: hello")
    alone = await stage.take_in(replace(stage.signal(Commanded("agents")), private=2000))
    assert alone.verdict.notice == "- `main` · answers where no other does · running\n\nThere are no others."


def taped(op: Op[Taken], seen: list[str]) -> Op[Taken]:
    """`op`, which writes down each statement that it makes."""
    try:
        statement, given = next(op)
        while True:
            seen += [str(one) for one, _ in each_of((statement, given))]
            statement, given = op.send((yield statement, given))
    except StopIteration as end:
        taken: Taken = end.value
        return taken


async def statements(stage: Stage, text: str, gate: Gate) -> list[str]:
    seen: list[str] = []
    signal, now = stage.signal(Said(text)), stage.clock()
    await stage.store.driver.write(lambda: taped(accept(signal, gate, None, now, new_id), seen))
    return seen


async def test_the_agent_costs_no_statement_where_there_is_one_and_two_where_there_are_several(stage: Stage) -> None:
    await statements(stage, "hello", GATE)  # opens the lane
    alone, several = await statements(stage, "one", GATE), await statements(stage, "two", SEVERAL)
    assert [statement for statement in alone if "agent_rooms" in statement] == []
    assert len(several) == len(alone) + 2


async def test_a_mode_that_holds_back_counts_for_every_agent_and_a_trust_for_one(stage: Stage) -> None:
    await hear(stage, Said("ops: /mode read-only"), actor=OTTO)
    runs = stage.store.runs
    assert [(await runs.mode_at(agent, THREAD)).mode for agent in ("main", "ops")] == [Mode.READ_ONLY] * 2
    stage.clock.advance(seconds=1)
    await hear(stage, Said("ops: /mode trusted 2h"), actor=OTTO)
    assert [(await runs.mode_at(agent, THREAD)).mode for agent in ("main", "ops")] == [Mode.READ_ONLY, Mode.TRUSTED]
    stage.clock.advance(seconds=1)
    await hear(stage, Commanded("mode", "normal"), actor=OTTO)
    assert [(await runs.mode_at(agent, THREAD)).mode for agent in ("main", "ops")] == [Mode.NORMAL] * 2


async def test_a_stop_means_whichever_agent_is_at_work_there(stage: Stage) -> None:
    named = await hear(stage, "ops: restart it")
    assert (await stage.claim()).agent == "ops"
    assert (await hear(stage, "stop")).stop_runs == (RunId(named.verdict.signal_id),)
    assert (await hear(stage, "ops: stop")).stop_runs == (RunId(named.verdict.signal_id),)
