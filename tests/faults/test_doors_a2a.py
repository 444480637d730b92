"""Scenario 65: a task of A2A survives kills; a question in its middle is `input-required`, and it goes on once people decided."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2 as wire

from runtime.contract import Role
from runtime.domain.programs.token import ProgramToken, fresh_secret
from runtime.store.store import open_store
from tests.faults.program import Kill, Program, living, until
from tests.faults.stage import Rows
from tests.faults.test_doors import token_in

KILLS: Final = (Kill("model-answered"), Kill("model-answered", 2))
Work = Callable[[Client], Awaitable[Any]]


async def boss_in(data: Path) -> str:
    store = await open_store(f"sqlite:///{data / 'signalbox.db'}")
    secret = fresh_secret()
    await store.programs.make_token(ProgramToken(name="boss", role=Role.OPERATOR, made_by="Ada"), secret)
    await store.close()
    return secret


async def tried(program: Program, token: str, work: Work) -> Any:
    """The result of `work`, as a peer gets it that begins anew after each cut."""
    while True:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as web:
            with suppress(A2AClientError, httpx.TransportError):
                card = await A2ACardResolver(web, await program.up()).get_agent_card()
                return await work(ClientFactory(ClientConfig(httpx_client=web)).create(card))


async def sent(app: Client) -> tuple[str, int]:
    """Id and state at the end of the stream of one message."""
    said = wire.Message(message_id="once", role="ROLE_USER", parts=[wire.Part(text="run: echo hello there")])
    events = [event async for event in app.send_message(wire.SendMessageRequest(message=said))]
    return events[0].task.id, events[-1].status_update.status.state


@pytest.mark.soak  # as MCP and the REST API under kills, which run each time
@pytest.mark.timeout(90)  # seconds; about six where nothing else runs
async def test_a_task_outlives_kills_and_a_question_in_its_middle(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    token, boss, program = await token_in(data), await boss_in(data), Program(data, "--think", "0.2")
    async with living(program, KILLS):
        name, state = await tried(program, token, sent)
        assert state == wire.TaskState.Value("TASK_STATE_INPUT_REQUIRED")

        async def decided() -> bool | None:
            headers = {"Authorization": f"Bearer {boss}"}
            async with httpx.AsyncClient(headers=headers, trust_env=False, base_url=await program.up()) as web:
                with suppress(httpx.TransportError):
                    (question,) = (await web.get("/api/v1/approvals")).json()["data"]
                    if question["state"] != "pending":
                        return True
                    await web.post(f"/api/v1/approvals/{question['id']}", json={"choice": "approve"})
            return None

        async def ended() -> Any:
            task = await tried(program, token, lambda app: app.get_task(wire.GetTaskRequest(id=name)))
            return task if task.artifacts else None

        await until(decided, "the decision")
        task = await until(ended, "the answer")
        again = await tried(program, token, sent)
        await program.leave()
    rows = Rows(data / "signalbox.db")
    assert again == (name, wire.TaskState.Value("TASK_STATE_COMPLETED"))
    assert "hello there" in task.artifacts[0].parts[0].text
    assert len(program.kills) == len(KILLS)
    assert len(rows.select("SELECT id FROM signals WHERE kind = 'said'")) == 1
    assert len(rows.select("SELECT id FROM runs WHERE state = 'done'")) == 1
