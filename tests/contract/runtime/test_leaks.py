"""A secret that flows is in no table, no model request, no log and no chat, whichever way it came in: each shape, way and sink.

Each case plays one way with one secret over the real runtime, and then looks for it in every text column of the database, in each
request that the model got, in what was logged, in what rooms show and showed for a moment, and in files. The whole is soak; a few shapes
are in the usual run. What comes in pieces is in `test_leaks_in_pieces.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.testing.scripted import USAGE
from runtime.agent.tool_calls import PARTLY_HIDDEN
from runtime.contract import Addressing, Call, Choice, Effect, Json, ModelReply, Reasoning, Said, ToolContext
from runtime.delivery.couriers import Couriers
from runtime.domain.ids import new_id
from runtime.intake.pasted import Pasted
from tests.contract.runtime.leaks import Leaks, Watched, in_requests
from tests.contract.runtime.planning import desk
from tests.contract.runtime.stage import ADA, FakeTool, Process, Stage, fake_tool
from tests.unit.guard.secrets import SECRETS

MARK: Final = "[redacted: "


def told(text: str) -> FakeTool:
    async def look(_arguments: Mapping[str, Json]) -> str:
        return text

    return fake_tool("look", Effect.READ, look)


LOOK: Final = Call("c1", "look", '{"path": "a.txt"}')


async def test_what_a_person_writes(any_stage: Stage, secret: str, leaks: Leaks) -> None:
    await leaks.play(any_stage, secret, ["Thanks.", "Yes."], [], f"The key is {secret} and stays", "and now?")
    assert MARK in (await any_stage.rows("SELECT text FROM signals ORDER BY accepted_at"))[0][0]
    assert await any_stage.screen() == ["Thanks.", "Yes."]


def telling(process: Process) -> Process:
    """A process that tells people what was taken out of their messages."""
    post = Couriers([process.courier], process.store.outbox).post
    process.reception._pasted = Pasted(process.store.people, post, new_id).tell
    return process


async def test_whoever_pastes_a_key_is_told_in_their_private_chat(any_stage: Stage, secret: str, leaks: Leaks) -> None:
    process = telling(await any_stage.process(Watched(["Thanks.", "Thanks."])))
    for key in ("once", "once"):  # the second is the same event again
        await process.say(f"The key is {secret}", room="r2", key=key)
        await process.answer_all()
    (told,) = [text for text in await any_stage.screen("r2") if "held something" in text]
    assert told.startswith("Your message held something that shouldn't be in a chat (")
    assert "signalbox secrets set" in told
    await leaks.not_stored(any_stage, secret)


async def test_where_others_read_along_it_is_told_by_name(stage: Stage) -> None:
    process = telling(await stage.process(Watched(["Thanks."])))
    said = replace(stage.signal(Said(f"it is {SECRETS['npm'][1]}"), ADA, "r1"), reach=Addressing.MENTION)
    await process.reception.sink(said)
    await process.answer_all()
    (told,) = [text for text in await stage.screen() if "held something" in text]
    assert told.startswith("Ada, your message held something")


async def test_what_a_tool_gives(stage: Stage, secret: str, leaks: Leaks) -> None:
    await leaks.play(stage, secret, [LOOK, "I saw it."], [told(f"TOKEN={secret}\nMORE=1")], "look")
    [(result,)] = await stage.rows("SELECT result FROM steps WHERE kind = 'tool'")
    assert MARK in result
    assert result.endswith("MORE=1")


class Telling(FakeTool):
    """Says a secret while it works."""

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        context.tell(f"sent {arguments['path']}")
        return await super().call(arguments, context)


async def test_what_a_tool_says_while_it_works(stage: Stage, secret: str, leaks: Leaks) -> None:
    tool = Telling(told("").spec)
    telling = Call("c1", "look", json.dumps({"path": secret}))
    await leaks.play(stage, secret, [telling, "I saw it."], [tool], "look")


async def test_what_a_tool_gives_across_its_bound(stage: Stage, secret: str, leaks: Leaks) -> None:
    """The result is cut in the middle, just where the secret stands: it is looked at whole before."""
    for before in (29_990, 24_980):
        await leaks.play(
            stage, secret, [LOOK, "I saw it."], [told("x " * (before // 2) + secret + " y" * 20_000)], "look"
        )


async def test_an_error_of_a_tool(stage: Stage, secret: str, leaks: Leaks) -> None:
    from runtime.errors import ToolFailed

    async def fails(_arguments: Mapping[str, Json]) -> str:
        raise ToolFailed(f"refused: {secret}")

    await leaks.play(stage, secret, [LOOK, "It failed."], [fake_tool("look", Effect.READ, fails)], "look")


async def test_what_a_model_says(stage: Stage, secret: str, leaks: Leaks) -> None:
    words = f"Here it is: {secret} and that is all I know about it."
    await leaks.play(stage, secret, [words, "Fine."], [], "tell me", "thanks")
    assert (await stage.screen())[0].endswith("and that is all I know about it.")


async def test_what_a_model_thinks(stage: Stage, secret: str, leaks: Leaks) -> None:
    thought = Reasoning(f"They want {secret}.", "m", json.dumps([{"thinking": secret}]))
    await leaks.play(stage, secret, [ModelReply("No.", (), USAGE, reasoning=thought)], [], "tell me")


async def test_what_a_model_calls_with_runs_as_it_was_and_is_shown_without(
    any_stage: Stage, secret: str, leaks: Leaks
) -> None:
    seen: list[object] = []

    async def runs(arguments: Mapping[str, Json]) -> str:
        seen.append(arguments["command"])
        return "done"

    call = Call("c1", "shell", json.dumps({"command": f"curl -H 'token: {secret}' x"}))
    tools = [fake_tool("shell", Effect.WRITE, runs)]
    process = await leaks.play(any_stage, secret, [call, "Done."], tools, "run it")
    assert seen == []
    [question] = await any_stage.pending()
    assert MARK in question.arguments
    assert PARTLY_HIDDEN in question.caution
    await process.click(question.id)
    await process.answer_all()
    assert seen == [f"curl -H 'token: {secret}' x"]
    await leaks.not_stored(any_stage, secret)


async def test_what_a_model_calls_a_tool(stage: Stage, secret: str, leaks: Leaks) -> None:
    await leaks.play(stage, secret, [Call("c1", secret, "{}"), "There is none."], [], "run it")


async def test_a_report(stage: Stage, secret: str, leaks: Leaks) -> None:
    model = Watched([f"News: {secret}."])
    at = await desk(stage, model)
    await at.plan()
    await at.fire()
    assert MARK in (await stage.screen())[0]
    await leaks.nowhere(stage, model, secret, process=at.process)


async def test_a_reason_and_a_question_about_a_call(stage: Stage, secret: str, leaks: Leaks) -> None:
    tools = [fake_tool("shell", Effect.WRITE)]
    process = await leaks.play(stage, secret, [Call("c1", "shell", "{}"), "No then."], tools, "run it")
    [question] = await stage.pending()
    await process.click(question.id, Choice.DENY, f"because of {secret}")
    await process.answer_all()
    await leaks.not_stored(stage, secret)


async def test_rows_of_before_the_guard_reach_no_model(stage: Stage, secret: str, leaks: Leaks) -> None:
    """A database of an older version holds them; what is sent is looked at once more."""
    model = Watched(["Hello.", "Yes."])
    process = await stage.process(model)
    await process.say("hello")
    await process.answer_all()

    def write() -> object:
        from sqlalchemy import text

        yield text("UPDATE turns SET text = :t WHERE role = 'user'"), {"t": f"my key is {secret}"}

    await stage.store.driver.write(write)  # type: ignore[arg-type]  # a plain statement
    await process.say("and?")
    await process.answer_all()
    found = in_requests(model, secret)
    leaks.count({"requests": found} if found else {}, 1)
