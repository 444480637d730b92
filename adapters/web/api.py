"""The wire of the page as a channel: who am I, a room's timeline, saying, deciding, stopping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from aiohttp import web

from adapters.web import render
from adapters.web.files import size_of
from adapters.web.ideas import Idea, idea_json
from adapters.web.parse import signal_of
from adapters.web.rooms import Rooms
from adapters.web.window import Window, instant, page_size
from runtime.contract import AdapterContext, Address, ApprovalId, Body, FileRef, Role, Said, Sink, Stopped, Verdict
from runtime.http import bodies
from runtime.http.authentication import Authenticator, Visitor
from runtime.http.errors import Refusal
from runtime.text.words import marked, say

NAMED_IN_SETTINGS: Final = marked("The settings name this conversation, so it can't be deleted. You can archive it.")
NO_ENTRY: Final = marked("That message isn't there any more.")
INBOX_MOST: Final = 100
"""Questions that the inbox of the page shows at once."""


class Api:
    def __init__(
        self,
        *,
        authenticator: Authenticator,
        rooms: Rooms,
        given: AdapterContext,
        sink: Callable[[], Sink],
        banner: str,
        ideas: Sequence[Idea],
        notice: str,
        upload_bytes: int,
    ) -> None:
        self._authenticator = authenticator
        self._rooms = rooms
        self._given = given
        self._sink = sink
        self._banner = banner
        self._ideas = ideas
        self._notice = notice
        self._upload_bytes = upload_bytes

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/me", self.me),
            web.get("/api/rooms/{room}/timeline", self.timeline),
            web.get("/api/rooms/{room}/work/{id}", self.work_behind),
            web.post("/api/rooms/{room}/messages", self.say),
            web.post("/api/rooms/{room}/stop", self.stop),
            web.post("/api/rooms/{room}/delete", self.delete),
            web.get("/api/inbox", self.inbox),
            web.post("/api/approvals/{approval}", self.decide),
            web.get("/api/approvals/{approval}/form", self.form),
        ]

    async def me(self, request: web.Request) -> web.Response:
        visitor = await self._authenticator.visitor(request)
        role = visitor.person.role
        return web.json_response(
            {
                "name": visitor.person.name,
                "identity": visitor.identity,
                "role": role.word,
                "may_write": role >= Role.USER,
                "console": role >= Role.OPERATOR,
                "signs_out": self._authenticator.is_held(request),
                "banner": say(self._banner) if self._banner else "",
                "notice": say(self._notice) if self._notice else "",
                "ideas": [idea_json(one) for one in self._ideas],
                "text_limit": bodies.TEXT_LIMIT,
                "upload_limit": self._upload_bytes,
            }
        )

    async def timeline(self, request: web.Request) -> web.Response:
        """The newest entries, those up to `before`, those `after` an instant, or those `around` one.

        With `since` the older unedited ones come in brief. Errors: Refusal 400; 404 for an entry that isn't there.
        """
        _, address = await self._rooms.open(request)
        around, limit = request.query.get("around", ""), page_size(request)
        before = instant(request, "before")
        if before is not None:  # the asked instant belongs to it: two entries may share one
            before += timedelta(microseconds=1)
        after = instant(request, "after")
        view = await self._given.history.view(address, before=before, after=after, around=around, limit=limit)
        if around and not view.entries:
            raise Refusal(404, NO_ENTRY)
        return web.json_response(Window(instant(request, "since")).told(view))

    async def work_behind(self, request: web.Request) -> web.Response:
        """All that led to an answer, for whoever unfolds it."""
        _, address = await self._rooms.open(request)
        work = await self._given.history.work_behind(address, request.match_info["id"])
        return web.json_response(render.work_behind(work))

    async def say(self, request: web.Request) -> web.Response:
        """A message. 202: it is stored and will be answered; the same `id` again is the same message.

        `replaces` is the visitor's newest message here, in whose place this is said.
        """
        visitor, address = await self._rooms.open_to_write(request)
        body = await bodies.read_object(request)
        text, paths = bodies.said(body)
        files = await self._attached(address, paths) if paths else ()
        said = Said(text, files, bodies.replaced(body))
        return _told(await self._take_in(visitor, address, bodies.event_id(body), said), status=202)

    async def _attached(self, address: Address, paths: list[str]) -> tuple[FileRef, ...]:
        return await asyncio.to_thread(_refs, self._given.workspaces.folder(address), paths)

    async def decide(self, request: web.Request) -> web.Response:
        """Take a pressed button, from its card's room or from the person's inbox.

        Whoever is known may press: who may decide is judged where the decision is made, and audited there.
        """
        visitor = await self._authenticator.visitor(request)
        body = await bodies.read_object(request)
        alone = body.get("inbox") is True
        address = self._rooms.inbox if alone else self._rooms.address(str(body.get("room")))
        clicked = bodies.clicked(request.match_info["approval"], body)
        return _told(await self._take_in(visitor, address, bodies.event_id(body), clicked, alone=alone))

    async def inbox(self, request: web.Request) -> web.Response:
        """Questions that wait for the visitor, oldest first; and of those that the page `knows`, what became of them."""
        visitor = await self._authenticator.visitor(request)
        found = await self._given.inbox(visitor.identity)
        waiting = {one.id for one in found}
        known = [ApprovalId(one) for one in request.query.get("knows", "").split(",") if one and one not in waiting]
        closed = await self._given.closed(visitor.identity, known) if known else ()
        return web.json_response(
            {
                "questions": [render.question(one) for one in found[:INBOX_MOST]],
                "count": len(found),
                "closed": [render.closed(one) for one in closed],
            }
        )

    async def form(self, request: web.Request) -> web.Response:
        """The form behind a button, for those who may send it; else `notice` says why there is none."""
        visitor = await self._authenticator.visitor(request)
        wanted = bodies.clicked(request.match_info["approval"], {"choice": request.query.get("choice")})
        form = await self._given.forms(wanted.approval_id, wanted.choice, visitor.identity)
        return web.json_response(bodies.form_json(form))

    async def stop(self, request: web.Request) -> web.Response:
        visitor, address = await self._rooms.open_to_change(request)
        body = await bodies.read_object(request)
        return _told(await self._take_in(visitor, address, bodies.event_id(body), Stopped()))

    async def delete(self, request: web.Request) -> web.Response:
        """Delete a conversation of one's own: what is under way ends, and it can be taken back for a minute."""
        visitor, address = await self._rooms.open_to_change(request)
        if self._rooms.is_named(address):
            raise Refusal(409, NAMED_IN_SETTINGS)
        body = await bodies.read_object(request)
        return _told(await self._take_in(visitor, address, bodies.event_id(body), Stopped(deletes=True)))

    async def _take_in(
        self, visitor: Visitor, address: Address, event_id: str, body: Body, *, alone: bool = False
    ) -> Verdict:
        signal = signal_of(visitor, address, event_id, body, self._given.now())
        return await self._sink()(replace(signal, alone=alone) if alone else signal)


def _refs(root: Path, paths: list[str]) -> tuple[FileRef, ...]:
    return tuple(FileRef(path.rpartition("/")[2], path, size_of(root, path)) for path in paths)


def _told(verdict: Verdict, *, status: int = 200) -> web.Response:
    told: dict[str, object] = {"outcome": verdict.outcome, "signal_id": verdict.signal_id, "notice": verdict.notice}
    told |= {"form_stays": True} if verdict.form_stays else {}
    return web.json_response(told, status=status)
