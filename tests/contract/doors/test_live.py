"""Streams send text while the model says it, and end with what its rows hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import openai

from bot.testing.scripted import Scripted, held
from runtime.contract import Call, ModelReply, Usage
from tests.contract.doors.conftest import SETTINGS, Doors
from tests.security.running import running

SAID: Final = "The build failed because the disk of the runner was full, so nothing could be written. "
LOOKS: Final = ModelReply("I'll look.", (Call("c1", "list_files", "{}"),), Usage("scripted", 1, 1))
HELLO: Final[Any] = [{"role": "user", "content": "Why did it fail?"}]


async def test_text_comes_while_it_is_said_and_the_whole_is_that_of_its_rows(tmp_path: Path) -> None:
    chat, response, last = held(f"{SAID}Done.", said=SAID), held("Another answer.", said=SAID), held("Over.", said=SAID)
    model = Scripted([LOOKS, chat, response, last])
    text = SETTINGS.format(url="sqlite:///:memory:")
    async with running(tmp_path, text, model=model) as house:
        doors = Doors(house)
        token = await doors.make("app")
        async with openai.AsyncOpenAI(base_url=f"{house.url}/v1", api_key=token, max_retries=0) as app:
            await _chat(app, chat)
            await _cut(app, response)
        await _socket(doors, last)


async def _chat(app: openai.AsyncOpenAI, answer: Any) -> None:
    stream: Any = await app.chat.completions.create(model="ops", messages=HELLO, stream=True)
    said = ""
    async for chunk in stream:
        said += chunk.choices[0].delta.content or ""
        if SAID in said:
            answer.until.set()  # and only now is it recorded
    assert said == f"I'll look.\n\n{SAID}Done."


async def _cut(app: openai.AsyncOpenAI, answer: Any) -> None:
    """The text that was said before the cut isn't the one that lasts."""
    stream: Any = await app.responses.create(model="ops", input="Again?", stream=True)
    async for event in stream:
        if event.type == "response.output_text.delta":
            break
    await stream.close()
    answer.until.set()
    name, last = event.item_id.replace("msg_", "resp_"), event.sequence_number
    rest: Any = [one async for one in await app.responses.retrieve(name, stream=True, starting_after=last)]
    assert (rest[0].type, rest[-1].type) == ("response.in_progress", "response.completed")
    assert "".join(one.delta for one in rest if one.type == "response.output_text.delta") == "Another answer."
    assert rest[-1].response.output_text == "Another answer."


async def _socket(doors: Doors, answer: Any) -> None:
    message = (await doors.say("app", "builds", "Why?")).body["id"]
    headers = {"Authorization": f"Bearer {doors.tokens['app']}"}
    path = f"{doors.house.url}/api/v1/messages/{message}/events"
    events = []
    async with doors.house.session.ws_connect(path, headers=headers) as socket:
        async for one in socket:
            events.append(one.json())
            if events[-1]["event"] == "progress":
                answer.until.set()
    assert {"event": "progress", "data": {"text": SAID}} in events
    assert (events[-1]["data"]["state"], events[-1]["data"]["text"]) == ("done", "Over.")
