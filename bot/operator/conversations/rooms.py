"""Rooms of the web channel: said in, read, and waited for."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from adapters.web import render
from adapters.web.adapter import CHANNEL
from adapters.web.rooms import ROOM_NAME
from bot.accounts.naming import Named
from bot.operator.agents import NO_AGENT
from bot.operator.approvals.questions import approval_view
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.cluster.notifier import rung
from runtime.contract import Address, Entry, Outcome, Room, Said, room_topic
from runtime.domain.approvals import Approval
from runtime.domain.runs import RunState
from runtime.http import bodies
from runtime.http.errors import Refusal
from runtime.text.glyphs import visible
from runtime.text.words import marked, say

AT_WORK: Final = (RunState.RUNNING, RunState.READY)
LONGEST_WAIT: Final = timedelta(seconds=25)  # below the idle limit of common proxies
GLANCE: Final = timedelta(seconds=1)  # what another node changed does not ring here at once


@by_role
class RoomsApi(PartialApi):
    """Rooms of the web channel, as a page reads and writes them."""

    async def rooms(self, limit: int = 100) -> list[View]:
        """Conversations of the page in which the operator spoke: pinned ones first, then the newest."""
        found = await self._store.history.rooms(CHANNEL, self._context.web_account, self.actor.identity)
        return [_listed(one) for one in found if not one.is_archived][:limit]

    async def say(self, room: str, text: str, id: str, agent: str = "") -> View:
        """Say `text` in a room of the web channel, to one agent if it is named; the same `id` again is the same message."""
        words, _ = bodies.said({"text": text})
        if agent and agent not in (names := [row["name"] for row in self._context.agents()]):
            raise Refusal(404, say(NO_AGENT, name=agent, names=", ".join(names)))
        signal = replace(self._signal(self._room(room), Said(words), id), agent=agent)
        verdict = await self._context.sink(signal)
        if verdict.outcome is Outcome.REFUSED:
            raise Refusal(403, verdict.notice or marked("This message was refused."))
        return {"outcome": verdict.outcome, "id": verdict.signal_id}

    async def room(self, room: str) -> View:
        """The conversation as it is."""
        return await self._look(self._room(room))

    async def change(self, room: str, seen: str = "", seconds: int = 25) -> View:
        """The conversation once it differs from version `seen`, or as it is after some seconds."""
        address = self._room(room)
        # Before the first look: no ring falls between the two.
        rings = self._context.notifier.listen(room_topic(address))
        end = asyncio.get_running_loop().time() + min(seconds, LONGEST_WAIT.total_seconds())
        while True:
            view = await self._look(address)
            left = end - asyncio.get_running_loop().time()
            if view["version"] != seen or left <= 0:
                return view
            await rung(rings, min(left, GLANCE.total_seconds()))

    async def _look(self, address: Address) -> View:
        seen = await self._store.history.view(address)
        work = await self._store.operations.room_work(address)  # after it: a room that rests has asked all it will ask
        view = room_view(
            seen.entries,
            busy=seen.busy or work.run in AT_WORK,  # a question may have been answered in between
            approvals=work.questions,
            named=self._context.named,
            called=self._context.called,
            run_state=work.run,
            run_id=work.run_id,
        )
        return {**view, "version": _digest(view)}

    def _room(self, room: str) -> Address:
        if not ROOM_NAME.fullmatch(room):
            raise Refusal(404, marked("A room's name has 6 to 32 lowercase letters and digits."))
        return Address(CHANNEL, self._context.web_account, room)


def _listed(one: Room) -> View:
    return {
        "room": one.address.room,
        "title": visible(one.title, one_line=True),
        "last_at": at(one.last_at),
        "waiting": one.waiting_approvals,
        "pinned": one.is_pinned,
        "unread": one.is_unread,
    }


def _digest(view: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(view, sort_keys=True).encode()).hexdigest()[:16]


def room_view(
    entries: Sequence[Entry],
    *,
    busy: bool,
    approvals: Sequence[Approval],
    run_state: str | None,
    run_id: str = "",
    named: Named,
    called: Named,
) -> View:
    """A conversation. `run` is the state of its newest run, `run_id` that one; `approvals` are the questions that wait in it."""
    return {
        "entries": [render.entry(entry) for entry in entries],
        "busy": busy,
        "approvals": [approval_view(row, named, called) for row in approvals],
        "run": run_state,
        "run_id": run_id,
    }
