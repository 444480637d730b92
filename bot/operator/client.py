"""A client of the running process: its console API, with the token of `control.json`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

import aiohttp
from yarl import URL

from bot.node import login
from bot.node.lock import Control
from bot.operator.views import View
from runtime.errors import BotError
from runtime.http import bodies
from runtime.http.errors import Refusal

ROOT: Final = "/console/api"
PATIENCE: Final = timedelta(seconds=30)  # above the longest wait of the API, 25 s


class Gone(BotError):
    """The process does not answer (any more), or takes nothing in for now: the same may work in a while."""


class Client:
    """Implements `bot.operator.office.Office`, and speaks in rooms."""

    def __init__(self, session: aiohttp.ClientSession, control: Control) -> None:
        self._session = session
        self._control = control

    async def overview(self) -> View:
        return await self._get("/overview")

    async def runs(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        return await self._list("/runs", state, limit, room)

    async def run(self, run_id: str) -> View:
        return await self._get(f"/runs/{_step(run_id)}")

    async def approvals(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        return await self._list("/approvals", state, limit, room)

    async def decide(self, approval_id: str, choice: str, reason: str = "") -> View:
        return await self._post(f"/approvals/{_step(approval_id)}", choice=choice, reason=reason)

    async def deliveries(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        return await self._list("/deliveries", state, limit, room)

    async def delivery(self, delivery_id: str) -> View:
        return await self._get(f"/deliveries/{_step(delivery_id)}")

    async def requeue(self, delivery_id: str) -> View:
        return await self._post(f"/deliveries/{_step(delivery_id)}/requeue")

    async def discard(self, delivery_id: str) -> View:
        return await self._post(f"/deliveries/{_step(delivery_id)}/discard")

    async def trace(self, message: str) -> View:
        return await self._get(f"/trace/{_step(message)}")

    async def traceable(self, room: str = "", limit: int = 10) -> list[View]:
        found: list[View] = await self._ask("GET", "/trace", query={"room": room, "limit": str(limit)})
        return found

    async def people(self) -> list[View]:
        found: list[View] = await self._ask("GET", "/people")
        return found

    async def add_person(self, name: str, role: str, identities: Sequence[str] = ()) -> View:
        return await self._post("/people", name=name, role=role, identities=list(identities))

    async def set_role(self, name: str, role: str) -> View:
        return await self._post(f"/people/{_step(name)}/role", role=role)

    async def pairings(self) -> list[View]:
        found: list[View] = await self._ask("GET", "/pairings")
        return found

    async def pair(self, code: str, name: str = "", role: str = "") -> View:
        return await self._post("/pairings", code=code, name=name, role=role)

    async def rename_person(self, name: str, new: str) -> View:
        return await self._post(f"/people/{_step(name)}/rename", new=new)

    async def remove_person(self, name: str) -> View:
        return await self._post(f"/people/{_step(name)}/remove")

    async def merge_people(self, name: str, into: str) -> View:
        return await self._post(f"/people/{_step(name)}/merge", into=into)

    async def sign_out(self, name: str) -> View:
        return await self._post(f"/people/{_step(name)}/sign-out")

    async def link(self, name: str) -> View:
        made = await self._post(f"/people/{_step(name)}/link")
        return {**made, "url": made["url"] or self._control.url + made["path"]}

    async def reload(self) -> View:
        return await self._post("/reload")

    async def save(self) -> str | None:
        """The file of a copy of the process's database, if its own is gone."""
        saved: str | None = (await self._post("/save"))["file"]
        return saved

    async def schedules(self, state: str = "", room: str = "") -> list[View]:
        found: list[View] = await self._ask("GET", "/schedules", query={"state": state, "room": room})
        return found

    async def schedule(self, name: str) -> View:
        return await self._get(_schedule(name))

    async def schedule_history(self, name: str, limit: int = 20) -> list[View]:
        found: list[View] = await self._ask("GET", f"{_schedule(name)}/history", query={"limit": str(limit)})
        return found

    async def add_schedule(self, fields: Mapping[str, Any]) -> View:
        return await self._post("/schedules", **fields)

    async def change_schedule(self, name: str, fields: Mapping[str, Any]) -> View:
        return await self._post(_schedule(name), **fields)

    async def pause_schedule(self, name: str, reason: str = "") -> View:
        return await self._post(f"{_schedule(name)}/pause", reason=reason)

    async def resume_schedule(self, name: str) -> View:
        return await self._post(f"{_schedule(name)}/resume")

    async def remove_schedule(self, name: str) -> View:
        return await self._post(f"{_schedule(name)}/remove")

    async def run_schedule(self, name: str) -> View:
        return await self._post(f"{_schedule(name)}/run")

    async def reports(self) -> list[View]:
        found: list[View] = await self._ask("GET", "/reports")
        return found

    async def report(self, report_id: str) -> View:
        return await self._get(f"/reports/{_step(report_id)}")

    async def make_report(self, name: str, to: Sequence[str], options: Mapping[str, Any]) -> View:
        return await self._post("/reports", name=name, to=list(to), options=dict(options))

    async def print_report(self, name: str, options: Mapping[str, Any]) -> View:
        return await self._post("/reports/text", name=name, options=dict(options))

    async def verify_audit(self) -> View:
        return await self._get("/audit")

    async def say(self, room: str, text: str, message_id: str) -> View:
        """Say `text` as the owner. The same `message_id` again is the same message, so a repeat is safe."""
        words, _ = bodies.said({"text": text})  # told here, rather than sent in vain, when it is too long
        return await self._post(f"/rooms/{_step(room)}/messages", text=words, id=message_id)

    async def room(self, room: str) -> View:
        return await self._get(f"/rooms/{_step(room)}/timeline")

    async def change(self, room: str, seen: str) -> View:
        """The conversation once it differs from version `seen`; the same one after a long wait without a change."""
        return await self._get(f"/rooms/{_step(room)}/wait", seen=seen)

    async def _list(self, path: str, state: str, limit: int, room: str) -> list[View]:
        query = {"state": state, "limit": str(limit), "room": room}
        found: list[View] = await self._ask("GET", path, query=query)
        return found

    async def _get(self, path: str, **query: str) -> View:
        found: View = await self._ask("GET", path, query=query)
        return found

    async def _post(self, path: str, **fields: object) -> View:
        made: View = await self._ask("POST", path, fields=fields)
        return made

    async def _ask(self, method: str, path: str, *, query: dict[str, str] | None = None, fields: object = None) -> Any:
        url = URL(f"{self._control.url}{ROOT}{path}", encoded=True).with_query(query or {})
        try:
            async with self._session.request(method, url, json=fields) as answer:
                told = json.loads(await answer.read())
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise Gone(f"The running process ({self._control.pid}) does not answer: {error or 'no reply'}.") from error
        if answer.status == 503:
            raise Gone(told.get("error", answer.reason))
        if answer.status >= 400:
            raise Refusal(answer.status, told.get("error", answer.reason))
        return told


@asynccontextmanager
async def connected(control: Control) -> AsyncIterator[Client]:
    # The guard of the page wants to hear the origin with everything that changes something.
    headers = {"Authorization": f"Bearer {control.token}", "Origin": control.url, **login.header()}
    timeout = aiohttp.ClientTimeout(total=PATIENCE.total_seconds())
    async with aiohttp.ClientSession(headers=headers, timeout=timeout, trust_env=False) as session:
        yield Client(session, control)


def _schedule(name: str) -> str:
    return f"/schedules/{_step(name)}"


def _step(text: str) -> str:
    """Text as one step of a path."""
    return quote(text, safe="")
