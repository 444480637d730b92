"""What would be sent for the next message, as operators ask it: the same request as the one that follows, and its sizes."""

from __future__ import annotations

from runtime.agent.previews import measured
from runtime.context.sizes import of_text, of_tool, of_turns
from runtime.context.window import Source
from runtime.contract import Effect, UserTurn
from tests.contract.runtime.stage import Stage, address, fake_tool
from tests.contract.runtime.windowed import Windowed, chatter, life, said

WINDOW = 100_000


async def test_it_is_what_follows_but_for_the_message_itself(any_stage: Stage) -> None:
    model = Windowed(window=WINDOW)
    tool = fake_tool("look", Effect.READ)
    process = await life(any_stage, model, tool, window=WINDOW)
    await said(process, *chatter(4))
    conversed = await any_stage.store.runs.conversation("main", address("r1"))
    made, kept = await process.previews.of(conversed), conversed.remembered
    await said(process, "and now?")
    sent = model.requests[-1]
    assert (made.request.system, list(made.request.tools)) == (sent.system, list(sent.tools))
    assert [*made.request.turns, UserTurn("and now?", "Ada")] == list(sent.turns)
    assert (kept.turns, kept.summaries, made.source) == (8, [], Source.ASSUMED)
    told = measured(made)
    assert told.sizes == {
        "system": of_text(sent.system),
        "skills": 0,
        "memory": 0,
        "working": 0,
        "history": of_turns(made.request.turns),
        "tools": of_tool(tool.spec),
    }
    assert told.tokens == sum(told.sizes.values())


async def test_a_conversation_of_which_nothing_is_known_is_empty(any_stage: Stage) -> None:
    process = await life(any_stage, Windowed(), window=WINDOW)
    conversed = await any_stage.store.runs.conversation("main", address("r9"))
    made = await process.previews.of(conversed)
    assert (list(made.request.turns), conversed.remembered.turns, made.spare) == ([], 0, 0)
