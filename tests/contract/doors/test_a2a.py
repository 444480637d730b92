"""The protocol's own client talks to agents as peers, in both versions: tasks, streams, questions, lists and cancelling."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as wire
from a2a.utils import errors

from runtime.domain.ids import digest
from tests.contract.doors.conftest import Doors

VERSIONS: Final = ("1.0", "0.3")
STATE: Final[Any] = wire.TaskState


def message(text: str, name: str, context: str = "", task: str = "") -> wire.SendMessageRequest:
    said = wire.Message(
        message_id=name, context_id=context, task_id=task, role="ROLE_USER", parts=[wire.Part(text=text)]
    )
    return wire.SendMessageRequest(message=said)


@asynccontextmanager
async def client(doors: Doors, name: str, version: str = "1.0", streaming: bool = True) -> AsyncIterator[Client]:
    token = doors.tokens.get(name) or await doors.make(name)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as web:
        card = await A2ACardResolver(web, doors.house.url).get_agent_card()
        spoken = [one for one in card.supported_interfaces if one.protocol_version == version]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(spoken)
        yield ClientFactory(ClientConfig(streaming=streaming, httpx_client=web)).create(card)


async def told(app: Client, asked: wire.SendMessageRequest) -> list[wire.StreamResponse]:
    return [event async for event in app.send_message(asked)]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_task_is_answered_once_whole_and_as_a_stream(doors: Doors, version: str) -> None:
    async with client(doors, "peer", version, streaming=False) as app:
        (whole,) = await told(app, message("Hello there", "m-1", "talk 1"))
        task = whole.task
        assert (task.status.state, task.context_id) == (STATE.TASK_STATE_COMPLETED, "talk 1")
        assert "Hello there" in task.artifacts[0].parts[0].text
        assert (task.history[0].message_id, task.history[0].parts[0].text) == ("m-1", "Hello there")
        with pytest.raises(errors.InvalidParamsError):
            await told(app, message("Something else", "m-1", "talk 1"))
    async with client(doors, "peer", version) as app:
        events = await told(app, message("Hello there", "m-1", "talk 1"))
        assert (events[0].task.id, events[0].task.artifacts) == (task.id, task.artifacts)
        assert events[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED
        assert await app.get_task(wire.GetTaskRequest(id=task.id)) == task
        assert len(await doors.house.api.runs()) == 1


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_question_to_people_is_input_required_and_the_task_goes_on_once_they_decided(
    doors: Doors, version: str
) -> None:
    await doors.make("boss", "operator")
    async with client(doors, "peer", version) as app:
        events = await told(app, message("run: uname -a", "m-1"))
        name, status = events[0].task.id, events[-1].status_update.status
        assert status.state == STATE.TASK_STATE_INPUT_REQUIRED
        assert "People have to decide" in status.message.parts[0].text
        question = (await doors.ask("boss", "GET", "/api/v1/approvals")).body["data"][0]["id"]
        with pytest.raises(errors.UnsupportedOperationError):
            await told(app, message("approve", "m-2", events[0].task.context_id, name))
        await doors.ask("boss", "POST", f"/api/v1/approvals/{question}", {"choice": "deny"})
        await doors.answered("peer", name)
        task = await app.get_task(wire.GetTaskRequest(id=name))
        assert task.status.state == STATE.TASK_STATE_COMPLETED


async def test_a_question_for_the_program_is_answered_by_a_message_of_its_task_and_files_go_both_ways(
    doors: Doors,
) -> None:
    for number, version in enumerate(VERSIONS):
        talk = f"tea {version}"
        async with client(doors, "peer", version) as app:
            asked = (await told(app, message("ask me Green or black?", f"m-{number}1", talk)))[-1].status_update
            assert asked.status.state == STATE.TASK_STATE_INPUT_REQUIRED
            assert "Green or black?" in asked.status.message.parts[0].text
            with pytest.raises(errors.InvalidParamsError):
                await told(app, message("green", f"m-{number}2", "another", asked.task_id))
            for _ in range(2):  # a repeat is the same answer
                events = await told(app, message("green", f"m-{number}2", "", asked.task_id))
                assert events[0].task.id == asked.task_id
            await doors.answered("peer", asked.task_id)
            done = await app.get_task(wire.GetTaskRequest(id=asked.task_id))
            assert "green" in done.artifacts[0].parts[0].text
            with pytest.raises(errors.UnsupportedOperationError):
                await told(app, message("black", f"m-{number}3", talk, asked.task_id))
            path = f"inbox/{digest(b'leaves'.hex())[:10]}/tea.txt"
            sent = message(f"send the file {path}", f"m-{number}4", talk)
            sent.message.parts.append(wire.Part(raw=b"leaves", filename="../tea.txt", media_type="text/plain"))
            task = (await told(app, sent))[0].task
            await doors.answered("peer", task.id)
            task = await app.get_task(wire.GetTaskRequest(id=task.id))
            (file,) = [part for part in task.artifacts[0].parts if part.url]
            assert (file.filename, file.media_type) == ("tea.txt", "text/plain")
            assert (await doors.ask("peer", "GET", file.url)).body == "leaves"


async def test_a_task_is_cancelled_once_followed_and_listed_for_its_own_program_alone(doors: Doors) -> None:
    async with client(doors, "peer") as app, client(doors, "other") as other:
        name = (await told(app, message("run: uname -a", "m-1", "first")))[0].task.id
        done = (await told(app, message("Hello", "m-2", "second")))[0].task.id
        followed = [event async for event in app.subscribe(wire.SubscribeToTaskRequest(id=name))]
        assert [one.WhichOneof("payload") for one in followed] == ["task", "status_update"]
        with pytest.raises(errors.UnsupportedOperationError):
            _ = [event async for event in app.subscribe(wire.SubscribeToTaskRequest(id=done))]
        with pytest.raises(errors.TaskNotFoundError):
            await other.get_task(wire.GetTaskRequest(id=name))
        task = await app.cancel_task(wire.CancelTaskRequest(id=name))
        assert task.status.state == STATE.TASK_STATE_CANCELED
        with pytest.raises(errors.TaskNotCancelableError):
            await app.cancel_task(wire.CancelTaskRequest(id=name))
        page = await app.list_tasks(wire.ListTasksRequest(page_size=1))
        rest = await app.list_tasks(wire.ListTasksRequest(page_size=1, page_token=page.next_page_token))
        assert ([page.tasks[0].id, rest.tasks[0].id], page.total_size) == ([done, name], 2)
        only = await app.list_tasks(wire.ListTasksRequest(context_id="first"))
        assert [one.id for one in only.tasks] == [name]
        assert (await other.list_tasks(wire.ListTasksRequest())).total_size == 0


async def test_the_open_card_tells_no_agent_and_the_extended_one_those_of_the_token(doors: Doors) -> None:
    path = "/.well-known/agent-card.json"
    card, old = await doors.ask("nobody", "GET", path), await doors.ask("nobody", "GET", path, A2A_Version="0.3")
    assert (card.status, "finance" in str(card.body), old.body["protocolVersion"]) == (200, False, "0.3.0")
    async with client(doors, "peer") as app:
        told_of = await app.get_extended_agent_card(wire.GetExtendedAgentCardRequest())
        assert [one.id for one in told_of.skills] == ["main", "ops", "finance"]
        assert told_of.capabilities.push_notifications


async def test_what_is_no_request_of_a_peer_is_refused_with_its_reason(doors: Doors) -> None:
    await doors.make("peer", agents=["ops"])
    ask = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}
    said = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "Hello"}]}
    bad: list[tuple[object, int]] = [
        ({"id": 1}, -32600),
        ({**ask, "method": "Nothing"}, -32601),
        ({**ask, "params": {}}, -32602),
        ({**ask, "params": {"message": {**said, "messageId": None}}}, -32602),
        ({**ask, "params": {"message": {**said, "parts": [{"url": "https://example.org"}]}}}, -32005),
        ({**ask, "method": "GetTask", "params": {"id": "nothing"}}, -32001),
    ]
    for body, code in bad:
        answer = await doors.ask("peer", "POST", "/a2a", body)
        assert (answer.status, answer.body["error"]["code"]) == (200, code)
    other = await doors.ask("peer", "POST", "/a2a", ask, A2A_Version="7.0")
    assert other.body["error"]["code"] == -32009
    hidden = await doors.ask("peer", "POST", "/a2a/finance", {**ask, "params": {"message": said}})
    assert "There are: ops" in hidden.body["error"]["message"]
    assert (await doors.ask("nobody", "POST", "/a2a", ask)).status == 401
    assert (await doors.ask("peer", "GET", "/a2a")).status == 405
