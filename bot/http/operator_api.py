"""The operators' API: JSON in, JSON out, each route one operation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

from aiohttp import web

from bot.http.entrance import Entrance
from bot.operator.desk import ConsoleDesk
from bot.operator.operations import Operations
from runtime.http.bodies import event_id, read_object
from runtime.http.errors import Refusal
from runtime.text.glyphs import visible

ROOT: Final = "/console/api"
MOST_ROWS: Final = 500

WANTED: Final = {
    "name": "a name",
    "new": "a name",
    "into": "the name of the other person",
    "role": "a role",
    "code": "the pairing code",
}
"""What a field of a form holds, as people call it."""

Answer = Callable[[web.Request, Operations], Awaitable[Any]]


class Api:
    def __init__(self, desk: ConsoleDesk, entrance: Entrance) -> None:
        self._desk = desk
        self._entrance = entrance

    def routes(self) -> list[web.RouteDef]:
        return [
            self._get("/overview", lambda _, do: do.overview()),
            self._get("/runs", lambda request, do: do.runs(*_listed(request))),
            self._get("/runs/{id}", lambda request, do: do.run(_id(request))),
            self._get("/approvals", lambda request, do: do.approvals(*_listed(request))),
            self._post("/approvals/{id}", _decide),
            self._get("/deliveries", lambda request, do: do.deliveries(*_listed(request))),
            self._get("/deliveries/{id}", lambda request, do: do.delivery(_id(request))),
            self._post("/deliveries/{id}/requeue", lambda request, do: do.requeue(_id(request))),
            self._post("/deliveries/{id}/discard", lambda request, do: do.discard(_id(request))),
            self._get("/trace", lambda request, do: do.traceable(_room(request), _listed(request)[1])),
            self._get("/trace/{id}", lambda request, do: do.trace(_id(request))),
            self._get("/people", lambda _, do: do.people()),
            self._post("/people", _add_person),
            self._get("/pairings", lambda _, do: do.pairings()),
            self._post("/pairings", _pair),
            self._post("/people/{id}/role", _set_role),
            self._post("/people/{id}/link", lambda request, do: do.link(_id(request))),
            self._post("/people/{id}/rename", _rename_person),
            self._post("/people/{id}/merge", _merge_people),
            self._post("/people/{id}/remove", lambda request, do: do.remove_person(_id(request))),
            self._post("/people/{id}/sign-out", lambda request, do: do.sign_out(_id(request))),
            self._post("/reload", lambda _, do: do.reload()),
            self._post("/save", lambda _, do: do.save()),
            self._get("/schedules", lambda request, do: do.schedules(_listed(request)[0], _room(request))),
            self._post("/schedules", _add_schedule),
            self._get("/schedules/{id}", lambda request, do: do.schedule(_id(request))),
            self._post("/schedules/{id}", _change_schedule),
            self._get("/schedules/{id}/history", _schedule_history),
            self._post("/schedules/{id}/pause", _pause_schedule),
            self._post("/schedules/{id}/resume", lambda request, do: do.resume_schedule(_id(request))),
            self._post("/schedules/{id}/remove", lambda request, do: do.remove_schedule(_id(request))),
            self._post("/schedules/{id}/run", lambda request, do: do.run_schedule(_id(request))),
            self._get("/reports", lambda _, do: do.reports()),
            self._post("/reports", _make_report),
            self._post("/reports/text", _print_report),
            self._get("/reports/{id}", lambda request, do: do.report(_id(request))),
            self._get("/audit", lambda _, do: do.verify_audit()),
            self._post("/rooms/{id}/messages", _say),
            self._get("/rooms/{id}/timeline", lambda request, do: do.room(_id(request))),
            self._get("/rooms/{id}/wait", _wait),
        ]

    def _get(self, path: str, answer: Answer) -> web.RouteDef:
        return web.get(ROOT + path, self._serving(answer), allow_head=False)

    def _post(self, path: str, answer: Answer) -> web.RouteDef:
        return web.post(ROOT + path, self._serving(answer))

    def _serving(self, answer: Answer) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def serve(request: web.Request) -> web.StreamResponse:
            do = Operations(self._desk, await self._entrance.actor(request))
            return web.json_response(await answer(request, do))

        return serve


async def _decide(request: web.Request, do: Operations) -> Any:
    fields = await read_object(request)
    return await do.decide(_id(request), fields.get("choice", ""), fields.get("reason", ""))


async def _add_person(request: web.Request, do: Operations) -> Any:
    fields = await read_object(request)
    identities = fields.get("identities", [])
    if not (isinstance(identities, list) and all(isinstance(one, str) for one in identities)):
        raise Refusal(400, "`identities` must be a list of texts.")
    return await do.add_person(_text(fields, "name"), _text(fields, "role"), identities)


async def _pair(request: web.Request, do: Operations) -> Any:
    fields = await read_object(request)
    return await do.pair(_text(fields, "code"), _text(fields, "name", ""), _text(fields, "role", ""))


async def _set_role(request: web.Request, do: Operations) -> Any:
    return await do.set_role(_id(request), _text(await read_object(request), "role"))


async def _rename_person(request: web.Request, do: Operations) -> Any:
    return await do.rename_person(_id(request), _text(await read_object(request), "new"))


async def _merge_people(request: web.Request, do: Operations) -> Any:
    return await do.merge_people(_id(request), _text(await read_object(request), "into"))


async def _say(request: web.Request, do: Operations) -> Any:
    fields = await read_object(request)
    return await do.say(_id(request), fields.get("text", ""), event_id(fields))


async def _add_schedule(request: web.Request, do: Operations) -> Any:
    return await do.add_schedule(_of_form(await read_object(request)))


async def _change_schedule(request: web.Request, do: Operations) -> Any:
    return await do.change_schedule(_id(request), _of_form(await read_object(request)))


def _of_form(fields: dict[str, Any]) -> dict[str, Any]:
    """A form on a page says "yes" or "no" where JSON has switches."""
    said = {"yes": True, "no": False}
    return {**fields, **({"quiet": said[fields["quiet"]]} if fields.get("quiet") in ("yes", "no") else {})}


async def _pause_schedule(request: web.Request, do: Operations) -> Any:
    return await do.pause_schedule(_id(request), _text(await read_object(request), "reason", ""))


async def _schedule_history(request: web.Request, do: Operations) -> Any:
    return await do.schedule_history(_id(request), min(_number(request, "limit", 20), MOST_ROWS))


async def _make_report(request: web.Request, do: Operations) -> Any:
    fields = await read_object(request)
    to = fields.get("to", [])
    if not (isinstance(to, list) and all(isinstance(one, str) for one in to)):
        raise Refusal(400, "`to` must be a list of texts.")
    return await do.make_report(_text(fields, "name"), to, _options(fields))


async def _print_report(request: web.Request, do: Operations) -> Any:
    fields = await read_object(request)
    return await do.print_report(_text(fields, "name"), _options(fields))


def _options(fields: dict[str, Any]) -> dict[str, Any]:
    options = fields.get("options", {})
    if not isinstance(options, dict):
        raise Refusal(400, "`options` must be an object.")
    return options


async def _wait(request: web.Request, do: Operations) -> Any:
    seconds = _number(request, "seconds", 25)
    return await do.room(_id(request), request.query.get("seen", ""), timedelta(seconds=seconds))


def _id(request: web.Request) -> str:
    return request.match_info["id"]


def _listed(request: web.Request) -> tuple[str, int, str]:
    return request.query.get("state", ""), min(_number(request, "limit", 100), MOST_ROWS), _room(request)


def _room(request: web.Request) -> str:
    return request.query.get("room", "")


def _number(request: web.Request, name: str, default: int) -> int:
    text = request.query.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and 0 < len(text) <= 6 and int(text)):
        raise Refusal(400, f"`{name}` must be a number above 0.")
    return int(text)


def _text(fields: dict[str, Any], name: str, default: str | None = None) -> str:
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise Refusal(400, f"Write {WANTED.get(name, name)}.")
    if not value.isprintable():
        shown = visible(value, one_line=True)
        raise Refusal(400, f'"{shown}": invisible characters and line breaks have no place here. Type it anew.')
    return value
