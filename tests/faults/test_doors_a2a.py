"""Scenario 65: a task of A2A survives kills; a question in its middle is `input-required`, answered on Slack, and it goes on."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2 as wire
from yarl import URL

from bot.doors.a2a.pushing import DELIVERY_HEADER
from tests.contract.doors.test_pushes import receiving, state_of
from tests.faults.points import PUSHED
from tests.faults.program import Kill, Program, living, until
from tests.faults.rigside import RigSide
from tests.faults.sides import Button, Side
from tests.faults.stage import Rows, stage
from tests.faults.test_doors import token_in

KILLS: Final = (Kill("model-answered"), Kill("approval-stored"), Kill(PUSHED), Kill("model-answered"))
ASKED_IN: Final = "questions"
Work = Callable[[Client], Awaitable[Any]]


async def tried(program: Program, token: str, work: Work) -> Any:
    """The result of `work`, as a peer gets it that begins anew after each cut."""
    while True:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as web:
            with suppress(A2AClientError, httpx.TransportError):
                card = await A2ACardResolver(web, await program.up()).get_agent_card()
                return await work(ClientFactory(ClientConfig(httpx_client=web)).create(card))


async def sent(app: Client, told_at: str) -> tuple[str, int]:
    """Id and state at the end of the stream of one message."""
    said = wire.Message(message_id="once", role="ROLE_USER", parts=[wire.Part(text="run: echo hello there")])
    asked = wire.SendMessageRequest(message=said)
    asked.configuration.task_push_notification_config.url = told_at
    events = [event async for event in app.send_message(asked)]
    return events[0].task.id, events[-1].status_update.status.state


def settings_of(slack: Side, told_at: str) -> list[str]:
    """Approvals are asked in a room on Slack, and only that place may be told."""
    assert isinstance(slack, RigSide)
    room = f"slack:{slack.rig.settings()['name']}/{slack.place(ASKED_IN).address.room}"
    allow, rule = [URL(told_at).authority], {"tool": "a2a_push", "method": "POST", "result": "allow"}
    way = ["--set", f"egress.allow={json.dumps(allow)}", "--set", f"egress.rules={json.dumps([rule])}"]
    return ["--set", f"approvals.to={json.dumps([room])}", *way]


@pytest.mark.soak  # as MCP and the REST API under kills, which run each time
@pytest.mark.timeout(120)  # seconds; about eight where nothing else runs
async def test_a_task_outlives_kills_its_question_is_answered_on_slack_and_its_place_is_told_all(
    tmp_path: Path,
) -> None:
    async with receiving() as receiver, stage(tmp_path, "slack", "--think", "0.2") as on:
        program = on.program
        program.add(*settings_of(on.side, receiver.url))
        token = await token_in(program.data)
        begin = partial(sent, told_at=receiver.url)
        async with living(program, KILLS):
            await on.until_connected()
            name, state = await tried(program, token, begin)
            assert state == wire.TaskState.Value("TASK_STATE_INPUT_REQUIRED")

            async def asked() -> Button | None:
                cards = [one for one in await on.side.seen(ASKED_IN) if one.is_card]
                return next((one for card in cards for one in card.buttons if one.choice == "approve"), None)

            button = await until(asked, "a card on Slack")
            await on.side.click(ASKED_IN, button.approval_id, button.choice)

            async def ended() -> Any:
                task = await tried(program, token, lambda app: app.get_task(wire.GetTaskRequest(id=name)))
                return task if task.artifacts else None

            task = await until(ended, "the answer")
            again = await tried(program, token, begin)
            await receiver.states("completed")
            await program.leave()
        rows = Rows(program.data / "signalbox.db")
    assert again == (name, wire.TaskState.Value("TASK_STATE_COMPLETED"))
    assert "hello there" in task.artifacts[0].parts[0].text
    assert len(program.kills) == len(KILLS)
    assert len(rows.select("SELECT id FROM signals WHERE kind = 'said'")) == 1
    assert len(rows.select("SELECT id FROM runs WHERE state = 'done'")) == 1
    told = {head[DELIVERY_HEADER]: state_of(body) for head, body in zip(receiver.heads, receiver.bodies, strict=True)}
    assert [*told.values()] == ["working", "input-required", "working", "completed"]
    assert len(receiver.heads) > len(told)  # what was told before a kill came again, with its id
