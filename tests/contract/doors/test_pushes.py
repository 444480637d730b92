"""The protocol's own client has tasks told elsewhere: each change in order, at least once, and only to places that may be told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2 as wire
from a2a.utils import errors
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.doors.a2a.pushing import DELIVERY_HEADER
from tests.contract.doors.conftest import SETTINGS, Doors
from tests.contract.doors.test_a2a import VERSIONS, client, message, told
from tests.security.running import running

RULE = '[[egress.rules]]\ntool = "a2a_push"\nhost = "127.0.0.1"\nmethod = "POST"\nresult = "allow"\n'


@dataclass
class Receiver:
    """A place of a program. Of what it is sent it refuses as many as `refuses` says."""

    refuses: int = 0
    heads: list[dict[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    url: str = ""
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        self.heads.append(dict(request.headers))
        if self.refuses:
            self.refuses -= 1
            return web.Response(status=503)
        self.bodies.append(json.loads(await request.text()))
        self._came.set()
        return web.Response()

    async def states(self, last: str) -> list[str]:
        """Its states, once the `last` one came."""
        async with asyncio.timeout(20):
            while not self.bodies or state_of(self.bodies[-1]) != last:
                self._came.clear()
                await self._came.wait()
        return [state_of(one) for one in self.bodies]


def state_of(body: Any) -> str:
    within = body.get("task") or body.get("statusUpdate") or body
    return str(within["status"]["state"].removeprefix("TASK_STATE_").lower().replace("_", "-"))


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver, app = Receiver(), web.Application()
    app.router.add_post("/hear", receiver.take)
    async with TestServer(app) as server:
        receiver.url = str(server.make_url("/hear"))
        yield receiver


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def pushing(url: str, tmp_path: Path, receiver: Receiver) -> AsyncIterator[Doors]:
    """Doors whose way out has two private places open, and only that one for programs."""
    place = receiver.url.removeprefix("http://").partition("/")[0]
    allow = f'[egress]\nallow = ["{place}", "127.0.0.2:80"]\n{RULE}'
    async with running(tmp_path, SETTINGS.format(url=url) + allow) as house:
        yield Doors(house)


def place(receiver: Receiver, task: str = "") -> wire.TaskPushNotificationConfig:
    proof = wire.AuthenticationInfo(scheme="Bearer", credentials="sesame")
    return wire.TaskPushNotificationConfig(task_id=task, url=receiver.url, token="ours", authentication=proof)


@pytest.mark.parametrize("url", ["file"], indirect=True)  # tests of the store have the rows on each engine
async def test_each_change_of_a_task_is_told_in_order_and_again_where_it_was_not_taken(
    pushing: Doors, receiver: Receiver
) -> None:
    await pushing.make("boss", "operator")
    for version in VERSIONS:
        receiver.heads, receiver.bodies, receiver.refuses = [], [], int(version == "1.0")
        async with client(pushing, "peer", version) as app:
            asked = message("run: uname -a", f"m-{version}")
            asked.configuration.task_push_notification_config.CopyFrom(place(receiver))
            name = (await told(app, asked))[0].task.id
            assert await receiver.states("input-required") == ["working", "input-required"]
            question = (await pushing.ask("boss", "GET", "/api/v1/approvals")).body["data"][0]["id"]
            await pushing.ask("boss", "POST", f"/api/v1/approvals/{question}", {"choice": "deny"})
            assert await receiver.states("completed") == ["working", "input-required", "working", "completed"]
        ids = [head[DELIVERY_HEADER] for head in receiver.heads]
        assert (len({*ids}), len(ids), ids[0] == ids[1]) == (4, 5 if version == "1.0" else 4, version == "1.0")
        proofs = {(one["X-A2A-Notification-Token"], one["Authorization"]) for one in receiver.heads}
        assert proofs == {("ours", "Bearer sesame")}
        whole = receiver.bodies[-1].get("task") or receiver.bodies[-1]
        assert (whole["id"], len(whole["artifacts"])) == (name, 1)


@pytest.mark.parametrize("url", ["file"], indirect=True)
async def test_places_are_kept_shown_and_dropped_by_the_own_program_and_refused_where_nothing_may_be_told(
    pushing: Doors, receiver: Receiver
) -> None:
    async with client(pushing, "peer") as app:
        inside = ("http://169.254.169.254/latest", "http://localhost:1/x", "http://10.0.0.1/", "http://127.0.0.2/")
        for url in (*inside, "file:///etc/passwd"):
            asked = message("Hello", "m-1")
            asked.configuration.task_push_notification_config.url = url
            with pytest.raises(errors.InvalidParamsError, match="Push notifications can't go there"):
                await told(app, asked)
        assert await pushing.house.api.runs() == []
        name = (await told(app, message("run: uname -a", "m-1")))[0].task.id
    for version in VERSIONS:
        async with client(pushing, "peer", version) as app, client(pushing, "other", version) as other:
            made = await app.create_task_push_notification_config(place(receiver, name))
            shown = await app.get_task_push_notification_config(
                wire.GetTaskPushNotificationConfigRequest(task_id=name, id=made.id)
            )
            assert (shown.url, shown.token, shown.authentication.credentials) == (receiver.url, "ours", "")
            every = wire.ListTaskPushNotificationConfigsRequest(task_id=name)
            assert [one.id for one in (await app.list_task_push_notification_configs(every)).configs] == [made.id]
            with pytest.raises(errors.TaskNotFoundError):
                await other.list_task_push_notification_configs(every)
            for _ in range(2):
                await app.delete_task_push_notification_config(
                    wire.DeleteTaskPushNotificationConfigRequest(task_id=name, id=made.id)
                )
            with pytest.raises(errors.TaskNotFoundError):
                await app.get_task_push_notification_config(
                    wire.GetTaskPushNotificationConfigRequest(task_id=name, id=made.id)
                )
