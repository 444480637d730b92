"""Scenario 64: the stream of OpenAI's client is cut by a kill; the same request with its key gets the same answer, once.

Scenario 66 beside it: a token for two rooms is refused all else in the same words, before the kill and after.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import httpx
import openai
import pytest

from runtime.contract import Role
from runtime.domain.programs.token import ProgramToken, fresh_secret
from runtime.store.store import open_store
from tests.faults.program import Kill, Program, living
from tests.faults.stage import Rows

KILLS: Final = (Kill("model-answered"),)
ASKED: Final[Any] = [{"role": "user", "content": "Hello there, once"}]


async def token_in(data: Path, name: str = "app", **bounds: Any) -> str:
    store = await open_store(f"sqlite:///{data / 'signalbox.db'}")
    secret = fresh_secret()
    await store.programs.make_token(ProgramToken(name=name, role=Role.USER, made_by="Ada", **bounds), secret)
    await store.close()
    return secret


async def refusals(url: str, token: str, message: str) -> list[tuple[int, str]]:
    """Answers to a token that asks for rooms and a message which aren't its own, there or not."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as web:
        rooms = [f"{url}/api/v1/rooms/{room}/messages" for room in ("elsewhere", "web:main%2Fnothing00")]
        told = [await web.post(room, json={"text": "Let me in"}) for room in rooms]
        told += [await web.get(f"{url}/api/v1/messages/{one}") for one in (message, "nothing")]
    return [(one.status_code, one.json()["detail"]) for one in told]


async def streamed(url: str, token: str) -> list[Any]:
    """Chunks of one try, as far as they came."""
    chunks: list[Any] = []
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0) as app:
        stream = await app.chat.completions.create(
            model="signalbox", messages=ASKED, stream=True, extra_headers={"Idempotency-Key": "once"}
        )
        async for chunk in stream:
            chunks.append(chunk)  # noqa: PERF401 - what came before the cut is kept
    return chunks


@pytest.mark.timeout(180)  # seconds; about four where nothing else runs
async def test_a_stream_cut_by_a_kill_is_repeated_with_its_key_and_answered_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    token, program, cut = await token_in(data), Program(data, "--think", "0.4"), 0
    narrow = await token_in(data, "narrow", rooms=("builds", "tests"))
    async with living(program, KILLS):
        before = await refusals(await program.up(), narrow, "nothing")
        chunks: list[Any] = []
        while not (chunks and chunks[-1].choices[0].finish_reason):
            try:
                chunks = await streamed(await program.up(), token)
            except (openai.APIConnectionError, httpx.TransportError):
                cut += 1
        async with openai.AsyncOpenAI(base_url=f"{await program.up()}/v1", api_key=token) as app:
            name = chunks[0].id.replace("chatcmpl-", "resp_")
            behind = [event async for event in await app.responses.retrieve(name, stream=True, starting_after=1)]
        after = await refusals(await program.up(), narrow, said := name.removeprefix("resp_"))
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as web:
            mine = (await web.get(f"{await program.up()}/api/v1/messages/{said}")).status_code
        await program.leave()
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    rows = Rows(data / "signalbox.db")
    assert (cut >= 1, "Hello there, once" in text) == (True, True)
    assert [status for status, _ in after] == [403, 403, 404, 404]
    assert (after[1::2], before) == (after[::2], after)
    assert mine == 200
    assert "".join(event.delta for event in behind if event.type == "response.output_text.delta") == text
    assert len(rows.select("SELECT id FROM signals WHERE kind = 'said'")) == 1
    assert len(rows.select("SELECT id FROM runs WHERE state = 'done'")) == 1
    assert len(rows.select("SELECT id FROM deliveries WHERE kind = 'final'")) == 1
